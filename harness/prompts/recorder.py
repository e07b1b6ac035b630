"""Renders a guidance program to chat messages and a JSON schema, without a model.

guidance's own OpenAI backend always streams, has no async and drops `temperature=0.0`. So programs are written in guidance and reach any
endpoint as plain messages. The recorder takes the place of guidance's interpreter for a model. It uses private names of guidance: the
version is pinned, and `tests/unit/prompts/test_recorder.py` checks that these names still work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

from guidance._ast import ASTNode, JsonNode, LiteralNode, RegexNode, RoleEnd, RoleStart, RuleNode
from guidance._schema import SamplingParams
from guidance.models._base import Interpreter, Model, State
from guidance.trace import OutputAttr

from harness.model import Message

_ONE_HOLE = "a judging program has exactly one hole, and it is guidance.json(...), or guidance.gen(...) for a text"


class _RecordedMessages(State):
    """The finished messages, the text of the open one, and the JSON schema of the hole; an empty one for a text."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[Message] = []
        self.open_text: list[str] = []
        self.schema: dict[str, Any] | None = None
        self.max_tokens: int | None = None

    def __str__(self) -> str:
        return "".join(self.open_text)


class _Recorder(Interpreter[_RecordedMessages]):
    def role_start(self, node: RoleStart, **kwargs: Any) -> Iterator[OutputAttr]:
        self.state.active_role = node.role
        yield from ()

    def role_end(self, node: RoleEnd, **kwargs: Any) -> Iterator[OutputAttr]:
        text = "".join(self.state.open_text)
        if text:  # the role of the answer holds only the hole
            self.state.messages.append(Message(role=_role(node.role), content=text))
        self.state.open_text = []
        self.state.active_role = None
        yield from ()

    def text(self, node: LiteralNode, **kwargs: Any) -> Iterator[OutputAttr]:
        self.state.open_text.append(node.value)
        yield from ()

    def rule(self, node: RuleNode, **kwargs: Any) -> Iterator[OutputAttr]:
        if not isinstance(node.value, (JsonNode, RegexNode)) or self.state.schema is not None:
            raise ValueError(_ONE_HOLE)
        self.state.schema = node.value.schema if isinstance(node.value, JsonNode) else {}
        self.state.max_tokens = node.max_tokens
        yield from ()


def _role(name: str) -> Literal["system", "user", "assistant"]:
    return cast(Literal["system", "user", "assistant"], name)


def record(program: ASTNode | Any) -> tuple[tuple[Message, ...], dict[str, Any], int]:
    """Return messages, schema and max_tokens of a called program, e.g. `record(judging_program(spec, texts))`.

    The schema of a text is empty. Raises ValueError when the program has no hole or several.
    """
    sampling = SamplingParams(top_p=None, top_k=None, min_p=None, repetition_penalty=None)
    model = Model(_Recorder(_RecordedMessages()), sampling, echo=False)
    model = model + program + ""  # the empty text closes the last role
    recorded = cast(_RecordedMessages, model._interpreter.state)
    if recorded.schema is None or recorded.max_tokens is None:
        raise ValueError(_ONE_HOLE)
    return tuple(recorded.messages), recorded.schema, recorded.max_tokens
