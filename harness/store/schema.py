"""The tables of a store, and its version."""

from __future__ import annotations

import sqlite3

from harness.errors import StoreError
from harness.store.opening import transaction

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
