"""Options of commands and functions that use a judge's scores: what is estimated, which errors are tolerated, what label sets promise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Literal

from harness.decide.options import DecisionOptions
from harness.errors import UsageError
from harness.measure.options import JudgeSelection, MajorityRule
from harness.options import Amount, Count, Flag, Names, Options, Reads, Seed, Share, key_and_value, part_of

Confidence = Literal["probability", "repeats", "votes"]
NumberRule = Literal["linear", "isotonic"]
Per = Literal["group", "text"]


@dataclass(frozen=True, kw_only=True)
class CorrectOptions(JudgeSelection):
    """Choose the labels that correct a judge's scores, and what is estimated."""

    heading: ClassVar[str] = "what to estimate"

    by: Annotated[Names, Flag(metavar="KEYS")] = ("system",)
    """keys of the items to group by, beside language, metric, judge and condition (default: system)"""
    shares: Annotated[bool, Flag()] = False
    """the shares of all classes instead of the mean"""
    share_of: Annotated[str | None, Flag("--class", "CLASS")] = None
    """the share of this class instead of the mean"""
    versus: Annotated[tuple[str, str] | None, Reads(partial(key_and_value, "--versus system=NAME")), Flag(metavar="KEY=NAME")] = None
    """add the difference of each system from one: system=NAME"""
    prevalence_shift: Annotated[bool, Flag()] = False
    """the labels come from texts with other class shares: correct by the judge's error rates (Rogan-Gladen)"""
    borrow: Annotated[Literal["languages"] | None, Flag()] = None
    """add estimates that shrink towards the judge's error in the other languages"""

    def __str__(self) -> str:
        """Return the options as signatures print them."""
        from harness.stats.estimation.prediction_powered import SHARE_FREEDOM  # late: options are read without numpy

        if self.prevalence_shift:
            return "correct shift=yes"
        return f"correct shift=no share_freedom={SHARE_FREEDOM}{' borrow=languages' if self.borrow else ''}"


@dataclass(frozen=True, kw_only=True)
class AcceptedErrors(Options):
    """The errors that are tolerated among answers that no person checks."""

    heading: ClassVar[str] = "what to guarantee of automatic acceptance"

    alpha_risk: Annotated[Share, Flag("--alpha-risk --risk", "N")] = 0.1
    """the tolerated share of accepted answers that differ from people's label"""
    delta: Annotated[Share, Flag(metavar="N", setting=True)] = 0.1
    """the tolerated chance that more of them differ"""
    confidence: Annotated[Confidence | None, Flag()] = None
    """of an answer: its token's probability, its share of the repeats, or of several judges' votes (default: probability, else repeats)"""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha_risk", "delta"):
            if not 0 < getattr(self, name) < 1:
                flag = f"--{name.replace('_', '-')}"
                raise UsageError(f"{flag} is {getattr(self, name):g}; it should be a number between 0 and 1, both excluded")


@dataclass(frozen=True, kw_only=True)
class AcceptOptions(AcceptedErrors, JudgeSelection, MajorityRule):
    """Choose the tolerated errors of accepted answers, and the labels that test them."""

    heading: ClassVar[str] = AcceptedErrors.heading

    sampling: Annotated[Literal["random"] | None, Flag()] = None
    """take the labelled texts as a random sample, though the dataset card does not say so"""

    def __str__(self) -> str:
        """Return the options as signatures print them."""
        taken = f" sampling={self.sampling}" if self.sampling else ""
        from harness.stats.estimation.acceptance import EQUAL_GROUPS  # late, as above
        from harness.stats.intervals.cluster_mean import LEAST_CORRELATION

        confidence = self.confidence or "default"
        constants = f"variance=cr2 correlation={LEAST_CORRELATION:g} equal_groups={EQUAL_GROUPS}"
        return f"accept alpha={self.alpha_risk:g} delta={self.delta:g} confidence={confidence} {constants}{taken}"


@dataclass(frozen=True, kw_only=True)
class SetOptions(Options):
    """Choose what label sets promise."""

    heading: ClassVar[str] = "what label sets promise"

    level: Annotated[Share, Flag(metavar="N")] = 0.9
    """the share of new texts whose set holds a person's score"""
    per: Annotated[Per, Flag(setting=True)] = "group"
    """group: a random text of a new random group (default); text: a random text, whose sets are larger"""
    this_draw: Annotated[Share | None, Flag(metavar="N", setting=True)] = None
    """hold the level with this probability for this draw of labels, not on average"""
    seed: int = 0
    """of the halves, and of the one label that stands for a group"""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("--level", self.level), ("--this-draw", self.this_draw)):
            if value is not None and not 0.5 <= value < 1:
                raise UsageError(f"{name} is a share from 0.5 to below 1, such as 0.9; got {value:g}")
        if self.this_draw is not None and self.per == "text":
            raise UsageError("--this-draw holds for a random text of a new random group; leave --per text out")

    def __str__(self) -> str:
        """Return the promise as signatures print it."""
        return f"sets={self.level:g}/{self.per}" + (f"/this-draw={self.this_draw:g}" if self.this_draw is not None else "")

    @property
    def miscoverage(self) -> float:
        """Return the share of new texts whose set may miss a person's score."""
        return round(1 - self.level, 9)

    @property
    def promise(self) -> str:
        """Return in a sentence whose score is in the set, and how often."""
        whose = "a random text of a new random group" if self.per == "group" else "a random text, in groups no larger than those labelled,"
        how = f"in {100 * self.level:g} of 100 such texts"
        if self.this_draw is not None:
            return f"a set holds a person's score of {whose} {how}, with a probability of {self.this_draw:g} for this draw of labels"
        return f"a set holds a person's score of {whose} {how}, on average over draws of the labels"


