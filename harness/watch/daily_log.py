"""The log of a watch: one line a day, appended and never changed.

Each line holds a hash of itself and of the line before it, and the first one a hash of the plan, so that a changed, removed or inserted
line is found, and the log of another watch. `head.json` holds the number of lines and the hash of the last one, so that a tail that was
cut is found. What is not found: the log and its head both put back to an earlier day, or written anew by somebody who computes hashes;
the copy of the certificate, which says to which day the log was checked, finds the first of these where it was not put back too.

A line is written with one call and synchronised to the disk: a process that is killed leaves a whole line, which the head does not have
yet, or the beginning of one, which does not count.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import islice
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from harness.errors import ContentError, StoreError, UsageError, refuse_pipe
from harness.row_files import PRIVATE_FILE, json_rows, write_atomic

LOG, HEAD, GROUPS = "log.jsonl", "head.json", "groups"
NOT_AS_WRITTEN = "it has other fields than this program writes, or one of them twice"
DIGITS = 3
"""Values are counted to so many decimals."""


class Seen(msgspec.Struct, frozen=True):
    """The values of one quantity on one day: their mean, and how often each was seen."""

    mean: float
    n: int
    counts: dict[str, int]

    @classmethod
    def of(cls, values: Iterable[float]) -> Seen | None:
        """Count values in [0, 1]; None if there are none."""
        counts = Counter(round(value, DIGITS) + 0.0 for value in values)
        n = sum(counts.values())
        if not n:
            return None
        mean = sum(value * count for value, count in counts.items()) / n
        return cls(round(mean, 2 * DIGITS), n, {f"{value:g}": count for value, count in sorted(counts.items())})


class SeenAnchors(msgspec.Struct, frozen=True):
    """The anchors of one cell on one day: how many were drawn, how many answers could not be read, agreement, and level of the others."""

    drawn: int
    unread: int
    agreement: Seen
    level: Seen | None = None


class SeenProduction(msgspec.Struct, frozen=True):
    """Production scores of one cell on one day: texts, unread answers, and texts of groups that earlier days had.

    `level` has means of the new groups, `readable` the shares of their answers that could be read.
    """

    texts: int
    unread: int
    known: int
    level: Seen | None = None
    readable: Seen | None = None


class SeenCell(msgspec.Struct, frozen=True, omit_defaults=True):
    """One cell on one day; `certified` texts that the certificate was made from came as production scores and are left out."""

    anchors: SeenAnchors | None = None
    production: SeenProduction | None = None
    certified: int = 0


class Restart(msgspec.Struct, frozen=True):
    """The watch starts again with a new reference: the number of the start, the hash of its plan, and what ended the start before."""

    start: int
    plan: str
    because: str


class Day(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line: the date, what was seen in each cell (`language/metric`), and the hash of this line and the one before.

    `groups` is the SHA-256 of the file of groups that came on this day for the first time; empty without any. A line with a `restart` has
    no cells. It may have the date of the day after it, and of no other one.
    """

    date: date
    cells: dict[str, SeenCell]
    source: str = ""
    groups: str = ""
    restart: Restart | None = None
    hash: str = ""

    def chained(self, previous: str) -> Day:
        """This day with its hash."""
        bare = msgspec.structs.replace(self, hash="")
        digest = hashlib.sha256(previous.encode() + msgspec.json.encode(bare, order="sorted")).hexdigest()
        return msgspec.structs.replace(self, hash=digest[:32])


class Head(msgspec.Struct, frozen=True):
    """The least that the log has: its number of lines, and the hash of the last of them, or of the plan."""

    lines: int
    hash: str


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder for this process. Raises StoreError where another one holds it."""
    lock = FileLock(folder / ".lock", mode=PRIVATE_FILE)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreError(f"{folder} is in use by another 'harness watch'; wait for it to end") from None
    try:
        yield
    finally:
        lock.release()


def read_log(folder: Path, began: str) -> list[Day]:
    """The days of the log, oldest first; a line that was cut off is not among them. The first line is chained to `began`.

    Raises ContentError with `file:line`, for a line that is no day, that was changed after it was written, or whose date is out of order,
    and for a log that ends before its head.
    """
    path = folder / LOG
    refuse_pipe(path)
    days: list[Day] = []
    hashes = [began]
    written = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    rows = json_rows(path, Day, "a day of a watch") if path.exists() else iter(())
    for line, day in islice(rows, len(written)):
        if msgspec.json.encode(day) != written[line - 1]:
            raise ContentError(f"not a day of a watch: {NOT_AS_WRITTEN}; restore it", path, line)
        if day.chained(hashes[-1]).hash != day.hash:
            problem = "this line, one before it, or watch.json was changed after it was written, or it is of another watch; restore it"
            raise ContentError(problem, path, line)
        if days and not follows(days[-1], day.date):
            raise ContentError(f"{day.date} stands after {days[-1].date}; days stand in their order", path, line)
        days.append(day)
        hashes.append(day.hash)
    head = _read_head(folder)
    if head.lines >= len(hashes):
        raise ContentError(f"it has {len(days):,} lines, and had {head.lines:,}: the last ones were cut off; restore it", path)
    if head.hash != hashes[head.lines]:
        raise ContentError("it is not the head of this log and of watch.json; restore them", folder / HEAD)
    return days


def _read_head(folder: Path) -> Head:
    path = folder / HEAD
    refuse_pipe(path)
    try:
        raw = path.read_bytes()
        head = msgspec.json.decode(raw, type=Head)
    except FileNotFoundError:
        raise ContentError("this file is gone, which says how long the log was; restore it", path) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise ContentError(f"not the head of a log: {err}; restore it", path) from None
    if msgspec.json.encode(head) + b"\n" != raw:
        raise ContentError(f"not the head of a log: {NOT_AS_WRITTEN}; restore it", path)
    if head.lines < 0:
        raise ContentError("a log has 0 lines or more; restore it", path)
    return head


def follows(last: Day, wanted: date) -> bool:
    """Return True if a day may stand after this line."""
    return wanted > last.date or (last.restart is not None and wanted == last.date)


def append_day(folder: Path, day: Day, previous: str) -> Day:
    """Append a day with its hash, and return it. What a killed process left of a line is removed first; hold `locked`."""
    path, added = folder / LOG, day.chained(previous)
    line = msgspec.json.encode(added) + b"\n"
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
        try:
            before = path.read_bytes()
            os.ftruncate(number, before.rfind(b"\n") + 1)
            if os.write(number, line) != len(line):
                raise OSError(None, "the disk is full")
            os.fsync(number)
        finally:
            os.close(number)
    except OSError as err:
        raise StoreError(f"{path} cannot be written ({err.strerror or err}); make room, then run the same command again") from None
    write_head(folder, Head(before.count(b"\n") + 1, added.hash))  # last: a log may have a line that its head does not have yet
    return added


def write_head(folder: Path, head: Head) -> None:
    write_atomic(folder / HEAD, msgspec.json.encode(head) + b"\n", private=True)


def refuse_date(log: Sequence[Day], wanted: date, today: date) -> None:
    """Raise UsageError for a day that the log has, that is before its last one, or that is in the future."""
    if log and wanted == log[-1].date and log[-1].restart is None:
        raise UsageError(f"{wanted} is in the log already; a day is added once")
    if log and not follows(log[-1], wanted):
        raise UsageError(f"{wanted} is before {log[-1].date}, the last day of the log; days are added in their order")
    if wanted > today:
        raise UsageError(f"{wanted} is in the future; today is {today} (UTC)")
