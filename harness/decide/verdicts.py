"""Verdicts on a judge, per language and metric. All verdicts are made here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.decide.bounds import CellBounds, family_bounds
from harness.decide.cell_tests import CellTests, cell_tests
from harness.decide.more_labels import FurtherTexts, labels_needed
from harness.decide.options import DecisionOptions
from harness.decide.rule import NOBODY, Controls, Decision, DecisionInputs, VerdictName, decide, has_enough, passes_controls
from harness.decide.sentences import not_for, obstacles, reasons, sentence
from harness.measure.cells import number, sort_key
from harness.measure.compare import AlignedData, Recording, align
from harness.measure.options import CompareOptions
from harness.model import BY_PEOPLE, SIDE
from harness.stats import benjamini_yekutieli, holm
from harness.stats.core.arrays import Floats
from harness.stats.core.processes import on_all_cores

BesideBaseline = Literal["above", "below", "not shown"]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge may be used for in one language on one metric, and why. Undefined numbers are None.

    Attributes:
        key: that of a cell (`CELL`), and the source where there are several.
        verdict, reason: by the decision table; `reason` is empty for `use`.
        controls: with constructed labels, whether the judge passes the controls; else None.
        sentence: the verdict for a reader.
        k: labelled texts that are still needed if the judge is as good as people; None where more labels would not help, or none are
            needed. `more_than_k`: k is the largest number that was tried, and it does not suffice.
        beside_baseline: whether the judge is shown `above` or `below` the majority baseline after correction, else `not shown`; None where
            labels are too few to test. Signs beside agreement are this, so no page marks what a verdict does not show.
        interval: whether scores are numbers; `right` and `base_diff` are then of closeness.
        closeness: whether `agreement`, `people` and `gap` are closeness, 1 minus the distance of two scores as a share of the scale's
            length, and not shares of equal scores.
        labels: who gave the labels: `native`, `people`, `constructed` or `model`; `mixed` if there are several kinds.
        n, groups: items with two annotators, and independent texts: groups of items.
        effective_groups: for how many groups of one size they stand; below `groups` where some are larger than others.
        cap: how many items a group counts for at most in the corrected tests; None where no group needs one.
        n_labelled: items that the verdict rests on: `n`, or the labelled ones with constructed labels and without second annotators.
        agreement, people: agreement of the judge with people, failures counted as disagreement, and of people with each other, by pairs.
        gap, guarded_bound: the difference of the two, and its lower bound of one test at alpha. `gap_error` is its standard error by
            groups.
        family_bound: the same bound at the level that the correction leaves to this cell. Where it is above -margin, the gap's
            part of `use` is shown. With a cap, it is the smaller of that bound and of the bound without a cap at alpha.
        perfect_bound: the family bound of a judge that agrees with people on every text just as they agree with each other. Where it is
            not above -margin, no such judge can be shown with so few texts. None without texts of two annotators.
        p_gap, p_base: one-sided p of "no more than the margin worse than people", and of "better than the baseline".
            With a cap, groups count for no more than it.
        p_one_class: that the judge varies as much as people do; `do not use` for one class needs its q.
        q_use, q_worse, q_base, q_base_worse, q_one_class: p after correction over the family; `family` is its number of cells. With a cap,
            the first four are at least the p without one.
        right, base_diff: share of right answers of the judge, and the same minus that of the majority baseline.
        base_bound: the lower bound of `base_diff` at the level of `family_bound`.
        coverage: share of readable answers.
        gain: effective labels per label if many further texts are judged.
        leniency: judge minus mean label in points.
        alt_test: the alternative annotator test, which is shown beside the verdict and is no condition of it: a constant can pass it.
        not_for: what the verdict does not cover.
        obstacles: what stands against `use`: shown are `worse` (than people), `base_worse` (than the baseline), `constant` (one class for
            everything) or `failures`; not shown are `people`, `baseline`, `coverage`, or `cells` (each alone, but not among so many
            cells); `labels` are too few; no text has two `annotators`.
        reasons: the same as clauses of the sentence.
        margin: how much less a judge may agree with people than they with each other.
        settings: all thresholds.
    """

    key: dict[str, Any]
    verdict: VerdictName
    reason: str
    controls: Controls | None
    sentence: str
    beside_baseline: BesideBaseline | None
    interval: bool
    closeness: bool
    k: int | None
    more_than_k: bool
    labels: str
    n: int
    groups: int
    effective_groups: float | None
    cap: float | None
    n_labelled: int
    agreement: float | None
    people: float | None
    gap: float | None
    guarded_bound: float | None
    family_bound: float | None
    perfect_bound: float | None
    p_gap: float | None
    p_base: float | None
    p_one_class: float | None
    q_use: float | None
    q_worse: float | None
    q_base: float | None
    q_base_worse: float | None
    q_one_class: float | None
    family: int
    right: float | None
    base_diff: float | None
    base_bound: float | None
    coverage: float | None
    gain: float | None
    leniency: float | None
    alt_test: dict[str, Any] | None
    not_for: tuple[str, ...]
    obstacles: tuple[str, ...]
    reasons: tuple[str, ...]
    margin: float
    settings: str
    gap_error: float | None = None

    @property
    def answer(self) -> str:
        """The verdict in two or three words: `too few labels` only where more labels would help, else `not shown`."""
        if self.controls:
            return {"passes": "passes the controls", "fails": "fails the controls"}.get(self.controls, self.controls)
        return "not shown" if self.verdict == "too few labels" and self.k is None else self.verdict

    @classmethod
    def from_flat(cls, row: Mapping[str, Any]) -> Verdict:
        """The verdict that `flat` made a row of, as JSON holds it."""
        own = {name: row[name] for name in cls.__struct_fields__ if name != "key" and name in row}
        key = {name: value for name, value in row.items() if name not in own and name != "answer"}
        return msgspec.convert(own | {"key": key}, cls)

    def __getitem__(self, name: str) -> Any:
        """A part of the key, or an attribute."""
        return self.key[name] if name in self.key else getattr(self, name)

    def flat(self) -> dict[str, Any]:
        """One object for programs, with the parts of the key beside the other values, and the words that screens show."""
        values = msgspec.structs.asdict(self)
        return {**values.pop("key"), "answer": self.answer, **values}


