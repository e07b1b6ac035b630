"""Files of requests for a provider, and their submission, so that a file is paid for once.

Files hold requests as JSONL within the provider's limits; result lines are untrusted. An uploaded file is recorded with its calls before
a batch is made of it. If the process or the connection ends in between, the next process finds the record and looks for the batch at the
provider, instead of paying again. Also: why a provider refused a whole file, and what follows from it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec.structs import replace

from harness.engines.retries import Polling
from harness.engines.work import CallSequence, with_ids
from harness.errors import FatalReply
from harness.judges.batches import Batches, BatchRefused, LineError, ProviderBatch
from harness.judges.capabilities import FORMS, EndpointCapabilities
from harness.judges.chat import Chat
from harness.judges.judge_protocol import NoReply
from harness.judges.transport import Response
from harness.store import Store, StoredBatch
from harness.store.database import explaining_errors
from harness.store.store import SUBMITTED

MOST_REQUESTS = 50_000  # in a file
MOST_BYTES = 200 * 10**6  # of a file
LONGEST_LINE = 64 * 2**20  # bytes; no answer has so many tokens
_SCRATCH = ".batch-"
_LINES_PER_PAUSE = 500  # lines that are written before other tasks run


class RequestFile(msgspec.Struct, frozen=True):
    """A file that is ready for upload, and the ids of its calls, line by line."""

    path: Path
    calls: tuple[str, ...]


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A temporary folder for files. Folders of killed processes are removed first: only one process at a time uses a results folder."""
    with explaining_errors(folder):
        for abandoned in folder.glob(f"{_SCRATCH}*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        temporary = tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=folder, ignore_cleanup_errors=True)
    with temporary as name:
        yield Path(name)


async def request_files(
    path: Path, lines: Iterable[tuple[str, bytes]], most_requests: int | None = None, most_bytes: int | None = None
) -> AsyncGenerator[RequestFile, None]:
    """Write the lines of `(call id, line)` to `path`. At each limit the file is yielded, and the next one overwrites it.

    A line that exceeds the size limit gets a file of its own, which the provider will refuse. Raises StoreError on a full disk.
    """
    most_requests, most_bytes = most_requests or MOST_REQUESTS, most_bytes or MOST_BYTES
    remaining = iter(lines)
    line = next(remaining, None)
    while line is not None:
        calls: list[str] = []
        free_bytes = most_bytes
        with explaining_errors(path), open(path, "wb") as file:
            while line is not None and len(calls) < most_requests and (not calls or len(line[1]) < free_bytes):
                free_bytes -= file.write(line[1] + b"\n")
                calls.append(line[0])
                line = next(remaining, None)
                if not len(calls) % _LINES_PER_PAUSE:
                    await asyncio.sleep(0)
        yield RequestFile(path, tuple(calls))


class _LineResponse(msgspec.Struct, frozen=True):
    status_code: int
    body: msgspec.Raw = msgspec.Raw(b"null")


class ResultLine(msgspec.Struct, frozen=True):
    """The result of one request: a response, or an error of its batch."""

    custom_id: str
    response: _LineResponse | None = None
    error: Any = None

    @property
    def is_answer(self) -> bool:
        return self.response is not None and self.response.status_code == 200


_decode = msgspec.json.Decoder(ResultLine).decode


def _read_line(text: bytes) -> ResultLine:
    """Raises ValueError for text that is not a result line."""
    try:
        return _decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except msgspec.MsgspecError:  # halves of characters, which only json reads
        pass
    try:
        data = json.loads(text)
        body = msgspec.Raw(json.dumps(data["response"]["body"]).encode())
        return ResultLine(str(data["custom_id"]), _LineResponse(int(data["response"]["status_code"]), body))
    except (TypeError, KeyError, RecursionError) as err:
        raise ValueError(str(err)) from None


class Results(ExitStack):
    """The result lines of a batch by call id. If there are several lines for a call, the first one counts.

    Invalid lines, and lines about calls of other batches, are counted and ignored. Only positions in the files stay in memory.
    """

    def __init__(self, calls: Collection[str]) -> None:
        super().__init__()
        self._calls = frozenset(calls)
        self._files: list[IO[bytes]] = []
        self._positions: dict[str, tuple[int, int]] = {}
        self.answers: set[str] = set()  # ids of calls whose line is an answer
        self.ignored = {"invalid": 0, "about other calls": 0, "repeated": 0}

    def add(self, path: Path) -> None:
        """Read a file of results. The file has to exist as long as this object is in use."""
        file = self.enter_context(open(path, "rb"))  # noqa: SIM115
        self._files.append(file)
        position = 0
        for text in iter(lambda: file.readline(LONGEST_LINE), b""):
            begin, position = position, position + len(text)
            if not text.strip():
                continue
            try:
                line = _read_line(text)
            except ValueError:
                self.ignored["invalid"] += 1
                continue
            if line.custom_id not in self._calls:
                self.ignored["about other calls"] += 1
            elif line.custom_id in self._positions:
                self.ignored["repeated"] += 1
            else:
                self._positions[line.custom_id] = (len(self._files) - 1, begin)
                if line.is_answer:
                    self.answers.add(line.custom_id)

    def line(self, call_id: str) -> ResultLine | None:
        """The result line of a call; None if there is none."""
        if call_id not in self._positions:
            return None
        number, position = self._positions[call_id]
        self._files[number].seek(position)
        return _read_line(self._files[number].readline(LONGEST_LINE))

    @property
    def ignored_lines(self) -> str:
        """The ignored lines in words; empty if there are none."""
        return ", ".join(f"{count} {what}" for what, count in self.ignored.items() if count)


FILE = "file "  # begins the id of a record of an uploaded file
MADE = "made into "  # begins the state of such a record, once there is a batch
NOT_MADE = "not made into a batch"


class BatchRecord:
    """The batches of one judge in a results folder, of any run: runs share calls and pay for them once."""

    def __init__(self, store: Store, judge: str, run: str) -> None:
        self._store = store
        self._judge = judge
        self._run = run

    def open(self) -> list[StoredBatch]:
        """Batches and uploaded files that are not settled."""
        return open_batches(self._store, self._judge)

    def add_file(self, file_id: str, calls: Sequence[str]) -> StoredBatch:
        """Record an uploaded file, of which a batch is about to be made."""
        self._store.put_batch(FILE + file_id, self._run, self._judge, calls)
        return StoredBatch(FILE + file_id, self._run, self._judge, time.time(), SUBMITTED, tuple(calls))

    def add_batch(self, file: StoredBatch, batch_id: str) -> StoredBatch:
        """Record the batch that was made of a file. Returns the batch's own record."""
        self._store.put_batch(batch_id, file.run, self._judge, file.calls)
        self._store.settle_batch(file.batch_id, MADE + batch_id)
        return replace(file, batch_id=batch_id)

    def drop_file(self, file: StoredBatch) -> None:
        """Record that no batch was or will be made of a file."""
        self._store.settle_batch(file.batch_id, NOT_MADE)

    def settle(self, batch: StoredBatch, state: str) -> None:
        """Record that a batch has ended and its replies are in the store."""
        self._store.settle_batch(batch.batch_id, state)


def open_batches(store: Store, judge: str) -> list[StoredBatch]:
    """The batches of a judge that are not settled, of all runs of a results folder."""
    return [batch for run in store.runs() for batch in store.batches(run, judge) if is_open(batch)]


def is_open(batch: StoredBatch) -> bool:
    return batch.state == SUBMITTED


def is_file(batch: StoredBatch) -> bool:
    """Return True if it is the record of an uploaded file."""
    return batch.batch_id.startswith(FILE)


def file_id(batch: StoredBatch) -> str:
    return batch.batch_id.removeprefix(FILE)


UNSURE_SECONDS = 15.0  # until a batch that may have been made appears in the provider's list
_KEY = "harness_key"
_CAPABILITIES = "harness_manner"  # the name that batches under way have
_MOST_SHOWN = 5  # problems
_QUEUE_WORDS = ("token_limit_exceeded", "enqueued token")


class BatchSubmitter:
    """Makes batches of files for one judge, and finds batches that an earlier process may have made."""

    def __init__(self, provider: Batches, record: BatchRecord, polling: Polling) -> None:
        self._provider = provider
        self._record = record
        self._polling = polling

    async def submit(self, file: RequestFile, capabilities: EndpointCapabilities) -> tuple[StoredBatch, ProviderBatch]:
        """Make a batch of a file whose requests were written with these capabilities. Raises BatchRefused if the provider refuses."""
        uploaded = await self._polling.until_answered(lambda: self._provider.upload(file.path))
        record = self._record.add_file(uploaded, file.calls)
        metadata = {
            "harness_run": record.run,
            "harness_judge": record.judge,
            _KEY: _key(record),
            _CAPABILITIES: msgspec.json.encode(capabilities).decode(),
        }
        attempted = unsure = False

        async def make() -> ProviderBatch:
            nonlocal attempted, unsure
            if unsure:
                await self._polling.wait(UNSURE_SECONDS)
                if batch := await self._find(record):
                    return batch
            try:
                return await self._provider.submit(uploaded, metadata)
            except BatchRefused:
                if not attempted:
                    self._record.drop_file(record)
                raise
            except NoReply as err:
                unsure = err.down or not err.busy  # after a plain 429 there is no batch
                raise
            finally:
                attempted = True

        batch = await self._polling.until_answered(make)
        return self._record.add_batch(record, batch.id), batch

    async def recover(self, record: StoredBatch) -> tuple[StoredBatch, ProviderBatch] | None:
        """The batch that was made of an uploaded file, if there is one."""
        age = time.time() - record.submitted
        if 0 <= age < UNSURE_SECONDS:
            await self._polling.wait(UNSURE_SECONDS - age)
        batch = await self._polling.until_answered(lambda: self._find(record))
        if batch is None:
            self._record.drop_file(record)
            return None
        return self._record.add_batch(record, batch.id), batch

    async def _find(self, record: StoredBatch) -> ProviderBatch | None:
        return await self._provider.find(file_id(record), _KEY, _key(record))


def capabilities_of(batch: ProviderBatch) -> EndpointCapabilities:
    """The capabilities that a batch's requests were written with; the defaults if the provider has not kept its metadata."""
    try:
        capabilities = msgspec.json.decode(batch.metadata_value(_CAPABILITIES), type=EndpointCapabilities)
    except msgspec.MsgspecError:
        return EndpointCapabilities()
    return capabilities if capabilities.form in FORMS else EndpointCapabilities()


def _key(record: StoredBatch) -> str:
    """A key that no other batch has."""
    return hashlib.sha256("\n".join((record.run, record.judge, file_id(record), *record.calls)).encode()).hexdigest()


def is_queue_full(batch: ProviderBatch) -> bool:
    """Return True if the provider's queue is full. A smaller file may be accepted now, the same file later."""
    return any(words in _text(problem).lower() for problem in batch.problems for words in _QUEUE_WORDS)


def learn_from_problems(chat: Chat, calls: CallSequence, record: StoredBatch, batch: ProviderBatch) -> bool:
    """Return True if a problem names something that can be left out or asked for differently. If so, `chat` does it from now on."""
    capabilities = capabilities_of(batch)
    problem_of = {}
    for problem in batch.problems if record.calls else ():
        line = problem.line or 1  # a problem that names no line counts as one of the first call
        problem_of[record.calls[line - 1 if 1 <= line <= len(record.calls) else 0]] = _text(problem)
    learnt = False
    for call in with_ids(calls, problem_of):
        body = msgspec.json.encode({"error": {"message": problem_of[call.call_id]}})
        with suppress(NoReply, FatalReply):
            answer = chat.interpret(call, chat.request(call, capabilities), Response(400, {}, body), 0.0)
            learnt |= answer is chat.capabilities
    return learnt


def problems_in_words(batch: ProviderBatch) -> str:
    """The problems with their line numbers."""
    sentences = [f"line {problem.line}: {_text(problem)}" if problem.line else _text(problem) for problem in batch.problems[:_MOST_SHOWN]]
    rest = [f"and {len(batch.problems) - _MOST_SHOWN} more"] if len(batch.problems) > _MOST_SHOWN else []
    return "; ".join([*sentences, *rest]) or "no reason given"


def _text(problem: LineError) -> str:
    message, code = " ".join((problem.message or "").split()), problem.code or ""
    return f"{message} ({code})" if message and code and code not in message else message or code or "no reason given"
