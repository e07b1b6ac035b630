"""Unreadable answers as shares of each condition's judgments, for the page and the printed figure alike."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.model import Failure
from harness.render.sides import Side, plainest_first, side_name, side_of

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
    """The picture of a report's failures; None where there is one condition, or every answer could be read."""
    by_side: dict[Side, Mapping[str, Any]] = {side_of(row): row for row in rows}
    kinds = tuple(str(kind) for kind in Failure if any(row["failures"].get(kind) for row in rows))
    if not kinds or len({side[2:] for side in by_side}) < 2:
        return None
    sides = plainest_first(by_side)
    conditions = tuple(
        ConditionFailures(
            side_name(side, sides), by_side[side]["judgments"], {kind: by_side[side]["failures"].get(kind, 0) for kind in kinds}
        )
        for side in sides
    )
    reach = max(_LEAST_REACH, math.ceil(10 * max(one.unreadable for one in conditions)) / 10)
    return FailureShares(kinds, reach, conditions)


def kind_words(kind: str) -> str:
    return kind.replace("_", " ")


def kind_number(kind: str) -> int:
    """The place of a kind among all kinds, by which it has the same colour in every picture."""
    return list(Failure).index(Failure(kind))
