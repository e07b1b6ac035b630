"""A run's judgments beside their labels, a row a judgment: what every section is computed from.

Rows stand in one order whatever the order of the judgments, so that the same answers give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.analyse.options import POOLED, Options, annotators_needed
from harness.analyse.units import Classes, Votes, classes_of, item_key, votes
from harness.columns import NO_VALUE, Coded, joint, last_with, rows_of
from harness.content.dataset import Dataset
from harness.content.recorded import Judgments
from harness.model import Scale, Variant, parse_variant
from harness.stats import aggregate_counts, item_credits
from harness.stats.agreement import share_of_hits, share_of_pairs
from harness.stats.arrays import Floats, Ints

CONDITION = ("judge", "variant", "temperature", "top_p")
"""Never mixed in one row."""
KEYS = ("language", "task", "metric", *CONDITION)
CREDITS = {
    "pa": share_of_hits(),
    "pa_failed_wrong": share_of_hits(failed_wrong=True),
    "pa_pairwise": share_of_pairs("judge", 0),
    "human_pa": share_of_pairs("human", 0),
}


@dataclass(frozen=True, eq=False)
class Answers:
    """Judgments in a fixed order; all arrays are (rows,).

    `columns` are coded by rank: language, task, metric, judge, variant, temperature, top_p, repeat, perturbation (no value: the text as
    it is), failure, justification, asked_language, told_language. `code` is the class of the score (-1: unreadable), `points` the score
    and `expected` the mean of its token probabilities, both turned so that more is better (NaN without one, or where the scale has no
    best end). `best` is 1 where the score is the best one. `credits` are what the row adds to pa, pa_failed_wrong, pa_pairwise and
    human_pa (NaN where it does not count, and for changed texts, of which the labels say nothing). `reference` is the class of the
    annotators' aggregate, `label` their mean in points.
    """

    data: Dataset
    drawing: Mapping[str, Any]
    reach: Mapping[str, float]  # {metric: points from the worst to the best}
    columns: Mapping[str, Coded]
    credits: Mapping[str, Floats]
    item: Ints
    group: Ints
    code: Ints
    points: Floats
    expected: Floats
    best: Floats
    reference: Ints
    label: Floats

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: NDArray[Any]) -> Answers:
        """Some of the rows (a mask or row numbers)."""
        arrays = {
            field.name: getattr(self, field.name)[rows] for field in fields(self) if isinstance(getattr(self, field.name), np.ndarray)
        }
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, credits={name: of[rows] for name, of in self.credits.items()}, **arrays)

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Rows about a text that was changed first."""
        return np.asarray(self.columns["perturbation"].codes != NO_VALUE)

    @property
    def clean(self) -> Answers:
        """Rows about the texts as they are."""
        return self.take(~self.changed)

    @property
    def readable(self) -> NDArray[np.bool_]:
        return self.code >= 0

    def joint(self, names: Iterable[str], *, items: bool = False) -> Ints:
        """Numbers of the distinct combinations of columns, rising with their values; with `items`, of the item too, which counts last."""
        item = [Coded(self.data.items, self.item.astype(np.int32))] if items else []
        return joint([*(self.columns[name] for name in names), *item], np.zeros(len(self), np.int64))

    def value(self, name: str, row: int) -> Any:
        column = self.columns[name]
        return column.values[column.codes[row]] if column.codes[row] >= 0 else None

    def cells(self, level: Sequence[str], condition: Sequence[str] = CONDITION) -> Iterator[tuple[dict[str, Any], Ints]]:
        """`(key, rows)` of each combination of the columns of `level` and `condition`, in the order of their values.

        A key names all of `KEYS`, `*` where it pools, and the further columns asked for.
        """
        names = (*level, *condition)
        code = self.joint(names)
        for rows in rows_of(code, int(code.max(initial=-1)) + 1):
            own = {name: self.value(name, int(rows[0])) for name in names}
            yield {name: own.get(name, POOLED) for name in dict.fromkeys((*KEYS, *names))}, rows

    def partners(self, of: Ints, among: Ints, same: Sequence[str]) -> Ints:
        """For each row of `of`, the row of `among` about the same item with the same values of the columns `same`; -1 without one."""
        return last_with(self.joint(same, items=True), among)[of]


def tabulate_answers(data: Dataset, judgments: Judgments, *, seed: int, resamples: int) -> Answers:
    """Judgments of the items of `data`, with what their labels make of them. Raises UsageError as `units.votes` does."""
    item = judgments.item.recoded(data.positions).astype(np.int64)
    judgments, item = judgments.take(item >= 0), item[item >= 0]
    columns = {name: _ranked(item_key(data, name)).take(item) for name in ("language", "task")}
    own = (*KEYS[2:], "repeat", "perturbation", "failure", "justification", "asked_language", "told_language")
    columns |= {name: _ranked(getattr(judgments, name), name) for name in own}
    last_to_first = ("perturbation", "repeat", *reversed(KEYS[2:]))
    ranks: list[Ints] = [*(columns[name].codes.astype(np.int64) for name in last_to_first), item]
    order = np.lexsort(np.stack(ranks))
    judgments, item = judgments.take(order), item[order]
    columns = {name: column.take(order) for name, column in columns.items()}
    return _Laid(data, judgments, item, columns, {"seed": seed, "resamples": resamples}).beside_labels()


