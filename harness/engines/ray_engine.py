"""The engine `ray`: connects to a cluster, starts workers, and leases the calls to them. Nothing outside imports it but `harness.engines`.

The driver alone writes to the store, and settles every call once. If a worker is lost, its unfinished calls go to the others, and another
worker takes its place.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from importlib.metadata import version
from itertools import count
from typing import Any, Protocol, TypeVar

import msgspec

from harness.asking_options import Settings
from harness.engines.budget import Budget, budget_of
from harness.engines.judge_sessions import run_loop, run_side_by_side
from harness.engines.local_engine import Watch
from harness.engines.ray_worker import (
    Assignment,
    AttemptResult,
    Exchange,
    ExchangeLost,
    FinishedCall,
    JudgeStatus,
    Worker,
    WorkerHandle,
    WorkerLost,
    WorkerReady,
    assign_judges,
    pack_calls,
    training_data,
)
from harness.engines.work import Engine, JudgeWork, Outcome, Progress, charged
from harness.errors import JudgeError, UsageError
from harness.model import Call
from harness.redaction import Redactor, environment_secrets
from harness.store import Attempt, Store


class Lease(msgspec.Struct, frozen=True):
    """A call that a worker holds: its estimated tokens, and the US dollars that are reserved for it."""

    call: Call
    tokens: int
    reserved: float


class LeaseTable:
    """Leases the calls of a judge in their order; calls that a worker could not finish come first. Holds only leased calls."""

    def __init__(self, work: JudgeWork, budget: Budget) -> None:
        self._work = work
        self._budget = budget
        self._calls = iter(work.calls)
        self._remaining = len(work.calls)
        self._open: dict[str, Lease] = {}
        self._worker_of: dict[str, int] = {}  # by call
        self._returned: deque[str] = deque()

    @property
    def finished(self) -> bool:
        """Return True if every call was leased and settled."""
        return not (self._remaining or self._open)

    def lease(self, worker: int, count: int) -> list[Lease]:
        """Lease at most `count` calls to that worker: fewer where the plan or the budget ends."""
        leases: list[Lease] = []
        while len(leases) < count:
            lease = None
            while self._returned and lease is None:
                lease = self._open.get(self._returned.popleft())  # None: it was settled in the meantime
            lease = lease or self._next_planned()
            if lease is None:
                break
            self._open[lease.call.call_id] = lease
            self._worker_of[lease.call.call_id] = worker
            leases.append(lease)
        return leases

    def _next_planned(self) -> Lease | None:
        call = next(self._calls, None) if self._remaining else None
        if call is None:
            self._remaining = 0
            return None
        usage = self._work.tokens(call)
        cost = self._work.cost(usage)
        if not self._budget.take(cost):
            self._remaining = 0
            return None
        self._remaining -= 1
        return Lease(call, usage.prompt_tokens + usage.completion_tokens, cost)

    def settle(self, call_id: str) -> Lease | None:
        """End the lease of a call and return it; None if it has ended already or never began."""
        self._worker_of.pop(call_id, None)
        return self._open.pop(call_id, None)

    def reopen(self, lease: Lease, worker: int) -> None:
        """Undo `settle`: that worker holds the call again."""
        self._open[lease.call.call_id] = lease
        self._worker_of[lease.call.call_id] = worker

    def return_calls(self, worker: int) -> int:
        """Return the calls that a lost worker holds, so that others get them. Returns how many there are."""
        call_ids = [call_id for call_id, holder in self._worker_of.items() if holder == worker]
        for call_id in call_ids:
            del self._worker_of[call_id]
        self._returned.extend(call_ids)
        return len(call_ids)

    def drop_returned(self) -> list[Lease]:
        """Settle all returned calls without asking them again, because a budget is used up. Returns their leases."""
        returned, self._returned = self._returned, deque()
        return [lease for call_id in returned if (lease := self.settle(call_id)) is not None]

    def stop(self) -> list[Lease]:
        """Lease nothing more, because the judge was stopped, and settle all returned calls. Returns their leases."""
        self._remaining = 0
        return self.drop_returned()


SILENT_SECONDS = 60.0  # a worker answers every second; one that is silent for so long is given up
PLACEMENT_SECONDS = 600.0  # the cluster may have to grow first
END_SECONDS = 3.0  # for workers to report what they have finished, when the run ends
MAX_FAILURES = 3  # of workers in one slot, one after the other, without an answer from any of them
_REPEAT_SECONDS = 0.5

T = TypeVar("T")


class WorkerPool(Protocol):
    """The source of workers."""

    def start_worker(self, assignments: Mapping[int, Assignment]) -> WorkerHandle:
        """A worker with these assignments. The cluster may still have to place it."""


class _JudgeProgress:
    def __init__(self, work: JudgeWork, budget: Budget) -> None:
        self.work = work
        self.leases = LeaseTable(work, budget)
        self.progress = Progress(total=len(work.calls))
        self.last_loss: str | None = None
        self.failure: JudgeError | None = None  # what stopped the judge
        self._statuses: dict[int, JudgeStatus] = {}  # by worker, lost workers included

    def update(self, worker: int, status: JudgeStatus) -> None:
        """Take in the status that a worker reports."""
        self._statuses[worker] = status
        parts, progress = [status.progress for status in self._statuses.values()], self.progress
        progress.retries = sum(progress_part.retries for progress_part in parts)
        progress.reasked = sum(progress_part.reasked for progress_part in parts)
        progress.most_in_flight = sum(progress_part.most_in_flight for progress_part in parts)
        progress.notes += [note for note in dict.fromkeys(status.progress.notes) if note not in progress.notes]
        progress.waiting_for = next((progress_part.waiting_for for progress_part in parts if progress_part.waiting_for), "")
        self.last_loss = status.last_loss or self.last_loss

    def lose(self, worker: int) -> None:
        """Note that a worker is lost: its calls are for others, and nothing waits for what it waited for."""
        self.leases.return_calls(worker)
        if worker in self._statuses:
            self._statuses[worker].progress.waiting_for = ""
            self.update(worker, self._statuses[worker])


class _WorkerSlot:
    """A place in the pool that has one worker at a time."""

    def __init__(self, assignments: Mapping[int, Assignment]) -> None:
        self.assignments = assignments  # by index of the work
        self.failures = 0


class _PoolWorker:
    def __init__(self, number: int, slot: _WorkerSlot, handle: WorkerHandle) -> None:
        self.number, self.slot, self.handle = number, slot, handle
        self.node = ""
        self.received = 0  # calls that it has finished and the driver has received
        self.answered: set[int] = set()  # indices of works
        self.wanted_calls: dict[int, int] = {}  # by index of the work

    def update_wanted(self, wanted_calls: Sequence[int]) -> None:
        self.wanted_calls = dict(zip(self.slot.assignments, wanted_calls, strict=True))


class Driver:
    """Has a pool of workers ask the calls of all works. `assignments` has one entry for each worker."""

    def __init__(
        self,
        works: Sequence[JudgeWork],
        assignments: Sequence[Mapping[int, Assignment]],
        store: Store,
        budget: Budget,
        watch: Watch,
        pool: WorkerPool,
    ) -> None:
        self._judges = [_JudgeProgress(work, budget) for work in works]
        self._open_slots = [_WorkerSlot(assigned) for assigned in assignments]
        self._store = store
        self._budget = budget
        self._watch = watch
        self._pool = pool
        self._worker_numbers = count()
        self._done = asyncio.Event()
        self._idle_since = time.monotonic()
        self._at_work: dict[int, _PoolWorker] = {}
        self._nodes: set[str] = set()
        self._most_at_work = 0
        self._lost = 0
        self._dropped = 0

    def outcomes(self, *, interrupted: bool) -> list[Outcome]:
        """Return the outcome of each judge."""
        engine = Engine("ray", len(self._nodes), self._most_at_work, self._lost, self._dropped)
        return [Outcome(judge.progress, interrupted, judge.last_loss, self._budget.exhausted, engine=engine) for judge in self._judges]

    async def run(self) -> None:
        """Return when every call is settled. Raises StoreError when the store cannot be written.

        Raises JudgeError when no worker can go on, and for a judge that was stopped, after the others have been asked.
        """
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._keep_filled(slot)) for slot in self._open_slots]
            await self._done.wait()
            for task in tasks:
                task.cancel()
        failures = [judge.failure for judge in self._judges if judge.failure is not None]
        if failures:
            raise failures[0]

    # ---- workers come and go

    async def _keep_filled(self, slot: _WorkerSlot) -> None:
        """Keep a worker in the slot, until too many of them have failed."""
        reason = ""
        while slot.failures < MAX_FAILURES:
            worker = _PoolWorker(next(self._worker_numbers), slot, self._pool.start_worker(slot.assignments))
            try:
                await self._open(worker)
                await self._work_with(worker)
            except WorkerLost as err:
                reason = str(err)
                slot.failures += 1
                self._lost += 1
                self._at_work.pop(worker.number, None)
                self._idle_since = time.monotonic()
                for index in slot.assignments:  # its calls are for others
                    judge = self._judges[index]
                    judge.lose(worker.number)
                    if judge.failure is not None:
                        self._give_up(judge, judge.leases.stop())
                self._check_done()
            finally:  # also when the run is over or interrupted
                # End a worker; if it is still at work, receive what it has finished.
                if self._at_work.pop(worker.number, None):
                    with suppress(WorkerLost, ExchangeLost, TimeoutError):
                        async with asyncio.timeout(END_SECONDS):
                            exchange = await worker.handle.end(worker.received)
                        self._receive(worker, exchange)
                worker.handle.kill()
        # Give up a slot. Raises JudgeError when that leaves calls without a worker to ask them.
        self._open_slots.remove(slot)
        for index, judge in enumerate(self._judges):
            if not judge.leases.finished and not any(index in other.assignments for other in self._open_slots):
                raise JudgeError(
                    f"no worker of the Ray cluster is left to ask {judge.work.judge.identity.name}: {reason}. Every node needs "
                    "judge-harness and what the judges need (docs/running.md). Then run the same command again: all answers so far are kept"
                )

    async def _open(self, worker: _PoolWorker) -> None:
        worker.node = await self._node_of(worker)
        ready = await _once(worker.handle.open)
        problem, local_version = ready.problem, version("judge-harness")
        if ready.version != local_version:  # then the worker may ask other questions than this machine
            problem = f"judge-harness {ready.version} is installed there, {local_version} here; install the same version"
        if problem:
            message = f"on node {worker.node}: {problem} (every node needs what the judges need: docs/running.md)"
            if any(judge.progress.done for judge in self._judges):
                raise WorkerLost(message)
            raise JudgeError(message)
        worker.update_wanted(ready.wanted_calls)
        self._at_work[worker.number] = worker
        self._nodes.add(worker.node)
        self._most_at_work = max(self._most_at_work, len(self._at_work))

    async def _node_of(self, worker: _PoolWorker) -> str:
        """Wait for the worker's node. Raises JudgeError when there is no worker at all for too long."""
        node = asyncio.ensure_future(_once(worker.handle.node))
        try:
            while not (await asyncio.wait([node], timeout=1.0))[0]:
                if self._at_work:
                    self._idle_since = time.monotonic()
                elif time.monotonic() - self._idle_since > PLACEMENT_SECONDS:
                    raise JudgeError(
                        f"the Ray cluster has had no room for a worker for {PLACEMENT_SECONDS:.0f} s: each needs one free CPU. "
                        "Free one or add a node ('ray status' shows what uses them), then run the same command again"
                    )
                for judge in self._judges if not self._at_work else ():
                    judge.progress.waiting_for = "room on the Ray cluster"
                    self._watch(judge.work, judge.progress)
            return node.result()
        finally:
            node.cancel()

    # ---- calls

    async def _work_with(self, worker: _PoolWorker) -> None:
        """Exchange calls for finished calls, again and again, until the run is over."""
        for number in count(1):
            if self._budget.late:
                for judge in self._judges:
                    self._give_up(judge, judge.leases.drop_returned())
            exhausted = self._budget.exhausted
            calls = [
                (position, lease.call, lease.tokens)
                for position, (index, wanted) in enumerate(worker.wanted_calls.items())
                for lease in self._judges[index].leases.lease(worker.number, wanted)
            ]
            self._check_done()
            exchange = await _exchange(worker, number, pack_calls(calls), exhausted)
            self._receive(worker, exchange)
            for position, problem in exchange.problems.items():
                self._stop(worker, list(worker.slot.assignments)[position], problem)
            worker.update_wanted([status.wanted_calls for status in exchange.statuses])

    def _check_done(self) -> None:
        if all(judge.leases.finished for judge in self._judges):
            self._done.set()

    def _receive(self, worker: _PoolWorker, exchange: Exchange) -> None:
        worker.received = exchange.first + len(exchange.finished)
        # Finished calls with their leases, by index of the work. Calls that were settled before are dropped.
        by_judge: dict[int, list[tuple[Lease, FinishedCall]]] = {index: [] for index in worker.slot.assignments}
        for call in exchange.finished:
            for index, finished in by_judge.items():
                if lease := self._judges[index].leases.settle(call.call_id):
                    finished.append((lease, call))
                    break
            else:
                self._dropped += 1
        problems = (list(worker.slot.assignments)[position] for position in exchange.problems)
        refused = {  # judges that refused everything from this worker but answer other workers
            index for index in problems if index not in worker.answered and self._judges[index].progress.done
        }
        for (index, finished), status in zip(by_judge.items(), exchange.statuses, strict=True):
            judge = self._judges[index]
            if index in refused:  # calls without a reply stay open, for other workers
                for lease, call in finished:
                    if call.reply is None:
                        judge.leases.reopen(lease, worker.number)
                finished = [(lease, call) for lease, call in finished if call.reply is not None]
            attempts = [Attempt(lease.call, reply, loss) for lease, call in finished for reply, loss in call.attempts]
            if attempts:
                self._store.put_attempts(attempts, judge.work.judge.identity)
            for lease, call in finished:
                self._count(judge, lease, call.attempts)
                if call.reply is not None:
                    worker.answered.add(index)
                    worker.slot.failures = 0
            judge.update(worker.number, status)
            self._watch(judge.work, judge.progress)
        self._check_done()

    def _give_up(self, judge: _JudgeProgress, leases: Sequence[Lease]) -> None:
        """Count settled calls that are not asked any more."""
        for lease in leases:
            self._count(judge, lease, ())

    def _count(self, judge: _JudgeProgress, lease: Lease, attempts: Sequence[AttemptResult]) -> None:
        """Count a settled call."""
        replies = [reply for reply, _ in attempts if reply is not None]
        self._budget.settle(lease.reserved, sum(charged(judge.work, lease.call, answer) for answer in replies))
        judge.progress.count(judge.work, lease.call, replies[-1] if replies else None)

    def _stop(self, worker: _PoolWorker, index: int, problem: str) -> None:
        """Stop a judge that would refuse every worker. Raises WorkerLost if it answers others and has never answered this one."""
        judge = self._judges[index]
        if judge.failure is not None:
            return
        if index not in worker.answered and judge.progress.done:
            raise WorkerLost(f"on node {worker.node}: {problem}")
        judge.failure = JudgeError(problem)
        self._give_up(judge, judge.leases.stop())
        if len(self._judges) > 1:
            judge.progress.notes.append(f"stopped: {problem}")
        self._watch(judge.work, judge.progress)
        self._check_done()


