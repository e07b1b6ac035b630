"""How many calls of a judge may be in flight: a limit that adapts to the latency, or a fixed one."""

from __future__ import annotations

from statistics import median

FIRST_LIMIT = 8
MOST_IN_FLIGHT = 512
_SLOWER = 1.5  # times the best latency: beyond this, more calls in flight only wait for each other
_SLACK_SECONDS = 0.01


class AdaptiveConcurrency:
    """A limit of calls in flight. It grows while latency holds, and halves when the endpoint reports that it is overloaded.

    It doubles at first, and grows by 10 % at a time after latency has risen once. It is reviewed after each window of as many replies as
    the limit allows in flight.
    """

    def __init__(self, first: int = FIRST_LIMIT, most: int = MOST_IN_FLIGHT) -> None:
        self.limit = first
        self._most = most
        self._doubling = True
        self._window: list[float] = []
        self._best = float("inf")
        self._was_full = False
        self.generation = 0  # changes with each halving: calls that were in flight before say nothing about the present limit

    def record(self, seconds: float, *, full: bool) -> None:
        """A reply came after `seconds`. `full`: all permits were taken when its call went out."""
        self._window.append(seconds)
        self._was_full |= full
        if len(self._window) < self.limit:
            return
        latency, self._window = median(self._window), []
        self._best = min(self._best, latency)
        was_full, self._was_full = self._was_full, False
        if latency > self._best * _SLOWER + _SLACK_SECONDS:
            self._doubling = False
            if latency > 2 * self._best * _SLOWER:
                self.limit = max(1, self.limit * 9 // 10)
        elif was_full:
            grown = 2 * self.limit if self._doubling else self.limit + max(1, self.limit // 10)
            self.limit = min(grown, self._most)

    def reduce(self, generation: int) -> None:
        """The endpoint was overloaded by a call of that generation: halve the limit, once for all calls of the generation."""
        if generation == self.generation:
            self.limit = max(1, self.limit // 2)
            self.generation += 1
            self._doubling = False
            self._window = []


class FixedConcurrency:
    """A limit that the user or the judge has set. It never changes."""

    generation = 0

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def record(self, seconds: float, *, full: bool) -> None:
        """Changes nothing."""

    def reduce(self, generation: int) -> None:
        """Changes nothing."""
