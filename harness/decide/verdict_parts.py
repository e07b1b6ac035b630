"""The parts of a verdict: its words, and the numbers behind it, grouped by what they are about. Undefined numbers are None."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.text import one_line

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


class CopiedLabels(msgspec.Struct, frozen=True):
    """A judge's scores that equal people's in every text of a cell: they may be copies, of which agreement shows nothing.

    Attributes:
        annotator: whose scores they equal; None for an aggregate of each text's scores.
        texts: the texts that both scored.
        aggregate: which one, of several people.
    """

    annotator: str | None
    texts: int
    aggregate: Literal["commonest", "median", "mean"] | None = None

    @property
    def words(self) -> str:
        """The equal scores, as a clause."""
        whose = f"people's {_AGGREGATES[self.aggregate]}" if self.aggregate else f"that of '{one_line(str(self.annotator))}'"
        return f"its score is {whose} in every one of {self.texts:,} texts"

    @property
    def doubt(self) -> str:
        """What follows from the equal scores, as a clause."""
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
