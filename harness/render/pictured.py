"""Numbers that the page and the printed figures draw alike: sensitivity by dose, unreadable answers as shares, reliability curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.content.tags import english_name
from harness.correction.probabilities import DO_NOT_HOLD, HOLD
from harness.measure.options import POOLED
from harness.model import Failure
from harness.reports.answer.judged_sides import Side, is_baseline, plainest_first, side_name, side_of
from harness.reports.tables.columns import metric_words
from harness.reports.tables.numbers import counted, percent, signed

SEES_NOTHING = 0.5
"""The sensitivity of a judge that does not see a change."""

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class DosePoint:
    """Sensitivity at one dose, from 0 to 1, with its interval if it has one, and the number of texts."""

    dose: float
    sensitivity: float
    interval: tuple[float, float] | None
    n: int

    @property
    def words(self) -> str:
        return f"dose {self.dose:g}: sensitivity {percent(self.sensitivity, self.interval)}, n {self.n:,}"


@dataclass(frozen=True)
class DoseLine:
    """One language and metric: a point for each dose, from the smallest on."""

    language: str
    metric: str
    points: tuple[DosePoint, ...]

    @property
    def words(self) -> str:
        return f"{english_name(self.language)}, {metric_words(self.metric)}: sensitivity by dose"


@dataclass(frozen=True)
class DoseResponse:
    """One kind of change, asked of one judge under one condition. Axes go from dose 0 to the largest dose."""

    title: str
    kind: str
    largest: float
    lines: tuple[DoseLine, ...]


def dose_responses(rows: Rows) -> list[DoseResponse]:
    """Return what the rows of perturbations say along a dose, the plainest condition first; baselines only where there is no judge.

    Rows count that are about one language and metric, all tasks together, and that have a dose and a sensitivity.
    """
    rows = [row for row in of_judges(rows) if row["task"] == POOLED and POOLED not in (row["language"], row["metric"])]
    rows = [row for row in rows if row.get("dose") and row.get("sensitivity") is not None]
    sides = plainest_first(map(side_of, rows))
    return [response for side in sides for response in _of_side([row for row in rows if side_of(row) == side], side, sides)]


def of_judges(rows: Rows) -> Rows:
    """Return the rows of judges; of baselines where there is no judge."""
    return [row for row in rows if not is_baseline(side_of(row))] or rows


def _of_side(rows: Rows, side: Side, sides: Sequence[Side]) -> Iterator[DoseResponse]:
    for kind in dict.fromkeys(map(_kind, rows)):
        kind_rows = [row for row in rows if _kind(row) == kind]
        doses = sorted({float(row["dose"]) for row in kind_rows})
        title = f"{kind}, dose {' · '.join(f'{dose:g}' for dose in doses)}"
        title = f"{title} – {side_name(side, sides)}" if len(sides) > 1 else title
        points: dict[tuple[str, str], list[DosePoint]] = {}
        for row in sorted(kind_rows, key=lambda row: row["dose"]):
            ends = row.get("sensitivity_ci")
            point = DosePoint(float(row["dose"]), row["sensitivity"], tuple(ends) if ends else None, row["n"])
            points.setdefault((str(row["language"]), str(row["metric"])), []).append(point)
        cells = dict.fromkeys((str(row["language"]), str(row["metric"])) for row in kind_rows)
        yield DoseResponse(title, kind, doses[-1], tuple(DoseLine(*cell, tuple(points[cell])) for cell in cells))


def _kind(row: Mapping[str, Any]) -> str:
    segmenter = row.get("segmenter")
    return f"{row['kind']} ({segmenter})" if segmenter else str(row["kind"])


_LEAST_REACH = 0.1


@dataclass(frozen=True)
class ConditionFailures:
    """One judge under one condition: its name, the number of its judgments, and of those that could not be read, by kind."""

    name: str
    judgments: int
    counts: Mapping[str, int]

    @property
    def shares(self) -> dict[str, float]:
        return {kind: count / self.judgments for kind, count in self.counts.items()}

    @property
    def unreadable(self) -> float:
        return sum(self.counts.values()) / self.judgments


@dataclass(frozen=True)
class FailureShares:
    """Conditions from the plainest on, the kinds that occur in any of them, and how far the axis reaches."""

    kinds: tuple[str, ...]
    reach: float
    conditions: tuple[ConditionFailures, ...]


def failure_shares(rows: Sequence[Mapping[str, Any]]) -> FailureShares | None:
    """Return the picture of a report's failures; None where there is one condition, or every answer could be read."""
    by_side: dict[Side, Mapping[str, Any]] = {side_of(row): row for row in rows}
    kinds = tuple(str(kind) for kind in Failure if any(row["failures"].get(kind) for row in rows))
    if not kinds or len({side[2:] for side in by_side}) < 2:
        return None
    sides = plainest_first(by_side)
    conditions = []
    for side in sides:
        counts = {kind: by_side[side]["failures"].get(kind, 0) for kind in kinds}
        conditions.append(ConditionFailures(side_name(side, sides), by_side[side]["judgments"], counts))
    reach = max(_LEAST_REACH, math.ceil(10 * max(condition.unreadable for condition in conditions)) / 10)
    return FailureShares(kinds, reach, tuple(conditions))


