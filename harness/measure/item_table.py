"""A cell of the judged table with one row an item: repeats of an item together, beside its labels.

Items without a label belong to it too: a judge's scores of them are what labels are extended with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.columns import CodedColumn
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.judges import traits_of
from harness.measure.judged_table import JudgedTable, means_by
from harness.measure.label_counts import STRATUM, Classes, LabelCounts, numbers, stated_probabilities
from harness.model import LONGEST_EXCERPT, Item, JudgeCondition
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.rows import aggregate_counts
from harness.text import one_line


@dataclass(frozen=True, eq=False)
class ItemTable:
    """The items of one cell that a judge was asked about, labelled or not.

    Attributes:
        key: that of a cell (`CELL`), and the keys to group by.
        people: the labels of the items as counts; rows of zeros for items without a label.
        item: (items,) positions among the items of the data.
        group: (items,) codes of what items share.
        answers: (items, k) how many of the judge's answers are in each class.
        numbers: of continuous scores, (items,) mean label and mean readable answer, NaN where there is none; None where scores are classes.
        asked: (items,) number of answers, failures included.
        counts: how many of all answers of the cell could not be read, also where it is only a part of the cell.
        probability: (items,) mean probability of the commonest answer; NaN where none is known.
        expected: (items,) mean over answers of the expected score by token probabilities; NaN where none is known.
        inclusion: (items,) inclusion probability, NaN where none is stated; None if no item states one.
        stratum: (items,) codes of the stratum; None if no item states one.
        data_items: the items of the data.
    """

    key: dict[str, Any]
    people: LabelCounts
    item: Ints
    group: Ints
    answers: Ints
    numbers: tuple[Floats, Floats] | None
    asked: Ints
    counts: AnswerCounts
    probability: Floats
    expected: Floats
    inclusion: Floats | None
    stratum: Ints | None
    data_items: Sequence[Item] = ()

    BY_ITEM: ClassVar = ("item", "group", "answers", "asked", "probability", "expected")

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: NDArray[Any], **key: Any) -> ItemTable:
        """Return some of the items, with further parts of the key."""
        columns = {name: getattr(self, name)[rows] for name in self.BY_ITEM}
        columns |= {name: None if getattr(self, name) is None else getattr(self, name)[rows] for name in ("inclusion", "stratum")}
        columns["numbers"] = None if self.numbers is None else tuple(side[rows] for side in self.numbers)
        return replace(self, key=self.key | key, people=self.people.of_items(rows), **columns)

    @property
    def language_and_metric(self) -> tuple[str, str]:
        return str(self.key["language"]), str(self.key["metric"])

    @property
    def condition(self) -> JudgeCondition:
        return JudgeCondition.of(self.key)

    @property
    def item_ids(self) -> tuple[str, ...]:
        return tuple(self.data_items[item].item_id for item in self.item.tolist())

    @property
    def is_baseline(self) -> bool:
        return traits_of(str(self.key["judge"])).is_baseline

    @property
    def key_over_languages(self) -> dict[str, Any]:
        return {name: value for name, value in self.key.items() if name != "language"}

    @property
    def classes(self) -> Classes:
        """The scale of the metric."""
        return self.people.classes

    @property
    def labels(self) -> Ints:
        """(items, k) how many annotators gave each class."""
        return self.people.counts

    @property
    def reference(self) -> Ints:
        """(items,) class of people's aggregate; negative where there is none."""
        return self.people.reference

    @property
    def compared(self) -> NDArray[np.bool_]:
        """(items,) whether an answer can agree or disagree with people."""
        return self.people.compared

    @property
    def labelled(self) -> NDArray[np.bool_]:
        return self.people.labelled

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
    def hits(self) -> Floats:
        """(items,) share of all answers that are people's aggregate, failures as wrong; NaN where nothing is compared, and of numbers."""
        if self.classes.continuous:
            return np.full(len(self), math.nan)
        right = self.answers[np.arange(len(self)), np.maximum(self.reference, 0)] * (self.reference >= 0)
        return np.where(self.compared, right / self.asked, math.nan)

    @property
    def unread(self) -> Floats:
        """(items,) share of all answers that could not be read."""
        return np.asarray((self.asked - self.answers.sum(axis=1)) / self.asked, np.float64)

    @property
    def right(self) -> NDArray[np.bool_]:
        """(items,) whether the judge's commonest answer is people's; no answer is right where people have no commonest label."""
        return np.asarray((self.reference >= 0) & (self.answer == self.reference))

    @property
    def repeat_share(self) -> Floats:
        """(items,) share of the commonest answer among all answers, failures included; NaN where there is no commonest answer."""
        return np.where(self.answer < 0, math.nan, self.answers.max(axis=1, initial=0) / np.maximum(self.asked, 1))


def _shares(counts: Ints) -> Floats:
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.maximum(total, 1), math.nan)


