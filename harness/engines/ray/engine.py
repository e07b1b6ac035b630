"""Connecting to a Ray cluster and starting actors there. The only module that imports Ray, inside its functions."""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

import msgspec

from harness.asking import Settings
from harness.engines.budget import budget_of
from harness.engines.concurrent import run_loop, run_side_by_side
from harness.engines.local import Watch
from harness.engines.ray.driver import Driver
from harness.engines.ray.messages import Assignment, Exchange, ExchangeLost, WorkerLost, WorkerReady, assign_judges, training_data
from harness.engines.ray.worker import Worker
from harness.engines.work import JudgeWork, Outcome
from harness.errors import JudgeError, UsageError
from harness.redaction import Redactor, environment_secrets
from harness.store import Store

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
        _check_reachable(address)
    try:
        ray.init(address=address, **options)
    except (Exception, SystemExit) as err:  # Ray raises errors of many kinds, and exits where a cluster does not answer
        raise JudgeError(f"no Ray cluster can be used at '{address}' ({_message(err)}). {_ADVICE}") from None


_ADVICE = (
    "Run the command on a node of the cluster, with --ray-address auto or the HOST:PORT that 'ray start --head' printed; "
    "or start a cluster for this run alone with --ray-address local"
)


def _check_reachable(address: str) -> None:
    """Check the address first, because Ray waits two minutes for an address where nothing listens."""
    if address == "auto":
        return
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
