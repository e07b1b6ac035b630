"""Budgets: what may still be spent, with what is under way counted as estimated."""

from __future__ import annotations

import pytest

from harness.asking_options import Limits
from harness.engines.budget import Budget


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_without_limits_everything_may_go_out() -> None:
    budget = Budget(Limits())
    assert all(budget.take(10**9) for _ in range(1000)) and budget.exhausted == "" and not budget.late


def test_calls_are_counted() -> None:
    budget = Budget(Limits(max_calls=3))
    assert [budget.take(0) for _ in range(5)] == [True, True, True, False, False]
    assert budget.exhausted == "--max-calls 3 is used up"


def test_money_is_reserved_when_a_call_goes_out_and_settled_when_it_is_over() -> None:
    budget = Budget(Limits(max_cost=1.0))
    assert budget.take(0.6)
    budget.settle(0.6, 0.1)
    assert budget.take(0.6) and budget.spent == pytest.approx(0.1)
    assert not budget.take(0.6)
    assert budget.exhausted == "--max-cost 1 is used up ($0.1000 spent)"


def test_once_something_is_used_up_nothing_cheaper_goes_out_either() -> None:
    budget = Budget(Limits(max_cost=1.0))
    assert not budget.take(2.0)
    assert not budget.take(0.0)


def test_minutes_end_it_whatever_is_left() -> None:
    clock = Clock()
    budget = Budget(Limits(max_minutes=2), clock)
    assert budget.take(0)
    clock.now = 119
    assert budget.take(0) and not budget.late
    clock.now = 120
    assert budget.late and not budget.take(0) and budget.exhausted == "--max-minutes 2 are over"
