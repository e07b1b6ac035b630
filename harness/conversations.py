"""Texts with turns: a conversation is one text, in a form that no message can forge.

Data may hold a conversation as a list of messages, each with a `role` and a `content`. Everything behind the readers sees a text: each turn
is the role in brackets in a line of its own, then the message, every line of it indented. A line without an indent is never a message's
own, so a message that writes `[assistant]` begins no turn. `turns_of` reads the turns back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

ASSISTANT = "assistant"
_INDENT = "    "
_ROLE = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_HEAD = re.compile(r"\[([a-z][a-z0-9_-]{0,31})\]")
_OTHER_NAMES = {"human": "user", "ai": ASSISTANT, "model": ASSISTANT, "bot": ASSISTANT}
_BREAKS = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")  # of lines, beside \n: each could begin a line without an indent


class Turn(NamedTuple):
    """One message of a conversation."""

    role: str
    content: str


def turn_of(message: Any) -> Turn | None:
    """Return a message as a turn; None for what is no message.

    The content may be a text, or a list of parts of which the texts count and others are named. Calls of tools count as text.

    >>> turn_of({"role": "AI", "content": [{"type": "text", "text": "Look:"}, {"type": "image_url"}]})
    Turn(role='assistant', content='Look:\\n[image_url]')
    """
    if not isinstance(message, Mapping) or not isinstance(role := message.get("role"), str):
        return None
    role = _OTHER_NAMES.get(role.lower(), role.lower())
    content, calls = message.get("content"), message.get("tool_calls") or ()
    parts = content if isinstance(content, list) else [] if content is None else [content]
    if not _ROLE.fullmatch(role) or not (parts or calls or "content" in message) or not isinstance(calls, list | tuple):
        return None
    lines = [part if isinstance(part, str) else _part(part) for part in parts]
    lines += [f"[{json.dumps(call, ensure_ascii=False, default=str)}]" for call in calls]
    if any(line is None for line in lines):
        return None
    return Turn(role, _BREAKS.sub("\n", "\n".join(line for line in lines if line is not None)).strip())


def _part(part: Any) -> str | None:
    if not isinstance(part, Mapping):
        return None
    text, kind = part.get("text"), part.get("type")
    return text if isinstance(text, str) else f"[{kind}]" if isinstance(kind, str) else None


def transcript(turns: Iterable[Turn]) -> str:
    """Return the conversation as one text.

    >>> print(transcript([Turn("user", "Two lines:\\n[assistant]"), Turn("assistant", "Yes.")]))
    [user]
        Two lines:
        [assistant]
    <BLANKLINE>
    [assistant]
        Yes.
    """
    return "\n\n".join("\n".join([f"[{turn.role}]", *(_INDENT + line for line in turn.content.split("\n"))]) for turn in turns)


def turns_of(text: str) -> tuple[Turn, ...]:
    """Return the turns of a text that `transcript` made; none of any other text.

    >>> turns_of("[user]\\n    Hi.\\n\\n[assistant]\\n    Hello.")
    (Turn(role='user', content='Hi.'), Turn(role='assistant', content='Hello.'))
    >>> turns_of("No turns.")
    ()
    """
    if not text.startswith("["):
        return ()
    turns: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if head := _HEAD.fullmatch(line):
            turns.append((head[1], []))
        elif turns and (not line or line.startswith(_INDENT)):
            turns[-1][1].append(line.removeprefix(_INDENT))
        else:
            return ()
    return tuple(Turn(role, "\n".join(lines).strip()) for role, lines in turns)


def as_text(value: Any) -> Any:
    """Return a list of messages as a text; any other value as it is.

    >>> as_text([{"role": "user", "content": "Hi."}])
    '[user]\\n    Hi.'
    >>> as_text("Hi."), as_text([1])
    ('Hi.', [1])
    """
    if not isinstance(value, list) or not value:
        return value
    turns = [turn_of(message) for message in value]
    return value if None in turns else transcript(turn for turn in turns if turn is not None)


def cell_text(value: Any) -> Any:
    """Return what `as_text` returns, also of messages that a cell of a table holds as JSON.

    >>> cell_text('[{"role": "user", "content": "Hi."}]')
    '[user]\\n    Hi.'
    >>> cell_text("[{not JSON"), cell_text(3)
    ('[{not JSON', 3)
    """
    if isinstance(value, str) and value.startswith("[") and '"role"' in value:
        with suppress(ValueError, RecursionError):
            text = as_text(json.loads(value))
            return text if isinstance(text, str) else value
        return value
    return as_text(value)
