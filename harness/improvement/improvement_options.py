"""Options of the choice of a better judge and of the explanation of a judge's errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from harness.measure.options import JudgeSelection, MajorityRule
from harness.options import Flag, Names, Seed, Share
from harness.text import as_names

USUAL_COVARIATES = ("length", "language", "system")


@dataclass(frozen=True, kw_only=True)
class ImproveOptions(JudgeSelection, MajorityRule):
    """By which labels a judge or setting is chosen and confirmed, and how."""

    heading: ClassVar[str] = "how to choose and confirm"

    start: Annotated[str | None, Flag(metavar="NAME")] = None
    """the judge or setting to beat (default: the plainest of the first judge)"""
    share: Annotated[Share, Flag(metavar="N")] = 0.6
    """share of independent texts that choose; others confirm"""
    keep_within: Annotated[Share, Flag(metavar="N")] = 0.1
    """a language gets the choice only where it is shown not to lose more agreement than this"""
    alpha: float = 0.05
    """the level of the confirming test"""
    seed: Annotated[Seed, Flag(metavar="N", setting=True)] = 0
    """seed of the division"""
    reuse: Annotated[bool, Flag()] = False
    """confirm on labels that have confirmed before, at a stricter level"""

    def as_json(self) -> dict[str, Any]:
        """Return how it is chosen and confirmed, for programs."""
        values = {name: getattr(self, name) for name in ("start", "share", "keep_within", "alpha", "seed", "reuse")}
        return {"margin" if name == "keep_within" else name: value for name, value in values.items()}

    def signed(self, level: float) -> str:
        """Return the options as signatures print them."""
        return f"start={self.start or 'first'} share={self.share:g} margin={self.keep_within:g} level={level:g} seed={self.seed}"


@dataclass(frozen=True, kw_only=True)
class ExplainOptions(JudgeSelection):
    """Choose the errors of a judge that are explained, and by what."""

    by: Annotated[Names | None, Flag(metavar="KEYS")] = None
    """what errors may follow: length, language, system, script, or a key of the items (default: length,language,system)"""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "by", as_names(self.by) if self.by else None)

    def __str__(self) -> str:
        """Return the options as signatures print them."""
        return f"explain by={','.join(self.by or USUAL_COVARIATES)}"
