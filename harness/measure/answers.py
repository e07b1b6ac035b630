"""A run's judgments beside their labels, one row for each judgment. Every section is computed from this table.

The order of the rows does not depend on the order of the judgments, so that the same answers give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.data.columns import NO_VALUE, CodedColumn, Codes, combination_ids, last_matching_rows, rows_by_values, sorted_rows
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.measure.judged_table import item_key
from harness.measure.label_counts import Classes, LabelCounts, classes_of, count_labels
from harness.measure.options import POOLED, CompareOptions, Drawing, Rule, annotators_needed
from harness.measure.scores import numbers
from harness.model import CONDITION, Scale, Variant, parse_variant, plainness
from harness.stats import aggregate_counts, distinct_counts, item_credits
from harness.stats.agreement.agreement import share_of_hits, share_of_pairs
from harness.stats.core.arrays import Floats, Ints

KEYS = ("language", "task", "metric", *CONDITION)
CREDITS = ("pa", "pa_failed_wrong", "pa_pairwise", "human_pa")
"""The statistics whose credits every row has."""


class IndexedValues:
    """Numbers (rows,) that are read like an array: row `r` has `values[at[r]]`. A million rows hold few different numbers."""

    __slots__ = ("at", "values")

    def __init__(self, values: NDArray[Any], at: NDArray[Any]) -> None:
        self.values, self.at = values, at

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        """The numbers of some rows (a mask, row numbers or a slice)."""
        found: NDArray[Any] = self.values[self.at[rows]]
        return found


@dataclass(frozen=True, eq=False)
class DistinctAnswers:
    """Distinct answers: those with one score, on one metric, about items with the same labels. All arrays are (answers,)."""

    code: Ints
    points: Floats
    best: Floats
    reference: Ints
    label: Floats
    credits: Mapping[str, Floats]

    @classmethod
    def concatenate(cls, parts: Sequence[DistinctAnswers]) -> DistinctAnswers:
        """The kinds of several tables, one after the other."""
        arrays = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in ("code", "points", "best", "reference", "label")
        }
        return cls(**arrays, credits={name: np.concatenate([part.credits[name] for part in parts]) for name in CREDITS})


_NO_INTS, _NO_FLOATS = np.empty(0, np.int64), np.empty(0, np.float64)
_NO_ANSWERS = DistinctAnswers(_NO_INTS, _NO_FLOATS, _NO_FLOATS, _NO_INTS, _NO_FLOATS, dict.fromkeys(CREDITS, _NO_FLOATS))


def _of_kinds(name: str) -> cached_property[IndexedValues]:
    """A property of `AnswerTable`: what its kinds have under a name, for every row."""
    return cached_property(lambda table: IndexedValues(getattr(table.kinds, name), table.kind))


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """Judgments in a fixed order; all numbers are (rows,).

    `code` is the class of the score (-1: unreadable), `points` the score and `best` 1 where it is the best one. `reference` is the class of
    the annotators' aggregate, `label` their mean in points. `credits` are the row's credits for `CREDITS` (NaN where the row does not
    count, and for perturbed texts, which have no labels). Points are oriented so that more is better (NaN without a score, or if the scale
    has no best end). A million rows have only a few dozen kinds, so that each row keeps only its `item` and `kind`.
    """

    data: Dataset
    drawing: Drawing
    reach: Mapping[str, float]  # {metric: points from the worst to the best}
    columns: Mapping[str, CodedColumn]  # coded by rank: `KEYS`, repeat, order, perturbation (no value: unchanged text), failure, languages
    kinds: DistinctAnswers
    kind: Codes
    item: Codes
    groups: Codes  # (items,) of every item
    expected: IndexedValues  # the mean of the score's token probabilities, oriented as points

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: NDArray[Any]) -> AnswerTable:
        """Some of the rows (a mask or row numbers); the table itself if these are all rows."""
        if rows.dtype == bool and rows.all():
            return self
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        expected = IndexedValues(self.expected.values, self.expected.at[rows])
        return replace(self, columns=columns, kind=self.kind[rows], item=self.item[rows], expected=expected)

    code, points, best = _of_kinds("code"), _of_kinds("points"), _of_kinds("best")
    reference, label = _of_kinds("reference"), _of_kinds("label")

    @property
    def group(self) -> IndexedValues:
        return IndexedValues(self.groups, self.item)

    @property
    def credits(self) -> Mapping[str, IndexedValues]:
        return {name: IndexedValues(values, self.kind) for name, values in self.kinds.credits.items()}

    @property
    def readable(self) -> IndexedValues:
        return IndexedValues(self.kinds.code >= 0, self.kind)

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Rows about perturbed texts."""
        return np.asarray(self.columns["perturbation"].codes != NO_VALUE)

    @property
    def clean(self) -> AnswerTable:
        """Rows about unchanged texts."""
        return self.take(~self.changed)

    def joint(self, names: Iterable[str], *, items: bool = False) -> Ints:
        """For each row the number of its combination of columns, rising with their values; with `items`, the item is the last column."""
        item = [CodedColumn(self.data.items, self.item)] if items else []
        return combination_ids([*(self.columns[name] for name in names), *item], np.zeros(len(self), np.int8))

    def value(self, name: str, row: int) -> Any:
        return self.columns[name].at(row)

    def cells(self, level: Sequence[str], condition: Sequence[str] = CONDITION) -> Iterator[tuple[dict[str, Any], Ints]]:
        """`(key, rows)` of each combination of the columns of `level` and `condition`, in the order of their values.

        A key has all of `KEYS`, with `*` where it pools, and the further columns that were requested.
        """
        columns = {name: self.columns[name] for name in (*level, *condition)}
        for own, rows in rows_by_values(columns, len(self)):
            yield dict.fromkeys(KEYS, POOLED) | own, rows

    def partners(self, of: Ints, among: Ints, same: Sequence[str]) -> Ints:
        """For each row of `of`, the row of `among` about the same item with the same values of the columns `same`; -1 without one."""
        return last_matching_rows(self.joint(same, items=True), among)[of]


