"""Handing out calls: in order, each settled once, as few as are wanted, and those of a lost worker first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engines.budget import Budget, Limits
from harness.engines.cluster.handout import Handout
from harness.engines.work import Work
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
def handout(make_call: Callable[..., Call]) -> Callable[..., tuple[Handout, Plan]]:
    def make(count: int, limits: Limits = Limits(), **work: Any) -> tuple[Handout, Plan]:  # noqa: B008 (frozen)
        plan = Plan(count, make_call)
        return Handout(Work(SimpleNamespace(), plan, **work), Budget(limits)), plan  # type: ignore[arg-type]

    return make


def ids(given: Any) -> list[str]:
    return [out.call.call_id for out in given]


def test_calls_go_out_in_order_and_none_is_made_before_it_is_wanted(handout: Any) -> None:
    calls, plan = handout(1000)
    assert ids(calls.give(1, 2)) == ["c0", "c1"] and ids(calls.give(2, 1)) == ["c2"]
    assert plan.made == 3 and not calls.finished


def test_it_is_finished_when_everything_that_went_out_is_settled(handout: Any) -> None:
    calls, _ = handout(2)
    calls.give(1, 5)
    assert calls.settle("c0") and not calls.finished
    assert calls.settle("c1") and calls.finished


def test_a_call_is_settled_once(handout: Any) -> None:
    calls, _ = handout(1)
    calls.give(1, 1)
    assert calls.settle("c0").call.call_id == "c0"
    assert calls.settle("c0") is None and calls.settle("unknown") is None


def test_what_a_worker_could_not_finish_goes_to_the_next_one_first(handout: Any) -> None:
    calls, _ = handout(5)
    calls.give(1, 2)
    calls.give(2, 1)
    assert calls.put_back(1) == 2
    assert ids(calls.give(3, 3)) == ["c0", "c1", "c3"]
    assert calls.put_back(1) == 0  # they are another's now


def test_an_answer_to_a_call_that_was_put_back_still_counts_and_it_is_not_asked_again(handout: Any) -> None:
    calls, _ = handout(3)
    calls.give(1, 2)
    calls.put_back(1)
    assert calls.settle("c0")
    assert ids(calls.give(2, 5)) == ["c1", "c2"]


def test_a_call_is_paid_for_once_however_often_it_goes_out(handout: Any) -> None:
    calls, _ = handout(5, Limits(calls=3))
    calls.give(1, 2)
    calls.put_back(1)
    assert ids(calls.give(2, 9)) == ["c0", "c1", "c2"]
    for call in ("c0", "c1", "c2"):
        assert not calls.finished
        calls.settle(call)
    assert calls.finished


def test_tokens_and_money_are_estimated_when_a_call_goes_out(handout: Any) -> None:
    calls, _ = handout(3, Limits(cost=0.5), tokens=lambda call: Usage(100, 0, 20), cost=lambda usage: usage.prompt_tokens / 500)
    assert [(out.tokens, out.reserved) for out in calls.give(1, 3)] == [(120, 0.2), (120, 0.2)]


def test_once_the_budget_is_used_up_what_was_put_back_is_asked_by_nobody(handout: Any) -> None:
    calls, _ = handout(4)
    calls.give(1, 2)
    calls.give(2, 1)
    calls.put_back(1)
    assert ids(calls.give_up()) == ["c0", "c1"] and calls.give_up() == []
    assert ids(calls.give(3, 9)) == ["c3"]
