"""A kind of perturbation: its doses, its expected effect on scores, the pure function that changes a text, and what it draws with."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeVar

import msgspec

from harness.model import Item
from harness.perturb.segments import Words

Direction = Literal[-1, 0, 1]
T = TypeVar("T")


class Doses(NamedTuple):
    """The doses of a kind. The range includes both ends."""

    default: float
    least: float
    most: float


class Change(NamedTuple):
    """A changed text, and the size of the change, under names that the kind chooses. Shares are in [0, 1]."""

    text: str
    realised: dict[str, float]


class Perturb(Protocol):
    """Changes `words.text`, one output text of `item`. Returns None if the text cannot be changed.

    The function is pure: equal arguments give equal results on every platform. `seed` already depends on the run's seed, the item and the
    text, so `Chance(seed)` is enough. `dose` is None for kinds without doses. `pool` holds the items from which a text may be taken.
    """

    def __call__(self, item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None: ...


class Kind(msgspec.Struct, frozen=True):
    """One kind of perturbation."""

    name: str
    summary: str
    doses: Doses | None
    heeds_segmenter: bool  # whether it works on words
    moves: Mapping[str, Direction]  # metrics whose scores should fall (-1), stay (0) or rise (1); others may do anything
    perturb: Perturb
    broken: str = ""  # why a plug-in cannot be loaded


class Chance:
    """Draws from a seed, the same on all platforms: it uses only `Random.random`, the one method whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, count: int) -> int:
        """Return a number from 0 to `count` - 1. `count` is at least 1."""
        return int(self._random() * count)

    def pick(self, among: Sequence[T]) -> T:
        """Return one element of a sequence that is not empty."""
        return among[self.below(len(among))]

    def some(self, count: int, wanted: int) -> list[int]:
        """Return `wanted` different numbers below `count`, in random order.

        With the same seed, a smaller `wanted` gives the first numbers of a larger one: a greater dose chooses all that a smaller one does.
        """
        remaining = list(range(count))
        draw = self._random
        chosen = []
        for size in range(count, count - wanted, -1):  # the last remaining number takes the place of the chosen one
            position = int(draw() * size)
            chosen.append(remaining[position])
            remaining[position] = remaining[size - 1]
        return chosen


def dosed_count(dose: float | None, count: int) -> int:
    """Return `dose * count`, rounded half up."""
    return int((dose or 0.0) * count + 0.5)
