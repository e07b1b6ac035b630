"""How many calls to one judge are in flight: an adaptive or a fixed limit, requests and tokens a minute, and pauses."""

from __future__ import annotations

import asyncio
from collections import deque
from functools import cached_property
from statistics import median

from harness.judges.rate_limit_headers import RateLimitStatus

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


class Closed(Exception):
    """The rate limiter is closed: nothing more goes out."""


class Permit:
    """One attempt in flight. `full`: no permit was left after this one."""

    __slots__ = ("full", "generation", "tokens")

    def __init__(self, generation: int, tokens: int, full: bool) -> None:
        self.generation, self.tokens, self.full = generation, tokens, full


class RateLimiter:
    """Gives out the permits of one judge.

    Args:
        concurrency: calls in flight; None: adaptive.
        rpm: attempts a minute, evenly spread; None: no limit.
        tpm: tokens a minute, prompt and answer: estimated when a call goes out, corrected by the provider's counts. None: no limit.
    """

    def __init__(self, concurrency: int | None = None, rpm: float | None = None, tpm: float | None = None) -> None:
        self.concurrency = FixedConcurrency(concurrency) if concurrency else AdaptiveConcurrency()
        self._rpm, self._tpm = rpm, tpm
        self.in_flight = 0
        self._queue: deque[tuple[int, asyncio.Future[Permit]]] = deque()
        self._next = 0.0  # loop time of the next attempt that rpm, tpm and pauses allow
        self._timer: asyncio.TimerHandle | None = None
        self._timer_time = 0.0  # loop time at which the timer fires
        self._probing = False
        self._closed = False
        self._last_status: RateLimitStatus | None = None

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()  # looked up once: in Python 3.11 each lookup is a system call

    async def acquire(self, tokens: int = 0) -> Permit:
        """Wait for a permit for a call of about that many tokens. Raises Closed once the rate limiter is closed."""
        if self._closed:
            raise Closed
        if not self._queue and self._next <= self._loop.time() and self._has_permit():
            return self._grant(tokens)
        future: asyncio.Future[Permit] = self._loop.create_future()
        self._queue.append((tokens, future))
        self._serve()
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self.in_flight -= 1
            raise

    def release(
        self, permit: Permit, *, seconds: float | None = None, used_tokens: int | None = None, status: RateLimitStatus | None = None
    ) -> float:
        """Give a permit back, with what is known of its attempt: the seconds to its reply, its tokens, the rate limit status after it.

        Return the seconds until a limit that is used up is renewed; 0 without one.
        """
        wait = 0.0
        self.in_flight -= 1
        if seconds is not None:
            self.concurrency.record(seconds, full=permit.full)
        if used_tokens is not None and self._tpm:
            self._next += (used_tokens - permit.tokens) * 60 / self._tpm
        if status is not None and status is not self._last_status:
            # Pause until a rate limit that is used up is renewed. Its wait counts from the report, so each report pauses once.
            self._last_status = status
            if status.requests is not None and status.requests < 1:
                wait = status.requests_reset_in
            if status.tokens is not None and status.tokens < permit.tokens:
                wait = max(wait, status.tokens_reset_in)
            if wait:
                self.pause(wait)
        self._serve()
        return wait

    def pause(self, seconds: float) -> None:
        """Let nothing out for that time."""
        self._next = max(self._next, self._loop.time() + seconds)

    def close(self) -> None:
        """Give no further permits. Callers that wait for a permit get an error at once; permits in use stay valid."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        while self._queue:
            _, future = self._queue.popleft()
            if not future.done():
                future.set_exception(Closed)

    def probe(self, on: bool) -> None:
        """Let out one call at a time, while it is unknown whether the endpoint is there."""
        self._probing = on
        self._serve()

    def _serve(self) -> None:
        """Give permits to the first in the queue while there are any."""
        while self._queue and self._has_permit():
            tokens, future = self._queue[0]
            if future.done():  # cancelled while it waited
                self._queue.popleft()
                continue
            if self._next > self._loop.time():
                if self._timer_time != self._next:
                    if self._timer is not None:
                        self._timer.cancel()
                    self._timer_time = self._next
                    self._timer = self._loop.call_at(self._next, self._on_timer)
                return
            self._queue.popleft()
            future.set_result(self._grant(tokens))

    def _has_permit(self) -> bool:
        return self.in_flight < (1 if self._probing else self.concurrency.limit)

    def _grant(self, tokens: int) -> Permit:
        self.in_flight += 1
        if self._rpm or self._tpm:
            seconds = max(60 / self._rpm if self._rpm else 0.0, tokens * 60 / self._tpm if self._tpm else 0.0)
            self._next = max(self._next, self._loop.time()) + seconds
        return Permit(self.concurrency.generation, tokens, self.in_flight >= self.concurrency.limit)

    def _on_timer(self) -> None:
        self._timer_time = 0.0
        self._serve()
