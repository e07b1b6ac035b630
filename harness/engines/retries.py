"""Retries: the attempts of a call, the wait between them, and the wait for an endpoint that is down."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from harness.engines.budget import Budget
from harness.engines.work import Progress
from harness.errors import JudgeError
from harness.judges.judge_protocol import NoReply
from harness.judges.rate_limit_headers import LONGEST_WAIT_SECONDS

MAX_ATTEMPTS = 8
FIRST_ATTEMPTS = 5  # if nothing was answered yet: then the address or the endpoint is more likely wrong than busy
MAX_REFUSALS = 5  # by the endpoint, one after the other, for reasons that are not the item's: then the judge is stopped
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_BACKOFF_SECONDS = 60.0
TOLD_WAIT_SECONDS = 30.0  # of a wait that an endpoint asks for: from here on it is told in words
_LONGEST_CALL_SECONDS = 1800.0
_LOSSES = 10  # one after the other, without a reply between them
_FIRST_PROBE_SECONDS = 0.5
_LONGEST_PROBE_SECONDS = 15.0
LONGEST_OUTAGE_SECONDS = 1200.0


def backoff(attempt: int) -> float:
    """Seconds to wait after attempt number `attempt` (from 1): a doubling limit of at most a minute, with full jitter.

    Brooker (2015), Exponential backoff and jitter: a random wait between 0 and the limit spreads the waiting clients best.
    """
    return random.uniform(0, min(_LONGEST_BACKOFF_SECONDS, _FIRST_WAIT_SECONDS * 2 ** min(attempt, 20)))


def span_in_words(seconds: float) -> str:
    """Return a span of time in the largest unit that it holds twice.

    >>> span_in_words(45), span_in_words(3000), span_in_words(31536000)
    ('45 seconds', '50 minutes', '365 days')
    """
    units = (("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1))
    unit, size = next(((unit, size) for unit, size in units if seconds >= 2 * size), units[-1])
    return f"{round(seconds / size):,} {unit}"


def tell_wait(progress: Progress, reason: str, seconds: float) -> None:
    """Add a note on the first long wait that an endpoint asks for, with the way to end it."""
    if progress.wait_told or seconds < TOLD_WAIT_SECONDS:
        return
    progress.wait_told = True
    progress.notes.append(
        f"{reason}. It asks to wait {span_in_words(min(seconds, LONGEST_WAIT_SECONDS))}, and this command waits. Ctrl-C stops it, and "
        "--max-minutes limits it; the same command goes on later"
    )


def refused_wait(judge: str, reason: str, seconds: float | None) -> JudgeError | None:
    """Return the error of a judge whose endpoint asks for more than the longest wait; None if it asks for less, or for none."""
    if seconds is None or seconds <= LONGEST_WAIT_SECONDS:
        return None
    return JudgeError(
        f"{judge}: {reason}. It asks to wait {span_in_words(seconds)}, and a command waits at most {span_in_words(LONGEST_WAIT_SECONDS)} "
        "at a time: run the same command again after that. All answers so far are kept"
    )


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
        """Return True if another attempt is to be made. `first`: the judge has answered nothing yet."""
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
        """Return True if the endpoint has been down for too long to wait any longer."""
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


_SLICE_SECONDS = 1.0
T = TypeVar("T")


class OutOfTime(Exception):
    """The command's minutes are over."""


class Polling:
    """Requests to one judge's provider. `watch` is called whenever a request has to wait."""

    def __init__(self, judge: str, budget: Budget, progress: Progress, watch: Callable[[], None]) -> None:
        self._judge = judge
        self._budget = budget
        self._progress = progress
        self._watch = watch
        self._answered = False

    async def until_answered(self, request: Callable[[], Awaitable[T]]) -> T:
        """Repeat a request until it is answered. Raises JudgeError when there is no answer for long, OutOfTime when the time is over."""
        start, attempts = time.monotonic(), 0
        while True:
            try:
                answer = await request()
            except NoReply as err:
                attempts += 1
                if time.monotonic() - start > LONGEST_OUTAGE_SECONDS or (attempts >= FIRST_ATTEMPTS and not self._answered):
                    raise JudgeError(
                        f"{self._judge}: {err} ({attempts} times). Is the endpoint up, and is the base URL right? "
                        "Submitted batches are recorded, and the same command goes on with them"
                    ) from None
                if refused := refused_wait(self._judge, str(err), err.retry_after):
                    raise refused from None
                self._progress.waiting_for = str(err)
                tell_wait(self._progress, str(err), err.retry_after or 0.0)
                self._watch()
                await self.wait(backoff(attempts) if err.retry_after is None else err.retry_after)
            else:
                self._answered = True
                self._progress.waiting_for = ""
                return answer

    async def wait(self, seconds: float) -> None:
        """Wait for that time. Raises OutOfTime as soon as the command's minutes are over."""
        end = time.monotonic() + seconds
        while not self._budget.out_of_time:
            remaining = end - time.monotonic()
            if remaining <= 0:
                return
            await asyncio.sleep(min(remaining, _SLICE_SECONDS))
        raise OutOfTime