def verdicts(sources: Sequence[Recording], compare: CompareOptions, options: DecisionOptions = DecisionOptions()) -> tuple[Verdict, ...]:  # noqa: B008 (frozen)
    """Verdicts on every judge of the sources, by language and metric. Raises UsageError as `measure.compare` does.

    Args:
        sources: judgments with the labels that they are compared with.
        compare: which items and judges, and how annotators become one reference; its keys to group by are not used.
        options: the thresholds.
    """
    return verdicts_laid_out(align(sources, compare), compare, options)


def verdicts_laid_out(laid_out: AlignedData, compare: CompareOptions, options: DecisionOptions) -> tuple[Verdict, ...]:
    """The same of sources that are laid out already."""
    return verdicts_of_tests(tests_laid_out(laid_out, compare, options), options)


def tests_laid_out(laid_out: AlignedData, compare: CompareOptions, options: DecisionOptions) -> tuple[CellTests, ...]:
    """The tests of every cell, uncorrected."""
    return tuple(one for judged in laid_out.judged for one in cell_tests(judged, "source" in laid_out.by, compare, options))


def verdicts_of_tests(tests: Sequence[CellTests], options: DecisionOptions) -> tuple[Verdict, ...]:
    """The verdicts of cells whose tests are made, sorted by language and metric."""
    families: dict[tuple[Any, ...], list[CellTests]] = {}
    for one in tests:
        families.setdefault(() if options.family == "all" else tuple(one.key.get(name) for name in SIDE), []).append(one)
    decided = [one for family in families.values() for one in _family(family, options)]
    lacking = [place for place, one in enumerate(decided) if one.lacks_labels]
    cells = [(decided[place].tests, decided[place].corrected.next_level) for place in lacking]
    planned = on_all_cores(partial(labels_needed, options=options), cells)
    needed = dict(zip(lacking, planned, strict=True))
    made = [_verdict(one, needed.get(place), options) for place, one in enumerate(decided)]
    return tuple(sorted(made, key=lambda verdict: sort_key(verdict.key)))  # languages first, as the key has them


class _Corrected(msgspec.Struct, frozen=True):
    """What a family's correction leaves to one cell: corrected p, and the level at which its own p is compared."""

    q_use: float
    q_worse: float
    q_base_worse: float
    q_base: float
    q_one_class: float
    level: float
    next_level: float


class _Decided(msgspec.Struct, frozen=True):
    """One cell with its family's correction, and what the decision table says of it. `family` is the number of cells tested."""

    tests: CellTests
    corrected: _Corrected
    bounds: CellBounds
    family: int
    tested: DecisionInputs
    decision: Decision

    @property
    def lacks_labels(self) -> bool:
        return self.decision == NOBODY or self.decision.verdict in ("too few labels", "use corrected")


def _family(tests: Sequence[CellTests], options: DecisionOptions) -> Iterator[_Decided]:
    assessed = np.array([has_enough(_tested(one, options), options) or one.labels not in BY_PEOPLE for one in tests])
    use, level = _of_family(tests, "use", assessed, options)
    next_level = _next_level(int((use <= options.alpha).sum()), len(tests), options)  # cells with too few labels are tested later
    worse, base_worse, base = (_of_family(tests, name, assessed, options)[0] for name in ("worse", "base_worse", "base"))
    variation = np.array([one.variation.p for one in tests])
    one_class = _corrected(np.where(assessed, np.nan_to_num(variation, nan=1.0), math.nan), options)[0]
    bounds = family_bounds(tests, options.alpha, level)
    for place, one in enumerate(tests):
        corrected = _Corrected(use[place], worse[place], base_worse[place], base[place], one_class[place], level[place], next_level)
        tested = _tested(one, options, corrected)
        yield _Decided(one, corrected, bounds[place], int(assessed.sum()), tested, decide(tested, options))


