"""The local engine: asyncio on this machine. Every reply is in the store before the next call takes its place."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from statistics import median
from typing import Any

from harness.asking import Settings
from harness.engines.concurrent import run_together
from harness.engines.limits import (
    FIRST_ATTEMPTS,
    MAX_ATTEMPTS,
    MAX_REFUSALS,
    Budget,
    CircuitBreaker,
    RetryPolicy,
    backoff,
    budget_of,
    refused_wait,
    tell_wait,
)
from harness.engines.work import JudgeWork, Outcome, Progress, charged, for_judge
from harness.errors import EndpointRefusal, FatalReply, JudgeError
from harness.judges.base import NoReply, UnexplainedRefusal, rate_limit_status_of
from harness.judges.rate_limits import RateLimitStatus
from harness.model import Call, JudgeIdentity, Reply
from harness.store import Attempt, Store

FIRST_LIMIT = 8
MOST_IN_FLIGHT = 512
_SLOWER = 1.5  # times the best latency: beyond this, more calls in flight only wait for each other
_SLACK_SECONDS = 0.01


class AdaptiveConcurrency:
    """A limit of calls in flight. It grows while latency holds, and halves when the endpoint reports that it is overloaded.

    It doubles at first, and grows by 10 % at a time after latency has risen once. It is reviewed after each window of as many replies as
    the limit allows in flight.
    """

    def __init__(self, first: int = FIRST_LIMIT, most: int = MOST_IN_FLIGHT) -> None:
        self.limit = first
        self._most = most
        self._doubling = True
        self._window: list[float] = []
        self._best = float("inf")
        self._was_full = False
        self.generation = 0  # changes with each halving: calls that were in flight before say nothing about the present limit

    def record(self, seconds: float, *, full: bool) -> None:
        """A reply came after `seconds`. `full`: all permits were taken when its call went out."""
        self._window.append(seconds)
        self._was_full |= full
        if len(self._window) < self.limit:
            return
        latency, self._window = median(self._window), []
        self._best = min(self._best, latency)
        was_full, self._was_full = self._was_full, False
        if latency > self._best * _SLOWER + _SLACK_SECONDS:
            self._doubling = False
            if latency > 2 * self._best * _SLOWER:
                self.limit = max(1, self.limit * 9 // 10)
        elif was_full:
            grown = 2 * self.limit if self._doubling else self.limit + max(1, self.limit // 10)
            self.limit = min(grown, self._most)

    def reduce(self, generation: int) -> None:
        """The endpoint was overloaded by a call of that generation: halve the limit, once for all calls of the generation."""
        if generation == self.generation:
            self.limit = max(1, self.limit // 2)
            self.generation += 1
            self._doubling = False
            self._window = []


class FixedConcurrency:
    """A limit that the user or the judge has set. It never changes."""

    generation = 0

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def record(self, seconds: float, *, full: bool) -> None:
        """Changes nothing."""

    def reduce(self, generation: int) -> None:
        """Changes nothing."""


class Closed(Exception):
    """The rate limiter is closed: nothing more goes out."""


class Permit:
    """One attempt in flight. `full`: no permit was left after this one."""

    __slots__ = ("full", "generation", "tokens")

    def __init__(self, generation: int, tokens: int, full: bool) -> None:
        self.generation, self.tokens, self.full = generation, tokens, full


class RateLimiter:
    """Gives out the permits of one judge.

    Args:
        concurrency: calls in flight; None: adaptive.
        rpm: attempts a minute, evenly spread; None: no limit.
        tpm: tokens a minute, prompt and answer: estimated when a call goes out, corrected by the provider's counts. None: no limit.
    """

    def __init__(self, concurrency: int | None = None, rpm: float | None = None, tpm: float | None = None) -> None:
        self.concurrency = FixedConcurrency(concurrency) if concurrency else AdaptiveConcurrency()
        self._rpm, self._tpm = rpm, tpm
        self.in_flight = 0
        self._queue: deque[tuple[int, asyncio.Future[Permit]]] = deque()
        self._next = 0.0  # loop time of the next attempt that rpm, tpm and pauses allow
        self._timer: asyncio.TimerHandle | None = None
        self._timer_time = 0.0  # loop time at which the timer fires
        self._probing = False
        self._closed = False
        self._last_status: RateLimitStatus | None = None

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()  # looked up once: in Python 3.11 each lookup is a system call

    async def acquire(self, tokens: int = 0) -> Permit:
        """Wait for a permit for a call of about that many tokens. Raises Closed once the rate limiter is closed."""
        if self._closed:
            raise Closed
        if not self._queue and self._next <= self._loop.time() and self._has_permit():
            return self._grant(tokens)
        future: asyncio.Future[Permit] = self._loop.create_future()
        self._queue.append((tokens, future))
        self._serve()
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self.in_flight -= 1
            raise

    def release(
        self, permit: Permit, *, seconds: float | None = None, used_tokens: int | None = None, status: RateLimitStatus | None = None
    ) -> float:
        """Give a permit back, with what is known of its attempt: the seconds to its reply, its tokens, the rate limit status after it.

        Return the seconds until a limit that is used up is renewed; 0 without one.
        """
        wait = 0.0
        self.in_flight -= 1
        if seconds is not None:
            self.concurrency.record(seconds, full=permit.full)
        if used_tokens is not None and self._tpm:
            self._next += (used_tokens - permit.tokens) * 60 / self._tpm
        if status is not None and status is not self._last_status:
            # Pause until a rate limit that is used up is renewed. Its wait counts from the report, so each report pauses once.
            self._last_status = status
            if status.requests is not None and status.requests < 1:
                wait = status.requests_reset_in
            if status.tokens is not None and status.tokens < permit.tokens:
                wait = max(wait, status.tokens_reset_in)
            if wait:
                self.pause(wait)
        self._serve()
        return wait

    def pause(self, seconds: float) -> None:
        """Let nothing out for that time."""
        self._next = max(self._next, self._loop.time() + seconds)

    def close(self) -> None:
        """Give no further permits. Callers that wait for a permit get an error at once; permits in use stay valid."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        while self._queue:
            _, future = self._queue.popleft()
            if not future.done():
                future.set_exception(Closed)

    def probe(self, on: bool) -> None:
        """Let out one call at a time, while it is unknown whether the endpoint is there."""
        self._probing = on
        self._serve()

    def _serve(self) -> None:
        """Give permits to the first in the queue while there are any."""
        while self._queue and self._has_permit():
            tokens, future = self._queue[0]
            if future.done():  # cancelled while it waited
                self._queue.popleft()
                continue
            if self._next > self._loop.time():
                if self._timer_time != self._next:
                    if self._timer is not None:
                        self._timer.cancel()
                    self._timer_time = self._next
                    self._timer = self._loop.call_at(self._next, self._on_timer)
                return
            self._queue.popleft()
            future.set_result(self._grant(tokens))

    def _has_permit(self) -> bool:
        return self.in_flight < (1 if self._probing else self.concurrency.limit)

    def _grant(self, tokens: int) -> Permit:
        self.in_flight += 1
        if self._rpm or self._tpm:
            seconds = max(60 / self._rpm if self._rpm else 0.0, tokens * 60 / self._tpm if self._tpm else 0.0)
            self._next = max(self._next, self._loop.time()) + seconds
        return Permit(self.concurrency.generation, tokens, self.in_flight >= self.concurrency.limit)

    def _on_timer(self) -> None:
        self._timer_time = 0.0
        self._serve()


