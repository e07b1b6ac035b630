"""One chat call in the form of the OpenAI interface, and everything that can go wrong with it. Remote and local judges share it."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from harness.errors import EndpointRefusal, FatalReply
from harness.judges.capabilities import FORMS, REASONING_TOKENS, EndpointCapabilities, Request, merged_system_role
from harness.judges.http_refusals import Refusal, Subject, is_page, kind_of_limit, may_answer_later, read_refusal, reason_about_item
from harness.judges.judge_protocol import NoReply, UnexplainedRefusal
from harness.judges.rate_limit_headers import LONGEST_WAIT_SECONDS, RateLimitStatus, read_rate_limit_status, retry_after, wait_in_text
from harness.judges.response_body import CompletionAnswer, as_text, error_text, read_answer, read_tokens, without_half_characters
from harness.judges.transport import Response
from harness.model import SYSTEM_ROLE, Call, Message, Reply, Token
from harness.parse.finish_reasons import was_cut
from harness.parse.reasoning import reasoning_end
from harness.parse.reply import MAX_REPLY_CHARACTERS
from harness.redaction import Redactor

if TYPE_CHECKING:
    from harness.judges.transport import Sender

_PARAMETER_REFUSALS = (400, 404, 422, 501)  # may be about a parameter, a role or an answer format
_BROKEN = 500  # may be about a role, which its message then says, or about an answer format, of which it says nothing
_MOST_BROKEN = 2  # answers with 500 to one call that are taken for an outage, before the answer format is tested
_ROUNDS = 2  # in which an answer format has to fail, and a looser one to work, before 500 is taken as a refusal of the format
_FATAL = frozenset({401, 402, 404})  # every further call would be refused too
_ENOUGH_REASONING_TOKENS = 2048  # that one text left room for: other calls are asked with as many
_LONGEST_NAME = 200  # characters of a model name or a finish reason
LONGEST_TEXT = MAX_REPLY_CHARACTERS  # characters of a reply that are stored, and as many of what stands beside it
_MOST_BESIDE = 8  # members of a message that are stored beside its text

_BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b":")
_END = b"[DONE]"
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")  # members of a message that come in pieces


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
        user_fields: Mapping[str, Any] = {},
        persona: str = "",
    ) -> None:
        self.rate_limit_status: RateLimitStatus | None = None
        self._transport = transport
        self._model = model
        self._host = host
        self._redact = Redactor(secrets)
        self._clean = clean
        self._shape = shape
        self._user_fields = user_fields  # fields of requests that the user adds
        self._persona = persona
        self.capabilities = EndpointCapabilities()
        self._answered = False
        self._all_forms_refused = False  # for a reason that was not named
        self._working_forms: set[str] = set()  # answer formats that the endpoint has answered in
        self._testing_form = False
        self._broken: Counter[str] = Counter()  # by call, answers with 500 to formats that never worked

    async def ask(self, call: Call) -> Reply:
        """Make one attempt. Raises NoReply or FatalReply as the Judge protocol says."""
        narrowed: EndpointCapabilities | None = None  # of this call, whose text leaves less room for the answer than others
        while True:
            request = self.request(call, narrowed)
            start = time.perf_counter()
            response = await self._send(request)
            try:
                reply = self.interpret(call, request, response, time.perf_counter() - start)
            except NoReply:
                if response.status == _BROKEN and await self._form_is_refused(call, request):
                    continue
                raise
            except UnexplainedRefusal:
                looser = await self._reply_in_looser_form(call, request)
                if looser is None:
                    raise
                return looser
            if isinstance(reply, Reply):
                if narrowed is not None and narrowed.reasoning_tokens >= _ENOUGH_REASONING_TOKENS:
                    self.capabilities = replace(self.capabilities, reasoning_tokens=narrowed.reasoning_tokens)
                return reply
            narrowed = reply if reply.reasoning_refused else None

    async def _send(self, request: Request) -> Response:
        assert self._transport is not None
        try:
            response = await self._transport.post(msgspec.json.encode(request.body))
        except NoReply as err:
            raise NoReply(self.quote(str(err)), down=err.down) from None
        self.rate_limit_status = read_rate_limit_status(response.headers) or self.rate_limit_status
        return response

    async def _form_is_refused(self, call: Call, request: Request) -> bool:
        """Return True if the endpoint fails because of the answer format, as some do with 500. If so, `capabilities` have a looser one.

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
            works = None
            for form in FORMS[FORMS.index(request.form) + 1 :]:
                if works is None and await self._works(call, form):
                    works = form
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

    async def _reply_in_looser_form(self, call: Call, request: Request) -> Reply | None:
        """Return the reply, in a looser answer format, to a call that was refused without a reason; None without such a format.

        The format is used from then on.

        The same format is tried once more first, as a refusal may be an exception. Once an endpoint has answered in a format, or refused
        them all, its refusals are not about the format.
        """
        usual = self.capabilities.form if call.prompt.schema else FORMS[-1]
        if (self._answered or self._all_forms_refused) and request.form == usual:
            return None
        for form in FORMS[FORMS.index(request.form) :]:
            looser = self.request(call, replace(self.capabilities, form=form))
            start = time.perf_counter()
            try:
                reply = self.interpret(call, looser, await self._send(looser), time.perf_counter() - start)
            except UnexplainedRefusal:
                continue
            if self.capabilities.form == request.form:  # otherwise another call has found out
                self.capabilities = replace(self.capabilities, form=form)
            return reply if isinstance(reply, Reply) else await self.ask(call)
        self._all_forms_refused = True
        return None

    def loosen(self, request: Request) -> bool:
        """Use a looser answer format than that of a request; return False if there is none. For batches, which cannot try."""
        if request.form == FORMS[-1]:
            return False
        if self.capabilities.form == request.form:
            self.capabilities = replace(self.capabilities, form=FORMS[FORMS.index(request.form) + 1])
        return True

    async def _works(self, call: Call, form: str) -> bool:
        """Return True if the endpoint answers a call in an answer format. The answer is dropped: the call may get another one."""
        response = await self._send(self.request(call, replace(self.capabilities, form=form)))
        answer = _answer_in(response) if response.status == HTTPStatus.OK else None
        works = answer is not None and answer.kind != "failed"
        if works:
            self._working_forms.add(form)
        return works

    def interpret(self, call: Call, request: Request, response: Response, seconds: float) -> Reply | EndpointCapabilities:
        """Return the reply in a response, or the capabilities with which the call has to be asked again.

        These are `capabilities` from now on, unless they are only for this call, whose text leaves less room (`reasoning_refused`).
        Raises NoReply and FatalReply as `ask`.
        """
        if response.status != 200 and not (200 < response.status < 300 and _answer_in(response)):
            return self._interpret_refusal(request, response, seconds)
        body = joined_stream(response.body)
        refused = _find_refusal(body)
        if refused is not None:
            return self._interpret_refusal(request, refused, seconds)
        # The reply in a body with status 200. Raises NoReply if it holds none or a failed generation, FatalReply as `_answer`.
        answer = self._answer(body, call)
        if answer.kind == "failed":
            raise NoReply(f"{self._host} answered with a failed generation: {self.quote(answer.problem)}")
        whole_length = len(answer.text) if len(answer.text) > LONGEST_TEXT else 0
        # The other members of a message as they may be stored; together as long as any answer may be.
        stored: dict[str, str] = {}
        free = LONGEST_TEXT
        for name, words in answer.beside.items():
            cut = f" [cut: {len(words):,} characters]" if len(words) > free else ""
            if free and len(stored) < _MOST_BESIDE:
                stored[self._name(name) or ""] = self.safe(words[:free]) + cut
            free = max(0, free - len(words))
        reply = Reply(
            text=self._cut_to_stored(answer.text),
            model=self._name(answer.model) or "",
            form=request.form,
            finish_reason=self._name(answer.finish_reason),
            refusal=self._cut_to_stored(answer.refusal) if answer.refusal else None,
            usage=answer.usage,
            seconds=round(seconds, 6),
            tokens=self._read_tokens(answer.logprobs) if call.probabilities and not whole_length else (),
            left_out=request.left_out,
            reasoning_room=request.reasoning_tokens,
            reasoning_characters=answer.reasoning_characters,
            text_field=self._name(answer.text_field) or "",
            beside=stored,
            whole_length=whole_length,
        )
        self._answered = True
        self._working_forms.add(request.form)
        if _ran_out_reasoning(reply) and self._can_raise_room(request):
            return self.capabilities
        return reply

    def _can_raise_room(self, request: Request) -> bool:
        """Return True if calls can be asked with more tokens for reasoning than this request. If so, `capabilities` have them."""
        if request.reasoning_tokens or request.reasoning_refused:
            return False
        self.capabilities = replace(self.capabilities, reasoning_tokens=self.capabilities.reasoning_tokens or REASONING_TOKENS)
        return self.capabilities.most_output == 0 or self.capabilities.most_output > request.output_tokens

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.close()

    def request(self, call: Call, capabilities: EndpointCapabilities | None = None) -> Request:
        """Return the request for a call, with the capabilities that are known by now, or with those given."""
        capabilities = capabilities or self.capabilities
        sampling = capabilities.sampling(call)
        left_out = tuple(sorted(sampling.keys() & set(capabilities.left_out)))
        messages: Sequence[Message] = call.prompt.messages
        if self._persona:
            first, *later_messages = messages
            system = f"{self._persona}\n{first.content}" if first.role == "system" else self._persona
            messages = [Message("system", system), *(later_messages if first.role == "system" else messages)]
        if not capabilities.system_role and any(message.role == "system" for message in messages):
            messages, left_out = merged_system_role(messages), (*left_out, SYSTEM_ROLE)
        answer_format: dict[str, Any] = {}
        if call.prompt.schema and capabilities.form.startswith("json_schema"):
            schema = self._shape(call) if capabilities.form == "json_schema" else _without_lengths(call.prompt.schema)
            answer_format = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        elif call.prompt.schema and capabilities.form == "json_object":
            answer_format = {"type": "json_object"}
        body = {
            "model": self._model,
            "messages": [{"role": message.role, "content": self._clean(message.content)} for message in messages],
            capabilities.length_name: capabilities.output_tokens(call),
            **({"stream": True} if capabilities.stream else {}),
            **(
                {"stream_options": {"include_usage": True}} if capabilities.stream and "stream_options" not in capabilities.left_out else {}
            ),
            **({"response_format": answer_format} if answer_format else {}),
            **{name: value for name, value in sampling.items() if name not in left_out},
            **self._user_fields,
        }
        output_tokens = capabilities.output_tokens(call)
        return Request(
            body=body,
            form=capabilities.form if call.prompt.schema else FORMS[-1],
            left_out=left_out,
            reasoning_tokens=max(0, output_tokens - call.prompt.max_tokens),
            output_tokens=output_tokens,
            reasoning_refused=capabilities.reasoning_refused,
        )

    def _cut_to_stored(self, text: str) -> str:
        """Return the beginning of a text, as long as any answer may be, as it may be stored."""
        return self.safe(text[:LONGEST_TEXT])

    def _name(self, value: Any) -> str | None:
        """Return the name of a model or a finish reason; None if the endpoint does not report it."""
        return self.safe(as_text(value))[:_LONGEST_NAME] if value else None

    def _answer(self, body: bytes, call: Call) -> CompletionAnswer:
        """Return the answer in a body. If the first response is not a completion, the address is wrong; later it is a temporary error."""
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

    def _interpret_refusal(self, request: Request, response: Response, seconds: float) -> Reply | EndpointCapabilities:
        """Interpret a status other than 200: ask differently, ask again, a refusal of this text, or a refusal by the endpoint."""
        status, refusal = response.status, read_refusal(response.body)
        message = self.quote(refusal.message, 80 if is_page(refusal.message) else 300) or "no reason given"
        if refusal.generation is not None:  # the provider found the model's text to be no JSON of the schema
            return Reply(text=self.safe(refusal.generation), model="", form=request.form, left_out=request.left_out, seconds=seconds)
        if refusal.failed_generation:
            if "tokens reached" in refusal.words and self._can_raise_room(request):
                return self.capabilities
            raise NoReply(f"{self._host} answered {status}: {message}")
        subject = "rate" if status == 429 else refusal.subject(status)
        if subject == "rate":
            raise limit_error(self._host, status, message, refusal.words, retry_after(response.headers))
        if (adapted := self._adapt_capabilities(request, status, refusal, subject)) is not None:
            return adapted
        if subject == "length":
            stored = message if reason_about_item(status, message) else f"longer than the context length: {message}"
            return Reply(text="", model="", form=request.form, error=f"{status}: {stored}", seconds=seconds)
        refused = Reply(text="", model="", form=request.form, refusal=message, error=f"{status}", seconds=seconds)
        if subject == "policy":
            return refused
        if may_answer_later(status):
            raise NoReply(
                f"{self._host} answered {status}: {message}",
                retry_after(response.headers),
                busy=status == 503,
                down=status >= 500,
            )
        reason, advice = f"{self._host} refused a call with {status}: {message}", advice_on(status, self._model)
        if status in _FATAL:
            raise FatalReply(f"{reason}. {advice}")
        raise UnexplainedRefusal(reason, advice, refused) if refusal.may_be_about_text(status) else EndpointRefusal(reason, advice)

    def _adapt_capabilities(self, request: Request, status: int, refusal: Refusal, subject: Subject) -> EndpointCapabilities | None:
        """Return the capabilities with which a refused call can be asked again; None if its text or the endpoint is the reason."""
        if subject == "length":
            return self.capabilities.with_less_reasoning(refusal.words, request)
        adapted = None
        if status == HTTPStatus.PAYMENT_REQUIRED and request.reasoning_tokens and "fewer max_tokens" in refusal.words:
            return self.capabilities.with_less_reasoning(refusal.words, request)  # the account can afford a shorter answer
        if subject == "output limit":
            adapted = self.capabilities.with_less_output(refusal.words, request)
        elif status == _BROKEN:
            adapted = self.capabilities.without_system_role(refusal.words, request)
        elif subject == "unknown" and status in _PARAMETER_REFUSALS and not is_page(refusal.message):
            adapted = self.capabilities.adapted_to(refusal.words, request)
        if adapted is not None:
            self.capabilities = adapted
        return adapted

    def _read_tokens(self, logprobs: Any) -> tuple[Token, ...]:
        """Return the answer's tokens; none if they hold a secret, which may be spread over several tokens."""
        tokens = tuple(read_tokens(logprobs))
        ranks = zip_longest(*(token.others for token in tokens), fillvalue="")
        lines = ["".join(token.text for token in tokens), *map("".join, ranks)]
        return () if any(self._redact(line) != line for line in lines) else tokens

    def safe(self, text: str) -> str:
        """Return text that may be stored: without secrets and without halves of characters."""
        return without_half_characters(self._redact(text))

    def quote(self, text: str, most: int = 300) -> str:
        """Return a message of the endpoint as one line that may be stored and printed. Secrets are removed before it is cut."""
        return without_half_characters(self._redact.quote(text, most))


