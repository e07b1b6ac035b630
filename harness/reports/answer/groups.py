"""The verdicts on one judge in groups: what to use, what not to use, and what is unknown, by its cause."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.decide.verdicts import Verdict
from harness.reports.answer.states import CAUSES, CORRECTED, cause_of, state_of
from harness.reports.answer.words import shown_value, style_of


@dataclass(frozen=True)
class VerdictGroup:
    """Verdicts of one kind under a heading; `says_little` where they are unknown."""

    heading: str
    style: str
    verdicts: tuple[Verdict, ...]
    says_little: bool = False


def groups_of(verdicts: Sequence[Verdict], people: bool) -> Iterator[VerdictGroup]:
    """Yield the verdicts for the judge (best first), against it (worst first), and the unknown ones by their cause."""

    def value(verdict: Verdict) -> float:
        return shown_value(verdict, people) or 0.0

    by_style = {style: [v for v in verdicts if style_of(v) == style] for style in ("good", "bad", "open")}
    controls = verdicts[0].controls
    groups = (
        ("good", "It passes the controls" if controls else "Use it", sorted(by_style["good"], key=value, reverse=True)),
        ("open", "Use it with corrected means only", [v for v in by_style["open"] if state_of(v) == CORRECTED]),
        ("bad", "It fails the controls" if controls else "Do not use it", sorted(by_style["bad"], key=value)),
    )
    for style, heading, group_verdicts in groups:
        if group_verdicts:
            yield VerdictGroup(heading, style, tuple(group_verdicts))
    for cause in CAUSES:
        if unknown := [v for v in by_style["open"] if cause_of(v) == cause]:
            unknown.sort(key=lambda verdict: (verdict.settled_by or 0, -value(verdict)))
            yield VerdictGroup(f"Unknown: {cause}", "open", tuple(unknown), says_little=True)


def beside_people(verdicts: Sequence[Verdict]) -> bool:
    """Return whether any verdict compares the judge with people; else all values are differences from one constant answer."""
    return any(verdict.agreement.gap is not None and not verdict.controls for verdict in verdicts)


def axis_reach(values: Sequence[float]) -> float:
    """Return the limit of an axis of differences on both sides of 0: the largest of them, in tenths, from 0.2 to 1.

    >>> axis_reach([0.03, -0.27]), axis_reach([])
    (0.4, 0.2)
    """
    return min(1.0, max(0.2, math.ceil(10 * max((abs(value) for value in values), default=0.0) + 0.5) / 10))
