"""Asking a provider until it answers, within what a command may take."""

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

LONGEST_WAIT_SECONDS = 3600.0  # that a provider may ask for
_SLICE_SECONDS = 1.0
T = TypeVar("T")


class OutOfTime(Exception):
    """The minutes that a command may take are over."""


class Patience:
    """What one judge's provider is asked with. `watch` is called whenever it has to be waited for."""

    def __init__(self, judge: str, budget: Budget, progress: Progress, watch: Callable[[], None]) -> None:
        self._judge = judge
        self._budget = budget
        self._progress = progress
        self._watch = watch
        self._reached = False

    async def until_answered(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Raises JudgeError when nobody answers for long, OutOfTime when the minutes are over."""
        began, count = time.monotonic(), 0
        while True:
            try:
                answer = await ask()
            except NoReply as err:
                count += 1
                if time.monotonic() - began > LONGEST_OUTAGE_SECONDS or (count >= FIRST_ATTEMPTS and not self._reached):
                    raise JudgeError(
                        f"{self._judge}: {err} ({count} times). Is the endpoint up, and is the base URL right? "
                        "What was submitted is noted, and the same command goes on with it"
                    ) from None
                self._progress.waiting_for = str(err)
                self._watch()
                await self.rest(backoff(count) if err.retry_after is None else min(err.retry_after, LONGEST_WAIT_SECONDS))
            else:
                self._reached = True
                self._progress.waiting_for = ""
                return answer

    async def rest(self, seconds: float) -> None:
        """Let so many seconds go by. Raises OutOfTime as soon as the minutes are over."""
        until = time.monotonic() + seconds
        while not self._budget.out_of_time:
            left = until - time.monotonic()
            if left <= 0:
                return
            await asyncio.sleep(min(left, _SLICE_SECONDS))
        raise OutOfTime
