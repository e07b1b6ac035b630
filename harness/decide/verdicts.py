"""Verdicts on a judge, per language and metric. All verdicts are made here."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.decide.cell_tests import CellTests, LabelledTexts, cell_tests, copied_labels
from harness.decide.class_shares import ClassShare, refuse_unknown_classes
from harness.decide.more_labels import FurtherTexts, labels_needed
from harness.decide.options import DecisionOptions
from harness.decide.verdict_rule import (
    COPIES,
    NOBODY,
    UNREAD,
    AgreementWithPeople,
    BaselineSide,
    BesideBaseline,
    CellBounds,
    Controls,
    CopiedLabels,
    CorrectedP,
    Decision,
    DecisionInputs,
    UncorrectedP,
    VerdictWords,
    decide,
    has_enough,
    has_enough_for_a_constant,
    passes_controls,
)
from harness.decide.verdict_sentences import VerdictInWords
from harness.measure.cells import number, sort_key
from harness.measure.compare import JudgedTables, Recording, align
from harness.measure.item_table import AnswerCounts
from harness.measure.options import MeasureOptions
from harness.measure.recordings import with_further_people
from harness.model import BY_PEOPLE, SIDE, Basis
from harness.stats.core.arrays import Floats
from harness.stats.core.many_cells import on_all_cores
from harness.stats.intervals.judge_tests import Bounds, lower_bounds, stacked, upper_bounds
from harness.stats.intervals.multiplicity import benjamini_yekutieli, holm

_CELLS_AT_ONCE = 64


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The use of one judge in one language on one metric, and why. Undefined numbers are None.

    `verdict["gap"]` reads a part of the key, or a value by its name in JSON.

    Attributes:
        key: that of a cell (`CELL`), and the source where there are several.
        decision: the verdict and its reason, by the decision table; the reason is empty for `use`.
        controls: with constructed labels, whether the judge passes the controls; else None.
        words: the sentence for a reader, what stands against `use`, and what a `use` does not cover.
        texts: which texts and labels the verdict rests on. Where scores are numbers, `baseline` is of closeness to the labels.
        effective_groups: for how many groups of one size the groups stand; below `texts.groups` where some are larger than others.
        cap: how many items a group counts for at most in the corrected tests; None where no group needs one.
        needed: labelled texts that are still needed if the judge is as good as people; None where more labels would not help, or none are
            needed.
        agreement: of the judge with people, of people with each other, and the gap between the two.
        baseline: the judge beside the majority baseline.
        bounds: lower and upper bounds of the gap and of the difference from the baseline.
        p, corrected: p of this cell alone, and after correction over the family.
        kappa, correlation: of the judge with the aggregate of the labels; see `CellTests`.
        coverage: share of readable answers.
        answers: how many answers there are, and how many of them cannot be read.
        gain: effective labels per label if many further texts are judged.
        leniency: judge minus mean label in points.
        copied: whose labels the judge's scores equal in every text, so that they may be copies; with `equal`, in nearly every text, and
            this is only said. None where they equal nobody's.
        alt_test: the alternative annotator test, which is shown beside the verdict and is no condition of it: a constant can pass it.
        basis: what `use` was tested against: how far people agree with each other, or a bar of each class.
        shares: the share of each class that the judge finds, where there are two and answers say something of it.
        margin: how much less a judge may agree with people than they with each other.
        settings: all thresholds.
    """

    key: dict[str, Any]
    decision: Decision
    controls: Controls | None
    words: VerdictWords
    texts: LabelledTexts
    effective_groups: float | None
    cap: float | None
    needed: FurtherTexts | None
    agreement: AgreementWithPeople
    baseline: BesideBaseline
    bounds: CellBounds
    p: UncorrectedP
    corrected: CorrectedP
    coverage: float | None
    answers: AnswerCounts = AnswerCounts(0, {})
    gain: float | None
    leniency: float | None
    copied: CopiedLabels | None = None
    alt_test: dict[str, Any] | None
    kappa: float | None = None
    correlation: float | None = None
    basis: Basis = "people"
    shares: tuple[ClassShare, ...] = ()
    margin: float
    settings: str

    @property
    def answer(self) -> str:
        """The verdict in two or three words: `too few labels` only where more labels would help, else `not shown`."""
        if self.controls:
            return {"passes": "passes the controls", "fails": "fails the controls"}.get(self.controls, self.controls)
        return "not shown" if self.too_few_labels and not self.needed else self.decision.verdict

    @property
    def too_few_labels(self) -> bool:
        """True if labels are too few for a verdict."""
        return self.decision.verdict == "too few labels"

    @property
    def settled_by(self) -> int | None:
        """The number of further texts that settle a verdict that lacks labels, if the judge is as good as people; None if unknown."""
        return self.needed.texts if self.too_few_labels and self.needed and not self.needed.more_than else None

    @classmethod
    def from_flat(cls, row: Mapping[str, Any]) -> Verdict:
        """Return the verdict that `flat` made a row of, as JSON holds it."""
        fields: dict[str, Any] = {}
        for name, (part, _, field) in _PATHS.items():
            if name in row and field:
                fields.setdefault(part, {})[field] = row[name]
            elif name in row:
                fields[part] = row[name]
        key = {name: value for name, value in row.items() if name not in _PATHS and name != "answer"}
        decision, needed = tuple(fields["decision"].values()), None if row["k"] is None else fields["needed"]
        return msgspec.convert(fields | {"key": key, "decision": decision, "needed": needed}, cls)

    def __getitem__(self, name: str) -> Any:
        """Return a part of the key, or a value by its name in JSON."""
        return self.key[name] if name in self.key else _READ[name](self)

    def flat(self) -> dict[str, Any]:
        """Return one object for programs, with the parts of the key beside the other values, and the words that screens show."""
        return {**self.key, "answer": self.answer, **{name: read(self) for name, read in _READ.items()}}


