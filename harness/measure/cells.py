"""From judgments to cells: all statistics of each language, task, metric, judge and variant, or of other keys to group by."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from itertools import repeat
from typing import Any, NamedTuple

import msgspec
import numpy as np

from harness.data.columns import combination_ids, rows_by_number
from harness.data.dataset import Dataset
from harness.measure.judged_table import JudgedTable, factorise, item_key, majority_classes
from harness.measure.label_counts import LEAST_FOR_GAIN, Classes
from harness.measure.options import MeasureOptions
from harness.measure.score_cells import NAMES as SCORE_NAMES
from harness.measure.score_cells import NOT_CLASSES, NOT_INTERVAL, ScoreCells, ScoredCell
from harness.stats.agreement.agreement import f1_of_pairs
from harness.stats.agreement.describe import (
    LEVELS,
    RARE,
    Distribution,
    coverage,
    distribution_by_agreement,
    distribution_of_judge,
    distribution_of_labels,
    rarest_expected,
)
from harness.stats.core.arrays import Estimate, Estimates, Floats, Ints
from harness.stats.core.catalogue import cell_statistics, undefined_by_scale
from harness.stats.core.groups import relative_weights
from harness.stats.core.many_cells import MANY_CELLS
from harness.stats.core.rows import Rows, distinct_counts, tabulate_cells
from harness.stats.core.statistic import Estimated, estimate
from harness.stats.estimation.labels_needed import gain_over_simple_sample
from harness.stats.intervals.bootstrap import intervals, intervals_on_all_cores
from harness.stats.intervals.intervals import Interval
from harness.stats.intervals.multiplicity import benjamini_yekutieli
from harness.stats.intervals.paired import Difference, DifferenceToTest, difference_to_test, tested_differences

BASELINE = "majority"
HYPOTHESIS = (
    "H0: the judge agrees with the annotators' aggregate as often as the majority baseline, on the same items, failures counted as wrong; "
    "the baseline gives one class to each language, task and metric; two-sided. q: Benjamini-Yekutieli over all cells of this grid"
)
HUMAN_F1 = "human_weighted_f1"
NO_REFERENCE = "no reference"
_OVERALL = "pa_failed_wrong"
_CORRELATIONS = ("kendall_tau", "spearman", "pearson")
_VERSUS = ("baseline", "pa", "diff", "ci", "p", "q", "n", "reason", "hypothesis")
_NOTHING = {
    "coverage": NO_REFERENCE,
    "distribution_labels": "no label",
    "distribution_judge": "no readable score",
    "distribution_by_agreement": "no item with three annotators",
}

NO_INTERVAL = "no interval is computed"


@cache
def statistic_names() -> tuple[str, ...]:
    """Return the names of a cell's statistics. Each has a value, or a reason why it is undefined."""
    return (*(statistic.name for statistic in cell_statistics(2, "interval")), HUMAN_F1, *SCORE_NAMES)


class Cell(msgspec.Struct, frozen=True):
    """The numbers of one cell."""

    key: dict[str, Any]  # its language, task, …, with `*` where the cell pools
    n_ref: int  # judgments that were asked for and have a reference
    n: int  # those of them with a readable score
    coverage: float | None
    failures: dict[str, int]
    groups: int
    design_effect: float | None
    few_rare_cases: bool
    values: dict[str, float | None]
    intervals: dict[str, tuple[float, float] | None]
    vs_baseline: dict[str, Any]
    distribution_labels: dict[str, float] | None
    distribution_judge: dict[str, float] | None
    distribution_by_agreement: dict[str, Any] | None
    undefined: dict[str, str]  # a reason for every null
    n_asked: int = 0  # different questions (item, metric and condition; repeats count once)
    not_asked: int = 0  # labelled questions that the judge was not asked
    versus: dict[str, Any] | None = None
    systems: list[dict[str, Any]] | None = None
    score_counts: dict[str, int] | None = None  # on interval scales: source texts and second ratings that statistics rest on
    # Where texts were drawn with different probabilities: the variance of `pa_failed_wrong` in a simple random sample of as many texts,
    # divided by that in this sample.
    sample_gain: float | None = None

    @property
    def continuous(self) -> bool:
        """True if the scores are numbers, which are compared by correlation and distance instead of equality."""
        return self.undefined.get("pa") == NOT_CLASSES

    def flat(self) -> dict[str, Any]:
        """Return one flat row: the key, the counts, every statistic under its name, and its interval under `<name>_ci`."""
        row = msgspec.structs.asdict(self)
        for name in ("key", "values", "intervals"):
            row.pop(name)
        for name in ("versus", "systems", "sample_gain"):
            if row[name] is None:
                row.pop(name)
        pairs = {f"{name}_ci": list(pair) if pair else None for name, pair in self.intervals.items()}
        return {**self.key, **row, **self.values, **pairs}

    def __getitem__(self, name: str) -> Any:
        """Return the value that `flat` has under a name. The interval of a statistic that the scale does not have is None."""
        for names in (self.key, self.values):
            if name in names:
                return names[name]
        return self.intervals.get(name.removesuffix("_ci")) if name.endswith("_ci") else getattr(self, name)


