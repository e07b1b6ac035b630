"""Decision models at an HTTP endpoint, in one of two forms: Decisions (OpenAI) and System One (TypeSafe and most others).

`providers.toml` has what is particular to one provider.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace

from harness.conversations import turns_of
from harness.errors import EndpointRefusal, FatalReply, UsageError
from harness.judges.chat import LONGEST_TEXT, advice_on, limit_error
from harness.judges.http_judge import DEFAULT_URL, Endpoint, HttpJudge, check_request, host_of, read_key, without_query
from harness.judges.http_refusals import Refusal, is_page, may_answer_later, read_refusal
from harness.judges.identity import split_label
from harness.judges.judge_protocol import JudgeOptions, NoReply, UnexplainedRefusal
from harness.judges.rate_limit_headers import RateLimitStatus, read_rate_limit_status, retry_after
from harness.judges.response_body import as_text, describe_error, token_count, usage_of, without_half_characters
from harness.model import Call, Reply, Usage
from harness.parse.probabilities import DECISIONS, SYSTEMONE
from harness.prompts import Option, Question, asked_of
from harness.redaction import Redactor

if TYPE_CHECKING:
    from harness.judges.transport import Sender


Texts = Mapping[str, str]
Questions = Mapping[str, Question]


class WireForm(msgspec.Struct, frozen=True):
    """One form.

    Attributes:
        name: the form of replies in it.
        path: where it stands below the base URL.
        body: writes a request of a model about texts.
        most_questions: how many a request may hold where the endpoint has not said otherwise.
    """

    name: str
    path: str
    body: Callable[[str, Texts, Questions], dict[str, Any]]
    most_questions: int


def decisions_body(model: str, texts: Texts, questions: Questions) -> dict[str, Any]:
    """Return a request in the form of Decisions.

    Its input is a text, so the item's texts are one JSON object, which keeps their names. A conversation alone is a list of messages.
    """
    listed = [{"type": _DECISIONS[question.kind], "name": name, **_write_question(question)} for name, question in questions.items()]
    state = _with_messages(texts)
    messages = next(iter(state.values()), "") if len(state) == 1 else ""
    content = messages if isinstance(messages, list) else msgspec.json.encode(state).decode()
    return {"model": model, "input": content, "questions": listed}


def _with_messages(texts: Texts) -> dict[str, str | list[dict[str, str]]]:
    """Return the texts by name; a conversation is the list of its messages."""
    return {name: [turn._asdict() for turn in turns_of(text)] or text for name, text in texts.items()}


_DECISIONS = {"statement": "predicate", "choice": "choice", "levels": "score"}


def _write_question(question: Question) -> dict[str, Any]:
    if question.kind == "statement":
        false, true = question.options
        meaning = f"The answer is true if this holds: {_name_option(true)}\nIt is false if this holds: {_name_option(false)}"
        return {"instructions": f"{question.instructions}\n{meaning}"}
    if question.kind == "choice":
        choices = [{"value": option.name, **_write_description(option.description)} for option in question.options]
        return {"instructions": question.instructions, "choices": choices}
    levels = [{"label": option.name, **_write_description(option.description)} for option in question.options]
    return {"instructions": question.instructions, "levels": levels}


def systemone_body(model: str, texts: Texts, questions: Questions) -> dict[str, Any]:
    """Return a request in the form of System One."""
    return {
        "model": model,
        "state": _with_messages(texts),
        "questions": {name: systemone_question(question) for name, question in questions.items()},
    }


def systemone_question(question: Question) -> dict[str, Any]:
    """Return one question in the form of System One."""
    if question.kind == "statement":
        false, true = question.options
        return {
            "type": "noul",
            "instructions": question.instructions,
            "criteria": {"true": _name_option(true), "false": _name_option(false)},
        }
    if question.kind == "choice":
        described = {option.name: option.description or None for option in question.options}
        return {"type": "choice", "instructions": question.instructions, "criteria": described}
    levels = [f"{option.name}: {option.description}" if option.description else option.name for option in question.options]
    return {"type": "score", "instructions": question.instructions, "criteria": levels}


def _write_description(description: str) -> dict[str, str]:
    return {"description": description} if description else {}


def _name_option(option: Option) -> str:
    return option.description or option.name


FORMS = {
    "decisions": WireForm(DECISIONS, "decisions", decisions_body, 400),
    "systemone": WireForm(SYSTEMONE, "systemone", systemone_body, 128),
}
"""Each form by the kind of judge that asks in it."""


_OVERLOADED = (503, 529)
_ABOUT_THE_REQUEST = (400, 404, 413, 422, 501)
_LIMIT_WORDS = r"at most|maximum|max|limit|exceed\w*|too many|up to|more than|fewer|between"
_MANY_QUESTIONS = re.compile(rf"questions?\b.{{0,80}}\b(?:{_LIMIT_WORDS})\b|\b(?:{_LIMIT_WORDS})\b.{{0,80}}\bquestions?\b", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?![\w.]\d)")
_NO_DECISIONS = re.compile(
    r"(?:not|n't|only|unsupported|no)\b.{0,60}\b(?:decisions?|system ?one|systemone|typed questions)\b|"
    r"(?:decisions?|system ?one|systemone)\b.{0,60}\b(?:not|n't|only|unsupported)\b",
    re.DOTALL,
)
_LONGEST_NAME = 200


class _Body(msgspec.Struct):
    """The body of a response with status 200. Everything may be of any type."""

    answers: msgspec.Raw = msgspec.Raw(b"")
    model: Any = None
    usage: Any = None
    error: Any = None


_decode = msgspec.json.Decoder(_Body).decode


class DecisionClient:
    """Asks calls of one model at one endpoint. `secrets` are removed from everything that the endpoint sends."""

    def __init__(
        self, transport: Sender, model: str, host: str, form: WireForm, secrets: Iterable[str] = (), user_fields: Mapping[str, Any] = {}
    ) -> None:
        self.rate_limit_status: RateLimitStatus | None = None
        self._transport = transport
        self._model = model
        self._host = host
        self._form = form
        self._redact = Redactor(secrets)
        self._user_fields = user_fields
        self._most_questions = form.most_questions
        self._answered = False

    async def close(self) -> None:
        await self._transport.close()

    async def ask(self, call: Call) -> Reply:
        """Make one attempt: one request, or several where the endpoint takes fewer questions. Raises as the Judge protocol says."""
        texts, questions = asked_of(call.prompt)
        remaining = dict(questions)
        replies: list[Reply] = []
        while remaining:
            part = dict(islice(remaining.items(), self._most_questions))
            reply = await self._ask_part(texts, part)
            if reply is None:
                continue  # with fewer questions, as the endpoint has just said
            if reply.error is not None:
                return reply
            replies.append(reply)
            for name in part:
                del remaining[name]
        if len(replies) == 1:
            return replies[0]
        # The replies to parts of a call as one: its answers one after the other, its tokens and seconds in all.
        between_brackets = (reply.text.strip()[1:-1].strip() for reply in replies)
        parts = [inner for inner in between_brackets if inner]
        is_list = all(reply.text.lstrip().startswith("[") for reply in replies)
        opening, closing = "[]" if is_list else "{}"
        counts = {name: sum(getattr(reply.usage, name) for reply in replies) for name in Usage.__struct_fields__}
        return replace(
            replies[-1],
            text=f"{opening}{', '.join(parts)}{closing}",
            usage=Usage(**{name: token_count(count) for name, count in counts.items()}),
            seconds=round(sum(reply.seconds for reply in replies), 6),
            whole_length=max(reply.whole_length for reply in replies),
        )

    async def _ask_part(self, texts: Mapping[str, str], questions: Mapping[str, Question]) -> Reply | None:
        """Return the reply to some questions; None if they were too many for one request, of which fewer are sent from now on."""
        body = {**self._form.body(self._model, texts, questions), **self._user_fields}
        start = time.perf_counter()
        try:
            response = await self._transport.post(msgspec.json.encode(body))
        except NoReply as err:
            raise NoReply(self._quote(str(err)), down=err.down) from None
        self.rate_limit_status = read_rate_limit_status(response.headers) or self.rate_limit_status
        seconds = round(time.perf_counter() - start, 6)
        if response.status == HTTPStatus.OK:
            # The reply in a body with status 200. Raises NoReply, or FatalReply where the first body is none of this interface.
            answer = _decode_body(response.body)
            if answer is not None and answer.error and not answer.answers:
                raise NoReply(f"{self._host} answered with an error: {self._quote(describe_error(answer.error))}")
            if answer is None or not answer.answers:
                begins = self._quote(response.body[:_LONGEST_NAME].decode(errors="replace"), 80)
                problem = f"{self._host} answers, but not like an endpoint for decisions (it begins: {begins!r})"
                raise NoReply(problem) if self._answered else FatalReply(f"{problem}; is the address right, with its whole path?")
            self._answered = True
            text = bytes(answer.answers).decode(errors="replace")
            # The counts of tokens; 0 for those that are missing or impossible.
            stated = answer.usage if isinstance(answer.usage, dict) else {}
            details = stated.get("input_tokens_details")
            cached = details.get("cached_tokens") if isinstance(details, dict) else None
            usage = usage_of(stated.get("input_tokens"), cached, stated.get("output_tokens"), None)
            return Reply(
                text=self._make_safe(text[:LONGEST_TEXT]),
                model=self._make_safe(as_text(answer.model))[:_LONGEST_NAME] if answer.model else "",
                form=self._form.name,
                usage=usage,
                seconds=seconds,
                whole_length=len(text) if len(text) > LONGEST_TEXT else 0,
            )
        # Interpret a status other than 200: fewer questions, ask again, a refusal of this text, or a refusal by the endpoint.
        status, refusal = response.status, read_refusal(response.body)
        message = self._quote(refusal.message, 80 if is_page(refusal.message) else 300) or "no reason given"
        subject = "rate" if status == HTTPStatus.TOO_MANY_REQUESTS else refusal.subject(status)
        if subject == "rate":
            raise limit_error(self._host, status, message, refusal.words, retry_after(response.headers))
        if self._takes_fewer(status, refusal, len(questions)):
            return None
        if subject in ("length", "policy") or (status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and not is_page(refusal.message)):
            refused = message if subject == "policy" else None
            return Reply(text="", model="", form=self._form.name, refusal=refused, error=f"{status}: {message}", seconds=seconds)
        if may_answer_later(status) and status != HTTPStatus.NOT_IMPLEMENTED:
            wait = retry_after(response.headers)
            raise NoReply(f"{self._host} answered {status}: {message}", wait, busy=status in _OVERLOADED, down=status >= 500)
        reason, advice = f"{self._host} refused a call with {status}: {message}", self._give_advice(status)
        if status in _ABOUT_THE_REQUEST and _NO_DECISIONS.search(refusal.words):
            raise FatalReply(f"{reason}. '{self._model}' makes no decisions there; openai/<model> asks a model that writes")
        if status in (401, 402, 404, 501):
            raise FatalReply(f"{reason}. {advice}")
        refused_reply = Reply(text="", model="", form=self._form.name, refusal=message, error=f"{status}", seconds=seconds)
        raise UnexplainedRefusal(reason, advice, refused_reply) if refusal.may_be_about_text(status) else EndpointRefusal(reason, advice)

    def _takes_fewer(self, status: int, refusal: Refusal, questions: int) -> bool:
        """Return True if a request with so many questions was refused for their number. From then on, requests hold fewer."""
        if status not in _ABOUT_THE_REQUEST or questions < 2 or is_page(refusal.message) or not _MANY_QUESTIONS.search(refusal.words):
            return False
        limits = [int(number) for number in _NUMBER.findall(refusal.words) if 0 < int(number) < questions]
        self._most_questions = min(self._most_questions, max(limits, default=questions // 2))
        return True

    def _give_advice(self, status: int) -> str:
        if status < HTTPStatus.MULTIPLE_CHOICES:
            return "It sent no answer: does the address end in /v1, or in the whole path of this interface?"
        if status == HTTPStatus.UNAUTHORIZED:
            return "The API key is wrong or missing"
        if status == HTTPStatus.NOT_FOUND:
            return (
                f"Is '{self._model}' the model's exact name, and is the address right? Requests go to '{self._form.path}' below the base "
                "URL; give the whole address where the provider has another path"
            )
        return advice_on(status, self._model)

    def _make_safe(self, text: str) -> str:
        return without_half_characters(self._redact(text))

    def _quote(self, text: str, most: int = 300) -> str:
        return without_half_characters(self._redact.quote(text, most))


def _decode_body(body: bytes) -> _Body | None:
    """Return a body; None if it is no JSON object. Answers may hold NaN and halves of characters, which only json reads."""
    try:
        return _decode(body)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        data = json.loads(body)
        if not isinstance(data, dict):
            return None
        answers = json.dumps(data["answers"], ensure_ascii=True).encode() if "answers" in data else b""
    except (ValueError, RecursionError):
        return None
    return _Body(msgspec.Raw(answers), data.get("model"), data.get("usage"), data.get("error"))


_OUR_FIELDS = {
    **dict.fromkeys(("model", "input", "state", "questions"), "--judge, --variant and the data decide it"),
    "stream": "answers are read whole",
}
_PATHS = frozenset(form.path for form in FORMS.values())


class Provider(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The particulars of one provider: the variable of its key, the word before the key, and paths by form."""

    key: str
    scheme: Literal["Bearer", "Basic"] = "Bearer"
    paths: dict[str, str] = {}


