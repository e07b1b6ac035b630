"""The reply writer: attempts that arrive together share a commit, and no call goes out before it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import pytest

from harness.engines.reply_writer import ReplyWriter
from harness.errors import StoreError
from harness.model import Call, JudgeIdentity, Reply
from harness.store import Attempt, Store

REPLY = Reply(text="{}", model="m", form="text")


class Commits:
    """Stands in for a store: keeps the call ids of each commit, or fails."""

    def __init__(self, *, broken: bool = False) -> None:
        self.made: list[list[str]] = []
        self._broken = broken

    def put_attempts(self, attempts: Sequence[Attempt], identity: JudgeIdentity) -> None:
        if self._broken:
            raise StoreError("the disk is full")
        self.made.append([attempt.call.call_id for attempt in attempts])


def writer_to(store: Commits) -> ReplyWriter:
    return ReplyWriter(cast(Store, store), JudgeIdentity("openai", "m", {}))


def test_attempts_of_one_pass_share_a_commit(some_calls: Callable[..., Sequence[Call]]) -> None:
    store = Commits()

    async def main() -> None:
        writer = writer_to(store)
        await asyncio.gather(*(writer.write(call, REPLY) for call in some_calls("a", "b")))

    asyncio.run(main())
    assert store.made == [["a", "b"]]


def test_what_is_pending_is_committed_before_a_call_goes_out(some_calls: Callable[..., Sequence[Call]]) -> None:
    """A free permit is taken at once, in the same pass of the loop in which a reply came."""
    store = Commits()

    async def main() -> None:
        writer = writer_to(store)
        [call] = some_calls("a")
        written = writer.write(call, REPLY)
        writer.check()
        assert store.made == [["a"]]
        await written

    asyncio.run(main())
    assert store.made == [["a"]]


def test_a_request_that_waits_for_the_commit_goes_out_before_the_reply_is_read(some_calls: Callable[..., Sequence[Call]]) -> None:
    order = []

    async def read(written: Awaitable[None]) -> None:
        await written
        order.append("read")

    async def send(writer: ReplyWriter) -> None:
        writer.check()
        asyncio.get_running_loop().call_soon(order.append, "sent")  # a transport may write in the next pass only

    async def main() -> None:
        writer = writer_to(Commits())
        [call] = some_calls("a")
        await asyncio.gather(read(writer.write(call, REPLY)), send(writer))

    asyncio.run(main())
    assert order == ["sent", "read"]


def test_a_failed_commit_is_raised_to_who_waits_and_stops_further_calls(some_calls: Callable[..., Sequence[Call]]) -> None:
    async def main(store: Commits) -> Any:
        writer = writer_to(store)
        [call] = some_calls("a")
        with pytest.raises(StoreError, match="the disk is full"):
            await writer.write(call, REPLY)
        with pytest.raises(StoreError, match="the disk is full"):
            writer.check()

    asyncio.run(main(Commits(broken=True)))
