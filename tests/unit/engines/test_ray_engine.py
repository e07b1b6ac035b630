"""Handing out calls: in order, each settled once, as few as are wanted, and those of a lost worker first.

The driver and its workers, without a cluster: every call is settled once, whatever becomes of who asks it.

Workers are real ones in this process; how they are reached is scripted."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from harness.asking_options import Limits, Settings
from harness.engines import ray_engine as driver_module
from harness.engines import ray_worker as worker_module
from harness.engines.budget import Budget
from harness.engines.judge_sessions import run_side_by_side
from harness.engines.ray_engine import Driver, LeaseTable
from harness.engines.ray_worker import Assignment, Exchange, ExchangeLost, Worker, WorkerLost, WorkerReady, assign_judges
from harness.engines.work import JudgeOpening, JudgeWork, Outcome
from harness.errors import EndpointRefusal, FatalReply, JudgeError
from harness.judges import JudgeOptions, NoReply
from harness.judges.judge_protocol import UnexplainedRefusal
from harness.model import Call, JudgeIdentity, Reply, Usage
from harness.store import Store


class Plan:
    """Calls c0, c1, ... that are counted as they are made."""

    def __init__(self, count: int, make_call: Callable[..., Call]) -> None:
        self.count, self.made, self._make_call = count, 0, make_call

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Call]:
        for number in range(self.count):
            self.made += 1
            yield self._make_call(f"c{number}")


@pytest.fixture
def make_table(make_call: Callable[..., Call]) -> Callable[..., tuple[LeaseTable, Plan]]:
    def make(count: int, limits: Limits = Limits(), **work: Any) -> tuple[LeaseTable, Plan]:  # noqa: B008 (frozen)
        plan = Plan(count, make_call)
        return LeaseTable(JudgeWork(SimpleNamespace(), plan, **work), Budget(limits)), plan  # type: ignore[arg-type]

    return make


def ids(given: Any) -> list[str]:
    return [lease.call.call_id for lease in given]


def test_calls_go_out_in_order_and_none_is_made_before_it_is_wanted(make_table: Any) -> None:
    calls, plan = make_table(1000)
    assert ids(calls.lease(1, 2)) == ["c0", "c1"] and ids(calls.lease(2, 1)) == ["c2"]
    assert plan.made == 3 and not calls.finished


def test_it_is_finished_when_everything_that_went_out_is_settled(make_table: Any) -> None:
    calls, _ = make_table(2)
    calls.lease(1, 5)
    assert calls.settle("c0") and not calls.finished
    assert calls.settle("c1") and calls.finished


def test_a_call_is_settled_once(make_table: Any) -> None:
    calls, _ = make_table(1)
    calls.lease(1, 1)
    assert calls.settle("c0").call.call_id == "c0"
    assert calls.settle("c0") is None and calls.settle("unknown") is None


def test_what_a_worker_could_not_finish_goes_to_the_next_one_first(make_table: Any) -> None:
    calls, _ = make_table(5)
    calls.lease(1, 2)
    calls.lease(2, 1)
    assert calls.return_calls(1) == 2
    assert ids(calls.lease(3, 3)) == ["c0", "c1", "c3"]
    assert calls.return_calls(1) == 0  # they are another's now


def test_an_answer_to_a_call_that_was_put_back_still_counts_and_it_is_not_asked_again(make_table: Any) -> None:
    calls, _ = make_table(3)
    calls.lease(1, 2)
    calls.return_calls(1)
    assert calls.settle("c0")
    assert ids(calls.lease(2, 5)) == ["c1", "c2"]


def test_a_call_is_paid_for_once_however_often_it_goes_out(make_table: Any) -> None:
    calls, _ = make_table(5, Limits(max_calls=3))
    calls.lease(1, 2)
    calls.return_calls(1)
    assert ids(calls.lease(2, 9)) == ["c0", "c1", "c2"]
    for call in ("c0", "c1", "c2"):
        assert not calls.finished
        calls.settle(call)
    assert calls.finished


def test_tokens_and_money_are_estimated_when_a_call_goes_out(make_table: Any) -> None:
    calls, _ = make_table(3, Limits(max_cost=0.5), tokens=lambda call: Usage(100, 0, 20), cost=lambda usage: usage.prompt_tokens / 500)
    assert [(lease.tokens, lease.reserved) for lease in calls.lease(1, 3)] == [(120, 0.2), (120, 0.2)]


def test_once_the_budget_is_used_up_what_was_put_back_is_asked_by_nobody(make_table: Any) -> None:
    calls, _ = make_table(4)
    calls.lease(1, 2)
    calls.lease(2, 1)
    calls.return_calls(1)
    assert ids(calls.drop_returned()) == ["c0", "c1"] and calls.drop_returned() == []
    assert ids(calls.lease(3, 9)) == ["c3"]


IDENTITY = JudgeIdentity("openai", "scripted")
Script = Callable[[Call, int], Reply]  # the call, and which worker's judge is asked
Fault = Callable[[int], Coroutine[Any, Any, None]]


class Judge:
    """Answers as its script says, each after a moment."""

    identity = IDENTITY
    concurrency = 3
    endpoint = None

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


class ScriptedHandle:
    """A worker in this process. `fault(n)` is called before the n-th exchange, and may raise or wait."""

    def __init__(self, worker: Worker, fault: Callable[[int], Coroutine[Any, Any, None]]) -> None:
        self.worker, self._fault = worker, fault
        self.killed = False
        self.exchanges = 0

    async def node(self) -> str:
        return "n"

    async def open(self) -> WorkerReady:
        return await self.worker.open()

    async def exchange(self, number: int, received: int, calls: bytes, exhausted: str) -> Exchange:
        self.exchanges += 1
        await self._fault(self.exchanges)
        return msgspec.msgpack.decode(await self.worker.exchange(number, received, calls, exhausted), type=Exchange)

    async def end(self, received: int) -> Exchange:
        return msgspec.msgpack.decode(await self.worker.end(received), type=Exchange)

    def kill(self) -> None:
        self.killed = True
        for task in self.worker._tasks:
            task.cancel()


async def healthy(exchange: int) -> None:
    """Nothing happens."""


def dying(at: int) -> Callable[[int], Coroutine[Any, Any, None]]:
    async def fault(exchange: int) -> None:
        if exchange >= at:
            raise WorkerLost("its node has died")

    return fault


def good(call: Call, number: int) -> Reply:
    return Reply('{"score": 1}', "m")


class ScriptedPool:
    """Hires workers, the n-th with the n-th fault; those after that are healthy."""

    def __init__(self, faults: Iterable[Fault], make: Callable[..., ScriptedHandle] = ScriptedHandle) -> None:
        self._faults = iter(faults)
        self._make = make
        self.started: list[ScriptedHandle] = []

    def start_worker(self, assignments: Mapping[int, Assignment]) -> ScriptedHandle:
        worker = Worker(list(assignments.values()), [_again] * len(assignments), None)
        self.started.append(self._make(worker, next(self._faults, healthy)))
        return self.started[-1]


def _again(call: Call, reply: Reply) -> bool:
    return reply.refusal is not None


class Run:
    """One run of a driver over calls c0, c1, ..., and what came of it."""

    def __init__(self, folder: Path, calls: list[Call], pool: ScriptedPool) -> None:
        self.folder, self.calls, self.pool = folder, calls, pool
        self.asked: list[tuple[int, str]] = []
        self.unreadable = 0

    def __call__(
        self,
        workers: int = 2,
        limits: Limits = Limits(),  # noqa: B008
        settings: Settings = Settings(),
        clock: Callable[[], float] = time.monotonic,
    ) -> Outcome:
        """Fails where it takes more than half a minute."""
        judge: Any = Judge(good, -1, self.asked)
        work = JudgeWork(judge, self.calls, opening=JudgeOpening("openai/scripted", JudgeOptions()))
        with Store.writing(self.folder) as store:
            budget = Budget(limits, clock)
            driver = Driver([work], assign_judges([work], settings, workers), store, budget, lambda work, progress: None, self.pool)

            async def go() -> bool:
                async with asyncio.timeout(30) as patience:
                    interrupted = await run_side_by_side([driver.run()])
                assert not patience.expired()
                return interrupted

            [outcome] = driver.outcomes(interrupted=asyncio.run(go()))
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
    monkeypatch.setattr(driver_module, "_REPEAT_SECONDS", 0.01)

    def make(count: int = 60, *faults: Any, script: Script = good, handle: Callable[..., ScriptedHandle] = ScriptedHandle) -> Run:
        made = Run(tmp_path, [make_call(f"c{number}", prompt_id=f"p{number}") for number in range(count)], ScriptedPool(faults, handle))
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
    assert all(handle.killed and handle.worker._queues[0].judge.stopped for handle in asked.pool.started)  # type: ignore[attr-defined]


def test_no_more_calls_are_out_than_the_workers_have_use_for(run: Callable[..., Run]) -> None:
    out: list[int] = []

    class Watching(ScriptedHandle):
        async def exchange(self, number: int, received: int, calls: bytes, exhausted: str) -> Exchange:
            exchange = await super().exchange(number, received, calls, exhausted)
            out.append(len(self.worker._tasks))
            return exchange

    asked = run(400, handle=Watching)
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
    assert len(asked.pool.started) == 3 and asked.pool.started[0].killed


def test_workers_that_die_all_the_time_get_there_as_long_as_each_answers_something(run: Callable[..., Run]) -> None:
    asked = run(300, *[dying(3)] * 4)
    outcome = asked(workers=2)
    assert asked.once() and outcome.engine.lost == 4


def test_workers_that_die_before_they_answer_are_not_replaced_for_ever(run: Callable[..., Run]) -> None:
    asked = run(20, *[dying(1)] * 100)
    with pytest.raises(JudgeError, match=r"no worker of the Ray cluster is left to ask openai/scripted: its node has died\. .*kept"):
        asked()
    assert len(asked.pool.started) == 6  # three in each seat


def test_the_others_go_on_where_one_seat_has_to_be_given_up(run: Callable[..., Run]) -> None:
    class Cursed(ScriptedHandle):
        """One that dies whenever it sits in the first seat."""

        async def open(self) -> WorkerReady:
            if asked.pool.started[1] is not self:
                raise WorkerLost("its node has died")
            return await super().open()

    asked = run(60, handle=Cursed)
    outcome = asked()
    assert asked.once() and outcome.engine.lost == 3 and {number for number, _ in asked.asked} == {0}


def test_a_turn_whose_answer_is_lost_is_said_again_and_nothing_is_asked_or_lost_by_that(run: Callable[..., Run]) -> None:
    class Deaf(ScriptedHandle):
        async def exchange(self, number: int, received: int, calls: bytes, exhausted: str) -> Exchange:
            exchange = await super().exchange(number, received, calls, exhausted)
            if self.exchanges % 2:
                raise ExchangeLost("the connection was cut")
            return exchange

    asked = run(60, handle=Deaf)
    outcome = asked()
    assert asked.once() and len(asked.asked) == 60
    assert (outcome.engine.lost, outcome.engine.dropped) == (0, 0)


def test_a_reply_that_arrives_twice_is_written_once_and_counted(run: Callable[..., Run]) -> None:
    class Stuttering(ScriptedHandle):
        """Tells everything again in every exchange, as if nothing of it had been received."""

        async def exchange(self, number: int, received: int, calls: bytes, exhausted: str) -> Exchange:
            return await super().exchange(number, 0, calls, exhausted)

    asked = run(30, handle=Stuttering)
    outcome = asked(workers=1)
    assert asked.once() and outcome.progress.done == 30
    assert outcome.engine.dropped and outcome.engine.dropped > 0


def test_a_worker_that_is_silent_is_given_up(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_module, "SILENT_SECONDS", 0.3)

    async def hangs(exchange: int) -> None:
        if exchange == 3:
            await asyncio.sleep(60)

    asked = run(60, hangs)
    outcome = asked()
    assert asked.once() and outcome.engine.lost == 1 and asked.pool.started[0].killed


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
    with pytest.raises(JudgeError, match=r"'openai/scripted' is a different judge on this node \({\"sha256\":\"other\"}\) than .* \({}\)"):
        asked()
    assert not asked.asked


def test_another_version_of_the_program_is_refused(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "version", lambda package: "0.0.9")
    with pytest.raises(JudgeError, match=r"judge-harness 0\.0\.9 is installed there, .* here; install the same version"):
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

    async def late(exchange: int) -> None:
        if exchange == 1:
            await asyncio.sleep(0.1)

    asked = run(150, healthy, late, script=script)
    outcome = asked()
    assert asked.once() and outcome.engine.lost == 1


def test_a_cluster_without_room_is_waited_for_and_then_said(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_module, "PLACEMENT_SECONDS", 0.5)

    class Waiting(ScriptedHandle):
        async def node(self) -> str:
            await asyncio.sleep(60)
            return "never"

    asked = run(5, handle=Waiting)
    with pytest.raises(JudgeError, match=r"no room for a worker .* one free CPU\. Free one or add a node"):
        asked()
    assert all(handle.killed for handle in asked.pool.started)


def test_what_is_wrong_with_the_program_is_not_hidden(run: Callable[..., Run]) -> None:
    def script(call: Call, number: int) -> Reply:
        raise ZeroDivisionError

    with pytest.raises(BaseExceptionGroup) as caught:
        run(5, script=script)()
    assert caught.value.subgroup(ZeroDivisionError)


class TwoJudges:
    """A driver over two judges, `one` and `two`, whose scripts are given."""

    def __init__(self, folder: Path, make_call: Callable[..., Call], monkeypatch: pytest.MonkeyPatch, **scripts: Script) -> None:
        self.folder, self.works = folder, []
        self.pool = ScriptedPool([])
        for name, script in scripts.items():
            judge: Any = type("Named", (Judge,), {"identity": JudgeIdentity("openai", name)})(script, 0, [])
            calls = [make_call(f"{name}{number}", prompt_id=f"p{name}{number}") for number in range(40)]
            self.works.append(JudgeWork(judge, calls, opening=JudgeOpening(f"openai/{name}", JudgeOptions())))
        opened = {f"openai/{work.judge.identity.model}": work.judge for work in self.works}
        monkeypatch.setattr(worker_module, "open_judge", lambda name, options: opened[name])

    def __call__(self, workers: int) -> list[Outcome]:
        with Store.writing(self.folder) as store:
            mine = assign_judges(self.works, Settings(), workers)
            driver = Driver(self.works, mine, store, Budget(Limits()), lambda work, progress: None, self.pool)
            asyncio.run(run_side_by_side([driver.run()]))
        return driver.outcomes(interrupted=False)

    def answered(self, name: str) -> int:
        with closing(sqlite3.connect(self.folder / "store.sqlite")) as db:
            [[count]] = db.execute("SELECT COUNT(*) FROM attempts WHERE reply IS NOT NULL AND call_id LIKE ?", (f"{name}%",))
            return int(count)


def test_a_judge_that_is_stopped_takes_no_reply_from_the_others(
    tmp_path: Path, make_call: Callable[..., Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no(call: Call, number: int) -> Reply:
        raise FatalReply("the key is wrong")

    both = TwoJudges(tmp_path, make_call, monkeypatch, one=no, two=good)
    with pytest.raises(JudgeError, match=r"^the key is wrong$"):
        both(workers=2)
    assert (both.answered("one"), both.answered("two")) == (0, 40)


def test_refusals_by_the_endpoint_are_lost_calls_and_stop_the_judge_when_they_repeat(
    tmp_path: Path, make_call: Callable[..., Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    def firewall(call: Call, number: int) -> Reply:
        if call.call_id not in ("one0", "one1", "one2", "one3"):
            raise EndpointRefusal("refused a call with 403: Blocked", "Ask whoever runs the network")
        return good(call, number)

    def once(call: Call, number: int) -> Reply:
        if call.call_id == "two20":
            raise EndpointRefusal("refused a call with 413: Too large", "Raise the limit")
        return good(call, number)

    both = TwoJudges(tmp_path, make_call, monkeypatch, one=firewall, two=once)
    with pytest.raises(JudgeError, match=r"403: Blocked \(5 refusals one after the other\)\. Ask whoever runs the network"):
        both(workers=1)
    assert (both.answered("one"), both.answered("two")) == (4, 39)


def test_refusals_without_a_reason_are_replies_where_the_worker_has_other_answers(
    tmp_path: Path, make_call: Callable[..., Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    def some(call: Call, number: int) -> Reply:
        if call.call_id in ("one20", "one21", "one22", "one23", "one24", "one25"):
            raise UnexplainedRefusal("refused a call with 400: No", "Look", Reply("", "", refusal="No", error="400"))
        return good(call, number)

    both = TwoJudges(tmp_path, make_call, monkeypatch, one=some, two=good)
    both(workers=2)
    assert (both.answered("one"), both.answered("two")) == (40 + 6 * 3, 40)  # these works ask refused calls three times more


# How it ends


def test_a_budget_holds_for_all_workers_together(run: Callable[..., Run]) -> None:
    asked = run(60)
    outcome = asked(limits=Limits(max_calls=25))
    assert outcome.stopped == "--max-calls 25 is used up" and outcome.progress.done == 25
    assert len(asked.asked) == 25 and set(asked.stored().values()) == {1}


def test_once_a_budget_is_used_up_calls_of_lost_workers_are_not_asked_again(run: Callable[..., Run]) -> None:
    async def dies_once_nothing_more_is_asked(exchange: int) -> None:
        before = -1
        while exchange >= 2 and len(asked.asked) > before:
            before = len(asked.asked)
            await asyncio.sleep(0.3)
        await dying(2)(exchange)

    asked = run(60, dies_once_nothing_more_is_asked)
    outcome = asked(limits=Limits(max_calls=25))
    assert outcome.progress.lost > 0 and outcome.progress.done + outcome.progress.lost == 25
    assert len(asked.stored()) == outcome.progress.done and set(asked.stored().values()) == {1}


def test_when_the_minutes_are_over_what_is_under_way_is_waited_for(run: Callable[..., Run]) -> None:
    asked = run(2000)
    outcome = asked(limits=Limits(max_minutes=1), clock=lambda: 0.0 if len(asked.asked) < 100 else 60.0)
    assert outcome.stopped.startswith("--max-minutes") and not outcome.interrupted
    assert 0 < outcome.progress.done < 2000
    assert len(asked.asked) == outcome.progress.done == len(asked.stored())


def test_when_the_minutes_are_over_nobody_waits_for_an_endpoint_that_asks_to(run: Callable[..., Run]) -> None:
    def script(call: Call, number: int) -> Reply:
        raise NoReply("busy", 3000.0, busy=True)

    asked = run(20, script=script)
    outcome = asked(limits=Limits(max_minutes=0.5 / 60))  # which fails where it takes more than half a minute
    assert outcome.stopped.startswith("--max-minutes") and outcome.progress.done == 0


def test_an_interruption_keeps_what_the_workers_have_finished(run: Callable[..., Run]) -> None:
    class Slow(ScriptedHandle):
        """Tells nothing before it is asked for the last time."""

        async def exchange(self, number: int, received: int, calls: bytes, exhausted: str) -> Exchange:
            exchange = await super().exchange(number, received, calls, exhausted)
            if exchange.finished:
                asyncio.get_running_loop().call_later(0.1, interrupt)
                await asyncio.sleep(60)
            return exchange

    def interrupt() -> None:
        for task in asyncio.all_tasks():
            if getattr(task.get_coro(), "__name__", "") == "_run_all":
                task.cancel()

    asked = run(60, handle=Slow)
    outcome = asked()
    assert outcome.interrupted and 0 < outcome.progress.done < 60
    assert len(asked.stored()) == outcome.progress.done and set(asked.stored().values()) == {1}
    assert all(handle.killed for handle in asked.pool.started)
