"""The pace: a fixed or found-out number of calls in flight, limits a minute, and pauses that hold the line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from harness.engines.pace import FIRST_LIMIT, MOST_IN_FLIGHT, Adaptive, Pace, Slot
from harness.judges.allowance import Allowance


def answers(limit: Adaptive, seconds: float, windows: int = 1, *, full: bool = True) -> None:
    """So many windows of answers that took that long."""
    for _ in range(windows):
        for _ in range(limit.limit):
            limit.answered(seconds, full=full)


# Found out


def test_it_doubles_while_latency_holds_up_to_the_most() -> None:
    limit = Adaptive()
    seen = []
    for _ in range(8):
        seen.append(limit.limit)
        answers(limit, 0.1)
    assert seen == [8, 16, 32, 64, 128, 256, 512, MOST_IN_FLIGHT] and seen[0] == FIRST_LIMIT


def test_slots_that_nobody_takes_are_no_reason_to_grow() -> None:
    limit = Adaptive()
    answers(limit, 0.1, 5, full=False)
    assert limit.limit == FIRST_LIMIT


def test_rising_latency_ends_the_growth_and_much_of_it_shrinks_the_limit() -> None:
    limit = Adaptive(64)
    answers(limit, 0.1)
    assert limit.limit == 128
    answers(limit, 0.2)
    assert limit.limit == 128
    answers(limit, 0.4)
    assert limit.limit == 115
    answers(limit, 0.1)
    assert limit.limit == 126  # by a tenth from now on


def test_a_busy_endpoint_halves_it_once_for_all_that_was_under_way() -> None:
    limit = Adaptive(64)
    era = limit.era
    for _ in range(20):
        limit.too_much(era)
    assert limit.limit == 32
    limit.too_much(limit.era)
    assert limit.limit == 16
    for _ in range(20):
        limit.too_much(limit.era)
    assert limit.limit == 1


def test_a_limit_that_was_asked_for_holds() -> None:
    pace = Pace(3)
    for _ in range(100):
        pace.limit.answered(9.0, full=True)
        pace.limit.too_much(pace.limit.era)
    assert pace.limit.limit == 3


# Slots


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


async def times(pace: Pace, clock: Clock, calls: int, *, tokens: int = 0, seconds: float = 0.0, used: int | None = None) -> list[float]:
    """When each of so many calls went out, every one taking that long."""
    out: list[float] = []

    async def call() -> None:
        slot = await pace.slot(tokens)
        out.append(round(clock.now, 3))
        await asyncio.sleep(seconds)
        pace.leave(slot, seconds=seconds, used=used)

    await asyncio.gather(*(call() for _ in range(calls)))
    return out


def test_no_more_than_the_limit_are_in_flight_and_the_first_in_line_goes_first(on_a_clock: Callable[..., Any]) -> None:
    assert on_a_clock(lambda clock: times(Pace(2), clock, 6, seconds=1.0)) == [0, 0, 1, 1, 2, 2]


def test_requests_a_minute_are_spread_evenly(on_a_clock: Callable[..., Any]) -> None:
    assert on_a_clock(lambda clock: times(Pace(64, rpm=120), clock, 5)) == [0, 0.5, 1, 1.5, 2]


def test_tokens_a_minute_hold_calls_back_by_what_they_take(on_a_clock: Callable[..., Any]) -> None:
    assert on_a_clock(lambda clock: times(Pace(64, tpm=6000), clock, 3, tokens=100)) == [0, 1, 2]
    assert on_a_clock(lambda clock: times(Pace(64, rpm=600, tpm=6000), clock, 3, tokens=100)) == [0, 1, 2]


def test_what_was_counted_corrects_what_was_estimated(on_a_clock: Callable[..., Any]) -> None:
    assert on_a_clock(lambda clock: times(Pace(1, tpm=6000), clock, 3, tokens=100, used=300)) == [0, 3, 6]
    assert on_a_clock(lambda clock: times(Pace(1, tpm=6000), clock, 3, tokens=100, used=50)) == [0, 0.5, 1]


def after(allowance: Allowance) -> Callable[[Clock], Coroutine[Any, Any, float]]:
    """When the second call goes out, after the first has heard of an allowance."""

    async def main(clock: Clock) -> float:
        pace = Pace(4)
        pace.leave(await pace.slot(10), seconds=0.0, allowance=allowance)
        await pace.slot(10)
        return round(clock.now, 3)

    return main


@pytest.mark.parametrize(
    ("allowance", "when"),
    [
        (Allowance(requests=0, requests_reset_in=2.5), 2.5),
        (Allowance(requests=1, requests_reset_in=2.5), 0),
        (Allowance(tokens=9, tokens_reset_in=7), 7),
        (Allowance(tokens=10, tokens_reset_in=7), 0),
        (Allowance(requests=0, requests_reset_in=2, tokens=0, tokens_reset_in=7), 7),
    ],
    ids=["no request", "one request", "too few tokens", "enough tokens", "both"],
)
def test_a_used_up_allowance_is_waited_for(on_a_clock: Callable[..., Any], allowance: Allowance, when: float) -> None:
    assert on_a_clock(after(allowance)) == when


def test_what_was_said_once_is_waited_for_once(on_a_clock: Callable[..., Any]) -> None:
    """Answers without a word on it leave the last allowance as it was said, a while ago."""

    async def main(clock: Clock) -> list[float]:
        pace, said, out = Pace(1), Allowance(requests=0, requests_reset_in=2.5), []
        for _ in range(3):
            slot = await pace.slot(10)
            out.append(round(clock.now, 3))
            pace.leave(slot, seconds=0.0, allowance=said)
        return out

    assert on_a_clock(main) == [0, 2.5, 2.5]


def test_a_pause_holds_the_line_and_the_longest_one_counts(on_a_clock: Callable[..., Any]) -> None:
    async def main(clock: Clock) -> list[float]:
        pace = Pace(4)
        pace.pause(5)
        pace.pause(1)
        return await times(pace, clock, 2)

    assert on_a_clock(main) == [5, 5]


def test_while_it_probes_one_call_goes_at_a_time(on_a_clock: Callable[..., Any]) -> None:
    async def main(clock: Clock) -> list[float]:
        pace = Pace(8)
        pace.probe(True)
        found = await times(pace, clock, 3, seconds=1.0)
        pace.probe(False)
        return found + await times(pace, clock, 3, seconds=1.0)

    assert on_a_clock(main) == [0, 1, 2, 3, 3, 3]


def test_who_gives_up_waiting_takes_no_slot(on_a_clock: Callable[..., Any]) -> None:
    async def main(clock: Clock) -> int:
        pace = Pace(1)
        held = await pace.slot()
        waiting = asyncio.ensure_future(pace.slot())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        pace.leave(held)
        assert isinstance(await pace.slot(), Slot)
        return pace.in_flight

    assert on_a_clock(main) == 1
