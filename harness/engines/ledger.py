"""What is received goes into the store before anything else happens: attempts that arrive in one pass of the loop share a commit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol

from harness.model import Call, JudgeIdentity, Reply
from harness.store import Attempt, Store


class Keeper(Protocol):
    """What a session gives its attempts to."""

    def keep(self, call: Call, reply: Reply | None, lost: str | None = None) -> Awaitable[None]:
        """Take an attempt, before whatever is woken later; await what this returns until the attempt is safe."""

    def check(self) -> None:
        """Raise what kept an earlier attempt from being safe: then nothing more is to be asked."""

    def commit(self) -> None:
        """Make all that was given safe now."""


class Ledger:
    """The attempts of one judge on their way into the store."""

    def __init__(self, store: Store, identity: JudgeIdentity) -> None:
        self._store = store
        self._identity = identity
        self._pending: list[Attempt] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._failed: Exception | None = None
        self._unheard: Exception | None = None

    def keep(self, call: Call, reply: Reply | None, lost: str | None = None) -> asyncio.Future[None]:
        """Commit the attempt in the next pass of the loop; awaiting raises StoreError when it cannot be."""
        loop = asyncio.get_running_loop()
        if not self._pending:
            loop.call_soon(self._commit)
        self._pending.append(Attempt(call, reply, lost))
        self._waiting.append(committed := loop.create_future())
        return committed

    def check(self) -> None:
        """Raises StoreError once a commit has failed."""
        if self._failed is not None:
            raise self._failed

    def commit(self) -> None:
        """Commit what is pending now. Raises StoreError for what could not be, if those who waited for it are gone."""
        self._commit()
        error, self._unheard = self._unheard, None
        if error is not None:
            raise error

    def _commit(self) -> None:
        """Commit what is pending, and tell those who wait for it; what goes wrong is kept if nobody does."""
        pending, self._pending = self._pending, []
        waiting, self._waiting = self._waiting, []
        if not pending:
            return
        error = None
        try:
            self._store.put_attempts(pending, self._identity)
        except Exception as err:  # whatever it is, those who wait for the commit must hear of it
            error = self._failed = err
        left = [future for future in waiting if not future.done()]
        if error is not None and not left:
            self._unheard = error
        for future in left:
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(None)
