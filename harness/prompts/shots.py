"""Few-shot examples: scored development items of the same task and language, a few of each class, always the same ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from harness.content.dataset import Dataset
from harness.content.specs import Task
from harness.errors import UsageError
from harness.model import Item, Scale, Score


class Example(msgspec.Struct, frozen=True):
    """One scored text as a judge sees it. `constructed`: its score was made with the text, not given by a reader."""

    item_id: str
    metric: str
    score: Score
    texts: dict[str, str]
    constructed: bool


class Shots:
    """The examples of a data set, chosen by `seed`.

    Of every class of a metric the first `k` development items, in an order that a hash of seed, metric and item gives, those of groups
    that no other class has shown first; never one of the group of the item that is asked about. The aggregate of several annotators is
    their unique mode. Classes are mixed by the same hash, so that no class is always last.
    """

    def __init__(self, training: Dataset, seed: int) -> None:
        self._training = training
        self._seed = seed

    def of(self, item: Item, task: Task, metric: str, scale: Scale, k: int) -> tuple[Example, ...]:
        """The examples that stand before `item`. Raises UsageError on an interval scale, and when there is no development item at all."""
        if scale.kind == "interval":
            raise UsageError(f"few-shot shows examples of every class; '{metric}' has none: its scale is an interval")
        by_class = self._known.get((item.language, item.task, metric), {})
        if not by_class:
            raise UsageError(
                f"few-shot needs development items (split = dev) with labels on '{metric}' in {item.language}/{item.task}; there are none"
            )
        chosen: list[tuple[str, Item, Score]] = []
        for score in scale.classes:
            ranked = [(rank, other) for rank, other in by_class.get(score, ()) if other.group != item.group]
            shown = {other.group for _, other, _ in chosen}
            ranked.sort(key=lambda each: each[1].group in shown)  # stable: texts that were not seen yet come first
            chosen += [(rank, other, score) for rank, other in ranked[:k]]
        return tuple(
            Example(other.item_id, metric, score, _texts(other, task), self._constructed(other.item_id, metric))
            for _, other, score in sorted(chosen, key=lambda each: each[0])
        )

    def absent(self, language: str, task: str, metric: str, scale: Scale) -> tuple[Score, ...]:
        """Classes without a development item: they are not shown, and that is said."""
        known = self._known.get((language, task, metric), {})
        return tuple(score for score in scale.classes if score not in known)

    @cached_property
    def _known(self) -> Mapping[tuple[str, str, str], Mapping[Score, Sequence[tuple[str, Item]]]]:
        """`{(language, task, metric): {class: [(rank, item)]}}`, by rank."""
        votes: dict[tuple[str, str], dict[Score, int]] = {}
        for label in self._training.labels:
            counts = votes.setdefault((label.item_id, label.metric), {})
            counts[label.score] = counts.get(label.score, 0) + 1
        found: dict[tuple[str, str, str], dict[Score, list[tuple[str, Item]]]] = {}
        for (item_id, metric), counts in votes.items():
            item = self._training.by_id[item_id]
            most = [score for score, count in counts.items() if count == max(counts.values())]
            if item.split == "dev" and len(most) == 1:
                rank = hashlib.sha256(f"{self._seed}\x1f{metric}\x1f{item_id}".encode()).hexdigest()
                found.setdefault((item.language, item.task, metric), {}).setdefault(most[0], []).append((rank, item))
        for classes in found.values():
            for items in classes.values():
                items.sort(key=lambda each: each[0])
        return found

    def _constructed(self, item_id: str, metric: str) -> bool:
        return (item_id, metric) in self._made

    @cached_property
    def _made(self) -> frozenset[tuple[str, str]]:
        return frozenset((label.item_id, label.metric) for label in self._training.labels if label.source == "constructed")


def _texts(item: Item, task: Task) -> dict[str, Any]:
    return {name: text for name in task.fields if (text := _unmarked(str(item.fields.get(name, "")).strip()))}


def _unmarked(text: str) -> str:
    """Without the characters that mark slots in a frame: an example's text is part of the frame."""
    return text.replace("\ue000", "").replace("\ue001", "")
