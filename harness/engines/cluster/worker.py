"""A worker: asks calls where it runs, with judges of its own, by the same sessions as the local engine; what comes back goes to its driver.

It keeps no file and writes nothing: what it has finished waits here, bounded by the calls that it was given, until the driver has it.
"""

from __future__ import annotations

import asyncio
import pickle
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import cast

import msgspec

from harness.content import Dataset
from harness.engines.budget import Budget, Limits
from harness.engines.cluster.turns import Charge, Finished, Opened, Standing, Tried, Turn
from harness.engines.local import Session
from harness.engines.work import Calls, Work
from harness.errors import HarnessError, JudgeError
from harness.judges import Judge, open_judge
from harness.model import Call, Reply

HEARTBEAT_SECONDS = 1.0  # a turn is answered after that even if nothing was finished
_LINGER_SECONDS = 0.01  # what is finished within this travels together
_AHEAD_SECONDS = 0.1  # of calls that wait here, so that none of the slots waits for the driver
MOST_WAITING = 2048

AskAgain = Callable[[Call, Reply], bool]
Loaded = tuple[int, Call, int]  # a judge's place among the charges, its call, the tokens that it takes, roughly


def loaded(calls: Sequence[Loaded]) -> bytes:
    """Calls as they travel: whatever their items hold, and what they share only once."""
    return pickle.dumps(calls, protocol=5)


class _Kept:
    """What came of the attempts of each call that is not finished."""

    def __init__(self) -> None:
        self._tried: defaultdict[str, list[Tried]] = defaultdict(list)

    async def keep(self, call: Call, reply: Reply | None, lost: str | None = None) -> None:
        self._tried[call.call_id].append((reply, lost))

    def check(self) -> None:
        """Nothing is written here, so nothing fails."""

    def commit(self) -> None:
        """Nothing is written here."""

    def pop(self, call: Call) -> list[Tried]:
        return self._tried.pop(call.call_id, [])


class _Desk:
    """One judge here, and how fast its calls are being finished."""

    def __init__(self, judge: Judge, charge: Charge, ask_again: AskAgain) -> None:
        self.judge = judge
        self.kept = _Kept()
        self.budget = Budget(Limits())  # the driver's decides; this one is told when that is used up
        work = Work(judge, cast("Calls", ()), ask_again=ask_again)  # which come one by one
        self.session = Session(work, self.kept, charge.settings, self.budget, lambda work, progress: None)
        self.finished = 0
        self._told = time.monotonic()

    @property
    def wanted(self) -> int:
        """How many more calls it would like to have, at the pace since it was last asked."""
        now = time.monotonic()
        rate = self.finished / max(now - self._told, 0.001)
        self.finished, self._told = 0, now
        return max(0, min(self.session.room + round(rate * _AHEAD_SECONDS), MOST_WAITING))

    def standing(self) -> Standing:
        outcome = self.session.outcome(interrupted=False)
        done = outcome.progress
        return Standing(self.wanted, done.retries, done.reasked, done.most_in_flight, done.waiting_for, outcome.last_loss)


class Worker:
    """Asks the calls of its charges. Everything that goes wrong with a judge is told, not raised."""

    def __init__(self, charges: Sequence[Charge], ask_again: Sequence[AskAgain], training: Dataset | None) -> None:
        self._charges = charges
        self._ask_again = ask_again
        self._training = training
        self._desks: list[_Desk] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._number = 0
        self._first = 0  # the number of the first call in `_finished`
        self._finished: list[Finished] = []
        self._news = asyncio.Event()
        self._problem, self._troubled = "", 0
        self._bug: Exception | None = None

    async def open(self) -> Opened:
        """Open and start the judges."""
        try:
            for charge, ask_again in zip(self._charges, self._ask_again, strict=True):
                judge = self._opened(charge)
                await judge.start(charge.foremost)
                self._desks.append(_Desk(judge, charge, ask_again))
        except HarnessError as err:
            return Opened(version("judge-harness"), [], str(err))
        return Opened(version("judge-harness"), [desk.wanted for desk in self._desks])

    def _opened(self, charge: Charge) -> Judge:
        options = msgspec.structs.replace(charge.opening.options, training=self._training)
        judge = open_judge(charge.opening.name, options)
        if judge.identity != charge.identity:
            there, here = (msgspec.json.encode(one.settings, order="sorted").decode() for one in (judge.identity, charge.identity))
            raise JudgeError(f"'{charge.opening.name}' is another judge there ({there}) than where the run was started ({here})")
        return judge

    async def turn(self, number: int, seen: int, calls: bytes, over: str) -> bytes:
        """Take on calls, and tell what was finished after the first `seen`. `over` says which budget is used up, if one is.

        Returns an encoded `Turn`, as soon as there is something to tell.
        """
        self._forget(seen)
        if number > self._number:  # or it was said before
            self._number = number
            self._take_on(pickle.loads(calls))
        for desk in self._desks:
            desk.budget.exhausted = over
        await self._something_to_tell()
        if self._bug is not None:
            raise self._bug
        return self._told()

    def _forget(self, seen: int) -> None:
        """The first `seen` are with the driver."""
        del self._finished[: max(0, seen - self._first)]
        self._first = max(self._first, seen)

    def _take_on(self, calls: Sequence[Loaded]) -> None:
        for place, call, tokens in calls:
            task = asyncio.get_running_loop().create_task(self._ask(self._desks[place], call, tokens))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _ask(self, desk: _Desk, call: Call, tokens: int) -> None:
        try:
            await desk.session.begin(call, tokens)
        except HarnessError as err:
            self._problem, self._troubled = self._problem or str(err), self._desks.index(desk)
        except Exception as err:  # whatever it is, whoever waits for the turn has to hear of it
            self._bug = err
        else:
            desk.finished += 1
            self._finished.append(Finished(call.call_id, desk.kept.pop(call)))
        self._news.set()

    async def _something_to_tell(self) -> None:
        self._news.clear()
        if not (self._finished or self._problem or self._bug):
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await self._news.wait()
        if self._finished and not self._problem:
            await asyncio.sleep(_LINGER_SECONDS)

    def _told(self) -> bytes:
        standings = [desk.standing() for desk in self._desks]
        return msgspec.msgpack.encode(Turn(self._first, self._finished, standings, self._problem, self._troubled))

    async def end(self, seen: int) -> bytes:
        """Ask nothing more, let go of the judges, and tell what was finished after the first `seen`."""
        self._forget(seen)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        told = self._told()
        for desk in self._desks:
            with suppress(Exception):  # it is over anyway
                await desk.judge.stop()
        return told
