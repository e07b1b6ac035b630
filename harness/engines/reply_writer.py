"""Writes replies to the store in groups: all that one pass of the event loop received are one commit, so that a kill loses none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from functools import cached_property

from harness.model import Call, JudgeIdentity, Reply
from harness.store import Attempt, Store


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