class CellRows(NamedTuple):
    """The cells of metrics on one scale, which are counted together: their keys, and the rows of each."""

    classes: Classes
    metrics: list[str]
    keys: list[dict[str, Any]]
    rows: list[Ints]


def rows_of_cells(judged: JudgedTable, by: Sequence[str]) -> list[CellRows]:
    """Return the cells of the metrics that have judgments and labels, scale by scale. Raises UsageError for a key that no item has."""
    columns, scales = judged.columns(by), dict[Any, tuple[Classes, list[str]]]()
    for metric in judged.judgments.metric.values:
        if metric in judged.labels:
            classes = judged.labels[metric].classes
            scales.setdefault(classes.key, (classes, []))[1].append(metric)
    tables = []
    for classes, metrics in scales.values():
        rows_of_metrics = np.flatnonzero(judged.judgments.metric.among(metrics))
        keys, cell = factorise({name: column.take(rows_of_metrics) for name, column in columns.items()}, len(rows_of_metrics))
        tables.append(CellRows(classes, metrics, keys, [rows_of_metrics[rows] for rows in rows_by_number(cell, len(keys))]))
    return tables


def make_cells(judged: JudgedTable, options: MeasureOptions) -> list[Cell]:
    """Return the cells of the judgments. Raises UsageError for a key that no item has."""
    tables = rows_of_cells(judged, options.by)
    if sum(len(table.keys) for table in tables) <= MANY_CELLS:
        options = replace(options, intervals=None)
    return [cell for table in tables for cell in _CellTable(judged, table.keys, table.rows, table.classes, options).cells(table.metrics)]


def pools_scales(judged: JudgedTable, by: Sequence[str]) -> bool:
    """Return True if cells with these keys would pool metrics on different scales, which nothing can be computed of."""
    keys = [tuple(key.items()) for table in rows_of_cells(judged, by) for key in table.keys]
    return len(set(keys)) < len(keys)


def sample_gain(judged: JudgedTable, rows: Ints) -> float | None:
    """Return the gain of the sampling design over a simple random sample, in labelled rows; None without one, and with too few texts."""
    if judged.design is None or judged.weight is None or (judged.reference_class[rows] >= 0).sum() < LEAST_FOR_GAIN:
        return None
    stratum = judged.design.stratum[judged.item[rows]]
    return number(gain_over_simple_sample(judged.hit[rows], relative_weights(judged.weight[rows]), stratum))


