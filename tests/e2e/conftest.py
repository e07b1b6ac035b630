"""Two OpenAI-compatible endpoints on the loopback interface, and small runs that ask them.

`endpoint` lives in the test and is scripted by it; `hostile` is a process of its own (hostile.py), quick and full of faults.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import HANG_SECONDS
from tests.e2e.hostile import decided
from tests.e2e.loopback import Loopback, Quiet

MODEL = "tester-2024-01-01"


@dataclass(frozen=True)
class Request:
    """One request as it came over the wire."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def key(self) -> str:
        """Equal for two requests that ask the same."""
        return hashlib.sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()

    @property
    def form(self) -> str:
        return self.body.get("response_format", {}).get("type", "text")


@dataclass(frozen=True)
class Answer:
    """One answer to send; `reset` cuts the connection instead, before the body."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    reset: bool = False

    def encoded(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


Script = Callable[[Request], Answer]


class Endpoint(Loopback):
    """Answers as `script` says, after `latency` seconds, and keeps what it was asked."""

    def __init__(self) -> None:
        self.script: Script = self.good
        self.latency = 0.0
        self.requests: list[Request] = []
        self._changed = threading.Condition()
        super().__init__(self._handler())

    # ---- what it may answer

    def good(self, request: Request) -> Answer:
        """A score that depends on nothing but what was asked; 0 and 1 are on every scale."""
        return self.saying({"justification": "Because.", "score": int(request.key, 16) % 2}, model=request.body["model"])

    def saying(self, content: Any, *, model: str = MODEL, finish: str = "stop", **message: Any) -> Answer:
        """A completion whose text is `content`."""
        text = content if isinstance(content, str) else json.dumps(content)
        choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        return Answer(body=self.completion([choice], model))

    def deciding(self, request: Request) -> Answer:
        """Probabilities for every option, in the form of the request, which depend on nothing but what was asked."""
        return Answer(body=decided(request.body, request.key))

    def completion(self, choices: Any, model: str = MODEL) -> dict[str, Any]:
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": model, "choices": choices, "usage": usage}

    def error(self, status: int, message: str, code: str | None = None, **headers: str) -> Answer:
        return Answer(
            status, {"error": {"message": message, "type": "error", "code": code}}, {k.replace("_", "-"): v for k, v in headers.items()}
        )

    def without(self, name: str) -> Script:
        """Refuses requests that have a parameter of this name."""

        def script(request: Request) -> Answer:
            if name in request.body:
                return self.error(400, f"Unsupported parameter: '{name}' is not supported with this model.")
            return self.good(request)

        return script

    def resetting(self) -> Answer:
        return Answer(body=self.completion([]), reset=True)

    def first(self, *answers: Answer) -> Script:
        """These answers first, one a request, then good ones."""
        left = iter(answers)
        lock = threading.Lock()

        def script(request: Request) -> Answer:
            with lock:
                answer = next(left, None)
            return answer or self.good(request)

        return script

    # ---- what it saw

    def wait_for(self, count: int, process: subprocess.Popen[str] | None = None) -> None:
        """Return once `count` requests have come in. Fails when `process`, which makes them, ends before."""
        deadline = time.monotonic() + HANG_SECONDS
        while True:
            with self._changed:
                if self._changed.wait_for(lambda: len(self.requests) >= count, 1.0):
                    return
            came = f"{len(self.requests)} of {count} requests came"
            assert process is None or process.poll() is None, (came, process.communicate())
            assert time.monotonic() < deadline, came

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(Quiet):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = Request("POST", self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(body))
                with endpoint._changed:
                    endpoint.requests.append(request)
                    endpoint._changed.notify_all()
                time.sleep(endpoint.latency)
                self._send(endpoint.script(request))

            def _send(self, answer: Answer) -> None:
                payload = answer.encoded()
                head = {"Content-Type": answer.kind, "Content-Length": str(len(payload)), **answer.headers}
                lines = [f"HTTP/1.1 {answer.status} X", *(f"{name}: {value}" for name, value in head.items()), "", ""]
                try:
                    self.wfile.write("\r\n".join(lines).encode() + (b"" if answer.reset else payload))
                except OSError:  # whoever asked was killed
                    self.close_connection = True
                if answer.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    self.close_connection = True

        return Handler


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    served = Endpoint()
    yield served
    served.close()


@pytest.fixture
def closed_url() -> str:
    """A loopback address where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "results"


