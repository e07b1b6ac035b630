"""The files of a batch: calls as JSONL within a provider's limits, and the lines that come back, which are untrusted."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import msgspec

from harness.store.opening import explained

MOST_REQUESTS = 50_000  # in a file
MOST_BYTES = 200 * 10**6  # of a file
LONGEST_LINE = 64 * 2**20  # bytes; no answer is given room for as many
_SCRATCH = ".batch-"
_BREATH = 500  # lines written before others have their turn


class RequestFile(msgspec.Struct, frozen=True):
    """A file that is ready to be handed over, and the ids of its calls, line by line."""

    path: Path
    calls: tuple[str, ...]


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A folder for files on their way. What a killed process has left there is removed: a results folder has one user at a time."""
    with explained(folder):
        for left in folder.glob(f"{_SCRATCH}*"):
            shutil.rmtree(left, ignore_errors=True)
        made = tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=folder, ignore_cleanup_errors=True)
    with made as name:
        yield Path(name)


async def request_files(
    path: Path, lines: Iterable[tuple[str, bytes]], most_requests: int | None = None, most_bytes: int | None = None
) -> AsyncGenerator[RequestFile, None]:
    """Write `(call id, line)` to `path`, a new file each time that a limit is reached; each is there until the next is asked for.

    A line that is longer than a file may be has a file of its own: whoever takes it will say so. Raises StoreError on a full disk.
    """
    most_requests, most_bytes = most_requests or MOST_REQUESTS, most_bytes or MOST_BYTES
    left = iter(lines)
    ahead = next(left, None)
    while ahead is not None:
        calls: list[str] = []
        room = most_bytes
        with explained(path), open(path, "wb") as file:
            while ahead is not None and len(calls) < most_requests and (not calls or len(ahead[1]) < room):
                room -= file.write(ahead[1] + b"\n")
                calls.append(ahead[0])
                ahead = next(left, None)
                if not len(calls) % _BREATH:
                    await asyncio.sleep(0)
        yield RequestFile(path, tuple(calls))


class _Response(msgspec.Struct, frozen=True):
    status_code: int
    body: msgspec.Raw = msgspec.Raw(b"null")


class Line(msgspec.Struct, frozen=True):
    """What became of one request: a response, or an error of the batch that it was in."""

    custom_id: str
    response: _Response | None = None
    error: Any = None

    @property
    def good(self) -> bool:
        return self.response is not None and self.response.status_code == 200


_decode = msgspec.json.Decoder(Line).decode


def _line(text: bytes) -> Line:
    """Raises ValueError for what is no such line."""
    try:
        return _decode(text)
    except msgspec.MsgspecError:  # half characters, which only json reads
        pass
    try:
        data = json.loads(text)
        body = msgspec.Raw(json.dumps(data["response"]["body"]).encode())
        return Line(str(data["custom_id"]), _Response(int(data["response"]["status_code"]), body))
    except (TypeError, KeyError, RecursionError) as err:
        raise ValueError(str(err)) from None


class Results:
    """The lines of a batch's results by call id; of several about one call the first counts.

    What is no line, or is about none of the batch's calls, is counted and passed over. Kept are places in the files, not lines.
    """

    def __init__(self, calls: Collection[str]) -> None:
        self._calls = frozenset(calls)
        self._files: list[IO[bytes]] = []
        self._places: dict[str, tuple[int, int]] = {}
        self.good: set[str] = set()
        self.odd = {"no result": 0, "about no call of it": 0, "a repetition": 0}

    def __enter__(self) -> Results:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None) -> None:
        for file in self._files:
            file.close()

    def add(self, path: Path) -> None:
        """Take in a file of results, which has to stay until this is left."""
        file = open(path, "rb")  # noqa: SIM115 (closed with this)
        self._files.append(file)
        place = 0
        for text in iter(lambda: file.readline(LONGEST_LINE), b""):
            if text.strip():
                self._take(text, place)
            place += len(text)

    def _take(self, text: bytes, place: int) -> None:
        try:
            line = _line(text)
        except ValueError:
            self.odd["no result"] += 1
            return
        if line.custom_id not in self._calls:
            self.odd["about no call of it"] += 1
        elif line.custom_id in self._places:
            self.odd["a repetition"] += 1
        else:
            self._places[line.custom_id] = (len(self._files) - 1, place)
            if line.good:
                self.good.add(line.custom_id)

    def line(self, call_id: str) -> Line | None:
        """What became of a call; None where nothing is said about it."""
        if call_id not in self._places:
            return None
        number, place = self._places[call_id]
        self._files[number].seek(place)
        return _line(self._files[number].readline(LONGEST_LINE))

    @property
    def oddities(self) -> str:
        """What was passed over, in words; empty if nothing was."""
        return ", ".join(f"{count} {what}" for what, count in self.odd.items() if count)
