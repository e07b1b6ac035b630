"""How many calls are in flight: adaptive and fixed limits, requests and tokens a minute, pauses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from harness.engines.concurrency import FIRST_LIMIT, MOST_IN_FLIGHT, AdaptiveConcurrency, Permit, RateLimiter
from harness.judges.rate_limit_headers import RateLimitStatus


def answers(limit: AdaptiveConcurrency, seconds: float, windows: int = 1, *, full: bool = True) -> None:
    """So many windows of answers that took that long."""
    for _ in range(windows):
        for _ in range(limit.limit):
            limit.record(seconds, full=full)


# Adaptive


def test_it_doubles_while_latency_holds_up_to_the_most() -> None:
    limit = AdaptiveConcurrency()
    seen = []
    for _ in range(8):
        seen.append(limit.limit)
        answers(limit, 0.1)
    assert seen == [8, 16, 32, 64, 128, 256, 512, MOST_IN_FLIGHT] and seen[0] == FIRST_LIMIT


def test_permits_that_nobody_takes_are_no_reason_to_grow() -> None:
    limit = AdaptiveConcurrency()
    answers(limit, 0.1, 5, full=False)
    assert limit.limit == FIRST_LIMIT


def test_rising_latency_ends_the_growth_and_much_of_it_shrinks_the_limit() -> None:
    limit = AdaptiveConcurrency(64)
    answers(limit, 0.1)
    assert limit.limit == 128
    answers(limit, 0.2)
    assert limit.limit == 128
    answers(limit, 0.4)
    assert limit.limit == 115
    answers(limit, 0.1)
    assert limit.limit == 126  # by a tenth from now on


def test_a_busy_endpoint_halves_it_once_for_all_that_was_under_way() -> None:
    limit = AdaptiveConcurrency(64)
    generation = limit.generation
    for _ in range(20):
        limit.reduce(generation)
    assert limit.limit == 32
    limit.reduce(limit.generation)
    assert limit.limit == 16
    for _ in range(20):
        limit.reduce(limit.generation)
    assert limit.limit == 1


def test_a_limit_that_was_asked_for_holds() -> None:
    limiter = RateLimiter(3)
    for _ in range(100):
        limiter.concurrency.record(9.0, full=True)
        limiter.concurrency.reduce(limiter.concurrency.generation)
    assert limiter.concurrency.limit == 3


# Permits


class Clock:
    """A loop's time that goes on only when nothing else can: waits take no time, and are counted."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.now = 0.0
        self._loop = loop
        loop.time = lambda: self.now  # type: ignore[method-assign]
        select = loop._selector.select  # type: ignore[attr-defined]

        def skip(timeout: float | None) -> Any:
            self.now += max(timeout or 0.0, 0.0)
            return select(0)

        loop._selector.select = skip  # type: ignore[attr-defined]


@pytest.fixture
def on_a_clock() -> Callable[[Callable[[Clock], Coroutine[Any, Any, Any]]], Any]:
    """Run a coroutine in a loop whose waits take no time."""

    def run(main: Callable[[Clock], Coroutine[Any, Any, Any]]) -> Any:
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(main(Clock(loop)))
        finally:
            loop.close()

    return run


async def times(
    limiter: RateLimiter, clock: Clock, calls: int, *, tokens: int = 0, seconds: float = 0.0, used: int | None = None
) -> list[float]:
    """When each of so many calls went out, every one taking that long."""
    out: list[float] = []

    async def call() -> None:
        permit = await limiter.acquire(tokens)
        out.append(round(clock.now, 3))
        await asyncio.sleep(seconds)
        limiter.release(permit, seconds=seconds, used_tokens=used)

    await asyncio.gather(*(call() for _ in range(calls)))
    return out


def test_no_more_than_the_limit_are_in_flight_and_the_first_in_line_goes_first(on_a_clock: Callable[..., Any]) -> None:
    assert on_a_clock(lambda clock: times(RateLimiter(2), clock, 6, seconds=1.0)) == [0, 0, 1, 1, 2, 2]


