"""Judgments beside the labels of their items: the one table that statistics, decisions, corrections, sections and boards compute from.

A row is a judgment: an item, a metric, a condition and a repeat. Beside it stand the labels of its item as counts. Columns that follow from
a judgment and its labels together are computed on first use, so that a table costs what is read of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.content.specs import Asked
from harness.content.tags import choose_from
from harness.data.columns import (
    NO_VALUE,
    CodedColumn,
    Codes,
    combination_ids,
    first_rows,
    last_matching_rows,
    rows_by_number,
    rows_by_values,
    sorted_rows,
)
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.measure.label_counts import Classes, Design, LabelCounts, classes_of, count_labels, numbers
from harness.measure.options import ALWAYS, POOLED, Drawing, Level, MeasureOptions, annotators_needed
from harness.model import CELL, CONDITION, Failure, JudgeCondition, plainness
from harness.offensive_texts import hides_texts, looks_like_text
from harness.stats.agreement.agreement import share_of_pairs
from harness.stats.agreement.describe import LEVELS, agreement_level
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.statistic import item_credits
from harness.stats.intervals.paired import commonest

KEYS = ("language", "task", "metric", *CONDITION)
ITEM_KEYS = ("language", "task", "system", "group")
RIGHT, WRONG, FAILED, NO_REFERENCE, CHANGED, NUMBER = OUTCOMES = ("right", "wrong", "failed", "no reference", "changed text", "number")
"""In this order: equal to the annotators' aggregate; another class; no score; no aggregate; perturbed text, which has no labels; a number.

