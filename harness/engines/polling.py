"""Repeating a request to a provider until it answers, within the minutes that a command may take."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from harness.engines.budget import Budget
from harness.engines.retry import FIRST_ATTEMPTS, LONGEST_OUTAGE_SECONDS, backoff
from harness.engines.work import Progress
from harness.errors import JudgeError
from harness.judges.base import NoReply
from harness.judges.rate_limits import LONGEST_WAIT_SECONDS

_SLICE_SECONDS = 1.0
T = TypeVar("T")


class OutOfTime(Exception):
    """The command's minutes are over."""


class Polling:
    """Requests to one judge's provider. `watch` is called whenever a request has to wait."""

    def __init__(self, judge: str, budget: Budget, progress: Progress, watch: Callable[[], None]) -> None:
        self._judge = judge
        self._budget = budget
        self._progress = progress
        self._watch = watch
        self._answered = False

    async def until_answered(self, request: Callable[[], Awaitable[T]]) -> T:
        """Repeat a request until it is answered. Raises JudgeError when there is no answer for long, OutOfTime when the time is over."""
        start, attempts = time.monotonic(), 0
        while True:
            try:
                answer = await request()
            except NoReply as err:
                attempts += 1
                if time.monotonic() - start > LONGEST_OUTAGE_SECONDS or (attempts >= FIRST_ATTEMPTS and not self._answered):
                    raise JudgeError(
                        f"{self._judge}: {err} ({attempts} times). Is the endpoint up, and is the base URL right? "
                        "Submitted batches are recorded, and the same command goes on with them"
                    ) from None
                self._progress.waiting_for = str(err)
                self._watch()
                await self.wait(backoff(attempts) if err.retry_after is None else min(err.retry_after, LONGEST_WAIT_SECONDS))
            else:
                self._answered = True
                self._progress.waiting_for = ""
                return answer

    async def wait(self, seconds: float) -> None:
        """Wait for that time. Raises OutOfTime as soon as the command's minutes are over."""
        end = time.monotonic() + seconds
        while not self._budget.out_of_time:
            remaining = end - time.monotonic()
            if remaining <= 0:
                return
            await asyncio.sleep(min(remaining, _SLICE_SECONDS))
        raise OutOfTime
