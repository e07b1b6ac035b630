"""Judges that are asked at once: each in a session of its own, ended together by Ctrl-C or by the first error."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from harness.engines.work import Outcome
from harness.errors import HarnessError


class Session(Protocol):
    """One judge's calls on their way."""

    async def run(self) -> None: ...

    def outcome(self, *, interrupted: bool) -> Outcome: ...


def run_together(sessions: Sequence[Session]) -> list[Outcome]:
    """Run sessions to their end. Ctrl-C ends them cleanly; the first of our errors ends them, and is raised."""
    return asyncio.run(_together(sessions))


async def _together(sessions: Sequence[Session]) -> list[Outcome]:
    loop = asyncio.get_running_loop()
    main = asyncio.ensure_future(_each(sessions))
    with suppress(NotImplementedError, RuntimeError, ValueError):  # no handlers on Windows or outside the main thread
        loop.add_signal_handler(signal.SIGINT, main.cancel)
        loop.add_signal_handler(signal.SIGTERM, main.cancel)
    try:
        await main
        interrupted = False
    except asyncio.CancelledError:
        interrupted = True
    return [session.outcome(interrupted=interrupted) for session in sessions]


async def _each(sessions: Sequence[Session]) -> None:
    """Raises the first of our errors; what else went wrong is ended by it."""
    try:
        async with asyncio.TaskGroup() as group:
            for session in sessions:
                group.create_task(session.run())
    except BaseExceptionGroup as errors:  # not `except*`, which wraps what it raises in a group again in early releases of 3.11
        first: BaseException | None = errors.subgroup(HarnessError)
        if first is None:
            raise
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
