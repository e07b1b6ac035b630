"""Retries: the time of the next attempt, and the wait for an endpoint that is down."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

MAX_ATTEMPTS = 8
FIRST_ATTEMPTS = 5  # if nothing was answered yet: then the address or the endpoint is more likely wrong than busy
MAX_REFUSALS = 5  # by the endpoint, one after the other, for reasons that are not the item's: then the judge is stopped
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 60.0
_LONGEST_CALL_SECONDS = 1800.0
_LOSSES = 10  # one after the other, without a reply between them
_FIRST_PROBE_SECONDS = 0.5
_LONGEST_PROBE_SECONDS = 15.0
LONGEST_OUTAGE_SECONDS = 1200.0


def backoff(attempt: int) -> float:
    """Seconds to wait after attempt number `attempt` (from 1): a doubling limit of at most a minute, with full jitter.

    Brooker (2015), Exponential backoff and jitter: a random wait between 0 and the limit spreads the waiting clients best.
    """
    return random.uniform(0, min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2 ** min(attempt, 20)))


class RetryPolicy:
    """Limits the attempts of one call by number and time. Waiting for an endpoint that is down does not count as an attempt."""

    def __init__(self, max_attempts: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.failures = 0
        self._max_attempts = max_attempts
        self._clock = clock
        self._start = clock()

    def record_failure(self, *, counts: bool) -> None:
        """An attempt failed. `counts`: it counts as an attempt."""
        if counts:
            self.failures += 1

    def allows_another(self, *, first: bool) -> bool:
        """Whether to make another attempt. `first`: the judge has answered nothing yet."""
        limit = min(self._max_attempts, FIRST_ATTEMPTS) if first else self._max_attempts
        return self.failures < limit and self._clock() - self._start < _LONGEST_CALL_SECONDS


class CircuitBreaker:
    """Opens when an endpoint stops answering, closes with its first reply. While it is open, one call at a time probes the endpoint."""

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
        """Whether the endpoint has been down for too long to wait any longer."""
        return self._opened is not None and self._clock() - self._opened > LONGEST_OUTAGE_SECONDS

    def record_loss(self, *, down: bool) -> None:
        """An attempt brought no reply. `down`: the endpoint may not be there at all."""
        self._losses = self._losses + 1 if down else 0
        if self._opened is None and self._losses >= _LOSSES:
            self._opened = self._clock()
            self._probes = 0

    def record_reply(self) -> None:
        self._losses = 0
        self._opened = None

    def next_probe(self) -> float:
        """Seconds until the next probe."""
        self._probes += 1
        longest = min(_LONGEST_PROBE_SECONDS, _FIRST_PROBE_SECONDS * 2 ** min(self._probes - 1, 20))
        return random.uniform(longest / 2, longest)
