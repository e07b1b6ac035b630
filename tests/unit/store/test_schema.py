"""Versions of the store: an earlier one is read as it is, brought up to date to be written to, and a newer one is left alone."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.errors import StoreError
from harness.model import Reply
from harness.store import SCHEMA_VERSION, Store
from harness.store.damage import check

Put = Callable[..., None]
Rows = Callable[..., list[Any]]
OPENINGS = pytest.mark.parametrize("opening", [Store.reading, Store.writing], ids=["reading", "writing"])
IDS = ("call-1", "call-2", "call-3")


def contents(store: Store) -> dict[str, Any]:
    """All that the store's methods say."""
    return {
        "runs": list(store.runs().items()),
        "attempts": list(store.last_attempts(IDS)),
        "replies": list(store.replies(IDS)),
        "frame": store.get_template("0123456789abcdef:question"),
        "batches": store.batches("erster-earlier", "openai/one"),
        "export": [{**row, "reply": bytes(row["reply"])} for row in store.export()],
    }


def test_an_old_store_is_read_without_a_change(old_store: Path, said: Callable[[str], Reply]) -> None:
    before = (old_store / "store.sqlite").read_bytes()
    with Store.reading(old_store) as store:
        found = contents(store)
    assert [name for name, _ in found["runs"]] == ["erster-earlier", "zweiter-later"]
    assert found["attempts"] == [3, None, None]
    assert found["replies"] == [said('{"score": 2}'), None, None]
    assert found["frame"].startswith(b'{"messages":') and found["batches"] == []
    assert [row["call_id"] for row in found["export"]] == ["call-1"]
    assert check(old_store).problems == ()
    assert (old_store / "store.sqlite").read_bytes() == before


def test_an_old_store_is_brought_up_to_date_when_it_is_written_to(old_store: Path, rows: Rows) -> None:
    with Store.reading(old_store) as store:
        before = contents(store)
    with Store.writing(old_store) as store:
        assert contents(store) == before
    assert rows(old_store, "SELECT value FROM meta WHERE key = 'schema_version'") == [str(SCHEMA_VERSION)]
    with Store.reading(old_store) as store:
        assert contents(store) == before
    assert check(old_store).problems == ()


def test_a_store_that_was_brought_up_to_date_is_used_like_a_new_one(old_store: Path, put: Put, said: Callable[[str], Reply]) -> None:
    with Store.writing(old_store) as store:
        put(store, ("call-2", said("at last"), None), ("new", said("first"), None))
        store.put_batch("batch", "erster-earlier", "openai/one", ["call-3"])
        store.put_run("a run of today", b"{}")
    with Store.reading(old_store) as store:
        assert list(store.last_attempts(("call-2", "new"))) == [2, 1]
        assert [batch.calls for batch in store.batches("erster-earlier", "openai/one")] == [("call-3",)]
        assert list(store.runs()) == ["erster-earlier", "zweiter-later", "a run of today"]


def test_a_new_store_has_the_tables_of_one_that_was_brought_up_to_date(old_store: Path, tmp_path: Path, rows: Rows) -> None:
    for folder in (old_store, tmp_path / "new"):
        with Store.writing(folder):
            pass
    [old, new] = (
        {name: rows(folder, f"SELECT name, type, pk FROM pragma_table_info('{name}')") for name in sorted(tables)}
        for folder in (old_store, tmp_path / "new")
        if (tables := rows(folder, "SELECT name FROM sqlite_master WHERE type = 'table'"))
    )
    assert old == new


# Kills itself at the start of the n-th statement that opening the store sends to SQLite.
_KILLED = """
import os, signal, sqlite3, sys
from pathlib import Path
from harness.store import Store

left = int(sys.argv[2])
connect = sqlite3.connect

def step(statement):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

def traced(*arguments, **options):
    db = connect(*arguments, **options)
    db.set_trace_callback(step)
    return db

sqlite3.connect = traced
Store.writing(Path(sys.argv[1]))
"""


@pytest.mark.slow
def test_a_kill_in_the_middle_leaves_the_old_store_or_the_new_one(old_store: Path, tmp_path: Path, rows: Rows) -> None:
    with Store.reading(old_store) as store:
        before = contents(store)
    versions = []
    ended = -signal.SIGKILL
    while ended == -signal.SIGKILL:
        folder = tmp_path / f"killed at {len(versions)}"
        shutil.copytree(old_store, folder)
        ended = subprocess.run([sys.executable, "-c", _KILLED, folder, str(len(versions))], check=False).returncode
        with Store.reading(folder) as store:
            assert contents(store) == before
        versions += rows(folder, "SELECT value FROM meta WHERE key = 'schema_version'")
        with Store.writing(folder) as store:
            assert contents(store) == before
    assert ended == 0
    assert versions == sorted(versions) and versions.count("1") > 8  # changed at once, by the last of many statements


@pytest.mark.slow
def test_a_new_store_that_is_killed_while_it_is_made_is_made_again(tmp_path: Path) -> None:
    moment, ended = 0, -signal.SIGKILL
    while ended == -signal.SIGKILL:
        folder = tmp_path / f"killed at {moment}"
        ended = subprocess.run([sys.executable, "-c", _KILLED, folder, str(moment)], check=False).returncode
        with Store.writing(folder) as store:
            assert store.runs() == {}
        moment += 1
    assert ended == 0 and moment > 8


@OPENINGS
@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, 99, 0])
def test_a_store_of_another_version_is_refused_and_left_alone(
    old_store: Path, rows: Rows, opening: Callable[[Path], Store], version: int
) -> None:
    rows(old_store, "UPDATE meta SET value = ? WHERE key = 'schema_version'", str(version))
    before = (old_store / "store.sqlite").read_bytes()
    for _ in range(2):  # twice: the folder is not left held
        words = rf"the store has version {version}, and this program reads versions up to {SCHEMA_VERSION}: use the version of the program"
        with pytest.raises(StoreError, match=words):
            opening(old_store)
    assert (old_store / "store.sqlite").read_bytes() == before


@OPENINGS
@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE meta",
        "DELETE FROM meta",
        "UPDATE meta SET value = 'the first'",
        "UPDATE meta SET value = ''",
        "UPDATE meta SET value = '²'",
    ],
)
def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path, opening: Callable[[Path], Store], statement: str) -> None:
    path = tmp_path / "store.sqlite"
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript("CREATE TABLE letters (text); CREATE TABLE meta (key, value); INSERT INTO meta VALUES ('schema_version', '1');")
        db.execute(statement)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is not a store of this program; move it away"):
        opening(tmp_path)
    assert path.read_bytes() == before
