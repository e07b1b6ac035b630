"""Stores by hand: attempts in few words, a clock that can be set, rows read past the program, and a store of version 1."""

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


# What the program wrote when stores had version 1: two runs, a call that was lost once and answered twice, one that was only lost, and one
# that was written down and never asked.
VERSION_1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE frames (key TEXT PRIMARY KEY, frame BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE runs (name TEXT PRIMARY KEY, spec TEXT NOT NULL, created REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE prompts (prompt_id TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE calls (
  call_id TEXT PRIMARY KEY, prompt_id TEXT NOT NULL, judge TEXT NOT NULL, identity TEXT NOT NULL, item_id TEXT NOT NULL,
  metrics TEXT NOT NULL, condition TEXT NOT NULL, temperature REAL NOT NULL, repeat INTEGER NOT NULL, seed INTEGER
) WITHOUT ROWID;
CREATE TABLE attempts (
  call_id TEXT NOT NULL, attempt INTEGER NOT NULL, received REAL NOT NULL, lost TEXT, reply TEXT,
  PRIMARY KEY (call_id, attempt)
) WITHOUT ROWID;
INSERT INTO meta VALUES ('holder', '{"pid": 27972, "command": "run --langs cs"}');
INSERT INTO meta VALUES ('schema_version', '1');
INSERT INTO frames VALUES ('0123456789abcdef:question', CAST(
  '{"messages":[{"role":"user","parts":[{"type":"slot","name":"output"}]}],"schema":{},"max_tokens":10}' AS BLOB));
INSERT INTO runs VALUES ('erster-earlier', '{"prompts":"0123456789abcdef","source":"earlier"}', 1700000100.5);
INSERT INTO runs VALUES ('zweiter-later', '{"prompts":"0123456789abcdef","source":"later"}', 1700000300.0);
INSERT INTO prompts VALUES ('a62c607402a0f3c4df1f271c8a1e328485f6d5fcea1ab1c0ad99a3f39f4a0bbb',
  X'7801AB56CA4D2D2E4E4C4F2D56B28AAE562ACACF4955B2522A2D4E2D52D2514ACECF2B49CD2B010A382AD5C6EA28152767A4E6262A5955D7D60200209E12EF');
INSERT INTO prompts VALUES ('0fb791f34ba0e36d2261bb72a8f201d03eda6f70374165118be8995bd1782103',
  X'7801AB56CA4D2D2E4E4C4F2D56B28AAE562ACACF4955B2522A2D4E2D52D2514ACECF2B49CD2B010A3C9BBE54A9365647A9383923353751C9AABAB616005D3614D0');
INSERT INTO prompts VALUES ('e7fbe510b510f48ef67b25d205c6cbbde7a8c639d136ac148d008b7995064850',
  X'7801AB56CA4D2D2E4E4C4F2D56B28AAE562ACACF4955B2522A2D4E2D52D2514ACECF2B49CD2B010A4429D5C6EA28152767A4E6262A5955D7D6020022471308');
INSERT INTO calls VALUES ('call-1', 'a62c607402a0f3c4df1f271c8a1e328485f6d5fcea1ab1c0ad99a3f39f4a0bbb', 'openai/one',
  '{"model":"one","provider":"openai","settings":{"endpoint":"host"}}', 'i1', 'm', 'single T=0', 0.0, 0, 0);
INSERT INTO calls VALUES ('call-2', '0fb791f34ba0e36d2261bb72a8f201d03eda6f70374165118be8995bd1782103', 'openai/one',
  '{"model":"one","provider":"openai","settings":{"endpoint":"host"}}', 'i2', 'm', 'single T=0', 0.0, 0, 0);
INSERT INTO calls VALUES ('call-3', 'e7fbe510b510f48ef67b25d205c6cbbde7a8c639d136ac148d008b7995064850', 'openai/one',
  '{"model":"one","provider":"openai","settings":{"endpoint":"host"}}', 'i3', 'm', 'single T=0', 0.0, 0, 0);
INSERT INTO attempts VALUES ('call-1', 1, 1700000400.0, 'timeout', NULL);
INSERT INTO attempts VALUES ('call-1', 2, 1700000401.25, NULL, '{"text":"{\\"score\\": 1}","model":"one-2024","form":"json_schema",
  "finish_reason":"stop","refusal":null,"error":null,"usage":{"prompt_tokens":7,"cached_tokens":3,"completion_tokens":5},"seconds":0.25}');
INSERT INTO attempts VALUES ('call-1', 3, 1700000402.0, NULL, '{"text":"{\\"score\\": 2}","model":"one-2024","form":"json_schema",
  "finish_reason":"stop","refusal":null,"error":null,"usage":{"prompt_tokens":7,"cached_tokens":3,"completion_tokens":5},"seconds":0.25,
  "tokens":[],"left_out":[]}');
INSERT INTO attempts VALUES ('call-2', 1, 1700000400.0, 'connection reset', NULL);
"""


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """A results folder with a store of version 1."""
    folder = tmp_path / "old"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "store.sqlite")) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(VERSION_1)
    return folder