def sort_key(key: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a key to sort by: texts, numbers (by size) and gaps may be mixed."""
    return tuple((0, value, "") if isinstance(value, (int, float)) else (1, 0, str(value)) for value in key.values())


def with_q(cells: Sequence[Cell]) -> list[Cell]:
    """Add `q` to the cells: the p of `vs_baseline`, corrected over all cells."""
    p = [math.nan if cell.vs_baseline["p"] is None else cell.vs_baseline["p"] for cell in cells]
    q = benjamini_yekutieli(p)
    return [
        msgspec.structs.replace(cell, vs_baseline=cell.vs_baseline | {"q": number(value)})
        for cell, value in zip(cells, q.tolist(), strict=True)
    ]


class _CellTable:
    """The cells of metrics on one scale: their keys, and the units of each."""

    def __init__(
        self, judged: JudgedTable, keys: Sequence[dict[str, Any]], rows: Sequence[Ints], classes: Classes, options: MeasureOptions
    ) -> None:
        self.judged, self.keys, self.rows, self.classes, self.options = judged, keys, rows, classes, options
        self.data, self.design, self.drawing = judged.data, judged.design, options.drawing
        item_keys = [item_key(self.data, name) for name in ("language", "task")]
        self.stratum = combination_ids(item_keys, np.zeros(len(self.data.items), np.int8))  # of the baseline, for each item and metric

    def cells(self, metrics: Sequence[str]) -> list[Cell]:
        judged, by_metric = self.judged, [self.judged.labels[metric] for metric in metrics]
        counts_of_patterns, pattern = distinct_counts(np.concatenate([labels.counts for labels in by_metric]))
        start = {metric: number * len(self.data.items) for number, metric in enumerate(metrics)}
        question = judged.judgments.metric.recode(start) + judged.item  # the item's place among the counts of all metrics
        labelled = [rows[judged.labelled[rows]] for rows in self.rows]
        weights = None if judged.weight is None else [relative_weights(judged.weight[rows]) for rows in labelled]
        counts = table = tabulate_cells(counts_of_patterns, self._answers(labelled, pattern, question))
        if weights is not None:
            table = tabulate_cells(counts_of_patterns, self._answers(labelled, pattern, question), weights)
        people = PairedAnnotators(self.data, start, self.classes)
        item_weights = self.design.weight if self.design else None
        failed, versus, pairs, gains = [], [], [], []
        for rows, weight in zip(labelled, weights or repeat(None), strict=False):
            pairs.append(people.weighted_f1(question[rows], item_weights))
            failed.append(judged.failures(rows[judged.compared[rows]]))
            if not self.classes.continuous:
                versus.append(self._versus(rows, weight))
            gains.append(sample_gain(judged, rows))
        if self.classes.continuous:
            tested = [dict.fromkeys(_VERSUS) | {"reason": NOT_CLASSES} for _ in self.keys]
        else:
            differences = tested_differences([test for _, test in versus])
            tested = [
                {"baseline": BASELINE, "pa": right, **as_difference(difference)}
                for (right, _), difference in zip(versus, differences, strict=True)
            ]
        cells = self._assemble_cells(table, counts, failed, tested, pairs, gains)
        if self.classes.kind != "interval":
            return cells
        scored = ScoreCells(judged, metrics, self.options).cells(self.keys, self.rows)
        return [self._add_score_statistics(cell, numbers) for cell, numbers in zip(cells, scored, strict=True)]

    def _answers(self, labelled: Sequence[Ints], pattern: Ints, question: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield of each cell the pattern of labels, the judge's class and the group of each labelled row."""
        for rows in labelled:
            yield pattern[question[rows]], self.judged.code[rows], self.judged.group[rows]

    def _add_score_statistics(self, cell: Cell, scored: ScoredCell) -> Cell:
        """Return a cell with the statistics of numbers. Continuous scores have nothing else; few different ones keep what classes give."""
        wanted = set(scored.values) if self.classes.continuous else set(SCORE_NAMES)
        if self.options.standardise != "none":
            wanted |= set(_CORRELATIONS)
        mine = {name: estimate for name, estimate in scored.values.items() if name in wanted}
        why = {name: text for name, text in scored.undefined.items() if name.removesuffix("_ci") in mine}
        replaced = {*mine, *(f"{name}_ci" for name in mine)}
        undefined = {name: text for name, text in cell.undefined.items() if name not in replaced} | why
        if self.classes.continuous:
            undefined |= {name: NOT_CLASSES for name in (*statistic_names(), *_NOTHING) if name not in scored.values and name != "coverage"}
        return msgspec.structs.replace(
            cell,
            values=cell.values | {name: number(estimate.value) for name, estimate in mine.items()},
            intervals=cell.intervals | {name: bounds(estimate.interval) for name, estimate in mine.items()},
            undefined=undefined,
            score_counts=scored.counts,
        )

    def _versus(self, rows: Ints, weight: Floats | None) -> tuple[float | None, DifferenceToTest]:
        """Return the majority baseline's agreement, and the judge's difference from it; a stratum is a language, task and metric."""
        judged = self.judged
        metric, reference = judged.judgments.metric.take(rows), judged.reference_class[rows]
        stratum = combination_ids([metric], self.stratum[judged.item[rows]])
        questions = zip(judged.judgments.item.take(rows), metric, strict=True)
        guesses = majority_classes(reference, self.classes, stratum, judged.learnt, questions, weight)
        baseline_hits = np.where(judged.compared[rows], (guesses >= 0) & (guesses == reference), np.nan)
        compared = ~np.isnan(baseline_hits)
        right = None
        if compared.any():
            right = number(np.average(baseline_hits[compared], weights=None if weight is None else weight[compared]))
        return right, difference_to_test(judged.hit[rows], baseline_hits, judged.group[rows], weights=weight, hypothesis=HYPOTHESIS)

    def _assemble_cells(
        self,
        rows: Rows,
        counts: Rows,
        failed: Sequence[dict[str, int]],
        versus: Sequence[dict[str, Any]],
        pairs: Sequence[Estimate],
        gains: Sequence[float | None],
    ) -> list[Cell]:
        """Return the cells of `rows`; numbers of items are those of `counts`, where every item counts once."""
        classes, rule = self.classes, self.options.majority
        statistics_of_scale = partial(
            cell_statistics, len(classes.scores), classes.kind, classes.values, rule=rule, direction=classes.direction
        )
        if classes.continuous:  # with one class it only counts what was read
            statistics = tuple(statistic for statistic in statistics_of_scale() if statistic.name == _OVERALL)
            values, cell_intervals = estimate(statistics, rows), intervals(statistics, rows, **self.drawing)
        else:
            only = None if self.options.intervals is None else self.options.intervals | {_OVERALL}
            values, cell_intervals = (
                estimate(statistics_of_scale(), rows),
                intervals_on_all_cores(statistics_of_scale, rows, only=only, **self.drawing),
            )
        (n_ref, n, _), covered = coverage(counts, rule=rule), coverage(rows, rule=rule).coverage
        by_agreement, rare = (
            distribution_by_agreement(rows)._replace(items=distribution_by_agreement(counts).items),
            rarest_expected(counts),
        )
        labels, judge = distribution_of_labels(rows), distribution_of_judge(rows)
        absent = undefined_by_scale(classes.kind, classes.direction)
        if classes.kind != "interval":
            absent |= dict.fromkeys(SCORE_NAMES, NOT_INTERVAL)
        shown_names = () if classes.continuous else tuple(values)
        cells = []
        for c, key in enumerate(self.keys):
            undefined = absent | reasons(values, cell_intervals, c)
            shares = (named_shares(classes, labels[c]), named_shares(classes, judge[c]))
            counted = (number(covered[c]), *shares, self._counts_by_agreement(by_agreement, c))
            why = pairs[c].reason
            undefined |= {HUMAN_F1: why} if why else {f"{HUMAN_F1}_ci": NO_INTERVAL}
            undefined |= {name: why for (name, why), value in zip(_NOTHING.items(), counted, strict=True) if value is None}
            overall = cell_intervals[_OVERALL][c]
            cells.append(
                Cell(
                    key=key,
                    n_ref=int(n_ref[c]),
                    n=int(n[c]),
                    coverage=counted[0],
                    failures=failed[c],
                    groups=overall.groups,
                    design_effect=None if classes.continuous else overall.design_effect,
                    few_rare_cases=bool(classes.kind != "interval" and rare[c] < RARE),
                    values={name: number(values[name].value[c]) if name in shown_names else None for name in statistic_names()}
                    | {HUMAN_F1: number(pairs[c].value)},
                    intervals={f: bounds(per[c]) for f, per in cell_intervals.items() if f in shown_names} | {HUMAN_F1: None},
                    vs_baseline=versus[c],
                    distribution_labels=counted[1],
                    distribution_judge=counted[2],
                    distribution_by_agreement=counted[3],
                    undefined=undefined,
                    sample_gain=gains[c],
                )
            )
        return cells

    def _counts_by_agreement(self, distribution: Distribution, cell: int) -> dict[str, Any] | None:
        if self.classes.continuous or not distribution.items[cell].any():
            return None
        return {
            level: {
                "items": int(distribution.items[cell, i]),
                "labels": named_shares(self.classes, distribution.labels[cell, i]),
                "judge": named_shares(self.classes, distribution.judge[cell, i]),
            }
            for i, level in enumerate(LEVELS)
        }


def named_shares(classes: Classes, shares: Floats) -> dict[str, float] | None:
    """Return shares by class; on an interval scale, only scores that occur. None without any score, and of continuous scores."""
    if classes.continuous or np.isnan(shares).any():
        return None
    if classes.kind == "interval":
        share_of_score: dict[str, float] = {}
        for score, share in zip(classes.scores, shares.tolist(), strict=True):
            if share:  # scores with the same text count together
                share_of_score[f"{float(score):g}"] = share_of_score.get(f"{float(score):g}", 0.0) + share
        return share_of_score
    return {str(score): share for score, share in zip(classes.scores, shares.tolist(), strict=True)}


def reasons(values: Mapping[str, Estimates], intervals_by_name: Mapping[str, Sequence[Interval]], cell: int) -> dict[str, str]:
    """Return reasons why statistics of a cell are undefined, and why defined ones have no interval."""
    why = {name: str(per_cell.reason[cell]) for name, per_cell in values.items() if per_cell.reason[cell]}
    return why | {
        f"{name}_ci": str(per_cell[cell].reason)
        for name, per_cell in intervals_by_name.items()
        if per_cell[cell].reason and name not in why
    }


def number(value: Any) -> float | None:
    """Return a number, or None for NaN."""
    return None if value is None or math.isnan(value) else float(value)


def bounds(interval: Interval) -> tuple[float, float] | None:
    """Return the ends of an interval; None if it is undefined."""
    return None if math.isnan(interval.lo) else (interval.lo, interval.hi)


def as_difference(difference: Difference | Estimated) -> dict[str, Any]:
    """Return a paired difference as a JSON object; one that states its hypothesis has that too."""
    row = {
        "diff": number(difference.diff if isinstance(difference, Difference) else difference.value),
        "ci": bounds(difference.interval),
        "p": number(difference.p),
        "n": difference.n,
        "reason": difference.reason or difference.interval.reason,
    }
    return row | {"hypothesis": difference.hypothesis} if isinstance(difference, Difference) else row


class PairedAnnotators:
    """The labels of metrics on one scale, one a row, in the order of what they are of.

    `start` is `{metric: number of its first item}`: the label of item i on the metric is of number start + i.
    """

    def __init__(self, data: Dataset, start: Mapping[str, int], classes: Classes) -> None:
        kind = data.about.annotators
        self.reason = None if kind == "persistent" else f"annotators are {kind}"
        if classes.continuous:
            self.reason = NOT_CLASSES
        if self.reason:
            return
        labels = data.labels
        rows = np.flatnonzero(labels.metric.among(start))
        of_metric = labels.metric.take(rows).recode(dict(start)).astype(np.int64)
        unit = of_metric + labels.item.take(rows).recode(data.positions)
        order = np.argsort(unit, kind="stable")
        self.unit, self.annotator = unit[order], labels.annotator.codes[rows[order]]
        self.code = labels.score.take(rows[order]).recode(classes.index())
        self._found: dict[bytes, Estimate] = {}

    def weighted_f1(self, units: Ints, weights: Floats | None = None) -> Estimate:
        """Return the F1 of the annotators of some items (numbers); undefined with a reason where annotators cannot be followed.

        `weights` (items,) are those of the items of the data; without them every item counts once.
        """
        if self.reason:
            return Estimate(math.nan, 0, self.reason)
        chosen = np.unique(units)
        key = sha256(chosen.tobytes()).digest()  # judges of the same items share it
        if key not in self._found:
            begin = np.searchsorted(self.unit, chosen)
            sizes = np.searchsorted(self.unit, chosen, side="right") - begin
            rows = np.repeat(begin - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum()) if len(chosen) else begin
            unit_weights = None if weights is None else weights[self.unit[rows] % len(weights)]
            self._found[key] = f1_of_pairs(self.unit[rows], self.annotator[rows], self.code[rows], unit_weights)
        return self._found[key]