def item_tables(judged: JudgedTable, *, by_source: bool = False, sample: bool = True) -> Iterator[ItemTable]:
    """Yield every cell of one data set: language, metric, judge and condition, and with `by_source` the source.

    With `sample`, the tables say how their items were drawn. Raises UsageError for inclusion probabilities that are no probabilities, and
    for strata that only some items name.
    """
    inclusion, stratum = (stated_probabilities(judged.data), _read_strata(judged.data)) if sample else (None, None)
    judgments = judged.judgments
    confidence, expected, score = (numbers(column) for column in (judgments.confidence, judgments.expected, judgments.score))
    for key, rows in judged.rows_by_cell(by_source):
        labels = judged.labels[str(key["metric"])]
        item, number = np.unique(judged.item[rows].astype(np.int64), return_inverse=True)
        size, k, code = len(item), len(labels.classes.scores), judged.code[rows]
        read = code >= 0
        answers = np.bincount(number[read] * k + code[read], minlength=size * k).reshape(size, k)
        commonest = read & (code == aggregate_counts(answers, "drop")[number])
        means = None
        if labels.scores is not None and labels.classes.continuous:
            means = np.where(labels.labelled, labels.scores.raw_mean, math.nan)[item], means_by(number, score[rows])
        yield ItemTable(
            key=key,
            people=labels.of_items(item),
            item=item,
            group=judged.groups[item].astype(np.int64),
            answers=answers,
            numbers=means,
            asked=np.bincount(number, minlength=size),
            counts=count_answers(judgments, len(rows), rows[~read]),
            probability=means_by(number, np.where(commonest, confidence[rows], math.nan)),
            expected=means_by(number, expected[rows]),
            inclusion=None if inclusion is None else inclusion[item],
            stratum=None if stratum is None else stratum[item],
            data_items=judged.data.items,
        )


def _read_strata(data: Dataset) -> Ints | None:
    stated = [item.fields.get(STRATUM) for item in data.items]
    if all(value is None for value in stated):
        return None
    for item, value in zip(data.items, stated, strict=True):
        if not isinstance(value, (str, int)):
            raise UsageError(f"item '{item.item_id}' has no {STRATUM}, but other items have one; give every item its stratum, or none")
    return CodedColumn.from_values(stated).codes.astype(np.int64)


class AnswerCounts(msgspec.Struct, frozen=True):
    """Counts of a judge's answers, and of those that could not be read.

    Attributes:
        asked: answers of a cell, those that could not be read included.
        unread: how many could not be read, by kind of failure.
        example: one of the commonest kind: what stood where the score should be, else how the reply begins, at most 80 characters; None of
            empty replies, and where neither was recorded.
    """

    asked: int
    unread: dict[str, int]
    example: str | None = None

    @property
    def mostly_unread(self) -> bool:
        """True if more than half of the answers could not be read."""
        return 2 * sum(self.unread.values()) > self.asked


def count_answers(judgments: Judgments, total: int, unread: Ints) -> AnswerCounts:
    """Return the counts of some judgments, `total` in number, of which the rows `unread` have no score."""
    kinds = judgments.failure.take(unread)
    counts = np.bincount(kinds.codes[kinds.codes >= 0], minlength=len(kinds.values)).tolist()
    failures = {str(kind): count for kind, count in sorted(zip(kinds.values, counts, strict=True)) if count}
    example = None
    if failures:
        commonest = max(failures, key=lambda kind: failures[kind])
        rows = unread[kinds.equals(commonest)]
        written = chain(judgments.raw_choice.take(rows), judgments.excerpt.take(rows))
        example = next((str(value) for value in written if value is not None), None)
    return AnswerCounts(total, failures, example and one_line(example)[:LONGEST_EXCERPT])


def count_all_answers(judgments: Judgments) -> AnswerCounts:
    """Return the counts of all of these judgments."""
    return count_answers(judgments, len(judgments), np.flatnonzero(judgments.score.codes < 0))


def total_answers(cells: Iterable[AnswerCounts]) -> AnswerCounts:
    """Return the counts of several cells together, with the example of the cell that has the most unread answers.

    >>> total_answers([AnswerCounts(3, {"refused": 1}), AnswerCounts(5, {"off_scale": 4, "refused": 1}, "9")])
    AnswerCounts(asked=8, unread={'refused': 2, 'off_scale': 4}, example='9')
    """
    total, unread, examples = 0, dict[str, int](), list[tuple[int, str]]()
    for cell in cells:
        total += cell.asked
        for kind, count in cell.unread.items():
            unread[kind] = unread.get(kind, 0) + count
        if cell.example is not None:
            examples.append((sum(cell.unread.values()), cell.example))
    return AnswerCounts(total, unread, max(examples, key=lambda example: example[0])[1] if examples else None)
