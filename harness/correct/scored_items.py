"""A judge's answers and people's labels item by item, for every cell: the input of correction, acceptance and certificates.

Items without a label belong to it too: a judge's scores of them are what labels are extended with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.content.specs import DatasetCard
from harness.data.columns import CodedColumn, combination_ids, first_rows, rows_by_number
from harness.data.dataset import Dataset
from harness.decide.rows_by_cell import rows_by_cell
from harness.errors import UsageError
from harness.measure.design import STRATUM, stated_probabilities
from harness.measure.judged import JudgedData
from harness.measure.units import Classes, LabelCounts, Units, item_key
from harness.stats import aggregate_counts
from harness.stats.core.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """The items of one cell that a judge was asked about, labelled or not.

    Attributes:
        key: that of a cell (`CELL`), and the keys to group by.
        classes: of the metric's scale.
        item: (items,) positions among the items of the data.
        group: (items,) codes of what items share.
        labels: (items, k) how many annotators gave each class; rows of zeros for items without a label.
        answers: (items, k) how many of the judge's answers are in each class.
        numbers: of continuous scores, (items,) mean label and mean readable answer, NaN where there is none; None where scores are classes.
        asked: (items,) number of answers, failures included.
        probability: (items,) mean probability of the commonest answer; NaN where none is known.
        expected: (items,) mean over answers of the expected score by token probabilities; NaN where none is known.
        inclusion: (items,) inclusion probability, NaN where none is stated; None if no item states one.
        stratum: (items,) codes of the stratum; None if no item states one.
    """

    key: dict[str, Any]
    classes: Classes
    item: Ints
    group: Ints
    labels: Ints
    answers: Ints
    numbers: tuple[Floats, Floats] | None
    asked: Ints
    probability: Floats
    expected: Floats
    inclusion: Floats | None
    stratum: Ints | None

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: NDArray[Any], **key: Any) -> ScoredItems:
        """Some of the items, with further parts of the key."""
        columns = {name: getattr(self, name)[rows] for name in ("item", "group", "labels", "answers", "asked", "probability", "expected")}
        columns |= {name: None if getattr(self, name) is None else getattr(self, name)[rows] for name in ("inclusion", "stratum")}
        columns["numbers"] = None if self.numbers is None else tuple(each[rows] for each in self.numbers)
        return replace(self, key=self.key | key, **columns)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        return np.asarray(self.labels.sum(axis=1) > 0)

    @property
    def values(self) -> Floats | None:
        """The numbers that classes stand for; None on a scale without order and of continuous scores. Ordered classes count from 0."""
        if self.classes.kind == "nominal" or self.classes.continuous:
            return None
        numbers = self.classes.values if self.classes.values is not None else range(len(self.classes.scores))
        return np.asarray(numbers, np.float64)

    @property
    def means(self) -> tuple[Floats, Floats] | None:
        """(items,) mean label and mean answer in points of the scale, NaN where there is none; None on a scale without order."""
        values = self.values
        return self.numbers if values is None else (self.label_shares @ values, self.answer_shares @ values)

    @property
    def label_shares(self) -> Floats:
        """(items, k) share of an item's annotators in each class; NaN without a label."""
        return _shares(self.labels)

    @property
    def answer_shares(self) -> Floats:
        """(items, k) share of the judge's readable answers in each class; NaN where none can be read."""
        return _shares(self.answers)

    @property
    def answer(self) -> Ints:
        """(items,) the judge's commonest answer as class code; negative where there is none, or where two are equally common."""
        return aggregate_counts(self.answers, "drop")

    @property
    def repeat_share(self) -> Floats:
        """(items,) share of the commonest answer among all answers, failures included; NaN where there is no commonest answer."""
        return np.where(self.answer < 0, math.nan, self.answers.max(axis=1, initial=0) / np.maximum(self.asked, 1))


def _shares(counts: Ints) -> Floats:
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.maximum(total, 1), math.nan)


def scored_items(judged: JudgedData, *, by_source: bool = False) -> Iterator[ScoredItems]:
    """Every cell of one data set: language, metric, judge and condition.

    Args:
        judged: judgments laid beside labels.
        by_source: whether sources have cells of their own.

    Raises:
        UsageError: for inclusion probabilities that are no probabilities.
    """
    data, units = judged.data, judged.units
    group = item_key(data, "group").codes.astype(np.int64)
    inclusion, stratum = stated_probabilities(data), _stratum(data)
    for key, rows in rows_by_cell(judged, by_source):
        yield _cell(key, units, rows, judged.counted[str(key["metric"])], group, inclusion, stratum)


