"""`baseline/<name>`: judges that read no text for its meaning. What does not beat them does not judge.

- `constant-best` gives the scale's best score to everything
- `majority` gives the commonest label of the development items of the same language, task and metric; without such items, of the
  labels of all other groups (leave one group out): never of the items scored
- `random` draws a score, fixed by seed, item, metric and repeat
- `length` gives higher scores to longer texts: the place of the text's length among the development items' lengths (without such
  items, among those of all other groups), cut into as many equal parts as there are scores
"""

from __future__ import annotations

import hashlib
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import msgspec

from harness.content.dataset import Dataset
from harness.content.tags import suggest
from harness.errors import UsageError
from harness.judges.base import JudgeOptions, answer_object
from harness.model import Ask, Call, Item, JudgeIdentity, Reply, Scale, Score


class _Seen:
    """Values counted in all and by group, so that one group's can be left out without counting the others again."""

    def __init__(self) -> None:
        self._all: Counter[Score] = Counter()
        self._by_group: dict[str, Counter[Score]] = {}

    def add(self, group: str, value: Score) -> None:
        self._all[value] += 1
        self._by_group.setdefault(group, Counter())[value] += 1

    def without(self, group: str) -> Counter[Score]:
        return self._all - self._by_group[group] if group in self._by_group else self._all


class Learnt:
    """What baselines may know: development items and their labels, or leave-one-group-out where there are none."""

    def __init__(self, data: Dataset) -> None:
        self.data = data

    @cached_property
    def _scores(self) -> dict[tuple[str, ...], _Seen]:
        """By (language, task, metric, split), and without a split for all."""
        found: dict[tuple[str, ...], _Seen] = defaultdict(_Seen)
        for label in self.data.labels:
            item = self.data.by_id[label.item_id]
            for key in ((item.language, item.task, label.metric, item.split), (item.language, item.task, label.metric)):
                found[key].add(item.group, label.score)
        return found

    @cached_property
    def _lengths(self) -> dict[tuple[str, ...], _Seen]:
        """By (language, task, split), and without a split for all."""
        found: dict[tuple[str, ...], _Seen] = defaultdict(_Seen)
        for item in self.data.items:
            for key in ((item.language, item.task, item.split), (item.language, item.task)):
                found[key].add(item.group, text_length(item))
        return found

    def scores(self, item: Item, metric: str) -> Counter[Score]:
        """Scores, counted, that say something about `metric` without saying anything about `item` or its group."""
        return self.development(item, metric) or self._of(self._scores, item, metric)

    def development(self, item: Item, metric: str) -> Counter[Score]:
        """Scores of development items only; empty where there are none."""
        return self._of(self._scores, item, metric, "dev")

    def lengths(self, item: Item) -> Counter[Score]:
        """Lengths, counted, of the texts that `item`'s may be compared with."""
        return self._of(self._lengths, item, "dev") or self._of(self._lengths, item)

    def _of(self, known: Mapping[tuple[str, ...], _Seen], item: Item, *more: str) -> Counter[Score]:
        seen = known.get((item.language, item.task, *more))
        return seen.without(item.group) if seen else Counter()


def text_length(item: Item) -> int:
    """Characters of the text judged."""
    return len(str(item.fields.get("output", "")))


def ascending(scale: Scale) -> list[int | str]:
    """The scale's classes with the best one last."""
    return list(scale.classes) if scale.best == scale.classes[-1] else list(reversed(scale.classes))


def constant_best(item: Item, metric: str, scale: Scale, learnt: Learnt, draw: str) -> Score | None:
    return scale.best


def majority(item: Item, metric: str, scale: Scale, learnt: Learnt, draw: str) -> Score | None:
    """The commonest score; of several, the best one, then the first of the scale. Interval scales: the median. None if nothing is known."""
    scores = learnt.scores(item, metric)
    if not scores:
        return None
    if scale.kind == "interval":
        return statistics.median(float(score) for score in scores.elements())
    most = max(scores.values())
    tied = [c for c in scale.classes if scores[c] == most]
    return scale.best if scale.best in tied else tied[0]


def random(item: Item, metric: str, scale: Scale, learnt: Learnt, draw: str) -> Score | None:
    number = int.from_bytes(hashlib.sha256(f"{draw}\x1f{item.item_id}\x1f{metric}".encode()).digest()[:8]) / 2**64
    return _place(number, scale)


def length(item: Item, metric: str, scale: Scale, learnt: Learnt, draw: str) -> Score | None:
    lengths = learnt.lengths(item)
    if not lengths:
        return None
    own = text_length(item)
    below = sum(count for other, count in lengths.items() if int(other) < own) + lengths[own] / 2
    return _place(min(below / lengths.total(), 1 - 1e-9), scale)


def _place(fraction: float, scale: Scale) -> Score:
    if scale.kind == "interval":
        low, high = scale.min or 0.0, scale.max if scale.max is not None else 1.0
        return low + fraction * (high - low)
    classes = ascending(scale)
    return classes[int(fraction * len(classes))]


BASELINES: dict[str, Callable[[Item, str, Scale, Learnt, str], Score | None]] = {
    "constant-best": constant_best,
    "majority": majority,
    "random": random,
    "length": length,
}


class BaselineJudge:
    """A baseline behind the protocol that models stand behind, so that its answers take the same way into the report."""

    concurrency = 64
    endpoint = None
    allowance = None

    def __init__(self, name: str, training: Dataset, seed: int) -> None:
        self._name, self._seed = name, seed
        self._learnt = Learnt(training)
        settings: dict[str, str | int] = {"learnt_from": training.sha256[:16]} if name in ("majority", "length") else {}
        self.identity = JudgeIdentity("baseline", name, settings | ({"seed": seed} if name == "random" else {}))

    async def start(self, calls: Iterable[Call]) -> None:
        """Nothing to start."""

    async def answer(self, call: Call) -> Reply:
        return self.reply(call.ask)

    def reply(self, ask: Ask) -> Reply:
        """What it answers, which depends on nothing but the ask."""
        draw = f"{self._seed}\x1f{ask.repeat}"
        scales = self._learnt.data.scales
        scores = {metric: BASELINES[self._name](ask.item, metric, scales[metric], self._learnt, draw) for metric in ask.metrics}
        answer = answer_object(scores, None, ask.condition.variant.call == "joint")
        return Reply(text=msgspec.json.encode(answer).decode(), model=self.identity.name, finish_reason="stop")

    async def stop(self) -> None:
        """Nothing to stop."""


def open_judge(name: str, options: JudgeOptions) -> BaselineJudge:
    """The judge `baseline/<name>`. Raises UsageError for an unknown name."""
    if name not in BASELINES:
        raise UsageError(f"no baseline '{name}'.{suggest(name, BASELINES)}\n         here: {', '.join(BASELINES)}")
    if options.training is None:
        raise UsageError("a baseline needs items and labels to learn from; pass them in JudgeOptions.training")
    return BaselineJudge(name, options.training, options.seed)