_PATHS = {
    name: path.partition(".")
    for name, path in {
        "verdict": "decision.verdict",
        "reason": "decision.reason",
        "controls": "controls",
        "sentence": "words.sentence",
        "beside_baseline": "baseline.shown",
        "interval": "texts.interval",
        "closeness": "texts.closeness",
        "k": "needed.texts",
        "more_than_k": "needed.more_than",
        "labels": "texts.labels",
        "n": "texts.n",
        "groups": "texts.groups",
        "effective_groups": "effective_groups",
        "cap": "cap",
        "n_labelled": "texts.labelled",
        "agreement": "agreement.judge",
        "people": "agreement.people",
        "gap": "agreement.gap",
        "guarded_bound": "bounds.alone",
        "family_bound": "bounds.gap",
        "family_upper": "bounds.gap_upper",
        "perfect_bound": "bounds.perfect",
        "p_gap": "p.gap",
        "p_base": "p.base",
        "p_one_class": "p.one_class",
        "q_use": "corrected.use",
        "q_worse": "corrected.worse",
        "q_base": "corrected.base",
        "q_base_worse": "corrected.base_worse",
        "q_one_class": "corrected.one_class",
        "family": "corrected.family",
        "right": "baseline.right",
        "kappa": "kappa",
        "correlation": "correlation",
        "base_diff": "baseline.diff",
        "base_bound": "bounds.base",
        "base_upper": "bounds.base_upper",
        "coverage": "coverage",
        "asked": "answers.asked",
        "unread": "answers.unread",
        "unread_example": "answers.example",
        "gain": "gain",
        "leniency": "leniency",
        "copied": "copied",
        "alt_test": "alt_test",
        "not_for": "words.not_for",
        "obstacles": "words.obstacles",
        "reasons": "words.reasons",
        "basis": "basis",
        "shares": "shares",
        "margin": "margin",
        "settings": "settings",
        "gap_error": "agreement.error",
    }.items()
}
"""The names of JSON and tables in their order, and where each value is in a `Verdict`."""
_READ: dict[str, Callable[[Verdict], Any]] = {name: attrgetter("".join(path)) for name, path in _PATHS.items()} | {
    "shares": lambda verdict: [msgspec.structs.asdict(share) for share in verdict.shares],
    "k": lambda verdict: verdict.needed.texts if verdict.needed else None,
    "more_than_k": lambda verdict: verdict.needed is not None and verdict.needed.more_than,
}


