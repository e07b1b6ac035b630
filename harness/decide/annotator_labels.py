"""The labels of one cell by annotator, and the alternative annotator test on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.data.dataset import Dataset
from harness.decide.verdict_rule import CopiedLabels
from harness.measure.cells import number
from harness.measure.label_counts import Classes, LabelCounts, numbers
from harness.options import AltScoring
from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.noninferiority import (
    AlternativeAnnotatorTest,
    AnnotatorRule,
    LabelledByAnnotators,
    alternative_annotator_tests,
)

_MOST = 200  # annotators of a cell whose labels are laid out as a table
_LEAST_COPIED = 30  # texts in which equal scores are no chance
_CHANCE = 0.001
_LEAST_NEARLY, _NEARLY, _LESS_OFTEN = 100, 0.98, 0.1  # texts, the share with equal scores, how much rarer others' are equal
_LEAST_BEYOND = 5  # texts in which a near copy is right and the person's commonest score, given to all texts, would not be


class AnnotatorTable(NamedTuple):
    """Names of the annotators, and their class codes (items, annotators), NaN where missing."""

    names: tuple[str, ...]
    codes: Floats


class AnnotatorLabels:
    """Labels by metric as codes, so that those of a cell are found at once."""

    def __init__(self, data: Dataset, counted: Mapping[str, LabelCounts]) -> None:
        item = data.labels.item.recode(data.positions).astype(np.int64)
        self._annotator = data.labels.annotator.codes
        self._names = tuple(map(str, data.labels.annotator.values))
        self._rows: dict[str, tuple[Ints, Ints, Ints | Floats]] = {}
        for code, metric in enumerate(data.labels.metric.values):
            if metric in counted:
                rows = np.flatnonzero(data.labels.metric.codes == code)
                rows = rows[np.argsort(item[rows], kind="stable")]
                scores, classes = data.labels.score.take(rows), counted[metric].classes
                score = numbers(scores) if classes.continuous else scores.recode(classes.index()).astype(np.int64)
                self._rows[metric] = (item[rows], self._annotator[rows].astype(np.int64), score)

    def _labels_of(self, metric: str, items: Ints) -> tuple[Ints, Ints]:
        """Return the rows of the labels of some items, which are in rising order, and for each row the place of its item among them."""
        item = self._rows[metric][0]
        start, stop = np.searchsorted(item, items), np.searchsorted(item, items, side="right")
        sizes = stop - start
        rows = np.repeat(start - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())
        return rows, np.repeat(np.arange(len(items)), sizes)

    def copied(self, metric: str, items: Ints, judge: Floats, *, continuous: bool) -> CopiedLabels | None:
        """Return whose labels a judge's scores (items,) equal in every text that both scored; None where they equal nobody's.

        Scores are class codes, or numbers on continuous scales, NaN where there is none. Fewer than 30 texts show nothing, nor do scores
        of one class. Of an annotator who labelled a part of the texts, equal scores have to be more than what chance gives: the judge's
        agreement with the others' labels of these texts, to the power of the texts, is at most 0.001 after correction for all annotators.
        Where scores equal no annotator's, people's commonest label of each text counts as a person's, and their median and mean, on classes
        as the nearest class.

        Else an annotator counts whose score the judge's equals in 98 % of 100 texts or more, if it equals the others' scores of these texts
        in at least 10 percentage points fewer cases, and if it is right in half of the texts, and 5 or more, that the annotator's commonest
        score given to all texts would miss: a judge with one answer for nearly all texts copies nobody.
        """
        rows, position = self._labels_of(metric, items)
        who, label, judge_score = self._rows[metric][1][rows], self._rows[metric][2][rows].astype(np.float64), judge[position]
        read = ~np.isnan(judge_score)
        equal = read & np.isclose(judge_score, label, rtol=1e-9, atol=0)
        texts, same = (np.bincount(who[rows_of], minlength=len(self._names)) for rows_of in (read, equal))
        texts_judged, people = len(np.unique(position[read])), int((texts > 0).sum())
        for code in sorted(np.flatnonzero((texts >= _LEAST_COPIED) & (same == texts)).tolist(), key=lambda code: -texts[code]):
            by_others = read & (who != code) & np.isin(position, position[who == code])
            agreement = ((equal & by_others).sum() + 1) / (by_others.sum() + 2)
            by_chance = texts[code] < texts_judged and people * agreement ** texts[code] > _CHANCE
            if not by_chance and len(np.unique(label[read & (who == code)])) > 1:
                return CopiedLabels(self._names[code], int(texts[code]))
        if texts_judged < _LEAST_COPIED:
            return None
        for aggregate, values in _aggregates(position, label, len(items)):
            comparable = ~np.isnan(values) & ~np.isnan(judge)
            atol = 0.0 if continuous or aggregate == "commonest" else 0.5
            alike = np.isclose(judge[comparable], values[comparable], rtol=1e-9, atol=atol)
            if comparable.sum() >= _LEAST_COPIED and alike.all() and len(np.unique(values[comparable])) > 1:
                return CopiedLabels(None, int(comparable.sum()), aggregate)
        for code in np.flatnonzero((texts >= _LEAST_NEARLY) & (same >= _NEARLY * texts) & (same < texts)).tolist():
            by_others = read & (who != code) & np.isin(position, position[who == code])
            others = float((equal & by_others).sum() / max(by_others.sum(), 1))
            rarer = by_others.sum() >= _LEAST_NEARLY and others <= same[code] / texts[code] - _LESS_OFTEN
            constant = np.unique(label[read & (who == code)], return_counts=True)[1].max()
            beyond = same[code] - constant
            if rarer and beyond >= max(_LEAST_BEYOND, (texts[code] - constant) / 2):
                return CopiedLabels(self._names[code], int(texts[code]), equal=int(same[code]), others=others)
        return None

    def table(self, metric: str, items: Ints) -> AnnotatorTable | None:
        """Return the labels of some items, which are in rising order; None with more than 200 annotators."""
        _, annotator, score = self._rows[metric]
        rows, position = self._labels_of(metric, items)
        people, column = np.unique(annotator[rows], return_inverse=True)
        if len(people) > _MOST:
            return None
        table = np.full((len(items), len(people)), math.nan)
        table[position, column] = score[rows]
        return AnnotatorTable(tuple(self._names[code] for code in people.tolist()), table)


def _aggregates(item: Ints, label: Floats, items: int) -> Iterator[tuple[Literal["commonest", "median", "mean"], Floats]]:
    """Yield what becomes of the labels of each item, (items,); NaN where there is nothing, and no commonest where several are."""
    commonest = np.full(items, math.nan)
    pairs, counts = np.unique(np.stack([item.astype(np.float64), label]), axis=1, return_counts=True)
    order = np.lexsort((counts, pairs[0]))  # the commonest label of an item is its last
    pair_item, pair_label, counts = pairs[0, order].astype(np.int64), pairs[1, order], counts[order]
    last = np.flatnonzero(np.append(np.diff(pair_item), 1))
    tied = (last > 0) & (pair_item[last - 1] == pair_item[last]) & (counts[last - 1] == counts[last])
    commonest[pair_item[last]] = np.where(tied, math.nan, pair_label[last])
    yield "commonest", commonest
    order = np.lexsort((label, item))
    count = np.bincount(item, minlength=items)
    start, has_labels = np.cumsum(count) - count, count > 0
    lower, upper = (label[order][(start + part)[has_labels]] for part in ((count - 1) // 2, count // 2))
    yield "median", _spread((lower + upper) / 2, has_labels)
    yield "mean", _spread(np.bincount(item, label, items)[has_labels] / count[has_labels], has_labels)


def _spread(values: Floats, rows: NDArray[np.bool_]) -> Floats:
    spread = np.full(len(rows), math.nan)
    spread[rows] = values
    return spread


class AnnotatorSample(NamedTuple):
    """The input of the alternative annotator test: people's labels as codes or numbers, the judge's, and what items share."""

    table: AnnotatorTable
    judge: Floats
    groups: Ints
    scoring: AltScoring
    metrics: tuple[str, ...]

    def only(self, items: NDArray[np.bool_]) -> AnnotatorSample:
        """Return some of the items."""
        table = self.table._replace(codes=self.table.codes[items])
        return self._replace(table=table, judge=self.judge[items], groups=self.groups[items])


def annotator_sample(
    table: AnnotatorTable | None, codes: Floats, groups: Ints, metric: str, classes: Classes, scoring: AltScoring
) -> AnnotatorSample | None:
    """Return the sample of one cell; None where labels cannot be followed by annotator.

    Args:
        table: the labels of the cell as class codes.
        codes: (items,) class codes of the judge, NaN for failures; means over repeats count as the nearest class.
        groups: (items,) codes of what items share.
        metric: of the cell.
        classes: its scale, whose numbers count by distance. Classes that are no numbers count by their positions.
        scoring: by equal classes or by distance.
    """
    if table is None or not len(table.codes):
        return None
    judge = np.round(codes)
    if scoring == "neg_rmse" and classes.values is not None:
        table = table._replace(codes=numbers_of_codes(table.codes, classes.values))
        judge = numbers_of_codes(judge, classes.values)
    return AnnotatorSample(table, judge, groups, scoring, (metric,))


def pooled_sample(samples: Sequence[AnnotatorSample]) -> AnnotatorSample:
    """Return several samples of one scoring as one: each (text, metric) is an item, and an annotator is the same person on all metrics."""
    names = list(dict.fromkeys(name for sample in samples for name in sample.table.names))
    table = np.full((sum(len(sample.judge) for sample in samples), len(names)), math.nan)
    start = 0
    for sample in samples:
        stop = start + len(sample.judge)
        table[start:stop, [names.index(name) for name in sample.table.names]] = sample.table.codes
        start = stop
    judge, groups = np.concatenate([sample.judge for sample in samples]), np.concatenate([sample.groups for sample in samples])
    metrics = tuple(metric for sample in samples for metric in sample.metrics)
    return AnnotatorSample(AnnotatorTable(tuple(names), table), judge, groups, samples[0].scoring, metrics)


def numbers_of_codes(codes: Floats, values: ArrayLike) -> Floats:
    """Return the numbers that class codes stand for; NaN stays."""
    missing = np.isnan(codes)
    return np.where(missing, math.nan, np.asarray(values, np.float64)[np.where(missing, 0, codes).astype(np.int64)])


def annotator_test(sample: AnnotatorSample | None, epsilon: float, *, failures_lose: bool = True) -> dict[str, Any] | None:
    """Return the alternative annotator test as JSON has it; None where labels cannot be followed by annotator.

    `omega`, `rho` and `passed` are those of the published test, on items as if independent. `omega_guarded` is the share of annotators by
    the guarded test over groups. `per_annotator` has for each `{annotator, n, mean, p, p_guarded, rejected}`:
    `mean` is how much more often the person than the judge represents the others strictly better; `rejected` means that the judge
    represents them as well, less epsilon. Its p are corrected over the annotators (Benjamini-Yekutieli).

    Args:
        sample: labels and scores of a cell, or of the cells of a task.
        epsilon: the discount.
        failures_lose: whether the judge loses the items that it failed on; False leaves them out, as the authors do.
    """
    return annotator_tests([sample], epsilon, failures_lose=failures_lose)[0]


def annotator_tests(
    samples: Sequence[AnnotatorSample | None], epsilon: float, *, failures_lose: bool = True
) -> list[dict[str, Any] | None]:
    """Return `annotator_test` of many cells: the same numbers."""
    tested = [sample for sample in samples if sample is not None]
    if not tested:
        return [None] * len(samples)
    cells = [LabelledByAnnotators(cell.table.codes, cell.judge, guarded_groups=cell.groups, scoring=cell.scoring) for cell in tested]
    tests = iter(alternative_annotator_tests(cells, AnnotatorRule(epsilon, failures_lose)))
    return [None if sample is None else _test_to_row(sample, next(tests), epsilon) for sample in samples]


def _test_to_row(sample: AnnotatorSample, alternative: AlternativeAnnotatorTest, epsilon: float) -> dict[str, Any]:
    tested = []
    for name, annotator in zip(sample.table.names, alternative.annotators, strict=True):
        if annotator.test is not None:
            p = {"p": number(annotator.p_adjusted), "p_guarded": number(annotator.p_guarded_adjusted)}
            tested.append({"annotator": name, "n": annotator.n, "mean": number(annotator.test.mean), **p, "rejected": annotator.rejected})
    return {
        "omega": number(alternative.omega),
        "rho": number(alternative.rho),
        "passed": alternative.passed,
        "omega_guarded": number(alternative.omega_guarded),
        "annotators": alternative.tested,
        "epsilon": epsilon,
        "scoring": sample.scoring,
        "per_annotator": tested,
        "reason": alternative.reason,
    }
