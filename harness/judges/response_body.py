"""Reading the body of a response with status 200: an answer, one that was filtered or cut, a failed generation, or no completion at all.

Endpoints differ, so everything but the choices is optional, and everything may be of any type. `read_answer` is the reader of runs, of
batches and of imported batch files.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal, TypeGuard

import msgspec

from harness.model import Token, Usage
from harness.parse.finish_reasons import ending_of

MOST_TOKENS = 10_000_000  # of one call: several times the longest context that is offered


def token_count(value: Any) -> int:
    """Return the value if it is an integer from 0 to `MOST_TOKENS`, else 0, which means unknown (true, "7", -1, 1.5, 10**12).

    >>> token_count(31), token_count(True), token_count(-1), token_count("7")
    (31, 0, 0, 0)
    """
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0


def usage_of(prompt: Any, cached: Any, completion: Any, reasoning: Any) -> Usage:
    """Return the possible counts. Cached tokens are part of the prompt, so there are at most as many."""
    tokens = token_count(prompt)
    return Usage(tokens, min(token_count(cached), tokens), token_count(completion), token_count(reasoning))


def with_possible_counts(reply: Any) -> Any:
    """A reply as plain data. Impossible counts become unknown."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return reply
    return {**reply, "usage": {name: token_count(usage.get(name)) for name in Usage.__struct_fields__}}


_NOT_WORDS = ("role", "content", "refusal", "provider_specific_fields")  # the last one repeats other members
_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "reasoning_text", "thinking")
_LONGEST_BEGINNING = 200  # characters of a text that a message quotes
_MOST_VALUES = 4_000_000  # quotation marks and brackets of a body: the values of more would not fit into memory
_LONG_BODY = 4 * 2**20  # bytes; shorter ones hold fewer


class CompletionAnswer(msgspec.Struct, frozen=True):
    """The answer in a completion, verbatim, in whatever member of the message it stands.

    Attributes:
        kind: `answer`; `filtered` by the provider, or refused; `cut` at a limit of length; `failed`: the generation broke off, or brought
            nothing at all, and the call should be asked again.
        text: the content; where that is empty, the requested object that stands in `text_field` (reasoning, or a tool call).
        beside: what else the message held, by member; `reasoning_characters` is the length of the reasoning in it.
        problem: why the generation failed.
        finish_reason, model: as the endpoint sent them; any type.
    """

    kind: Literal["answer", "filtered", "cut", "failed"]
    text: str = ""
    text_field: str = ""
    finish_reason: Any = None
    refusal: str | None = None
    beside: dict[str, str] = {}
    problem: str = ""
    model: Any = None
    usage: Usage = Usage()
    logprobs: Any = None
    reasoning_characters: int = 0


class Choice(msgspec.Struct):
    message: Any = None
    text: Any = None  # of the older interface for completions
    finish_reason: Any = None
    logprobs: Any = None
    error: Any = None


class Completion(msgspec.Struct):
    """A body with choices."""

    choices: list[Choice] | None
    model: Any = None
    usage: Any = None
    error: Any = None

    @property
    def token_counts(self) -> Usage:
        """The counts of tokens; 0 for counts that are missing or impossible.

        Tokens that are in the total alone are reasoning: so Gemini counts it.
        """
        usage = usage_of(
            _find_member(self.usage, "prompt_tokens"),
            _find_member(self.usage, "prompt_tokens_details", "cached_tokens"),
            _find_member(self.usage, "completion_tokens"),
            _find_member(self.usage, "completion_tokens_details", "reasoning_tokens"),
        )
        hidden = token_count(_find_member(self.usage, "total_tokens")) - usage.prompt_tokens - usage.completion_tokens
        if hidden <= 0 or not usage.prompt_tokens or usage.reasoning_tokens:
            return usage
        return msgspec.structs.replace(usage, completion_tokens=usage.completion_tokens + hidden, reasoning_tokens=hidden)


_decode = msgspec.json.Decoder(Completion).decode


