"""Opens a results folder: its lock, its SQLite file with the tables and their version, checksums, and errors with the next step."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from harness.errors import StoreError
from harness.row_files import PRIVATE_FILE

FILE = "store.sqlite"
# What another process may see of the command line of the process that holds the folder: commands, and flags without private values.
_COMMANDS = frozenset({"run", "store", "gc", "merge", "batch", "collect", "forget", "board", "verify"})
_PUBLIC_FLAGS = frozenset({"--langs", "--tasks", "--metrics", "--limit", "--variant", "--repeats", "--engine", "--concurrency", "--board"})
_DAMAGED = "the file is damaged; move it away, or restore it from a copy"


@contextmanager
def explaining_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the disk into one sentence that says what to do."""
    try:
        yield
    except sqlite3.DatabaseError as err:
        message = str(err)
        advice = {
            "disk I/O error": "is the disk full, or failing? Make room, then run the same command again: all replies so far are kept",
            "disk is full": "make room, then run the same command again: all replies so far are kept",
            "readonly": "choose a folder that can be written with --out",
            "unable to open": "choose a folder that can be written with --out",
            "not a database": "it is not a store of this program; move it away",
            "no such table": "it is not a store of this program; move it away",
            "malformed": _DAMAGED,
            "Could not decode": _DAMAGED,
            "locked": "another program uses the file; close it there, or wait",
        }
        what_to_do = next((advice[words] for words in advice if words in message), "is the disk healthy?")
        raise StoreError(f"{path}: {message}; {what_to_do}") from None
    except OSError as err:
        raise StoreError(f"{path} cannot be used ({err.strerror or err}); choose a folder that can be written with --out") from None


def checksum(data: bytes) -> int:
    """Return the CRC-32 of a reply or a prompt template, which cannot be checked against anything else.

    It detects every flipped bit and every damage of up to 32 bits in a row, and misses one in four billion other damages. It does not
    protect against somebody who changes a reply on purpose.
    """
    return zlib.crc32(data)


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Commit everything that the block writes, or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite itself has rolled back where the disk was full
            db.execute("ROLLBACK")
        raise


def store_path(folder: Path) -> Path:
    """Return the store of a results folder. Raises StoreError if there is none."""
    path = folder / FILE
    if not path.is_file():
        raise StoreError(f"no results in {folder}: there is no {FILE}; name the folder of an earlier run with --out")
    return path


def lock_folder(folder: Path) -> FileLock:
    """Lock the folder for this process. Raises StoreError, which names the process that holds the lock."""
    lock = FileLock(folder / ".lock", mode=PRIVATE_FILE)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        holder = ""
        with suppress(sqlite3.Error, ValueError, KeyError, TypeError), closing(connect_to_read(folder / FILE)) as db:
            [[value]] = db.execute("SELECT value FROM meta WHERE key = 'holder'")
            noted = json.loads(value)
            holder = f" (process {int(noted['pid'])}: harness {noted['command']})"
        raise StoreError(f"{folder} is in use by another run{holder}; wait for it, or choose another folder with --out") from None
    return lock


def connect_to_write(path: Path) -> sqlite3.Connection:
    """Open the file, which is created if necessary, for its owner only. SQLite gives its log and its index the same mode.

    One thread uses the connection at a time, but not always the same one: in a notebook, calls are asked from another thread.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE))
    return sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)


def set_up_to_write(db: sqlite3.Connection) -> None:
    """From now on a commit survives the end of the process at once, and a loss of power from the next checkpoint on."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA wal_autocheckpoint = 4000")  # pages; more frequent checkpoints would cost as much as the commits


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open read-only. In a read-only folder SQLite needs the statement that no other process writes either."""
    immutable = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    return sqlite3.connect(f"{path.resolve().as_uri()}?{'immutable=1' if immutable else 'mode=ro'}", uri=True, isolation_level=None)


def set_up_to_read(db: sqlite3.Connection) -> None:
    """Keep the upper levels of the index of a million calls in memory."""
    db.execute("PRAGMA cache_size = -16000")  # kilobytes


def write_holder(db: sqlite3.Connection) -> None:
    """Record the id and the command of this process for others that find the folder locked; without addresses and tokens."""
    # A command line as it may be stored: the command, its flags, and the values of flags that hold nothing private.
    public: list[str] = []
    for number, word in enumerate(sys.argv[1:]):
        flag, equals, value = word.partition("=")
        if word in _COMMANDS and number < 2:
            public.append(word)
        elif re.fullmatch(r"--[a-z][a-z-]*", flag):
            public += [flag, *([_public_value(flag, value)] if equals else [])]
        else:
            public.append(_public_value(public[-1] if public else "", word))
    holder = json.dumps({"pid": os.getpid(), "command": " ".join(public)})
    db.execute("INSERT OR REPLACE INTO meta VALUES ('holder', ?)", (holder,))


def _public_value(flag: str, value: str) -> str:
    return value if flag in _PUBLIC_FLAGS and re.fullmatch(r"[\w,.:+-]{1,40}", value) else "…"


SCHEMA_VERSION = 3
# Tables that grow with the number of calls keep their rows in the order of writing, beside an index. Ids are hashes: rows in the order of
# ids would scatter every commit over the whole file.
_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE frames (key TEXT PRIMARY KEY, frame BLOB NOT NULL, checksum INTEGER) WITHOUT ROWID",
    "CREATE TABLE runs (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL, created REAL NOT NULL)",
    "CREATE TABLE prompts (prompt_id TEXT PRIMARY KEY NOT NULL, body BLOB NOT NULL)",
    "CREATE TABLE calls ("
    "call_id TEXT PRIMARY KEY NOT NULL, prompt_id TEXT NOT NULL, judge TEXT NOT NULL, identity TEXT NOT NULL, item_id TEXT NOT NULL, "
    "metrics TEXT NOT NULL, condition TEXT NOT NULL, temperature REAL NOT NULL, repeat INTEGER NOT NULL, seed INTEGER)",
    "CREATE TABLE attempts ("
    "call_id TEXT NOT NULL, attempt INTEGER NOT NULL, received REAL NOT NULL, lost TEXT, reply TEXT, checksum INTEGER, "
    "PRIMARY KEY (call_id, attempt))",
    "CREATE TABLE batches ("
    "batch_id TEXT PRIMARY KEY NOT NULL, run TEXT NOT NULL, judge TEXT NOT NULL, submitted REAL NOT NULL, state TEXT NOT NULL, "
    "calls BLOB NOT NULL)",
)


def create(db: sqlite3.Connection, folder: object) -> None:
    """Create the tables of a new store, in one transaction. Raises as `check_version`."""
    with transaction(db):
        if not _tables(db):
            for statement in _TABLES:
                db.execute(statement)
            db.execute("INSERT INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
        check_version(db, folder)


def check_version(db: sqlite3.Connection, folder: object) -> None:
    """Raise StoreError for a store of another version, and for a file of another program."""
    row = db.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone() if "meta" in _tables(db) else None
    if not row or not str(row[0]).isdecimal():
        raise StoreError(f"{folder}: it is not a store of this program; move it away")
    if int(row[0]) != SCHEMA_VERSION:
        raise StoreError(
            f"{folder}: the store has version {row[0]}, and this program reads version {SCHEMA_VERSION}: "
            "use the version of the program that made it, or ask again with another folder (--out)"
        )


def _tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