@cache
def providers() -> dict[str, Provider]:
    """Return the providers by host; a host that begins with a dot stands for all hosts that end so."""
    return msgspec.toml.decode(Path(__file__).with_name("providers.toml").read_bytes(), type=dict[str, Provider])


def provider_of(host: str, kind: str) -> Provider:
    """Return the provider at a host; an unknown one takes the key of those who made the form."""
    registered = providers()
    provider_of_host = registered.get(host) or next(
        (provider for end, provider in registered.items() if end.startswith(".") and host.endswith(end)), None
    )
    return provider_of_host or Provider("OPENAI_API_KEY" if kind == "decisions" else "TYPESAFE_API_KEY")


class DecisionJudge(HttpJudge):
    """A decision model at an HTTP endpoint."""

    def __init__(self, kind: str, *arguments: Any) -> None:
        super().__init__(kind, *arguments)
        self._kind = kind
        self._form = FORMS[kind]

    @property
    def key_name(self) -> str:
        return provider_of(self._host, self._kind).key

    @property
    def url(self) -> str:
        """The address that requests go to: the base URL itself where it ends in the path of a form, else the provider's path below it."""
        base = self._endpoint.url.rstrip("/")
        path = provider_of(self._host, self._kind).paths.get(self._kind, self._form.path)
        address = base if base.rpartition("/")[2] in _PATHS else f"{base}/{path}"
        return address + (f"?{urlencode(self._endpoint.query)}" if self._endpoint.query else "")

    async def start(self, calls: Iterable[Call]) -> None:
        from harness.judges.transport import Transport

        self._require_key()
        transport = Transport(self.url, self._endpoint.headers, self._host, timeout=self._timeout, on_this_machine=self.endpoint is None)
        self._client = DecisionClient(transport, self._model, self._host, self._form, self._secrets, self._body)