SMALL = ("run", "--langs", "cs", "--tasks", "open_prompt", "--limit", "2", "--judge", f"openai/{MODEL}")


@pytest.fixture
def ask(cli: Callable[..., Any], endpoint: Endpoint, out: Path) -> Callable[..., Any]:
    """A small run against the endpoint: `ask("--variant", "joint")`."""

    def run(*arguments: str | Path) -> Any:
        return cli(*SMALL, "--base-url", endpoint.url, "--out", out, *arguments)

    return run


@pytest.fixture
def rows() -> Callable[..., list[dict[str, Any]]]:
    """Rows of a query on a results folder's store, read past the program."""
    return _rows


@pytest.fixture
def replies() -> Callable[[Path], list[dict[str, Any]]]:
    """Every reply of a results folder's store, oldest first."""
    return lambda folder: [reply for _, reply in _replies(folder)]


def _rows(folder: Path, query: str) -> list[dict[str, Any]]:
    connection = sqlite3.connect(f"file:{folder / 'store.sqlite'}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in connection.execute(query)]
    finally:
        connection.close()


def _replies(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """(call id, reply), oldest first."""
    found = _rows(folder, "SELECT call_id, reply FROM attempts WHERE reply IS NOT NULL ORDER BY received, call_id")
    return [(row["call_id"], json.loads(row["reply"])) for row in found]


@pytest.fixture
def run_folder() -> Callable[[Path], Path]:
    """The folder of the only run in a results folder."""

    def find(folder: Path) -> Path:
        [found] = (folder / "runs").iterdir()
        return found

    return find


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command as a process that the test may signal; what is still running at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str | Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "harness", *map(str, arguments)]
        process = subprocess.Popen(
            command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def refused() -> Callable[..., None]:
    """Asserts that a command ended with one sentence: `refused(result, code, "words", "of the message")`."""

    def check(result: Any, code: int, *words: str) -> None:
        said = result.stderr if isinstance(result, subprocess.CompletedProcess) else result.err
        ended = result.returncode if isinstance(result, subprocess.CompletedProcess) else result.code
        assert "Traceback" not in said
        messages = [line for line in said.splitlines() if line.startswith("harness: ")]
        assert len(messages) == 1, said
        message = said[said.index("harness: ") :]
        for word in words:
            assert word in message
        assert ended == code, said

    return check


@pytest.fixture
def data_folder(tmp_path: Path) -> Callable[..., Path]:
    """Make a data folder of open prompts in Czech: one item a text given, each labelled for its task quality."""

    def make(*outputs: str, name: str = "own") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        items = [
            {"item_id": f"i{n}", "language": "cs", "task": "open_prompt", "prompt": "Popiš les.", "output": o}
            for n, o in enumerate(outputs)
        ]
        labels = [{"item_id": item["item_id"], "annotator_id": "a", "metric": "task_quality", "score": 1} for item in items]
        for file, found in (("items.jsonl", items), ("labels.jsonl", labels)):
            (folder / file).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found), encoding="utf-8")
        return folder

    return make


# ---- the hostile endpoint