def _cell(
    key: dict[str, Any], units: Units, rows: Ints, votes: LabelCounts, group: Ints, inclusion: Floats | None, stratum: Ints | None
) -> ScoredItems:
    items, place = np.unique(units.item[rows].astype(np.int64), return_inverse=True)
    k = len(votes.classes.scores)
    score = units.judgments.score.take(rows).recode(votes.classes.index()).astype(np.int64)
    read = score >= 0
    answers = np.bincount(place[read] * k + score[read], minlength=len(items) * k).reshape(len(items), k)
    cell = ScoredItems(
        key=key,
        classes=votes.classes,
        item=items,
        group=group[items],
        labels=votes.counts[items],
        answers=answers,
        numbers=_numbers(votes, units, rows, items, place) if votes.classes.continuous else None,
        asked=np.bincount(place, minlength=len(items)),
        probability=np.full(len(items), math.nan),
        expected=_mean_by_item(units.judgments.expected.take(rows), place, np.ones(len(rows), bool), len(items)),
        inclusion=None if inclusion is None else inclusion[items],
        stratum=None if stratum is None else stratum[items],
    )
    return replace(cell, probability=_probability(cell, units.judgments.confidence.take(rows), place, score))


def _numbers(votes: LabelCounts, units: Units, rows: Ints, items: Ints, place: Ints) -> tuple[Floats, Floats]:
    """Mean label and mean readable answer of each item, from scores that are numbers and no classes."""
    assert votes.scores is not None
    column = units.judgments.score.take(rows)
    given = np.array([*map(float, column.values), math.nan], np.float64)[column.codes]
    read = ~np.isnan(given)
    count = np.bincount(place[read], minlength=len(items))
    answers = np.bincount(place[read], given[read], len(items)) / np.maximum(count, 1)
    labels = np.where(votes.counts[items].sum(axis=1) > 0, votes.scores.raw_mean[items], math.nan)
    return labels, np.where(count > 0, answers, math.nan)


def _probability(cell: ScoredItems, column: CodedColumn, place: Ints, score: Ints) -> Floats:
    """The mean probability of each item's commonest answer, over the answers that gave it."""
    return _mean_by_item(column, place, (score >= 0) & (score == cell.answer[place]), len(cell))


def _mean_by_item(column: CodedColumn, place: Ints, counted: NDArray[np.bool_], items: int) -> Floats:
    """(items,) mean of the known numbers of a column over the rows that count; NaN without any."""
    if not column.values:
        return np.full(items, math.nan)
    given = np.array([*map(float, column.values), math.nan], np.float64)[column.codes]
    used = ~np.isnan(given) & counted
    count = np.bincount(place[used], minlength=items)
    return np.where(count > 0, np.bincount(place[used], given[used], items) / np.maximum(count, 1), math.nan)


def _stratum(data: Dataset) -> Ints | None:
    stated = [item.fields.get(STRATUM) for item in data.items]
    if all(value is None for value in stated):
        return None
    for item, value in zip(data.items, stated, strict=True):
        if not isinstance(value, (str, int)):
            raise UsageError(f"item '{item.item_id}' has no {STRATUM}, but other items have one; give every item its stratum, or none")
    return CodedColumn.from_values(stated).codes.astype(np.int64)


def split_by(cell: ScoredItems, keys: Mapping[str, CodedColumn]) -> Iterator[ScoredItems]:
    """The cell divided by keys of all items of the data, such as `system`."""
    columns = {name: column.take(cell.item) for name, column in keys.items()}
    code = combination_ids(columns.values(), np.zeros(len(cell), np.int8))
    for row, rows in zip(first_rows(code).tolist(), rows_by_number(code, int(code.max(initial=-1)) + 1), strict=True):
        values = {name: (column.values[column.codes[row]] if column.codes[row] >= 0 else None) for name, column in columns.items()}
        yield cell.take(rows, **values)


def refuse_unless_random(about: DatasetCard, what: str, otherwise: str = "") -> None:
    """Raise UsageError unless the dataset card says that the labelled items are a random sample: `what` needs it, `otherwise` helps."""
    if about.sampling == "random":
        return
    stated = f'says sampling = "{about.sampling}"' if about.sampling != "unknown" else "does not say how the labelled items were drawn"
    raise UsageError(
        f"{what}: the labelled items have to be a random sample of the judged ones, and the dataset card of '{about.id}' {stated}.\n"
        '         If they were drawn at random, write the line sampling = "random" at the top of data.toml, above the first [table] '
        f"(or import with --sampling random); if not, label a random sample of the judged items{otherwise}."
    )
