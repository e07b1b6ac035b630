"""Messages between a driver and its workers.

In each exchange the driver brings calls and takes along the calls that were finished since. An exchange may be repeated when its answer
was lost on the way: calls that the worker already has are not taken on twice, and finished calls are repeated until the driver confirms
that it received them.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from harness.engines.work import JudgeOpening, Progress, Settings
from harness.model import Call, JudgeIdentity, Reply

AttemptResult = tuple[Reply | None, str | None]  # the reply, or the reason why there is none


class Assignment(msgspec.Struct, frozen=True):
    """One judge that a worker asks. `opening` says how to open it; its training data travel separately.

    `settings` hold the worker's share of the judge's limits. `start_calls` are the calls that the judge sees in `start`.
    `answered_before` is the one of the work, `answered_call` a call that the judge has answered before.
    """

    identity: JudgeIdentity
    opening: JudgeOpening
    settings: Settings
    start_calls: tuple[Call, ...] = ()
    answered_before: bool = False
    answered_call: Call | None = None


class WorkerReady(msgspec.Struct, frozen=True):
    """How opening went: the program's version on the node, the number of calls that each judge wants, or what is wrong."""

    version: str
    wanted_calls: list[int]
    problem: str = ""


class FinishedCall(msgspec.Struct, frozen=True, array_like=True):
    """A call with the results of its attempts, in order. The last reply counts; a call without a reply was given up."""

    call_id: str
    attempts: list[AttemptResult]

    @property
    def reply(self) -> Reply | None:
        """The reply that counts."""
        return next((reply for reply, _ in reversed(self.attempts) if reply is not None), None)


class JudgeStatus(msgspec.Struct, frozen=True, array_like=True):
    """The status of one judge at one worker: how many more calls it wants, and counts since it was opened."""

    wanted_calls: int
    progress: Progress
    last_loss: str | None


class Exchange(msgspec.Struct, frozen=True, array_like=True):
    """The worker's side of an exchange.

    `first` is the number of the first call in `finished`, counted since the worker was opened. `problems` say why the worker cannot go on
    with some judges, by their positions among its assignments.
    """

    first: int
    finished: list[FinishedCall]
    statuses: list[JudgeStatus]
    problems: dict[int, str] = {}


class WorkerLost(Exception):
    """The worker has died or was given up. Its unfinished calls go to other workers. The text says why it was lost."""


class ExchangeLost(Exception):
    """The request or its answer was lost; the worker may still be there."""


class WorkerHandle(Protocol):
    """A worker as the driver sees it. Its coroutines raise WorkerLost when the worker has died, ExchangeLost when that is unknown."""

    async def node(self) -> str:
        """Wait until the worker is placed; return its node."""

    async def open(self) -> WorkerReady:
        """Open and start its judges."""

    async def exchange(self, number: int, received: int, calls: bytes, exhausted: str) -> Exchange:
        """Bring calls; return what was finished after the first `received` calls. `exhausted` names a budget that is used up, if any."""

    async def end(self, received: int) -> Exchange:
        """Stop asking; return what was finished after the first `received` calls."""

    def kill(self) -> None:
        """End the worker in any case."""