class _Laid:
    """Ordered judgments that are about to be laid beside their labels, metric by metric."""

    def __init__(self, data: Dataset, judgments: Judgments, item: Ints, columns: dict[str, Coded], drawing: Mapping[str, Any]) -> None:
        self.data, self.judgments, self.item, self.columns, self.drawing = data, judgments, item, columns, drawing
        rows = len(item)
        self.code, self.reference = np.full(rows, -1, np.int64), np.full(rows, -1, np.int64)
        self.points, self.expected, self.best, self.label = (np.full(rows, np.nan) for _ in range(4))
        self.credits = {name: np.full(rows, np.nan) for name in CREDITS}
        self.reach: dict[str, float] = {}

    def beside_labels(self) -> Answers:
        counted = votes(self.data, self.judgments, annotators_needed(Options(), self.data.labels.most_raters))
        for metric in self.columns["metric"].values:
            self._metric(metric, np.flatnonzero(self.columns["metric"].recoded({metric: 0}) == 0), counted.get(metric))
        group = _ranked(item_key(self.data, "group")).codes[self.item].astype(np.int64)
        return Answers(
            data=self.data,
            drawing=self.drawing,
            reach=self.reach,
            columns=self.columns,
            credits=self.credits,
            item=self.item,
            group=group,
            code=self.code,
            points=self.points,
            expected=self.expected,
            best=self.best,
            reference=self.reference,
            label=self.label,
        )

    def _metric(self, metric: str, rows: Ints, labels: Votes | None) -> None:
        scale, given = self.data.scales[metric], self.judgments.score.take(rows)
        classes = labels.classes if labels else classes_of(scale, given.used, metric)
        code = given.recoded(classes.index()).astype(np.int64)
        number = points_of(scale, classes)
        self.reach[metric] = float(np.ptp(number)) if len(number) and not np.isnan(number).any() else np.nan
        self.code[rows] = code
        self.points[rows] = np.append(number, np.nan)[code]
        self.best[rows] = np.append([score == scale.best for score in classes.scores], np.nan)[code]
        if (way := _way_of_expected(scale, classes)) is not None:
            stated = self.judgments.expected.take(rows)
            self.expected[rows] = np.array([*map(float, stated.values), np.nan])[stated.codes] * way
        if labels:
            self._labelled(rows, code, number, labels)

    def _labelled(self, rows: Ints, code: Ints, number: Floats, labels: Votes) -> None:
        rows, code = (of[self.columns["perturbation"].codes[rows] == NO_VALUE] for of in (rows, code))
        counts = labels.counts[self.item[rows]]
        raters = counts.sum(axis=1)
        self.reference[rows] = np.maximum(aggregate_counts(counts, Options().majority), -1)
        self.label[rows] = np.where(raters > 0, counts @ number / np.maximum(raters, 1), np.nan)
        for name, statistic in CREDITS.items():
            self.credits[name][rows] = item_credits(statistic, counts, code)


def points_of(scale: Scale, classes: Classes) -> Floats:
    """What each class is worth: its number, or position, turned so that more is better; of a nominal scale 1 for the best, else 0.

    NaN where the scale has no best end, so that no score is above another.
    """
    if scale.kind == "nominal":
        return np.array([np.nan if scale.best is None else float(score == scale.best) for score in classes.scores])
    numbers = np.asarray(range(len(classes.scores)) if classes.values is None else classes.values, np.float64)
    return numbers * (np.nan if classes.direction is None else classes.direction)


def _way_of_expected(scale: Scale, classes: Classes) -> int | None:
    """1 if a higher expected score is better, -1 if worse, None if it means nothing: three names have no mean."""
    if scale.kind == "nominal" and len(classes.scores) != 2:
        return None
    numeric = all(isinstance(score, (int, float)) for score in classes.scores)
    rising = numeric and list(classes.scores) == sorted(classes.scores, key=float)
    return classes.direction if rising else None


def variant_of(text: str) -> Variant | None:
    """The variant that a text form names; None for a name that is none, as data folders may have."""
    try:
        return parse_variant(text)
    except ValueError:
        return None


def _ranked(column: Coded, name: str = "") -> Coded:
    """The column with its values in order, and none that no row has; variants from the plainest to the most special."""
    values = sorted(column.used, key=_plainness if name == "variant" else _order)
    return Coded(tuple(values), column.recoded({value: rank for rank, value in enumerate(values)}))


def _order(value: Any) -> tuple[Any, ...]:
    return (0, value, "") if isinstance(value, (int, float)) else (1, 0, str(value))


def _plainness(text: str) -> tuple[Any, ...]:
    known = variant_of(text)
    return (known is None, known != Variant(), text.count("+"), text)