def verdicts(sources: Sequence[Recording], compare: MeasureOptions, options: DecisionOptions = DecisionOptions()) -> tuple[Verdict, ...]:
    """Return verdicts on every judge of the sources, by language and metric. Raises UsageError as `measure.compare` does.

    Args:
        sources: judgments with the labels that they are compared with.
        compare: which items and judges, and how annotators become one reference; its keys to group by are not used.
        options: the thresholds.
    """
    return verdicts_of_tables(align(sources, compare), compare, options)


def verdicts_of_tables(aligned: JudgedTables, compare: MeasureOptions, options: DecisionOptions) -> tuple[Verdict, ...]:
    """Return the verdicts on tables that are aligned already. Raises as `verdicts`."""
    return verdicts_of_tests(tests_of_tables(aligned, options), options)


def tests_of_tables(aligned: JudgedTables, options: DecisionOptions) -> tuple[CellTests, ...]:
    """Return the tests of every cell, uncorrected. Raises UsageError if a bar names a class that no source has."""
    if options.bar:
        refuse_unknown_classes(options.bar, (labels for judged in aligned.tables for labels in judged.labels.values()))
    tables = (with_further_people(judged, options.items) for judged in aligned.tables)
    return tuple(tests for judged in tables for tests in cell_tests(judged, "source" in aligned.by, options))


def copied_cells(aligned: JudgedTables) -> Iterator[tuple[Mapping[str, Any], CopiedLabels]]:
    """Yield the key of each cell whose scores equal people's in every text, and whose scores they equal. Nothing is tested."""
    options = DecisionOptions()
    for judged in aligned.tables:
        yield from copied_labels(with_further_people(judged, options.items), "source" in aligned.by, options)


def verdicts_of_tests(tests: Sequence[CellTests], options: DecisionOptions) -> tuple[Verdict, ...]:
    """Return the verdicts of cells whose tests are made, sorted by language and metric."""
    sides: dict[tuple[Any, ...], list[CellTests]] = {}  # the cells of each judge under one condition
    for cell in tests:
        sides.setdefault(tuple(cell.key.get(name) for name in SIDE), []).append(cell)
    unread = set()  # the ids of the cells of judges of whose answers more than half cannot be read, over all their cells
    for cells_of_side in sides.values():
        answers = [cell.coverage.all for cell in cells_of_side]
        if 2 * sum(sum(counts.unread.values()) for counts in answers) > sum(counts.asked for counts in answers):
            unread |= {id(cell) for cell in cells_of_side}
    families = [list(tests)] if tests and options.family == "all" else list(sides.values())
    decided = [cell for family in families for cell in _decide_family(family, unread, options)]
    few = ("too few labels", "use corrected")
    lacking = [number for number, cell in enumerate(decided) if cell.decision == NOBODY or cell.decision.verdict in few]
    cells = [(decided[number].tests, decided[number].next_level) for number in lacking]
    planned = on_all_cores(partial(labels_needed, options=options), cells)
    needed = dict(zip(lacking, planned, strict=True))
    results = [_build_verdict(cell, needed.get(number), options) for number, cell in enumerate(decided)]
    return tuple(sorted(results, key=lambda verdict: sort_key(verdict.key)))  # languages first, as the key has them


