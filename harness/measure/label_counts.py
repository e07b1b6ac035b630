"""Labels counted by item: the classes of a metric's scale, and how many annotators gave each class to each item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.columns import CodedColumn, Codes, combination_ids
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.measure.options import Annotators, Rule, Standardise
from harness.model import Scale, Score
from harness.stats.agreement.describe import Direction
from harness.stats.agreement.variance_components import SingleScoreError, standardised
from harness.stats.core.arrays import Floats, Ints, Kind
from harness.stats.core.rows import aggregate_counts, count_long, distinct_counts


@dataclass(frozen=True)
class ItemScores:
    """One metric's labels as numbers, sorted by item, (labels,)."""

    item: Ints  # an index into the items of the data
    annotator: Ints  # a code
    raw: Floats  # the score as given
    value: Floats  # the score that correlations use: standardised within annotator where this was asked for, else the same
    items: int  # of the data

    @cached_property
    def n(self) -> Ints:
        """Labels of every item, (items,)."""
        return np.bincount(self.item, minlength=self.items)

    @cached_property
    def raw_mean(self) -> Floats:
        """The mean score of every item, (items,); NaN without labels."""
        return self._mean(self.raw)

    @cached_property
    def mean(self) -> Floats:
        """The mean of the scores that correlations use, (items,); NaN without labels."""
        return self.raw_mean if self.value is self.raw else self._mean(self.value)

    def _mean(self, values: Floats) -> Floats:
        sums = np.bincount(self.item, values, minlength=self.items)
        return np.asarray(np.round(np.where(self.n > 0, sums / np.maximum(self.n, 1), np.nan), 12), np.float64)  # equal means are equal

    def sums(self, power: int, centre: float) -> Floats:
        """Return the sum of (raw score - centre)^power of every item, (items,)."""
        return np.asarray(np.bincount(self.item, (self.raw - centre) ** power, minlength=self.items), np.float64)

    def of_items(self, items: Ints) -> ItemScores:
        """Return the labels of some items, whose index is then their place in `items` (rising)."""
        position = np.full(self.items, -1, np.int64)
        position[items] = np.arange(len(items))
        selected = position[self.item] >= 0
        return ItemScores(position[self.item[selected]], self.annotator[selected], *self._both(selected), len(items))

    def only(self, items: NDArray[np.bool_]) -> ItemScores:
        """Return the labels of the items in a mask (items,); the others have none."""
        mask = items[self.item]
        return self if mask.all() else ItemScores(self.item[mask], self.annotator[mask], *self._both(mask), self.items)

    def _both(self, rows: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        raw = self.raw[rows]
        return raw, raw if self.value is self.raw else self.value[rows]

    def table(self) -> Floats:
        """Return raw scores (items, annotators), NaN where missing; a second label of an annotator replaces the first."""
        people, column = np.unique(self.annotator, return_inverse=True)
        table = np.full((self.items, len(people)), np.nan)
        table[self.item, column] = self.raw
        return table


def numbers(column: CodedColumn) -> Floats:
    """Return the scores of a column as numbers, (rows,); NaN where there is none.

    >>> numbers(CodedColumn.from_values([1, None, 0.5])).tolist()
    [1.0, nan, 0.5]
    """
    values = np.array([*(float(v) if isinstance(v, (int, float)) else np.nan for v in column.values), np.nan])
    return np.asarray(values[column.codes])


def item_scores(data: Dataset, metric: str, standardise: Standardise = "none", labels: Labels | None = None) -> ItemScores:
    """Return the labels of an interval metric as numbers.

    With `standardise` "annotator", `value` is standardised within the annotator's labels of a language; that raises UsageError if
    annotators cannot be followed from item to item, or have a single label. `labels` are those of the data by default.
    """
    all_labels = data.labels if labels is None else labels
    rows = np.flatnonzero(all_labels.metric.equals(metric))
    item = all_labels.item.take(rows).recode(data.positions).astype(np.int64)
    rows, item = rows[item >= 0], item[item >= 0]
    order = np.argsort(item, kind="stable")
    rows, item = rows[order], item[order]
    raw = numbers(all_labels.score.take(rows))
    annotator = all_labels.annotator.take(rows)
    value = raw if standardise == "none" else _standardise(data, metric, item, annotator, raw)
    return ItemScores(item, annotator.codes.astype(np.int64), raw, value, len(data.items))


def _standardise(data: Dataset, metric: str, item: Ints, annotator: CodedColumn, raw: Floats) -> Floats:
    kind = data.about.annotators
    if kind != "persistent":
        raise UsageError(f"annotators are {kind}: nobody can be followed from item to item, so scores cannot be standardised within them")
    language = CodedColumn.from_values(data_item.language for data_item in data.items).take(item)
    who = combination_ids([language], annotator.codes)
    try:
        return standardised(raw, who)
    except SingleScoreError as err:
        name: Any = annotator.values[annotator.codes[np.flatnonzero(who == err.annotator)[0]]]
        raise UsageError(
            f"annotator '{name}' has a single label on '{metric}' in a language: standardising needs two or more of each annotator"
        ) from None


PROBABILITY, STRATUM = "inclusion_probability", "stratum"
LEAST_FOR_GAIN = 20
"""With fewer texts, the gain against a simple random sample cannot be estimated: strata are almost empty."""
SIGNED = PROBABILITY.replace("_", "-")  # in signatures


class Design(msgspec.Struct, frozen=True):
    """The weight of each item of a data set, (items,), 1 / probability (NaN where none is stated), and the code of its stratum."""

    weight: Floats
    stratum: Ints


def stated_probabilities(data: Dataset) -> Floats | None:
    """Return the inclusion probability of every item, (items,), NaN where none is stated; None if no item states one.

    Raises UsageError for one that is no number above 0 and at most 1.
    """
    stated = [item.fields.get(PROBABILITY) for item in data.items]
    if all(value is None for value in stated):
        return None
    for item, value in zip(data.items, stated, strict=True):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1):
            raise UsageError(f"{PROBABILITY} of item '{item.item_id}' is {value!r}; it should be a number above 0 and at most 1")
    return np.array([np.nan if value is None else value for value in stated], np.float64)


