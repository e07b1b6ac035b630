"""Few-shot examples: scored development items of the same task and language, a few of each class, always the same ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np

from harness.content.specs import Task
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.model import Item, Scale, Score

EXAMPLE_BANDS = 5  # of numbers that have no classes: between the lowest and the highest score of the development items


class Example(msgspec.Struct, frozen=True):
    """One scored text as a judge sees it. `constructed`: the text was written to deserve this score; no reader gave it."""

    item_id: str
    metric: str
    score: Score
    texts: dict[str, str]
    constructed: bool


class _ScoredItem(NamedTuple):
    """A development item with the score that it is shown with. `rank` is a hash that decides the order."""

    rank: str
    item: Item
    score: Score


_rank_of = attrgetter("rank")
_ByClass = Mapping[Score, Sequence[_ScoredItem]]


class FewShotExamples:
    """Chooses the examples of a data set, by `seed`.

    For every class of a metric it takes the first `k` development items. A hash of seed, metric and item decides the order. Items of
    groups that no other class has shown come first. The group of the item to be judged never appears. The chosen examples are sorted by
    the same hash, so that no class is always last.

    The score of an item with several annotators is their unique mode. On scales of numbers it is their mean: then `EXAMPLE_BANDS` bands of
    equal width, between the lowest and the highest mean of the development items, stand for classes. Where people scored on another scale
    than judges, the mean is shown as the class at its place between these two.
    """

    def __init__(self, training: Dataset, seed: int) -> None:
        self._training = training
        self._seed = seed

    def choose(self, item: Item, task: Task, metric: str, scale: Scale, k: int) -> tuple[Example, ...]:
        """Return the examples that precede `item`, at most `k` of each class of the scale, or of each band.

        Raises UsageError without any labelled development item.
        """
        by_class = self._items_by_class.get((item.language, item.task, metric), {})
        if not by_class:
            raise UsageError(
                f"few-shot needs development items (split = dev) with labels on '{metric}' in {item.language}/{item.task}; there are none. "
                "--examples DIR takes the labelled items of another data folder"
            )
        chosen: list[_ScoredItem] = []
        for score in scale.classes or scale.steps or range(EXAMPLE_BANDS):
            ranked = by_class.get(score, ())
            chosen_groups = {other.item.group for other in chosen}
            new = (entry for entry in ranked if entry.item.group not in chosen_groups and entry.item.group != item.group)
            again = (entry for entry in ranked if entry.item.group in chosen_groups and entry.item.group != item.group)
            chosen += islice(chain(new, again), k)
        return tuple(
            Example(other.item_id, metric, score, _example_texts(other, task, metric), (other.item_id, metric) in self._constructed)
            for _, other, score in sorted(chosen, key=_rank_of)
        )

    def classes_without_examples(self, language: str, task: str, metric: str, scale: Scale) -> tuple[Score, ...]:
        """The classes that no development item has. Prompts do not show them, and the report says so. Numbers have their steps, if any."""
        by_class = self._items_by_class.get((language, task, metric), {})
        return tuple(score for score in scale.classes or scale.steps if score not in by_class)

    @cached_property
    def _items_by_class(self) -> Mapping[tuple[str, str, str], _ByClass]:
        """`{(language, task, metric): {class or number of the band: items}}`, items in the order of ranks."""
        scores: dict[tuple[str, str, str], list[tuple[Item, list[Score]]]] = {}
        # `{(item id, metric): scores of its annotators}`.
        scores_of: dict[tuple[str, str], list[Score]] = {}
        for label in self._training.labels:
            scores_of.setdefault((label.item_id, label.metric), []).append(label.score)
        for (item_id, metric), labels in scores_of.items():
            item = self._training.by_id[item_id]
            if item.split == "dev":
                scores.setdefault((item.language, item.task, metric), []).append((item, labels))
        by_class: dict[tuple[str, str, str], _ByClass] = {}
        for (language, task, metric), labelled in scores.items():
            is_number = self._training.label_scale(metric).kind == "interval"
            by_score = self._of_numbers(metric, labelled) if is_number else self._of_classes(metric, labelled)
            by_class[language, task, metric] = {score: sorted(items, key=_rank_of) for score, items in by_score.items()}
        return by_class

    def _of_classes(self, metric: str, labelled: Sequence[tuple[Item, list[Score]]]) -> dict[Score, list[_ScoredItem]]:
        """Items by their unique mode."""
        by_score: dict[Score, list[_ScoredItem]] = {}
        for item, labels in labelled:
            counts = {score: labels.count(score) for score in labels}
            modes = [score for score, count in counts.items() if count == max(counts.values())]
            if len(modes) == 1:
                by_score.setdefault(modes[0], []).append(_ScoredItem(self._rank(metric, item), item, modes[0]))
        return by_score

    def _of_numbers(self, metric: str, labelled: Sequence[tuple[Item, list[Score]]]) -> dict[Score, list[_ScoredItem]]:
        """Items by the band of their mean; by the nearest step of a scale with steps; on another scale than judges', by the class at its
        place.
        """
        means = [float(np.mean([float(label) for label in labels])) for _, labels in labelled]
        lowest, width = min(means), (max(means) - min(means)) or 1.0
        classes, steps = self._training.scales[metric].classes, self._training.scales[metric].steps
        by_score: dict[Score, list[_ScoredItem]] = {}
        for (item, _), mean in zip(labelled, means, strict=True):
            position = (mean - lowest) / width
            shown: Score = float(f"{mean:.4g}")
            band: Score = min(int(position * EXAMPLE_BANDS), EXAMPLE_BANDS - 1)
            if classes or steps:  # what judges may answer
                band = shown = classes[round(position * (len(classes) - 1))] if classes else min(steps, key=lambda step: abs(step - mean))
            by_score.setdefault(band, []).append(_ScoredItem(self._rank(metric, item), item, shown))
        return by_score

    def _rank(self, metric: str, item: Item) -> str:
        return hashlib.sha256(f"{self._seed}\x1f{metric}\x1f{item.item_id}".encode()).hexdigest()

    @cached_property
    def _constructed(self) -> frozenset[tuple[str, str]]:
        return frozenset((label.item_id, label.metric) for label in self._training.labels if label.source == "constructed")


def _example_texts(item: Item, task: Task, metric: str) -> dict[str, Any]:
    names = task.shown.get(metric, task.fields)
    return {
        name: text
        for name in task.fields
        if name in names and (text := str(item.fields.get(name, "")).strip().replace("\ue000", "").replace("\ue001", ""))
    }
