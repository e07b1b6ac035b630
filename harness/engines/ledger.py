"""What is received goes into the store before anything else happens: attempts that arrive in one pass of the loop share a commit."""

from __future__ import annotations

import asyncio

from harness.model import Call, JudgeIdentity, Reply
from harness.store import Attempt, Store


class Ledger:
    """The attempts of one judge on their way into the store."""

    def __init__(self, store: Store, identity: JudgeIdentity) -> None:
        self._store = store
        self._identity = identity
        self._pending: list[Attempt] = []
        self._committed: asyncio.Future[None] | None = None

    async def keep(self, call: Call, reply: Reply | None, lost: str | None = None) -> None:
        """Return once the attempt is committed. Raises StoreError when it cannot be."""
        self._pending.append(Attempt(call, reply, lost))
        if self._committed is None:
            loop = asyncio.get_running_loop()
            self._committed = loop.create_future()
            loop.call_soon(self.commit)
        await asyncio.shield(self._committed)

    def commit(self) -> None:
        """Commit what is pending now, and tell those who wait for it."""
        waiting, self._committed = self._committed, None
        pending, self._pending = self._pending, []
        try:
            if pending:
                self._store.put_attempts(pending, self._identity)
        except Exception as err:  # whatever it is, those who wait for the commit must hear of it
            if waiting is None or waiting.done():
                raise
            waiting.set_exception(err)
        else:
            if waiting is not None and not waiting.done():
                waiting.set_result(None)
