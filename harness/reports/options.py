"""The options of a comparison that decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from harness.decide.options import DecisionOptions
from harness.measure.options import MeasureOptions
from harness.options import Flag


@dataclass(frozen=True, kw_only=True)
class CompareOptions(MeasureOptions, DecisionOptions):
    """Choose which judges are compared with which labels, what is computed, and when a judge is good enough."""

    heading: ClassVar[str] = "output"

    judges: Annotated[tuple[str, ...] | None, Flag("--judge", "NAME")] = None
    """only this judge; of a table, a column with a judge's scores; panel/<file.toml> adds a panel; repeatable"""
    decide: Annotated[Literal["verdicts", "full"], Flag(setting=True)] = "verdicts"
    """full: also calibration of confidences, and judges compared across languages"""
