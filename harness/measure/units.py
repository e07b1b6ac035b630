"""Judgments beside the labels of their items, as arrays of one length. Every statistic is computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.content.specs import Asked
from harness.content.tags import choose_from
from harness.data.columns import CodedColumn, Codes, combination_ids, rows_by_number
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.measure.options import Annotators, CompareOptions, Rule, Standardise
from harness.measure.scores import ItemScores, item_scores
from harness.model import CONDITION, Failure, JudgeCondition, Scale, Score
from harness.offensive import hides_texts, looks_like_text
from harness.stats import aggregate_counts, count_long
from harness.stats.agreement.describe import Direction
from harness.stats.core.arrays import Ints, Kind

MAX_VALUES = 64
"""An interval scale with more different scores than this is continuous: its scores are numbers and are not counted by class.

Metrics with one scale are counted together, so that metrics of one data set are treated alike.
"""
"""The judge and the condition. Each condition has its own set of questions that were asked."""
OWN_KEYS = ("language", "task", "system", "group")


@dataclass(frozen=True, eq=False)
class Classes:
    """A metric's scale as class codes. A continuous scale has one class, which every score on it is in."""

    scores: tuple[Score, ...]
    kind: Kind
    values: tuple[float, ...] | None  # the numbers that the classes stand for; None: their positions
    direction: Direction | None
    different: tuple[float, ...] = ()  # the scores on a continuous scale
    ends: tuple[float | None, float | None] = (None, None)  # of an interval scale
    order_only: bool = False  # judges answer on another scale than people: only the order of items can be compared

    @property
    def continuous(self) -> bool:
        return bool(self.different)

    @property
    def reach(self) -> float | None:
        """The length of an interval scale; None if it has no ends."""
        low, high = self.ends
        return None if low is None or high is None else float(high - low)

    @property
    def key(self) -> tuple[Any, ...]:
        """A key of the scale: metrics with equal keys are on one scale and can be counted together."""
        return (self.scores, self.kind, self.values, self.direction, self.different, self.ends, self.order_only)

    def index(self) -> dict[Any, int]:
        """The class of every score."""
        return dict.fromkeys(self.different, 0) if self.different else {score: code for code, score in enumerate(self.scores)}


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """One metric's labels. Items with no or too few labels have zeros. All derived arrays are (items,)."""

    classes: Classes
    counts: Ints  # (items, k) how many annotators gave each class
    majority: Rule  # how the annotators of an item become one reference
    scores: ItemScores | None = None  # on interval scales: the labels of the same items as numbers

    def of_items(self, items: NDArray[Any]) -> LabelCounts:
        """Return the counts of some items, without their numbers."""
        return LabelCounts(self.classes, self.counts[items], self.majority)

    @cached_property
    def raters(self) -> Ints:
        """How many annotators count."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        return self.raters > 0

    @cached_property
    def reference(self) -> Ints:
        """The class of the annotators' aggregate; -1 without a label, -2 where no label is the commonest."""
        return aggregate_counts(self.counts, self.majority)

    @cached_property
    def compared(self) -> NDArray[np.bool_]:
        """Items that an answer can agree or disagree with: under `strict`, an item without a commonest label counts as disagreement."""
        return self.labelled if self.majority == "strict" else self.reference >= 0


@dataclass(frozen=True, eq=False)
class Units:
    """One row for each judgment: `item` is an index into the items of the data, `source` names the judgment's source."""

    item: Codes
    judgments: Judgments
    source: CodedColumn

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: NDArray[Any]) -> Units:
        return Units(self.item[rows], self.judgments.take(rows), self.source.take(rows))

    def failures(self, rows: NDArray[Any]) -> dict[str, int]:
        """How many of these rows have no score, by the name of the failure."""
        kinds = self.judgments.failure.take(rows)
        unread = self.judgments.score.take(rows).codes < 0
        counts = np.bincount(kinds.codes[unread & (kinds.codes >= 0)], minlength=len(kinds.values)).tolist()
        return {str(kind): count for kind, count in sorted(zip(kinds.values, counts, strict=True)) if count}


def classes_of(scale: Scale, scores: Iterable[Score] = (), *, continuous: bool = False) -> Classes:
    """The classes of a scale; those of an interval scale are the different `scores` on it.

    They are one class if there are many of them, or if the scale is `continuous` anyway.
    """
    if scale.kind == "interval":
        different = tuple(sorted({float(score) for score in scores}))
        direction, ends = _direction(scale.best, scale.min, scale.max), (scale.min, scale.max)
        if different and (continuous or len(different) > MAX_VALUES):
            return Classes(("any score",), "interval", (0.0,), direction, different, ends)
        return Classes(different, "interval", different, direction, (), ends)
    direction = _direction(scale.best, scale.classes[0], scale.classes[-1])
    if scale.kind == "nominal":
        return Classes(scale.classes, scale.kind, None, direction)
    numbers = tuple(float(c) for c in scale.classes if isinstance(c, int))
    rising = len(numbers) == len(scale.classes) and list(numbers) == sorted(set(numbers))
    return Classes(scale.classes, scale.kind, numbers if rising else None, direction)


