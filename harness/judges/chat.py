"""One chat call in the form of the OpenAI interface, and what can go wrong with it: shared by remote and local judges.

What an endpoint does not take (a form of answer, a parameter) is learnt from its first refusal and left out for good.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec.structs import replace

from harness.errors import FatalReply
from harness.judges.allowance import Allowance, allowance, retry_after
from harness.judges.base import NoReply
from harness.judges.completion import Completion, completion, error_of, tokens_of, whole
from harness.model import Call, Message, Reply, Token

if TYPE_CHECKING:
    from harness.judges.wire import Response

# How the answer's shape is asked for, from strictest to loosest. An endpoint that refuses one is asked the next way, for good.
FORMS = ("json_schema", "json_schema-lenient", "json_object", "text")
_FORM_WORDS = ("response_format", "json_schema", "json_object", "json mode", "schema", "grammar", "structured", "maxlength")
TOP_TOKENS = 20  # the most that the interface gives
FEW_TOKENS = 5  # what some endpoints hold it to
REASONING_ROOM = 8192  # tokens that a model which thinks first is given for that
# Words of a refusal -> parameters that are then left out for good: some models take none of them.
_DISPENSABLE = {"logprob": ("logprobs", "top_logprobs"), "temperature": ("temperature",), "top_p": ("top_p",), "seed": ("seed",)}
TRANSIENT = frozenset({408, 409, 425, 429})  # and every 5xx
_REFUSED = (400, 422, 501)
_SAME_FOR_ALL = frozenset({401, 402, 404})  # whatever was answered before: nothing of this is about one call
_TOO_LONG = ("context length", "context_length", "context size", "exceed_context", "maximum context", "too long", "too many tokens")


class Poster(Protocol):
    """What carries a body to the endpoint (harness.judges.wire)."""

    async def post(self, body: bytes) -> Response: ...

    async def close(self) -> None: ...


class Request(msgspec.Struct, frozen=True):
    """A call as it is sent: the body, and what of the call's wishes it could hold."""

    body: dict[str, Any]
    form: str
    left_out: tuple[str, ...]
    room: int


class Manner(msgspec.Struct, frozen=True):
    """How an endpoint is asked, as far as its refusals have taught: the form of the answer, the alternatives of a token, parameters that
    are left out, what the answer's length is called, and tokens of room for thinking."""

    form: str = FORMS[0]
    top_tokens: int = TOP_TOKENS
    left_out: tuple[str, ...] = ()
    length_name: str = "max_tokens"  # reasoning models call it max_completion_tokens
    room: int = 0


