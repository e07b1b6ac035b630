"""`baseline/<name>`: judges that read no text for its meaning. A judge that does not beat them does not judge.

- `constant-best` always gives the best score of the scale
- `majority` gives the most common label of the development items of the same language, task and metric; without development items, the
  most common label of all other groups (leave one group out), never of the item's own group
- `random` draws a score; seed, item, metric and repeat fix it
- `length` gives higher scores to longer texts: it ranks the text's length among the lengths of the development items (without
  development items, of all other groups) and cuts the ranks into as many equal parts as there are scores
- `length-ratio` gives higher scores to texts whose length, divided by that of their source, is nearer to the usual ratio (the median
  over the same other items); items without a text `source` get no score
"""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import msgspec

from harness.content.tags import choose_from
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.judges.judge_protocol import JudgeOptions, answer_object
from harness.model import Call, Item, JudgeIdentity, Label, Query, Reply, Scale, Score


class _GroupedCounts:
    """Counts of values, in all and by group, so that one group can be left out quickly."""

    def __init__(self) -> None:
        self._all: Counter[Score] = Counter()
        self._by_group: dict[str, Counter[Score]] = {}

    def add(self, group: str, value: Score) -> None:
        self._all[value] += 1
        self._by_group.setdefault(group, Counter())[value] += 1

    def without(self, group: str) -> Counter[Score]:
        return self._all - self._by_group[group] if group in self._by_group else self._all


class TrainingCounts:
    """Counts of labels and text lengths that baselines use: of development items, or of all other groups if there are no such items."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self._other_ratios: dict[tuple[str, ...], tuple[float, ...]] = {}

    @cached_property
    def _scores(self) -> dict[tuple[str, ...], _GroupedCounts]:
        """Scores of all items, by (language, task, metric)."""
        return self._count_scores(self.data.labels)

    @cached_property
    def _development_scores(self) -> dict[tuple[str, ...], _GroupedCounts]:
        """Scores of development items only, by (language, task, metric)."""
        return self._count_scores(self.data.labels.for_items(item.item_id for item in self.data.items if item.split == "dev"))

    def _count_scores(self, labels: Iterable[Label]) -> dict[tuple[str, ...], _GroupedCounts]:
        counts: dict[tuple[str, ...], _GroupedCounts] = defaultdict(_GroupedCounts)
        for label in labels:
            item = self.data.by_id[label.item_id]
            counts[item.language, item.task, label.metric].add(item.group, label.score)
        return counts

    @cached_property
    def _lengths(self) -> dict[tuple[str, ...], _GroupedCounts]:
        return self._count_items(self.text_length)

    @cached_property
    def _ratios(self) -> dict[tuple[str, ...], _GroupedCounts]:
        return self._count_items(self.log_length_ratio)

    def _count_items(self, measure: Callable[[Item], float | None]) -> dict[tuple[str, ...], _GroupedCounts]:
        """Return a measure of all items that have it, by (language, task, split) and by (language, task)."""
        counts: dict[tuple[str, ...], _GroupedCounts] = defaultdict(_GroupedCounts)
        for item in self.data.items:
            if (value := measure(item)) is not None:
                for key in ((item.language, item.task, item.split), (item.language, item.task)):
                    counts[key].add(item.group, value)
        return counts

    @property
    def has_development(self) -> bool:
        """True if there are labels of development items."""
        return bool(self._development_scores)

    def scores(self, item: Item, metric: str) -> Counter[Score]:
        """Return how often each score of `metric` occurs outside the group of `item`."""
        return self.development(item, metric) or self._without_group(self._scores, item, metric)

    def development(self, item: Item, metric: str) -> Counter[Score]:
        """Return the same for development items only; empty if there are none."""
        return self._without_group(self._development_scores, item, metric)

    def lengths(self, item: Item) -> Counter[Score]:
        """Return how often each text length occurs outside the group of `item`."""
        return self._without_group(self._lengths, item, "dev") or self._without_group(self._lengths, item)

    def ratios(self, item: Item) -> tuple[float, ...]:
        """Return the ratios of lengths (as logarithms, rising) outside the group of `item`."""
        key = (item.language, item.task, item.group)
        if key not in self._other_ratios:
            counts = self._without_group(self._ratios, item, "dev") or self._without_group(self._ratios, item)
            self._other_ratios[key] = tuple(sorted(map(float, counts.elements())))
        return self._other_ratios[key]

    def text_length(self, item: Item) -> int:
        """Return the characters of the text that is judged; of a pair, how much longer its first text is."""
        first, *second = (len(str(item.fields.get(name, ""))) for name in self.data.outputs_of(item))
        return first - sum(second)

    def log_length_ratio(self, item: Item) -> float | None:
        """Return the logarithm of the length of the text that is judged, divided by that of its source; None where one of them is empty."""
        lengths = self.text_length(item), len(str(item.fields.get("source", "")))
        return math.log(lengths[0] / lengths[1]) if all(lengths) else None

    def _without_group(self, counts: Mapping[tuple[str, ...], _GroupedCounts], item: Item, *key: str) -> Counter[Score]:
        grouped = counts.get((item.language, item.task, *key))
        return grouped.without(item.group) if grouped else Counter()


def ascending(scale: Scale) -> list[int | str]:
    """Return the scale's classes with the best one last; on a scale for pairs, those that speak for the first text come last."""
    if scale.swap:
        return sorted(scale.classes, key=lambda score: scale.share_of_first[score])
    return list(scale.classes) if scale.best == scale.classes[-1] else list(reversed(scale.classes))