def _direction(best: Any, first: Any, last: Any) -> Direction | None:
    return None if best is None or best not in (first, last) else 1 if best == last else -1


def continuous_metrics(data: Dataset, judgments: Judgments) -> frozenset[str]:
    """The interval metrics with many different scores, labels and judgments together; and those with the same scale as one of them.

    Metrics whose labels are on another scale than judges' answers are always among them: no answer can equal a label.
    """
    different: dict[tuple[Any, ...], set[Score]] = {}
    scale = {metric: (of.min, of.max, of.best) for metric, of in {**data.scales, **data.label_scales}.items()}
    metrics = [metric for metric in {*data.labels.metric.used, *judgments.metric.used} if data.label_scale(metric).kind == "interval"]
    for metric in metrics:
        for table in (data.labels, judgments):
            rows = table.metric.equals(metric)
            different.setdefault(scale[metric], set()).update(table.score.take(rows).used)
    return frozenset(metric for metric in metrics if len(different[scale[metric]]) > MAX_VALUES or metric in data.label_scales)


def votes(
    data: Dataset,
    judgments: Judgments,
    needed: Annotators,
    majority: Rule,
    standardise: Standardise = "none",
    continuous: frozenset[str] | None = None,
) -> dict[str, LabelCounts]:
    """Every metric's labels, counted by item. Items with another number of annotators than `needed` get none.

    `continuous` are the metrics with continuous scores, if `data` and `judgments` are only a part of those that decide this.

    Raises UsageError if there are labels, but no item has that number of annotators; and if scores are to be standardised and cannot be.
    """
    labels = data.labels
    item = labels.item.recode(data.positions).astype(np.int64)
    continuous = continuous_metrics(data, judgments) if continuous is None else continuous
    found = {}
    for code, metric in enumerate(labels.metric.values):
        here = np.flatnonzero(labels.metric.codes == code)
        if not len(here):
            continue
        scale, given = data.label_scale(metric), labels.score.take(here)
        used: list[Score] = []
        if scale.kind == "interval":
            judged = judgments.score.take(judgments.metric.equals(metric))
            used = [*given.used, *judged.used]
        classes = replace(classes_of(scale, used, continuous=metric in continuous), order_only=metric in data.label_scales)
        counts = count_long(item[here], given.recode(classes.index()), len(data.items), len(classes.scores))
        raters = counts.sum(axis=1)
        kept = raters == needed.least if needed.exactly else raters >= needed.least
        scores = item_scores(data, metric, standardise).only(kept) if scale.kind == "interval" else None
        found[metric] = LabelCounts(classes, np.where(kept[:, None], counts, 0), majority, scores)
    if found and not any(of.counts.any() for of in found.values()):
        wanted = f"exactly {needed.least}" if needed.exactly else f"{needed.least} or more"
        raise UsageError(f"no item has {wanted} annotators on a metric; the largest number is {labels.max_annotators}")
    return found


def units_of(data: Dataset, judgments: Judgments, source: str = "") -> Units:
    """The judgments as they are."""
    return Units(judgments.item.recode(data.positions), judgments, CodedColumn.constant(source, len(judgments)))


def joined_units(parts: Sequence[Units]) -> Units:
    """The units of several sources, one after the other."""
    if len(parts) == 1:
        return parts[0]
    item = np.concatenate([part.item for part in parts])
    return Units(item, Judgments.concatenate([part.judgments for part in parts]), CodedColumn.concatenate([part.source for part in parts]))


def asked_and_not(
    units: Units, data: Dataset, counted: Mapping[str, LabelCounts], asked: Asked | None, every: Judgments
) -> tuple[Units, Units]:
    """The units of the questions that judges were asked, and those of the questions that they were not; both of labelled items.

    First `units`, the existing judgments of unchanged texts, with the failure `missing` for each item that was asked about and has none: a
    judge must not gain by leaving out hard items. Second the items that were not asked about, without score or failure. Both are limited to
    the languages, tasks, metrics and conditions of which a judge has any judgment, and to items with votes.

    `asked` says which items count as asked besides those with a judgment; None if the judgments are complete, as in a run. `every` are all
    judgments of unchanged texts, of which `units` may be a part: the selection does not change which items were asked.
    """
    nothing = units.take(np.arange(0))
    if asked is None:
        return units, nothing
    j = units.judgments
    place = CodedColumn.from_values((item.language, item.task) for item in data.items)
    condition = [getattr(j, name) for name in CONDITION]
    labelled = {metric: votes.counts.sum(axis=1) > 0 for metric, votes in counted.items()}
    shown = ShownToJudges(asked, data, every)
    missing, unasked = [], []
    for rows in rows_by_number(combination_ids([*condition, j.metric, place.take(units.item)], np.zeros(len(units), np.int8))):
        row = int(rows[0])
        metric = j.metric.values[j.metric.codes[row]]
        if metric not in labelled:
            continue
        absent = labelled[metric] & (place.codes == place.codes[units.item[row]])
        absent[units.item[rows]] = False
        if absent.any():
            was_shown = shown.items(JudgeCondition(*(column.at(row) for column in condition)))
            missing.append((row, np.flatnonzero(absent & was_shown)))
            unasked.append((row, np.flatnonzero(absent & ~was_shown)))
    added = _units_without_score(units, data, missing, Failure.MISSING)
    return joined_units([units, added]) if len(added) else units, _units_without_score(units, data, unasked, None)