async def _once(request: Callable[[], Awaitable[T]]) -> T:
    """Await a request that cannot be repeated: a lost answer is a lost worker."""
    try:
        return await request()
    except ExchangeLost as err:
        raise WorkerLost(str(err)) from None


async def _exchange(worker: _PoolWorker, number: int, calls: bytes, exhausted: str) -> Exchange:
    """Make one exchange, and repeat it if it was lost. Raises WorkerLost when the worker has died or is silent for too long."""
    deadline = time.monotonic() + SILENT_SECONDS
    while (remaining := deadline - time.monotonic()) > 0:
        try:
            async with asyncio.timeout(remaining):  # asyncio.wait_for may swallow a cancellation before Python 3.12
                return await worker.handle.exchange(number, worker.received, calls, exhausted)
        except TimeoutError:
            break
        except ExchangeLost:
            await asyncio.sleep(_REPEAT_SECONDS)
    raise WorkerLost(f"a worker on node {worker.node} gave no sign of life for {SILENT_SECONDS:.0f} s")


LOCAL = "local"
_REACH_SECONDS = 5.0
_CPUS = 1  # of each actor. Asking an endpoint needs little CPU, but nodes without CPUs are not meant for work


def ask_all(works: Sequence[JudgeWork], store: Store, settings: Settings, watch: Watch = lambda work, progress: None) -> list[Outcome]:
    """Ask the calls of all judges from a Ray cluster, and store the replies.

    Ctrl-C ends it cleanly: all replies that were received are kept. Raises JudgeError when the cluster or a judge cannot be used,
    StoreError when the store cannot be written.
    """
    with _connected(settings.ray_address or "auto"):
        assigned = assign_judges(works, settings, settings.ray_actors or len(_nodes()))
        driver = Driver(works, assigned, store, budget_of(settings), watch, _ActorPool(works))
        interrupted = run_loop(run_side_by_side([driver.run()]))
        return driver.outcomes(interrupted=interrupted)


