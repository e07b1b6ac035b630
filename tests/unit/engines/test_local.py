"""The local engine: calls are stored before they are asked, and replies before the next call takes their place."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from harness.engines import JudgeWork, Settings
from harness.engines import local as engine
from harness.engines.local import ask_all
from harness.model import Call, JudgeIdentity, Reply
from harness.store import Store

REPLY = Reply(text="{}", model="m", form="text")


class StoreReader:
    """A judge that counts the stored calls and attempts whenever it is asked."""

    identity = JudgeIdentity("openai", "m")
    concurrency = 1

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stored: list[tuple[int, int]] = []

    async def start(self, calls: object) -> None: ...

    async def stop(self) -> None: ...

    async def answer(self, call: Call) -> Reply:
        with closing(sqlite3.connect(self.folder / "store.sqlite")) as db:
            assert db.execute("SELECT 1 FROM calls JOIN prompts USING (prompt_id) WHERE call_id = ?", (call.call_id,)).fetchone()
            [counts] = db.execute("SELECT (SELECT COUNT(*) FROM calls), (SELECT COUNT(*) FROM attempts)")
        self.stored.append(counts)
        return REPLY


def test_blocks_of_calls_are_stored_before_they_are_asked_and_each_reply_before_the_next_call(
    tmp_path: Path, make_work: Callable[..., JudgeWork], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_STORED_TOGETHER", 2)
    judge = StoreReader(tmp_path)
    work = replace(make_work(*"abcde"), judge=judge)
    with Store.writing(tmp_path) as store:
        ask_all([work], store, Settings())
        assert list(store.replies("abcde")) == [REPLY] * 5
    assert [attempts for _, attempts in judge.stored] == [0, 1, 2, 3, 4]
    assert all(calls in (2, 4, 5) and calls > attempts for calls, attempts in judge.stored)