def tabulate_answers(data: Dataset, judgments: Judgments, options: CompareOptions) -> AnswerTable:
    """The judgments of the items of `data` beside their labels, under the rule of `options`.

    Raises UsageError as `count_labels` does.
    """
    item = judgments.item.recode(data.positions)
    if (item < 0).any():
        judgments, item = judgments.take(item >= 0), item[item >= 0]
    columns = {name: _ranked(item_key(data, name)).take(item) for name in ("language", "task")}
    own = (*KEYS[2:], "repeat", "order", "perturbation", "failure", "justification", "asked_language", "detected_language")
    columns |= {name: _ranked(getattr(judgments, name), name) for name in own}
    order = sorted_rows((columns[name] for name in (*KEYS[2:], "repeat", "order", "perturbation")), item)
    score, expected, item = judgments.score.take(order), judgments.expected.take(order), item[order]
    columns = {name: column.take(order) for name, column in columns.items()}
    counted = count_labels(data, judgments, annotators_needed(options, data.labels.max_annotators), options.majority)
    laid = _AlignedLabels(data, counted, options.majority, score, expected, item, columns)
    return laid.answers(options.drawing)


@dataclass(eq=False)
class _AlignedLabels:
    """Sorted judgments, to be put beside their labels metric by metric."""

    data: Dataset
    counted: Mapping[str, LabelCounts]
    majority: Rule
    score: CodedColumn
    stated: CodedColumn  # expected scores
    item: Codes
    columns: dict[str, CodedColumn]

    def __post_init__(self) -> None:
        rows = len(self.item)
        self.kind = np.zeros(rows, np.int32)
        at = np.arange(rows, dtype=np.int32) if self.stated.values else np.broadcast_to(np.int32(0), rows)
        self.expected = IndexedValues(np.full(rows if self.stated.values else 1, np.nan), at)
        self.reach: dict[str, float] = {}

    def answers(self, drawing: Drawing) -> AnswerTable:
        """The answers beside their labels; `drawing` has the seed and the resamples of intervals."""
        kinds = [_NO_ANSWERS]
        for metric in self.columns["metric"].values:
            rows = np.flatnonzero(self.columns["metric"].equals(metric))
            found, kind = self._metric(metric, rows, self.counted.get(metric))
            self.kind[rows] = kind + sum(len(each.code) for each in kinds)
            kinds.append(found)
        return AnswerTable(
            data=self.data,
            drawing=drawing,
            reach=self.reach,
            columns=self.columns,
            kinds=DistinctAnswers.concatenate(kinds),
            kind=self.kind,
            item=self.item,
            groups=_ranked(self.data.clusters).codes,
            expected=self.expected,
        )

    def _metric(self, metric: str, rows: Ints, labels: LabelCounts | None) -> tuple[DistinctAnswers, Ints]:
        """The kinds of answers on a metric, and the kind of each of its rows."""
        scale, given = self.data.scales[metric], self.score.take(rows)
        classes = labels.classes if labels else classes_of(scale, given.used)
        if labels and classes.continuous:
            return self._continuous(metric, rows, labels, given)
        number, k = points_of(scale, classes), len(classes.scores)
        self.reach[metric] = float(np.ptp(number)) if len(number) and not np.isnan(number).any() else np.nan
        counts, pattern = self._labels(rows, labels, k)
        found, kind = np.unique(pattern * (k + 1) + given.recode(classes.index()) + 1, return_inverse=True)
        counts, code = counts[found // (k + 1)], found % (k + 1) - 1
        kinds = DistinctAnswers(
            code=code,
            points=np.append(number, np.nan)[code],
            best=np.append([score == scale.best for score in classes.scores], np.nan)[code],
            **_labels_and_credits(counts, code, number, self.majority),
        )
        if self.expected.values.size > 1 and (way := _direction_of_expected(scale, classes)) is not None:
            stated = self.stated.take(rows)
            self.expected.values[rows] = np.array([*map(float, stated.values), np.nan])[stated.codes] * way
        return kinds, kind

    def _continuous(self, metric: str, rows: Ints, labels: LabelCounts, given: CodedColumn) -> tuple[DistinctAnswers, Ints]:
        """The same for continuous scores: every different score is a kind. No answer equals a label, so there is no credit."""
        assert labels.scores is not None
        scale, direction = self.data.scales[metric], labels.classes.direction or np.nan
        changed = self.columns["perturbation"].codes[rows] != NO_VALUE
        people = np.where(changed, np.nan, labels.scores.raw_mean[self.item[rows]])
        scores, code = np.unique(numbers(given), return_inverse=True)
        means, mean = np.unique(people, return_inverse=True)
        found, kind = np.unique(code * len(means) + mean, return_inverse=True)
        code, label = found // len(means), means[found % len(means)] * direction
        self.reach[metric] = _length_of(scale)
        points, nothing = scores[code] * direction, np.full(len(code), np.nan)
        read = ~np.isnan(points)
        return DistinctAnswers(
            code=np.where(read, code, -1),
            points=points,
            best=np.where(read, scores[code] == scale.best, np.nan),
            reference=np.full(len(code), -1),
            label=label,
            credits=dict.fromkeys(CREDITS, nothing),
        ), kind

    def _labels(self, rows: Ints, labels: LabelCounts | None, k: int) -> tuple[Ints, Ints]:
        """Distinct class counts (patterns, k), of which the first is that of unlabelled items, and the pattern of each row."""
        nothing = np.zeros((1, k), np.int64)
        if not labels:
            return nothing, np.zeros(len(rows), np.int64)
        counts, pattern = distinct_counts(labels.counts)
        changed = self.columns["perturbation"].codes[rows] != NO_VALUE
        return np.concatenate([nothing, counts]), np.where(changed, 0, pattern[self.item[rows]] + 1)


def _length_of(scale: Scale) -> float:
    """Points from the worst to the best score; NaN if the scale has no ends."""
    ends = [point for point in (*scale.classes, scale.min, scale.max) if isinstance(point, (int, float))]
    return float(max(ends) - min(ends)) if len(ends) > 1 else np.nan


def _labels_and_credits(counts: Ints, code: Ints, number: Floats, majority: Rule) -> dict[str, Any]:
    """Reference, label and credits of `DistinctAnswers`, from class counts (kinds, k) and the judge's classes (kinds,)."""
    if not counts.any():
        nothing = np.full(len(code), np.nan)
        return {"reference": np.full(len(code), -1), "label": nothing, "credits": dict.fromkeys(CREDITS, nothing)}
    raters = counts.sum(axis=1)
    shares_of_hits = (share_of_hits(majority), share_of_hits(majority, failed_wrong=True))
    statistics = (*shares_of_hits, share_of_pairs("judge", 0), share_of_pairs("human", 0))
    return {
        "reference": np.maximum(aggregate_counts(counts, majority), -1),
        "label": np.where(raters > 0, counts @ number / np.maximum(raters, 1), np.nan),
        "credits": {name: item_credits(statistic, counts, code) for name, statistic in zip(CREDITS, statistics, strict=True)},
    }


def points_of(scale: Scale, classes: Classes) -> Floats:
    """The points of each class: its number or position, oriented so that more is better; on a nominal scale 1 for the best class, else 0.

    NaN if the scale has no best end, because then no score is better than another.
    """
    if scale.kind == "nominal":
        return np.array([np.nan if scale.best is None else float(score == scale.best) for score in classes.scores])
    numbers = np.asarray(range(len(classes.scores)) if classes.values is None else classes.values, np.float64)
    return numbers * (np.nan if classes.direction is None else classes.direction)


def _direction_of_expected(scale: Scale, classes: Classes) -> int | None:
    """1 if a higher expected score is better, -1 if it is worse, None if the scale has no mean, as with three named classes."""
    if scale.kind == "nominal" and len(classes.scores) != 2:
        return None
    numeric = all(isinstance(score, (int, float)) for score in classes.scores)
    rising = numeric and list(classes.scores) == sorted(classes.scores, key=float)
    return classes.direction if rising else None


def variant_of(text: str) -> Variant | None:
    """The variant that a text names; None if the text is not a variant, which is possible in data folders."""
    try:
        return parse_variant(text)
    except ValueError:
        return None


def _ranked(column: CodedColumn, name: str = "") -> CodedColumn:
    """The column with sorted values, without values that no row has; variants are sorted from the plainest to the most special."""
    values = sorted(column.used, key=plainness if name == "variant" else _order)
    return CodedColumn(tuple(values), column.recode({value: rank for rank, value in enumerate(values)}))


def _order(value: Any) -> tuple[Any, ...]:
    return (0, value, "") if isinstance(value, (int, float)) else (1, 0, str(value))