@contextmanager
def _connected(address: str) -> Iterator[None]:
    """Connect to the cluster within the block; a connection that exists already is used and stays.

    Ray prints messages about nodes and workers to standard output, where the report goes; they are dropped.
    """
    import ray

    with open(os.devnull, "w", encoding="utf-8") as null, redirect_stdout(null):
        if ray.is_initialized():
            yield
            return
        _connect(address)
        try:
            yield
        finally:
            ray.shutdown()


def _connect(address: str) -> None:
    """Connect to the cluster. Raises UsageError for an invalid address, JudgeError when no cluster answers there."""
    import ray

    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == LOCAL:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send no usage statistics
        options["include_dashboard"] = False
    else:
        if address == "auto":
            address = os.environ.get("RAY_ADDRESS", "").strip() or address
        if address != "auto":
            _refuse_unreachable(address)
    try:
        ray.init(address=address, **options)
    except (Exception, SystemExit) as err:  # Ray raises errors of many kinds, and exits where a cluster does not answer
        raise JudgeError(f"no Ray cluster can be used at '{address}' ({_message(err)}). {_ADVICE}") from None


_ADVICE = (
    "Run the command on a node of the cluster, with --ray-address auto or the HOST:PORT that 'ray start --head' printed; "
    "or start a cluster for this run alone with --ray-address local"
)


