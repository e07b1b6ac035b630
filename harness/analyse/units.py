"""Judgments laid beside the labels of their items, as arrays of one length: what every statistic is computed from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.analyse.options import Annotators
from harness.columns import NO_VALUE, Coded, Codes, joint, rows_of
from harness.content.dataset import Dataset
from harness.content.recorded import Judgments, joined
from harness.content.tags import suggest
from harness.errors import UsageError
from harness.model import Failure, Scale, Score
from harness.stats import count_long
from harness.stats.arrays import Ints, Kind
from harness.stats.describe import Direction

MAX_VALUES = 64
"""An interval scale with more different scores than this has no classes that could be counted."""
OWN_KEYS = ("language", "task", "system", "group")


@dataclass(frozen=True, eq=False)
class Classes:
    """A metric's scale as class codes: `values` are the numbers that the classes stand for (None: their positions)."""

    scores: tuple[Score, ...]
    kind: Kind
    values: tuple[float, ...] | None
    direction: Direction | None

    @property
    def key(self) -> tuple[Any, ...]:
        """Metrics with equal keys are on one scale and can be counted together."""
        return (self.scores, self.kind, self.values, self.direction)

    def index(self) -> dict[Any, int]:
        return {score: code for code, score in enumerate(self.scores)}


@dataclass(frozen=True, eq=False)
class Votes:
    """One metric's labels: how many annotators gave each item each class, (items, k); rows of zeros where none, or too few, did."""

    classes: Classes
    counts: Ints


@dataclass(frozen=True, eq=False)
class Units:
    """One row a judgment: `item` is an index into the items of the data, `source` where the judgment comes from."""

    item: Codes
    judgments: Judgments
    source: Coded

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: NDArray[Any]) -> Units:
        return Units(self.item[rows], self.judgments.take(rows), self.source.take(rows))


def classes_of(scale: Scale, scores: Iterable[Score] = (), metric: str = "") -> Classes:
    """The classes of a scale; those of an interval scale are the different `scores` on it.

    Raises UsageError when an interval scale has more than `MAX_VALUES` of them.
    """
    if scale.kind == "interval":
        different = tuple(sorted({float(score) for score in scores}))
        if len(different) > MAX_VALUES:
            raise UsageError(
                f"metric '{metric}' has {len(different)} different scores; round them to at most {MAX_VALUES}, or leave it out with --where"
            )
        return Classes(different, "interval", different, _direction(scale.best, scale.min, scale.max))
    direction = _direction(scale.best, scale.classes[0], scale.classes[-1])
    if scale.kind == "nominal":
        return Classes(scale.classes, scale.kind, None, direction)
    numbers = tuple(float(c) for c in scale.classes if isinstance(c, int))
    rising = len(numbers) == len(scale.classes) and list(numbers) == sorted(set(numbers))
    return Classes(scale.classes, scale.kind, numbers if rising else None, direction)


def _direction(best: Any, first: Any, last: Any) -> Direction | None:
    return None if best is None or best not in (first, last) else 1 if best == last else -1


def votes(data: Dataset, judgments: Judgments, needed: Annotators) -> dict[str, Votes]:
    """Every metric's labels, counted an item; items with another number of annotators than `needed` have none.

    Raises UsageError when there are labels and no item has that number of annotators.
    """
    labels = data.labels
    item = labels.item.recoded(data.positions).astype(np.int64)
    found = {}
    for code, metric in enumerate(labels.metric.values):
        here = np.flatnonzero(labels.metric.codes == code)
        if not len(here):
            continue
        scale, given = data.scales[metric], labels.score.take(here)
        used: list[Score] = []
        if scale.kind == "interval":
            judged = judgments.score.take(judgments.metric.recoded({metric: 0}) == 0)
            used = [*given.used, *judged.used]
        classes = classes_of(scale, used, metric)
        counts = count_long(item[here], given.recoded(classes.index()), len(data.items), len(classes.scores))
        raters = counts.sum(axis=1)
        kept = raters == needed.least if needed.exactly else raters >= needed.least
        found[metric] = Votes(classes, np.where(kept[:, None], counts, 0))
    if found and not any(of.counts.any() for of in found.values()):
        wanted = f"exactly {needed.least}" if needed.exactly else f"{needed.least} or more"
        raise UsageError(f"no item has {wanted} annotators on a metric; the most that one has is {labels.most_raters}")
    return found


def units_of(data: Dataset, judgments: Judgments, source: str = "") -> Units:
    """The judgments as they are."""
    return Units(judgments.item.recoded(data.positions), judgments, Coded.of_one(source, len(judgments)))


def joined_units(parts: Sequence[Units]) -> Units:
    """Units one after the other."""
    if len(parts) == 1:
        return parts[0]
    item = np.concatenate([part.item for part in parts])
    return Units(item, joined([part.judgments for part in parts]), Coded.joined([part.source for part in parts]))


def with_unjudged(units: Units, data: Dataset, counted: Mapping[str, Votes]) -> Units:
    """Adds the labelled items that a judge has no row for, as failures: leaving out what is hard must not pay.

    That is by judge, variant, temperature, top-p, metric, language and task of which the judge has any row.
    """
    j = units.judgments
    place = Coded.of((item.language, item.task) for item in data.items)
    which = joint([j.judge, j.variant, j.temperature, j.top_p, j.metric, place.take(units.item)], np.zeros(len(units), np.int8))
    labelled = {metric: votes.counts.sum(axis=1) > 0 for metric, votes in counted.items()}
    like, items = [], []
    for asked in rows_of(which):
        row = int(asked[0])
        metric = j.metric.values[j.metric.codes[row]]
        if metric in labelled:
            wanted = labelled[metric] & (place.codes == place.codes[units.item[row]])
            wanted[units.item[asked]] = False
            absent = np.flatnonzero(wanted)
            items.append(absent)
            like.append(np.full(len(absent), row))
    if not sum(map(len, items)):
        return units
    rows = np.concatenate([np.arange(len(units)), *like])
    new = np.arange(len(rows)) >= len(units)
    item = np.concatenate([units.item, *items]).astype(np.int32)
    kept = j.take(rows)
    kept.item = Coded(tuple(one.item_id for one in data.items), item)
    failures = tuple(dict.fromkeys((*j.failure.values, Failure.MISSING)))
    kept.score = Coded(kept.score.values, np.where(new, NO_VALUE, kept.score.codes))
    kept.failure = Coded(failures, np.where(new, failures.index(Failure.MISSING), kept.failure.codes.astype(np.int32)))
    return Units(item, kept, units.source.take(rows))


def as_text(value: Any) -> str:
    """A key as people write it: the temperature 0.0 is `0`."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def item_key(data: Dataset, name: str) -> Coded:
    """One of an item's keys, for every item: its language, task, system, group, or any field that holds a text or a number."""
    if name in OWN_KEYS:
        return Coded.of(getattr(item, name) for item in data.items)
    values = [item.fields.get(name) for item in data.items]
    if not any(isinstance(value, (str, int, float)) for value in values):
        fields = sorted({name for item in data.items[:1000] for name, value in item.fields.items() if isinstance(value, (str, int, float))})
        here = [*OWN_KEYS, "metric", "judge", "variant", "temperature", "top_p", "agreement", *fields]
        raise UsageError(f"no item has '{name}'.{suggest(name, here)}\n         here: {', '.join(here)}")
    return Coded.of(value if isinstance(value, (str, int, float)) else None for value in values)
