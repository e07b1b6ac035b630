"""Reading the body of a response: a completion, an error, or neither. Endpoints differ, so everything but the answer is optional."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeGuard

import msgspec

from harness.judges.usage import usage_of
from harness.model import Token, Usage


class CompletionMessage(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None

    @property
    def reasoning_characters(self) -> int:
        """The length of the reasoning that stands beside the content, or in parts of it, under the names that endpoints give it."""
        parts = self.content if isinstance(self.content, list) else ()
        marked = [part.get("thinking") or part.get("reasoning") for part in parts]
        return max(sum(map(_text_length, marked)), _text_length(self.reasoning_content), _text_length(self.reasoning))

    @property
    def text(self) -> str:
        """The content. Some endpoints send it in parts."""
        if isinstance(self.content, list):
            texts = (part.get("text") for part in self.content)
            return "".join(text for text in texts if isinstance(text, str))
        return self.content or ""


class Choice(msgspec.Struct):
    message: CompletionMessage
    finish_reason: Any = None
    logprobs: Any = None


class Completion(msgspec.Struct):
    """A body with choices."""

    choices: list[Choice]
    model: Any = None
    usage: Any = None
    error: Any = None

    @property
    def choice(self) -> Choice:
        """The first choice; an empty one if there is none."""
        return self.choices[0] if self.choices else Choice(CompletionMessage())

    @property
    def token_counts(self) -> Usage:
        """The counts of tokens; 0 for counts that are missing or impossible."""
        return usage_of(
            _member(self.usage, "prompt_tokens"),
            _member(self.usage, "prompt_tokens_details", "cached_tokens"),
            _member(self.usage, "completion_tokens"),
            _member(self.usage, "completion_tokens_details", "reasoning_tokens"),
        )


_decode = msgspec.json.Decoder(Completion).decode


def read_completion(body: bytes) -> Completion | None:
    """The body as a completion; None for JSON that is no completion. Raises ValueError if it is not JSON."""
    try:
        return _decode(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except msgspec.MsgspecError:  # models may cut characters in half; only json reads these lone surrogates
        data = _json(body)
    try:
        return msgspec.convert(data, Completion)
    except (msgspec.ValidationError, RecursionError):
        return None


def error_text(body: bytes) -> str | None:
    """The error message in a body, uncut, with its code; None if there is none. Callers remove secrets first and cut it then."""
    try:
        data = _json(body)
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    error = data.get("error") or (data if data.get("object") == "error" else None) or data.get("detail")
    if not error:
        return None
    if not isinstance(error, dict):
        return as_text(error)
    text, code = as_text(error.get("message") or error), error.get("code")
    return f"{text} ({as_text(code)})" if code and as_text(code) not in text else text


def as_text(value: Any) -> str:
    """Any value of a body as text."""
    try:
        return value if isinstance(value, str) else str(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        return "something that cannot be shown"


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_tokens(logprobs: Any) -> Iterator[Token]:
    """The answer's tokens with their most probable alternatives; none if the endpoint reports nothing readable."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    for token in content if isinstance(content, list) else ():
        if not isinstance(token, dict) or not isinstance(token.get("token"), str):
            return
        reported = token.get("top_logprobs")
        others = reported if reported and isinstance(reported, list) else [token]
        alternatives = [(other.get("token"), other.get("logprob")) for other in others if isinstance(other, dict)]
        yield Token(
            without_half_characters(token["token"]),
            {without_half_characters(text): float(p) for text, p in alternatives if isinstance(text, str) and _is_logprob(p)},
        )


def without_half_characters(text: str) -> str:
    """Text without halves of characters: tokens may hold such halves, but no file can."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text_length(value: Any) -> int:
    if isinstance(value, list):
        return sum(_text_length(part.get("text")) for part in value if isinstance(part, dict))
    return len(value) if isinstance(value, str) else 0


def _is_logprob(value: Any) -> TypeGuard[float]:
    """Whether it is the logarithm of a probability. A value slightly above 0 is a rounded probability of 1."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -1e9 <= value <= 1e-3


def _member(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