def _refuse_unreachable(address: str) -> None:
    """Try the address first, because Ray waits two minutes for an address where nothing listens."""
    if "://" in address:
        raise UsageError(
            f"'{address}' needs the Ray client, which this engine does not use; run the command on a node of the cluster with "
            "--ray-address auto, or with the HOST:PORT of its head node"
        )
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError(f"'{address}' is not an address of a Ray cluster; it should be auto, local, or HOST:PORT such as 10.0.0.1:6379")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH_SECONDS).close()
    except OSError as err:
        raise JudgeError(f"no Ray cluster answers at '{address}' ({err.strerror or err}). {_ADVICE}") from None


def _nodes() -> list[Any]:
    """The nodes that can run an actor. Raises JudgeError when there are none."""
    import ray

    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= _CPUS]
    if not nodes:
        raise JudgeError("the Ray cluster has no node with a CPU; add one with 'ray start --address HOST:PORT'")
    return nodes


class _ActorPool:
    """Starts actors, spread over the nodes. Training data are put into the cluster once, if any judge learns."""

    def __init__(self, works: Sequence[JudgeWork]) -> None:
        import ray

        self._ask_again = [work.ask_again for work in works]
        training = training_data(works)
        self._training = None if training is None else ray.put(msgspec.structs.replace(training))
        self._remote = ray.remote(Actor)

    def start_worker(self, assignments: Mapping[int, Assignment]) -> _ActorHandle:
        ask_again = [self._ask_again[index] for index in assignments]
        options = {"num_cpus": _CPUS, "scheduling_strategy": "SPREAD", "max_restarts": 0, "max_task_retries": 0}
        return _ActorHandle(self._remote.options(**options).remote(list(assignments.values()), ask_again, self._training))


