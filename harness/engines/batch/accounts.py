"""The state of every call of a judge that is asked by batches: with the provider, answered, given up, or to be asked again."""

from __future__ import annotations

from collections import Counter

from harness.engines.budget import Budget
from harness.engines.local import MAX_REASKS
from harness.engines.retry import FIRST_ATTEMPTS, MAX_ATTEMPTS
from harness.engines.work import JudgeWork, Progress, charged
from harness.errors import JudgeError
from harness.model import Call, Reply


class CallAccounts:
    """Counts, costs and attempts of one judge's calls. A call's cost is reserved from its first submission until it is settled."""

    def __init__(self, work: JudgeWork, budget: Budget, attempts: int | None) -> None:
        self.progress = Progress(total=len(work.calls))
        self.to_ask_again: set[str] = set()
        self._given_up: str | None = None
        self._work = work
        self._budget = budget
        self._max_attempts = attempts or MAX_ATTEMPTS
        self._attempts: Counter[str] = Counter()
        self._reasked: Counter[str] = Counter()
        self._exhausted = False
        self._last_reason = ""

    def take(self, call: Call) -> bool:
        """Whether a call may go out: a call that is asked again may, any other if the budget allows it."""
        return call.call_id in self.to_ask_again or self._budget.take(self._reserved(call))

    def hold(self, call: Call) -> None:
        """Count a call that went out before this command began."""
        self._budget.hold(self._reserved(call))

    def record_reply(self, call: Call, reply: Reply) -> None:
        """Count a reply; if the call has to be asked again, it stays open."""
        cost = charged(self._work, call, reply)
        asked_again = self._work.ask_again(call, reply) and self._reasked[call.call_id] < MAX_REASKS
        if asked_again and not self._budget.late:
            self._reasked[call.call_id] += 1
            self.progress.reasked += 1
            self.to_ask_again.add(call.call_id)
            self._budget.settle(0.0, cost)
            return
        self._budget.settle(self._reserved(call), cost)
        self.progress.count(self._work, call, reply)

    def record_stored(self, call: Call) -> None:
        """Count a call whose reply was already in the store."""
        self._budget.settle(self._reserved(call), 0.0)
        self.progress.done += 1

    def ask_differently(self, call: Call) -> None:
        """Ask the call again: it was refused for a parameter or answer format that is now left out."""
        self.to_ask_again.add(call.call_id)

    def record_loss(self, call: Call, reason: str) -> None:
        """Count an attempt without a reply; after the last one the call is given up."""
        self._last_reason = reason
        self._attempts[call.call_id] += 1
        if self._attempts[call.call_id] < (self._max_attempts if self.progress.done else min(self._max_attempts, FIRST_ATTEMPTS)):
            self.progress.retries += 1
            self.to_ask_again.add(call.call_id)
        else:
            self._exhausted = True
            self.give_up(call, reason)

    @property
    def last_loss(self) -> str | None:
        """Why a call has no answer: the last one that was given up, else the last one that waits to be asked again."""
        return self._given_up or (self._last_reason if self.to_ask_again else None)

    def check(self) -> None:
        """Raises JudgeError when calls were given up and nothing was ever answered: then the problem is not these calls."""
        if self._exhausted and not self.progress.done:
            raise JudgeError(f"{self._work.judge.identity.name}: {self._last_reason}; no call was answered")

    def give_up(self, call: Call, reason: str) -> None:
        """Leave a call without a reply."""
        self._given_up = reason
        self.progress.lost += 1
        self._budget.settle(self._reserved(call), 0.0)

    def _reserved(self, call: Call) -> float:
        return self._work.cost(self._work.tokens(call))
