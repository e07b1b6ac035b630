"""One chat call in the form of the OpenAI interface, and everything that can go wrong with it. Remote and local judges share it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from harness.errors import EndpointRefusal, FatalReply
from harness.judges.base import NoReply
from harness.judges.capabilities import FORMS, REASONING_TOKENS, EndpointCapabilities, Request, merged_system_role
from harness.judges.completion import Answer, as_text, error_text, read_answer, read_tokens, without_half_characters
from harness.judges.rate_limits import LONGEST_WAIT_SECONDS, RateLimitStatus, read_rate_limit_status, retry_after
from harness.judges.refusals import is_page, kind_of_limit, reason_about_item
from harness.model import SYSTEM_ROLE, Call, Message, Reply, Token
from harness.parse.reply import MAX_REPLY_CHARACTERS
from harness.redaction import Redactor

if TYPE_CHECKING:
    from harness.judges.transport import Response, Sender

TRANSIENT = frozenset({408, 409, 425, 429})  # and every 5xx
_PARAMETER_REFUSALS = (400, 422, 501)  # may be about a parameter, a role or an answer format
_BROKEN = 500  # may be about a role, which its message then says, or about an answer format, of which it says nothing
_MOST_BROKEN = 2  # answers with 500 to one call that are taken for an outage, before the answer format is tested
_ROUNDS = 2  # in which an answer format has to fail, and a looser one to work, before 500 is taken as a refusal of the format
_FATAL = frozenset({401, 402, 404})  # every further call would be refused too
_LONGEST_NAME = 200  # characters of a model name or a finish reason
LONGEST_TEXT = MAX_REPLY_CHARACTERS  # characters of a reply that are stored, and as many of what stands beside it
_MOST_BESIDE = 8  # members of a message that are stored beside its text


class Chat:
    """Asks calls of one model at one endpoint. `secrets` are removed from everything that the endpoint sends.

    Without a `transport` it only writes requests and interprets responses: provider batches carry them.
    """

    def __init__(
        self,
        transport: Sender | None,
        model: str,
        host: str,
        secrets: Iterable[str] = (),
        clean: Callable[[str], str] = str,
        shape: Callable[[Call], Any] = lambda call: call.prompt.schema,
        further: Mapping[str, Any] = {},
    ) -> None:
        self.rate_limit_status: RateLimitStatus | None = None
        self._transport = transport
        self._model = model
        self._host = host
        self._redact = Redactor(secrets)
        self._clean = clean
        self._shape = shape
        self._further = further  # fields of requests that the user adds
        self.capabilities = EndpointCapabilities()
        self._answered = False
        self._working_forms: set[str] = set()  # answer formats that the endpoint has answered in
        self._testing_form = False
        self._broken: Counter[str] = Counter()  # by call, answers with 500 to formats that never worked

    async def ask(self, call: Call) -> Reply:
        """Make one attempt. Raises NoReply or FatalReply as the Judge protocol says."""
        while True:
            request = self.request(call)
            start = time.perf_counter()
            response = await self._send(request)
            try:
                reply = self.interpret(call, request, response, time.perf_counter() - start)
            except NoReply:
                if response.status == _BROKEN and await self._form_is_refused(call, request):
                    continue
                raise
            if reply is not None:
                return reply

    async def _send(self, request: Request) -> Response:
        assert self._transport is not None
        try:
            response = await self._transport.post(msgspec.json.encode(request.body))
        except NoReply as err:
            raise NoReply(self.quote(str(err)), down=err.down) from None
        self.rate_limit_status = read_rate_limit_status(response.headers) or self.rate_limit_status
        return response

    async def _form_is_refused(self, call: Call, request: Request) -> bool:
        """Whether the endpoint fails because of the answer format, as some do with 500. If so, `capabilities` have a looser one.

        An endpoint that is down, or fails by chance, looks the same at first. So the format is at fault only if it never worked here, and
        if a looser one works and it fails again, in turn.
        """
        if request.form == FORMS[-1] or request.form in self._working_forms:
            return False
        if request.form != self.capabilities.form:  # another call has found out
            return True
        self._broken[call.call_id] += 1
        if self._testing_form or self._broken[call.call_id] <= _MOST_BROKEN:
            return False
        self._testing_form = True  # one call tests for all: the others have no reply, and are asked again later
        try:
            works = await self._first_working(call, FORMS[FORMS.index(request.form) + 1 :])
            if works is None or await self._works(call, request.form):
                return False
            for _ in range(_ROUNDS - 1):
                if not await self._works(call, works) or await self._works(call, request.form):
                    return False
        finally:
            self._testing_form = False
        if self.capabilities.form == request.form:  # otherwise a refusal has changed it meanwhile
            self.capabilities = replace(self.capabilities, form=works)
        return True

    async def _first_working(self, call: Call, forms: Sequence[str]) -> str | None:
        for form in forms:
            if await self._works(call, form):
                return form
        return None

    async def _works(self, call: Call, form: str) -> bool:
        """Whether the endpoint answers a call in an answer format. The answer is not kept: it may be another one than the call gets."""
        response = await self._send(self.request(call, replace(self.capabilities, form=form)))
        answer = _answer_in(response) if response.status == HTTPStatus.OK else None
        works = answer is not None and answer.kind != "failed"
        if works:
            self._working_forms.add(form)
        return works

    def interpret(self, call: Call, request: Request, response: Response, seconds: float) -> Reply | None:
        """The reply in a response. None if the response has changed `capabilities`: then the call has to be asked again.

        Raises NoReply and FatalReply as `ask`.
        """
        if response.status != 200 and not (200 < response.status < 300 and _answer_in(response)):
            return self._interpret_refusal(request, response, seconds)
        reply = self._read_reply(call, request, response.body, seconds)
        self._answered = True
        self._working_forms.add(request.form)
        if reply.finish_reason == "length" and reply.usage.reasoning_tokens and not request.reasoning_tokens:
            self.capabilities = replace(self.capabilities, reasoning_tokens=REASONING_TOKENS)  # reasoning left no tokens for the answer
            return None
        return reply

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.close()

    def request(self, call: Call, capabilities: EndpointCapabilities | None = None) -> Request:
        """The request for a call, with the capabilities that are known by now, or with those given."""
        capabilities = capabilities or self.capabilities
        sampling = capabilities.sampling(call)
        left_out = tuple(sorted(sampling.keys() & set(capabilities.left_out)))
        messages: Sequence[Message] = call.prompt.messages
        if not capabilities.system_role and any(message.role == "system" for message in messages):
            messages, left_out = merged_system_role(messages), (*left_out, SYSTEM_ROLE)
        body = {
            "model": self._model,
            "messages": [{"role": message.role, "content": self._clean(message.content)} for message in messages],
            capabilities.length_name: call.prompt.max_tokens + capabilities.reasoning_tokens,
            **self._answer_format(call, capabilities.form),
            **{name: value for name, value in sampling.items() if name not in left_out},
            **self._further,
        }
        return Request(body, capabilities.form if call.prompt.schema else FORMS[-1], left_out, capabilities.reasoning_tokens)

    def _answer_format(self, call: Call, form: str) -> dict[str, Any]:
        if not call.prompt.schema:
            return {}
        if form.startswith("json_schema"):
            schema = self._shape(call) if form == "json_schema" else _without_lengths(call.prompt.schema)
            return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}}
        return {"response_format": {"type": "json_object"}} if form == "json_object" else {}

    def _read_reply(self, call: Call, request: Request, body: bytes, seconds: float) -> Reply:
        """The reply in a body with status 200. Raises NoReply if it holds none or a failed generation, FatalReply as `_answer`."""
        answer = self._answer(body, call)
        if answer.kind == "failed":
            raise NoReply(f"{self._host} answered with a failed generation: {self.quote(answer.problem)}")
        whole_length = len(answer.text) if len(answer.text) > LONGEST_TEXT else 0
        return Reply(
            text=self._stored(answer.text),
            model=self._name(answer.model) or "",
            form=request.form,
            finish_reason=self._name(answer.finish_reason),
            refusal=self._stored(answer.refusal) if answer.refusal else None,
            usage=answer.usage,
            seconds=round(seconds, 6),
            tokens=self._tokens(answer.logprobs) if call.probabilities and not whole_length else (),
            left_out=request.left_out,
            reasoning_room=request.reasoning_tokens,
            reasoning_characters=answer.reasoning_characters,
            text_field=self._name(answer.text_field) or "",
            beside=self._beside(answer.beside),
            whole_length=whole_length,
        )

    def _stored(self, text: str) -> str:
        """The beginning of a text, as long as any answer may be, as it may be stored."""
        return self.safe(text[:LONGEST_TEXT])

    def _beside(self, beside: Mapping[str, str]) -> dict[str, str]:
        """What a message holds beside its text, as it may be stored; together as long as any answer may be."""
        stored: dict[str, str] = {}
        free = LONGEST_TEXT
        for name, words in beside.items():
            cut = f" [cut: {len(words):,} characters]" if len(words) > free else ""
            if free and len(stored) < _MOST_BESIDE:
                stored[self._name(name) or ""] = self.safe(words[:free]) + cut
            free = max(0, free - len(words))
        return stored

    def _name(self, value: Any) -> str | None:
        """The name of a model or a finish reason; None if the endpoint does not report it."""
        return self.safe(as_text(value))[:_LONGEST_NAME] if value else None

    def _answer(self, body: bytes, call: Call) -> Answer:
        """What a body says. If the first response is not a completion, the address is wrong; later it is a temporary error."""
        try:
            answer = read_answer(body, call.prompt.schema.get("required", ()))
        except ValueError as err:
            if not body.lstrip().startswith(b"<"):
                raise NoReply(f"{self._host} answered with a body that is not JSON that can be read ({err})") from None
            answer = None
        if answer is not None:
            return answer
        if error := error_text(body):
            raise NoReply(f"{self._host} answered with an error: {self.quote(error)}")
        begins = self.quote(body[:_LONGEST_NAME].decode(errors="replace"), 80)
        problem = f"{self._host} answers, but not like a chat endpoint (it begins: {begins!r})"
        if self._answered:
            raise NoReply(problem)
        raise FatalReply(f"{problem}; the base URL usually ends in /v1")

    def _interpret_refusal(self, request: Request, response: Response, seconds: float) -> Reply | None:
        """What a status other than 200 means: ask differently (None), ask again, a refusal of this item, or a refusal by the endpoint."""
        status = response.status
        whole_text = error_text(response.body) or response.body.decode(errors="replace")
        message = self.quote(whole_text, 80 if is_page(whole_text) else 300) or "no reason given"
        if status == 429:
            raise self._limit_error(message, retry_after(response.headers))
        adapted = None
        if status in _PARAMETER_REFUSALS and not is_page(message):
            adapted = self.capabilities.adapted_to(message, request)
        elif status == _BROKEN:
            adapted = self.capabilities.without_system_role(message, request)
        if adapted is not None:
            self.capabilities = adapted
            return None
        if status in TRANSIENT or status >= 500:
            raise NoReply(
                f"{self._host} answered {status}: {message}",
                retry_after(response.headers),
                busy=status == 503,
                down=status >= 500,
            )
        about = reason_about_item(status, message)
        if about == "policy":
            return Reply(text="", model="", form=request.form, refusal=message, error=f"{status}", seconds=seconds)
        if about == "length":
            return Reply(text="", model="", form=request.form, error=f"{status}: {message}", seconds=seconds)
        reason, advice = f"{self._host} refused a call with {status}: {message}", _advice(status, self._model)
        raise FatalReply(f"{reason}. {advice}") if status in _FATAL else EndpointRefusal(reason, advice)

    def _limit_error(self, message: str, wait: float | None) -> NoReply | FatalReply:
        """What a 429 means: a rate limit, which passes, or a limit that is not renewed soon."""
        limit = kind_of_limit(message)
        if limit == "spent":
            return FatalReply(
                f"{self._host} says that the quota is used up: {message}. Add credit or use another key, then run the same command again"
            )
        if limit == "day" and (wait is None or wait > LONGEST_WAIT_SECONDS):
            return FatalReply(
                f"{self._host} says that the limit of the day is reached: {message}. Run the same command again when it is renewed: all "
                "answers so far are kept"
            )
        return NoReply(f"{self._host} answered 429: {message}", wait, busy=True)

    def _tokens(self, logprobs: Any) -> tuple[Token, ...]:
        """The answer's tokens; none if they hold a secret, which may be spread over several tokens."""
        tokens = tuple(read_tokens(logprobs))
        ranks = zip_longest(*(token.others for token in tokens), fillvalue="")
        lines = ["".join(token.text for token in tokens), *map("".join, ranks)]
        return () if any(self._redact(line) != line for line in lines) else tokens

    def safe(self, text: str) -> str:
        """Text that may be stored: without secrets and without halves of characters."""
        return without_half_characters(self._redact(text))

    def quote(self, text: str, most: int = 300) -> str:
        """A message of the endpoint as one line that may be stored and printed. Secrets are removed before it is cut."""
        return without_half_characters(self._redact.quote(text, most))


