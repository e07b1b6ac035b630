"""The options of a comparison: keys to group by, a filter of items, and the rule that turns annotators into one reference."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypedDict

import msgspec

from harness.errors import UsageError
from harness.stats.intervals.bootstrap import RESAMPLES

Rule = Literal["drop", "median", "strict"]
Level = Literal["item", "system"]
Standardise = Literal["none", "annotator"]

ALWAYS = ("language", "task", "metric", "judge", "variant")
"""The keys that every cell has; `*` where the cell pools."""
POOLED = "*"


class Annotators(msgspec.Struct, frozen=True):
    """The number of annotators that an item needs to count: exactly `least`, or at least that many."""

    least: int
    exactly: bool = False

    def __str__(self) -> str:
        return f"{self.least}" if self.exactly else f"{self.least}+"

    @classmethod
    def parse(cls, text: str) -> Annotators:
        """Read `3` or `2+`. Raises UsageError.

        >>> Annotators.parse("2+")
        Annotators(least=2, exactly=False)
        """
        match = re.fullmatch(r"([1-9]\d{0,3})(\+?)", text)
        if not match:
            raise UsageError(f"'{text}' is not a number of annotators; write 3 for exactly three, 2+ for two or more")
        return cls(int(match[1]), exactly=not match[2])


class Drawing(TypedDict):
    """The random draws of intervals."""

    seed: int
    resamples: int


class CompareOptions(msgspec.Struct, frozen=True):
    """Options of the comparison of judgments with labels."""

    by: tuple[str, ...] = (*ALWAYS, "temperature")
    annotators: Annotators | None = None  # None: two or more; one or more if no item has two, and for systems, whose reference is a mean
    majority: Rule = "drop"
    level: Level = "item"
    where: Mapping[str, tuple[str, ...]] = {}  # the items, metrics, judges or variants to keep
    judges: tuple[str, ...] | None = None
    versus: tuple[str, str] | None = None  # such as ("judge", "x"): every cell has its paired difference from the cell of that judge
    seed: int = 0
    resamples: int = RESAMPLES
    standardise: Standardise = "none"  # of people's scores within annotator, for correlations alone; errors and the like are as given
    intervals: frozenset[str] | None = None  # the statistics that have one in a grid of more than 500 cells; None: all, as in smaller ones

    @property
    def drawing(self) -> Drawing:
        """The seed and the resamples of all intervals."""
        return {"seed": self.seed, "resamples": self.resamples}


BY_METRIC = CompareOptions(by=("language", "metric", "judge", "variant", "temperature"))
"""Cells that pool tasks."""


def of_rule(majority: Rule, annotators: str) -> CompareOptions:
    """Return the options of a board's rule: annotators' aggregate, and the number of annotators that an item needs (`2+`; empty: default).

    >>> of_rule("median", "3").annotators
    Annotators(least=3, exactly=True)
    """
    return CompareOptions(annotators=Annotators.parse(annotators) if annotators else None, majority=majority)


def annotators_needed(options: CompareOptions, most: int) -> Annotators:
    """Return the number of annotators that an item needs to count. `most` is the largest number that any item has.

    >>> str(annotators_needed(CompareOptions(), most=3)), str(annotators_needed(CompareOptions(), most=1))
    ('2+', '1+')
    """
    return options.annotators or Annotators(2 if most > 1 and options.level == "item" else 1)
