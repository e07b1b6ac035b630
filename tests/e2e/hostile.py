"""An OpenAI-compatible endpoint for chats and decisions that is hostile but honest: `python tests/e2e/hostile.py --port 0 --faults 0.2`.

Prints its port as its first line, listens on 127.0.0.1 only, and ends on SIGTERM, after `--lifetime` seconds, or when its parent has
died. Needs nothing but Python, so that benchmarks can start it too.

What it answers is fixed by the request's body alone; whether and how the n-th attempt of a request fails, by the seed, the body and n.
The clock decides nothing, so that runs can be repeated.

    POST …/chat/completions   a completion with one object a metric, or what a fault makes of it
    POST …/decisions, …/systemone   probabilities for every option of every question, in the form of the path, or what a fault makes of it
    GET /stats                what came in and what went out, as JSON (see Ledger.stats)
    GET /wait/N               answers once N calls have come in
    POST /control             {"faults": 0.0} changes settings; {"down": 1.5} closes socket and connections for so many seconds;
                              {"reset": true} forgets every request; answers with the settings

Faults, by what a client can make of them:

    nothing came back         429, 429-retry-after, 429-ratelimit, 500, 502-html, 503, 504, 529, reset-before, reset-head, reset-body,
                              cut-json, html, not-utf8, stall, 429-quota-per-minute, nested, endless-head, endless-header,
                              no-choices
    the endpoint refuses        307, 204, 403-page, 413-page
    the endpoint or the text    400
    a good answer all the same  reset-after, slow-body, wrong-type, other-model, huge-body, surrogates, odd-usage, long-headers, escapes
    an answer without a score   refusal, prose-refusal, length, policy, too-long
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import blake2b
from http import HTTPStatus
from typing import Any, NamedTuple

HUGE = 10_000_000  # bytes
RETRY_AFTER = "0.05"  # seconds
RESET = "50ms"
_DRIPS = 8  # pieces of a slow body
_ORPHAN_CHECK_SECONDS = 0.2


# ---- what is asked


class Request(NamedTuple):
    """One HTTP request, and how many bytes of the buffer it took."""

    method: str
    path: str
    body: bytes
    size: int


def read_request(buffer: bytearray) -> Request | None:
    """The first request of a buffer; None while it is not whole. Raises ValueError for what is no HTTP."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return None
    line, *rest = buffer[:end].decode("latin-1").split("\r\n")
    method, path, _ = line.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in rest)}
    start = end + 4
    if headers.get("transfer-encoding", "").lower() == "chunked":
        found = read_chunks(buffer, start)
    else:
        stop = start + int(headers.get("content-length", 0))
        found = (bytes(buffer[start:stop]), stop) if len(buffer) >= stop else None
    return found and Request(method, path, *found)


def read_chunks(buffer: bytearray, start: int) -> tuple[bytes, int] | None:
    """A chunked body and where it ends; None while it is not whole."""
    body = b""
    while (line_end := buffer.find(b"\r\n", start)) >= 0:
        size = int(buffer[start:line_end].split(b";")[0], 16)
        start = line_end + 2
        if not size:  # trailers, if any, up to an empty line
            end = line_end if buffer[start : start + 2] == b"\r\n" else buffer.find(b"\r\n\r\n", start)
            return (body, end + 4) if end >= 0 and len(buffer) >= end + 4 else None
        if len(buffer) < start + size + 2:
            return None
        body += buffer[start : start + size]
        start += size + 2
    return None


def digest_of(body: bytes) -> str:
    """What stands for a request everywhere: in the answers' texts, in the stats, in the choice of faults."""
    return blake2b(body, digest_size=8).hexdigest()


def share(*words: object) -> float:
    """A number in [0, 1) that depends on the words alone."""
    return int.from_bytes(blake2b(repr(words).encode(), digest_size=6).digest()) / 2**48


# ---- good answers

_WHAT = ("The opening", "The second sentence", "The middle", "The choice of words", "The order", "The ending", "The tone", "The text")
_HOW = ("reads clearly", "is a little stiff", "keeps to the request", "wanders off", "says it twice", "fits", "is hard to follow", "is apt")
_BUT = ("as one would expect", "but only just", "for the most part", "on a second reading", "from beginning to end", "in its own way")