def _answer_in(response: Response) -> Answer | None:
    """What a response says, perhaps with another 2xx status than 200; None if it holds no completion."""
    try:
        return read_answer(response.body)
    except ValueError:
        return None


def _advice(status: int, model: str) -> str:
    if status < 300:
        return "It sent no answer: does the base URL end in /v1, and is it a chat endpoint?"
    if status < 400:
        return "It points to another address: use that as the base URL"
    return {
        401: "The API key is wrong or missing: set OPENAI_API_KEY (for Azure AZURE_OPENAI_API_KEY) to a valid one",
        402: "The account has no credit: add credit or use another key, then run the same command again",
        403: "This key may not use this model, or a firewall or proxy blocks the calls: choose another model or key, or ask whoever runs "
        "the network, then run the same command again",
        404: f"Is '{model}' the model's exact name, and does the base URL end in /v1?",
        407: "The proxy wants a name and a password: give them in the proxy's address (https_proxy=http://NAME:PASSWORD@HOST:PORT)",
        413: "The endpoint, or a proxy before it, accepts no requests of this size: raise its limit, then run the same command again",
    }.get(status, "Look for the reason in the endpoint's log, then run the same command again")


def _without_lengths(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {key: _without_lengths(value) for key, value in schema.items() if key not in ("maxLength", "maxItems", "minimum", "maximum")}
    return schema
