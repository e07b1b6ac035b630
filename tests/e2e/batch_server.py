"""A provider's files and batches on the loopback interface: real HTTP, multipart uploads, pages of a list, batches that end in every way.

Standard library only. Requests inside of a batch are answered by `answer`, a function of their bodies, so the same function can answer
live calls elsewhere.
"""

from __future__ import annotations

import email
import json
import socket
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.conftest import HANG_SECONDS
from tests.e2e.loopback import Loopback, Quiet

Answer = Callable[[dict[str, Any]], tuple[int, Any]]  # the body of a request -> status and body of its response
ENDED = ("completed", "expired", "failed", "cancelled")


@dataclass
class Lines:
    """The result files of a batch, line by line, as an ending may change them."""

    output: list[str]
    errors: list[str]


@dataclass
class Made:
    """One batch. It goes through `course`, a state for each look, and then has the state `end`."""

    id: str
    input_file_id: str
    endpoint: str
    window: str
    metadata: Any
    course: list[str]
    end: str = "completed"
    lines: Lines | None = None
    problems: list[dict[str, Any]] = field(default_factory=list)
    output_file_id: str | None = None
    error_file_id: str | None = None
    total: int = 0
    looks: int = 0

    @property
    def status(self) -> str:
        return self.course[0] if self.course else self.end


# An ending says what becomes of a batch, given its requests in order: it may set `end`, `lines` and `problems`.
Ending = Callable[["BatchServer", Made, list[dict[str, Any]]], None]


def completed(server: BatchServer, batch: Made, requests: list[dict[str, Any]]) -> None:
    """Every request is answered: with 200 in the output file, with anything else in the error file."""
    lines = Lines([], [])
    for request in requests:
        line = server.run(request)
        (lines.output if json.loads(line)["response"]["status_code"] == 200 else lines.errors).append(line)
    batch.lines = lines


def expired(done: int) -> Ending:
    """Time is up after `done` requests."""

    def end(server: BatchServer, batch: Made, requests: list[dict[str, Any]]) -> None:
        completed(server, batch, requests[:done])
        assert batch.lines is not None
        batch.lines.errors += [unasked(request, "batch_expired", "could not be executed in time") for request in requests[done:]]
        batch.end = "expired"

    return end


def cancelled(done: int) -> Ending:
    """Somebody cancels it after `done` requests; the others are not spoken of."""

    def end(server: BatchServer, batch: Made, requests: list[dict[str, Any]]) -> None:
        completed(server, batch, requests[:done])
        batch.course.append("cancelling")
        batch.end = "cancelled"

    return end


def failed(*problems: dict[str, Any]) -> Ending:
    """The file is refused as a whole."""

    def end(server: BatchServer, batch: Made, requests: list[dict[str, Any]]) -> None:
        batch.course, batch.end, batch.problems = ["validating"], "failed", list(problems)

    return end


def changed(change: Callable[[Lines], None]) -> Ending:
    """Completed, with result files that are changed."""

    def end(server: BatchServer, batch: Made, requests: list[dict[str, Any]]) -> None:
        completed(server, batch, requests)
        assert batch.lines is not None
        change(batch.lines)

    return end


def unasked(request: dict[str, Any], code: str, message: str) -> str:
    """The line of a request that was not executed."""
    error = {"code": code, "message": message}
    return json.dumps({"id": "r", "custom_id": request["custom_id"], "response": None, "error": error})


@dataclass(frozen=True)
class Seen:
    """One request as it came over the wire."""

    what: str
    path: str
    headers: dict[str, str]