def read_completion(body: bytes) -> Completion | None:
    """Return the body as a completion; None for JSON that is no completion. Raises ValueError if it is not JSON that can be read."""
    if len(body) > _LONG_BODY and sum(body.count(sign) for sign in (b'"', b"[", b"{")) > _MOST_VALUES:
        raise ValueError("more values than any answer has")
    try:
        return _decode(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except msgspec.MsgspecError:  # models may cut characters in half; only json reads these lone surrogates
        data = _decode_body(body)
    try:
        return msgspec.convert(data, Completion)
    except (msgspec.ValidationError, RecursionError):
        return None


def read_answer(body: bytes | Mapping[str, Any], requested: Collection[str] = ()) -> CompletionAnswer | None:
    """Sort the body of a response with status 200, as bytes or as decoded JSON. Return None if it is no completion.

    `requested` are the keys of the object that was asked for. Raises ValueError if the bytes are not JSON that can be read.

    >>> message = {"content": None, "reasoning_content": '{"score": 4}'}
    >>> answer = read_answer({"choices": [{"message": message, "finish_reason": "stop"}]}, ["score"])
    >>> answer.kind, answer.text, answer.text_field
    ('answer', '{"score": 4}', 'reasoning_content')
    >>> read_answer({"choices": [{"message": {"content": ""}, "finish_reason": "network_error"}]}).problem
    "finish reason 'network_error', no text"
    """
    if isinstance(body, bytes):
        completion = read_completion(body)
    else:
        try:
            completion = msgspec.convert(body, Completion)
        except (msgspec.ValidationError, RecursionError):
            completion = None
    try:
        if completion is None:
            return None
        # The answer of a completion's first choice.
        usage = completion.token_counts
        if not completion.choices:
            problem = describe_error(completion.error) if completion.error else "no choices"
            return CompletionAnswer("failed", problem=problem, model=completion.model, usage=usage)
        choice = completion.choices[0]
        message = (
            choice.message if isinstance(choice.message, dict) else {"content": choice.text if choice.message is None else choice.message}
        )
        text, members, refusal = _split_content(message.get("content"))
        refusal = _write_value(message.get("refusal")) or refusal
        for name, value in message.items():
            if name not in _NOT_WORDS and (words := _join_words(value)) and words not in members.values():
                members[name] = words
        reason = None if choice.finish_reason is None else as_text(choice.finish_reason)
        ending, text_field, problem = ending_of(reason), "", ""
        texts = ["content", *(name for name in _REASONING if isinstance(message.get(name), (str, list)))]  # some send it under two names
        if ending == "normal" and not text.strip() and not refusal:
            text_field = next((name for name, words in members.items() if _is_requested(words, requested)), "")
            text = members.pop(text_field, text)
        if error := choice.error or completion.error:
            problem = describe_error(error)
        elif ending == "failed":
            problem = f"finish reason '{reason}', {'no text' if not text else 'its text begins: ' + repr(text[:_LONGEST_BEGINNING])}"
        elif ending == "normal" and not (text or members or refusal or usage.completion_tokens):
            problem = f"no text and no token of an answer, finish reason {reason!r}"
        reasoning = max(len(members.get(name, "")) for name in texts)
        kind: Any = "failed" if problem else ending if ending != "normal" else "filtered" if refusal and not text.strip() else "answer"
        return CompletionAnswer(
            kind, text, text_field, choice.finish_reason, refusal, members, problem, completion.model, usage, choice.logprobs, reasoning
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _split_content(content: Any) -> tuple[str, dict[str, str], str | None]:
    """Return the text of a message's content, what its other parts hold, and its refusal. A gateway may have parsed the model's JSON."""
    parts = [content] if isinstance(content, dict) and {"type", "text"} == content.keys() else content
    if not isinstance(parts, list) or not all(isinstance(part, str) or _is_part(part) for part in parts):
        return "" if content is None else _write_value(content, of_any=True) or "", {}, None
    texts, other_parts, refusal = [], [], None
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part.get("text"), str) and not str(part.get("type", "")).startswith(("reasoning", "thinking")):
            texts.append(part["text"])
        elif part.get("type") == "refusal":
            refusal = _write_value(part.get("refusal"))
        else:
            other_parts.append(_join_words({name: value for name, value in part.items() if name != "type"}))
    members = {"content": "".join(other_parts)} if any(other_parts) else {}
    return "".join(texts), members, refusal


def _write_value(value: Any, *, of_any: bool = False) -> str | None:
    """Return a value as text: JSON unless it is a text. None for null, false and an empty text, unless it is `of_any` kind."""
    if isinstance(value, str):
        return value if value.strip() or of_any else None
    if not value and not of_any:
        return None
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return as_text(value)


def _join_words(value: Any) -> str:
    """Return the words of a member of a message: a text, the texts of parts, the arguments of tool calls; JSON for anything else."""
    match value:
        case str():
            return value
        case list():
            return "".join(map(_join_words, value))
        case {"function": {"arguments": arguments}} | {"arguments": arguments}:
            return arguments if isinstance(arguments, str) else _write_value(arguments) or ""
        case {"text": words} | {"thinking": words} | {"reasoning": words} | {"summary": words} if isinstance(words, (str, list)):
            return _join_words(words)
        case _:
            return _write_value(value) or ""


def _is_part(value: Any) -> bool:
    """Return True for a part of a content, False for an object that a model wrote."""
    return isinstance(value, dict) and (isinstance(value.get("type"), str) or isinstance(value.get("text"), str))


def _is_requested(words: str, requested: Collection[str]) -> bool:
    """Return True if it is a whole JSON object with all requested keys, perhaps within an object of a single member."""
    if not words.lstrip().startswith("{"):
        return False
    try:
        value = msgspec.json.decode(words)
    except (msgspec.MsgspecError, RecursionError):
        return False
    while isinstance(value, dict) and not set(requested) <= value.keys() and len(value) == 1:
        [value] = value.values()
    return isinstance(value, dict) and bool(value) and set(requested) <= value.keys()


def error_text(body: bytes) -> str | None:
    """Return the error message in a body, uncut, with its code; None if there is none. Callers remove secrets first and cut it then."""
    try:
        data = _decode_body(body)
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    error = data.get("error") or (data if data.get("object") == "error" else None) or data.get("detail")
    return describe_error(error) if error else None


def describe_error(error: Any) -> str:
    """Return the message of an error object, uncut, with its code; the error itself as text if it is none."""
    if not isinstance(error, dict):
        return as_text(error)
    text, code = as_text(error.get("message") or error), error.get("code")
    return f"{text} ({as_text(code)})" if code and as_text(code) not in text else text


def as_text(value: Any) -> str:
    """Return any value of a body as text."""
    try:
        return value if isinstance(value, str) else str(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        return "something that cannot be shown"


def _decode_body(body: bytes) -> Any:
    try:
        return json.loads(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_tokens(logprobs: Any) -> Iterator[Token]:
    """Yield the answer's tokens with their most probable alternatives; none if the endpoint reports nothing readable."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    for token in content if isinstance(content, list) else ():
        if not isinstance(token, dict) or not isinstance(token.get("token"), str):
            return
        reported = token.get("top_logprobs")
        candidates = reported if reported and isinstance(reported, list) else [token]
        alternatives = [(other.get("token"), other.get("logprob")) for other in candidates if isinstance(other, dict)]
        yield Token(
            without_half_characters(token["token"]),
            {without_half_characters(text): float(p) for text, p in alternatives if isinstance(text, str) and _is_logprob(p)},
        )


def without_half_characters(text: str) -> str:
    """Return text without halves of characters: tokens may hold such halves, but no file can."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _find_member(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _is_logprob(value: Any) -> TypeGuard[float]:
    """Return True for the logarithm of a probability. A value slightly above 0 is a rounded probability of 1."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -1e9 <= value <= 1e-3
