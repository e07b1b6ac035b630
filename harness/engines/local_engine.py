"""The local engine: asyncio on this machine. Every reply is in the store before the next call takes its place."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from harness.asking_options import Settings
from harness.engines.budget import Budget, budget_of
from harness.engines.concurrency import Closed, Permit, RateLimiter
from harness.engines.judge_sessions import run_together
from harness.engines.reply_writer import ReplySink, ReplyWriter
from harness.engines.retries import (
    FIRST_ATTEMPTS,
    MAX_ATTEMPTS,
    MAX_REFUSALS,
    CircuitBreaker,
    RetryPolicy,
    backoff,
    refused_wait,
    tell_wait,
)
from harness.engines.work import JudgeWork, Outcome, Progress, charged, for_judge
from harness.errors import EndpointRefusal, FatalReply, JudgeError
from harness.judges.judge_protocol import NoReply, UnexplainedRefusal, rate_limit_status_of
from harness.model import Call, Reply
from harness.store import Store

MAX_REASKS = 3
_CALLS_PER_PERMIT = 2  # calls that were begun, for each call that may be in flight: some of them wait before their next attempt
_STORED_TOGETHER = 128  # calls: a longer commit would delay replies that arrive meanwhile
_MOST_WORDINGS = 100  # of refusals that are remembered
_DIGITS = re.compile(r"\w*\d\w*")  # of numbers and ids, in which refusals for one reason differ
_REFILLS_PER_LIMIT = 4  # calls begin a quarter of the limit at a time: to wake the session for each of them would cost more

Watch = Callable[[JudgeWork, Progress], None]


def ask_all(works: Sequence[JudgeWork], store: Store, settings: Settings, watch: Watch = lambda work, progress: None) -> list[Outcome]:
    """Ask the calls of all judges at once and store the replies. Judges share nothing but the budget.

    Ctrl-C ends it cleanly: all replies that were received are kept. Raises JudgeError when a judge cannot be used, after the others have
    been asked; raises StoreError when the store cannot be written, which ends everything.
    """
    budget = budget_of(settings)
    return run_together([CallSession(work, ReplyWriter(store, work.judge.identity), settings, budget, watch) for work in works])


class CallSession:
    """Asks one judge's calls, each from its first attempt to its answer, and gives every attempt to the writer.

    `failure` is the error that stopped the judge, if any. From then on nothing more goes out, and calls in flight are awaited.
    """

    def __init__(self, work: JudgeWork, writer: ReplySink, settings: Settings, budget: Budget, watch: Watch) -> None:
        self._work = work
        self._judge = work.judge
        name = self._judge.identity.name
        self._writer = writer
        self._rate_limiter = RateLimiter(
            for_judge(settings.concurrency, name) or self._judge.concurrency, for_judge(settings.rpm, name), for_judge(settings.tpm, name)
        )
        self._max_attempts = settings.attempts or MAX_ATTEMPTS
        self._budget = budget
        self._breaker = CircuitBreaker()
        self._watch = watch
        self._progress = Progress(total=len(work.calls))
        self._last_loss: str | None = None
        self._refusals = 0  # by the endpoint, since its last reply
        self._answered_call: Call | None = None
        self._about_texts: set[str] = set()  # wordings of refusals that turned out to be about the text of a call
        self._begun = 0
        self._call_ended: asyncio.Event = asyncio.Event()
        self._ended: asyncio.Event = asyncio.Event()
        self.failure: JudgeError | None = None

    def outcome(self, *, interrupted: bool) -> Outcome:
        return Outcome(self._progress, interrupted, self._last_loss, self._budget.exhausted)

    @property
    def free_places(self) -> int:
        """Return the number of calls that may begin: enough that no permit stays unused."""
        return 0 if self._ended.is_set() else _CALLS_PER_PERMIT * self._rate_limiter.concurrency.limit - self._begun

    def begin(self, call: Call, tokens: int, reserved: float = 0.0) -> Coroutine[Any, Any, None]:
        """Return a coroutine that asks one call. The call counts as begun from this moment."""
        self._begun += 1
        return self._ask(call, tokens, reserved)

    def end(self) -> None:
        """Send nothing more, and end every wait. Calls in flight are awaited."""
        self._ended.set()
        self._rate_limiter.close()
        self._call_ended.set()

    def note(self, text: str) -> None:
        """Show a sentence to the user."""
        self._progress.notes.append(text)
        self._watch(self._work, self._progress)

    async def run(self) -> None:
        """Ask all calls. Raises the judge's `failure`, if any, after all calls in flight have ended."""
        if not self._progress.total:
            return
        await self._judge.start(self._work.calls)
        seconds = self._budget.seconds_left
        timer = None if seconds is None else asyncio.get_running_loop().call_later(seconds, self._end_if_out_of_time)
        try:
            async with asyncio.TaskGroup() as group:
                for call in self._stored_calls():
                    estimated = self._work.tokens(call)
                    cost = self._work.cost(estimated)
                    while self.free_places <= 0 and not self._ended.is_set():
                        self._call_ended.clear()
                        await self._call_ended.wait()
                    if self._ended.is_set() or not self._budget.take(cost):
                        break
                    group.create_task(self.begin(call, estimated.prompt_tokens + estimated.completion_tokens, cost))
        finally:
            if timer is not None:
                timer.cancel()
            self._writer.commit()
            await self._judge.stop()
        if self.failure is not None:
            raise self.failure

    def _end_if_out_of_time(self) -> None:
        if self._budget.out_of_time:
            self.end()

    def _stored_calls(self) -> Iterator[Call]:
        """The calls to ask. They are stored a block at a time: one commit of many calls costs less than one for each reply."""
        remaining = iter(self._work.calls)
        while block := list(islice(remaining, _STORED_TOGETHER)):
            self._writer.put_calls(block)
            yield from block

    async def _ask(self, call: Call, tokens: int, reserved: float) -> None:
        """Ask a call until it has a reply that counts. There are several if refused calls are asked again; then the last one counts."""
        replies: list[Reply] = []
        try:
            for round_number in range(MAX_REASKS + 1):
                if round_number:
                    self._progress.reasked += 1
                reply = await self._first_reply(call, tokens)
                if reply is not None:
                    replies.append(reply)
                if not replies or not self._work.ask_again(call, replies[-1]) or self._budget.late or self._ended.is_set():
                    break
        finally:
            self._begun -= 1
            if self.free_places >= self._rate_limiter.concurrency.limit // _REFILLS_PER_LIMIT:
                self._call_ended.set()
            self._budget.settle(reserved, sum(charged(self._work, call, reply) for reply in replies))
        self._progress.count(self._work, call, replies[-1] if replies else None)
        self._watch(self._work, self._progress)

    async def _first_reply(self, call: Call, tokens: int) -> Reply | None:
        """Make attempts until a reply comes. None when the call is given up or nothing more goes out."""
        policy = RetryPolicy(self._max_attempts)
        while True:
            try:
                permit = await self._rate_limiter.acquire(tokens)
            except Closed:
                return None
            self._writer.check()
            self._progress.most_in_flight = max(self._progress.most_in_flight, self._rate_limiter.in_flight)
            start = time.perf_counter()
            try:
                reply = await self._judge.answer(call)
            except NoReply as err:
                await self._writer.write(call, None, str(err))
                if err.busy:
                    self._rate_limiter.concurrency.reduce(permit.generation)
                if refused := refused_wait(self._judge.identity.name, str(err), err.retry_after):
                    self._stop(refused)
                elif err.retry_after is not None:
                    self._rate_limiter.pause(err.retry_after)
                renewed_in = self._rate_limiter.release(permit, status=rate_limit_status_of(self._judge))
                if refused:
                    return None
                tell_wait(self._progress, str(err), max(renewed_in, err.retry_after or 0.0))
                if not await self._wait_after(err, policy):
                    return None
            except EndpointRefusal as err:
                if isinstance(err, UnexplainedRefusal) and await self._is_about_text(err, again=policy.failures > 0):
                    written = self._writer.write(call, err.reply)
                    self._count_reply(permit, err.reply, time.perf_counter() - start)
                    await written
                    return err.reply
                await self._writer.write(call, None, err.reason)
                most_waits = 1 if self._progress.done else FIRST_ATTEMPTS - 1
                waits = isinstance(err, UnexplainedRefusal) and policy.failures < most_waits
                if not waits:
                    # The endpoint refused a call for a reason that is not the item's: the call is lost. Repeated refusals stop the judge.
                    self._last_loss = err.reason
                    self._refusals += 1
                    if not (self._progress.done or self._work.answered_before):
                        self._stop(err)
                    elif self._refusals >= MAX_REFUSALS:
                        self._stop(repeated_refusal(err, self._refusals))
                self._rate_limiter.release(permit, status=rate_limit_status_of(self._judge))
                if not waits:
                    return None
                policy.record_failure(counts=True)
                self._progress.retries += 1
                await self._sleep(backoff(policy.failures))  # other calls may be answered meanwhile
            except JudgeError as err:
                self._stop(err)
                self._rate_limiter.release(permit)
                return None
            else:
                if reply.text:
                    self._answered_call = call
                written = self._writer.write(call, reply)  # committed before the call that gets the permit now goes out
                self._count_reply(permit, reply, time.perf_counter() - start)
                await written
                return reply

    def _count_reply(self, permit: Permit, reply: Reply, seconds: float) -> None:
        if self._breaker.is_open:
            self._rate_limiter.probe(False)
        self._breaker.record_reply()
        self._refusals = 0
        self._progress.waiting_for = ""
        used_tokens = reply.usage.prompt_tokens + reply.usage.completion_tokens
        status = rate_limit_status_of(self._judge)
        renewed_in = self._rate_limiter.release(permit, seconds=seconds, used_tokens=used_tokens or None, status=status)
        tell_wait(self._progress, f"{self._judge.identity.name} reports that its limit is used up", renewed_in)

    async def _is_about_text(self, err: UnexplainedRefusal, *, again: bool) -> bool:
        """Return True if a refusal without a known reason is about the text of its call.

        It is if it comes again although the endpoint still answers another call that it has answered. That call is asked once for each
        wording of a refusal; its second answer is not stored.
        """
        wording = _DIGITS.sub("", err.reason)
        if wording in self._about_texts:
            return True
        answered = (self._answered_call or self._work.answered_call()) if again else None
        if answered is None:
            return False
        try:
            reply = await self._judge.answer(answered)
        except (NoReply, EndpointRefusal):
            return False
        self._budget.settle(0.0, charged(self._work, answered, reply))
        if len(self._about_texts) < _MOST_WORDINGS:
            self._about_texts.add(wording)
        return True

    def _stop(self, failure: JudgeError) -> None:
        """Ask this judge nothing more."""
        self.failure = self.failure or failure
        self._last_loss = str(failure)
        self.end()

    async def _wait_after(self, err: NoReply, policy: RetryPolicy) -> bool:
        """Wait after a failed attempt. Returns whether to make another one."""
        self._progress.waiting_for = str(err)
        if not self._progress.lost:  # once a call was given up, its reason matters more
            self._last_loss = str(err)
        self._breaker.record_loss(down=err.down)
        waits_for_endpoint = self._breaker.is_open and bool(self._progress.done)
        policy.record_failure(counts=not waits_for_endpoint)
        if self._budget.late or self._breaker.given_up or not policy.allows_another(first=not self._progress.done):
            # Leave a call without an answer. If the judge has never answered, it is stopped: then the problem is not this call.
            self._last_loss = str(err)
            if not self._progress.done and not self._budget.exhausted:
                self._stop(
                    JudgeError(
                        f"{self._judge.identity.name}: {err} ({policy.failures} times). Is the endpoint up, and is the base URL right?"
                    )
                )
            return False
        self._progress.retries += 1
        self._watch(self._work, self._progress)
        if waits_for_endpoint:
            self._rate_limiter.probe(True)
            self._rate_limiter.pause(self._breaker.next_probe())
        elif err.retry_after is None:
            await self._sleep(backoff(policy.failures))
        return True

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()


def repeated_refusal(refusal: EndpointRefusal, count: int) -> FatalReply:
    """The error that stops a judge whose endpoint refuses one call after the other."""
    return FatalReply(f"{refusal.reason} ({count} refusals one after the other). {refusal.advice}. All answers so far are kept")
