"""How calls stand that are asked by batches: tries, answers, money."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.asking import Limits
from harness.engines import JudgeWork
from harness.engines.batch.results import CallAccounts
from harness.engines.budget import Budget
from harness.engines.retry import FIRST_ATTEMPTS
from harness.errors import JudgeError
from harness.model import Reply, Usage

MakeWork = Callable[..., JudgeWork]
FINE = Reply("fine", "m", usage=Usage(completion_tokens=3))


def accounts(work: JudgeWork, attempts: int | None = None, **limits: Any) -> tuple[CallAccounts, Budget]:
    budget = Budget(Limits(**limits))
    return CallAccounts(work, budget, attempts), budget


def test_an_answer_is_done(make_work: MakeWork) -> None:
    work = make_work("a", unreadable=lambda call, reply: 2)
    books, _ = accounts(work)
    books.record_reply(next(iter(work.calls)), FINE)
    assert (books.progress.total, books.progress.done, books.progress.unreadable, books.to_ask_again) == (1, 1, 1, set())


def test_a_call_is_asked_again_until_its_attempts_are_over(make_work: MakeWork) -> None:
    work = make_work("a", "b")
    books, _ = accounts(work, attempts=3)
    answered, lost = work.calls
    books.record_reply(answered, FINE)
    for _ in range(2):
        books.record_loss(lost, "nothing")
        assert books.to_ask_again == {"b"}
        books.to_ask_again.clear()
    books.record_loss(lost, "still nothing")
    assert books.to_ask_again == set() and books.last_loss == "still nothing"
    assert (books.progress.retries, books.progress.lost) == (2, 1)
    books.check()  # others were answered, so it is about this call


def test_where_nothing_was_ever_answered_fewer_tries_are_enough_and_it_is_said(make_work: MakeWork) -> None:
    work = make_work("a")
    books, _ = accounts(work)
    [call] = work.calls
    for _ in range(FIRST_ATTEMPTS - 1):
        books.record_loss(call, "nobody there")
        books.check()
    books.record_loss(call, "nobody there")
    with pytest.raises(JudgeError, match=r"openai/m: nobody there; no call was answered"):
        books.check()


def test_a_call_that_is_given_up_for_another_reason_is_no_sign_of_a_dead_endpoint(make_work: MakeWork) -> None:
    work = make_work("a")
    books, _ = accounts(work)
    books.give_up(*work.calls, "batch x was cancelled")
    books.check()
    assert books.progress.lost == 1 and books.last_loss == "batch x was cancelled"


def test_asking_differently_does_not_count_as_an_attempt(make_work: MakeWork) -> None:
    work = make_work("a", "b")
    books, _ = accounts(work, attempts=1)
    books.ask_differently(next(iter(work.calls)))
    assert books.to_ask_again == {"a"} and not books.progress.lost and not books.progress.retries


def test_a_refusal_is_asked_again_three_times_at_most(make_work: MakeWork) -> None:
    work = make_work("a", ask_again=lambda call, reply: True)
    books, _ = accounts(work)
    [call] = work.calls
    for _ in range(3):
        books.record_reply(call, FINE)
        assert books.to_ask_again == {"a"} and not books.progress.done
        books.to_ask_again.clear()
    books.record_reply(call, FINE)
    assert books.to_ask_again == set() and (books.progress.done, books.progress.reasked) == (1, 3)


def test_money_is_reserved_until_a_call_is_over_and_asked_again_without_a_second_reservation(make_work: MakeWork) -> None:
    work = make_work("a", "b", tokens=lambda call: Usage(completion_tokens=5), cost=lambda usage: float(usage.completion_tokens))
    books, budget = accounts(work, max_cost=12.0)
    one, two = work.calls
    assert books.take(one) and books.take(two)  # 10 of 12 are reserved
    books.record_reply(one, FINE)
    assert budget.spent == 3.0
    books.record_loss(two, "nothing")
    assert books.take(two)
    books.give_up(two, "enough")
    assert budget.spent == 3.0 and budget.take(9.0)  # all that was reserved is free again


def test_calls_that_went_out_before_are_counted(make_work: MakeWork) -> None:
    work = make_work("a", "b", "c")
    books, budget = accounts(work, max_calls=2)
    one, two, three = work.calls
    books.hold(one)
    assert books.take(two) and not books.take(three)
    assert budget.exhausted == "--max-calls 2 is used up" and not budget.out_of_time


def test_what_was_answered_in_another_way_costs_nothing_more(make_work: MakeWork) -> None:
    work = make_work("a", tokens=lambda call: Usage(completion_tokens=5), cost=lambda usage: float(usage.completion_tokens))
    books, budget = accounts(work, max_cost=5.0)
    assert books.take(*work.calls)
    books.record_stored(*work.calls)
    assert books.progress.done == 1 and budget.spent == 0 and budget.take(5.0)
