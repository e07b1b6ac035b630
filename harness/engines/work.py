"""The input and output of an engine: the calls of a judge, and the outcome of asking."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from harness.judges import Judge, JudgeOptions
from harness.model import Call, Reply, Usage

Number = TypeVar("Number", int, float)


class CallSequence(Protocol):
    """Calls in the order of asking. They are streamed: each iteration makes them again, and they are never all in memory."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Call]: ...

    def ids(self) -> Iterator[str]:
        """Their call ids, in order."""

    def without(self, answered: Sequence[bool]) -> CallSequence:
        """The calls that are not answered; `answered` has one entry for each call, in order."""


def with_ids(calls: CallSequence, call_ids: Container[str]) -> CallSequence:
    """The calls with these ids."""
    return calls.without([call_id not in call_ids for call_id in calls.ids()])


class JudgeOpening(msgspec.Struct, frozen=True):
    """The arguments that a judge was opened with, so that the same judge can be opened on another machine."""

    name: str
    options: JudgeOptions


class JudgeWork(msgspec.Struct, frozen=True):
    """The calls that one judge has to answer.

    `answered_before`: the judge has answered calls of this run in earlier commands. `unreadable` counts the metrics of a reply without a
    score. `ask_again` says whether a call has to be asked again after this reply. `tokens` estimates the tokens of a call (prompt and
    answer), and `cost` is the price of tokens in US dollars. `answered_call` gives a call that the judge has answered before, if any.
    """

    judge: Judge
    calls: CallSequence
    answered_before: bool = False
    unreadable: Callable[[Call, Reply], int] = lambda call, reply: 0
    ask_again: Callable[[Call, Reply], bool] = lambda call, reply: False
    tokens: Callable[[Call], Usage] = lambda call: Usage()
    cost: Callable[[Usage], float] = lambda usage: 0.0
    answered_call: Callable[[], Call | None] = lambda: None
    since: float | None = None  # replies received before this time (seconds since 1970) do not count
    run: str = ""  # the run's name; batches are recorded under it
    opening: JudgeOpening | None = None  # for engines that ask from other machines; `ask_again` travels there too


def charged(work: JudgeWork, call: Call, reply: Reply) -> float:
    """The cost of a reply in US dollars. Tokens that the provider does not report are estimated."""
    usage = reply.usage
    unreported = {"prompt_tokens"} if not usage.prompt_tokens else set()
    unreported |= {"completion_tokens"} if reply.text and not usage.completion_tokens else set()
    if unreported and reply.error is None:
        estimated = work.tokens(call)
        usage = msgspec.structs.replace(usage, **{name: getattr(estimated, name) for name in unreported})
    return work.cost(usage)


def for_judge(values: Mapping[str, Number], judge: str) -> Number | None:
    """The value for one judge."""
    return values.get(judge, values.get(""))


class Progress(msgspec.Struct):
    """Counts of a judge's calls while they are asked. `lost` are calls given up after their last attempt.

    `batches` counts a provider's open batches by state, `done_at_provider` the calls in them that the provider has finished. `notes` are
    sentences for the user; `wait_told`: one of them is about a long wait.
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
    done_at_provider: int = 0
    notes: list[str] = []
    wait_told: bool = False

    def count(self, work: JudgeWork, call: Call, reply: Reply | None) -> None:
        """Count a call that is asked no more, with the reply that counts; None: it was given up."""
        if reply is None:
            self.lost += 1
        else:
            self.done += 1
            self.unreadable += work.unreadable(call, reply) > 0


class Engine(msgspec.Struct, frozen=True, omit_defaults=True):
    """The engine, for run.json. For a cluster: its nodes, the most actors at work, actors that were lost, and replies that came twice."""

    name: str
    nodes: int | None = None
    actors: int | None = None
    lost: int | None = None
    dropped: int | None = None


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of asking one judge. `last_loss` says why the last lost call has no reply.

    `batches` gives the last state of each batch; `under_way` counts the calls that are still with the provider.
    """

    progress: Progress
    interrupted: bool = False
    last_loss: str | None = None
    stopped: str = ""  # the budget that ended it
    batches: dict[str, str] = {}
    under_way: int = 0
    engine: Engine = Engine("local")
