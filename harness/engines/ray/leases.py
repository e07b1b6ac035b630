"""Leases: the calls of a judge that each worker holds. Each call is settled once, even if workers die."""

from __future__ import annotations

from collections import deque

import msgspec

from harness.engines.budget import Budget
from harness.engines.work import JudgeWork
from harness.model import Call


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
        """Whether every call was leased and settled."""
        return not (self._remaining or self._open)

    def lease(self, worker: int, count: int) -> list[Lease]:
        """Lease at most `count` calls to that worker: fewer where the plan or the budget ends."""
        leases: list[Lease] = []
        while len(leases) < count and (lease := self._next_returned() or self._next_planned()):
            self._open[lease.call.call_id] = lease
            self._worker_of[lease.call.call_id] = worker
            leases.append(lease)
        return leases

    def _next_returned(self) -> Lease | None:
        while self._returned:
            lease = self._open.get(self._returned.popleft())
            if lease is not None:  # None: it was settled in the meantime
                return lease
        return None

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
