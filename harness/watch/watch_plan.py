"""The plan of a watch, fixed on its first day: certificate, judge, cells, reference levels and how anchors are drawn.

`watch.json` holds it, `anchors.jsonl` the labelled texts that the judge is asked again, by id, `certified.txt` hashes of all texts that the
certificate was made from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Literal

import msgspec

from harness.correction.certificate import CertifiedJudge
from harness.errors import ContentError, UsageError
from harness.model import Score
from harness.row_files import read_rows, refuse_other_schema, to_json, to_jsonl, write_together
from harness.watch.daily_log import NOT_AS_WRITTEN
from harness.watch.options import WatchOptions

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
