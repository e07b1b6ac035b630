"""Versions of the store: one of another version, and the file of another program, are refused and left alone."""

from __future__ import annotations

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
from harness.store import SCHEMA_VERSION, Store

Rows = Callable[..., list[Any]]
OPENINGS = pytest.mark.parametrize("opening", [Store.reading, Store.writing], ids=["reading", "writing"])


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
@pytest.mark.parametrize("version", [0, 1, SCHEMA_VERSION - 1, SCHEMA_VERSION + 1, 99])
def test_a_store_of_another_version_is_refused_and_left_alone(
    tmp_path: Path, rows: Rows, opening: Callable[[Path], Store], version: int
) -> None:
    Store.writing(tmp_path).close()
    rows(tmp_path, "UPDATE meta SET value = ? WHERE key = 'schema_version'", str(version))
    before = (tmp_path / "store.sqlite").read_bytes()
    words = rf"the store has version {version}, and this program reads version {SCHEMA_VERSION}: use the version of the program"
    for _ in range(2):  # twice: the folder is not left held
        with pytest.raises(StoreError, match=words):
            opening(tmp_path)
    assert (tmp_path / "store.sqlite").read_bytes() == before


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
