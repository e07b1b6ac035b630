"""The workers of the engine `ray`, and what they and the driver exchange.

A worker makes calls on its node, with its own judges and the sessions of the local engine. It writes no file: finished calls wait in
memory until the driver has received them, and the number of leased calls bounds them.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Protocol, cast

import msgspec

from harness.asking_options import Limits, Settings
from harness.data.dataset import Dataset
from harness.engines.budget import Budget, ends_waits
from harness.engines.local_engine import CallSession
from harness.engines.reply_writer import ReplySink
from harness.engines.work import CallSequence, JudgeOpening, JudgeWork, Progress, for_judge
from harness.errors import HarnessError, JudgeError, UsageError
from harness.judges import Environment, Judge, open_judge, traits_of
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
        if work.opening is None:
            raise UsageError(f"{work.judge.identity.name} can be asked from this machine only: it is not known how it was opened")
        options = work.opening.options
        environment = options.environment.read if isinstance(options.environment, Environment) else dict(options.environment)
        identity, opening = (
            work.judge.identity,
            JudgeOpening(work.opening.name, msgspec.structs.replace(options, training=None, environment=environment)),
        )
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


HEARTBEAT_SECONDS = 1.0  # an exchange is answered after this time even if no call was finished
_LINGER_SECONDS = 0.01  # calls that are finished within this time travel together
_AHEAD_SECONDS = 0.1  # the worker holds calls for so long, so that no permit waits for the driver
MAX_WANTED_CALLS = 2048

AskAgain = Callable[[Call, Reply], bool]
AssignedCall = tuple[int, Call, int]  # the judge's position among the assignments, its call, the call's estimated tokens


def pack_calls(calls: Sequence[AssignedCall]) -> bytes:
    """Calls as they travel: with pickle, because items hold any fields, and parts that calls share travel once."""
    return pickle.dumps(calls, protocol=5)


class _AttemptCollector(ReplySink):
    """The results of attempts, for each call that is not finished."""

    def __init__(self) -> None:
        self._results: defaultdict[str, list[AttemptResult]] = defaultdict(list)

    async def write(self, call: Call, reply: Reply | None, loss: str | None = None) -> None:
        self._results[call.call_id].append((reply, loss))

    def pop(self, call: Call) -> list[AttemptResult]:
        return self._results.pop(call.call_id, [])


class _JudgeQueue:
    """One judge of this worker, and how fast its calls are being finished."""

    def __init__(self, judge: Judge, assignment: Assignment, ask_again: AskAgain) -> None:
        self.judge = judge
        self.attempts = _AttemptCollector()
        self.budget = Budget(Limits())  # the driver keeps the real one, and reports when it is used up
        calls = cast("CallSequence", ())  # they arrive one by one
        work = JudgeWork(
            judge,
            calls,
            answered_before=assignment.answered_before,
            ask_again=ask_again,
            answered_call=lambda: assignment.answered_call,
        )
        self.session = CallSession(work, self.attempts, assignment.settings, self.budget, lambda work, progress: None)
        self.finished = 0
        self._last_asked = time.monotonic()

    @property
    def wanted_calls(self) -> int:
        """Return the number of calls that it needs further, at the speed since this was last read."""
        now = time.monotonic()
        rate = self.finished / max(now - self._last_asked, 0.001)
        self.finished, self._last_asked = 0, now
        return max(0, min(self.session.free_places + round(rate * _AHEAD_SECONDS), MAX_WANTED_CALLS))

    def status(self) -> JudgeStatus:
        outcome = self.session.outcome(interrupted=False)
        return JudgeStatus(self.wanted_calls, outcome.progress, outcome.last_loss)


class Worker:
    """Asks the calls of its assignments. Problems with a judge are reported, not raised."""

    def __init__(self, assignments: Sequence[Assignment], ask_again: Sequence[AskAgain], training: Dataset | None) -> None:
        self._assignments = assignments
        self._ask_again = ask_again
        self._training = training
        self._queues: list[_JudgeQueue] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_exchange = 0
        self._first = 0  # the number of the first call in `_finished`
        self._finished: list[FinishedCall] = []
        self._news = asyncio.Event()
        self._problems: dict[int, str] = {}  # by position among the assignments
        self._bug: Exception | None = None

    async def open(self) -> WorkerReady:
        """Open and start the judges."""
        try:
            for assignment, ask_again in zip(self._assignments, self._ask_again, strict=True):
                options = msgspec.structs.replace(assignment.opening.options, training=self._training)
                judge = open_judge(assignment.opening.name, options)
                if judge.identity != assignment.identity:
                    on_node, at_start = (
                        msgspec.json.encode(identity.settings, order="sorted").decode()
                        for identity in (judge.identity, assignment.identity)
                    )
                    raise JudgeError(
                        f"'{assignment.opening.name}' is a different judge on this node ({on_node}) than where the run was started "
                        f"({at_start})"
                    )
                await judge.start(assignment.start_calls)
                self._queues.append(_JudgeQueue(judge, assignment, ask_again))
        except HarnessError as err:
            return WorkerReady(version("judge-harness"), [], str(err))
        return WorkerReady(version("judge-harness"), [queue.wanted_calls for queue in self._queues])

    async def exchange(self, number: int, received: int, calls: bytes, exhausted: str) -> bytes:
        """Take on calls; return an encoded `Exchange` as soon as there is something to report: see `WorkerHandle`."""
        self._forget(received)
        if number > self._last_exchange:  # otherwise the driver repeats an exchange
            self._last_exchange = number
            for index, call, tokens in pickle.loads(calls):
                task = asyncio.get_running_loop().create_task(self._ask(self._queues[index], call, tokens))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        for queue in self._queues:
            queue.budget.exhausted = exhausted
            if ends_waits(exhausted):
                queue.session.end()
        self._news.clear()
        if not (self._finished or self._bug):
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await self._news.wait()
        if self._finished and not self._problems:
            await asyncio.sleep(_LINGER_SECONDS)
        if self._bug is not None:
            raise self._bug
        return self._report()

    def _forget(self, received: int) -> None:
        del self._finished[: max(0, received - self._first)]
        self._first = max(self._first, received)

    async def _ask(self, queue: _JudgeQueue, call: Call, tokens: int) -> None:
        try:
            await queue.session.begin(call, tokens)
        except Exception as err:  # any error must reach the driver, which waits for the exchange
            self._bug = err
        else:
            if queue.session.failure is not None:
                self._problems[self._queues.index(queue)] = str(queue.session.failure)
            queue.finished += 1
            self._finished.append(FinishedCall(call.call_id, queue.attempts.pop(call)))
        self._news.set()

    def _report(self) -> bytes:
        statuses = [queue.status() for queue in self._queues]
        return msgspec.msgpack.encode(Exchange(self._first, self._finished, statuses, self._problems))

    async def end(self, received: int) -> bytes:
        """Stop asking and close the judges; return what was finished since."""
        self._forget(received)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        report = self._report()
        for queue in self._queues:
            with suppress(Exception):  # the worker ends in any case
                await queue.judge.stop()
        return report
