"""The thresholds of verdicts, each with its default. All of them are in the signature, because each can change a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from harness.errors import UsageError
from harness.measure.options import MeasureOptions
from harness.options import BAR_CORRELATION, LEAST_EFFECTIVE, AltScoring, Flag, Options, fields_named

if TYPE_CHECKING:
    from harness.content.specs import DatasetCard
    from harness.stats.core.arrays import Kind

Family = Literal["judge", "all"]
Agreement = Literal["exact", "distance"]
Correction = Literal["holm", "by"]
EqualScores = Literal["copies", "own"]

EPSILON = 0.15
"""The discount of the alternative annotator test where neither a flag nor the dataset card states one."""
DEFAULT_BAR = 0.8


def parse_bar(text: str) -> dict[str, float]:
    """Return the bar of each class that `fail=.95,pass=.8` names; the one of all classes, `.9`, is under an empty name.

    Raises UsageError for what is no share between 0 and 1.

    >>> parse_bar(".9"), parse_bar("fail=.95,pass=.8")
    ({'': 0.9}, {'fail': 0.95, 'pass': 0.8})
    """
    bars: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        try:
            bars[name.strip()] = float(number)
        except ValueError:
            raise UsageError(f"--bar {text}: '{part}' should be a share such as .9, or CLASS=SHARE such as fail=.95") from None
        if not 0 < bars[name.strip()] < 1:
            raise UsageError(f"--bar {text}: {number} should lie between 0 and 1, both excluded")
    return bars


@dataclass(frozen=True, kw_only=True)
class DecisionOptions(Options):
    """When a judge is good enough. Shares and levels are fractions."""

    heading: ClassVar[str] = "thresholds of the verdicts (docs/rule.md)"

    margin: Annotated[float, Flag(setting=True)] = 0.1
    """a judge may agree with people this much less than people agree with each other"""
    alpha: Annotated[float, Flag(setting=True)] = 0.05
    """the chance of a false `use` among the cells of one family"""
    correction: Annotated[Correction, Flag(setting=True)] = "holm"
    """for many cells: `holm` (no false `use` but with the chance alpha) or `by` (the expected share of false ones)"""
    family: Annotated[Family, Flag(setting=True)] = "judge"
    """the cells that are corrected together: those of one judge under one condition, or `all`"""
    agreement: Annotated[Agreement, Flag(setting=True)] = "exact"
    """two classes agree if they are equal (`exact`), or the more the closer they are (`distance`; needs ordered classes)"""
    items: Annotated[int, Flag(setting=True)] = 30
    """fewer items with two annotators are too few for any test"""
    groups: Annotated[int, Flag(setting=True)] = 20
    """fewer independent texts are too few for any test"""
    effective_groups: Annotated[float, Flag(setting=True)] = LEAST_EFFECTIVE
    """where groups of texts stand for fewer equal ones, large groups count for fewer texts until they stand for so many"""
    coverage: Annotated[float, Flag(setting=True)] = 0.95
    """a judge has to give a readable score for this share of texts"""
    least_coverage: Annotated[float, Flag(setting=True)] = 0.8
    """below this share a judge fails too often"""
    gain: Annotated[float, Flag(setting=True)] = 1.1
    """correction by few labels is worth its effort from this ratio of effective to actual labels on"""
    power: Annotated[float, Flag(setting=True)] = 0.8
    """the power for which the number of labels that are still needed is computed"""
    epsilon: Annotated[float | None, Flag(setting=True)] = None
    """the discount of the alternative annotator test; None takes that of the dataset card, else 0.15. Its authors advise 0.2 against
    experts, 0.15 against skilled annotators, 0.1 against crowds."""
    alt_scoring: Annotated[AltScoring | None, Flag(setting=True)] = None
    """how the alternative annotator test scores on ordered scales: by equal classes (`accuracy`), or by distance (`neg_rmse`); None takes
    what the dataset card states, else accuracy. On other scales it is accuracy."""
    bar: Annotated[str | None, Flag(metavar="N|CLASS=N,…")] = None
    """where one person labelled each text, the share of each class that a judge has to find (default: 0.8 of each of two classes)"""
    bar_correlation: Annotated[float, Flag(setting=True)] = BAR_CORRELATION
    """what texts of one group have in common at least, where a judge is held against a bar: from 0 (what is seen) to 1 (groups count)"""

    equal_scores: Annotated[EqualScores, Flag(setting=True)] = "copies"
    """scores that equal a person's in every text may be `copies` of the labels, and no verdict rests on them; `own` where you know that
    the judge gave them itself"""

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_bar(self.bar or str(DEFAULT_BAR))
        for name in ("margin", "alpha", "power"):
            if not 0 < getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name):g}; it should be a number between 0 and 1, both excluded")
        for name in ("coverage", "least_coverage", "bar_correlation"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is {getattr(self, name):g}; it should be a number from 0 to 1")
        if self.epsilon is not None and not 0 <= self.epsilon < 1:
            raise UsageError(f"epsilon is {self.epsilon:g}; it should be at least 0 and below 1")
        if self.least_coverage > self.coverage:
            raise UsageError(f"least_coverage {self.least_coverage:g} is above coverage {self.coverage:g}; it should be at most that")
        if self.items < 2 or self.groups < 2:
            raise UsageError("items and groups should be 2 or more: nothing can be tested with one text")
        if not 2 <= self.effective_groups < math.inf:
            raise UsageError(f"effective_groups is {self.effective_groups:g}; it should be a number of 2 or more")
        if self.gain < 1:
            raise UsageError(f"gain is {self.gain:g}; it should be 1 or more")

    def __str__(self) -> str:
        """Return all thresholds, as signatures print them: `margin=0.1 alpha=0.05 …`; those of a bar where one is used or they differ.

        That equal scores are the judge's own is stated where it is said.
        """
        unused = {
            "bar": self.bar is None,
            "bar_correlation": self.bar is None and self.bar_correlation == BAR_CORRELATION,
            "equal_scores": self.equal_scores == "copies",
        }
        stated = (name for name in fields_named(DecisionOptions) if not unused.get(name))
        values = ((name, getattr(self, name)) for name in stated)
        texts = {name: "card" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for name, value in values}
        return " ".join(f"{name}={text}" for name, text in texts.items())

    def with_bar(self) -> DecisionOptions:
        """Return the same thresholds with the bar spelt out, for what rests on it."""
        return replace(self, bar=self.bar or f"{DEFAULT_BAR:g}")

    def discount(self, card: float | None) -> float:
        """Return the epsilon that holds for data whose card states `card`."""
        return next(value for value in (self.epsilon, card, EPSILON) if value is not None)

    def alternative_scoring(self, card: AltScoring | None, kind: Kind) -> AltScoring:
        """Return how the alternative annotator test scores on a scale of some kind, for data whose card states `card`."""
        return "accuracy" if kind == "nominal" else self.alt_scoring or card or "accuracy"

    def signed(self, cards: Iterable[DatasetCard]) -> str:
        """Return the thresholds for a signature, with the scoring that the cards of the data state where no flag does."""
        stated = {card.alt_scoring for card in cards}
        [scoring] = stated if len(stated) == 1 else {self.alt_scoring}
        return str(replace(self, alt_scoring=self.alt_scoring or scoring))


@dataclass(frozen=True, kw_only=True)
class CompareOptions(MeasureOptions, DecisionOptions):
    """Choose which judges are compared with which labels, what is computed, and when a judge is good enough."""

    heading: ClassVar[str] = "output"

    judges: Annotated[tuple[str, ...] | None, Flag("--judge", "NAME")] = None
    """only this judge; of a table, a column of scores or a name of a rater; panel/<file.toml> adds a panel; repeatable"""
    decide: Annotated[Literal["verdicts", "full"], Flag(setting=True)] = "verdicts"
    """full: also calibration of confidences, and judges compared across languages"""
