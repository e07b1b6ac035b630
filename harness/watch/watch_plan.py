"""The plan of a watch, fixed on its first day: certificate, judge, cells, reference levels and how anchors are drawn.

`watch.json` holds it, `anchors.jsonl` the labelled texts that the judge is asked again, by id, `certified.txt` hashes of all texts that the
certificate was made from.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Literal

import msgspec
from filelock import FileLock, Timeout

from harness.correction.certificate import CertifiedJudge
from harness.errors import ContentError, StoreError, UsageError, refuse_pipe
from harness.model import Score
from harness.row_files import PRIVATE_FILE, json_rows, read_rows, refuse_other_schema, to_json, to_jsonl, write_atomic, write_together
from harness.watch.watch_options import WatchOptions

PLAN, ANCHORS, CERTIFICATE, CERTIFIED = "watch.json", "anchors.jsonl", "certificate.json", "certified.txt"
SCHEMA_VERSION = 2
Stream = Literal["anchors", "production"]
STREAMS: tuple[Stream, ...] = ("anchors", "production")
Quantity = Literal["agreement", "level", "readable"]


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """The level of one quantity in the certified period: the mean of `n` independent values in [0, 1], and its one-sided limits.

    `stream` is where it is watched. Agreement is that of the judge with people on anchors; the level is the mean score from 0 to 1;
    `readable` is the share of answers that can be read.
    """

    stream: Stream
    quantity: Quantity
    mean: float
    n: int
    lower: float
    upper: float


class WatchedCell(msgspec.Struct, frozen=True, kw_only=True):
    """One language and metric.

    Attributes:
        classes: of the scale; empty for scores that are numbers.
        levels: for each class its place from 0 to 1; on a scale without order 1 for the watched class, else 0.
        span: lowest and highest score; None for classes.
        watched_class: on a scale without order, the class whose share is watched.
        references: of the two streams.
    """

    language: str
    metric: str
    classes: tuple[Score, ...]
    levels: tuple[float, ...]
    span: tuple[float, float] | None
    watched_class: Score | None
    references: tuple[Reference, ...]

    @property
    def name(self) -> str:
        return f"{self.language}/{self.metric}"

    def level(self, score: Score) -> float:
        """A score's place from 0 to 1. Raises UsageError for a score off the scale."""
        if self.span is not None and not isinstance(score, str):
            low, high = self.span
            if low <= score <= high:
                return (float(score) - low) / (high - low)
        elif score in self.classes:
            return self.levels[self.classes.index(score)]
        raise UsageError(f"score {score!r} is off the scale of '{self.metric}' in the certificate")

    def agreement(self, score: Score | None, anchor: Anchor) -> float:
        """The share of an anchor's people whom a score agrees with; of numbers 1 - the distance from their mean.

        An answer that cannot be read agrees with nobody.
        """
        if score is None:
            return 0.0
        if self.span is not None:
            return 1 - abs(self.level(score) - self.level(anchor.mean_label or 0.0))
        self.level(score)
        return anchor.labels.get(str(score), 0) / sum(anchor.labels.values())


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled text that the judge is asked again, on one metric: people's labels by class, or the mean of labels that are numbers."""

    item_id: str
    language: str
    metric: str
    labels: dict[str, int]
    mean_label: float | None = None


class WatchPlan(msgspec.Struct, frozen=True, kw_only=True):
    """`watch.json`.

    Attributes:
        harness: the version of the program that made it.
        certificate: SHA-256 of the certificate that the watch is kept of.
        judge: who is watched.
        run: the folder of the run that is asked again; None for recorded judgments, whose answers are handed in.
        data: id of the certified data.
        since: the first day.
        anchors: SHA-256 of anchors.jsonl.
        certified: SHA-256 of certified.txt.
        nonce: random, so that no other watch has the same plan, whose log would pass for this one's.
    """

    schema_version: int
    harness: str
    certificate: str
    judge: CertifiedJudge
    run: str | None
    data: str
    since: date
    options: WatchOptions
    cells: tuple[WatchedCell, ...]
    anchors: str
    certified: str
    nonce: str

    @property
    def sha256(self) -> str:
        """The hash of everything in it, to which the first line of the log is chained."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()


def write_plan(folder: Path, plan: WatchPlan, anchors: tuple[Anchor, ...], certified: Sequence[str], certificate: str) -> None:
    """Write the four files of a new watch, all or none."""
    files: Mapping[Path, bytes | str] = {
        folder / ANCHORS: to_jsonl(anchors),
        folder / CERTIFIED: "".join(f"{key}\n" for key in certified),
        folder / CERTIFICATE: certificate,
        folder / PLAN: to_json(plan),  # last: a folder without it is no watch
    }
    write_together(files, private=True)


def anchors_hash(anchors: tuple[Anchor, ...]) -> str:
    return hashlib.sha256(to_jsonl(anchors)).hexdigest()


def certified_hash(certified: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(certified).encode()).hexdigest()


def read_plan(folder: Path) -> WatchPlan:
    """Read `watch.json`. Raises UsageError where there is none, ContentError if it is not what `watch init` wrote."""
    path = folder / PLAN
    if not path.is_file():
        raise UsageError(f"{folder} holds no watch; begin one with 'harness watch init {folder} RUN_OR_DIR --certificate FILE'")
    raw = path.read_bytes()
    refuse_other_schema(raw, SCHEMA_VERSION, path, "begin another watch with 'harness watch init'")
    try:
        plan = msgspec.json.decode(raw, type=WatchPlan)
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise ContentError(f"not the plan of a watch: {err}", path) from None
    if to_json(plan).encode() != raw:
        raise ContentError(f"not the plan of a watch: {NOT_AS_WRITTEN}; restore it", path)
    return plan


def read_anchors(folder: Path, plan: WatchPlan) -> tuple[Anchor, ...]:
    """Read `anchors.jsonl`. Raises ContentError if it is not the file that the watch began with."""
    path = folder / ANCHORS
    rows = []
    for line, row in read_rows(path):
        try:
            rows.append(msgspec.convert(row, Anchor))
        except msgspec.ValidationError as err:
            raise ContentError(f"not an anchor: {err}", path, line) from None
    anchors = tuple(rows)
    if hashlib.sha256(path.read_bytes()).hexdigest() != plan.anchors:
        raise ContentError("the anchors are not those that the watch began with; restore the file, or begin another watch", path)
    return anchors


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
    head_file = folder / HEAD
    refuse_pipe(head_file)
    try:
        raw = head_file.read_bytes()
        head = msgspec.json.decode(raw, type=Head)
    except FileNotFoundError:
        raise ContentError("this file is gone, which says how long the log was; restore it", head_file) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise ContentError(f"not the head of a log: {err}; restore it", head_file) from None
    if msgspec.json.encode(head) + b"\n" != raw:
        raise ContentError(f"not the head of a log: {NOT_AS_WRITTEN}; restore it", head_file)
    if head.lines < 0:
        raise ContentError("a log has 0 lines or more; restore it", head_file)
    if head.lines >= len(hashes):
        raise ContentError(f"it has {len(days):,} lines, and had {head.lines:,}: the last ones were cut off; restore it", path)
    if head.hash != hashes[head.lines]:
        raise ContentError("it is not the head of this log and of watch.json; restore them", folder / HEAD)
    return days


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
