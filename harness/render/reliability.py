"""Reliability curves as the page and the printed figure draw them: a panel a language, with its gap and people's ceiling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.content.tags import english_name
from harness.correction.probability_rule import DO_NOT_HOLD, HOLD
from harness.render.pictured import of_judges
from harness.render.sides import plainest_first, side_name, side_of
from harness.reports.tables.numbers import counted, percent, signed
from harness.reports.tables.titles import metric_words

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
