"""One chat call over the openai client, and what can go wrong with it: shared by remote and local judges."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import msgspec
import openai

from harness.errors import FatalReply
from harness.judges.base import NoReply
from harness.model import Call, Message, Reply, Token, Usage

# How the answer's shape is asked for, from strictest to loosest. An endpoint that refuses one is asked the next way, for good.
FORMS = ("json_schema", "json_schema-lenient", "json_object", "text")
_FORM_WORDS = ("response_format", "json_schema", "json_object", "json mode", "schema", "grammar", "structured", "maxlength")
TOP_TOKENS = 20  # the most that the interface gives
FEW_TOKENS = 5  # what some endpoints hold it to
# Words of a refusal -> parameters that are then left out for good: some models take none of them.
_DISPENSABLE = {"logprob": ("logprobs", "top_logprobs"), "temperature": ("temperature",), "top_p": ("top_p",), "seed": ("seed",)}
_TRANSIENT = frozenset({408, 409, 425, 429})
_SAME_FOR_ALL = frozenset({401, 402, 404})  # whatever was answered before: nothing of this is about one call
_TOO_LONG = ("context length", "context_length", "context size", "exceed_context", "maximum context", "too long", "too many tokens")


def http_client(*, on_this_machine: bool) -> openai.DefaultAsyncHttpxClient:
    """What carries the calls: it follows no redirect (texts go where they were said to go), and takes no proxy to this machine."""
    return openai.DefaultAsyncHttpxClient(follow_redirects=False, trust_env=not on_this_machine)


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: Any = None
    logprobs: Any = None


class _Completion(msgspec.Struct):
    """What makes a body a completion. Endpoints differ in all the rest, so it is read for what it is worth."""

    choices: list[_Choice]
    model: Any = None
    usage: Any = None


class Chat:
    """Asks calls of one model at one endpoint. `secrets` are cut out of everything that comes back."""

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        model: str,
        host: str,
        secrets: Sequence[str] = (),
        clean: Callable[[str], str] = str,
        shape: Callable[[Call], Any] = lambda call: call.prompt.schema,
    ) -> None:
        self._client = client
        self._model = model
        self._host = host
        self._secrets = [secret for secret in secrets if len(secret) >= 4]
        self._clean = clean
        self._shape = shape
        self._form = FORMS[0]
        self._top_tokens = TOP_TOKENS
        self._left_out: dict[str, None] = {}  # parameters that the endpoint has refused
        self._answered = False

    async def ask(self, call: Call) -> Reply:
        """One attempt. Raises NoReply or FatalReply as the Judge protocol says."""
        form = self._form
        sampling = self._sampling(call)
        left_out = tuple(sorted(sampling.keys() & self._left_out.keys()))
        sent = {name: value for name, value in sampling.items() if name not in left_out}
        start = time.perf_counter()
        try:
            response = await self._client.chat.completions.with_raw_response.create(**self._request(call, form), **sent)
        except openai.APIStatusError as err:
            return await self._refused(call, form, sent, err, time.perf_counter() - start)
        except openai.APITimeoutError:
            raise NoReply(f"{self._host} did not answer in time") from None
        except openai.APIConnectionError as err:
            raise NoReply(f"no connection to {self._host} ({self._safe(str(err.__cause__ or err))})") from None
        reply = self._read(call, response.content, form, left_out, time.perf_counter() - start)
        self._answered = True
        return reply

    async def close(self) -> None:
        await self._client.close()

    def _sampling(self, call: Call) -> dict[str, Any]:
        """What a call says about how the answer is drawn; all of it can be left out."""
        wanted: dict[str, Any] = {"temperature": call.temperature, "seed": call.seed, "top_p": call.top_p}
        if call.probabilities:
            wanted |= {"logprobs": True, "top_logprobs": self._top_tokens}
        return {name: value for name, value in wanted.items() if value is not None}

    def _request(self, call: Call, form: str) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._model,
            "messages": [self._message(message) for message in call.prompt.messages],
            "max_tokens": call.prompt.max_tokens,
        }
        if form.startswith("json_schema"):
            schema = self._shape(call) if form == "json_schema" else _without_lengths(call.prompt.schema)
            request["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        elif form == "json_object":
            request["response_format"] = {"type": "json_object"}
        return request

    def _message(self, message: Message) -> dict[str, str]:
        return {"role": message.role, "content": self._clean(message.content)}

    def _read(self, call: Call, body: bytes, form: str, left_out: tuple[str, ...], seconds: float) -> Reply:
        completion = self._completion(body)
        choice = completion.choices[0] if completion.choices else _Choice(_Message())
        return Reply(
            text=self._safe(_text(choice.message.content)),
            model=self._safe(str(completion.model or "")),
            form=form,
            finish_reason=self._safe(str(choice.finish_reason)) if choice.finish_reason else None,
            refusal=self._safe(choice.message.refusal) if choice.message.refusal else None,
            usage=Usage(
                _count(completion.usage, "prompt_tokens"),
                _count(completion.usage, "prompt_tokens_details", "cached_tokens"),
                _count(completion.usage, "completion_tokens"),
            ),
            seconds=seconds,
            tokens=self._tokens(choice.logprobs) if call.probabilities else (),
            left_out=left_out,
        )

    def _completion(self, body: bytes) -> _Completion:
        """The body as a completion. What is none is the wrong address if it is the first answer, and a hiccup later on."""
        try:
            data = json.loads(body)  # not msgspec: models cut characters in half, which makes lone surrogates
        except (ValueError, RecursionError):
            if not body.lstrip().startswith(b"<"):
                raise NoReply(f"{self._host} answered something that is not JSON") from None
            data = None
        if isinstance(data, dict) and (error := data.get("error")):
            said = error.get("message", error) if isinstance(error, dict) else error
            raise NoReply(f"{self._host} answered with an error: {self._safe(str(said))[:300]}")
        try:
            return msgspec.convert(data, _Completion)
        except msgspec.ValidationError:
            found = self._safe(" ".join(body.decode(errors="replace").split()))[:80]
            problem = f"{self._host} answers, but not like a chat endpoint (it begins: {found!r})"
        if self._answered:
            raise NoReply(problem)
        raise FatalReply(f"{problem}; the base URL usually ends in /v1")

    async def _refused(self, call: Call, form: str, sent: Mapping[str, Any], err: openai.APIStatusError, seconds: float) -> Reply:
        said = self._safe(_said(err))
        status = err.status_code
        if status == 429 and "quota" in said.lower():
            raise FatalReply(
                f"{self._host} says that the quota is used up: {said}. Add credit or use another key, then run the same command again"
            )
        if status in (400, 422) and "top_logprobs" in said.lower() and sent.get("top_logprobs", 0) > FEW_TOKENS:
            self._top_tokens = FEW_TOKENS
            return await self.ask(call)
        if status in (400, 422, 501) and (refused := _refused_parameters(said, sent)):
            self._left_out |= dict.fromkeys(refused)
            return await self.ask(call)
        if status in (400, 422, 501) and any(word in said.lower() for word in _FORM_WORDS) and form != FORMS[-1]:
            if self._form == form:  # another call in flight may have moved on already
                self._form = FORMS[FORMS.index(form) + 1]
            return await self.ask(call)
        if status in _TRANSIENT or status >= 500:
            raise NoReply(f"{self._host} answered {status}: {said}", _retry_after(err.response.headers))
        if "content_filter" in said or "content management policy" in said:
            return Reply(text="", model="", form=form, refusal=said, error=f"{status}", seconds=seconds)
        if (self._answered and status not in _SAME_FOR_ALL) or any(words in said.lower() for words in _TOO_LONG):
            return Reply(text="", model="", form=form, error=f"{status}: {said}", seconds=seconds)
        raise FatalReply(f"{self._host} refused a call with {status}: {said}. {_advice(status, self._model)}")

    def _tokens(self, logprobs: Any) -> tuple[Token, ...]:
        """The answer's tokens; none where a secret is among them, as it may be spread over several."""
        tokens = tuple(_tokens(logprobs))
        said = "".join(token.text for token in tokens) + "\n" + "\n".join(text for token in tokens for text in token.others)
        return () if any(secret in said for secret in self._secrets) else tokens

    def _safe(self, text: str) -> str:
        """Text that may be kept: without secrets, and whole."""
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return _whole(text)


