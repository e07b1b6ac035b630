"""A prompt is a frame with an item's texts in it.

A frame is a guidance program rendered once with marks where the texts go; filling it is string joining, so a million prompts
cost no million renderings. Frames are remembered (in the store) by the hash of what they are made of, so that a finished run is
re-read without guidance at all.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from harness.errors import UsageError
from harness.model import Item, Message, Prompt
from harness.prompts.question import Question

# Marks are private-use characters around a field's name; a text that holds such characters cannot be mistaken for one, as marks
# are looked for in the rendered frame only, before any text is in it.
_MARK = re.compile("\ue000([^\ue001]+)\ue001")


class Slot(msgspec.Struct, frozen=True, tag="slot"):
    """A place in a message where the item's text of that name goes."""

    name: str


class FrameMessage(msgspec.Struct, frozen=True):
    role: Literal["system", "user", "assistant"]
    parts: tuple[str | Slot, ...]


class Frame(msgspec.Struct, frozen=True):
    """Messages with slots, the schema of the answer, and the room for it."""

    messages: tuple[FrameMessage, ...]
    schema: dict[str, Any]
    max_tokens: int

    def fill(self, item: Item, prompt_id: str | None = None) -> Prompt:
        """The prompt for one item. Its id is the hash of messages and schema, independent of the judge; it may be known already."""
        messages = self._messages(item)
        return Prompt(prompt_id or prompt_hash(messages, self.schema), messages, self.schema, self.max_tokens)

    def _messages(self, item: Item) -> tuple[Message, ...]:
        return tuple(
            Message(m.role, "".join(part if isinstance(part, str) else str(item.fields[part.name]) for part in m.parts))
            for m in self.messages
        )


def prompt_hash(messages: tuple[Message, ...], schema: dict[str, Any]) -> str:
    """The id of the prompt with these messages and this schema of the answer."""
    return hashlib.sha256(msgspec.json.encode((messages, schema))).hexdigest()


class FrameStore(Protocol):
    """Where frames are remembered by key."""

    def get_frame(self, key: str) -> bytes | None: ...

    def put_frame(self, key: str, frame: bytes) -> None: ...


class Frames:
    """Frames by question, rendered at most once each and remembered in `store` if there is one.

    `program` is the hash of the code that words prompts. Frames of an earlier wording can be recalled, but not rendered.
    """

    def __init__(self, store: FrameStore | None = None, program: str | None = None) -> None:
        self._store = store
        self._program = program or program_hash()
        self._frames: dict[str, Frame] = {}

    def of(self, question: Question) -> Frame:
        key = f"{self._program}:{question.key}"
        if key not in self._frames:
            self._frames[key] = self._recall(key) or self._render(key, question)
        return self._frames[key]

    def _recall(self, key: str) -> Frame | None:
        known = self._store.get_frame(key) if self._store else None
        return msgspec.json.decode(known, type=Frame) if known else None

    def _render(self, key: str, question: Question) -> Frame:
        if self._program != program_hash():
            raise UsageError("this run was made with another wording of the prompts, which is not in its store; run it again")
        frame = render(question)
        if self._store:
            self._store.put_frame(key, msgspec.json.encode(frame))
        return frame


def render(question: Question) -> Frame:
    """Render a question's program with marks for texts, and cut it at the marks."""
    from harness.prompts.programs import judging  # late: guidance takes half a second
    from harness.prompts.recorder import record

    messages, schema, max_tokens = record(judging(question, {name: f"\ue000{name}\ue001" for name in question.present}))
    return Frame(tuple(FrameMessage(m.role, _cut(m.content)) for m in messages), schema, max_tokens)


def _cut(text: str) -> tuple[str | Slot, ...]:
    # re.split with one group alternates literal, name, literal, ...
    pieces = _MARK.split(text)
    return tuple(Slot(piece) if index % 2 else piece for index, piece in enumerate(pieces) if piece)


@cache
def program_hash() -> str:
    """Hash of the code that words prompts and of guidance's version: a changed wording is a new frame."""
    folder = Path(__file__).parent
    code = b"".join(
        (folder / name).read_bytes() for name in ("programs.py", "wording.py", "shots.py", "question.py", "recorder.py", "frames.py")
    )
    return hashlib.sha256(code + version("guidance").encode()).hexdigest()[:16]
