"""Chance that is the same on every platform and Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """Draws from a seed. Stands on `Random.random` alone, the one method whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, count: int) -> int:
        """A number from 0 to `count` - 1; `count` is at least 1."""
        return int(self._random() * count)

    def pick(self, among: Sequence[T]) -> T:
        """One of them; there is at least one."""
        return among[self.below(len(among))]

    def some(self, count: int, wanted: int) -> list[int]:
        """`wanted` different numbers below `count`, in random order.

        With one seed, fewer wanted numbers are the first of more: what a small dose chooses, a greater one chooses too.
        """
        left = list(range(count))
        draw = self._random
        chosen = []
        for size in range(count, count - wanted, -1):  # the last one left takes the place of the one chosen
            place = int(draw() * size)
            chosen.append(left[place])
            left[place] = left[size - 1]
        return chosen


def number_of(dose: float | None, count: int) -> int:
    """How many of `count` things a dose means, rounded half up: never a whole one away from `dose * count`."""
    return int((dose or 0.0) * count + 0.5)
