"""A guard against quadratic steps that compares two sizes of the same work, so that no slow machine breaks it."""

from __future__ import annotations

import time
from collections.abc import Callable

FACTOR = 16  # between the two sizes: 16 times the time for a linear step, 256 times for a quadratic one
ROOM = 4  # for the noise of a busy machine, and for steps that take n log n
SHORTEST = 0.002  # seconds; less says nothing about how time grows


def assert_grows_linearly(work: Callable[[int], object], size: int) -> None:
    """Assert that the work at `size` takes at most 64 times the processor time of the work at a sixteenth of it.

    Args:
        work: does the work for a size; called a few times with each of two sizes.
        size: the larger size. A smaller one is `size // 16`.
    """

    def seconds(of_size: int, rounds: int) -> float:
        times = []
        for _ in range(rounds):
            begin = time.process_time()
            work(of_size)
            times.append(time.process_time() - begin)
        return max(min(times), SHORTEST)

    small = seconds(size // FACTOR, rounds=3)
    large = seconds(size, rounds=1)
    if large > small * FACTOR * ROOM:  # once more, in case something else took the processor
        small, large = seconds(size // FACTOR, rounds=5), seconds(size, rounds=3)
    assert large <= small * FACTOR * ROOM, f"{FACTOR} times the size takes {large / small:.0f} times the time"
