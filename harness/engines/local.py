"""The local engine: asyncio workers ask one judge's calls, and every reply is in the store before its slot is freed."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from harness.errors import HarnessError, JudgeError
from harness.judges.base import Judge, NoReply
from harness.model import Call, Reply
from harness.store import Attempt, Store

MAX_ATTEMPTS = 5
MAX_WAIT_SECONDS = 60.0
_FIRST_WAIT_SECONDS = 0.5


class Progress(msgspec.Struct):
    """Counts of a judge's calls while they are asked. `lost` are calls given up after their last attempt."""

    total: int
    done: int = 0
    unreadable: int = 0
    lost: int = 0
    retries: int = 0
    waiting_for: str = ""


class Outcome(msgspec.Struct, frozen=True):
    """How asking ended: whether it was interrupted, and why the last given-up call had no reply."""

    progress: Progress
    interrupted: bool
    last_loss: str | None


def ask_all(
    judge: Judge,
    calls: Sequence[Call],
    store: Store,
    *,
    concurrency: int | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    readable: Callable[[Call, Reply], bool] = lambda call, reply: True,
) -> Outcome:
    """Ask `calls` and keep what comes back.

    Ctrl-C ends it cleanly: replies that were received are kept. Raises JudgeError when the judge cannot be used at all, StoreError when
    the store cannot be written.
    """
    return asyncio.run(_Session(judge, calls, store, on_progress, readable).run(concurrency or judge.concurrency))


class _Session:
    def __init__(
        self,
        judge: Judge,
        calls: Sequence[Call],
        store: Store,
        on_progress: Callable[[Progress], None],
        readable: Callable[[Call, Reply], bool],
    ) -> None:
        self._judge = judge
        self._calls = iter(calls)
        self._store = store
        self._on_progress = on_progress
        self._readable = readable
        self._wanted = calls
        self._progress = Progress(total=len(calls))
        self._pending: list[Attempt] = []
        self._flushed: asyncio.Future[None] | None = None
        self._last_loss: str | None = None

    async def run(self, concurrency: int) -> Outcome:
        loop = asyncio.get_running_loop()
        main = asyncio.ensure_future(self._work(concurrency))
        with suppress(NotImplementedError, RuntimeError, ValueError):  # no handlers on Windows or outside the main thread
            loop.add_signal_handler(signal.SIGINT, main.cancel)
            loop.add_signal_handler(signal.SIGTERM, main.cancel)
        try:
            await main
            interrupted = False
        except asyncio.CancelledError:
            interrupted = True
        finally:
            self._flush()
        return Outcome(self._progress, interrupted, self._last_loss)

    async def _work(self, concurrency: int) -> None:
        await self._judge.start(self._wanted)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(self._wanted))):
                    group.create_task(self._worker())
        except BaseExceptionGroup as errors:  # not `except*`, which wraps what it raises in a group again in early releases of 3.11
            ours = errors.subgroup(HarnessError)
            if ours is None:
                raise
            raise ours.exceptions[0] from None
        finally:
            await self._judge.stop()

    async def _worker(self) -> None:
        for call in self._calls:
            reply = await self._ask(call)
            if reply is None:
                self._progress.lost += 1
            else:
                self._progress.done += 1
                self._progress.unreadable += not self._readable(call, reply)
            self._on_progress(self._progress)

    async def _ask(self, call: Call) -> Reply | None:
        """Ask until something comes back, at most MAX_ATTEMPTS times; waits double, with full jitter, unless the endpoint names one."""
        for attempt in range(MAX_ATTEMPTS):
            try:
                reply = await self._judge.answer(call)
            except NoReply as err:
                await self._keep(call, None, str(err))
                self._last_loss = str(err)
                if attempt + 1 == MAX_ATTEMPTS:
                    break
                self._progress.retries += 1
                self._progress.waiting_for = str(err)
                self._on_progress(self._progress)
                backoff = random.uniform(0.5, 1) * _FIRST_WAIT_SECONDS * 2**attempt
                await asyncio.sleep(min(err.retry_after if err.retry_after is not None else backoff, MAX_WAIT_SECONDS))
            else:
                self._progress.waiting_for = ""
                await self._keep(call, reply, None)
                return reply
        if not self._progress.done:
            raise JudgeError(
                f"{self._judge.identity.name}: {self._last_loss} ({MAX_ATTEMPTS} times). Is the endpoint up, and is the base URL right?"
            )
        return None

    async def _keep(self, call: Call, reply: Reply | None, lost: str | None) -> None:
        """Hand an attempt to the store and wait until it is committed; what arrives in one pass of the loop shares a commit."""
        self._pending.append(Attempt(call, reply, lost))
        if self._flushed is None:
            loop = asyncio.get_running_loop()
            self._flushed = loop.create_future()
            loop.call_soon(self._flush)
        await asyncio.shield(self._flushed)

    def _flush(self) -> None:
        waiting, self._flushed = self._flushed, None
        pending, self._pending = self._pending, []
        try:
            if pending:
                self._store.put_attempts(pending, self._judge.identity)
        except Exception as err:  # whatever it is, those who wait for the commit must hear of it
            if waiting is None or waiting.done():
                raise
            waiting.set_exception(err)
        else:
            if waiting is not None and not waiting.done():
                waiting.set_result(None)
