"""Handing out calls: in order, each settled once, as few as are wanted, and those of a lost worker first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engines.budget import Budget, Limits
from harness.engines.ray.leases import LeaseTable
from harness.engines.work import JudgeWork
from harness.model import Call, Usage


class Plan:
    """Calls c0, c1, ... that are counted as they are made."""

    def __init__(self, count: int, make_call: Callable[..., Call]) -> None:
        self.count, self.made, self._make_call = count, 0, make_call

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Call]:
        for number in range(self.count):
            self.made += 1
            yield self._make_call(f"c{number}")


@pytest.fixture
def make_table(make_call: Callable[..., Call]) -> Callable[..., tuple[LeaseTable, Plan]]:
    def make(count: int, limits: Limits = Limits(), **work: Any) -> tuple[LeaseTable, Plan]:  # noqa: B008 (frozen)
        plan = Plan(count, make_call)
        return LeaseTable(JudgeWork(SimpleNamespace(), plan, **work), Budget(limits)), plan  # type: ignore[arg-type]

    return make


def ids(given: Any) -> list[str]:
    return [lease.call.call_id for lease in given]


def test_calls_go_out_in_order_and_none_is_made_before_it_is_wanted(make_table: Any) -> None:
    calls, plan = make_table(1000)
    assert ids(calls.lease(1, 2)) == ["c0", "c1"] and ids(calls.lease(2, 1)) == ["c2"]
    assert plan.made == 3 and not calls.finished


def test_it_is_finished_when_everything_that_went_out_is_settled(make_table: Any) -> None:
    calls, _ = make_table(2)
    calls.lease(1, 5)
    assert calls.settle("c0") and not calls.finished
    assert calls.settle("c1") and calls.finished


def test_a_call_is_settled_once(make_table: Any) -> None:
    calls, _ = make_table(1)
    calls.lease(1, 1)
    assert calls.settle("c0").call.call_id == "c0"
    assert calls.settle("c0") is None and calls.settle("unknown") is None


def test_what_a_worker_could_not_finish_goes_to_the_next_one_first(make_table: Any) -> None:
    calls, _ = make_table(5)
    calls.lease(1, 2)
    calls.lease(2, 1)
    assert calls.return_calls(1) == 2
    assert ids(calls.lease(3, 3)) == ["c0", "c1", "c3"]
    assert calls.return_calls(1) == 0  # they are another's now


def test_an_answer_to_a_call_that_was_put_back_still_counts_and_it_is_not_asked_again(make_table: Any) -> None:
    calls, _ = make_table(3)
    calls.lease(1, 2)
    calls.return_calls(1)
    assert calls.settle("c0")
    assert ids(calls.lease(2, 5)) == ["c1", "c2"]


def test_a_call_is_paid_for_once_however_often_it_goes_out(make_table: Any) -> None:
    calls, _ = make_table(5, Limits(calls=3))
    calls.lease(1, 2)
    calls.return_calls(1)
    assert ids(calls.lease(2, 9)) == ["c0", "c1", "c2"]
    for call in ("c0", "c1", "c2"):
        assert not calls.finished
        calls.settle(call)
    assert calls.finished


def test_tokens_and_money_are_estimated_when_a_call_goes_out(make_table: Any) -> None:
    calls, _ = make_table(3, Limits(cost=0.5), tokens=lambda call: Usage(100, 0, 20), cost=lambda usage: usage.prompt_tokens / 500)
    assert [(lease.tokens, lease.reserved) for lease in calls.lease(1, 3)] == [(120, 0.2), (120, 0.2)]


def test_once_the_budget_is_used_up_what_was_put_back_is_asked_by_nobody(make_table: Any) -> None:
    calls, _ = make_table(4)
    calls.lease(1, 2)
    calls.lease(2, 1)
    calls.return_calls(1)
    assert ids(calls.drop_returned()) == ["c0", "c1"] and calls.drop_returned() == []
    assert ids(calls.lease(3, 9)) == ["c3"]
