"""The decision table: the tests of one cell lead to a verdict. The first rule that applies decides."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import msgspec

from harness.decide.options import DecisionOptions
from harness.model import BY_PEOPLE, Basis
from harness.text import one_line

VerdictName = Literal["use", "use corrected", "do not use", "too few labels", "no verdict"]
Controls = Literal["passes", "fails", "not shown"]


class DecisionInputs(msgspec.Struct, frozen=True):
    """The input of the decision table.

    Attributes:
        labels: who gave the labels: `native`, `people`, `constructed` or `model`; `mixed` for several.
        n, groups: items with two annotators, and independent texts.
        one_class: the judge gives one class in at least 99 % of its answers although people's commonest has less than 95 %, and is shown to
            vary less than people do.
        coverage, coverage_upper: share of items with a readable score, and its 95 % upper limit.
        q_use, q_worse, q_base_worse: corrected p of "no more than the margin worse than people, and better than the baseline", of "more
            than the margin worse than people", of "worse than the baseline"; 1 where a test is undefined.
        sampling: how the items were drawn: `random`, `convenience` or `unknown`.
        gain: effective labels per label, if the judge's scores of many further texts are corrected by the labels.
        interval: whether scores are numbers.
        basis: what `q_use` and `q_worse` are about: people's agreement, or a bar that the judge is held against.
        unread: whether more than half of the judge's answers cannot be read, here or over all cells of the judge and condition.
        copied: whether the judge's scores equal people's in every text, and nobody says that they are its own.
        below_bar: whether what speaks against the judge is the bar.
        aggregate: whether a label is one released score that several people were made into, as `annotators = "aggregate"` says.
    """

    labels: str
    n: int
    groups: int
    one_class: bool
    coverage: float
    coverage_upper: float
    q_use: float
    q_worse: float
    q_base_worse: float
    sampling: str
    gain: float
    interval: bool = False
    aggregate: bool = False
    unread: bool = False
    copied: bool = False
    basis: Basis = "people"
    below_bar: bool = False


class Decision(NamedTuple):
    """A verdict and its reason, empty for `use`."""

    verdict: VerdictName
    reason: str


NOT_NATIVE = Decision("no verdict", "labels are not native")
UNREAD = Decision("no verdict", "most answers cannot be read")
"""A set-up that does not work says nothing of a judge, neither for nor against it."""
COPIES = Decision("no verdict", "the scores may be copies of people's")
"""Agreement with what was copied says nothing for a judge."""
NOBODY = Decision("no verdict", "nobody to compare with")
"""Numbers of one person a text, or one released score made from several people: how far two people are apart is unknown, and more texts
of the kind would not show it."""
FEW_TEXTS = "fewer than {} independent texts"
FEW_ITEMS = "fewer than {} items with two annotators"
ONE_CLASS = Decision("do not use", "one class for everything")
FAILS = Decision("do not use", "fails too often")
WORSE = Decision("do not use", "shown worse than people by more than the margin")
BASE_WORSE = Decision("do not use", "shown worse than the baseline")  # a code of JSON, which stays; people read "a constant answer"
NEITHER = Decision("too few labels", "neither is shown")
BELOW_BAR = Decision("do not use", "finds less than the bar of a class")
BAR_NOT_SHOWN = Decision("too few labels", "neither above nor below the bar is shown")
CORRECTED_WORSE = Decision("use corrected", "as it is: shown worse")
CORRECTED = Decision("use corrected", "as it is: not shown")


def decide(cell: DecisionInputs, options: DecisionOptions) -> Decision:
    """Return what a judge may be used for in one cell. Scores that may be copies speak for no use; what is shown against them stays.

    >>> from harness.decide.options import DecisionOptions
    >>> tested = DecisionInputs("native", 200, 200, False, 0.99, 1.0, 0.01, 1.0, 1.0, "random", 1.3)
    >>> decide(tested, DecisionOptions())
    Decision(verdict='use', reason='')
    """
    if cell.labels not in BY_PEOPLE:
        decision = NOT_NATIVE
    elif cell.unread:
        decision = UNREAD
    elif not cell.n and cell.basis == "people" and cell.q_base_worse <= options.alpha:  # this needs no second person
        decision = BASE_WORSE
    elif (cell.interval or cell.aggregate) and not cell.n and cell.basis == "people":
        decision = NOBODY
    elif cell.basis == "people" and not has_enough(cell, options):
        few = FEW_ITEMS.format(options.items) if cell.n < options.items else FEW_TEXTS.format(options.groups)
        decision = Decision("too few labels", few)
    elif cell.one_class:
        decision = ONE_CLASS
    elif cell.coverage_upper < options.least_coverage:
        decision = FAILS
    elif cell.q_use <= options.alpha and cell.coverage >= options.coverage:
        decision = Decision("use", "")
    else:
        worse, base_worse = cell.q_worse <= options.alpha, cell.q_base_worse <= options.alpha
        if cell.sampling == "random" and cell.gain >= options.gain:
            decision = CORRECTED_WORSE if worse or base_worse else CORRECTED
        elif worse:
            decision = BELOW_BAR if cell.basis == "bar" or cell.below_bar else WORSE
        elif base_worse:
            decision = BASE_WORSE
        else:
            decision = BAR_NOT_SHOWN if cell.basis == "bar" else NEITHER
    return COPIES if cell.copied and decision.verdict != "do not use" and decision not in (NOT_NATIVE, UNREAD) else decision


class _Counted(Protocol):
    @property
    def n(self) -> int: ...
    @property
    def groups(self) -> int: ...


def has_enough(texts: _Counted, options: DecisionOptions) -> bool:
    """Return True if items and independent texts are enough for tests to mean anything; only such cells are members of a family."""
    return texts.n >= options.items and texts.groups >= options.groups


class _Labelled(_Counted, Protocol):
    @property
    def labels(self) -> str: ...
    @property
    def labelled(self) -> int: ...


def has_enough_for_a_constant(texts: _Labelled, options: DecisionOptions) -> bool:
    """Return True for texts of one score each that are enough to hold a judge against a constant answer, which needs no second person."""
    return texts.labels in BY_PEOPLE and not texts.n and texts.labelled >= options.items and texts.groups >= options.groups


def passes_controls(q_better: float | None, cell: DecisionInputs, options: DecisionOptions) -> Controls:
    """Return what constructed labels can say: whether a judge passes the controls, which is necessary and not sufficient.

    Args:
        q_better: corrected p of "better than the baseline"; None where it is undefined.
        cell: the other tests.
        options: the thresholds.
    """
    if cell.unread:
        return "not shown"
    if cell.q_base_worse <= options.alpha or cell.one_class:
        return "fails"
    return "passes" if q_better is not None and q_better <= options.alpha and cell.coverage >= options.coverage else "not shown"


BaselineSide = Literal["above", "below", "not shown"]


class VerdictWords(msgspec.Struct, frozen=True):
    """The words of a verdict.

    Attributes:
        sentence: the verdict for a reader.
        reasons: the tests that the judge did not pass, as clauses of the sentence.
        obstacles: what stands against `use`: shown are `worse` (than people), `base_worse` (than the baseline), `constant` (one class for
            everything) or `failures`; not shown are `people`, `baseline`, `coverage`, or `cells` (each alone, but not among so many
            cells); `below_bar` (shown) and `bar` (not shown to be above
            it) where one person labelled each text; `labels` are too few; no text has two `annotators`.
        not_for: what a `use` does not cover.
    """

    sentence: str
    reasons: tuple[str, ...]
    obstacles: tuple[str, ...]
    not_for: tuple[str, ...]


_AGGREGATES = {"commonest": "commonest score", "median": "median", "mean": "mean"}


class CopiedLabels(msgspec.Struct, frozen=True, omit_defaults=True):
    """A judge's scores that equal people's in every text of a cell: they may be copies, of which agreement shows nothing.

    Where a judge's scores equal one person's in nearly every text and those of the others much less often, this is only said.

    Attributes:
        annotator: whose scores they equal; None for an aggregate of each text's scores.
        texts: the texts that both scored.
        aggregate: which one, of several people.
        equal: in how many of the texts they equal these scores; None for all.
        others: the share of the other people's scores of these texts that they equal, where that is not in all.
    """

    annotator: str | None
    texts: int
    aggregate: Literal["commonest", "median", "mean"] | None = None
    equal: int | None = None
    others: float | None = None

    @property
    def nearly(self) -> bool:
        """Whether the scores differ in some text. No verdict changes then."""
        return self.equal is not None

    @property
    def words(self) -> str:
        """The equal scores, as a clause."""
        whose = f"people's {_AGGREGATES[self.aggregate]}" if self.aggregate else f"that of '{one_line(str(self.annotator))}'"
        if self.equal is not None and self.others is not None:
            others = f"{100 * self.others:.0f} %"
            return f"its score is {whose} in {self.equal:,} of {self.texts:,} texts, and the other people's in {others} of cases"
        return f"its score is {whose} in every one of {self.texts:,} texts"

    @property
    def doubt(self) -> str:
        """What follows from the equal scores, as a clause."""
        if self.nearly:
            return f"{self.words}: these may be copied scores, some of them changed"
        return f"{self.words}, so that it may be a copy, and agreement shows nothing"


class AgreementWithPeople(msgspec.Struct, frozen=True):
    """The judge's agreement with people.

    Attributes:
        judge, people: agreement of the judge with people, failures counted as disagreement, and of people with each other, by pairs.
        gap: the difference of the two; `error` is its standard error by groups.
    """

    judge: float | None
    people: float | None
    gap: float | None
    error: float | None = None


class BesideBaseline(msgspec.Struct, frozen=True):
    """The judge beside the majority baseline.

    Attributes:
        right, diff: share of right answers of the judge, and the same minus that of the baseline.
        shown: whether the judge is shown `above` or `below` the baseline after correction, else `not shown`; None where labels are too
            few to test. Signs beside agreement are this, so no page marks what a verdict does not show.
    """

    right: float | None
    diff: float | None
    shown: BaselineSide | None


class UncorrectedP(msgspec.Struct, frozen=True):
    """p of one cell, one-sided. With a cap, groups count for no more than it in `gap` and `base`.

    Attributes:
        gap, base: of "no more than the margin worse than people", and of "better than the baseline".
        one_class: that the judge varies as much as people do.
    """

    gap: float | None
    base: float | None
    one_class: float | None


class CorrectedP(msgspec.Struct, frozen=True):
    """p after correction over the `family` of so many cells. With a cap, all but `one_class` are at least the p without one.

    Attributes:
        use: of "no more than the margin worse than people, and better than the baseline".
        worse, base, base_worse: of "more than the margin worse than people", and of "better" and "worse than the baseline".
        one_class: that the judge varies as much as people do; `do not use` for one class needs it.
    """

    use: float | None
    worse: float | None
    base: float | None
    base_worse: float | None
    one_class: float | None
    family: int


class CellBounds(msgspec.Struct, frozen=True):
    """Bounds of one cell; None where undefined.

    Attributes:
        alone: of the gap to people, of one test at alpha.
        gap: the same bound at the level that the correction leaves to this cell. Where it is above -margin, the gap's part of `use` is
            shown. With a cap, it is the smaller of that bound and of the bound without a cap at alpha.
        perfect: that bound of a judge that agrees with people on every text just as they agree with each other. Where it is not above
            -margin, no such judge can be shown with so few texts. None without texts of two annotators.
        base: of the difference from the baseline, at the level of `gap`.
        gap_upper, base_upper: upper bounds of the gap and of the difference from the baseline, each at the level that the correction of
            "worse than people" and of "worse than the baseline" leaves to this cell. Where `gap_upper` is below
            -margin, the judge is shown to be worse than people by more than the margin.
    """

    alone: float | None
    gap: float | None
    perfect: float | None
    base: float | None
    gap_upper: float | None = None
    base_upper: float | None = None
