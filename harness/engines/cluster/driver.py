"""The driver: hands calls out to workers, is the only one to write to the store, and sees to it that every call is settled once.

Whatever becomes of workers: what one has not finished goes to the others, and another is put in its seat.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from itertools import count
from typing import Protocol, TypeVar

import msgspec

from harness.engines.budget import Budget
from harness.engines.cluster.handout import Handout, Out
from harness.engines.cluster.turns import Charge, Finished, Gone, Hand, Opened, Standing, Turn, Unheard
from harness.engines.cluster.worker import Loaded, loaded
from harness.engines.local import Watch
from harness.engines.work import Engine, Outcome, Progress, Work
from harness.errors import JudgeError
from harness.store import Attempt, Store

SILENT_SECONDS = 60.0  # a worker answers every second, so one that is silent for so long is given up
ROOM_SECONDS = 600.0  # the cluster may have to grow first
END_SECONDS = 3.0  # for workers to tell what they have finished, once it is over
MOST_FAILURES = 3  # of workers in one seat, one after the other, with no answer from them
_AGAIN_SECONDS = 0.5

Answer = TypeVar("Answer")


class Crew(Protocol):
    """Where workers come from."""

    def hire(self, charges: Mapping[int, Charge]) -> Hand:
        """A worker with these charges, which may yet have to wait for a place to run."""


class _Sheet:
    """One judge's calls, and how far they are."""

    def __init__(self, work: Work, budget: Budget) -> None:
        self.work = work
        self.handout = Handout(work, budget)
        self.progress = Progress(total=len(work.calls))
        self.last_loss: str | None = None
        self._standings: dict[int, Standing] = {}  # by worker, those that are gone included

    def stands(self, worker: int, standing: Standing) -> None:
        """What that worker says of itself."""
        self._standings[worker] = standing
        known, progress = self._standings.values(), self.progress
        progress.retries = sum(one.retries for one in known)
        progress.reasked = sum(one.reasked for one in known)
        progress.most_in_flight = sum(one.most_in_flight for one in known)
        progress.waiting_for = next((one.waiting_for for one in known if one.waiting_for), "")
        self.last_loss = standing.last_loss or self.last_loss

    def left(self, worker: int) -> None:
        """That worker is gone: its calls are for others, and nobody waits for what it waited for."""
        self.handout.put_back(worker)
        if worker in self._standings:
            self.stands(worker, msgspec.structs.replace(self._standings[worker], waiting_for=""))


class _Seat:
    """Where one worker sits at a time."""

    def __init__(self, charges: Mapping[int, Charge]) -> None:
        self.charges = charges
        self.failures = 0


class _Worker:
    """A worker in its seat."""

    def __init__(self, number: int, seat: _Seat, hand: Hand) -> None:
        self.number, self.seat, self.hand = number, seat, hand
        self.node = ""
        self.seen = 0  # calls that it has finished and that were received
        self.answered: set[int] = set()  # places of works
        self.wanted: dict[int, int] = {}  # how many more calls it would like to have, by place of work

    def wants(self, wanted: Sequence[int]) -> None:
        self.wanted = dict(zip(self.seat.charges, wanted, strict=True))


