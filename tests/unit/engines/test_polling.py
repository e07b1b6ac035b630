"""Asking until somebody answers, and no longer than a command may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from harness.engines import Limits, Progress
from harness.engines import polling as module
from harness.engines.budget import Budget
from harness.engines.polling import OutOfTime, Polling
from harness.engines.retry import FIRST_ATTEMPTS
from harness.errors import JudgeError
from harness.judges import NoReply


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
    return Polling("openai/m", Budget(Limits(minutes=minutes)), progress, lambda: None), progress


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
    asyncio.run(polling.until_answered(asker(NoReply("slow down", 7.5), NoReply("slow down", 1e9), "yes")))
    assert waits == [7.5, module.LONGEST_WAIT_SECONDS]


def test_a_rest_ends_when_the_minutes_are_over() -> None:
    polling, _ = patient(minutes=1e-9)
    with pytest.raises(OutOfTime):
        asyncio.run(polling.wait(3600.0))


def test_a_budget_that_is_used_up_does_not_end_a_rest() -> None:
    budget = Budget(Limits(calls=1))
    assert budget.take(0.0) and not budget.take(0.0) and budget.late
    asyncio.run(Polling("openai/m", budget, Progress(total=1), lambda: None).wait(0.0))
