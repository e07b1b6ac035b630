"""Running the sessions of several judges at the same time, also inside a program that already runs an event loop."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, Protocol, TypeVar

from harness.engines.work import Outcome
from harness.errors import HarnessError, JudgeError

T = TypeVar("T")
_COLLECT_AFTER = 20_000  # more objects than before


class JudgeSession(Protocol):
    """Asks the calls of one judge."""

    async def run(self) -> None: ...

    def note(self, text: str) -> None: ...

    def outcome(self, *, interrupted: bool) -> Outcome: ...


def run_together(sessions: Sequence[JudgeSession]) -> list[Outcome]:
    """Run sessions to their end. Ctrl-C ends them cleanly.

    A JudgeError ends only its own session and is raised after the others have ended. Any other error ends all sessions.
    """
    with _rare_garbage_collection():
        return run_loop(_run(sessions))


@contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    """Within the block, collect garbage rarely, and only among objects that are made within it.

    A collection delays all replies. What exists already (libraries, content, the plan) stays until the end, and calls leave little garbage
    that reference counting does not find.
    """
    before, frozen_before = gc.get_threshold(), _is_frozen_by_program()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not frozen_before:  # otherwise objects of the program around would be visited again, too
            gc.unfreeze()


@cache  # counting visits every object, and a program that freezes does so at its start
def _is_frozen_by_program() -> bool:
    return gc.get_freeze_count() > 0


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, like `asyncio.run`.

    If this thread already runs an event loop, as in a notebook, the coroutine runs in another thread, and this one waits for it. Ctrl-C
    then cancels `main`, as it would in the main thread.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(main)
    result: T = _LoopThread(main).run()
    return result


class _LoopThread:
    """A coroutine in its own event loop and thread."""

    def __init__(self, main: Coroutine[Any, Any, Any]) -> None:
        self._main = main
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancelled = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="harness")

    def run(self) -> Any:
        """Start the thread and wait for it. Returns the coroutine's result, or raises what the coroutine raises."""
        with _on_interrupt(self.cancel):
            self._thread.start()
            while self._thread.is_alive():
                try:
                    self._thread.join()
                except KeyboardInterrupt:  # raised by a handler of another program
                    self.cancel()
        if self._error is not None:
            raise self._error
        return self._result

    def _work(self) -> None:
        try:
            self._result = asyncio.run(self._begin())
        except BaseException as err:  # the waiting thread raises it
            self._error = err

    async def _begin(self) -> Any:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.ensure_future(self._main)
        if self._cancelled:
            self._task.cancel()
        return await self._task

    def cancel(self) -> None:
        self._cancelled = True
        if self._loop is not None and self._task is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._task.cancel)


@contextmanager
def _on_interrupt(action: Callable[[], None]) -> Iterator[None]:
    """Call `action` on Ctrl-C and on SIGTERM within the block. Has no effect outside the main thread, which alone gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: action()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


async def _run(sessions: Sequence[JudgeSession]) -> list[Outcome]:
    failures: list[JudgeError] = []
    jobs = [_run_alone(session, failures, only_one=len(sessions) == 1) for session in sessions]
    interrupted = await run_side_by_side(jobs)
    if failures and not interrupted:
        messages = list(dict.fromkeys(map(str, failures)))
        raise failures[0] if len(messages) == 1 else JudgeError("\n         ".join(messages))
    return [session.outcome(interrupted=interrupted) for session in sessions]


async def _run_alone(session: JudgeSession, failures: list[JudgeError], *, only_one: bool) -> None:
    """Run one session. If its judge cannot be used any more, only this session ends."""
    try:
        await session.run()
    except JudgeError as err:
        failures.append(err)
        if not only_one:
            session.note(f"stopped: {err}")


async def run_side_by_side(jobs: Sequence[Coroutine[Any, Any, None]]) -> bool:
    """Run all jobs at the same time. Returns whether Ctrl-C interrupted them. The first HarnessError ends all jobs and is raised."""
    main = asyncio.ensure_future(_run_all(jobs))
    with _cancelling_on_signals(main):
        try:
            await main
        except asyncio.CancelledError:
            return True
    return False


@contextmanager
def _cancelling_on_signals(main: asyncio.Future[None]) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM cancel `main` within the block, then restore the earlier handlers, which asyncio would not restore."""
    loop = asyncio.get_running_loop()
    before = {}
    with suppress(NotImplementedError, RuntimeError, ValueError):  # no handlers on Windows or outside the main thread
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            loop.add_signal_handler(number, main.cancel)
            before[number] = handler
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


async def _run_all(jobs: Sequence[Coroutine[Any, Any, None]]) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(job)
    except BaseExceptionGroup as errors:  # not `except*`: early releases of Python 3.11 wrap what it raises in a group again
        first: BaseException | None = errors.subgroup(HarnessError)
        if first is None:
            raise
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
