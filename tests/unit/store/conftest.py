"""Stores by hand: attempts in few words, a clock that can be set, and rows read past the program."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.model import Call, JudgeIdentity, Reply, Usage
from harness.prompts.templates import prompt_hash
from harness.store import Attempt, Store

JUDGE = JudgeIdentity("openai", "one", {"endpoint": "host"})


@pytest.fixture(scope="session")
def said() -> Callable[[str], Reply]:
    """A reply with this text."""
    return lambda text: Reply(text, "one-2024", "json_schema", "stop", None, None, Usage(7, 3, 5), 0.25)


@pytest.fixture
def put(make_call: Callable[..., Call]) -> Callable[..., None]:
    """Write attempts `(call id or call, reply, why it was lost)` in one transaction, of the judge openai/one unless told otherwise."""

    def write(store: Store, *attempts: tuple[str | Call, Reply | None, str | None], judge: JudgeIdentity = JUDGE) -> None:
        prompt_id = prompt_hash((), {"type": "object"})
        calls = ((make_call(call, prompt_id=prompt_id) if isinstance(call, str) else call, *rest) for call, *rest in attempts)
        store.put_attempts([Attempt(*attempt) for attempt in calls], judge)

    return write


@pytest.fixture
def rows() -> Callable[..., list[Any]]:
    """Rows of a query on a results folder's store, read (or changed) past the program; a single column comes without its tuple."""

    def read(folder: Path, query: str, *parameters: object) -> list[Any]:
        with closing(sqlite3.connect(folder / "store.sqlite")) as db, db:
            found = db.execute(query, parameters).fetchall()
        return [row[0] if len(row) == 1 else row for row in found]

    return read


class Clock:
    """The time of day, wherever it is asked for."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "time", lambda: made.now)
    return made
