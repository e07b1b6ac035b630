"""Labels counted by item: the classes of a metric's scale, and how many annotators gave each class to each item."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.data.columns import Codes
from harness.data.dataset import Dataset
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.measure.options import Annotators, Rule, Standardise
from harness.measure.scores import ItemScores, item_scores
from harness.model import Scale, Score
from harness.stats import aggregate_counts, count_long, distinct_counts
from harness.stats.agreement.describe import Direction
from harness.stats.core.arrays import Floats, Ints, Kind

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
