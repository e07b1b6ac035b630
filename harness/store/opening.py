"""Opening a results folder: its lock, its SQLite file, and what goes wrong with either in one sentence with what to do."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from harness.errors import StoreError

FILE = "store.sqlite"
_DAMAGED = "the file is damaged; move it away, or restore it from a copy"


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the disk say into one sentence with what to do."""
    try:
        yield
    except sqlite3.DatabaseError as err:
        said = str(err)
        advice = {
            "disk I/O error": "is the disk full, or failing? Make room, then run the same command again: what was received is kept",
            "disk is full": "make room, then run the same command again: what was received is kept",
            "readonly": "choose a folder that can be written with --out",
            "unable to open": "choose a folder that can be written with --out",
            "not a database": "it is no store of this program; move it away",
            "no such table": "it is no store of this program; move it away",
            "malformed": _DAMAGED,
            "Could not decode": _DAMAGED,
            "locked": "another program uses the file; close it there, or wait",
        }
        what = next((advice[words] for words in advice if words in said), "is the disk healthy?")
        raise StoreError(f"{path}: {said}; {what}") from None
    except OSError as err:
        raise StoreError(f"{path} cannot be used ({err.strerror or err}); choose a folder that can be written with --out") from None


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All that is written in the block is committed at its end, or none of it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite itself has rolled back where the disk was full
            db.execute("ROLLBACK")
        raise


def find(folder: Path) -> Path:
    """The file of a results folder. Raises StoreError where there is none."""
    path = folder / FILE
    if not path.is_file():
        raise StoreError(f"no results in {folder}: there is no {FILE}; name the folder of an earlier run with --out")
    return path


def hold(folder: Path) -> FileLock:
    """Take the folder for this process, until it ends. Raises StoreError with who has it."""
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreError(
            f"{folder} is in use by another run{_holder(folder / FILE)}; wait for it, or choose another folder with --out"
        ) from None
    return lock


def connect_to_write(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=10, isolation_level=None)


def set_up_to_write(db: sqlite3.Connection) -> None:
    """From here on a commit survives the death of the process at once, and a loss of power from the next checkpoint on."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA wal_autocheckpoint = 4000")  # pages; copying them back more often costs as much as the commits themselves


def connect_to_look(path: Path) -> sqlite3.Connection:
    """Open read-only. Where nothing can be written, SQLite has to be told that nobody else writes either."""
    settled = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    return sqlite3.connect(f"{path.resolve().as_uri()}?{'immutable=1' if settled else 'mode=ro'}", uri=True, isolation_level=None)


def set_up_to_look(db: sqlite3.Connection) -> None:
    """Keep the upper levels of a million calls' index in memory."""
    db.execute("PRAGMA cache_size = -16000")  # kilobytes


def write_holder(db: sqlite3.Connection) -> None:
    """Note this process for whoever finds the folder held."""
    holder = json.dumps({"pid": os.getpid(), "command": " ".join(sys.argv[1:])[:200]})
    db.execute("INSERT OR REPLACE INTO meta VALUES ('holder', ?)", (holder,))


def _holder(path: Path) -> str:
    try:
        with closing(connect_to_look(path)) as db:
            [[found]] = db.execute("SELECT value FROM meta WHERE key = 'holder'")
        holder = json.loads(found)
        return f" (process {holder['pid']}: harness {holder['command']})"
    except (sqlite3.Error, ValueError, KeyError):
        return ""
