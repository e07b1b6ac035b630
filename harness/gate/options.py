"""Options of a check against a policy, beside the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from harness.options import Flag, Options


@dataclass(frozen=True, kw_only=True)
class GateOptions(Options):
    """Choose what a run is compared with, and what its published data mean."""

    heading: ClassVar[str] = "flags"

    baseline: Annotated[Any, Flag(metavar="RUN_OR_DIR")] = None
    """an earlier run of the same items and labels, for max_drop"""
    card: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """dataset card of the published data in the folder; see 'harness data list'"""