def limit_error(host: str, status: int, message: str, words: str, wait: float | None) -> NoReply | FatalReply:
    """Interpret a limit: a rate, which passes, or a limit that is not renewed soon. `wait` is what the headers ask for."""
    limit = kind_of_limit(words, waits=wait is not None)
    if limit == "spent":
        return FatalReply(
            f"{host} says that the quota is used up: {message}. Add credit or use another key, then run the same command again"
        )
    if limit == "day" and (wait is None or wait > LONGEST_WAIT_SECONDS):
        return FatalReply(
            f"{host} says that the limit of the day is reached: {message}. Run the same command again when it is renewed: all "
            "answers so far are kept"
        )
    return NoReply(f"{host} answered {status}: {message}", wait_in_text(words) if wait is None else wait, busy=True)


def _ran_out_reasoning(reply: Reply) -> bool:
    """Return True if a model's reasoning left too few tokens for the answer. Some endpoints neither count them nor send the reasoning."""
    if not was_cut(reply.finish_reason):
        return False
    signs = reply.usage.reasoning_tokens or reply.reasoning_characters
    return bool(signs) or not reply.text[reasoning_end(reply.text) :].strip()


_CHOICE = re.compile(rb'"choices"\s*:\s*\[\s*\{')


def _find_refusal(body: bytes) -> Response | None:
    """Return the response that a body with status 200 stands for, if it is an error about a text: gateways and streams answer so.

    Providers name such an error in many ways, so a body without a choice is read whole.
    """
    if b'"error"' in body and (error := error_text(body)) is not None:
        refusal = json.dumps({"error": {"message": error}}).encode()  # msgspec writes no halves of characters
    elif _CHOICE.search(body) is None:
        refusal = body
    else:
        return None
    if read_refusal(refusal).subject(HTTPStatus.BAD_REQUEST) not in ("length", "policy"):
        return None
    return Response(HTTPStatus.BAD_REQUEST, {}, refusal)


