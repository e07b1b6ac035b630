"""What an engine is given and gives back: the calls of one judge, how to ask them, and how it went."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import msgspec

from harness.engines.budget import Limits
from harness.judges import Judge, JudgeOptions
from harness.model import Call, Reply, Usage

Number = TypeVar("Number", int, float)


class Calls(Protocol):
    """Calls in the order in which they are asked; made anew each time that they are gone through, never all held."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Call]: ...

    def ids(self) -> Iterator[str]:
        """Their call ids, in order."""

    def without(self, answered: Sequence[bool]) -> Calls:
        """Those that are not `answered`, which says it of each in order."""


def only(calls: Calls, wanted: Container[str]) -> Calls:
    """Those whose ids are wanted."""
    return calls.without([call_id not in wanted for call_id in calls.ids()])


class Opening(msgspec.Struct, frozen=True):
    """What a judge was opened by, so that the same one can be opened elsewhere."""

    name: str
    options: JudgeOptions


class Work(msgspec.Struct, frozen=True):
    """The calls that one judge has to answer.

    `unreadable` counts the metrics of a reply that hold no score, `ask_again` says whether the reply is not the last word, `tokens`
    estimates what a call takes (prompt, answer) and `cost` prices what was counted in US dollars.
    """

    judge: Judge
    calls: Calls
    unreadable: Callable[[Call, Reply], int] = lambda call, reply: 0
    ask_again: Callable[[Call, Reply], bool] = lambda call, reply: False
    tokens: Callable[[Call], Usage] = lambda call: Usage()
    cost: Callable[[Usage], float] = lambda usage: 0.0
    run: str = ""  # whose work it is; providers' batches are noted under its name
    opening: Opening | None = None  # for engines that ask from elsewhere, to which `ask_again` travels, too


class Cluster(msgspec.Struct, frozen=True):
    """The Ray cluster that the engine `ray` asks from: `auto`, `HOST:PORT`, or `local` for one of its own. No `actors`: one a node."""

    address: str = "auto"
    actors: int | None = None


class Settings(msgspec.Struct, frozen=True):
    """How judges are asked: nothing here moves a number. None: found out, or no limit.

    `rpm` and `tpm` (requests and tokens a minute) and `concurrency` (calls in flight) are by judge, the empty name standing for every
    other one; `attempts` are tries of one call, `timeout` seconds for each; `prices` is a user's own table. Batches are submitted and
    waited for, submitted only (`detach`), or fetched only (`collect`).
    """

    engine: str = "local"
    batches: Literal["wait", "detach", "collect"] = "wait"
    cluster: Cluster = Cluster()
    concurrency: dict[str, int] = {}
    rpm: dict[str, float] = {}
    tpm: dict[str, float] = {}
    attempts: int | None = None
    timeout: float | None = None
    limits: Limits = Limits()
    prices: Path | None = None


def for_judge(values: dict[str, Number], judge: str) -> Number | None:
    """What holds for one judge."""
    return values.get(judge, values.get(""))


class Progress(msgspec.Struct):
    """Counts of a judge's calls while they are asked. `lost` are calls given up after their last attempt.

    `batches` counts a provider's open batches by state, `there` the calls in them that the provider is done with; `notes` are sentences
    for whoever looks on.
    """

    total: int
    done: int = 0
    unreadable: int = 0
    lost: int = 0
    retries: int = 0
    reasked: int = 0
    most_in_flight: int = 0
    waiting_for: str = ""
    batches: dict[str, int] = {}
    there: int = 0
    notes: list[str] = []


class Engine(msgspec.Struct, frozen=True, omit_defaults=True):
    """What asked, for run.json. Of a cluster: its nodes and actors at work at most, actors that were lost, calls that came twice."""

    name: str
    nodes: int | None = None
    actors: int | None = None
    lost: int | None = None
    dropped: int | None = None


class Outcome(msgspec.Struct, frozen=True):
    """How asking one judge ended: whether it was interrupted, and why the last given-up call had no reply.

    `batches` are those that were waited for with their last state, `under_way` counts the calls that are still with the provider.
    """

    progress: Progress
    interrupted: bool = False
    last_loss: str | None = None
    stopped: str = ""  # which budget ended it
    batches: dict[str, str] = {}
    under_way: int = 0
    engine: Engine = Engine("local")