@dataclass(frozen=True, kw_only=True)
class LengthCovariate(Options):
    """Choose what a map to people's scores reads beside the judge's score."""

    heading: ClassVar[str] = "how to learn"

    covariate: Annotated[Literal["length"] | None, Flag("--with")] = None
    """let the map of ordered classes read the text's length too"""


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions(LengthCovariate, SetOptions, JudgeSelection):
    """By which labels a judge's scores are mapped to people's, and what label sets promise."""

    heading: ClassVar[str] = "how to learn"

    numbers: Annotated[NumberRule, Flag()] = "linear"
    """the map of scores that are numbers"""
    seed: Annotated[Seed, Flag(metavar="N", setting=True)] = 0
    """of the folds and of the halves"""

    @property
    def sets(self) -> SetOptions:
        """Return what the label sets promise."""
        return part_of(self, SetOptions)

    def __str__(self) -> str:
        """Return the options as signatures print them."""
        return f"calibrate {self.sets} numbers={self.numbers}{' with=length' if self.covariate else ''}"


@dataclass(frozen=True, kw_only=True)
class CertifyOptions(LengthCovariate, SetOptions, AcceptedErrors, DecisionOptions, JudgeSelection, MajorityRule):
    """By which labels a judge is certified, and what its certificate promises: verdicts, accepted answers and label sets."""


@dataclass(frozen=True, kw_only=True)
class LabelBudgetOptions(DecisionOptions, JudgeSelection):
    """Choose the labels of which more are planned, and their use."""

    heading: ClassVar[str] = "what the labels are for"

    half_width: Annotated[float, Flag(metavar="SHARE")] = 0.05
    """the wanted half-width of the interval of agreement"""
    borrow: Annotated[Literal["languages"] | None, Flag()] = None
    """add how many labels a new language needs for a corrected mean, if the labelled languages help it"""


FOLDS = 5
"""Parts of the texts; confidences of each part are refitted by what the others say."""


@dataclass(frozen=True, kw_only=True)
class ProbabilityOptions(JudgeSelection, MajorityRule):
    """When probabilities are believed, and by which labels that is tested. Shares and levels are fractions."""

    heading: ClassVar[str] = "when they are believed"

    margin: Annotated[Share, Flag(metavar="N")] = 0.05
    """confidence may differ this much from the share that is right"""
    alpha: Annotated[Share, Flag(metavar="N")] = 0.05
    """the chance that any verdict of one kind is false among the languages and metrics of a judge"""
    groups: int = 20
    """fewer independent texts are too few for any test"""
    seed: Annotated[Seed, Flag(metavar="N", setting=True)] = 0
    """of the folds of a refit, and of intervals of shares"""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("margin", "alpha"):
            if not 0 < getattr(self, name) < 1:
                raise UsageError(f"--{name} is {getattr(self, name):g}; it should be a number between 0 and 1, both excluded")

    def __str__(self) -> str:
        """Return the options as signatures print them."""
        return f"probabilities margin={self.margin:g} alpha={self.alpha:g} groups={self.groups} folds={FOLDS} variance=cr2"


@dataclass(frozen=True, kw_only=True)
class SampleOptions(Options):
    """Choose which texts are drawn to be labelled next, and how."""

    heading: ClassVar[str] = "flags"

    budget: Annotated[Count | None, Flag(metavar="N")] = None
    """how many texts (default: what 'labels needed' says is missing)"""
    language: Annotated[str | None, Flag("--lang", "TAG")] = None
    """the language of the texts (default: the only one)"""
    judge: Annotated[str | None, Flag(metavar="NAME")] = None
    """whose scores make the strata (default: the only judge; without judgments there is one stratum)"""
    metric: Annotated[str | None, Flag(metavar="NAME")] = None
    """on which metric (default: the only one)"""
    allocation: Annotated[Literal["proportional", "neyman"], Flag()] = "proportional"
    """neyman: more texts where the judge is less certain; loses where its certainty says nothing"""
    least: Annotated[Count, Flag(metavar="N")] = 2
    """fewest texts of a stratum"""
    least_per_class: Annotated[Amount, Flag(metavar="N")] = 0
    """fewest texts of each class of the judge's scores, or all where a class has fewer; for rare classes"""
    seed: Annotated[Seed, Flag(metavar="N")] = 0
    """seed of the draw"""
    labelled: bool = False
    """draw among the texts that people labelled, such as anchors; False: among those that nobody labelled"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.language is not None:
            from harness.content.tags import tag_of_words  # late: the names of all languages take time

            object.__setattr__(self, "language", tag_of_words(self.language))