def sentence(digest: str, metric: str) -> str:
    """A justification that hardly any other request gets; the digest in it says which request it answers."""
    pick = int.from_bytes(blake2b(f"{digest} {metric}".encode(), digest_size=6).digest())
    what, how, but = (words[(pick >> shift) % len(words)] for shift, words in ((0, _WHAT), (8, _HOW), (16, _BUT)))
    return f"{what} {how} {but} ({digest})."


def content_of(body: dict[str, Any], digest: str) -> str:
    """The answer as JSON text, in the order of the schema; an object a metric where the schema asks for several."""
    form = body.get("response_format") or {}
    properties = form.get("json_schema", {}).get("schema", {}).get("properties") or {"justification": {}, "score": {}}
    if "score" in properties:
        return json.dumps(_answer(properties, digest, ""))
    return json.dumps({metric: _answer(schema["properties"], digest, metric) for metric, schema in properties.items()})


def _answer(properties: dict[str, Any], digest: str, metric: str) -> dict[str, Any]:
    classes = properties["score"].get("enum", (0, 1))
    usual = [score for score in classes if score in (0, 1)] or classes  # 0 and 1 are on every scale that comes with the program
    values = {"justification": sentence(digest, metric), "score": usual[int(share("score", digest, metric) * len(usual))]}
    return {key: values[key] for key in properties}


def probabilities_of(options: int, digest: str, name: str) -> list[float]:
    """Probabilities of options, in whole percent, that sum to 1: 40 more than the others for one of them."""
    chosen = int(share("score", digest, name) * options)
    rest = [0.6 / options] * options
    rounded = [round(p + 0.4 * (number == chosen), 2) for number, p in enumerate(rest)]
    rounded[chosen] = round(rounded[chosen] + 1 - sum(rounded), 2)
    return rounded


def decided(body: dict[str, Any], digest: str) -> dict[str, Any]:
    """Good answers to the questions of a body, in the form in which it asks."""
    questions = body["questions"]
    by_name = isinstance(questions, dict)
    answers = {}
    for number, question in enumerate(questions.values() if by_name else questions):
        name = list(questions)[number] if by_name else question.get("name")
        answers[number if name is None else name] = _decided_by_name(question, digest, name) if by_name else _decided(question, digest)
    read = sum(map(len, map(str, body.values()))) // 4
    usage = {"input_tokens": read, "output_tokens": len(answers), "total_tokens": read + len(answers)}
    return {"model": body["model"], "answers": answers if by_name else list(answers.values()), "usage": usage}


def _decided(question: dict[str, Any], digest: str) -> dict[str, Any]:
    """The answer to one question in the form of Decisions."""
    kind, name = question["type"], question.get("name")
    if kind == "predicate":
        return {"type": kind, "name": name, "probability": probabilities_of(2, digest, str(name))[1]}
    if kind == "choice":
        values = [choice["value"] for choice in question["choices"]]
        p = probabilities_of(len(values), digest, str(name))
        listed = [{"value": value, "probability": each} for value, each in zip(values, p, strict=True)]
        return {"type": kind, "name": name, "choice": values[p.index(max(p))], "confidence": max(p), "probabilities": listed}
    labels = [level["label"] for level in question["levels"]]
    p = probabilities_of(len(labels), digest, str(name))
    listed = [{"value": number, "label": label, "probability": p[number]} for number, label in enumerate(labels)]
    expected = sum(number * each for number, each in enumerate(p))
    return {"type": kind, "name": name, "score": expected, "confidence": max(p), "probabilities": listed}


def _decided_by_name(question: dict[str, Any], digest: str, name: str) -> dict[str, Any]:
    """The answer to one question in the form of System One."""
    kind, criteria = question["type"], question.get("criteria")
    if kind == "noul":
        return {"type": kind, "noul": probabilities_of(2, digest, name)[1]}
    options = list(criteria) if kind == "choice" else [str(number) for number in range(len(criteria))]
    p = probabilities_of(len(options), digest, name)
    common = {"type": kind, "confidence": max(p), "probabilities": dict(zip(options, p, strict=True))}
    if kind == "choice":
        return common | {"choice": options[p.index(max(p))]}
    return common | {"score": sum(number * each for number, each in enumerate(p)), "legend": dict(zip(options, criteria, strict=True))}