def kind_words(kind: str) -> str:
    return kind.replace("_", " ")


def kind_number(kind: str) -> int:
    """Return the place of a kind among all kinds, by which it has the same colour in every picture."""
    return list(Failure).index(Failure(kind))


Look = Literal["good", "bad", "open"]
_KEY = ("source", "language", "metric")
_HIGHEST_START = 0.5  # axes begin here or lower, at a multiple of a tenth


@dataclass(frozen=True)
class ReliabilityBin:
    """Answers of about one confidence: their mean confidence, the share right with its interval, and their number."""

    confidence: float
    share: float
    interval: tuple[float, float] | None
    n: int

    @property
    def words(self) -> str:
        return f"says {percent(self.confidence)}: right in {percent(self.share, self.interval)}, n {self.n:,}"


@dataclass(frozen=True)
class ReliabilityPanel:
    """One language and metric. `people` is how often a further person is right, None where it is not known."""

    language: str
    metric: str
    side: str
    gap: float
    verdict: str
    people: float | None
    bins: tuple[ReliabilityBin, ...]

    @property
    def look(self) -> Look:
        return "good" if self.verdict == HOLD else "bad" if self.verdict == DO_NOT_HOLD else "open"

    @property
    def gap_words(self) -> str:
        """The gap as it stands in the panel: `+29 points, too sure`; a gap that is rounded to nothing has no word."""
        points = round(100 * self.gap)
        direction = "" if not points else ", too sure" if points > 0 else ", too timid"
        return f"{signed(points) if points else '0'} point{'' if abs(points) == 1 else 's'}{direction}"

    @property
    def words(self) -> str:
        return f"{english_name(self.language)}, {metric_words(self.metric)}: gap {self.gap_words}; {self.verdict}"


@dataclass(frozen=True)
class ReliabilityCurves:
    """Panels from the largest gap to the smallest; both axes go from `start` to 1. `subject` is what all panels share, in words."""

    panels: tuple[ReliabilityPanel, ...]
    start: float
    subject: str


def reliability_curves(section: Mapping[str, Any]) -> ReliabilityCurves | None:
    """Return the curves of the section `probabilities`, those of judges before baselines; None without any."""
    rows: Sequence[Mapping[str, Any]] = [row for row in of_judges(section.get("rows", ())) if row["gap"] is not None]
    if not rows:
        return None
    sides, panels = plainest_first(map(side_of, rows)), []
    people = {_key(row): row["people_right"] for row in section["beside"]}
    for row in sorted(rows, key=lambda row: -abs(row["gap"])):
        bins = [other for other in section["bins"] if _key(other) == _key(row)]
        drawn = (ReliabilityBin(b["confidence"], b["share"], tuple(b["share_ci"]) if b["share_ci"] else None, b["n"]) for b in bins)
        side = side_name(side_of(row), sides) if len(sides) > 1 else ""
        panels.append(
            ReliabilityPanel(str(row["language"]), str(row["metric"]), side, row["gap"], row["verdict"], people[_key(row)], tuple(drawn))
        )
    lowest = min(min(b.confidence, b.share) for panel in panels for b in panel.bins)
    start = max(0.0, min(_HIGHEST_START, math.floor(10 * lowest) / 10))
    metrics, judges = dict.fromkeys(panel.metric for panel in panels), dict.fromkeys(str(row["judge"]) for row in rows)
    shared = [*(judges if len(judges) == 1 else ()), *map(metric_words, metrics if len(metrics) == 1 else ())]
    return ReliabilityCurves(tuple(panels), start, ", ".join(shared))


def curves_words(curves: ReliabilityCurves) -> str:
    """Return how many panels have which verdict, for a caption."""
    holding = sum(panel.verdict == HOLD for panel in curves.panels)
    return f"Probabilities hold in {holding} of {counted(len(curves.panels), 'panel')}."


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*(row.get(name) for name in _KEY), side_of(row))
