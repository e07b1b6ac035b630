"""Judges that are asked at once: each in a session of its own, ended together by Ctrl-C or by the first error."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Protocol

from harness.engines.work import Outcome
from harness.errors import HarnessError


class Session(Protocol):
    """One judge's calls on their way."""

    async def run(self) -> None: ...

    def outcome(self, *, interrupted: bool) -> Outcome: ...


def run_together(sessions: Sequence[Session]) -> list[Outcome]:
    """Run sessions to their end. Ctrl-C ends them cleanly; the first of our errors ends them, and is raised."""
    return asyncio.run(_run(sessions))


async def _run(sessions: Sequence[Session]) -> list[Outcome]:
    interrupted = await together([session.run() for session in sessions])
    return [session.outcome(interrupted=interrupted) for session in sessions]


async def together(jobs: Sequence[Coroutine[Any, Any, None]]) -> bool:
    """Do all of them side by side; whether they were interrupted by Ctrl-C. Raises the first of our errors, which ends the others."""
    loop = asyncio.get_running_loop()
    main = asyncio.ensure_future(_each(jobs))
    with suppress(NotImplementedError, RuntimeError, ValueError):  # no handlers on Windows or outside the main thread
        loop.add_signal_handler(signal.SIGINT, main.cancel)
        loop.add_signal_handler(signal.SIGTERM, main.cancel)
    try:
        await main
    except asyncio.CancelledError:
        return True
    return False


async def _each(jobs: Sequence[Coroutine[Any, Any, None]]) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(job)
    except BaseExceptionGroup as errors:  # not `except*`, which wraps what it raises in a group again in early releases of 3.11
        first: BaseException | None = errors.subgroup(HarnessError)
        if first is None:
            raise
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
