"""Which calls of a judge are out with which worker: each is settled once, whatever becomes of the workers."""

from __future__ import annotations

from collections import deque

import msgspec

from harness.engines.budget import Budget
from harness.engines.work import Work
from harness.model import Call


class Out(msgspec.Struct, frozen=True):
    """A call that was handed out: the tokens that it takes, roughly, and the US dollars that are reserved for it."""

    call: Call
    tokens: int
    reserved: float


class Handout:
    """Hands out the calls of a judge in their order, those first that a worker could not finish. Holds only those that are out."""

    def __init__(self, work: Work, budget: Budget) -> None:
        self._work = work
        self._budget = budget
        self._calls = iter(work.calls)
        self._left = len(work.calls)
        self._open: dict[str, Out] = {}
        self._holders: dict[str, int] = {}  # worker by call
        self._back: deque[str] = deque()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to hand out, and nothing is out."""
        return not (self._left or self._open)

    def give(self, worker: int, count: int) -> list[Out]:
        """At most `count` calls for that worker: fewer where the plan or the budget ends."""
        given: list[Out] = []
        while len(given) < count and (out := self._returned() or self._next()):
            self._open[out.call.call_id] = out
            self._holders[out.call.call_id] = worker
            given.append(out)
        return given

    def _returned(self) -> Out | None:
        while self._back:
            out = self._open.get(self._back.popleft())
            if out is not None:  # or it was settled in the meantime
                return out
        return None

    def _next(self) -> Out | None:
        call = next(self._calls, None) if self._left else None
        if call is None:
            self._left = 0
            return None
        usage = self._work.tokens(call)
        cost = self._work.cost(usage)
        if not self._budget.take(cost):
            self._left = 0
            return None
        self._left -= 1
        return Out(call, usage.prompt_tokens + usage.completion_tokens, cost)

    def settle(self, call_id: str) -> Out | None:
        """A call is over. None where it was already, or was never handed out."""
        self._holders.pop(call_id, None)
        return self._open.pop(call_id, None)

    def put_back(self, worker: int) -> int:
        """What that worker has not finished is for others; how many calls that are."""
        mine = [call_id for call_id, holder in self._holders.items() if holder == worker]
        for call_id in mine:
            del self._holders[call_id]
        self._back.extend(mine)
        return len(mine)

    def give_up(self) -> list[Out]:
        """The budget is used up: what was put back is asked by nobody any more. Those calls, which are settled by that."""
        back, self._back = self._back, deque()
        return [out for call_id in back if (out := self.settle(call_id)) is not None]
