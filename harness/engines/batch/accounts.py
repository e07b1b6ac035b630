"""How each call of a judge that is asked by batches stands: under way, answered, given up, or to be asked again."""

from __future__ import annotations

from collections import Counter

from harness.engines.budget import Budget
from harness.engines.local import MAX_REASKS
from harness.engines.retry import FIRST_ATTEMPTS, MAX_ATTEMPTS
from harness.engines.work import Progress, Work
from harness.errors import JudgeError
from harness.model import Call, Reply


class Accounts:
    """Counts, money and tries of one judge's calls. A call's cost is reserved from when it goes out first until it is over."""

    def __init__(self, work: Work, budget: Budget, attempts: int | None) -> None:
        self.progress = Progress(total=len(work.calls))
        self.again: set[str] = set()
        self.last_loss: str | None = None
        self._work = work
        self._budget = budget
        self._most = attempts or MAX_ATTEMPTS
        self._tries: Counter[str] = Counter()
        self._reasked: Counter[str] = Counter()
        self._exhausted = False

    def take(self, call: Call) -> bool:
        """Whether a call may go out: one that is asked again may, any other if the budget has room for it."""
        return call.call_id in self.again or self._budget.take(self._reserved(call))

    def hold(self, call: Call) -> None:
        """A call that went out before this command began."""
        self._budget.hold(self._reserved(call))

    def answered(self, call: Call, reply: Reply) -> None:
        cost = self._work.cost(reply.usage)
        asked_again = self._work.ask_again(call, reply) and self._reasked[call.call_id] < MAX_REASKS
        if asked_again and not self._budget.late:
            self._reasked[call.call_id] += 1
            self.progress.reasked += 1
            self.again.add(call.call_id)
            self._budget.settle(0.0, cost)
            return
        self._budget.settle(self._reserved(call), cost)
        self.progress.done += 1
        self.progress.unreadable += self._work.unreadable(call, reply) > 0

    def answered_already(self, call: Call) -> None:
        """Its answer has come in another way and is in the store."""
        self._budget.settle(self._reserved(call), 0.0)
        self.progress.done += 1

    def taught(self, call: Call) -> None:
        """It was refused for how it was asked, so that it is asked in another way."""
        self.again.add(call.call_id)

    def lost(self, call: Call, reason: str) -> None:
        """Nothing came back."""
        self.last_loss = reason
        self._tries[call.call_id] += 1
        if self._tries[call.call_id] < (self._most if self.progress.done else min(self._most, FIRST_ATTEMPTS)):
            self.progress.retries += 1
            self.again.add(call.call_id)
        else:
            self._exhausted = True
            self.give_up(call, reason)

    def check(self) -> None:
        """Raises JudgeError when calls had their last try and nothing was ever answered: then it is not about these calls."""
        if self._exhausted and not self.progress.done:
            raise JudgeError(f"{self._work.judge.identity.name}: {self.last_loss}; no call was answered at all")

    def give_up(self, call: Call, reason: str) -> None:
        self.last_loss = reason
        self.progress.lost += 1
        self._budget.settle(self._reserved(call), 0.0)

    def _reserved(self, call: Call) -> float:
        return self._work.cost(self._work.tokens(call))
