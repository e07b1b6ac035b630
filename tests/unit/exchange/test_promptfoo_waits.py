"""An assertion of promptfoo ends in its own time, whatever wait the endpoint asks for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.errors import JudgeError
from harness.exchange.judges import promptfoo_judge
from harness.judges import NoReply


class Waiting:
    """A judge that is never ready."""

    async def start(self, calls: Any) -> None:
        """Nothing to prepare."""

    async def answer(self, call: Any) -> Any:
        raise NoReply("the host answered 429", 365 * 86400.0, busy=True)

    async def stop(self) -> None:
        """Nothing to close."""


def test_a_wait_of_a_year_is_an_error_and_no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(promptfoo_judge.asyncio, "sleep", sleep)
    call: Any = None
    judge: Any = Waiting()
    with pytest.raises(JudgeError, match=r"asks to wait 31,536,000 seconds, and an assertion waits at most 60"):
        asyncio.run(promptfoo_judge._ask(judge, call))
    assert not slept