On interval scales the reference is the annotators' mean, and no score is right or wrong: it is a `number` at some distance from the mean.
"""
Column = TypeVar("Column", bound=NDArray[Any])


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """Judgments of one source, or of several on the same items and labels. All columns are (rows,).

    Attributes:
        data: the items, their labels and the scales.
        labels: by metric, the labels of all items as counts; judgments on other metrics have none.
        judgments: the columns of the judgments, with the failure `missing` where a judge was asked and gave no answer.
        item: positions among the items of the data.
        source: the names of the sources.
        row: of the judgments that the table was made from; -1 where there is none.
        groups: (items,) codes of the independent texts.
        level: of the comparison; see `counted`.
        drawing: the seed and the resamples of intervals.
        keys: columns to group by that stand for, or beside, those of the items.
        learnt: `{(item_id, metric): score}` that a majority baseline has learnt from development items; None if nothing was. Pairs that are
            missing get the commonest reference of the item's language, task and metric in the cell.
        design: how the labelled items were drawn; None if each counts once.
        design_notes: why stated probabilities are not used.
        unasked: labelled items that judges were not asked about, without score or failure; None if they were asked about all.
    """

    data: Dataset
    labels: Mapping[str, LabelCounts]
    judgments: Judgments
    item: Codes
    source: CodedColumn
    row: Ints
    groups: Codes
    level: Level
    drawing: Drawing
    keys: Mapping[str, CodedColumn] = field(default_factory=dict)
    learnt: Mapping[tuple[str, str], Any] | None = None
    design: Design | None = None
    design_notes: tuple[str, ...] = ()
    unasked: JudgedTable | None = None

    @classmethod
    def align(
        cls,
        data: Dataset,
        judgments: Judgments,
        labels: Mapping[str, LabelCounts],
        source: str = "",
        options: MeasureOptions = MeasureOptions(),
    ) -> JudgedTable:
        """Return the judgments as they are, beside these labels."""
        rows = len(judgments)
        return cls(
            data=data,
            labels=labels,
            judgments=judgments,
            item=judgments.item.recode(data.positions),
            source=CodedColumn.constant(source, rows),
            row=np.arange(rows),
            groups=data.clusters.codes,
            level=options.level,
            drawing=options.drawing,
        )

    @classmethod
    def concatenate(cls, tables: Sequence[JudgedTable]) -> JudgedTable:
        """Return the rows of tables of the same data and labels, one table after the other."""
        first, *rest = tables
        if not rest:
            return first
        unasked = [table.unasked for table in tables if table.unasked is not None]
        return replace(
            first,
            judgments=Judgments.concatenate([table.judgments for table in tables]),
            item=np.concatenate([table.item for table in tables]),
            source=CodedColumn.concatenate([table.source for table in tables]),
            row=np.concatenate([table.row for table in tables]),
            keys={name: CodedColumn.concatenate([table.keys[name] for table in tables]) for name in first.keys},
            unasked=cls.concatenate(unasked) if unasked else None,
        )

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: NDArray[Any]) -> JudgedTable:
        """Return the table of some rows (a mask or row numbers)."""
        return replace(
            self,
            judgments=self.judgments.take(rows),
            item=self.item[rows],
            source=self.source.take(rows),
            row=self.row[rows],
            keys={name: column.take(rows) for name, column in self.keys.items()},
        )

    @cached_property
    def clean(self) -> JudgedTable:
        """The rows about unchanged texts."""
        return self.take(~self.changed) if self.changed.any() else self

    # Keys

    def column(self, name: str) -> CodedColumn:
        """Return the values of a key to group by. Raises UsageError for a key that no item has."""
        if name in self.keys:
            return self.keys[name]
        if name in ("metric", *CONDITION, "repeat", "order"):
            column: CodedColumn = getattr(self.judgments, name)
            return column
        if name == "source":
            return self.source
        return self.agreement if name == "agreement" else item_key(self.data, name).take(self.item)

    def with_keys(self, **columns: CodedColumn) -> JudgedTable:
        """Return the table with further columns to group by."""
        return replace(self, keys={**self.keys, **columns})

    def cells(self, level: Sequence[str], condition: Sequence[str] = CONDITION) -> Iterator[tuple[dict[str, Any], Ints]]:
        """Yield `(key, rows)` of each combination of the columns of `level` and `condition`, in the order of their codes.

        A key has all of `KEYS`, with `*` where it pools, and the further columns that were requested.
        """
        for key, rows in rows_by_values(self.columns((*level, *condition)), len(self)):
            yield dict.fromkeys(KEYS, POOLED) | key, rows

    def rows_by_cell(self, by_source: bool) -> Iterator[tuple[dict[str, Any], Ints]]:
        """Yield the key and the rows of each cell that decisions are about: by `CELL`, and with `by_source` by source too.

        Left out are metrics without labels, and those whose labels are on another scale than the answers.
        """
        for key, rows in rows_by_values(self.columns((*(("source",) if by_source else ()), *CELL)), len(self)):
            labels = self.labels.get(str(key["metric"]))
            if labels is not None and not labels.classes.order_only:
                yield key, rows

    def joint(self, names: Iterable[str], *, items: bool = False) -> Ints:
        """Return for each row the number of its combination of columns, rising with their codes; with `items`, the item is the last one."""
        item = [CodedColumn(self.data.items, self.item)] if items else []
        return combination_ids([*self.columns(names).values(), *item], np.zeros(len(self), np.int8))

    def partners(self, rows: Ints, among: Ints, same: Sequence[str]) -> Ints:
        """Return for each row of `of` the row of `among` about the same item with the same values of the columns `same`; -1 without one."""
        return last_matching_rows(self.joint(same, items=True), among)[rows]

    def columns(self, names: Iterable[str]) -> dict[str, CodedColumn]:
        """Return the values of several keys. Raises UsageError for a key that no item has."""
        return {name: self.column(name) for name in names}

    def keyed(self, names: Iterable[str]) -> tuple[list[dict[str, Any]], Ints]:
        """Return `factorise` of these keys."""
        return factorise(self.columns(names), len(self))

    @cached_property
    def rows_by_metric(self) -> dict[str, Ints]:
        """The rows of every metric that has labels."""
        return {metric: np.flatnonzero(self.judgments.metric.equals(metric)) for metric in self.labels}

    # What follows from the items

    @cached_property
    def group(self) -> Ints:
        """Codes of the independent texts."""
        return self.groups[self.item].astype(np.int64)

    @cached_property
    def weight(self) -> Floats | None:
        """The number of texts that each row's text stands for; None if each stands for itself."""
        return None if self.design is None else self.design.weight[self.item]

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        """Rows about texts that are not as people saw them. Labels say nothing about these."""
        return ~self.judgments.is_clean

    # What follows from the labels of a row's item

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Rows of unchanged texts with labels."""
        return self._by_metric(np.zeros(len(self), bool), lambda labels, rows: labels.labelled[self.item[rows]]) & ~self.changed

    @cached_property
    def compared(self) -> NDArray[np.bool_]:
        """Rows of unchanged texts with a reference; under `strict`, texts without a commonest label count as disagreement."""
        return self._by_metric(np.zeros(len(self), bool), lambda labels, rows: labels.compared[self.item[rows]]) & ~self.changed

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Rows that numbers rest on: the compared ones; at the level of systems, whose reference is a mean, the labelled ones."""
        return self.compared if self.level == "item" else self.labelled

    @cached_property
    def reference(self) -> CodedColumn:
        """The annotators' aggregate, and their mean on interval scales; of a changed text, that of the original."""
        values: dict[Any, int] = {}
        codes = np.full(len(self), NO_VALUE, np.int32)
        for metric, rows in self.rows_by_metric.items():
            labels, item = self.labels[metric], self.item[rows]
            if labels.scores is not None:
                means = labels.scores.raw_mean[item]
                has_mean = ~np.isnan(means)
                scores, code = np.unique(means[has_mean], return_inverse=True)
                rows, references = rows[has_mean], scores.tolist()
            else:
                code, references = np.maximum(labels.reference[item], NO_VALUE), [*labels.classes.scores]
            codes[rows] = np.array([*(values.setdefault(score, len(values)) for score in references), NO_VALUE], np.int32)[code]
        return CodedColumn(tuple(values), codes)

    @cached_property
    def reference_class(self) -> Ints:
        """The class of the annotators' aggregate; -1 without one, and of continuous scores and changed texts."""
        code = np.full(len(self), -1, np.int64)
        self._by_metric(code, lambda labels, rows: np.maximum(labels.reference[self.item[rows]], -1), classes_only=True)
        return np.where(self.changed, -1, code)

    @cached_property
    def label_points(self) -> Floats:
        """The annotators' mean in points of the scale; NaN without a label, of changed texts, and without a best end."""
        mean = np.full(len(self), np.nan)
        for metric, rows in self.rows_by_metric.items():
            labels = self.labels[metric]
            if labels.scores is not None and labels.classes.continuous:
                points = labels.scores.raw_mean * (labels.classes.direction or np.nan)
            else:
                points = labels.counts @ self.class_points[metric] / np.maximum(labels.raters, 1)
            mean[rows] = np.where(labels.labelled, points, np.nan)[self.item[rows]]
        return np.where(self.changed, np.nan, mean)

    @cached_property
    def agreement(self) -> CodedColumn:
        """The annotators' agreement: `full`, `partial`, `none`; no value with fewer than two, and of continuous scores."""
        level = np.full(len(self), NO_VALUE, np.int32)
        self._by_metric(level, lambda labels, rows: agreement_level(labels.counts[self.item[rows]], None), classes_only=True)
        return CodedColumn(LEVELS, level)

    @cached_property
    def mean_label(self) -> Floats:
        """The annotators' mean on interval scales, as correlations use it; else NaN."""
        mean = np.full(len(self), np.nan)
        return self._by_metric(mean, lambda labels, rows: np.nan if labels.scores is None else labels.scores.mean[self.item[rows]])

    # What follows from the judgment and its labels

    @cached_property
    def code(self) -> Ints:
        """The class of the score; -1 without one."""
        score = self.judgments.score
        return self._by_metric(np.full(len(self), -1, np.int64), lambda labels, rows: score.take(rows).recode(labels.classes.index()))

    @cached_property
    def hit(self) -> Floats:
        """1 where the score is the annotators' aggregate, else 0, failures as wrong; NaN without one, and of continuous scores."""
        hit = np.full(len(self), np.nan)
        self._by_metric(hit, lambda labels, rows: labels.hits(self.code[rows], self.item[rows]), classes_only=True)
        return np.where(self.compared, hit, np.nan)

    @cached_property
    def readable(self) -> NDArray[np.bool_]:
        return self.code >= 0

    @cached_property
    def class_points(self) -> dict[str, Floats]:
        """By metric, the points of each class: its number or position, more is better; on a nominal scale 1 for the best class, else 0.

        NaN on a scale without a best end, because then no score is better than another.
        """
        points: dict[str, Floats] = {}
        for metric, labels in self.labels.items():
            classes, best = labels.classes, self.data.scales[metric].best
            if classes.kind == "nominal":
                points[metric] = np.array([np.nan if best is None else float(score == best) for score in classes.scores])
            else:
                numbers_of_classes = range(len(classes.scores)) if classes.values is None else classes.values
                points[metric] = np.asarray(numbers_of_classes, np.float64) * (classes.direction or np.nan)
        return points

    @cached_property
    def points(self) -> Floats:
        """The score in points of the scale; NaN without a score, and without a best end."""
        points = np.full(len(self), np.nan)
        for metric, rows in self.rows_by_metric.items():
            if (classes := self.labels[metric].classes).continuous:
                points[rows] = numbers(self.judgments.score.take(rows)) * (classes.direction or np.nan)
            else:
                points[rows] = np.append(self.class_points[metric], np.nan)[self.code[rows]]
        return points

    @cached_property
    def best(self) -> Floats:
        """1 where the score is the best one, else 0; NaN without a score."""
        best = np.full(len(self), np.nan)
        for metric, rows in self.rows_by_metric.items():
            best[rows] = self.judgments.score.take(rows).among([self.data.scales[metric].best])
        return np.where(self.readable, best, np.nan)

    @cached_property
    def expected_points(self) -> Floats:
        """The mean of the score's token probabilities, oriented as points; NaN where none is known, as with three named classes."""
        expected = np.full(len(self), np.nan)
        stated = self.judgments.expected
        if stated.values:
            for metric, rows in self.rows_by_metric.items():
                # The direction is 1 if a higher expected score is better, -1 if it is worse. A scale of three named classes has no mean.
                classes = self.labels[metric].classes
                has_mean = self.data.scales[metric].kind != "nominal" or len(classes.scores) == 2
                numeric = has_mean and all(isinstance(score, (int, float)) for score in classes.scores)
                rising = numeric and list(classes.scores) == sorted(classes.scores, key=float)
                if rising and classes.direction is not None:
                    expected[rows] = numbers(stated.take(rows)) * classes.direction
        return expected

    @cached_property
    def reach(self) -> dict[str, float]:
        """By metric, points from the worst to the best score; NaN if the scale has no ends or no best."""
        reach = {}
        for metric, labels in self.labels.items():
            scale, points = self.data.scales[metric], self.class_points[metric]
            if labels.classes.continuous:
                ends = [point for point in (*scale.classes, scale.min, scale.max) if isinstance(point, (int, float))]
                reach[metric] = float(max(ends) - min(ends)) if len(ends) > 1 else np.nan
            else:
                reach[metric] = float(np.ptp(points)) if len(points) and not np.isnan(points).any() else np.nan
        return reach

    @cached_property
    def credits(self) -> dict[str, Floats]:
        """By statistic, what each row counts: NaN where it does not count, and of continuous scores and changed texts."""
        credits = {"pa": np.where(self.readable, self.hit, np.nan), "pa_failed_wrong": self.hit}
        for statistic in (share_of_pairs("judge", 0), share_of_pairs("human", 0)):
            column = np.full(len(self), np.nan)
            for metric, rows in self.rows_by_metric.items():
                labels, k = self.labels[metric], len(self.labels[metric].classes.scores)
                if not labels.classes.continuous:  # a million rows have a few dozen different answers to items with the same labels
                    counts, pattern = labels.patterns
                    answers, answer = np.unique(pattern[self.item[rows]] * (k + 1) + self.code[rows] + 1, return_inverse=True)
                    column[rows] = item_credits(statistic, counts[answers // (k + 1)], answers % (k + 1) - 1)[answer]
            credits[statistic.name] = np.where(self.changed, np.nan, column)
        return credits

    @cached_property
    def outcome(self) -> CodedColumn:
        """One of `OUTCOMES`."""
        judgments, reference = self.judgments, self.reference
        score = judgments.score.recode({value: code for code, value in enumerate(reference.values)})
        order_only = judgments.metric.among([metric for metric, labels in self.labels.items() if labels.classes.order_only])
        interval = judgments.metric.among([metric for metric, labels in self.labels.items() if labels.scores is not None])
        outcomes = {
            FAILED: judgments.score.codes == NO_VALUE,
            CHANGED: self.changed,
            NUMBER: interval & ~order_only & (reference.codes != NO_VALUE),
            NO_REFERENCE: ~self.compared | order_only,
            RIGHT: (score == reference.codes) & (score != NO_VALUE),
        }
        codes = np.select(list(outcomes.values()), [OUTCOMES.index(name) for name in outcomes], OUTCOMES.index(WRONG))
        return CodedColumn(OUTCOMES, codes.astype(np.int32))

    def baseline_hits(self, weights: Floats | None = None) -> Floats:
        """Return whether the majority baseline agrees with the aggregate: 1 or 0, NaN without an aggregate, and where scores are numbers.

        The baseline gives the class that it has learnt, else the commonest of the row's language, task, metric, judge and condition.
        `weights` (items,) say how much each item counts there; None: the same.
        """
        language_and_task = combination_ids([item_key(self.data, "language")], item_key(self.data, "task").codes)
        stratum = combination_ids([*self.columns(CONDITION).values(), self.source], language_and_task[self.item])

        def hits(labels: LabelCounts, rows: Ints) -> Floats:
            item, judgments = self.item[rows], self.judgments
            questions = zip(judgments.item.take(rows), judgments.metric.take(rows), strict=True)
            weight = None if weights is None else weights[item]
            guesses = majority_classes(labels.reference[item], labels.classes, stratum[rows], self.learnt, questions, weight)
            return labels.hits(guesses, item)

        return self._by_metric(np.full(len(self), np.nan), hits, classes_only=True)

    def failures(self, rows: NDArray[Any]) -> dict[str, int]:
        """Return how many of some rows have no score, by the name of the failure."""
        kinds = self.judgments.failure.take(rows)
        unread = self.judgments.score.take(rows).codes < 0
        counts = np.bincount(kinds.codes[unread & (kinds.codes >= 0)], minlength=len(kinds.values)).tolist()
        return {str(kind): count for kind, count in sorted(zip(kinds.values, counts, strict=True)) if count}

    def _by_metric(self, column: Column, values: Callable[[LabelCounts, Ints], Any], *, classes_only: bool = False) -> Column:
        """Fill a column with the values of the rows of each metric, and with `classes_only` not those of metrics with continuous scores."""
        for metric, rows in self.rows_by_metric.items():
            if not (classes_only and self.labels[metric].classes.continuous):
                column[rows] = values(self.labels[metric], rows)
        return column


def factorise(columns: Mapping[str, CodedColumn], rows: int) -> tuple[list[dict[str, Any]], Ints]:
    """Return the distinct keys, each with all names of `ALWAYS`, and for every row the number of its key."""
    code = combination_ids(columns.values(), np.zeros(rows, np.int8))
    keys = []
    for row in first_rows(code).tolist():
        keys.append(dict.fromkeys(ALWAYS, POOLED) | {name: column.at(row) for name, column in columns.items()})
    return keys, code


def majority_classes(
    reference: Ints,
    classes: Classes,
    stratum: Ints,
    learnt: Mapping[tuple[str, str], Any] | None,
    questions: Iterable[tuple[str, str]],
    weights: Floats | None = None,
) -> Ints:
    """Return the class that the majority baseline gives to each unit, (units,): its learnt class, else the commonest of the unit's stratum.

    A judge that knows only the stratum of a text gains nothing beside it when strata are pooled.

    Args:
        reference: (units,) the class of the aggregate, negative without one.
        classes: those of the metric.
        stratum: (units,) what has one constant: language, task and metric, and where judges are not told apart elsewhere, the judge.
        learnt: `{(item_id, metric): score}`, from development items; questions that are missing have the constant.
        questions: the item and metric of every unit; read only if something was learnt.
        weights: (units,) how many units each stands for; without them each counts once.
    """
    constant = commonest(reference, len(classes.scores), stratum, weights)
    if not learnt:
        return constant
    index = classes.index()
    learnt_class = np.array([index.get(learnt.get(question), -1) for question in questions], np.int64)
    return np.where(learnt_class >= 0, learnt_class, constant)


def means_by(number: Ints, values: Floats, count: int | None = None) -> Floats:
    """Return the mean of the values of each number, (numbers,); NaN where all of them are. `count` is that of the numbers, from 0.

    >>> means_by(np.array([0, 2, 0]), np.array([1.0, np.nan, 4.0])).tolist()
    [2.5, nan, nan]
    """
    defined = ~np.isnan(values)
    n = np.bincount(number[defined], minlength=int(number.max(initial=-1)) + 1 if count is None else count)
    return np.where(n > 0, np.bincount(number[defined], values[defined], minlength=len(n)) / np.maximum(n, 1), np.nan)


def ordered_table(data: Dataset, judgments: Judgments, options: MeasureOptions) -> JudgedTable:
    """Return the judgments of the items of `data` beside their labels, in an order that does not depend on that of the judgments.

    So the same answers give the same bytes. Columns to group by are coded by rank. Metrics without labels have counts of zeros. Raises
    UsageError as `count_labels` does.
    """
    labels = count_labels(data, judgments, annotators_needed(options, data.most_annotators), options.majority)
    for metric in judgments.metric.used:
        if metric not in labels:
            classes = classes_of(data.scales[metric], judgments.score.take(judgments.metric.equals(metric)).used)
            labels[metric] = LabelCounts(classes, np.zeros((len(data.items), len(classes.scores)), np.int64), options.majority)
    table = JudgedTable.align(data, judgments, labels, options=options)
    if (table.item < 0).any():
        table = table.take(table.item >= 0)
    names = ("metric", *CONDITION, "repeat", "order", "perturbation", "failure", "justification", "asked_language", "detected_language")
    ranked = {name: _sort_values(column, name) if name in names else column for name, column in table.judgments.columns.items()}
    keys = {name: _sort_values(item_key(data, name)).take(table.item) for name in ("language", "task")}
    table = replace(table, judgments=Judgments(**ranked), keys=keys, groups=_sort_values(data.clusters).codes)
    return table.take(sorted_rows((ranked[name] for name in names[: names.index("failure")]), table.item))


def _sort_values(column: CodedColumn, name: str = "") -> CodedColumn:
    """Return the column with sorted values, without values that no row has; variants go from the plainest to the most special."""
    values = sorted(column.used, key=plainness if name == "variant" else _sort_key)
    return CodedColumn(tuple(values), column.recode({value: rank for rank, value in enumerate(values)}))


def _sort_key(value: Any) -> tuple[Any, ...]:
    return (0, value, "") if isinstance(value, (int, float)) else (1, 0, str(value))


def with_missing(table: JudgedTable, rule: Asked | None, all_judgments: Judgments) -> JudgedTable:
    """Return the table with a row for each labelled item that a judge was asked about and has none of, and with `unasked`.

    The rows that are added have the failure `missing`: a judge must not gain by leaving out hard items. Both are limited to the languages,
    tasks, metrics and conditions of which a judge has any judgment.

    `asked` says which items count as asked besides those with a judgment; None if the judgments are complete, as in a run. Of
    `all_judgments` of unchanged texts the table may have a part: the selection does not change which items were asked.
    """
    if rule is None:
        return table
    data, judgments = table.data, table.judgments
    language_and_task = CodedColumn.from_values((item.language, item.task) for item in data.items)
    condition = [getattr(judgments, name) for name in CONDITION]
    shown_items = ShownToJudges(rule, data, all_judgments)
    missing, unasked = [], []
    same = combination_ids([*condition, judgments.metric, language_and_task.take(table.item)], np.zeros(len(table), np.int8))
    for rows in rows_by_number(same):
        row = int(rows[0])
        metric = judgments.metric.values[judgments.metric.codes[row]]
        if metric not in table.labels:
            continue
        absent = table.labels[metric].labelled & (language_and_task.codes == language_and_task.codes[table.item[row]])
        absent[table.item[rows]] = False
        if absent.any():
            was_shown = shown_items.under(JudgeCondition(*(column.at(row) for column in condition)))
            missing.append((row, np.flatnonzero(absent & was_shown)))
            unasked.append((row, np.flatnonzero(absent & ~was_shown)))
    added = _without_score(table, missing, Failure.MISSING)
    complete = JudgedTable.concatenate([table, added]) if len(added) else table
    return replace(complete, unasked=_without_score(table, unasked, None))


def _without_score(table: JudgedTable, absent: Sequence[tuple[int, Ints]], failure: Failure | None) -> JudgedTable:
    """Return rows without a score: for each `(row, items)`, one for each item, otherwise equal to that row."""
    rows = np.concatenate([np.empty(0, np.int64), *(np.full(len(items), row) for row, items in absent)])
    item = np.concatenate([np.empty(0, np.int64), *(items for _, items in absent)]).astype(np.int32)
    likened = table.take(rows)
    judgments = likened.judgments
    judgments.item = CodedColumn(tuple(item.item_id for item in table.data.items), item)
    for name in ("score", *Judgments.OPTIONAL):
        setattr(judgments, name, CodedColumn.empty(len(rows)))
    judgments.failure = CodedColumn.constant(failure, len(rows)) if failure else CodedColumn.empty(len(rows))
    return replace(likened, item=item, row=np.full(len(rows), -1))


class ShownToJudges:
    """The items that a judge was shown under each condition, whether it judged them or not."""

    def __init__(self, rule: Asked, data: Dataset, all_judgments: Judgments) -> None:
        self._asked, self._judgments = rule, all_judgments
        self._item = all_judgments.item.recode(data.positions)
        self._column = [item.fields.get(rule.column) for item in data.items] if rule.column else []
        self._none = np.zeros(len(data.items), bool)
        self._masks: dict[JudgeCondition, NDArray[np.bool_]] = {}

    def under(self, condition: JudgeCondition) -> NDArray[np.bool_]:
        """Return a mask of the items that a judge was shown under a condition."""
        if condition not in self._masks:
            match self._asked.rule:
                case "rows":
                    mask = self._none
                case "all":
                    mask = ~self._none
                case "any-row":
                    columns = [getattr(self._judgments, name) for name in CONDITION]
                    same = np.logical_and.reduce([column.equals(value) for column, value in zip(columns, condition, strict=True)])
                    mask = self._none.copy()
                    mask[self._item[same & (self._item >= 0)]] = True
                case "column":
                    judge = condition.judge
                    mask = np.array([value is True or (isinstance(value, list) and judge in value) for value in self._column], bool)
            self._masks[condition] = mask
        return self._masks[condition]


def as_text(value: Any) -> str:
    """Return a key as text, as people write it: the temperature 0.0 is `0`."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def item_key(data: Dataset, name: str) -> CodedColumn:
    """Return the value of a key for every item: language, task, system, group, or any field that holds a text or a number.

    Raises UsageError for a key that no item has, and for one that holds texts of offensive data, as keys are printed.
    """
    if name in ITEM_KEYS:
        return data.item_columns[name]
    values = [item.fields.get(name) for item in data.items]
    if not any(isinstance(value, (str, int, float)) for value in values):
        fields = sorted({name for item in data.items[:1000] for name, value in item.fields.items() if isinstance(value, (str, int, float))})
        keys = [*ITEM_KEYS, "metric", *CONDITION, "agreement", *fields]
        raise UsageError(f"no item has '{name}'.{choose_from(keys, name)}")
    if hides_texts([data.about]) and any(isinstance(value, str) and looks_like_text(value) for value in values):
        raise UsageError(f"'{name}' holds texts, which are extremely offensive in '{data.id}' and are not printed; choose another key")
    return CodedColumn.from_values(value if isinstance(value, (str, int, float)) else None for value in values)