def _answer_in(response: Response) -> CompletionAnswer | None:
    """Return the answer in a response, perhaps with another 2xx status than 200; None if it holds no completion."""
    try:
        return read_answer(joined_stream(response.body))
    except ValueError:
        return None


def advice_on(status: int, model: str) -> str:
    """Return what to do after a refusal by the endpoint."""
    if status < 300:
        return "It sent no answer: does the base URL end in /v1, and is it a chat endpoint?"
    if status < 400:
        return "It points to another address: use that as the base URL"
    return {
        401: "The API key is wrong or missing: set OPENAI_API_KEY (for Azure AZURE_OPENAI_API_KEY) to a valid one",
        402: "The account has no credit: add credit or use another key, then run the same command again",
        403: "This key may not use this model, or a firewall or proxy blocks the calls: choose another model or key, or ask whoever runs "
        "the network, then run the same command again",
        404: f"Is '{model}' the model's exact name, and does the base URL end in /v1? (A decision model is "
        "asked as decisions/<model>, or as systemone/<model>.)",
        407: "The proxy wants a name and a password: give them in the proxy's address (https_proxy=http://NAME:PASSWORD@HOST:PORT)",
        413: "The endpoint, or a proxy before it, accepts no requests of this size: raise its limit, then run the same command again",
    }.get(status, "Look for the reason in the endpoint's log, then run the same command again")


