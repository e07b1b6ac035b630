"""What a driver and its workers say to each other.

A worker is spoken to in turns: each brings it calls and takes along what it has finished since. A turn may be said again when its answer
was lost on the way: calls that came before are not taken on twice, and what was finished is told until it is known to be received.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from harness.engines.work import Opening, Settings
from harness.model import Call, JudgeIdentity, Reply

Tried = tuple[Reply | None, str | None]  # of one attempt: its reply, or the reason why there is none


class Charge(msgspec.Struct, frozen=True):
    """One judge that a worker is to ask, opened as `opening` says but for its training, which travels apart.

    `settings` hold the worker's part of what the judge may be asked; `foremost` are the calls that a judge has to see to get ready.
    """

    identity: JudgeIdentity
    opening: Opening
    settings: Settings
    foremost: tuple[Call, ...] = ()


class Opened(msgspec.Struct, frozen=True):
    """How getting ready went: this program's version there, how many calls each judge would like to have, or what is wrong."""

    version: str
    wanted: list[int]
    problem: str = ""


class Finished(msgspec.Struct, frozen=True, array_like=True):
    """A call with everything that came of it, in order. The last reply counts; without one the call was given up."""

    call_id: str
    tried: list[Tried]

    @property
    def reply(self) -> Reply | None:
        """The reply that counts."""
        return next((reply for reply, _ in reversed(self.tried) if reply is not None), None)


class Standing(msgspec.Struct, frozen=True, array_like=True):
    """How one judge stands at one worker: how many more calls it would like to have, and counts since it was opened."""

    wanted: int
    retries: int
    reasked: int
    most_in_flight: int
    waiting_for: str
    last_loss: str | None


class Turn(msgspec.Struct, frozen=True, array_like=True):
    """A worker's side of a turn. `first` is the number of the first call in `finished`, counted since it was opened.

    `problem` says why the worker cannot go on, if so, and `troubled` with which of its judges.
    """

    first: int
    finished: list[Finished]
    standings: list[Standing]
    problem: str = ""
    troubled: int = 0


class Gone(Exception):
    """A worker is no more, or was given up: what it had not answered is to be asked by others. The text says why."""


class Unheard(Exception):
    """A turn was not heard, or its answer was lost; the worker may still be there."""


class Hand(Protocol):
    """A worker as its driver sees it. What is awaited raises Gone when the worker is no more, Unheard when that is open."""

    async def place(self) -> str:
        """Wait until it has a place to run; the node that it is on."""

    async def open(self) -> Opened:
        """Open and start its judges."""

    async def turn(self, number: int, seen: int, calls: bytes, over: str) -> Turn:
        """Bring it calls, and hear what was finished after the first `seen`. `over` says which budget is used up, if one is."""

    async def end(self, seen: int) -> Turn:
        """Let it ask nothing more, and hear what was finished after the first `seen`."""

    def kill(self) -> None:
        """End it in any case."""
