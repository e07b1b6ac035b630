"""How long the batch engine lets go by between two looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from harness.asking_options import Limits, Settings
from harness.engines import JudgeWork
from harness.engines import batch_engine as module
from harness.engines.batch_engine import CallAccounts, _BatchSession
from harness.engines.budget import Budget
from harness.engines.retries import FIRST_ATTEMPTS
from harness.errors import JudgeError
from harness.judges import Judge
from harness.judges.batches import ProviderBatch
from harness.model import JudgeIdentity, Reply, Usage
from harness.store import Store, StoredBatch


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.writing(tmp_path) as opened:
        yield opened


@pytest.fixture
def session(make_work: Callable[..., JudgeWork], store: Store, tmp_path: Path) -> _BatchSession:
    judge = SimpleNamespace(identity=JudgeIdentity("openai", "m"), batches=lambda: None)
    work = msgspec.structs.replace(make_work("a"), judge=cast(Judge, judge))
    return _BatchSession(work, store, Settings(), Budget(Settings()), lambda work, progress: None, tmp_path)


def put(session: _BatchSession, **waits: float | None) -> None:
    """Open batches, and how long each provider's answer asked to wait."""
    for name, wait in waits.items():
        session._open[name] = (
            StoredBatch(name, "run", "openai/m", 0.0, "submitted", ("a",)),
            ProviderBatch(name, "in_progress", asked_to_wait=wait),
        )


def test_looks_are_further_apart_each_time_up_to_a_limit(session: _BatchSession) -> None:
    put(session, b=None)
    pauses = [session._pause() for _ in range(20)]
    assert pauses[0] == module.FIRST_POLL_SECONDS and pauses[-1] == module.LONGEST_POLL_SECONDS
    assert all(one < other or other == module.LONGEST_POLL_SECONDS for one, other in pairwise(pauses))


@pytest.mark.parametrize(
    ("waits", "seconds"),
    [({"b": 0.5}, 0.5), ({"b": 300.0}, 300.0), ({"b": 1.0, "c": 7.0, "d": None}, 7.0), ({"b": 1e9}, 3600.0)],
)
def test_a_provider_that_says_how_long_to_wait_is_heeded(session: _BatchSession, waits: dict[str, float | None], seconds: float) -> None:
    put(session, **waits)
    assert session._pause() == seconds


def test_where_nothing_is_open_the_next_try_of_a_full_queue_is_waited_for(session: _BatchSession) -> None:
    session._retry_at = time.monotonic() + 500
    assert 400 < session._pause() <= 500
    session._retry_at = 0.0
    assert session._pause() == 0.0


# ---- how calls stand that are asked by batches: tries, answers, money


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