class ReplySink:
    """Takes the calls and the attempts of a session. One that stores nothing only writes."""

    def put_calls(self, calls: Sequence[Call]) -> None:
        """Take calls that will be asked soon."""

    def write(self, call: Call, reply: Reply | None, loss: str | None = None) -> Awaitable[None]:
        """Take an attempt at once; `loss` is the reason why there is no reply. Await the result until the attempt is safe."""
        raise NotImplementedError

    def check(self) -> None:
        """Make all earlier attempts safe, and raise the error that prevented it for any of them. Called before each call goes out."""

    def commit(self) -> None:
        """Make all attempts safe now."""


class ReplyWriter(ReplySink):
    """Writes the attempts of one judge to the store."""

    def __init__(self, store: Store, identity: JudgeIdentity) -> None:
        self._store = store
        self._identity = identity
        self._pending: list[Attempt] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._error: Exception | None = None
        self._unreported: Exception | None = None  # an error that nobody was waiting for

    def put_calls(self, calls: Sequence[Call]) -> None:
        """Commit calls that will be asked soon, with their prompts. Raises StoreError."""
        self._store.put_calls(calls, self._identity)

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()  # looked up once: in Python 3.11 each lookup is a system call

    def write(self, call: Call, reply: Reply | None, loss: str | None = None) -> asyncio.Future[None]:
        """Commit the attempt in the next pass of the loop. Awaiting the result raises StoreError if the commit failed."""
        if not self._pending:
            self._loop.call_soon(self._commit)
        self._pending.append(Attempt(call, reply, loss))
        self._waiting.append(committed := self._loop.create_future())
        return committed

    def check(self) -> None:
        """Commit what is pending, so that a kill after the next call goes out loses no reply. Raises StoreError once a commit failed."""
        self._commit()
        if self._error is not None:
            raise self._error

    def commit(self) -> None:
        """Commit what is pending now. Raises StoreError for a failed commit that was not reported to anybody."""
        self._commit()
        error, self._unreported = self._unreported, None
        if error is not None:
            raise error

    def _commit(self) -> None:
        """Commit what is pending, and tell those who wait; if nobody waits, an error is kept for `commit`.

        Those who wait for a good commit are told in the next pass of the loop: requests that wait for the commit, too, go out first.
        """
        pending, self._pending = self._pending, []
        waiting, self._waiting = self._waiting, []
        if not pending:
            return
        error = None
        try:
            self._store.put_attempts(pending, self._identity)
        except Exception as err:  # any error must reach those who wait for the commit
            error = self._error = err
        open_futures = [future for future in waiting if not future.done()]
        if error is None:
            self._loop.call_soon(_resolve, open_futures)
        elif open_futures:
            for future in open_futures:
                future.set_exception(error)
        else:
            self._unreported = error


def _resolve(futures: Sequence[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)


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
