"""The engine `ray`: the plan is asked by actors of a Ray cluster. The only module that knows Ray, which is imported when it is needed."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

import msgspec

from harness.engines.budget import Budget
from harness.engines.cluster.charges import charges, training
from harness.engines.cluster.driver import Driver
from harness.engines.cluster.turns import Charge, Gone, Opened, Turn, Unheard
from harness.engines.cluster.worker import Worker
from harness.engines.local import Watch
from harness.engines.together import together
from harness.engines.work import Cluster, Outcome, Settings, Work
from harness.errors import JudgeError, UsageError
from harness.store import Store

LOCAL = "local"
_REACH_SECONDS = 5.0
_CPUS = 1  # of each actor: what asks an endpoint needs little, but a cluster's nodes without CPUs are not meant for work


def ask_all(works: Sequence[Work], store: Store, settings: Settings, watch: Watch = lambda work, progress: None) -> list[Outcome]:
    """Ask the calls of all judges from a Ray cluster, and keep what comes back.

    Ctrl-C ends it cleanly: replies that were received are kept. Raises JudgeError when the cluster or a judge cannot be used, StoreError
    when the store cannot be written.
    """
    with _connected(settings.cluster):
        seats = charges(works, settings, settings.cluster.actors or len(_nodes()))
        driver = Driver(works, seats, store, Budget(settings.limits), watch, _Actors(works))
        interrupted = asyncio.run(_run(driver))
        return driver.outcomes(interrupted=interrupted)


async def _run(driver: Driver) -> bool:
    return await together([driver.run()])


@contextmanager
def _connected(cluster: Cluster) -> Iterator[None]:
    """A connection to the cluster, for the block; one that is there already is used and left.

    Ray prints what it has to say of nodes and workers on the standard output, which is the report's.
    """
    import ray

    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        if ray.is_initialized():
            yield
            return
        _connect(cluster.address)
        try:
            yield
        finally:
            ray.shutdown()


def _connect(address: str) -> None:
    """Raises UsageError for what cannot be an address, JudgeError when no cluster answers there."""
    import ray

    wanted: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == LOCAL:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told that it was used
        wanted["include_dashboard"] = False
    else:
        if address == "auto":
            address = os.environ.get("RAY_ADDRESS", "").strip() or address
        _check_reachable(address)
    try:
        ray.init(address=address, **wanted)
    except (Exception, SystemExit) as err:  # Ray raises bare errors of many kinds, and exits where a cluster does not answer it
        raise JudgeError(f"no Ray cluster can be used at '{address}' ({_said(err)}). {_ADVICE}") from None


_ADVICE = (
    "Run the command on a node of the cluster, with --ray-address auto or the HOST:PORT that 'ray start --head' said when it started one; "
    "or let it start one of its own with --ray-address local"
)


def _check_reachable(address: str) -> None:
    """Ray itself waits two minutes for an address where nobody listens."""
    if address == "auto":
        return
    if "://" in address:
        raise UsageError(
            f"'{address}' goes through the Ray client, which this engine does not use; run the command on a node of the cluster with "
            "--ray-address auto, or with the HOST:PORT of its head node"
        )
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError(f"'{address}' is no address of a Ray cluster; it should be auto, local, or HOST:PORT such as 10.0.0.1:6379")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH_SECONDS).close()
    except OSError as err:
        raise JudgeError(f"no Ray cluster answers at '{address}' ({err.strerror or err}). {_ADVICE}") from None


def _nodes() -> list[Any]:
    """The nodes that are there for work. Raises JudgeError where there are none."""
    import ray

    found = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= _CPUS]
    if not found:
        raise JudgeError("the Ray cluster has no node with a CPU to work with; add one with 'ray start --address HOST:PORT'")
    return found


class _Actors:
    """Hires actors, spread over the nodes. Data that judges learn from are put into the cluster once, if any judge does."""

    def __init__(self, works: Sequence[Work]) -> None:
        import ray

        self._ask_again = [work.ask_again for work in works]
        learnt = training(works)
        self._training = None if learnt is None else ray.put(msgspec.structs.replace(learnt))
        self._remote = ray.remote(Actor)

    def hire(self, charges: Mapping[int, Charge]) -> _Hand:
        again = [self._ask_again[place] for place in charges]
        options = {"num_cpus": _CPUS, "scheduling_strategy": "SPREAD", "max_restarts": 0, "max_task_retries": 0}
        return _Hand(self._remote.options(**options).remote(list(charges.values()), again, self._training))


class Actor(Worker):
    """A worker that can say where it is."""

    async def place(self) -> str:
        import ray

        return f"{ray.util.get_node_ip_address()} ({ray.get_runtime_context().get_node_id()[:8]})"


class _Hand:
    """An actor as the driver sees it."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    async def place(self) -> str:
        found: str = await _told(self._actor.place.remote())
        return found

    async def open(self) -> Opened:
        found: Opened = await _told(self._actor.open.remote())
        return found

    async def turn(self, number: int, seen: int, calls: bytes, over: str) -> Turn:
        return msgspec.msgpack.decode(await _told(self._actor.turn.remote(number, seen, calls, over)), type=Turn)

    async def end(self, seen: int) -> Turn:
        return msgspec.msgpack.decode(await _told(self._actor.end.remote(seen)), type=Turn)

    def kill(self) -> None:
        import ray

        with suppress(ray.exceptions.RayError):  # it was dead already
            ray.kill(self._actor)


async def _told(answer: Awaitable[Any]) -> Any:
    from ray.exceptions import ActorDiedError, RayError, RayTaskError

    try:
        return await answer
    except RayTaskError:  # what it raised itself is a bug, and shown as one
        raise
    except ActorDiedError as err:
        raise Gone(_said(err)) from None
    except RayError as err:
        raise Unheard(_said(err)) from None


def _said(err: BaseException) -> str:
    """One line of what Ray says, whose messages are pages: the error that was raised there, or the beginning."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(err)).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b: ", line)]
    because = [line for line in lines if line.startswith("The actor is dead because")]
    line = (raised[-1:] or because or lines or [type(err).__name__])[0]
    return line.partition(". ")[0].rstrip(".")[:300]