class Actor(Worker):
    """A worker that knows its node."""

    async def node(self) -> str:
        import ray

        return f"{ray.util.get_node_ip_address()} ({ray.get_runtime_context().get_node_id()[:8]})"


class _ActorHandle:
    def __init__(self, actor: Any) -> None:
        self._actor = actor

    async def node(self) -> str:
        node: str = await _result(self._actor.node.remote())
        return node

    async def open(self) -> WorkerReady:
        ready: WorkerReady = await _result(self._actor.open.remote())
        return ready

    async def exchange(self, number: int, received: int, calls: bytes, exhausted: str) -> Exchange:
        return msgspec.msgpack.decode(await _result(self._actor.exchange.remote(number, received, calls, exhausted)), type=Exchange)

    async def end(self, received: int) -> Exchange:
        return msgspec.msgpack.decode(await _result(self._actor.end.remote(received)), type=Exchange)

    def kill(self) -> None:
        import ray

        with suppress(ray.exceptions.RayError):  # it is dead already
            ray.kill(self._actor)


async def _result(request: Awaitable[Any]) -> Any:
    """Await a request to an actor. Raises WorkerLost when the actor has died, ExchangeLost when that is unknown."""
    from ray.exceptions import ActorDiedError, RayError, RayTaskError

    try:
        return await request
    except RayTaskError:  # the worker itself raised it: a bug, which has to be seen
        raise
    except ActorDiedError as err:
        raise WorkerLost(_message(err)) from None
    except RayError as err:
        raise ExchangeLost(_message(err)) from None


def _message(err: BaseException) -> str:
    """One line of Ray's message, which may fill pages: the error that the actor raised, or the first line."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(err)).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b: ", line)]
    because = [line for line in lines if line.startswith("The actor is dead because")]
    line = (raised[-1:] or because or lines or [type(err).__name__])[0]
    return Redactor(environment_secrets(os.environ)).quote(line.partition(". ")[0].rstrip("."))