def test_requests_a_minute_are_spread_evenly(on_a_clock: Callable[..., Any]) -> None:
    assert on_a_clock(lambda clock: times(RateLimiter(64, rpm=120), clock, 5)) == [0, 0.5, 1, 1.5, 2]


def test_tokens_a_minute_hold_calls_back_by_what_they_take(on_a_clock: Callable[..., Any]) -> None:
    assert on_a_clock(lambda clock: times(RateLimiter(64, tpm=6000), clock, 3, tokens=100)) == [0, 1, 2]
    assert on_a_clock(lambda clock: times(RateLimiter(64, rpm=600, tpm=6000), clock, 3, tokens=100)) == [0, 1, 2]


def test_what_was_counted_corrects_what_was_estimated(on_a_clock: Callable[..., Any]) -> None:
    assert on_a_clock(lambda clock: times(RateLimiter(1, tpm=6000), clock, 3, tokens=100, used=300)) == [0, 3, 6]
    assert on_a_clock(lambda clock: times(RateLimiter(1, tpm=6000), clock, 3, tokens=100, used=50)) == [0, 0.5, 1]


def after(status: RateLimitStatus) -> Callable[[Clock], Coroutine[Any, Any, float]]:
    """When the second call goes out, after the first has reported a rate limit status."""

    async def main(clock: Clock) -> float:
        limiter = RateLimiter(4)
        limiter.release(await limiter.acquire(10), seconds=0.0, status=status)
        await limiter.acquire(10)
        return round(clock.now, 3)

    return main


@pytest.mark.parametrize(
    ("status", "when"),
    [
        (RateLimitStatus(requests=0, requests_reset_in=2.5), 2.5),
        (RateLimitStatus(requests=1, requests_reset_in=2.5), 0),
        (RateLimitStatus(tokens=9, tokens_reset_in=7), 7),
        (RateLimitStatus(tokens=10, tokens_reset_in=7), 0),
        (RateLimitStatus(requests=0, requests_reset_in=2, tokens=0, tokens_reset_in=7), 7),
    ],
    ids=["no request", "one request", "too few tokens", "enough tokens", "both"],
)
def test_a_used_up_allowance_is_waited_for(on_a_clock: Callable[..., Any], status: RateLimitStatus, when: float) -> None:
    assert on_a_clock(after(status)) == when


def test_what_was_said_once_is_waited_for_once(on_a_clock: Callable[..., Any]) -> None:
    """Answers without a status leave the last status as it was."""

    async def main(clock: Clock) -> list[float]:
        limiter, status, out = RateLimiter(1), RateLimitStatus(requests=0, requests_reset_in=2.5), []
        for _ in range(3):
            permit = await limiter.acquire(10)
            out.append(round(clock.now, 3))
            limiter.release(permit, seconds=0.0, status=status)
        return out

    assert on_a_clock(main) == [0, 2.5, 2.5]


def test_a_pause_holds_the_line_and_the_longest_one_counts(on_a_clock: Callable[..., Any]) -> None:
    async def main(clock: Clock) -> list[float]:
        limiter = RateLimiter(4)
        limiter.pause(5)
        limiter.pause(1)
        return await times(limiter, clock, 2)

    assert on_a_clock(main) == [5, 5]


def test_while_it_probes_one_call_goes_at_a_time(on_a_clock: Callable[..., Any]) -> None:
    async def main(clock: Clock) -> list[float]:
        limiter = RateLimiter(8)
        limiter.probe(True)
        first = await times(limiter, clock, 3, seconds=1.0)
        limiter.probe(False)
        return first + await times(limiter, clock, 3, seconds=1.0)

    assert on_a_clock(main) == [0, 1, 2, 3, 3, 3]


def test_who_gives_up_waiting_takes_no_permit(on_a_clock: Callable[..., Any]) -> None:
    async def main(clock: Clock) -> int:
        limiter = RateLimiter(1)
        held = await limiter.acquire()
        waiting = asyncio.ensure_future(limiter.acquire())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        limiter.release(held)
        assert isinstance(await limiter.acquire(), Permit)
        return limiter.in_flight

    assert on_a_clock(main) == 1
