"""Options of a watch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from harness.errors import UsageError
from harness.options import Count, Flag, NonNegativeShare, Options, Seed, Share


@dataclass(frozen=True, kw_only=True)
class WatchOptions(Options):
    """How a watch is kept."""

    heading: ClassVar[str] = "how to watch"

    anchors: Annotated[Count, Flag(metavar="N")] = 200
    """labelled texts of a language to draw from"""
    repeats: Annotated[Count, Flag(metavar="N")] = 5
    """how often to ask about each on the first day"""
    per_day: Annotated[Count, Flag(metavar="N")] = 30
    """anchors of a language that are asked each day"""
    alpha: Annotated[Share, Flag(metavar="N")] = 0.05
    """the chance of any false alarm in a cell, over all days of a start"""
    guard: Annotated[Count, Flag(metavar="DAYS")] = 30
    """days with silent anchors until a change of production scores is put down to the texts"""
    tolerance: Annotated[NonNegativeShare, Flag(metavar="N")] = 0.0
    """a change by less does not matter, as a share of the scale"""
    max_age: Annotated[Count, Flag(metavar="DAYS")] = 90
    """the certificate holds so long after a checked day"""
    seed: Annotated[Seed, Flag(metavar="N", setting=True)] = 0
    """of all draws"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha < 1 or not 0 <= self.tolerance < 1:
            raise UsageError("--alpha lies between 0 and 1, and --tolerance from 0 to below 1")
        for name in ("anchors", "repeats", "per_day", "guard", "max_age"):
            if getattr(self, name) < 1:
                raise UsageError(f"--{name.replace('_', '-')} is {getattr(self, name)}; it should be 1 or more")