class _Decided(msgspec.Struct, frozen=True):
    """One cell with its family's correction, what it leaves of alpha to one further cell, and what the decision table says of it."""

    tests: CellTests
    corrected: CorrectedP
    next_level: float
    bounds: CellBounds
    tested: DecisionInputs
    decision: Decision


def _decide_family(tests: Sequence[CellTests], unread: Container[int], options: DecisionOptions) -> Iterator[_Decided]:
    assessed = np.array([cell.basis == "bar" or has_enough(cell.texts, options) or cell.texts.labels not in BY_PEOPLE for cell in tests])
    use, level = _correct_over_family(tests, "use", assessed, options)
    next_level = _next_level(int((use <= options.alpha).sum()), len(tests), options)  # cells with too few labels are tested later
    beside_constant = assessed | np.array([has_enough_for_a_constant(cell.texts, options) for cell in tests])
    (worse, worse_level), (base, _) = (_correct_over_family(tests, name, assessed, options) for name in ("worse", "base"))
    base_worse, base_worse_level = _correct_over_family(tests, "base_worse", beside_constant, options)
    variation = np.array([cell.variation.p for cell in tests])
    one_class = _correct_p(np.where(assessed, np.nan_to_num(variation, nan=1.0), math.nan), options)[0]
    bounds = _family_bounds(tests, options.alpha, level, Bounds(worse_level, base_worse_level))
    for index, cell in enumerate(tests):
        q_use, q_worse, q_base, q_base_worse, q_one_class = (number(q[index]) for q in (use, worse, base, base_worse, one_class))
        family = assessed if assessed[index] else beside_constant
        corrected = CorrectedP(q_use, q_worse, q_base, q_base_worse, q_one_class, int(family.sum()))
        tested = DecisionInputs(
            labels=cell.texts.labels,
            n=cell.texts.n,
            groups=cell.texts.groups,
            one_class=cell.one_class and q_one_class is not None and q_one_class <= options.alpha,
            coverage=cell.coverage.share,
            coverage_upper=cell.coverage.upper,
            q_use=1.0 if q_use is None else q_use,
            q_worse=1.0 if q_worse is None else q_worse,
            q_base_worse=1.0 if q_base_worse is None else q_base_worse,
            sampling=cell.sampling,
            gain=cell.gain,
            interval=cell.texts.interval,
            aggregate=cell.aggregate,
            unread=id(cell) in unread or cell.coverage.all.mostly_unread,
            copied=cell.copied is not None and not cell.copied.nearly and options.equal_scores == "copies",
            basis=cell.basis,
            below_bar=cell.below_bar,
        )
        yield _Decided(cell, corrected, next_level, bounds[index], tested, decide(tested, options))


def _family_bounds(tests: Sequence[CellTests], alpha: float, level: Floats, upper_level: Bounds) -> list[CellBounds]:
    """Return the bounds of each cell of a family; `level` (cells,) is what the correction of *use* leaves of alpha, `upper_level` those of
    "worse than people" and "worse than the baseline".

    They are computed at once for cells of about as many groups: short ones are filled up to the longest.
    """
    order = np.argsort([len(cell.sums.gap.times) for cell in tests], kind="stable")
    bounds = np.full((len(tests), len(CellBounds.__struct_fields__)), np.nan)
    for first in range(0, len(order), _CELLS_AT_ONCE):
        cells = order[first : first + _CELLS_AT_ONCE]
        sums, cap = stacked([tests[cell].sums for cell in cells.tolist()]), np.array([tests[cell].cap for cell in cells.tolist()])
        lower = lower_bounds(sums, cap, alpha, np.stack([np.full_like(level[cells], alpha), level[cells]]))
        perfect = sums._replace(gap=sums.gap._replace(y=np.zeros_like(sums.gap.y)))
        upper = upper_bounds(sums, cap, alpha, Bounds(upper_level.gap[cells], upper_level.base[cells]))
        perfect_gap = lower_bounds(perfect, cap, alpha, level[cells]).gap
        bounds[cells] = np.column_stack((lower.gap[0], lower.gap[1], perfect_gap, lower.base[1], upper.gap, upper.base))
    return [CellBounds(*map(number, row)) for row in bounds.tolist()]


