"""The local engine: asyncio on this machine. Every reply is in the store before the next call goes out in its place."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from harness.engines.budget import Budget
from harness.engines.ledger import Keeper, Ledger
from harness.engines.pace import Pace, Slot
from harness.engines.retry import MAX_ATTEMPTS, Breaker, Tries, backoff
from harness.engines.together import run_together
from harness.engines.work import Outcome, Progress, Settings, Work, for_judge
from harness.errors import JudgeError
from harness.judges.allowance import Allowance
from harness.judges.base import NoReply
from harness.model import Call, Reply
from harness.store import Store

MAX_REASKS = 3
_WAITING_PER_SLOT = 2  # calls under way, those that wait to be asked again included

Watch = Callable[[Work, Progress], None]


def ask_all(works: Sequence[Work], store: Store, settings: Settings, watch: Watch = lambda work, progress: None) -> list[Outcome]:
    """Ask the calls of all judges at once, which share nothing but the budget, and keep what comes back.

    Ctrl-C ends it cleanly: replies that were received are kept. Raises JudgeError when a judge cannot be used at all, StoreError when
    the store cannot be written; the other judges' calls are ended then, too.
    """
    budget = Budget(settings.limits)
    return run_together([Session(work, Ledger(store, work.judge.identity), settings, budget, watch) for work in works])


class Session:
    """One judge's calls on their way, each from its first attempt to its answer. Attempts go into the ledger."""

    def __init__(self, work: Work, ledger: Keeper, settings: Settings, budget: Budget, watch: Watch) -> None:
        self._work = work
        self._judge = work.judge
        name = self._judge.identity.name
        self._ledger = ledger
        self._pace = Pace(
            for_judge(settings.concurrency, name) or self._judge.concurrency, for_judge(settings.rpm, name), for_judge(settings.tpm, name)
        )
        self._attempts = settings.attempts or MAX_ATTEMPTS
        self._budget = budget
        self._breaker = Breaker()
        self._watch = watch
        self._progress = Progress(total=len(work.calls))
        self._last_loss: str | None = None
        self._under_way = 0
        self._room: asyncio.Event = asyncio.Event()

    def outcome(self, *, interrupted: bool) -> Outcome:
        return Outcome(self._progress, interrupted, self._last_loss, self._budget.exhausted)

    @property
    def room(self) -> int:
        """How many more calls may be begun: enough that none of the slots waits for one."""
        return _WAITING_PER_SLOT * self._pace.limit.limit - self._under_way

    def begin(self, call: Call, tokens: int, reserved: float = 0.0) -> Coroutine[Any, Any, None]:
        """What asks one call, to be awaited; it counts as under way from now on."""
        self._under_way += 1
        return self._call(call, tokens, reserved)

    async def run(self) -> None:
        if not self._progress.total:
            return
        await self._judge.start(self._work.calls)
        try:
            async with asyncio.TaskGroup() as group:
                await self._dispatch(group)
        finally:
            self._ledger.commit()
            await self._judge.stop()

    async def _dispatch(self, group: asyncio.TaskGroup) -> None:
        """Start a call whenever there is room for one more."""
        for call in self._work.calls:
            estimated = self._work.tokens(call)
            cost = self._work.cost(estimated)
            while self.room <= 0:
                self._room.clear()
                await self._room.wait()
            if not self._budget.take(cost):
                break
            group.create_task(self.begin(call, estimated.prompt_tokens + estimated.completion_tokens, cost))

    async def _call(self, call: Call, tokens: int, reserved: float) -> None:
        """One call from its first attempt to its answer, or to being given up."""
        reply = None
        try:
            reply = await self._answer(call, tokens)
        finally:
            self._under_way -= 1
            self._room.set()
            self._budget.settle(reserved, self._work.cost(reply.usage) if reply else 0.0)
        if reply is None:
            self._progress.lost += 1
        else:
            self._progress.done += 1
            self._progress.unreadable += self._work.unreadable(call, reply) > 0
        self._watch(self._work, self._progress)

    async def _answer(self, call: Call, tokens: int) -> Reply | None:
        """The reply that counts: the last, where refused calls are asked again."""
        reply = await self._attempt(call, tokens)
        for _ in range(MAX_REASKS):
            if reply is None or not self._work.ask_again(call, reply) or self._budget.late:
                break
            self._progress.reasked += 1
            reply = await self._attempt(call, tokens) or reply
        return reply

    async def _attempt(self, call: Call, tokens: int) -> Reply | None:
        """Ask until something comes back; None when the call is given up. Any other error ends the session, so its slot is not given on."""
        tries = Tries(self._attempts)
        while True:
            slot = await self._pace.slot(tokens)
            self._ledger.check()
            self._progress.most_in_flight = max(self._progress.most_in_flight, self._pace.in_flight)
            began = time.perf_counter()
            try:
                reply = await self._judge.answer(call)
            except NoReply as err:
                await self._ledger.keep(call, None, str(err))
                if err.busy:
                    self._pace.limit.too_much(slot.era)
                if err.retry_after is not None:
                    self._pace.pause(min(err.retry_after, 3600.0))
                self._pace.leave(slot, allowance=self._allowance)
                if not await self._wait_after(err, tries):
                    return None
            else:
                kept = self._ledger.keep(call, reply)  # it is committed before whoever is given the slot now goes on
                self._heard(slot, reply, time.perf_counter() - began)
                await kept
                return reply

    @property
    def _allowance(self) -> Allowance | None:
        """What the endpoint said last of how much it still takes; judges from elsewhere may not say."""
        found: Allowance | None = getattr(self._judge, "allowance", None)
        return found

    def _heard(self, slot: Slot, reply: Reply, seconds: float) -> None:
        if self._breaker.is_open:
            self._pace.probe(False)
        self._breaker.answered()
        self._progress.waiting_for = ""
        used = reply.usage.prompt_tokens + reply.usage.completion_tokens
        self._pace.leave(slot, seconds=seconds, used=used or None, allowance=self._allowance)

    async def _wait_after(self, err: NoReply, tries: Tries) -> bool:
        """After an attempt that brought nothing: wait, and say whether to ask again."""
        self._last_loss = self._progress.waiting_for = str(err)
        self._breaker.lost(down=err.down)
        down = self._breaker.is_open and bool(self._progress.done)
        tries.failed(waited_for=down)
        if self._budget.late or self._breaker.given_up or not tries.left(first=not self._progress.done):
            self._give_up(tries)
            return False
        self._progress.retries += 1
        self._watch(self._work, self._progress)
        if down:
            self._pace.probe(True)
            self._pace.pause(self._breaker.next_probe())
        elif err.retry_after is None:
            await asyncio.sleep(backoff(tries.count))
        return True

    def _give_up(self, tries: Tries) -> None:
        """Raises JudgeError where nothing was ever answered: then it is not about this call."""
        if not self._progress.done and not self._budget.exhausted:
            raise JudgeError(
                f"{self._judge.identity.name}: {self._last_loss} ({tries.count} times). Is the endpoint up, and is the base URL right?"
            )
