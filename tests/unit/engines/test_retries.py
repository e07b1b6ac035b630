"""Asking again: waits double at most, policy are capped, and an endpoint that is down is waited for instead of asked in vain.

Asking until somebody answers, and no longer than a command may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from harness.asking_options import Limits
from harness.engines import Progress, retries
from harness.engines import retries as module
from harness.engines.budget import Budget
from harness.engines.retries import FIRST_ATTEMPTS, LONGEST_OUTAGE_SECONDS, CircuitBreaker, OutOfTime, Polling, RetryPolicy, backoff
from harness.errors import JudgeError
from harness.judges import NoReply


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_waits_are_anything_up_to_a_doubling_limit_of_at_most_a_minute() -> None:
    for attempt, most in ((1, 1.0), (2, 2.0), (3, 4.0), (7, 60.0), (60, 60.0)):
        waits = [backoff(attempt) for _ in range(400)]
        assert 0 <= min(waits) < 0.1 * most and 0.9 * most < max(waits) <= most


def test_tries_are_capped_by_number() -> None:
    policy = RetryPolicy(3, Clock())
    for left in (True, True, False):
        policy.record_failure(counts=True)
        assert policy.allows_another(first=False) is left


def test_where_nothing_was_answered_yet_there_are_fewer() -> None:
    policy = RetryPolicy(100, Clock())
    for _ in range(FIRST_ATTEMPTS):
        assert policy.allows_another(first=True)
        policy.record_failure(counts=True)
    assert not policy.allows_another(first=True) and policy.allows_another(first=False)


def test_waiting_for_an_endpoint_that_is_down_is_no_try_but_takes_time() -> None:
    clock = Clock()
    policy = RetryPolicy(1, clock)
    for _ in range(50):
        policy.record_failure(counts=False)
    assert policy.allows_another(first=False)
    clock.now = retries._LONGEST_CALL_SECONDS
    assert not policy.allows_another(first=False)


def losses(breaker: CircuitBreaker, number: int, *, down: bool = True) -> CircuitBreaker:
    for _ in range(number):
        breaker.record_loss(down=down)
    return breaker


def test_the_breaker_opens_when_nothing_is_answered_any_more() -> None:
    assert not losses(CircuitBreaker(), retries._LOSSES - 1).is_open
    assert losses(CircuitBreaker(), retries._LOSSES).is_open


def test_an_answer_among_losses_keeps_it_closed_and_one_closes_it_again() -> None:
    breaker = losses(CircuitBreaker(), retries._LOSSES - 1)
    breaker.record_reply()
    assert not losses(breaker, retries._LOSSES - 1).is_open
    assert losses(breaker, 1).is_open
    breaker.record_reply()
    assert not breaker.is_open


def test_an_endpoint_that_says_no_is_there() -> None:
    breaker = losses(CircuitBreaker(), retries._LOSSES - 1)
    breaker.record_loss(down=False)
    assert not losses(breaker, retries._LOSSES - 1).is_open


def test_looks_grow_apart_up_to_a_quarter_of_a_minute() -> None:
    breaker = losses(CircuitBreaker(), retries._LOSSES)
    waits = [breaker.next_probe() for _ in range(12)]
    assert 0.25 <= waits[0] <= 0.5 and all(7.5 <= wait <= 15 for wait in waits[-5:])


def test_it_is_given_up_after_a_long_outage_only() -> None:
    clock = Clock()
    breaker = losses(CircuitBreaker(clock), retries._LOSSES)
    clock.now = LONGEST_OUTAGE_SECONDS
    assert not breaker.given_up
    clock.now += 1
    assert breaker.given_up
    breaker.record_reply()
    assert not breaker.given_up


@pytest.mark.parametrize("attempt", [1, 10, 10**6])
def test_no_number_of_attempts_is_too_large(attempt: int) -> None:
    assert 0 <= backoff(attempt) <= 60


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "backoff", lambda count: 0.0)


def asker(*answers: Any) -> Callable[[], Awaitable[Any]]:
    """Answers in turn; an exception is raised."""
    left = iter(answers)

    async def ask() -> Any:
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return ask


def patient(minutes: float | None = None) -> tuple[Polling, Progress]:
    progress = Progress(total=1)
    return Polling("openai/m", Budget(Limits(max_minutes=minutes)), progress, lambda: None), progress


def test_what_may_pass_is_asked_again() -> None:
    polling, progress = patient()
    assert asyncio.run(polling.until_answered(asker(NoReply("busy"), NoReply("busy"), "yes"))) == "yes"
    assert progress.waiting_for == ""


def test_nobody_there_at_first_is_given_up_soon() -> None:
    polling, _ = patient()
    ask = asker(*[NoReply("no connection")] * FIRST_ATTEMPTS, "too late")
    with pytest.raises(JudgeError, match=rf"openai/m: no connection \({FIRST_ATTEMPTS} times\). Is the endpoint up"):
        asyncio.run(polling.until_answered(ask))


def test_who_has_answered_once_is_waited_for_longer() -> None:
    polling, _ = patient()

    async def twice() -> str:
        await polling.until_answered(asker("first"))
        found: str = await polling.until_answered(asker(*[NoReply("down")] * 20, "back"))
        return found

    assert asyncio.run(twice()) == "back"


def test_a_long_outage_ends_the_run_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    polling, _ = patient()
    monkeypatch.setattr(module, "LONGEST_OUTAGE_SECONDS", -1.0)
    with pytest.raises(JudgeError, match="Submitted batches are recorded, and the same command goes on with them"):
        asyncio.run(polling.until_answered(asker(NoReply("down"))))


def test_as_long_is_waited_as_the_provider_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    polling, progress = patient()
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)
        assert progress.waiting_for == "slow down"

    monkeypatch.setattr(polling, "wait", wait)
    asyncio.run(polling.until_answered(asker(NoReply("slow down", 7.5), NoReply("slow down", 3600.0), "yes")))
    assert waits == [7.5, module.LONGEST_WAIT_SECONDS]
    assert progress.notes == [
        "slow down. It asks to wait 60 minutes, and this command waits. Ctrl-C stops it, and --max-minutes limits it; the same command "
        "goes on later"
    ]


def test_a_provider_that_asks_for_more_than_the_longest_wait_is_not_waited_for() -> None:
    polling, _ = patient()
    with pytest.raises(JudgeError, match=r"slow down\. It asks to wait 11,574 days, and a command waits at most 60 minutes at a time"):
        asyncio.run(polling.until_answered(asker(NoReply("slow down", 1e9), "yes")))


def test_a_rest_ends_when_the_minutes_are_over() -> None:
    polling, _ = patient(minutes=1e-9)
    with pytest.raises(OutOfTime):
        asyncio.run(polling.wait(3600.0))


def test_a_budget_that_is_used_up_does_not_end_a_rest() -> None:
    budget = Budget(Limits(max_calls=1))
    assert budget.take(0.0) and not budget.take(0.0) and budget.late
    asyncio.run(Polling("openai/m", budget, Progress(total=1), lambda: None).wait(0.0))
