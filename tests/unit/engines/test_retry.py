"""Asking again: waits double at most, policy are capped, and an endpoint that is down is waited for instead of asked in vain."""

from __future__ import annotations

import pytest

from harness.engines import retry
from harness.engines.retry import FIRST_ATTEMPTS, LONGEST_OUTAGE_SECONDS, CircuitBreaker, RetryPolicy, backoff


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
    clock.now = retry._LONGEST_CALL_SECONDS
    assert not policy.allows_another(first=False)


def losses(breaker: CircuitBreaker, number: int, *, down: bool = True) -> CircuitBreaker:
    for _ in range(number):
        breaker.record_loss(down=down)
    return breaker


def test_the_breaker_opens_when_nothing_is_answered_any_more() -> None:
    assert not losses(CircuitBreaker(), retry._LOSSES - 1).is_open
    assert losses(CircuitBreaker(), retry._LOSSES).is_open


def test_an_answer_among_losses_keeps_it_closed_and_one_closes_it_again() -> None:
    breaker = losses(CircuitBreaker(), retry._LOSSES - 1)
    breaker.record_reply()
    assert not losses(breaker, retry._LOSSES - 1).is_open
    assert losses(breaker, 1).is_open
    breaker.record_reply()
    assert not breaker.is_open


def test_an_endpoint_that_says_no_is_there() -> None:
    breaker = losses(CircuitBreaker(), retry._LOSSES - 1)
    breaker.record_loss(down=False)
    assert not losses(breaker, retry._LOSSES - 1).is_open


def test_looks_grow_apart_up_to_a_quarter_of_a_minute() -> None:
    breaker = losses(CircuitBreaker(), retry._LOSSES)
    waits = [breaker.next_probe() for _ in range(12)]
    assert 0.25 <= waits[0] <= 0.5 and all(7.5 <= wait <= 15 for wait in waits[-5:])


def test_it_is_given_up_after_a_long_outage_only() -> None:
    clock = Clock()
    breaker = losses(CircuitBreaker(clock), retry._LOSSES)
    clock.now = LONGEST_OUTAGE_SECONDS
    assert not breaker.given_up
    clock.now += 1
    assert breaker.given_up
    breaker.record_reply()
    assert not breaker.given_up


@pytest.mark.parametrize("attempt", [1, 10, 10**6])
def test_no_number_of_attempts_is_too_large(attempt: int) -> None:
    assert 0 <= backoff(attempt) <= 60