def constant_best(item: Item, metric: str, scale: Scale, training: TrainingCounts, draw: str) -> Score | None:
    return scale.best


def majority(item: Item, metric: str, scale: Scale, training: TrainingCounts, draw: str) -> Score | None:
    """Return the most common score; in a tie the best, then the first of the scale. Interval scales: the median. None without labels."""
    scores = training.scores(item, metric)
    if not scores:
        return None
    if scale.kind == "interval":
        return statistics.median(float(score) for score in scores.elements())
    most = max(scores.values())
    tied = [c for c in scale.classes if scores[c] == most]
    return scale.best if scale.best in tied else tied[0]


def random(item: Item, metric: str, scale: Scale, training: TrainingCounts, draw: str) -> Score | None:
    number = int.from_bytes(hashlib.sha256(f"{draw}\x1f{item.item_id}\x1f{metric}".encode()).digest()[:8]) / 2**64
    return _score_at(number, scale)


def length(item: Item, metric: str, scale: Scale, training: TrainingCounts, draw: str) -> Score | None:
    lengths = training.lengths(item)
    if not lengths:
        return None
    text_length = training.text_length(item)
    below = sum(count for other, count in lengths.items() if int(other) < text_length) + lengths[text_length] / 2
    return _score_at(min(below / lengths.total(), 1 - 1e-9), scale)


def length_ratio(item: Item, metric: str, scale: Scale, training: TrainingCounts, draw: str) -> Score | None:
    ratio, ratios = training.log_length_ratio(item), training.ratios(item)
    if ratio is None or not ratios:
        return None
    usual = statistics.median(ratios)
    distance = abs(ratio - usual)
    farther = sum((abs(other - usual) > distance) + (abs(other - usual) == distance) / 2 for other in ratios)
    return _score_at(min(farther / len(ratios), 1 - 1e-9), scale)


def _score_at(fraction: float, scale: Scale) -> Score:
    """Return the score at this fraction (0 to 1) of the scale, from worst to best."""
    if scale.steps:
        return scale.steps[int(fraction * len(scale.steps))]
    if scale.kind == "interval":
        low, high = scale.min or 0.0, scale.max if scale.max is not None else 1.0
        return low + fraction * (high - low)
    classes = ascending(scale)
    return classes[int(fraction * len(classes))]


BASELINES: dict[str, Callable[[Item, str, Scale, TrainingCounts, str], Score | None]] = {
    "constant-best": constant_best,
    "majority": majority,
    "random": random,
    "length": length,
    "length-ratio": length_ratio,
}


class BaselineJudge:
    """A baseline as a judge, so that its answers are treated like those of a model."""

    concurrency = 64
    endpoint = None

    def __init__(self, name: str, training: Dataset, seed: int) -> None:
        self._name, self._seed = name, seed
        self._training = TrainingCounts(training)
        settings: dict[str, str | int] = {"learnt_from": training.sha256[:16]} if name in ("majority", "length", "length-ratio") else {}
        self.identity = JudgeIdentity("baseline", name, settings | ({"seed": seed} if name == "random" else {}))

    async def start(self, calls: Iterable[Call]) -> None:
        """Nothing to start."""

    async def answer(self, call: Call) -> Reply:
        return self.reply(call.query)

    def reply(self, query: Query) -> Reply:
        """Return the answer to a query. It depends on nothing else."""
        draw = f"{self._seed}\x1f{query.repeat}" + ("\x1fswapped" if query.condition.order == "swapped" else "")
        data, scores = self._training.data, {}
        is_exchanged = query.condition.order == "swapped" and self._name == "majority"  # it learns from labels, in the item's own order
        for metric in query.metrics:
            scale = data.label_scale(metric)
            score = BASELINES[self._name](query.item, metric, scale, self._training, draw)
            score = scale.exchanged(score) if is_exchanged and score is not None else score
            # a score on the scale of the labels is one at the same place of the scale on which judges answer
            answers = data.scales[metric]
            if scale == answers or not isinstance(score, (int, float)) or scale.min is None or scale.max is None:
                scores[metric] = score
            else:
                fraction = (score - scale.min) / (scale.max - scale.min)
                scores[metric] = _score_at(min(1 - fraction if scale.best == scale.min else fraction, 1 - 1e-9), answers)
        answer = answer_object(scores, None, query.condition.variant.call == "joint")
        return Reply(text=msgspec.json.encode(answer).decode(), model=self.identity.name, finish_reason="stop")

    async def stop(self) -> None:
        """Nothing to stop."""


def open_judge(name: str, options: JudgeOptions) -> BaselineJudge:
    """Return the judge `baseline/<name>`. Raises UsageError for an unknown name."""
    if name not in BASELINES:
        raise UsageError(f"no baseline '{name}'.{choose_from(BASELINES, name)}")
    if options.training is None:
        raise UsageError("a baseline needs items and labels to learn from; pass them in JudgeOptions.training")
    return BaselineJudge(name, options.training, options.seed)