def completion(asked: Asked, *, finish: str = "stop", model: str | None = None, **message: Any) -> dict[str, Any]:
    """A completion that says the asked's content, unless `message` says otherwise; to questions, their answers."""
    if asked.decided is not None:
        return asked.decided | ({"model": model} if model else {})
    text = {"role": "assistant", "content": asked.content, "refusal": None, **message}
    prompt, answer = asked.size // 4, len(asked.content) // 4
    return {
        "id": f"chatcmpl-{asked.digest}",
        "object": "chat.completion",
        "created": 1700000000,
        "model": model or asked.model,
        "choices": [{"index": 0, "message": text, "logprobs": None, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": prompt + answer,
            "prompt_tokens_details": {"cached_tokens": prompt // 2},
        },
    }


# ---- what goes over the wire


@dataclass(frozen=True, slots=True)
class Asked:
    """One call, and the content of its good answer: a text, or what was decided."""

    digest: str
    attempt: int  # from 1
    size: int  # bytes of the body
    model: str
    content: str
    decided: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent, piece by piece with `gap` seconds between; the connection is reset afterwards where `cut`.

    `good` answers hold a score; `paid` are all whole completions, those without a score too. `endless` bytes follow, again and again, until
    the client hangs up.
    """

    pieces: tuple[bytes, ...]
    cut: bool = False
    good: bool = False
    paid: bool = False
    wait: float = 0.0
    gap: float = 0.0
    endless: bytes = b""


def http(status: int, body: bytes, kind: str = "application/json", **headers: str) -> bytes:
    """A whole response; header names are written with underscores."""
    extra = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    phrase = HTTPStatus(status).phrase if status in {*HTTPStatus} else "Overloaded"
    head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


def said(value: Any) -> bytes:
    return json.dumps(value).encode()


def good(asked: Asked, **changes: Any) -> Answer:
    """The answer that no fault has touched, or one that is still as good."""
    return replace(Answer((http(200, said(completion(asked))),), good=True, paid=True), **changes)


def error(status: int, message: str, **headers: str) -> Answer:
    body = {"error": {"message": message, "type": HTTPStatus(status).phrase.lower().replace(" ", "_"), "param": None, "code": None}}
    return Answer((http(status, said(body), **headers),))


def page(status: int) -> Answer:
    """What a proxy says in the endpoint's stead."""
    phrase = HTTPStatus(status).phrase
    return Answer((http(status, f"<html><head><title>{phrase}</title></head><body><h1>{phrase}</h1></body></html>".encode(), "text/html"),))


def without_score(asked: Asked, **changes: Any) -> Answer:
    """A whole completion that is an answer, but has no score in it."""
    return Answer((http(200, said(completion(asked) | changes)),), paid=True)


def cut_off(asked: Asked, within: str) -> Answer:
    """The connection is reset before the status line, within the head or within the body."""
    whole = good(asked).pieces[0]
    body = whole.index(b"\r\n\r\n") + 4
    return Answer((whole[: {"before": 0, "head": body // 2, "body": (body + len(whole)) // 2}[within]],), cut=True)


def slow(asked: Asked, seconds: float) -> Answer:
    whole = good(asked).pieces[0]
    size = -(-len(whole) // _DRIPS)
    pieces = tuple(whole[start : start + size] for start in range(0, len(whole), size))
    return good(asked, pieces=pieces, gap=seconds / (len(pieces) - 1))


def halved(asked: Asked) -> Answer:
    """Halves of characters in the text, once as such and once in an escape of the answer's own JSON."""
    text = asked.content.replace(f"({asked.digest})", f"({asked.digest}) \ud800 \\ud801")
    return good(asked, pieces=(http(200, said(completion(asked, content=text))),))


def with_usage(asked: Asked, number: int) -> Answer:
    """Counts of tokens that can be none."""
    odd = [True, -1000, 10**12, "many", 1.5, None, {"a": 1}, [7]][number % 8]
    usage = {"prompt_tokens": odd, "completion_tokens": odd, "prompt_tokens_details": {"cached_tokens": odd}}
    return good(asked, pieces=(http(200, said(completion(asked) | {"usage": usage})),))


def long_headers(asked: Asked) -> Answer:
    """Limits and resets of thousands of digits."""
    digits = "9" * 4300
    names = ("x_ratelimit_remaining_requests", "x_ratelimit_remaining_tokens", "x_ratelimit_reset_requests", "x_ratelimit_reset_tokens")
    return good(asked, pieces=(http(200, said(completion(asked)), **dict.fromkeys((*names, "retry_after", "retry_after_ms"), digits)),))


def nested(asked: Asked) -> Answer:
    """A body of 100,000 levels."""
    return Answer((http(200, b'{"choices":[{"message":{"content":' + b"[" * 100_000 + b"]" * 100_000 + b"}}]}"),))


def not_utf8(asked: Asked) -> Answer:
    body = said(completion(asked))
    return Answer((http(200, body.replace(f"({asked.digest})".encode(), b"(\xff\xfe\xc3)")),))


_SORRY = "I'm sorry, but I can't assist with that."
_PROSE = "I'm sorry, but I cannot rate this text."

Kind = Callable[[Asked, "Settings"], Answer]
KINDS: dict[str, Kind] = {
    "429": lambda a, s: error(429, "Rate limit reached for requests"),
    "429-retry-after": lambda a, s: error(429, "Rate limit reached for requests", retry_after=RETRY_AFTER),
    "429-ratelimit": lambda a, s: error(
        429,
        "Rate limit reached for requests",
        x_ratelimit_limit_requests="500",
        x_ratelimit_remaining_requests="0",
        x_ratelimit_reset_requests=RESET,
        x_ratelimit_limit_tokens="150000",
        x_ratelimit_remaining_tokens="0",
        x_ratelimit_reset_tokens=RESET,
    ),
    "500": lambda a, s: error(500, "The server had an error while processing your request"),
    "502-html": lambda a, s: page(502),
    "503": lambda a, s: error(503, "The engine is currently overloaded, please try again later"),
    "504": lambda a, s: error(504, "The model did not answer in time"),
    "529": lambda a, s: Answer((http(529, said({"error": {"message": "Overloaded", "type": "overloaded_error"}})),)),
    "reset-before": lambda a, s: cut_off(a, "before"),
    "reset-head": lambda a, s: cut_off(a, "head"),
    "reset-body": lambda a, s: cut_off(a, "body"),
    "reset-after": lambda a, s: good(a, cut=True),
    "slow-body": lambda a, s: slow(a, s.drip),
    "cut-json": lambda a, s: Answer((http(200, said(completion(a))[:-40]),)),
    "html": lambda a, s: page(200),
    "wrong-type": lambda a, s: good(a, pieces=(http(200, said(completion(a)), "text/plain; charset=latin-1"),)),
    "no-choices": lambda a, s: Answer((http(200, said(completion(a) | {"choices": []})),)),
    "refusal": lambda a, s: without_score(a, **completion(a, content=None, refusal=_SORRY)),
    "prose-refusal": lambda a, s: without_score(a, **completion(a, content=_PROSE)),
    "length": lambda a, s: without_score(a, **completion(a, finish="length", content=a.content[:40])),
    "other-model": lambda a, s: good(a, pieces=(http(200, said(completion(a, model=f"{a.model}-{int(a.digest, 16) % 3}"))),)),
    "huge-body": lambda a, s: good(a, pieces=(http(200, said(completion(a) | {"trace": "x" * HUGE})),)),
    "not-utf8": lambda a, s: not_utf8(a),
    "stall": lambda a, s: good(a, wait=s.stall),
    "surrogates": lambda a, s: halved(a),
    "429-quota-per-minute": lambda a, s: error(429, "Quota exceeded for requests per minute", retry_after=RETRY_AFTER),
    "nested": lambda a, s: nested(a),
    "endless-head": lambda a, s: Answer((b"HTTP/1.1 200 OK\r\n",), endless=b"X-Name: value\r\n" * 4096),
    "endless-header": lambda a, s: Answer((b"HTTP/1.1 200 OK\r\nX-Name: ",), endless=b"x" * 65536),
    "307": lambda a, s: Answer((http(307, b"", Location="http://127.0.0.1:9/elsewhere"),)),
    "204": lambda a, s: Answer((http(204, b""),)),
    "400": lambda a, s: error(400, "This request was not understood"),
    "403-page": lambda a, s: page(403),
    "413-page": lambda a, s: page(413),
    "odd-usage": lambda a, s: with_usage(a, int(a.digest, 16)),
    "long-headers": lambda a, s: long_headers(a),
    "escapes": lambda a, s: good(a, pieces=(http(200, said(completion(a, finish="\x1b[2Jstop\x1b]8;;http://x.invalid\x07"))),)),
    "policy": lambda a, s: error(400, "The response was filtered by the content management policy"),
    "too-long": lambda a, s: error(400, "This model's maximum context length is 100 tokens"),
}
# After these a client has nothing that could be an answer, and has to ask again.
TRANSIENT = (
    "429", "429-retry-after", "429-ratelimit", "500", "502-html", "503", "reset-before", "reset-head", "reset-body", "cut-json", "html",
    "not-utf8", "stall", "429-quota-per-minute", "nested", "endless-head", "endless-header", "no-choices",
)  # fmt: skip


@dataclass
class Settings:
    """What may be set on the command line and changed by /control; seconds, and shares from 0 to 1."""

    latency: float = 0.0  # before every answer
    spread: float = 0.0  # up to so much more, fixed by the request
    faults: float = 0.0  # share of attempts that fail
    kinds: tuple[str, ...] = tuple(KINDS)
    seed: int = 0
    max_faults_per_call: int = sys.maxsize
    good_first: int = 0  # calls that come before any fails
    stall: float = 3600.0
    drip: float = 0.1  # how long a slow body takes

    def change(self, name: str, value: Any) -> None:
        """Raises ValueError, in a sentence, for what is no setting or no value of it."""
        kinds: dict[str, Callable[[Any], Any]] = {each.name: type(getattr(Settings, each.name)) for each in fields(self)}
        if name not in kinds:
            raise ValueError(f"there is no setting '{name}'; there are: {', '.join(kinds)}, down, reset")
        if name == "kinds":
            value = tuple(value.split(",")) if isinstance(value, str) else tuple(value)
            if not value or (unknown := [kind for kind in value if kind not in KINDS]):
                raise ValueError(f"{', '.join(unknown) if value else 'nothing'} is no kind of fault; there are: {', '.join(KINDS)}")
        setattr(self, name, kinds[name](value))


@dataclass(slots=True)
class Tally:
    """One distinct request: attempts that came in, faults among them, answers that were sent whole."""

    attempts: int = 0
    faults: int = 0
    good: int = 0
    paid: int = 0


@dataclass
class Ledger:
    """What came in and what went out since the start or the last reset."""

    started: float = field(default_factory=time.monotonic)
    by_request: dict[str, Tally] = field(default_factory=dict)
    by_kind: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    abandoned: int = 0
    poured: int = 0
    open: int = 0
    most_open: int = 0
    first: float | None = None
    last: float | None = None

    def came(self, digest: str) -> Tally:
        now = time.monotonic() - self.started
        self.first = now if self.first is None else self.first
        self.last = now
        self.requests += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        tally = self.by_request.get(digest) or self.by_request.setdefault(digest, Tally())
        tally.attempts += 1
        return tally

    def stats(self) -> dict[str, Any]:
        """For GET /stats.

        `requests` in all; `distinct` bodies; `attempts`, `good` and `paid` answers (sent whole) by request; `faults` by kind; `abandoned`
        by clients that went away before the answer was out; `poured` endless bytes that were taken; calls `open` now and `most_open` at one
        time; `first` and `last` request in seconds since the start.
        """
        each = self.by_request.items()
        return {
            "requests": self.requests,
            "distinct": len(self.by_request),
            "attempts": {digest: tally.attempts for digest, tally in each},
            "good": {digest: tally.good for digest, tally in each},
            "paid": {digest: tally.paid for digest, tally in each},
            "faults": dict(self.by_kind),
            "abandoned": self.abandoned,
            "poured": self.poured,
            "open": self.open,
            "most_open": self.most_open,
            "first": self.first,
            "last": self.last,
        }


# ---- the server


class House:
    """Settings, ledger, the listening socket and its connections."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.ledger = Ledger()
        self.connections: set[Connection] = set()
        self.waiting: dict[Connection, int] = {}  # who wants to hear when so many calls have come
        self.ended = asyncio.Event()

    async def open(self, port: int) -> int:
        self._socket = _bound(port)
        self.port = int(self._socket.getsockname()[1])
        await self._listen()
        return self.port

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), sock=self._socket, backlog=4096)

    def close(self) -> None:
        self._server.close()
        for connection in list(self.connections):
            connection.reset()

    def go_away(self) -> None:
        """Close the door and all connections. The port stays bound, or a client that knocks in vain might be given it as its own."""
        self.close()
        self._socket = _bound(self.port)

    async def come_back(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._listen()

    def answer(self, digest: str, tally: Tally, body: bytes) -> Answer:
        """What this attempt gets. Raises ValueError if the body is no call."""
        data = json.loads(body)
        if not isinstance(data, dict) or not (isinstance(data.get("messages"), list) or data.get("questions")):
            raise ValueError("a call is an object with messages, or with questions")
        answers = decided(data, digest) if data.get("questions") else None
        asked = Asked(digest, tally.attempts, len(body), str(data.get("model")), "" if answers else content_of(data, digest), answers)
        settings = self.settings
        if tally.faults >= settings.max_faults_per_call or self.ledger.requests <= settings.good_first:
            return good(asked)
        if share("fails", settings.seed, digest, asked.attempt) >= settings.faults:
            return good(asked)
        kind = settings.kinds[int(share("kind", settings.seed, digest, asked.attempt) * len(settings.kinds))]
        tally.faults += 1
        self.ledger.by_kind[kind] += 1
        return KINDS[kind](asked, settings)

    def wake(self) -> None:
        """Tell those who wait for as many calls as have come."""
        for connection in [one for one, count in self.waiting.items() if count <= self.ledger.requests]:
            del self.waiting[connection]
            connection.say(Answer((http(200, b"{}"),)))

    def control(self, changes: dict[str, Any]) -> float | None:
        """Change settings; returns for how long to be away, if at all. Raises ValueError, in a sentence."""
        down = changes.pop("down", None)
        if changes.pop("reset", False):
            open_now = self.ledger.open
            self.ledger = Ledger(open=open_now, most_open=open_now)
        for name, value in changes.items():
            self.settings.change(name, value)
        return None if down is None else float(down)


def _bound(port: int) -> socket.socket:
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    return bound


class Connection(asyncio.Protocol):
    """One client's connection: one request after the other, none read before the last is answered."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._buffer = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._tally: Tally | None = None  # of the call that is being answered
        self._busy = False
        self._when_written: Callable[[], None] | None = None
        self._gone = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(0)  # so that writing is paused until everything is out
        self._writing = False
        self._house.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone = True
        self._house.connections.discard(self)
        self._house.waiting.pop(self, None)
        if self._timer:
            self._timer.cancel()
        if self._tally:
            self._house.ledger.abandoned += 1
            self._closed_call()

    def pause_writing(self) -> None:
        self._writing = True

    def resume_writing(self) -> None:
        self._writing = False
        written, self._when_written = self._when_written, None
        if written:
            written()

    def reset(self) -> None:
        """Cut the connection, so that the client's next word is answered with a reset."""
        if wire := self._transport.get_extra_info("socket"):
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    # ---- requests

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._busy:
            self._next_request()

    def _next_request(self) -> None:
        try:
            request = read_request(self._buffer)
        except ValueError as err:
            self._transport.write(error(400, f"this is no HTTP request: {err}").pieces[0])
            self._transport.close()
            return
        if request:
            del self._buffer[: request.size]
            self._busy = True
            self._serve(request)

    def _serve(self, request: Request) -> None:
        route = f"{request.method} {request.path.partition('?')[0]}"
        if route.startswith("POST ") and route.endswith(("/chat/completions", "/decisions", "/systemone")):
            self._chat(request.body)
        elif route == "GET /stats":
            self.say(Answer((http(200, said(self._house.ledger.stats())),)))
        elif route.startswith("GET /wait/") and route[10:].isdecimal():
            self._house.waiting[self] = int(route[10:])
            self._house.wake()
        elif route == "POST /control":
            self._control(request.body)
        else:
            self.say(error(404, f"nothing here answers {route}"))

    def _control(self, body: bytes) -> None:
        try:
            down = self._house.control(json.loads(body))
        except (ValueError, TypeError, AttributeError) as err:
            return self.say(error(400, str(err)))
        settings = said(asdict(self._house.settings))
        if down is None:
            return self.say(Answer((http(200, settings),)))
        self._house.connections.discard(self)  # this one is told first
        self._house.go_away()
        self.say(Answer((http(200, settings, connection="close"),)))
        self._transport.close()
        away = asyncio.ensure_future(self._house.come_back(down))
        _KEPT.add(away)
        away.add_done_callback(_KEPT.discard)

    def _chat(self, body: bytes) -> None:
        digest = digest_of(body)
        self._tally = tally = self._house.ledger.came(digest)
        if self._house.waiting:
            self._house.wake()
        try:
            answer = self._house.answer(digest, tally, body)
        except (ValueError, KeyError, TypeError, AttributeError) as err:
            answer = error(400, f"this is no chat call: {err!r}")
        settings = self._house.settings
        self._later(answer.wait or settings.latency + settings.spread * share("latency", digest), lambda: self.say(answer))

    # ---- answers

    def say(self, answer: Answer) -> None:
        self._say_rest(answer, iter(answer.pieces))

    def _say_rest(self, answer: Answer, pieces: Iterator[bytes], said: int = 0) -> None:
        self._transport.write(next(pieces))
        if answer.endless:
            return self._pour(answer)
        if said + 1 < len(answer.pieces):
            return self._later(answer.gap, lambda: self._say_rest(answer, pieces, said + 1))
        if self._writing:
            self._when_written = lambda: self._said(answer)
        else:
            self._said(answer)

    def _pour(self, answer: Answer) -> None:
        """Send without an end, as fast as the client takes it."""
        if self._gone:
            return
        self._transport.write(answer.endless)
        self._house.ledger.poured += len(answer.endless)
        if self._writing:
            self._when_written = lambda: self._pour(answer)
        else:
            self._later(0.001, lambda: self._pour(answer))

    def _said(self, answer: Answer) -> None:
        """Everything is out: the call is over, and counts."""
        if self._tally:
            self._tally.good += answer.good
            self._tally.paid += answer.paid
            self._closed_call()
        self._busy = False
        if answer.cut:
            self.reset()
        elif self._buffer:
            self._next_request()

    def _closed_call(self) -> None:
        self._tally = None
        self._house.ledger.open -= 1

    def _later(self, seconds: float, do: Callable[[], None]) -> None:
        if seconds > 0:
            self._timer = asyncio.get_running_loop().call_later(seconds, do)
        else:
            do()


_KEPT: set[asyncio.Future[None]] = set()  # tasks that nobody else refers to


async def serve(port: int, settings: Settings, lifetime: float) -> None:
    loop = asyncio.get_running_loop()
    house = House(settings)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, house.ended.set)
    loop.call_later(lifetime, house.ended.set)
    parent = os.getppid()
    print(await house.open(port), flush=True)
    while not house.ended.is_set() and os.getppid() == parent:
        try:
            await asyncio.wait_for(house.ended.wait(), _ORPHAN_CHECK_SECONDS)
        except TimeoutError:
            continue
    house.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="A hostile but honest chat endpoint on 127.0.0.1, for tests and benchmarks.")
    parser.add_argument("--port", type=int, default=0, help="0 chooses a free one; it is printed as the first line")
    parser.add_argument("--lifetime", type=float, default=900.0, metavar="S", help="seconds after which it ends by itself (default: 900)")
    parser.add_argument("--latency", type=float, metavar="S", help="seconds before every answer")
    parser.add_argument("--spread", type=float, metavar="S", help="up to so many seconds more, fixed by the request")
    parser.add_argument("--faults", type=float, metavar="RATE", help="share of attempts that fail")
    parser.add_argument("--kinds", metavar="A,B", help=f"how they fail: {', '.join(KINDS)} (default: all)")
    parser.add_argument("--seed", type=int, metavar="N", help="of the faults")
    parser.add_argument("--max-faults-per-call", type=int, metavar="N", help="attempts of one call that fail, at most")
    parser.add_argument("--good-first", type=int, metavar="N", help="calls that come before any fails (default: 0)")
    parser.add_argument("--stall", type=float, metavar="S", help="seconds that a stalled call waits (default: 3600)")
    parser.add_argument("--drip", type=float, metavar="S", help="seconds that a slow body takes (default: 0.1)")
    arguments = vars(parser.parse_args())
    port, lifetime = arguments.pop("port"), arguments.pop("lifetime")
    settings = Settings()
    try:
        for name, value in arguments.items():
            if value is not None:
                settings.change(name, value)
    except ValueError as err:
        parser.error(str(err))
    asyncio.run(serve(port, settings, lifetime))


if __name__ == "__main__":
    main()
