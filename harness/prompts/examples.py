"""Few-shot examples: scored development items of the same task and language, a few of each class, always the same ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any

import msgspec

from harness.content.specs import Task
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.model import Item, Scale, Score


class Example(msgspec.Struct, frozen=True):
    """One scored text as a judge sees it. `constructed`: the text was written to deserve this score; no reader gave it."""

    item_id: str
    metric: str
    score: Score
    texts: dict[str, str]
    constructed: bool


_RankedItem = tuple[str, Item]  # a hash that decides the order, and the item


class FewShotExamples:
    """Chooses the examples of a data set, by `seed`.

    For every class of a metric it takes the first `k` development items. A hash of seed, metric and item decides the order. Items of
    groups that no other class has shown come first. The group of the item to be judged never appears. The score of an item with several
    annotators is their unique mode. The chosen examples are sorted by the same hash, so that no class is always last.
    """

    def __init__(self, training: Dataset, seed: int) -> None:
        self._training = training
        self._seed = seed

    def choose(self, item: Item, task: Task, metric: str, scale: Scale, k: int) -> tuple[Example, ...]:
        """Return the examples that precede `item`. Raises UsageError on an interval scale and without any labelled development item."""
        if scale.kind == "interval":
            raise UsageError(f"few-shot shows examples of every class; '{metric}' has no classes: its scale is an interval")
        if metric in self._training.label_scales:
            labelled_on = self._training.label_scale(metric).describe()
            raise UsageError(f"few-shot shows scored texts; people scored '{metric}' on another scale, {labelled_on}: remove few-shot")
        by_class = self._items_by_class.get((item.language, item.task, metric), {})
        if not by_class:
            raise UsageError(
                f"few-shot needs development items (split = dev) with labels on '{metric}' in {item.language}/{item.task}; there are none"
            )
        chosen: list[tuple[str, Item, Score]] = []
        for score in scale.classes:
            ranked, chosen_groups = by_class.get(score, ()), {other.group for _, other, _ in chosen}
            new = (entry for entry in ranked if entry[1].group not in chosen_groups and entry[1].group != item.group)
            again = (entry for entry in ranked if entry[1].group in chosen_groups and entry[1].group != item.group)
            chosen += [(rank, other, score) for rank, other in islice(chain(new, again), k)]
        return tuple(
            Example(other.item_id, metric, score, _example_texts(other, task, metric), (other.item_id, metric) in self._constructed)
            for _, other, score in sorted(chosen, key=lambda entry: entry[0])
        )

    def classes_without_examples(self, language: str, task: str, metric: str, scale: Scale) -> tuple[Score, ...]:
        """The classes that no development item has. Prompts do not show them, and the report says so."""
        by_class = self._items_by_class.get((language, task, metric), {})
        return tuple(score for score in scale.classes if score not in by_class)

    @cached_property
    def _items_by_class(self) -> Mapping[tuple[str, str, str], Mapping[Score, Sequence[_RankedItem]]]:
        """`{(language, task, metric): {class: [(rank, item)]}}`, in the order of ranks."""
        items: dict[tuple[str, str, str], dict[Score, list[_RankedItem]]] = {}
        for (item_id, metric), counts in self._label_counts().items():
            item = self._training.by_id[item_id]
            modes = [score for score, count in counts.items() if count == max(counts.values())]
            if item.split == "dev" and len(modes) == 1:
                rank = hashlib.sha256(f"{self._seed}\x1f{metric}\x1f{item_id}".encode()).hexdigest()
                items.setdefault((item.language, item.task, metric), {}).setdefault(modes[0], []).append((rank, item))
        for by_class in items.values():
            for ranked in by_class.values():
                ranked.sort(key=lambda entry: entry[0])
        return items

    def _label_counts(self) -> dict[tuple[str, str], dict[Score, int]]:
        """`{(item id, metric): {score: number of labels}}`."""
        label_counts: dict[tuple[str, str], dict[Score, int]] = {}
        for label in self._training.labels:
            counts = label_counts.setdefault((label.item_id, label.metric), {})
            counts[label.score] = counts.get(label.score, 0) + 1
        return label_counts

    @cached_property
    def _constructed(self) -> frozenset[tuple[str, str]]:
        return frozenset((label.item_id, label.metric) for label in self._training.labels if label.source == "constructed")


def _example_texts(item: Item, task: Task, metric: str) -> dict[str, Any]:
    names = task.shown.get(metric, task.fields)
    return {name: text for name in task.fields if name in names and (text := _without_slot_marks(str(item.fields.get(name, "")).strip()))}


def _without_slot_marks(text: str) -> str:
    """Remove the characters that mark slots in a template: the text of an example becomes a part of the template."""
    return text.replace("\ue000", "").replace("\ue001", "")