def design_of(data: Dataset, counted: Mapping[str, LabelCounts]) -> tuple[Design | None, tuple[str, ...]]:
    """Return how the labelled items were drawn, and a note where stated probabilities cannot be used.

    There is no design, and every text counts once, if no text states a probability, if all labelled texts have the same, if some have none,
    or if the dataset card does not say that they are a random sample.
    """
    probability = stated_probabilities(data)
    labelled = (
        np.logical_or.reduce([labels.counts.sum(axis=1) > 0 for labels in counted.values()]) if counted else np.zeros(len(data.items), bool)
    )
    if probability is None or not labelled.any():
        return None, ()
    stated = probability[labelled]
    if absent := int(np.isnan(stated).sum()):
        if absent == len(stated):
            return None, ()
        return None, (
            f"{absent:,} of {len(stated):,} labelled texts state no {PROBABILITY}, so every text counts once. Compare texts of one plan "
            "alone (--where), or state the probability of every labelled text.",
        )
    if np.ptp(stated) <= 1e-12:
        return None, ()
    if data.about.sampling != "random":
        return None, (f'Texts state an {PROBABILITY}, but data.toml does not say sampling = "random", so every text counts once.',)
    strata = CodedColumn.from_values(str(item.fields.get(STRATUM, "")) for item in data.items)
    return Design(1 / probability, strata.codes.astype(np.int64)), ()


def design_notes(design: Design, counted: Mapping[str, LabelCounts], gains: Sequence[float | None]) -> Iterator[str]:
    """Yield a sentence on what is weighted, one on what is not, and one on the gain (`Cell.sample_gain` of every cell)."""
    labelled = np.logical_or.reduce([labels.counts.sum(axis=1) > 0 for labels in counted.values()])
    low, high = 1 / design.weight[labelled].max(), 1 / design.weight[labelled].min()
    yield (
        f"Texts were drawn with probabilities from {low:.2g} to {high:.2g}: shares, means, agreement, coefficients, intervals and verdicts "
        "weight each text by 1 / probability and describe all texts that it was drawn from."
    )
    if any(labels.scores is not None for labels in counted.values()):
        yield (
            "Of scores that are numbers, correlations over texts, errors and leniency weight each text too (Kendall's τ each pair, by the "
            "product of its two weights). Means, reliability, comparisons within source texts and --versus count each text once."
        )
    defined = [gain for gain in gains if gain is not None]
    if not defined:
        yield f"No cell has {LEAST_FOR_GAIN} texts, from which the gain of such a sample can be estimated (--by metric pools cells)."
    else:
        span = f"{defined[0]:.2f}" if len(defined) == 1 else f"{min(defined):.2f} to {max(defined):.2f}"
        yield (
            f"Gain against a simple random sample of the same size: {span} (its variance of the judge's agreement, divided by that of this "
            "sample; below 1, the unequal probabilities cost more than the strata gained)."
        )