def _of_family(tests: Sequence[CellTests], name: str, assessed: NDArray[np.bool_], options: DecisionOptions) -> tuple[Floats, Floats]:
    """Corrected p and levels of one test of all cells: the capped p is corrected, and the plain one has to be at most alpha too."""
    capped, plain = (np.array([float(getattr(getattr(one.tests, of), name)) for one in tests]) for of in ("capped", "plain"))
    q, level = _corrected(np.where(assessed, np.nan_to_num(capped, nan=1.0), math.nan), options)
    return np.where(assessed, np.fmax(q, plain), math.nan), level


def _corrected(p: Floats, options: DecisionOptions) -> tuple[Floats, Floats]:
    """Corrected p, and the level that each p is compared with."""
    q = holm(p) if options.correction == "holm" else benjamini_yekutieli(p)
    shown, m = q <= options.alpha, int((~np.isnan(p)).sum())
    count = int(shown.sum())
    following = _next_level(count, m, options)
    if options.correction == "by":
        return q, np.where(shown, following * count / max(min(count + 1, m), 1), following)
    rank = np.argsort(np.argsort(np.where(np.isnan(p), math.inf, p), kind="stable"), kind="stable")
    return q, np.where(shown, options.alpha / (max(m, 1) - np.minimum(rank, max(m, 1) - 1)), following)


def _next_level(shown: int, cells: int, options: DecisionOptions) -> float:
    """The level that one further cell would be compared with, where so many of the cells of a family are shown."""
    if not cells:
        return options.alpha
    if options.correction == "by":
        return options.alpha / (cells * float((1 / np.arange(1, cells + 1)).sum())) * min(shown + 1, cells)
    return options.alpha / max(cells - shown, 1)


def _tested(one: CellTests, options: DecisionOptions, corrected: _Corrected | None = None) -> DecisionInputs:
    q = corrected or _Corrected(1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0)
    q_use, q_worse, q_base_worse = (1.0 if math.isnan(value) else value for value in (q.q_use, q.q_worse, q.q_base_worse))
    return DecisionInputs(
        labels=one.labels,
        n=one.n,
        groups=one.groups,
        one_class=one.one_class and q.q_one_class <= options.alpha,
        coverage=one.coverage,
        coverage_upper=one.coverage_upper,
        q_use=q_use,
        q_worse=q_worse,
        q_base_worse=q_base_worse,
        sampling=one.sampling,
        gain=one.gain,
        interval=one.interval,
        aggregate=one.aggregate,
    )


def _verdict(decided: _Decided, k: FurtherTexts | None, options: DecisionOptions) -> Verdict:
    one, corrected, bounds, tested, decision = decided.tests, decided.corrected, decided.bounds, decided.tested, decided.decision
    controls = None if one.labels in BY_PEOPLE else passes_controls(corrected.q_base, tested, options)
    missing = reasons(one, decision, controls, tested, options)
    return Verdict(
        key=one.key,
        verdict=decision.verdict,
        reason=decision.reason,
        controls=controls,
        sentence=sentence(one, decision, controls, k, decided.family, missing, options),
        beside_baseline=_beside_baseline(corrected, options.alpha),
        interval=one.interval,
        closeness=one.closeness,
        k=k.texts if k else None,
        more_than_k=bool(k and k.more_than),
        labels=one.labels,
        n=one.n,
        groups=one.groups,
        effective_groups=number(one.effective_groups),
        cap=number(one.cap) if math.isfinite(one.cap) else None,
        n_labelled=one.n if one.labels in BY_PEOPLE and one.n else one.baseline.n,
        agreement=number(one.people + one.gap.mean),
        people=number(one.people),
        gap=number(one.gap.mean),
        gap_error=number(one.gap.error),
        guarded_bound=number(bounds.alone),
        family_bound=number(bounds.gap),
        perfect_bound=number(bounds.perfect),
        p_gap=number(float(one.tests.capped.gap)),
        p_base=number(float(one.tests.capped.base)),
        p_one_class=number(one.variation.p),
        q_use=number(corrected.q_use),
        q_worse=number(corrected.q_worse),
        q_base=number(corrected.q_base),
        q_base_worse=number(corrected.q_base_worse),
        q_one_class=number(corrected.q_one_class),
        family=decided.family,
        right=number(one.right),
        base_diff=number(one.baseline.mean),
        base_bound=number(bounds.base),
        coverage=number(one.coverage),
        gain=number(one.gain) if math.isfinite(one.gain) else None,
        leniency=number(one.leniency),
        alt_test=one.alt_test,
        not_for=not_for(one, decision),
        obstacles=obstacles(one, decision, controls, tested, options),
        reasons=missing,
        margin=options.margin,
        settings=str(options),
    )


def _beside_baseline(corrected: _Corrected, alpha: float) -> BesideBaseline | None:
    if math.isnan(corrected.q_base):
        return None
    return "above" if corrected.q_base <= alpha else "below" if corrected.q_base_worse <= alpha else "not shown"
