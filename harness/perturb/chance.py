"""Random draws that are the same on every platform and Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Chance:
    """Draws from a seed. It uses only `Random.random`, the one method whose sequence Python promises to keep."""

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
            place = int(draw() * size)
            chosen.append(remaining[place])
            remaining[place] = remaining[size - 1]
        return chosen


def dosed_count(dose: float | None, count: int) -> int:
    """Return `dose * count`, rounded half up."""
    return int((dose or 0.0) * count + 0.5)
