"""The driver and its workers, without a cluster: every call is settled once, whatever becomes of who asks it.

Workers are real ones in this process; how they are reached is scripted.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.engines.budget import Budget, Limits
from harness.engines.cluster import driver as driver_module
from harness.engines.cluster import worker as worker_module
from harness.engines.cluster.charges import charges
from harness.engines.cluster.driver import Driver
from harness.engines.cluster.turns import Charge, Gone, Opened, Turn, Unheard
from harness.engines.cluster.worker import Worker
from harness.engines.together import together
from harness.engines.work import Opening, Outcome, Settings, Work
from harness.errors import FatalReply, JudgeError
from harness.judges import JudgeOptions, NoReply
from harness.model import Call, JudgeIdentity, Reply
from harness.store import Store

IDENTITY = JudgeIdentity("openai", "scripted")
Script = Callable[[Call, int], Reply]  # the call, and which worker's judge is asked


class Judge:
    """Answers as its script says, each after a moment."""

    identity = IDENTITY
    concurrency = 3
    endpoint = None
    allowance = None

    def __init__(self, script: Script, number: int, asked: list[tuple[int, str]]) -> None:
        self._script, self._number, self._asked = script, number, asked
        self.stopped = False

    async def start(self, calls: Iterable[Call]) -> None:
        """Nothing to start."""

    async def answer(self, call: Call) -> Reply:
        self._asked.append((self._number, call.call_id))
        await asyncio.sleep(0.002)
        return self._script(call, self._number)

    async def stop(self) -> None:
        self.stopped = True


class Hand:
    """A worker in this process. `fault(turn)` is called before each turn, and may raise or wait."""

    def __init__(self, worker: Worker, fault: Callable[[int], Coroutine[Any, Any, None]]) -> None:
        self.worker, self._fault = worker, fault
        self.killed = False
        self.turns = 0

    async def place(self) -> str:
        return "n"

    async def open(self) -> Opened:
        return await self.worker.open()

    async def turn(self, number: int, seen: int, calls: bytes, over: str) -> Turn:
        self.turns += 1
        await self._fault(self.turns)
        return msgspec.msgpack.decode(await self.worker.turn(number, seen, calls, over), type=Turn)

    async def end(self, seen: int) -> Turn:
        return msgspec.msgpack.decode(await self.worker.end(seen), type=Turn)

    def kill(self) -> None:
        self.killed = True
        for task in self.worker._tasks:
            task.cancel()


async def healthy(turn: int) -> None:
    """Nothing happens."""


def dying(at: int) -> Callable[[int], Coroutine[Any, Any, None]]:
    async def fault(turn: int) -> None:
        if turn >= at:
            raise Gone("its node has died")

    return fault


def good(call: Call, number: int) -> Reply:
    return Reply('{"score": 1}', "m")


class Crew:
    """Hires workers, the n-th with the n-th fault; those after that are healthy."""

    def __init__(self, faults: Iterable[Callable[[int], Coroutine[Any, Any, None]]], make: Callable[..., Hand] = Hand) -> None:
        self._faults = iter(faults)
        self._make = make
        self.hired: list[Hand] = []

    def hire(self, charges: Mapping[int, Charge]) -> Hand:
        worker = Worker(list(charges.values()), [_again] * len(charges), None)
        self.hired.append(self._make(worker, next(self._faults, healthy)))
        return self.hired[-1]


def _again(call: Call, reply: Reply) -> bool:
    return reply.refusal is not None


class Run:
    """One run of a driver over calls c0, c1, ..., and what came of it."""

    def __init__(self, folder: Path, calls: list[Call], crew: Crew) -> None:
        self.folder, self.calls, self.crew = folder, calls, crew
        self.asked: list[tuple[int, str]] = []
        self.unreadable = 0

    def __call__(self, workers: int = 2, limits: Limits = Limits(), settings: Settings = Settings()) -> Outcome:  # noqa: B008
        """Fails where it takes more than half a minute."""
        judge: Any = Judge(good, -1, self.asked)
        work = Work(judge, self.calls, opening=Opening("openai/scripted", JudgeOptions()))
        with Store.writing(self.folder) as store:
            made = Driver([work], charges([work], settings, workers), store, Budget(limits), lambda work, progress: None, self.crew)

            async def go() -> bool:
                async with asyncio.timeout(30) as patience:
                    interrupted = await together([made.run()])
                assert not patience.expired()
                return interrupted

            [outcome] = made.outcomes(interrupted=asyncio.run(go()))
        return outcome

    def stored(self) -> Counter[str]:
        """How many replies each call has."""
        return self._count("reply IS NOT NULL")

    def lost(self) -> Counter[str]:
        """How many attempts of each call brought nothing."""
        return self._count("reply IS NULL")

    def _count(self, which: str) -> Counter[str]:
        with closing(sqlite3.connect(self.folder / "store.sqlite")) as db:
            return Counter(row[0] for row in db.execute(f"SELECT call_id FROM attempts WHERE {which}"))

    def once(self) -> bool:
        """Whether every call has one reply."""
        return self.stored() == Counter(call.call_id for call in self.calls)


@pytest.fixture
def run(tmp_path: Path, make_call: Callable[..., Call], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Run]]:
    monkeypatch.setattr(worker_module, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(driver_module, "_AGAIN_SECONDS", 0.01)

    def make(count: int = 60, *faults: Any, script: Script = good, hand: Callable[..., Hand] = Hand) -> Run:
        made = Run(tmp_path, [make_call(f"c{number}", prompt_id=f"p{number}") for number in range(count)], Crew(faults, hand))
        opened = iter(range(1000))
        monkeypatch.setattr(worker_module, "open_judge", lambda name, options: Judge(script, next(opened), made.asked))
        return made

    yield make


# Whole runs


def test_every_call_is_asked_once_by_one_of_the_workers(run: Callable[..., Run]) -> None:
    asked = run(60)
    outcome = asked()
    assert asked.once() and len(asked.asked) == 60
    assert {number for number, _ in asked.asked} == {0, 1}
    assert (outcome.progress.done, outcome.progress.lost, outcome.interrupted) == (60, 0, False)
    assert (outcome.engine.name, outcome.engine.actors, outcome.engine.lost, outcome.engine.dropped) == ("ray", 2, 0, 0)
    assert all(hand.killed and hand.worker._desks[0].judge.stopped for hand in asked.crew.hired)  # type: ignore[attr-defined]


def test_no_more_calls_are_out_than_the_workers_have_use_for(run: Callable[..., Run]) -> None:
    out: list[int] = []

    class Watching(Hand):
        async def turn(self, number: int, seen: int, calls: bytes, over: str) -> Turn:
            turn = await super().turn(number, seen, calls, over)
            out.append(len(self.worker._tasks))
            return turn

    asked = run(400, hand=Watching)
    asked(settings=Settings(concurrency={"": 2}))
    per_second = 1 / 0.002
    assert asked.once() and 0 < max(out) <= 2 + per_second * 0.1  # two for a slot, and what is answered in a tenth of a second


def test_refused_calls_are_asked_again_and_the_last_reply_counts(run: Callable[..., Run]) -> None:
    refusals = Counter[str]()

    def script(call: Call, number: int) -> Reply:
        refusals[call.call_id] += 1
        return Reply("", "m", refusal="no") if refusals[call.call_id] == 1 else good(call, number)

    asked = run(6, script=script)
    outcome = asked()
    assert asked.stored() == Counter({f"c{number}": 2 for number in range(6)})
    assert (outcome.progress.done, outcome.progress.reasked) == (6, 6)


def test_attempts_without_a_reply_are_written_down_with_the_reply_that_came_at_last(run: Callable[..., Run]) -> None:
    tried = Counter[str]()

    def script(call: Call, number: int) -> Reply:
        tried[call.call_id] += 1
        if call.call_id == "c3" and tried["c3"] < 3:
            raise NoReply("busy", 0.0, busy=True)
        return good(call, number)

    asked = run(6, script=script)
    outcome = asked()
    assert asked.once() and asked.lost() == {"c3": 2} and outcome.progress.retries == 2 and outcome.last_loss == "busy"


# What dies, hangs, or says things twice


@pytest.mark.parametrize("at", [1, 2, 3, 5])
def test_a_worker_that_dies_is_replaced_and_its_calls_are_asked_by_others(at: int, run: Callable[..., Run]) -> None:
    asked = run(80, dying(at), healthy)
    outcome = asked()
    assert asked.once() and outcome.engine.lost == 1
    assert len(asked.crew.hired) == 3 and asked.crew.hired[0].killed


def test_workers_that_die_all_the_time_get_there_as_long_as_each_answers_something(run: Callable[..., Run]) -> None:
    asked = run(300, *[dying(3)] * 4)
    outcome = asked(workers=2)
    assert asked.once() and outcome.engine.lost == 4


def test_workers_that_die_before_they_answer_are_not_replaced_for_ever(run: Callable[..., Run]) -> None:
    asked = run(20, *[dying(1)] * 100)
    with pytest.raises(JudgeError, match=r"no worker of the Ray cluster is left to ask openai/scripted: its node has died\. .*kept"):
        asked()
    assert len(asked.crew.hired) == 6  # three in each seat


def test_the_others_go_on_where_one_seat_has_to_be_given_up(run: Callable[..., Run]) -> None:
    class Cursed(Hand):
        """One that dies whenever it sits in the first seat."""

        async def open(self) -> Opened:
            if asked.crew.hired[1] is not self:
                raise Gone("its node has died")
            return await super().open()

    asked = run(60, hand=Cursed)
    outcome = asked()
    assert asked.once() and outcome.engine.lost == 3 and {number for number, _ in asked.asked} == {0}


def test_a_turn_whose_answer_is_lost_is_said_again_and_nothing_is_asked_or_lost_by_that(run: Callable[..., Run]) -> None:
    class Deaf(Hand):
        async def turn(self, number: int, seen: int, calls: bytes, over: str) -> Turn:
            turn = await super().turn(number, seen, calls, over)
            if self.turns % 2:
                raise Unheard("the connection was cut")
            return turn

    asked = run(60, hand=Deaf)
    outcome = asked()
    assert asked.once() and len(asked.asked) == 60
    assert (outcome.engine.lost, outcome.engine.dropped) == (0, 0)


def test_a_reply_that_arrives_twice_is_written_once_and_counted(run: Callable[..., Run]) -> None:
    class Stuttering(Hand):
        """Tells everything again in every turn, as if nothing of it had been received."""

        async def turn(self, number: int, seen: int, calls: bytes, over: str) -> Turn:
            return await super().turn(number, 0, calls, over)

    asked = run(30, hand=Stuttering)
    outcome = asked(workers=1)
    assert asked.once() and outcome.progress.done == 30
    assert outcome.engine.dropped and outcome.engine.dropped > 0


def test_a_worker_that_is_silent_is_given_up(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_module, "SILENT_SECONDS", 0.3)

    async def hangs(turn: int) -> None:
        if turn == 3:
            await asyncio.sleep(60)

    asked = run(60, hangs)
    outcome = asked()
    assert asked.once() and outcome.engine.lost == 1 and asked.crew.hired[0].killed


# What cannot be


def test_a_judge_that_cannot_be_opened_ends_the_run_in_words(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = run(5)

    def refuse(name: str, options: JudgeOptions) -> Judge:
        raise JudgeError(f"no model file for {name}")

    monkeypatch.setattr(worker_module, "open_judge", refuse)
    with pytest.raises(JudgeError, match=r"on node n: no model file for openai/scripted \(every node needs what the judges need"):
        asked()


def test_another_judge_under_the_same_name_is_refused(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = run(5)
    other = type("Other", (Judge,), {"identity": JudgeIdentity("openai", "scripted", {"sha256": "other"})})
    monkeypatch.setattr(worker_module, "open_judge", lambda name, options: other(good, 0, asked.asked))
    with pytest.raises(JudgeError, match=r"'openai/scripted' is another judge there \({\"sha256\":\"other\"}\) than .* \({}\)"):
        asked()
    assert not asked.asked


def test_another_version_of_the_program_is_refused(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "version", lambda package: "0.0.9")
    with pytest.raises(JudgeError, match=r"judge-harness 0\.0\.9 is installed there, .* here; install the same"):
        run(5)()


def test_a_refusal_that_holds_for_every_call_ends_the_run(run: Callable[..., Run]) -> None:
    def script(call: Call, number: int) -> Reply:
        raise FatalReply("the key is wrong")

    with pytest.raises(JudgeError, match=r"^the key is wrong$"):
        run(20, script=script)()


def test_a_worker_whose_first_call_is_refused_is_replaced_where_the_judge_answers_others(run: Callable[..., Run]) -> None:
    def script(call: Call, number: int) -> Reply:
        if number == 1:
            raise FatalReply("refused a call with 400")
        return good(call, number)

    async def late(turn: int) -> None:
        if turn == 1:
            await asyncio.sleep(0.1)

    asked = run(150, healthy, late, script=script)
    outcome = asked()
    assert asked.once() and outcome.engine.lost == 1


def test_a_cluster_without_room_is_waited_for_and_then_said(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_module, "ROOM_SECONDS", 0.5)

    class Waiting(Hand):
        async def place(self) -> str:
            await asyncio.sleep(60)
            return "never"

    asked = run(5, hand=Waiting)
    with pytest.raises(JudgeError, match=r"no room for a worker .* one free CPU\. Free one or add a node"):
        asked()
    assert all(hand.killed for hand in asked.crew.hired)


def test_what_is_wrong_with_the_program_is_not_hidden(run: Callable[..., Run]) -> None:
    def script(call: Call, number: int) -> Reply:
        raise ZeroDivisionError

    with pytest.raises(BaseExceptionGroup) as caught:
        run(5, script=script)()
    assert caught.value.subgroup(ZeroDivisionError)


# How it ends


def test_a_budget_holds_for_all_workers_together(run: Callable[..., Run]) -> None:
    asked = run(60)
    outcome = asked(limits=Limits(calls=25))
    assert outcome.stopped == "--max-calls 25 is used up" and outcome.progress.done == 25
    assert len(asked.asked) == 25 and set(asked.stored().values()) == {1}


def test_once_a_budget_is_used_up_calls_of_lost_workers_are_not_asked_again(run: Callable[..., Run]) -> None:
    asked = run(60, dying(2))
    outcome = asked(limits=Limits(calls=25))
    assert outcome.progress.lost > 0 and outcome.progress.done + outcome.progress.lost == 25
    assert len(asked.stored()) == outcome.progress.done and set(asked.stored().values()) == {1}


def test_when_the_minutes_are_over_what_is_under_way_is_waited_for(run: Callable[..., Run]) -> None:
    asked = run(2000)
    outcome = asked(limits=Limits(minutes=0.2 / 60))
    assert outcome.stopped.startswith("--max-minutes") and not outcome.interrupted
    assert 0 < outcome.progress.done < 2000
    assert len(asked.asked) == outcome.progress.done == len(asked.stored())


def test_an_interruption_keeps_what_the_workers_have_finished(run: Callable[..., Run]) -> None:
    class Slow(Hand):
        """Tells nothing before it is asked for the last time."""

        async def turn(self, number: int, seen: int, calls: bytes, over: str) -> Turn:
            turn = await super().turn(number, seen, calls, over)
            if turn.finished:
                asyncio.get_running_loop().call_later(0.1, interrupt)
                await asyncio.sleep(60)
            return turn

    def interrupt() -> None:
        for task in asyncio.all_tasks():
            if getattr(task.get_coro(), "__name__", "") == "_each":
                task.cancel()

    asked = run(60, hand=Slow)
    outcome = asked()
    assert outcome.interrupted and 0 < outcome.progress.done < 60
    assert len(asked.stored()) == outcome.progress.done and set(asked.stored().values()) == {1}
    assert all(hand.killed for hand in asked.crew.hired)