def _refused_parameters(said: str, sent: Collection[str]) -> tuple[str, ...]:
    """Parameters that were sent, that the refusal names and that can be left out; replies say that they were.

    It goes by what this call sent: several in flight may be refused at once, and each has to be asked again.
    """
    return next((names for words, names in _DISPENSABLE.items() if words in said.lower() and set(names) & set(sent)), ())


def _tokens(logprobs: Any) -> Iterator[Token]:
    """The answer's tokens with their likeliest alternatives; nothing where the endpoint says nothing that can be read."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    for token in content if isinstance(content, list) else ():
        if not isinstance(token, dict) or not isinstance(token.get("token"), str):
            return
        given = token.get("top_logprobs")
        others = given if given and isinstance(given, list) else [token]
        read = [(other.get("token"), other.get("logprob")) for other in others if isinstance(other, dict)]
        yield Token(_whole(token["token"]), {_whole(text): float(p) for text, p in read if isinstance(text, str) and _is_logprob(p)})


def _is_logprob(value: Any) -> TypeGuard[float]:
    """Whether it is the logarithm of a probability; a hair above 0 is a rounded 1."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -1e9 <= value <= 1e-3


def _whole(text: str) -> str:
    """Text without halves of characters, as tokens may be, which no file could hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(content: str | list[dict[str, Any]] | None) -> str:
    """A message's text; some endpoints send it in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content)
    return content or ""


def _count(usage: Any, *names: str) -> int:
    for name in names:
        usage = usage.get(name) if isinstance(usage, dict) else None
    return usage if isinstance(usage, int) else 0


def _advice(status: int, model: str) -> str:
    if status < 400:
        return "It points to another address: use that as the base URL"
    return {
        401: "The API key is wrong or missing: set OPENAI_API_KEY (for Azure AZURE_OPENAI_API_KEY) to a valid one",
        403: "This key may not use this model: choose another model or key",
        404: f"Is '{model}' the model's exact name, and does the base URL end in /v1?",
    }.get(status, "Every call would end the same way, so nothing more was asked")


def _said(err: openai.APIStatusError) -> str:
    body = err.body
    message = body.get("message") if isinstance(body, dict) else None
    code = body.get("code") if isinstance(body, dict) else None
    text = " ".join(str(message or err.message).split())[:300]
    return f"{text} ({code})" if code and str(code) not in text else text


def _retry_after(headers: Any) -> float | None:
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _without_lengths(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _without_lengths(value) for key, value in schema.items() if key not in ("maxLength", "minimum", "maximum")}
    return schema