class ShownToJudges:
    """The items that a judge was shown under each condition, whether it judged them or not."""

    def __init__(self, asked: Asked, data: Dataset, every: Judgments) -> None:
        self.asked, self.judgments = asked, every
        self.item = every.item.recode(data.positions)
        self.none = np.zeros(len(data.items), bool)
        self.column = [item.fields.get(asked.column) for item in data.items] if asked.column else []
        self.known: dict[JudgeCondition, NDArray[np.bool_]] = {}

    def items(self, condition: JudgeCondition) -> NDArray[np.bool_]:
        """Mask of the items that a judge was shown under a condition."""
        if condition not in self.known:
            self.known[condition] = self._items(condition)
        return self.known[condition]

    def _items(self, condition: JudgeCondition) -> NDArray[np.bool_]:
        match self.asked.rule:
            case "rows":
                return self.none
            case "all":
                return ~self.none
            case "any-row":
                columns = [getattr(self.judgments, name) for name in CONDITION]
                same = np.logical_and.reduce([column.equals(value) for column, value in zip(columns, condition, strict=True)])
                found = self.none.copy()
                found[self.item[same & (self.item >= 0)]] = True
                return found
            case "column":
                judge = condition.judge
                return np.array([value is True or (isinstance(value, list) and judge in value) for value in self.column], bool)


def _units_without_score(units: Units, data: Dataset, absent: Sequence[tuple[int, Ints]], failure: Failure | None) -> Units:
    """Units without a score: for each `(row, items)`, one unit for each item, otherwise equal to the unit `row`."""
    rows = np.concatenate([np.empty(0, np.int64), *(np.full(len(items), row) for row, items in absent)])
    item = np.concatenate([np.empty(0, np.int64), *(items for _, items in absent)]).astype(np.int32)
    found = units.judgments.take(rows)
    found.item = CodedColumn(tuple(one.item_id for one in data.items), item)
    for name in ("score", *Judgments.OPTIONAL):
        setattr(found, name, CodedColumn.empty(len(rows)))
    found.failure = CodedColumn.constant(failure, len(rows)) if failure else CodedColumn.empty(len(rows))
    return Units(item, found, units.source.take(rows))


def countable(units: Units, counted: Mapping[str, LabelCounts], options: CompareOptions) -> NDArray[np.bool_]:
    """Mask of the units that count: those of items with a reference.

    At the level of systems, and where items without a majority count as disagreement (`strict`), units of all items with votes count.
    """
    found = np.zeros(len(units), bool)
    for metric, of in counted.items():
        here = np.flatnonzero(units.judgments.metric.equals(metric))
        known = of.compared if options.level == "item" else of.labelled
        found[here] = known[units.item[here]]
    return found


def as_text(value: Any) -> str:
    """A key as text, as people write it: the temperature 0.0 is `0`."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def item_key(data: Dataset, name: str) -> CodedColumn:
    """The value of a key for every item: language, task, system, group, or any field that holds a text or a number.

    Raises UsageError for a key that no item has, and for one that holds texts of offensive data, as keys are printed.
    """
    if name in OWN_KEYS:
        return CodedColumn.from_values(getattr(item, name) for item in data.items)
    values = [item.fields.get(name) for item in data.items]
    if not any(isinstance(value, (str, int, float)) for value in values):
        fields = sorted({name for item in data.items[:1000] for name, value in item.fields.items() if isinstance(value, (str, int, float))})
        keys = [*OWN_KEYS, "metric", *CONDITION, "agreement", *fields]
        raise UsageError(f"no item has '{name}'.{choose_from(keys, name)}")
    if hides_texts([data.about]) and any(isinstance(value, str) and looks_like_text(value) for value in values):
        raise UsageError(f"'{name}' holds texts, which are extremely offensive in '{data.id}' and are not printed; choose another key")
    return CodedColumn.from_values(value if isinstance(value, (str, int, float)) else None for value in values)
