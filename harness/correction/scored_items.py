"""A judge's answers and people's labels item by item, for every cell: the input of correction, acceptance and certificates.

Items without a label belong to it too: a judge's scores of them are what labels are extended with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.content.specs import DatasetCard
from harness.content.tags import choose_from
from harness.data.columns import CodedColumn, combination_ids, first_rows, rows_by_number
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.decide.rows_by_cell import rows_by_cell
from harness.errors import UsageError
from harness.judges import traits_of
from harness.measure.answer_counts import AnswerCounts, count_answers
from harness.measure.compare import Recording
from harness.measure.design import STRATUM, stated_probabilities
from harness.measure.judged_table import JudgedTable
from harness.measure.label_counts import Classes, LabelCounts
from harness.model import CONDITION, JudgeCondition
from harness.stats import aggregate_counts
from harness.stats.core.arrays import Floats, Ints


class KeyedRow(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of one cell. `key` is that of the cell (`CELL`), and the source where there are several."""

    key: dict[str, Any]

    def flat(self) -> dict[str, Any]:
        """One object for programs, with the parts of the key beside the other values."""
        values = msgspec.structs.asdict(self)
        return {**values.pop("key"), **values}


class CellResults(msgspec.Struct, frozen=True):
    """Numbers of many cells, with what is needed to make them again."""

    def as_json(self) -> dict[str, Any]:
        """One object for programs: the fields, with rows as objects."""
        fields = msgspec.structs.asdict(self)
        rows = {
            name: [one.flat() for one in part]
            for name, part in fields.items()
            if isinstance(part, tuple) and hasattr(next(iter(part), None), "flat")
        }
        return fields | rows


@dataclass(frozen=True, eq=False)
class ScoredItems:
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

    BY_ITEM: ClassVar = ("item", "group", "answers", "asked", "probability", "expected")

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: NDArray[Any], **key: Any) -> ScoredItems:
        """Some of the items, with further parts of the key."""
        columns = {name: getattr(self, name)[rows] for name in self.BY_ITEM}
        columns |= {name: None if getattr(self, name) is None else getattr(self, name)[rows] for name in ("inclusion", "stratum")}
        columns["numbers"] = None if self.numbers is None else tuple(each[rows] for each in self.numbers)
        return replace(self, key=self.key | key, people=self.people.of_items(rows), **columns)

    @property
    def place(self) -> tuple[str, str]:
        return str(self.key["language"]), str(self.key["metric"])

    @property
    def condition(self) -> JudgeCondition:
        return JudgeCondition.of(self.key)

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


def scored_items(judged: JudgedTable, *, by_source: bool = False) -> Iterator[ScoredItems]:
    """Every cell of one data set: language, metric, judge and condition, and with `by_source` the source.

    Raises UsageError for inclusion probabilities that are no probabilities.
    """
    data = judged.data
    group = data.clusters.codes.astype(np.int64)
    inclusion, stratum = stated_probabilities(data), _stratum(data)
    for key, rows in rows_by_cell(judged, by_source):
        yield _cell(key, judged, rows, judged.labels[str(key["metric"])], group, inclusion, stratum)


def _cell(
    key: dict[str, Any], judged: JudgedTable, rows: Ints, votes: LabelCounts, group: Ints, inclusion: Floats | None, stratum: Ints | None
) -> ScoredItems:
    items, place = np.unique(judged.item[rows].astype(np.int64), return_inverse=True)
    k = len(votes.classes.scores)
    score = judged.judgments.score.take(rows).recode(votes.classes.index()).astype(np.int64)
    read = score >= 0
    answers = np.bincount(place[read] * k + score[read], minlength=len(items) * k).reshape(len(items), k)
    cell = ScoredItems(
        key=key,
        people=votes.of_items(items),
        item=items,
        group=group[items],
        answers=answers,
        numbers=_numbers(votes, judged, rows, items, place) if votes.classes.continuous else None,
        asked=np.bincount(place, minlength=len(items)),
        counts=count_answers(judged.judgments, len(rows), rows[~read]),
        probability=np.full(len(items), math.nan),
        expected=_mean_by_item(judged.judgments.expected.take(rows), place, np.ones(len(rows), bool), len(items)),
        inclusion=None if inclusion is None else inclusion[items],
        stratum=None if stratum is None else stratum[items],
    )
    commonest = (score >= 0) & (score == cell.answer[place])
    return replace(cell, probability=_mean_by_item(judged.judgments.confidence.take(rows), place, commonest, len(cell)))