def _without_lengths(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {key: _without_lengths(value) for key, value in schema.items() if key not in ("maxLength", "maxItems", "minimum", "maximum")}
    return schema


def joined_stream(body: bytes) -> bytes:
    """Return the completion whose pieces a stream holds, as JSON; any other body as it is.

    A stream that broke off has neither a finish reason nor an end: its completion then holds an error, so that the call is asked again.

    >>> joined_stream(b'data: {"choices": [{"delta": {"content": "4"}, "finish_reason": "stop"}]}\\n\\ndata: [DONE]\\n\\n')
    b'{"choices": [{"index": 0, "message": {"content": "4"}, "finish_reason": "stop"}]}'
    """
    if not body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_BEGINNINGS):
        return body
    completion: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    pieces: dict[str, list[str]] = {}
    tools: dict[Any, dict[str, Any]] = {}
    tokens: list[Any] = []
    for event in _read_events(body):
        completion |= {name: event[name] for name in ("model", "usage", "error") if event.get(name)}
        for part in event["choices"] if isinstance(event.get("choices"), list) else ():
            if not isinstance(part, dict) or part.get("index") not in (0, None):
                continue
            choice |= {name: part[name] for name in ("finish_reason", "error") if part.get(name)}
            message = part.get("delta") or part.get("message")
            _add(message if isinstance(message, dict) else {"content": part.get("text")}, pieces, tools)
            logprobs = part.get("logprobs")
            if isinstance(logprobs, dict) and isinstance(logprobs.get("content"), list):
                tokens += logprobs["content"]
    has_ended = choice.get("finish_reason") or body.rstrip().endswith(_END)
    if not has_ended and not completion.get("error"):
        completion["error"] = {"message": "the stream broke off"}
    message = {name: "".join(texts) for name, texts in pieces.items()}
    if tools:
        message["tool_calls"] = list(tools.values())
    choice = {"index": 0, "message": message, **choice} | ({"logprobs": {"content": tokens}} if tokens else {})
    return json.dumps(completion | {"choices": [choice]}).encode()


def _read_events(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a stream; other events, such as comments and `[DONE]`, are ignored."""
    for line in body.splitlines():
        if not line.lstrip().startswith(b"data:"):
            continue
        try:
            event = json.loads(line.lstrip()[len(b"data:") :])  # and not msgspec: a piece may end in half a character
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def _add(message: dict[str, Any], pieces: dict[str, list[str]], tools: dict[Any, dict[str, Any]]) -> None:
    """Add a piece of a message to those before it."""
    for name in _TEXTS:
        if isinstance(message.get(name), str) and message[name]:
            pieces.setdefault(name, []).append(message[name])
    for call in message["tool_calls"] if isinstance(message.get("tool_calls"), list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            tool = tools.setdefault(str(call.get("index")), {"type": "function", "function": {"name": "", "arguments": ""}})
            for name in ("name", "arguments"):
                tool["function"][name] += function.get(name) if isinstance(function.get(name), str) else ""