class BatchServer(Loopback):
    """Files and batches of one account.

    `endings` say how the next batches end, one each, then all are completed. `hold(what)` withholds the responses to an operation, or to
    all but the first few, after it is done; `faults[what]` are responses to give instead, one each: before anything is done a status, or
    (status, message, headers…), after it is done `"lost"` (no response) or `"half"` (of one).
    `endless[what]` is the status of a response whose body does not end.
    Operations are upload, file, content, make, look and list.
    """

    page = 2
    course = ("validating", "in_progress", "finalizing")
    look_again: str | None = "0.01"  # seconds, as Retry-After

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Made] = {}
        self.paid: Counter[str] = Counter()  # body of a request -> times that it was answered with 200
        self.endings: list[Ending] = []
        self.faults: dict[str, list[Any]] = {}
        self.seen: list[Seen] = []
        self.file_status: list[str] = []  # of the next files that are looked at
        self.keep_notes = True
        self.endless: dict[str, int] = {}
        self.endless_bytes = 0  # that were sent of such bodies
        self._held: dict[str, tuple[int, threading.Event]] = {}
        self._changed = threading.Condition(threading.RLock())
        super().__init__(self._handler())

    def close(self) -> None:
        for _, held in self._held.values():
            held.set()
        super().close()

    # ---- for tests

    def hold(self, what: str, after: int = 0) -> None:
        self._held[what] = (self.count(what) + after, threading.Event())

    def release(self, what: str) -> None:
        self._held.pop(what)[1].set()

    def count(self, what: str) -> int:
        return sum(seen.what == what for seen in self.seen)

    def wait_for(self, what: str, count: int = 1, seconds: float = HANG_SECONDS) -> None:
        """Return once an operation has come in so often, and is done."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.count(what) >= count, seconds), f"{self.count(what)} of {count} times '{what}' came"

    def requests(self, batch_id: str) -> list[dict[str, Any]]:
        """The requests of a batch, in the order of its file."""
        return [json.loads(line) for line in self.files[self.batches[batch_id].input_file_id].splitlines()]

    # ---- what it does

    def run(self, request: dict[str, Any]) -> str:
        """Execute one request of a batch; returns its line."""
        status, body = self.answer(request["body"])
        if status == 200:
            self.paid[json.dumps(request["body"], sort_keys=True)] += 1
        response = {"status_code": status, "request_id": "r", "body": body}
        return json.dumps({"id": "r", "custom_id": request["custom_id"], "response": response, "error": None})

    def upload(self, content: bytes) -> dict[str, Any]:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return self.file(name)

    def file(self, name: str) -> dict[str, Any]:
        status = self.file_status.pop(0) if self.file_status else "processed"
        return {"id": name, "object": "file", "purpose": "batch", "filename": "x", "bytes": len(self.files[name]), "status": status}

    def make(self, wanted: dict[str, Any]) -> dict[str, Any]:
        name = f"batch_{len(self.batches) + 1}"
        notes = wanted.get("metadata") if self.keep_notes else None
        made = Made(name, wanted["input_file_id"], wanted["endpoint"], wanted["completion_window"], notes, list(self.course))
        self.batches[name] = made
        requests = self.requests(name)
        made.total = len(requests)
        ending = self.endings.pop(0) if self.endings else completed
        ending(self, made, requests)
        return self.described(made)

    def look(self, name: str) -> dict[str, Any]:
        made = self.batches[name]
        made.looks += 1
        if made.course:
            made.course.pop(0)
        if made.status in ENDED and made.lines is not None and made.output_file_id is None and made.error_file_id is None:
            for attribute, lines in (("output_file_id", made.lines.output), ("error_file_id", made.lines.errors)):
                if lines:
                    setattr(made, attribute, self.upload("\n".join(lines).encode("utf-8", "surrogatepass"))["id"])
        return self.described(made)

    def described(self, made: Made) -> dict[str, Any]:
        over = made.status in ENDED and made.lines is not None
        counts = {"total": made.total, "completed": len(made.lines.output) if over and made.lines else 0, "failed": 0}
        return {
            "id": made.id,
            "object": "batch",
            "endpoint": made.endpoint,
            "errors": {"object": "list", "data": made.problems} if made.status == "failed" else None,
            "input_file_id": made.input_file_id,
            "completion_window": made.window,
            "status": made.status,
            "output_file_id": made.output_file_id,
            "error_file_id": made.error_file_id,
            "created_at": 1,
            "request_counts": counts,
            "metadata": made.metadata,
        }

    def list(self, after: str | None, limit: int) -> dict[str, Any]:
        names = list(reversed(self.batches))
        first = names.index(after) + 1 if after else 0
        size = min(limit, self.page)
        shown = names[first : first + size]
        data = [self.described(self.batches[name]) for name in shown]
        return {"object": "list", "data": data, "has_more": first + size < len(names), "last_id": shown[-1] if shown else None}

    # ---- HTTP

    def _operation(self, method: str, path: list[str]) -> str:
        match method, path:
            case "POST", ["files"]:
                return "upload"
            case "GET", ["files", _]:
                return "file"
            case "GET", ["files", _, "content"]:
                return "content"
            case "POST", ["batches"]:
                return "make"
            case "GET", ["batches", _]:
                return "look"
            case "GET", ["batches"]:
                return "list"
        return "unknown"

    def _do(self, what: str, path: list[str], query: dict[str, list[str]], kind: str, body: bytes) -> bytes:
        match what:
            case "upload":
                found: Any = self.upload(_uploaded(kind, body))
            case "file":
                found = self.file(path[1])
            case "content":
                return self.files[path[1]]
            case "make":
                found = self.make(json.loads(body))
            case "look":
                found = self.look(path[1])
            case _:
                found = self.list(query.get("after", [None])[0], int(query.get("limit", ["20"])[0]))
        return json.dumps(found).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(Quiet):
            def do_GET(self) -> None:
                self._answer("GET")

            def do_POST(self) -> None:
                self._answer("POST")

            def _answer(self, method: str) -> None:
                parts = urlsplit(self.path)
                path = [part for part in parts.path.split("/") if part][1:]
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                what = server._operation(method, path)
                status, payload, sent = 200, b"", 1.0
                headers: dict[str, str] = {}
                with server._changed:
                    faults = server.faults.get(what, [])
                    fault = faults.pop(0) if faults else None
                    if isinstance(fault, int):
                        status, payload = fault, b'{"error": {"message": "on purpose"}}'
                    elif isinstance(fault, tuple):
                        status, payload, headers = fault[0], json.dumps({"error": {"message": fault[1]}}).encode(), dict(fault[2:])
                    else:
                        try:
                            payload = server._do(what, path, parse_qs(parts.query), self.headers.get("Content-Type", ""), body)
                        except (KeyError, ValueError):
                            status, payload = 404, b'{"error": {"message": "no such object"}}'
                        sent = {"lost": 0.0, "half": 0.5}.get(str(fault), 1.0)
                    seen = Seen(what, self.path, {name.lower(): value for name, value in self.headers.items()})
                    server.seen.append(seen)
                    server._changed.notify_all()
                after, held = server._held.get(what, (0, None))
                if held and server.count(what) > after:
                    held.wait(60)
                if what in server.endless:
                    self._send_without_end(server.endless[what])
                    return
                if what in ("make", "look") and server.look_again is not None:
                    headers.setdefault("Retry-After", server.look_again)
                self._send(status, payload, headers, sent)

            def _send_without_end(self, status: int) -> None:
                self.close_connection = True
                with suppress(OSError):
                    self.wfile.write(f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n".encode())
                    while server.endless_bytes < 10**9:
                        server.endless_bytes += self.wfile.write(b"[" * 100_000)

            def _send(self, status: int, payload: bytes, headers: dict[str, str], sent: float) -> None:
                head = {"Content-Type": "application/json", "Content-Length": str(len(payload)), **headers}
                lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in head.items()), "", ""]
                with suppress(OSError):  # whoever asked was killed
                    if sent:
                        self.wfile.write("\r\n".join(lines).encode() + payload[: int(sent * len(payload))])
                    if sent < 1:
                        self.connection.shutdown(socket.SHUT_RDWR)
                        self.close_connection = True

        return Handler


def _uploaded(kind: str, body: bytes) -> bytes:
    """The file in a multipart body; its purpose has to be `batch`."""
    form = email.message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body, policy=HTTP)
    parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
    if parts["purpose"].get_payload(decode=True).strip() != b"batch":
        raise ValueError("another purpose")
    return bytes(parts["file"].get_payload(decode=True))
