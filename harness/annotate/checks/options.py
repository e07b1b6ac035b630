"""Options of a check of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from harness.measure.options import LabelSelection, MajorityRule
from harness.options import Flag, Names, Seed
from harness.text import as_names


@dataclass(frozen=True, kw_only=True)
class LabelCheckOptions(LabelSelection, MajorityRule):
    """Select the labels that are checked, and the keys to group by."""

    heading: ClassVar[str] = "how to check"

    by: Annotated[Names, Flag(metavar="KEYS")] = ("language", "task", "metric")
    """keys to group by (default: language,task,metric); system adds each person's means by system"""
    seed: Annotated[Seed, Flag(metavar="N", setting=True)] = 0
    """seed for the bootstrap"""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "by", as_names(self.by))