def _numbers(votes: LabelCounts, judged: JudgedTable, rows: Ints, items: Ints, place: Ints) -> tuple[Floats, Floats]:
    """Mean label and mean readable answer of each item, from scores that are numbers and no classes."""
    assert votes.scores is not None
    labels = np.where(votes.counts[items].sum(axis=1) > 0, votes.scores.raw_mean[items], math.nan)
    return labels, _mean_by_item(judged.judgments.score.take(rows), place, np.ones(len(rows), bool), len(items))


def _mean_by_item(column: CodedColumn, place: Ints, counted: NDArray[np.bool_], items: int) -> Floats:
    """(items,) mean of the known numbers of a column over the rows that count; NaN without any."""
    if not column.values:
        return np.full(items, math.nan)
    given = np.array([*map(float, column.values), math.nan], np.float64)[column.codes]
    return means_at(np.where(counted, given, math.nan), place, items)


def means_at(values: Floats, place: Ints, places: int) -> Floats:
    """(places,) mean of the values at each place; NaN where all of them are."""
    known = ~np.isnan(values)
    count = np.bincount(place[known], minlength=places)
    return np.where(count > 0, np.bincount(place[known], values[known], places) / np.maximum(count, 1), math.nan)


def _stratum(data: Dataset) -> Ints | None:
    stated = [item.fields.get(STRATUM) for item in data.items]
    if all(value is None for value in stated):
        return None
    for item, value in zip(data.items, stated, strict=True):
        if not isinstance(value, (str, int)):
            raise UsageError(f"item '{item.item_id}' has no {STRATUM}, but other items have one; give every item its stratum, or none")
    return CodedColumn.from_values(stated).codes.astype(np.int64)


def over_languages(cells: Iterable[ScoredItems]) -> list[list[ScoredItems]]:
    """The cells in groups of those that differ in their language alone."""
    found: dict[tuple[Any, ...], list[ScoredItems]] = {}
    for cell in cells:
        found.setdefault(tuple(cell.key_over_languages.values()), []).append(cell)
    return list(found.values())


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


def one_condition(conditions: Iterable[JudgeCondition], judges: Sequence[str] | None, verb: str) -> JudgeCondition:
    """The judge and condition to `verb`; baselines count only if they are named. Raises UsageError where there are several, or none."""
    every = list(dict.fromkeys(conditions))
    if judges:
        known = list(dict.fromkeys(each.judge for each in every))
        for name in judges:
            if name not in known:
                raise UsageError(f"no judge '{name}'.{choose_from(known, name)}")
        every = [each for each in every if each.judge in judges]
    elif any(not traits_of(each.judge).is_baseline for each in every):
        every = [each for each in every if not traits_of(each.judge).is_baseline]
    if not every:
        raise UsageError(f"nothing to {verb}: no judge has scores on a metric that people labelled; see 'harness compare'")
    names = list(dict.fromkeys(each.judge for each in every))
    what = {"certify": "a certificate is", "calibrate": "maps are", "accept": "a step of a cascade is"}[verb]
    if len(names) > 1:
        raise UsageError(f"{what} of one judge, and there are {len(names)}; name one with --judge: {', '.join(names)}")
    if len(every) > 1:
        differing = next(name for name in CONDITION[1:] if len({getattr(each, name) for each in every}) > 1)
        values = ", ".join(dict.fromkeys(f"{getattr(each, differing)}" for each in every))
        raise UsageError(f"{what} of one condition; choose one with --where {differing}=VALUE: {values}")
    return every[0]


def judged_rows(source: Recording, condition: JudgeCondition) -> Judgments:
    """The judgments of original texts by one judge under one condition."""
    rows = source.judgments.clean
    for name, value in condition._asdict().items():
        rows = with_value(rows, name, value)
    return rows


def with_value(rows: Judgments, name: str, value: Any) -> Judgments:
    """The rows whose column `name` has this value; None finds the rows without one."""
    column = getattr(rows, name)
    return rows.take(column.equals(value))