class Hostile:
    """A process of hostile.py. `Hostile(faults=0.2, kinds="500,503")` takes its flags as settings."""

    def __init__(self, **settings: Any) -> None:
        flags = [word for name, value in settings.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        program = [sys.executable, str(Path(__file__).with_name("hostile.py")), *flags]
        self._process = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        self.pid = self._process.pid
        self.port = int(self._process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def stats(self) -> Any:
        return self._ask("GET", "/stats")

    def control(self, **settings: Any) -> Any:
        """Change settings, or `down=1.5`, or `reset=True`; returns the settings in force."""
        return self._ask("POST", "/control", json.dumps(settings))

    def wait_for(self, count: int, seconds: float = HANG_SECONDS) -> None:
        """Return once `count` calls have come in since the last reset."""
        self._ask("GET", f"/wait/{count}", seconds=seconds)

    def _ask(self, method: str, path: str, body: str | None = None, seconds: float = HANG_SECONDS) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.request(method, path, body)
            response = connection.getresponse()
            found = json.loads(response.read())
        finally:
            connection.close()
        assert response.status == 200, found
        return found

    def wait(self, seconds: float) -> int:
        """How it ended, by itself."""
        return self._process.wait(seconds)

    def close(self) -> None:
        self._process.terminate()  # by its process id, unless it has ended already
        self._process.communicate()


@pytest.fixture
def hostile() -> Iterator[Callable[..., Hostile]]:
    """Start hostile endpoints; they end with the test."""
    started: list[Hostile] = []

    def begin(**settings: Any) -> Hostile:
        started.append(Hostile(**settings))
        return started[-1]

    yield begin
    for one in started:
        one.close()


METRICS = ("linguistic_acceptability", "output_content_quality", "task_quality", "problematic_content", "hallucination")
DERIVED = ("report.json", "report.csv", "report.parquet", "judgments.parquet")


class Calm(NamedTuple):
    """A run of some calls that nothing disturbed: whatever disturbs another run of the same data, its files should be these."""

    command: tuple[str, ...]  # without --base-url and --out
    texts: dict[str, str]  # call id -> the answer's text
    files: dict[str, bytes]


@pytest.fixture(scope="session")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Calm]:
    """The undisturbed run of so many calls, a multiple of five: English items, five metrics each. Made once for all tests."""
    made: dict[int, Calm] = {}

    def run(calls: int) -> Calm:
        if calls not in made:
            made[calls] = _run_calmly(
                _english_data(tmp_path_factory.mktemp("data"), calls // len(METRICS)), tmp_path_factory.mktemp("calm")
            )
        return made[calls]

    return run


@pytest.fixture
def texts() -> Callable[[Path], dict[str, str]]:
    """`{call id: text}` of a results folder's replies; fails where a call has two."""
    return _texts


def _run_calmly(data: Path, out: Path) -> Calm:
    command = ("run", "--data", str(data), "--judge", "openai/m")
    friendly = Hostile()
    try:
        program = [sys.executable, "-m", "harness", *command, "--base-url", friendly.url, "--out", str(out)]
        env = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "AZURE_OPENAI_"))}
        subprocess.run(program, check=True, capture_output=True, stdin=subprocess.DEVNULL, env=env)
    finally:
        friendly.close()
    [folder] = (out / "runs").iterdir()
    return Calm(command, _texts(out), {name: (folder / name).read_bytes() for name in DERIVED})


def _texts(folder: Path) -> dict[str, str]:
    """The text of every call's reply; no call may have two."""
    found = _replies(folder)
    texts = {call_id: reply["text"] for call_id, reply in found}
    assert len(texts) == len(found)
    return texts


def _english_data(folder: Path, items: int) -> Path:
    """A data folder of English open prompts, each labelled once on every metric."""
    rows = [
        {"item_id": f"i{n}", "language": "en", "task": "open_prompt", "prompt": "Describe a forest.", "output": f"Forest {n} is quiet."}
        for n in range(items)
    ]
    labels = [
        {"item_id": row["item_id"], "annotator_id": "a", "metric": metric, "score": (n + m) % 2}
        for n, row in enumerate(rows)
        for m, metric in enumerate(METRICS)
    ]
    for file, found in (("items.jsonl", rows), ("labels.jsonl", labels)):
        (folder / file).write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    return folder