class Chat:
    """Asks calls of one model at one endpoint. `secrets` are cut out of everything that comes back.

    Without a `wire` it only words requests and reads responses, which then travel in another way.
    """

    def __init__(
        self,
        wire: Poster | None,
        model: str,
        host: str,
        secrets: Sequence[str] = (),
        clean: Callable[[str], str] = str,
        shape: Callable[[Call], Any] = lambda call: call.prompt.schema,
    ) -> None:
        self.allowance: Allowance | None = None
        self._wire = wire
        self._model = model
        self._host = host
        self._secrets = [secret for secret in secrets if len(secret) >= 4]
        self._clean = clean
        self._shape = shape
        self.manner = Manner()
        self._answered = False

    async def ask(self, call: Call) -> Reply:
        """One attempt. Raises NoReply or FatalReply as the Judge protocol says."""
        assert self._wire is not None
        while True:
            request = self.request(call)
            start = time.perf_counter()
            try:
                response = await self._wire.post(msgspec.json.encode(request.body))
            except NoReply as err:
                raise NoReply(self.safe(str(err)), down=err.down) from None
            self.allowance = allowance(response.headers) or self.allowance
            reply = self.understand(call, request, response, time.perf_counter() - start)
            if reply is not None:
                return reply

    def understand(self, call: Call, request: Request, response: Response, seconds: float) -> Reply | None:
        """The reply that a response is; None where it has taught how to ask otherwise, so that the call is to be asked again.

        Raises NoReply and FatalReply as `ask`.
        """
        if response.status != 200:
            return self._refused(request, response, seconds)
        reply = self.read(call, request, response.body, seconds)
        self._answered = True
        if reply.finish_reason == "length" and reply.usage.reasoning_tokens and not request.room:
            self.manner = replace(self.manner, room=REASONING_ROOM)  # it thought until there was no room left to answer
            return None
        return reply

    async def close(self) -> None:
        if self._wire is not None:
            await self._wire.close()

    def request(self, call: Call, manner: Manner | None = None) -> Request:
        """The call as this endpoint takes it, as far as is known by now, or in an earlier `manner`."""
        manner = manner or self.manner
        sampling = _sampling(call, manner)
        left_out = tuple(sorted(sampling.keys() & set(manner.left_out)))
        body = {
            "model": self._model,
            "messages": [self._message(message) for message in call.prompt.messages],
            manner.length_name: call.prompt.max_tokens + manner.room,
            **self._answer_form(call, manner.form),
            **{name: value for name, value in sampling.items() if name not in left_out},
        }
        return Request(body, manner.form, left_out, manner.room)

    def _answer_form(self, call: Call, form: str) -> dict[str, Any]:
        if form.startswith("json_schema"):
            schema = self._shape(call) if form == "json_schema" else _without_lengths(call.prompt.schema)
            return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}}
        return {"response_format": {"type": "json_object"}} if form == "json_object" else {}

    def _message(self, message: Message) -> dict[str, str]:
        return {"role": message.role, "content": self._clean(message.content)}

    def read(self, call: Call, request: Request, body: bytes, seconds: float) -> Reply:
        """The reply in a body of status 200. Raises NoReply for what is none, FatalReply if the first answer is none."""
        found = self._completion(body)
        choice = found.choice
        return Reply(
            text=self.safe(choice.message.text),
            model=self.safe(str(found.model or "")),
            form=request.form,
            finish_reason=self.safe(str(choice.finish_reason)) if choice.finish_reason else None,
            refusal=self.safe(choice.message.refusal) if choice.message.refusal else None,
            usage=found.counted,
            seconds=round(seconds, 6),
            tokens=self._tokens(choice.logprobs) if call.probabilities else (),
            left_out=request.left_out,
            reasoning_room=request.room,
        )

    def _completion(self, body: bytes) -> Completion:
        """The body as a completion. What is none is the wrong address if it is the first answer, and a hiccup later on."""
        try:
            found = completion(body)
        except ValueError:
            if not body.lstrip().startswith(b"<"):
                raise NoReply(f"{self._host} answered something that is not JSON") from None
            found = None
        if (found is None or found.error) and (said := error_of(body)):
            raise NoReply(f"{self._host} answered with an error: {self.safe(said)}")
        if found is not None:
            return found
        begins = self.safe(" ".join(body.decode(errors="replace").split()))[:80]
        problem = f"{self._host} answers, but not like a chat endpoint (it begins: {begins!r})"
        if self._answered:
            raise NoReply(problem)
        raise FatalReply(f"{problem}; the base URL usually ends in /v1")

    def _refused(self, request: Request, response: Response, seconds: float) -> Reply | None:
        """What a status other than 200 means: ask in another way, ask again, a refusal of this one call, or the end."""
        status = response.status
        said = self.safe(error_of(response.body) or _beginning(response.body) or "without a word")
        if status == 429 and "quota" in said.lower():
            raise FatalReply(
                f"{self._host} says that the quota is used up: {said}. Add credit or use another key, then run the same command again"
            )
        if status in _REFUSED and self._learns(said, request):
            return None
        if status in TRANSIENT or status >= 500:
            raise NoReply(
                f"{self._host} answered {status}: {said}",
                retry_after(response.headers),
                busy=status in (429, 503),
                down=status >= 500,
            )
        if "content_filter" in said or "content management policy" in said:
            return Reply(text="", model="", form=request.form, refusal=said, error=f"{status}", seconds=seconds)
        if (self._answered and status not in _SAME_FOR_ALL) or any(words in said.lower() for words in _TOO_LONG):
            return Reply(text="", model="", form=request.form, error=f"{status}: {said}", seconds=seconds)
        raise FatalReply(f"{self._host} refused a call with {status}: {said}. {_advice(status, self._model)}")

    def _learns(self, said: str, request: Request) -> bool:
        """Whether the refusal names something that can be asked for in another way or left out; it is from now on.

        It goes by what this call sent: several in flight may be refused at once, and each has to be asked again.
        """
        words, sent = said.lower(), request.body
        if "max_completion_tokens" in words and "max_tokens" in sent:
            self.manner = replace(self.manner, length_name="max_completion_tokens", room=REASONING_ROOM)
            return True
        if "top_logprobs" in words and sent.get("top_logprobs", 0) > FEW_TOKENS:
            self.manner = replace(self.manner, top_tokens=FEW_TOKENS)
            return True
        if refused := _refused_parameters(words, sent):
            self.manner = replace(self.manner, left_out=tuple(sorted({*self.manner.left_out, *refused})))
            return True
        if any(word in words for word in _FORM_WORDS) and request.form != FORMS[-1]:
            if self.manner.form == request.form:  # another call in flight may have moved on already
                self.manner = replace(self.manner, form=FORMS[FORMS.index(request.form) + 1])
            return True
        return False

    def _tokens(self, logprobs: Any) -> tuple[Token, ...]:
        """The answer's tokens; none where a secret is among them, as it may be spread over several."""
        tokens = tuple(tokens_of(logprobs))
        said = "".join(token.text for token in tokens) + "\n" + "\n".join(text for token in tokens for text in token.others)
        return () if any(secret in said for secret in self._secrets) else tokens

    def safe(self, text: str) -> str:
        """Text that may be kept: without secrets, and whole."""
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return whole(text)


def _sampling(call: Call, manner: Manner) -> dict[str, Any]:
    """What a call says about how the answer is drawn; all of it can be left out."""
    wanted: dict[str, Any] = {"temperature": call.temperature, "seed": call.seed, "top_p": call.top_p}
    if call.probabilities:
        wanted |= {"logprobs": True, "top_logprobs": manner.top_tokens}
    return {name: value for name, value in wanted.items() if value is not None}


def _refused_parameters(said: str, sent: Collection[str]) -> tuple[str, ...]:
    """Parameters that were sent, that the refusal names and that can be left out; replies say that they were."""
    return next((names for words, names in _DISPENSABLE.items() if words in said and set(names) & set(sent)), ())


def _beginning(body: bytes) -> str:
    return " ".join(body.decode(errors="replace").split())[:80]


def _advice(status: int, model: str) -> str:
    if status < 400:
        return "It points to another address: use that as the base URL"
    return {
        401: "The API key is wrong or missing: set OPENAI_API_KEY (for Azure AZURE_OPENAI_API_KEY) to a valid one",
        403: "This key may not use this model: choose another model or key",
        404: f"Is '{model}' the model's exact name, and does the base URL end in /v1?",
    }.get(status, "Every call would end the same way, so nothing more was asked")


def _without_lengths(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {key: _without_lengths(value) for key, value in schema.items() if key not in ("maxLength", "minimum", "maximum")}
    return schema
