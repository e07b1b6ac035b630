"""May a judge's probabilities be believed, language by language? Its confidence against people's labels, with a verdict.

Everything is said of answers that have a probability and a labelled text; texts of one group count together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.correction.cell_results import CellResults, KeyedRow, copied_sentences
from harness.correction.correction_options import FOLDS, ProbabilityOptions
from harness.data.columns import NO_VALUE
from harness.measure.cells import bounds, number, sort_key
from harness.measure.compare import Recording, align
from harness.measure.judged_table import JudgedTable
from harness.measure.label_counts import numbers
from harness.measure.options import MeasureOptions
from harness.model import ProbabilityVerdict
from harness.parse.probabilities import SUM_TOLERANCE
from harness.stats.agreement.agreement import share_left_out
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.statistic import item_credits
from harness.stats.estimation.acceptance import acceptance_threshold
from harness.stats.estimation.calibration import (
    Skill,
    calibration_error,
    frequencies_elsewhere,
    group_folds,
    least_brier,
    log_losses,
    next_person,
    reliability_curve,
    skill,
    squared_calibration_error,
)
from harness.stats.estimation.map_quality import brier_losses
from harness.stats.estimation.probability_tests import CalibrationTests, Refit, calibration_tests, refit, texts_needed
from harness.stats.estimation.shrinkage import meta_analysis
from harness.stats.intervals.intervals import Interval, proportion_interval
from harness.stats.intervals.multiplicity import holm
from harness.stats.intervals.recall_bar import share_found

HOLD, REFITTED, DO_NOT_HOLD, TOO_FEW = PROBABILITY_VERDICTS = get_args(ProbabilityVerdict)
CUTS = (0.5, 0.8, 0.9, 0.95)
"""The confidences from which on answers are usually accepted."""


class ProbabilityTests(NamedTuple):
    """The tests of one cell: against the commonest label, against single people, and of the refit; None where there are too few texts."""

    commonest: CalibrationTests | None
    person: CalibrationTests | None
    refit: Refit | None


class DecidedProbabilities(NamedTuple):
    """A verdict with the corrected p of each test that it rests on; NaN where there is none."""

    verdict: ProbabilityVerdict
    within: float
    beyond: float
    slope: float
    refit_within: float
    refit_gain: float


def decide_probabilities(cells: Sequence[ProbabilityTests], alpha: float) -> list[DecidedProbabilities]:
    """Return the verdict of each cell of a family; every kind of test is corrected over all cells (Holm).

    *hold*: the gap is shown within the margin, and the slope is not shown outside its limits, both against the commonest label. *hold after
    refit*: the same of cross-fitted values of a map that is shown to help. *do not hold*: the gap is shown beyond the margin, or the slope
    outside, against the commonest label and against single people alike: where people differ, probabilities of the one are not those of the
    other, and a judge whose probabilities are right in either sense is not accused. Else there are *too few labels*.
    """
    kinds = [
        [_p(cell, kind) for cell in cells] for kind in ("within", "beyond", "slope_raw", "slope", "refit_within", "refit_slope", "gain")
    ]
    within, beyond, slope_raw, slope, refit_within, refit_slope, gain = (holm(kind) for kind in kinds)
    decided = []
    for n, cell in enumerate(cells):
        verdict: ProbabilityVerdict = TOO_FEW
        if within[n] <= alpha and not slope_raw[n] <= alpha:
            verdict = HOLD
        elif cell.refit and not cell.refit.reason and max(refit_within[n], gain[n]) <= alpha and not refit_slope[n] <= alpha:
            verdict = REFITTED
        elif beyond[n] <= alpha or slope[n] <= alpha:
            verdict = DO_NOT_HOLD
        values: list[Floats] = [within, beyond, slope, refit_within, gain]
        decided.append(DecidedProbabilities(verdict, *(float(q[n]) for q in values)))
    return decided


def _p(cell: ProbabilityTests, kind: str) -> float:
    commonest, person, refit = cell
    if kind.startswith("refit") or kind == "gain":
        if refit is None:
            return math.nan
        return {"refit_within": refit.tests.within, "refit_slope": refit.tests.slope, "gain": refit.gain}[kind]
    if commonest is None:
        return math.nan
    if kind in ("within", "slope_raw"):
        return commonest.within if kind == "within" else commonest.slope
    sides = (commonest, person) if person is not None else (commonest,)
    if kind == "slope":
        return float(np.max([side.slope for side in sides]))  # NaN where one of them has no line
    return min(max(side.over for side in sides), max(side.under for side in sides))


NO_PROBABILITIES = (
    "no probabilities are recorded; ask with the variant 'probabilities', or write 'probs' into the judgments "
    "(in a table: columns such as p_pass and p_fail)"
)
NO_AGGREGATE = "no answer with a probability has a commonest label"
NOT_DISTRIBUTED = "the probabilities of all classes are not recorded"
ONE_PERSON = "no text has two annotators"
WEIGHTS_UNUSED = "Probabilities: each labelled text counts once; the stated chances of being drawn are not used."
Ends = tuple[float, float] | None

ACCEPTED = "accept"
"""The cut that `harness accept` certifies for all languages together."""


class RefitNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """Confidences after a refit that has not seen the text (Platt's map, cross-fitted over groups of texts).

    Attributes:
        map_intercept, map_slope: of the map of all texts, logit P(right) = intercept + slope logit confidence.
        gap, gap_ci: mean refitted confidence minus the share right.
        refitted_slope: Cox's slope of the refitted confidences.
        brier, brier_raw, brier_constant: mean squared error of refitted and raw confidences, and of the share right elsewhere.
        refused: why the map is not used; None where it may be.
    """

    map_intercept: float
    map_slope: float
    gap: float
    gap_ci: Ends
    refitted_slope: float | None
    brier: float
    brier_raw: float
    brier_constant: float
    refused: str | None


class CellProbabilities(KeyedRow, frozen=True, kw_only=True):
    """One judge's probabilities in one language on one metric. Undefined numbers are None, with a `reason` where nothing is defined.

    Attributes:
        n, groups: answers with a probability and a commonest label, and independent texts among them.
        without: answers of labelled texts that have no probability.
        verdict, q_within, q_beyond, q_slope, q_refit, q_gain: what may be said, with the corrected p of each test behind it.
        labels_needed: about how many labelled texts would decide, where there are too few; of cells that do not hold, about how many a
            refit needs; None where so many are there, as something else is missing then (independent texts, say).
        confidence, right, gap, gap_ci, gap_error: mean probability of the answers, the share that equals the commonest label, and the
            difference with its standard error.
        person_right, person_gap, person_gap_ci: the same against a single person, over the `person_n` answers whose text has a label.
        people_right: how often one person gives the commonest label of the text's other people: the ceiling.
        cox_intercept, cox_slope, cox_slope_ci: Cox's line, logit P(right) = intercept + slope logit confidence.
        error_squared, error_squared_ci: squared calibration error without upward bias; `error` is its root, with its sign.
        ece: the plain expected calibration error, which is too large with few texts.
        bins: the reliability curve: `n`, mean `confidence`, `share` right and its interval `share_ci`, in bins of equal count.
        brier, brier_baseline, brier_skill, brier_skill_ci: of the distribution over classes against people's labels; the baseline is the
            frequencies of the other groups; `log_loss` and so on alike, in nats.
        brier_people, log_loss_people, brier_shared, log_loss_shared, brier_least: on texts with two people or more, what the other people
            say of one person, the judge's loss there, and the least that any probabilities can have.
        refit: None where there are too few texts.
    """

    n: int
    groups: int
    without: int
    verdict: ProbabilityVerdict
    labels_needed: int | None = None
    q_within: float | None = None
    q_beyond: float | None = None
    q_slope: float | None = None
    q_refit: float | None = None
    q_gain: float | None = None
    confidence: float | None = None
    right: float | None = None
    right_ci: Ends = None
    gap: float | None = None
    gap_ci: Ends = None
    gap_error: float | None = None
    effective_groups: float | None = None
    person_n: int = 0
    person_right: float | None = None
    person_gap: float | None = None
    person_gap_ci: Ends = None
    people_right: float | None = None
    cox_intercept: float | None = None
    cox_slope: float | None = None
    cox_slope_ci: Ends = None
    error_squared: float | None = None
    error_squared_ci: Ends = None
    error: float | None = None
    ece: float | None = None
    bins: tuple[dict[str, Any], ...] = ()
    brier: float | None = None
    brier_baseline: float | None = None
    brier_skill: float | None = None
    brier_skill_ci: Ends = None
    log_loss: float | None = None
    log_loss_baseline: float | None = None
    log_loss_skill: float | None = None
    log_loss_skill_ci: Ends = None
    brier_people: float | None = None
    log_loss_people: float | None = None
    brier_shared: float | None = None
    log_loss_shared: float | None = None
    brier_least: float | None = None
    refit: RefitNumbers | None = None
    reason: str | None = None


class AcrossLanguages(KeyedRow, frozen=True, kw_only=True):
    """How far the gaps of languages differ on one metric.

    Attributes:
        languages: how many have a gap with an error.
        mean, mean_ci: gap of a typical language (random effects).
        spread, spread_ci: standard deviation of the gaps between languages.
        p: of equal gaps, by Cochran's Q.
        worst, worst_gap: the language with the largest gap in size.
    """

    languages: int
    mean: float | None
    mean_ci: Ends
    spread: float | None
    spread_ci: Ends
    p: float | None
    worst: str
    worst_gap: float


class Probabilities(CellResults, frozen=True):
    """What may be believed of probabilities: cells, languages side by side, and one cut for all languages."""

    signature: str
    margin: float
    alpha: float
    cells: tuple[CellProbabilities, ...]
    languages: tuple[AcrossLanguages, ...]
    cuts: tuple[CommonCut, ...]
    notes: tuple[str, ...]
    copied: tuple[str, ...] = ()
    schema_version: int = 1


def probabilities(
    sources: Sequence[Recording], compare: MeasureOptions, options: ProbabilityOptions = ProbabilityOptions()
) -> Probabilities:
    """Return what may be believed of the probabilities of every judge; no cells where none are recorded. Raises as `measure.compare`."""
    aligned = align(sources, compare)
    by_source = "source" in aligned.by
    parts = [probabilities_of_table(judged, options, by_source=by_source) for judged in aligned.tables]
    cells, languages, cuts = (tuple(chain.from_iterable(rows)) for rows in zip(*parts, strict=True))
    unused = any(judged.design is not None for judged in aligned.tables)
    notes = (*aligned.notes, *([WEIGHTS_UNUSED] if unused and cells else ()))
    copied = copied_sentences(aligned) if cells else ()
    return Probabilities(aligned.signed(use=str(options)), options.margin, options.alpha, cells, languages, cuts, notes, copied)


def probabilities_of_table(
    judged: JudgedTable, options: ProbabilityOptions, *, by_source: bool = False
) -> tuple[list[CellProbabilities], list[AcrossLanguages], list[CommonCut]]:
    """Return the cells of one data set, their languages side by side, and one cut for all of them."""
    families: dict[tuple[Any, ...], list[ProbabilityCell]] = {}
    for cell in probability_cells(judged, by_source):
        judge = tuple((name, value) for name, value in cell.key.items() if name not in ("language", "metric"))
        families.setdefault(judge, []).append(cell)
    is_random = judged.data.about.sampling == "random"
    cells: list[CellProbabilities] = []
    languages: list[AcrossLanguages] = []
    cuts: list[CommonCut] = []
    for family in families.values():
        tests = [_tests(cell, options) for cell in family]
        decided = decide_probabilities(tests, options.alpha)
        rows = [_numbers(*parts, options, len(family)) for parts in zip(family, tests, decided, strict=True)]
        cells += rows
        for metric in dict.fromkeys(str(cell.key["metric"]) for cell in family):
            languages += _across_languages([row for row in rows if row.key["metric"] == metric])
            cuts += common_cuts([cell for cell in family if cell.key["metric"] == metric], is_random=is_random)
    return sorted(cells, key=lambda row: sort_key(row.key)), languages, sorted(cuts, key=lambda cut: sort_key({**cut.key, "cut": cut.cut}))


def _tests(cell: ProbabilityCell, options: ProbabilityOptions) -> ProbabilityTests:
    """Return the tests of a cell; none with fewer groups than `options.groups`."""
    used, margin = cell.compared, options.margin
    confidence, right, group = cell.confidence[used], cell.right[used], cell.group[used]
    if len(np.unique(group)) < max(options.groups, FOLDS):
        return ProbabilityTests(None, None, None)
    folds = group_folds(group, FOLDS, seed=options.seed)
    try:
        refitted = refit(confidence, right, group, folds, margin)
    except ValueError:  # no finite map
        refitted = None
    commonest = calibration_tests(confidence, right, group, margin)
    return ProbabilityTests(commonest, calibration_tests(cell.confidence, cell.person, cell.group, margin), refitted)


def _numbers(
    cell: ProbabilityCell, tests: ProbabilityTests, decided: DecidedProbabilities, options: ProbabilityOptions, family: int
) -> CellProbabilities:
    """Return all numbers of one cell of a family."""
    used = cell.compared
    confidence, right, group = cell.confidence[used], cell.right[used], cell.group[used]
    counts: dict[str, Any] = {"n": int(used.sum()), "groups": len(np.unique(group)), "without": cell.asked - len(cell.confidence)}
    verdict: dict[str, Any] = {"verdict": decided.verdict}
    names = {"q_within": "within", "q_beyond": "beyond", "q_slope": "slope", "q_refit": "refit_within", "q_gain": "refit_gain"}
    verdict |= {name: number(getattr(decided, field)) for name, field in names.items()}
    if not len(confidence):
        return CellProbabilities(key=cell.key, **counts, **verdict, reason=NO_AGGREGATE)
    commonest = tests.commonest or calibration_tests(confidence, right, group, options.margin)
    person = tests.person or calibration_tests(cell.confidence, cell.person, cell.group, options.margin)
    error = squared_calibration_error(confidence, right, group)
    alpha = options.alpha / family
    needed = texts_needed(len(confidence), commonest.gap.mean.error, commonest.gap.gap, options.margin, alpha)
    if decided.verdict == DO_NOT_HOLD:  # no more labels help a map that is no better than the share right
        fitted = tests.refit
        helps = fitted is not None and fitted.promising
        needed = texts_needed(len(confidence), fitted.tests.gap.mean.error, 0.0, options.margin, alpha) if fitted and helps else None
    if needed is not None and needed <= counts["n"]:  # there are so many: what is missing is groups, or something else
        needed = None
    people = cell.next_person[~np.isnan(cell.next_person)]
    refitted = None
    if tests.refit is not None:
        refitted = RefitNumbers(
            map_intercept=tests.refit.line.intercept,
            map_slope=tests.refit.line.slope,
            gap=tests.refit.tests.gap.gap,
            gap_ci=_ends(tests.refit.tests.gap.mean.interval()),
            refitted_slope=number(tests.refit.tests.line.slope),
            brier=tests.refit.brier,
            brier_raw=float(((confidence - right) ** 2).mean()),
            brier_constant=tests.refit.brier_constant,
            refused=tests.refit.reason,
        )
    return CellProbabilities(
        key=cell.key,
        **counts,
        **verdict,
        labels_needed=needed if decided.verdict in (TOO_FEW, DO_NOT_HOLD) else None,
        **_gap(commonest),
        right_ci=bounds(proportion_interval(right, group, seed=options.seed)),
        gap_error=number(commonest.gap.mean.error),
        effective_groups=number(commonest.gap.mean.effective_groups),
        person_n=len(cell.confidence),
        **{f"person_{name}": value for name, value in _gap(person).items() if name != "confidence"},
        people_right=number(people.mean()) if len(people) else None,
        cox_intercept=number(commonest.line.intercept),
        cox_slope=number(commonest.line.slope),
        cox_slope_ci=_ends(commonest.line.interval()),
        error_squared=number(error.squared),
        error_squared_ci=_ends(error.ci),
        error=number(error.root),
        ece=number(calibration_error(confidence, right).ece),
        bins=tuple(_curve(confidence, right, group, options.seed)),
        **_losses(cell),
        refit=refitted,
    )


def _gap(tests: CalibrationTests) -> dict[str, Any]:
    gap = tests.gap
    return {"confidence": gap.confidence, "right": gap.right, "gap": gap.gap, "gap_ci": _ends(gap.mean.interval())}


def _curve(confidence: Floats, right: Floats, group: Any, seed: int) -> Iterable[dict[str, Any]]:
    """Yield the bins of the reliability curve, each with the interval of its share right."""
    curve = reliability_curve(confidence, right)
    for index, (n, sure, share) in enumerate(zip(curve.n.tolist(), curve.confidence.tolist(), curve.share.tolist(), strict=True)):
        inside = curve.bin == index
        interval: Interval = proportion_interval(right[inside], group[inside], seed=seed)
        yield {"n": n, "confidence": sure, "share": share, "share_ci": bounds(interval)}


def _losses(cell: ProbabilityCell) -> dict[str, Any]:
    """Return losses of the whole distribution against people's labels, beside the baseline and beside people."""
    rows = cell.distributed
    if not rows.any():
        return {}
    p, counts, group = cell.probabilities[rows], cell.counts[rows], cell.group[rows]
    base = frequencies_elsewhere(counts, group)
    people = next_person(counts, base)
    shared = ~np.isnan(people[0])
    values: dict[str, Any] = {}
    for name, losses, of_people in (("brier", brier_losses, people[0]), ("log_loss", log_losses, people[1])):
        loss = losses(p, counts)
        against: Skill = skill(loss, losses(base, counts), group)
        values |= {name: number(against.loss), f"{name}_baseline": number(against.baseline), f"{name}_skill": number(against.skill)}
        values[f"{name}_skill_ci"] = _ends(against.ci)
        if shared.any():
            values |= {f"{name}_people": float(of_people[shared].mean()), f"{name}_shared": float(loss[shared].mean())}
    if shared.any():
        values["brier_least"] = float(least_brier(counts)[shared].mean())
    return values


def _across_languages(rows: Sequence[CellProbabilities]) -> Iterable[AcrossLanguages]:
    """Yield the languages of one metric side by side; nothing with fewer than two that have a gap with an error."""
    rows_with_gaps = [(row, row.gap, row.gap_error) for row in rows if row.gap is not None and row.gap_error]
    if len(rows_with_gaps) < 2:
        return
    gaps, errors = np.array([gap for _, gap, _ in rows_with_gaps]), np.array([error for _, _, error in rows_with_gaps])
    summary = meta_analysis(gaps, errors**2)
    worst = int(np.abs(gaps).argmax())
    key = {name: value for name, value in rows_with_gaps[0][0].key.items() if name != "language"}
    roots = [math.sqrt(end) if end >= 0 else math.nan for end in summary.tau2_interval]
    yield AcrossLanguages(
        key=key,
        languages=len(rows_with_gaps),
        mean=number(summary.mean),
        mean_ci=_ends(summary.interval),
        spread=number(math.sqrt(summary.tau2)),
        spread_ci=_ends((roots[0], roots[1])),
        p=number(summary.q_p),
        worst=str(rows_with_gaps[worst][0].key["language"]),
        worst_gap=float(gaps[worst]),
    )


def _ends(interval: tuple[float, float]) -> Ends:
    return None if math.isnan(interval[0]) or math.isnan(interval[1]) else (float(interval[0]), float(interval[1]))


@dataclass(frozen=True, eq=False)
class ProbabilityCell:
    """The answers of one cell that have a probability and a labelled text.

    Attributes:
        key: that of the cell.
        asked: answers of labelled texts, with a probability or not.
        confidence: (n,) the probability of the answer.
        right: (n,) 1 where the answer is the annotators' aggregate, else 0; NaN where they have none.
        person: (n,) share of the text's annotators who gave the answer.
        probabilities: (n, k) of all classes, sum 1; NaN where they are not stated or add up to something else.
        counts: (n, k) the text's labels of each class.
        group: (n,) codes of what texts share.
        next_person: (n,) how often an annotator gives the commonest label of the text's others; NaN with fewer than two.
    """

    key: dict[str, Any]
    asked: int
    confidence: Floats
    right: Floats
    person: Floats
    probabilities: Floats
    counts: Ints
    group: Ints
    next_person: Floats

    @property
    def compared(self) -> NDArray[np.bool_]:
        """(n,) answers whose text has an aggregate of labels."""
        return ~np.isnan(self.right)

    @property
    def distributed(self) -> NDArray[np.bool_]:
        """(n,) answers with a distribution over all classes."""
        return np.asarray(~np.isnan(self.probabilities).any(axis=1))


def probability_cells(judged: JudgedTable, by_source: bool = False) -> Iterator[ProbabilityCell]:
    """Yield every cell whose answers have probabilities; continuous scores have none."""
    if not judged.judgments.confidence.values:
        return
    confidence, text_of_probs = numbers(judged.judgments.confidence), judged.judgments.probs
    for key, rows in judged.rows_by_cell(by_source):
        labels = judged.labels[str(key["metric"])]
        rows = rows[judged.labelled[rows] & (judged.code[rows] >= 0)]
        used = rows[~np.isnan(confidence[rows])]
        if labels.classes.continuous or not len(used):
            continue
        counts, code = labels.counts[judged.item[used]], judged.code[used]
        distinct, row_of_text = np.unique(text_of_probs.codes[used], return_inverse=True)
        texts = ("{}" if code == NO_VALUE else str(text_of_probs.values[code]) for code in distinct.tolist())
        distributions = np.array([_distribution(text, labels.classes.scores) for text in texts])
        yield ProbabilityCell(
            key=key,
            asked=len(rows),
            confidence=np.clip(confidence[used], 0.0, 1.0),
            right=judged.hit[used],
            person=counts[np.arange(len(used)), code] / counts.sum(axis=1),
            probabilities=distributions[row_of_text],
            counts=counts,
            group=judged.group[used],
            next_person=item_credits(share_left_out("human"), counts, code),
        )


def _distribution(text: str, classes: tuple[Any, ...]) -> list[float]:
    """Return the probabilities of all classes, divided by their sum; NaN where they are no distribution."""
    stated = msgspec.json.decode(text, type=dict[str, float])
    values = [stated.get(str(score), 0.0) for score in classes]
    total = sum(values)
    if not stated or abs(total - 1) > SUM_TOLERANCE:
        return [float("nan")] * len(classes)
    return [value / total for value in values]


class CommonCut(KeyedRow, frozen=True, kw_only=True):
    """Answers of one language with at least the confidence `cut`.

    Attributes:
        cut: the confidence; `origin` says where it comes from, `usual` or `accept`.
        n, groups: accepted answers with a commonest label, and independent texts among them.
        accepted: share of the answers that are accepted.
        wrong, wrong_ci: share of the accepted ones that are not the commonest label, with exact 95 % limits by groups; None where none is.
    """

    cut: float
    origin: str
    n: int
    groups: int
    accepted: float
    wrong: float | None
    wrong_ci: tuple[float, float] | None


class _Compared(NamedTuple):
    confidence: Floats
    right: Floats
    group: Ints


def common_cuts(cells: Sequence[ProbabilityCell], *, is_random: bool) -> Iterator[CommonCut]:
    """Yield every cut in every language of one metric of a judge.

    `is_random` says whether labels are a random sample: only then a cut for all languages together is certified (at most 10 % wrong, with
    the probability 90 %).
    """
    compared = [_Compared(cell.confidence[cell.compared], cell.right[cell.compared], cell.group[cell.compared]) for cell in cells]
    cuts = [(cut, "usual") for cut in CUTS]
    if is_random and any(len(cell.right) for cell in compared):
        together = _Compared(*(np.concatenate(part) for part in zip(*compared, strict=True)))
        certified = number(acceptance_threshold(*together).threshold)
        cuts += [] if certified is None else [(certified, ACCEPTED)]
    for cell, (confidence, right, group) in zip(cells, compared, strict=True):
        for cut, origin in cuts if len(right) else ():
            taken = confidence >= cut
            accepted = share_found(1 - right[taken], group[taken])
            yield CommonCut(
                key=cell.key,
                cut=cut,
                origin=origin,
                n=accepted.n,
                groups=accepted.groups,
                accepted=float(taken.mean()),
                wrong=number(accepted.share),
                wrong_ci=(accepted.lower(0.025), accepted.upper(0.025)) if accepted.n else None,
            )
