"""When to ask again, and when to wait for an endpoint that is down instead."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

MAX_ATTEMPTS = 8
FIRST_ATTEMPTS = 5  # where nothing was answered yet: the address or the endpoint is more likely wrong than busy
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 60.0
_LONGEST_CALL_SECONDS = 1800.0
_LOSSES = 10  # one after the other, with no answer among them
_FIRST_PROBE_SECONDS = 0.5
_LONGEST_PROBE_SECONDS = 15.0
LONGEST_OUTAGE_SECONDS = 1200.0


def backoff(attempt: int) -> float:
    """Seconds before the attempt after number `attempt` (from 1): doubling, with full jitter, at most a minute.

    Brooker (2015), Exponential backoff and jitter: anything from 0 to the whole wait spreads those who wait best.
    """
    return random.uniform(0, min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2 ** min(attempt, 20)))


class Tries:
    """The attempts of one call: capped by number and time. Waiting for an endpoint that is down is no attempt."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.count = 0
        self._most = most
        self._clock = clock
        self._began = clock()

    def failed(self, *, waited_for: bool) -> None:
        if not waited_for:
            self.count += 1

    def left(self, *, first: bool) -> bool:
        """Whether to ask again; `first`: the judge has answered nothing yet."""
        most = min(self._most, FIRST_ATTEMPTS) if first else self._most
        return self.count < most and self._clock() - self._began < _LONGEST_CALL_SECONDS


class Breaker:
    """Opens when nothing is answered any more, closes with the first answer: in between one call at a time looks whether it is back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._losses = 0
        self._opened: float | None = None
        self._probes = 0

    @property
    def is_open(self) -> bool:
        return self._opened is not None

    @property
    def given_up(self) -> bool:
        """Whether it has been down for longer than one waits."""
        return self._opened is not None and self._clock() - self._opened > LONGEST_OUTAGE_SECONDS

    def lost(self, *, down: bool) -> None:
        """An attempt has brought nothing; `down`: perhaps because nobody is there."""
        self._losses = self._losses + 1 if down else 0
        if self._opened is None and self._losses >= _LOSSES:
            self._opened = self._clock()
            self._probes = 0

    def answered(self) -> None:
        self._losses = 0
        self._opened = None

    def next_probe(self) -> float:
        """Seconds until the next look."""
        self._probes += 1
        longest = min(_LONGEST_PROBE_SECONDS, _FIRST_PROBE_SECONDS * 2 ** min(self._probes - 1, 20))
        return random.uniform(longest / 2, longest)
