"""The files of a batch: requests as JSONL within the provider's limits, and untrusted result lines."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from harness.store.opening import explaining_errors

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
            if text.strip():
                self._take(text, position)
            position += len(text)

    def _take(self, text: bytes, position: int) -> None:
        try:
            line = _read_line(text)
        except ValueError:
            self.ignored["invalid"] += 1
            return
        if line.custom_id not in self._calls:
            self.ignored["about other calls"] += 1
        elif line.custom_id in self._positions:
            self.ignored["repeated"] += 1
        else:
            self._positions[line.custom_id] = (len(self._files) - 1, position)
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