def _open(kind: str, model: str, options: JudgeOptions) -> DecisionJudge:
    name, label = split_label(model)
    check_request(options.headers, options.body, _OUR_FIELDS)
    base_url = options.base_url
    if base_url is None and kind == "decisions":
        base_url = options.environment.get("OPENAI_BASE_URL") or DEFAULT_URL
    if base_url is None:
        raise UsageError(f"{kind}/{model} needs the address of its endpoint: --base-url https://HOST/v1")
    url, query = without_query(base_url)
    provider = provider_of(host_of(url), kind)
    key = read_key(options.environment, provider.key)
    endpoint = Endpoint(url, key, None, {}, query, options.headers, provider.scheme)
    return DecisionJudge(kind, name, endpoint, options.timeout, label, options.body)


def open_decisions(model: str, options: JudgeOptions) -> DecisionJudge:
    """Return the judge `decisions/<model>`, or `decisions/<model>@<label>`: without an address, the model at OpenAI.

    Raises UsageError or JudgeError for an address, a header, a field or a key that cannot be.
    """
    return _open("decisions", model, options)


def open_systemone(model: str, options: JudgeOptions) -> DecisionJudge:
    """Return the judge `systemone/<model>`, or `systemone/<model>@<label>`. Raises as `open_decisions`, also without an address."""
    return _open("systemone", model, options)
