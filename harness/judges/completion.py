"""What an endpoint's body says: a completion, an error, or neither. Endpoints differ: all but the answer is read for what it is worth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeGuard

import msgspec

from harness.model import Token, Usage


class Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None

    @property
    def text(self) -> str:
        """Its content; some endpoints send it in parts."""
        if isinstance(self.content, list):
            return "".join(str(part.get("text") or "") for part in self.content)
        return self.content or ""


class Choice(msgspec.Struct):
    message: Message
    finish_reason: Any = None
    logprobs: Any = None


class Completion(msgspec.Struct):
    """What makes a body a completion: its choices."""

    choices: list[Choice]
    model: Any = None
    usage: Any = None
    error: Any = None

    @property
    def choice(self) -> Choice:
        """The first choice; an empty one where there is none."""
        return self.choices[0] if self.choices else Choice(Message())

    @property
    def counted(self) -> Usage:
        return Usage(
            _count(self.usage, "prompt_tokens"),
            _count(self.usage, "prompt_tokens_details", "cached_tokens"),
            _count(self.usage, "completion_tokens"),
            _count(self.usage, "completion_tokens_details", "reasoning_tokens"),
        )


_decode = msgspec.json.Decoder(Completion).decode


def completion(body: bytes) -> Completion | None:
    """The body as a completion; None for what is JSON but no completion. Raises ValueError for what is no JSON."""
    try:
        return _decode(body)
    except msgspec.MsgspecError:  # models cut characters in half, which makes lone surrogates: those only json reads
        data = _json(body)
    try:
        return msgspec.convert(data, Completion)
    except msgspec.ValidationError:
        return None


def error_of(body: bytes) -> str | None:
    """What the error in a body says, with its code; None where it holds none."""
    try:
        data = _json(body)
    except ValueError:
        return None
    error = data.get("error") if isinstance(data, dict) else None
    if not error:
        return None
    if not isinstance(error, dict):
        return _one_line(error)
    text, code = _one_line(error.get("message") or error), error.get("code")
    return f"{text} ({code})" if code and str(code) not in text else text


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _one_line(said: Any) -> str:
    return " ".join(str(said).split())[:300]


def tokens_of(logprobs: Any) -> Iterator[Token]:
    """The answer's tokens with their likeliest alternatives; nothing where the endpoint says nothing that can be read."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    for token in content if isinstance(content, list) else ():
        if not isinstance(token, dict) or not isinstance(token.get("token"), str):
            return
        given = token.get("top_logprobs")
        others = given if given and isinstance(given, list) else [token]
        read = [(other.get("token"), other.get("logprob")) for other in others if isinstance(other, dict)]
        yield Token(whole(token["token"]), {whole(text): float(p) for text, p in read if isinstance(text, str) and _is_logprob(p)})


def whole(text: str) -> str:
    """Text without halves of characters, as tokens may be, which no file could hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_logprob(value: Any) -> TypeGuard[float]:
    """Whether it is the logarithm of a probability; a hair above 0 is a rounded 1."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -1e9 <= value <= 1e-3


def _count(usage: Any, *names: str) -> int:
    for name in names:
        usage = usage.get(name) if isinstance(usage, dict) else None
    return usage if isinstance(usage, int) else 0
