"""The forest plot of verdicts as numbers, for the page and the printed figure alike.

Each mark is judge − people (with constructed labels, or where nobody can be compared with people: judge − one constant answer), with the
lower bound that its verdict uses. The page draws marks as inline SVG, `figures.forest` with matplotlib.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.decide.verdicts import Verdict
from harness.model import SIDE
from harness.render.sides import Side, is_baseline, plainest_first
from harness.reports.answer import difference_words, shown_value, style_of

AnyVerdict = Verdict | Mapping[str, Any]
"""A verdict, or the flat object that stands for it in `report.json`."""


@dataclass(frozen=True)
class ForestMark:
    """One language and metric: a difference, the lower bound of its verdict, the margin (None beside a constant), and what is shown."""

    value: float
    bound: float | None
    margin: float | None
    style: str  # `good`: shown for the judge; `bad`: against it; `open`: neither


@dataclass(frozen=True)
class Forest:
    """One judge under one condition: languages from the best to the worst, metrics, and how far the axis reaches to both sides of 0."""

    axis: str
    reach: float
    metrics: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ForestMark | None, ...]], ...]


def forest(verdicts: Sequence[AnyVerdict]) -> Forest:
    """The plot of the verdicts on one judge under one condition."""
    people = any(verdict["gap"] is not None and not verdict["controls"] for verdict in verdicts)
    metrics = tuple(dict.fromkeys(str(verdict["metric"]) for verdict in verdicts))
    marks = {(str(verdict["language"]), str(verdict["metric"])): _mark(verdict, people) for verdict in verdicts}
    worst: dict[str, float] = {}
    for verdict in verdicts:
        language = str(verdict["language"])
        worst[language] = min(worst.get(language, math.inf), shown_value(verdict, people) or 0.0)
    ordered = sorted(worst, key=lambda tag: -worst[tag])
    rows = tuple((tag, tuple(marks.get((tag, metric)) for metric in metrics)) for tag in ordered)
    reach = axis_reach([mark.value for mark in marks.values() if mark])
    return Forest(difference_words(people), reach, metrics, rows)


def forests_of(verdicts: Sequence[Mapping[str, Any]]) -> list[tuple[str, Forest]]:
    """The name and the plot of each judge and condition in the verdicts of a report; baselines have none."""
    sides: dict[Side, list[Mapping[str, Any]]] = {}
    for verdict in verdicts:
        side = tuple(verdict.get(name) for name in SIDE)
        if not is_baseline(side):
            sides.setdefault(side, []).append(verdict)
    return [(_name(side), forest(sides[side])) for side in plainest_first(sides)]


def _name(side: Sequence[Any]) -> str:
    _, judge, variant, temperature, _ = side
    return f"{judge}, {variant}" + (f", T = {temperature:g}" if isinstance(temperature, float) else "")


def _mark(verdict: AnyVerdict, people: bool) -> ForestMark | None:
    value = shown_value(verdict, people)
    if value is None or (verdict["gap"] if people else verdict["base_diff"]) is None:
        return None
    bound = verdict["family_bound"] if people else verdict["base_bound"]
    return ForestMark(value, bound, verdict["margin"] if people else None, style_of(verdict))


def axis_reach(values: Sequence[float]) -> float:
    """How far an axis of differences reaches to both sides of 0: to the largest of them, in tenths, from 0.2 to 1.

    >>> axis_reach([0.03, -0.27]), axis_reach([])
    (0.4, 0.2)
    """
    return min(1.0, max(0.2, math.ceil(10 * max((abs(value) for value in values), default=0.0) + 0.5) / 10))
