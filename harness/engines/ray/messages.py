"""Messages between a driver and its workers, the assignment of a worker among them: enough to ask its judges, and no further secrets.

In each exchange the driver brings calls and takes along the calls that were finished since. An exchange may be repeated when its answer
was lost on the way: calls that the worker already has are not taken on twice, and finished calls are repeated until the driver confirms
that it received them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import msgspec

from harness.asking import Settings
from harness.data import Dataset
from harness.engines.work import JudgeOpening, JudgeWork, Progress, for_judge
from harness.errors import UsageError
from harness.judges import Environment, traits_of
from harness.judges.local import context_needed
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
    """The result of opening judges: the program's version on the node, the number of calls that each judge wants, or what is wrong."""

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


def assign_judges(works: Sequence[JudgeWork], settings: Settings, workers: int) -> list[dict[int, Assignment]]:
    """For each worker, `{index of a work: its assignment}`. A judge with low limits is assigned to some of the workers only."""
    by_worker: list[dict[int, Assignment]] = [{} for _ in range(workers)]
    for index, work in enumerate(works):
        identity, opening = work.judge.identity, _travelling_opening(work)
        # The largest call stands for all of them: a judge that looks at calls before it starts needs to know how large they get.
        start_calls = (max(work.calls, key=context_needed),) if traits_of(work.judge).needs_calls_to_start else ()
        answered = work.answered_call() if work.answered_before else None
        for assigned, share in zip(by_worker, divide_limits(settings, identity.name, workers), strict=False):
            assigned[index] = Assignment(identity, opening, share, start_calls, work.answered_before, answered)
    return [assigned for assigned in by_worker if assigned]


def divide_limits(settings: Settings, judge: str, workers: int) -> list[Settings]:
    """Divide the limits of a judge among at most `workers` workers: the settings of each, which together keep to the limits.

    There are no more workers than calls in flight, which are whole numbers, and no more than requests a minute, because each worker begins
    with one. The number of calls that a judge wants in flight by itself (a local model: one) holds for each worker.

    >>> [one.concurrency[""] for one in divide_limits(Settings(concurrency={"": 8}), "openai/m", 3)]
    [3, 3, 2]
    """
    concurrency, rpm, tpm = for_judge(settings.concurrency, judge), for_judge(settings.rpm, judge), for_judge(settings.tpm, judge)
    count = max(1, min(workers, concurrency or workers, int(rpm or workers)))
    return [
        replace(
            settings,
            concurrency={"": (concurrency + count - 1 - index) // count} if concurrency else {},
            rpm={"": rpm / count} if rpm else {},
            tpm={"": tpm / count} if tpm else {},
        )
        for index in range(count)
    ]


def training_data(works: Sequence[JudgeWork]) -> Dataset | None:
    """The data that judges among these learn from; None where no judge learns."""
    return next((work.opening.options.training for work in works if work.opening and traits_of(work.judge).needs_training), None)


def _travelling_opening(work: JudgeWork) -> JudgeOpening:
    """Return the opening of the judge, without its training data, and with only those environment variables that it has read."""
    if work.opening is None:
        raise UsageError(f"{work.judge.identity.name} can be asked from this machine only: it is not known how it was opened")
    options = work.opening.options
    environment = options.environment.read if isinstance(options.environment, Environment) else dict(options.environment)
    return JudgeOpening(work.opening.name, msgspec.structs.replace(options, training=None, environment=environment))