def _correct_over_family(
    tests: Sequence[CellTests], name: str, assessed: NDArray[np.bool_], options: DecisionOptions
) -> tuple[Floats, Floats]:
    """Return corrected p and levels of one test of all cells: the capped p is corrected, and the plain one has to be at most alpha too."""
    capped, plain = (
        np.array([float(getattr(getattr(cell.tests, test_name), name)) for cell in tests]) for test_name in ("capped", "plain")
    )
    q, level = _correct_p(np.where(assessed, np.nan_to_num(capped, nan=1.0), math.nan), options)
    return np.where(assessed, np.fmax(q, plain), math.nan), level


def _correct_p(p: Floats, options: DecisionOptions) -> tuple[Floats, Floats]:
    """Return corrected p, and the level that each p is compared with."""
    q = holm(p) if options.correction == "holm" else benjamini_yekutieli(p)
    rejected, m = q <= options.alpha, int((~np.isnan(p)).sum())
    count = int(rejected.sum())
    following = _next_level(count, m, options)
    if options.correction == "by":
        return q, np.where(rejected, following * count / max(min(count + 1, m), 1), following)
    rank = np.argsort(np.argsort(np.where(np.isnan(p), math.inf, p), kind="stable"), kind="stable")
    return q, np.where(rejected, options.alpha / (max(m, 1) - np.minimum(rank, max(m, 1) - 1)), following)


def _next_level(rejected: int, cells: int, options: DecisionOptions) -> float:
    """Return the level that one further cell would be compared with, where so many of the cells of a family are shown."""
    if not cells:
        return options.alpha
    if options.correction == "by":
        return options.alpha / (cells * float((1 / np.arange(1, cells + 1)).sum())) * min(rejected + 1, cells)
    return options.alpha / max(cells - rejected, 1)


def _build_verdict(decided: _Decided, needed: FurtherTexts | None, options: DecisionOptions) -> Verdict:
    cell, corrected, tested, decision = decided.tests, decided.corrected, decided.tested, decided.decision
    controls = None if cell.texts.labels in BY_PEOPLE else passes_controls(corrected.base, tested, options)
    side: BaselineSide | None = None
    if corrected.base is not None:
        shown_below = corrected.base_worse is not None and corrected.base_worse <= options.alpha
        side = "above" if corrected.base <= options.alpha else "below" if shown_below else "not shown"
    return Verdict(
        key=cell.key,
        decision=decision,
        controls=controls,
        words=VerdictInWords(cell, decision, controls, tested, needed, corrected.family, options).words(),
        texts=cell.texts,
        effective_groups=number(cell.effective_groups),
        cap=number(cell.cap) if math.isfinite(cell.cap) else None,
        needed=needed,
        agreement=AgreementWithPeople(*map(number, (cell.people + cell.gap.mean, cell.people, cell.gap.mean, cell.gap.error))),
        baseline=BesideBaseline(number(cell.right), number(cell.baseline.mean), side),
        bounds=decided.bounds,
        p=UncorrectedP(*map(number, (cell.tests.capped.gap, cell.tests.capped.base, cell.variation.p))),
        corrected=corrected,
        coverage=number(cell.coverage.share),
        answers=cell.coverage.all,
        gain=number(cell.gain) if math.isfinite(cell.gain) else None,
        leniency=number(cell.level.leniency.mean),
        kappa=None if tested.unread else number(cell.kappa),
        correlation=None if tested.unread else number(cell.correlation),
        copied=cell.copied,
        alt_test=cell.alt_test,
        basis=cell.basis,
        shares=() if decision in (UNREAD, COPIES) else cell.shares,
        margin=options.margin,
        settings=str(options.with_bar() if cell.basis == "bar" else options),
    )