class Driver:
    """Has the calls of all works asked by a crew. `charges` say who asks what, one entry a seat."""

    def __init__(
        self, works: Sequence[Work], charges: Sequence[Mapping[int, Charge]], store: Store, budget: Budget, watch: Watch, crew: Crew
    ) -> None:
        self._sheets = [_Sheet(work, budget) for work in works]
        self._open_seats = [_Seat(mine) for mine in charges]
        self._store = store
        self._budget = budget
        self._watch = watch
        self._crew = crew
        self._numbers = count()
        self._done = asyncio.Event()
        self._idle_since = time.monotonic()
        self._at_work: dict[int, _Worker] = {}
        self._nodes: set[str] = set()
        self._most_at_work = 0
        self._lost = 0
        self._dropped = 0

    def outcomes(self, *, interrupted: bool) -> list[Outcome]:
        """How it went, by work."""
        engine = Engine("ray", len(self._nodes), self._most_at_work, self._lost, self._dropped)
        return [Outcome(sheet.progress, interrupted, sheet.last_loss, self._budget.exhausted, engine=engine) for sheet in self._sheets]

    async def run(self) -> None:
        """Return once every call is settled. Raises JudgeError when no worker can go on, StoreError when the store cannot be written."""
        async with asyncio.TaskGroup() as group:
            seats = [group.create_task(self._fill(seat)) for seat in self._open_seats]
            await self._done.wait()
            for task in seats:
                task.cancel()

    async def _fill(self, seat: _Seat) -> None:
        """Keep a worker in the seat, until too many have failed there."""
        reason = ""
        while seat.failures < MOST_FAILURES:
            worker = _Worker(next(self._numbers), seat, self._crew.hire(seat.charges))
            try:
                await self._begin(worker)
                await self._go_on(worker)
            except Gone as err:
                reason = str(err)
                self._lose(worker)
            finally:  # also when it is over, or interrupted
                await self._dismiss(worker)
        self._close(seat, reason)

    async def _begin(self, worker: _Worker) -> None:
        worker.node = await self._placed(worker)
        opened = await _heard(worker.hand.open)
        if problem := self._unlike(opened):
            said = f"on node {worker.node}: {problem} (every node needs what the judges need: docs/ray.md)"
            if any(sheet.progress.done for sheet in self._sheets):
                raise Gone(said)
            raise JudgeError(said)
        worker.wants(opened.wanted)
        self._at_work[worker.number] = worker
        self._nodes.add(worker.node)
        self._most_at_work = max(self._most_at_work, len(self._at_work))

    async def _placed(self, worker: _Worker) -> str:
        """The node that it is on. Raises JudgeError when for too long nobody is at work."""
        placed = asyncio.ensure_future(_heard(worker.hand.place))
        try:
            while not (await asyncio.wait([placed], timeout=1.0))[0]:
                if self._at_work:
                    self._idle_since = time.monotonic()
                elif time.monotonic() - self._idle_since > ROOM_SECONDS:
                    raise JudgeError(
                        f"the Ray cluster has had no room for a worker for {ROOM_SECONDS:.0f} s: each needs one free CPU. "
                        "Free one or add a node ('ray status' shows who has them), then run the same command again"
                    )
                else:
                    self._show_waiting("room on the Ray cluster")
            return placed.result()
        finally:
            placed.cancel()

    def _show_waiting(self, what: str) -> None:
        for sheet in self._sheets:
            sheet.progress.waiting_for = what
            self._watch(sheet.work, sheet.progress)

    def _unlike(self, opened: Opened) -> str:
        """What keeps the worker from asking what would be asked here."""
        here = version("judge-harness")
        if opened.version != here:
            return f"judge-harness {opened.version} is installed there, {here} here; install the same"
        return opened.problem

    async def _go_on(self, worker: _Worker) -> None:
        """Bring calls and take what is finished, turn after turn, until it is over."""
        for number in count(1):
            over = self._over()
            calls = self._hand_out(worker)
            self._look_whether_done()
            turn = await _turn(worker, number, loaded(calls), over)
            self._receive(worker, turn)
            if turn.problem:
                self._give_up(worker, turn)
            worker.wants([standing.wanted for standing in turn.standings])

    def _over(self) -> str:
        """Which budget is used up, if one is. What was put back is then asked by nobody any more."""
        if self._budget.late:
            for sheet in self._sheets:
                for out in sheet.handout.give_up():
                    self._count(sheet, out, None)
        return self._budget.exhausted

    def _hand_out(self, worker: _Worker) -> list[Loaded]:
        return [
            (at, out.call, out.tokens)
            for at, (place, wanted) in enumerate(worker.wanted.items())
            for out in self._sheets[place].handout.give(worker.number, wanted)
        ]

    def _look_whether_done(self) -> None:
        if all(sheet.handout.finished for sheet in self._sheets):
            self._done.set()

    def _receive(self, worker: _Worker, turn: Turn) -> None:
        """Write down what a worker has finished, each call once, and count it."""
        worker.seen = turn.first + len(turn.finished)
        by_place: dict[int, list[tuple[Out, Finished]]] = {place: [] for place in worker.seat.charges}
        for finished in turn.finished:
            for place, received in by_place.items():
                if out := self._sheets[place].handout.settle(finished.call_id):
                    received.append((out, finished))
                    break
            else:
                self._dropped += 1
        for (place, received), standing in zip(by_place.items(), turn.standings, strict=True):
            sheet = self._sheets[place]
            attempts = [Attempt(out.call, reply, lost) for out, finished in received for reply, lost in finished.tried]
            if attempts:
                self._store.put_attempts(attempts, sheet.work.judge.identity)
            for out, finished in received:
                self._count(sheet, out, finished)
                if finished.reply is not None:
                    worker.answered.add(place)
                    worker.seat.failures = 0
            sheet.stands(worker.number, standing)
            self._watch(sheet.work, sheet.progress)
        self._look_whether_done()

    def _count(self, sheet: _Sheet, out: Out, finished: Finished | None) -> None:
        """A call is settled; None: it is asked by nobody any more."""
        reply = finished.reply if finished else None
        self._budget.settle(out.reserved, sheet.work.cost(reply.usage) if reply else 0.0)
        if reply is None:
            sheet.progress.lost += 1
        else:
            sheet.progress.done += 1
            sheet.progress.unreadable += sheet.work.unreadable(out.call, reply) > 0

    def _give_up(self, worker: _Worker, turn: Turn) -> None:
        """Raises JudgeError for what would be the same anywhere; Gone where the judge answers others, but never answered this worker."""
        place = list(worker.seat.charges)[turn.troubled]
        if place not in worker.answered and self._sheets[place].progress.done:
            raise Gone(f"on node {worker.node}: {turn.problem}")
        raise JudgeError(turn.problem)

    def _lose(self, worker: _Worker) -> None:
        """A worker is no more: its calls are for others."""
        worker.seat.failures += 1
        self._lost += 1
        self._at_work.pop(worker.number, None)
        self._idle_since = time.monotonic()
        for place in worker.seat.charges:
            self._sheets[place].left(worker.number)

    async def _dismiss(self, worker: _Worker) -> None:
        """Let a worker go, if it is still at work with what it has finished until now."""
        if self._at_work.pop(worker.number, None):
            with suppress(Gone, Unheard, TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    turn = await worker.hand.end(worker.seen)
                self._receive(worker, turn)
        worker.hand.kill()

    def _close(self, seat: _Seat, reason: str) -> None:
        """Nobody will sit there any more. Raises JudgeError when that leaves calls without anybody to ask them."""
        self._open_seats.remove(seat)
        for place, sheet in enumerate(self._sheets):
            if not sheet.handout.finished and not any(place in other.charges for other in self._open_seats):
                raise JudgeError(
                    f"no worker of the Ray cluster is left to ask {sheet.work.judge.identity.name}: {reason}. Every node needs "
                    "judge-harness and what the judges need (docs/ray.md). Then run the same command again: what was answered is kept"
                )


async def _heard(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """What a worker answers to what cannot be said twice."""
    try:
        return await ask()
    except Unheard as err:
        raise Gone(str(err)) from None


async def _turn(worker: _Worker, number: int, calls: bytes, over: str) -> Turn:
    """One turn, said again where it was not heard. Raises Gone when the worker is no more, or silent for too long."""
    deadline = time.monotonic() + SILENT_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        try:
            async with asyncio.timeout(left):  # asyncio.wait_for may swallow a cancellation before Python 3.12
                return await worker.hand.turn(number, worker.seen, calls, over)
        except TimeoutError:
            break
        except Unheard:
            await asyncio.sleep(_AGAIN_SECONDS)
    raise Gone(f"a worker on node {worker.node} gave no sign of life for {SILENT_SECONDS:.0f} s")