MAX_VALUES = 64
"""An interval scale with more different scores than this is continuous: its scores are numbers and are not counted by class.

Metrics with one scale are counted together, so that metrics of one data set are treated alike.
"""


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
        """Return the class of every score."""
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
        """The number of annotators that count."""
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

    @cached_property
    def patterns(self) -> tuple[Ints, Ints]:
        """The distinct class counts, (patterns, k), and the pattern of each item."""
        return distinct_counts(self.counts)

    def hits(self, code: Ints, item: Codes) -> Floats:
        """Return whether answers agree with their items' references, failures as wrong: (answers,), NaN where nothing is compared."""
        return np.where(self.compared[item], (code >= 0) & (code == self.reference[item]), np.nan)


def classes_of(scale: Scale, scores: Iterable[Score] = (), *, continuous: bool = False) -> Classes:
    """Return the classes of a scale; those of an interval scale are the different `scores` on it.

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
    """Return the interval metrics with many different scores, labels and judgments together; and those with the same scale as one of them.

    Metrics whose labels are on another scale than judges' answers are always among them: no answer can equal a label.
    """
    different: dict[tuple[Any, ...], set[Score]] = {}
    scale = {
        metric: (metric_scale.min, metric_scale.max, metric_scale.best)
        for metric, metric_scale in {**data.scales, **data.label_scales}.items()
    }
    metrics = [metric for metric in {*data.labels.metric.used, *judgments.metric.used} if data.label_scale(metric).kind == "interval"]
    for metric in metrics:
        for table in (data.labels, judgments):
            rows = table.metric.equals(metric)
            different.setdefault(scale[metric], set()).update(table.score.take(rows).used)
    return frozenset(metric for metric in metrics if len(different[scale[metric]]) > MAX_VALUES or metric in data.label_scales)


def count_labels(
    data: Dataset,
    judgments: Judgments,
    needed: Annotators,
    majority: Rule,
    standardise: Standardise = "none",
    continuous: frozenset[str] | None = None,
) -> dict[str, LabelCounts]:
    """Return every metric's labels, counted by item. Items with another number of annotators than `needed` get none.

    `continuous` are the metrics with continuous scores, if `data` and `judgments` are only a part of those that decide this.

    Raises UsageError if there are labels, but no item has that number of annotators; and if scores are to be standardised and cannot be.
    """
    labels = data.labels
    item = labels.item.recode(data.positions).astype(np.int64)
    continuous = continuous_metrics(data, judgments) if continuous is None else continuous
    label_counts = {}
    for code, metric in enumerate(labels.metric.values):
        rows = np.flatnonzero(labels.metric.codes == code)
        if not len(rows):
            continue
        scale, scores_of_metric = data.label_scale(metric), labels.score.take(rows)
        used: list[Score] = []
        if scale.kind == "interval":
            judged = judgments.score.take(judgments.metric.equals(metric))
            used = [*scores_of_metric.used, *judged.used]
        classes = replace(classes_of(scale, used, continuous=metric in continuous), order_only=metric in data.label_scales)
        counts = count_long(item[rows], scores_of_metric.recode(classes.index()), len(data.items), len(classes.scores))
        raters = counts.sum(axis=1)
        enough = raters == needed.least if needed.exactly else raters >= needed.least
        scores = item_scores(data, metric, standardise).only(enough) if scale.kind == "interval" else None
        label_counts[metric] = LabelCounts(classes, np.where(enough[:, None], counts, 0), majority, scores)
    if label_counts and not any(counted.counts.any() for counted in label_counts.values()):
        wanted = f"exactly {needed.least}" if needed.exactly else f"{needed.least} or more"
        raise UsageError(f"no item has {wanted} annotators on a metric; the largest number is {labels.max_annotators}")
    return label_counts
