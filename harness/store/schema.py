"""The tables of a store by version: creation, update, and reading of old ones."""

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
# Statements that update a store of this version to the next one. In version 1 runs had a time but no number. Up to version 2 replies and
# frames had no checksum; stored ones stay without, because they may be damaged already.
_UPDATES = {
    1: (
        "ALTER TABLE runs RENAME TO runs_of_version_1",
        _TABLES[2],
        "INSERT INTO runs (name, spec, created) SELECT name, spec, created FROM runs_of_version_1 ORDER BY created, name",
        "DROP TABLE runs_of_version_1",
        _TABLES[6],
    ),
    2: ("ALTER TABLE attempts ADD COLUMN checksum INTEGER", "ALTER TABLE frames ADD COLUMN checksum INTEGER"),
}
# Views that make a store of this version look like the next one when it is only read. They belong to the connection.
_VIEWS = {
    1: (
        "CREATE TEMP VIEW runs AS SELECT row_number() OVER (ORDER BY created, name) AS number, name, spec, created FROM main.runs",
        "CREATE TEMP VIEW batches AS SELECT NULL AS rowid, NULL AS batch_id, NULL AS run, NULL AS judge, "
        "NULL AS submitted, NULL AS state, NULL AS calls WHERE 0",
    ),
    2: (
        "CREATE TEMP VIEW attempts AS SELECT *, NULL AS checksum FROM main.attempts",
        "CREATE TEMP VIEW frames AS SELECT *, NULL AS checksum FROM main.frames",
    ),
}


def update(db: sqlite3.Connection, folder: object) -> None:
    """Create the tables, or update those of an earlier version, in one transaction.

    Raises StoreError for a store of a newer version and for a file of another program.
    """
    with transaction(db):
        if not _tables(db):
            _run(db, _TABLES)
            db.execute("INSERT INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
        version_before = _version(db, folder)
        for version in range(version_before, SCHEMA_VERSION):
            _run(db, _UPDATES[version])
        if version_before < SCHEMA_VERSION:
            db.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (str(SCHEMA_VERSION),))


def add_views(db: sqlite3.Connection, folder: object) -> None:
    """Make a store of an earlier version readable like a present one, without changing it. Raises as `update`."""
    for version in range(_version(db, folder), SCHEMA_VERSION):
        _run(db, _VIEWS[version])


def _version(db: sqlite3.Connection, folder: object) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone() if "meta" in _tables(db) else None
    if not row or not str(row[0]).isdecimal():
        raise StoreError(f"{folder}: it is not a store of this program; move it away")
    if not 1 <= int(row[0]) <= SCHEMA_VERSION:
        raise StoreError(
            f"{folder}: the store has version {row[0]}, and this program reads versions up to {SCHEMA_VERSION}: "
            "use the version of the program that made it, or a newer one"
        )
    return int(row[0])


def _tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _run(db: sqlite3.Connection, statements: tuple[str, ...]) -> None:
    for statement in statements:
        db.execute(statement)
