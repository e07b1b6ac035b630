"""The tables of a store by version: made, brought up to date, or looked at as if they were."""

from __future__ import annotations

import sqlite3

from harness.errors import StoreError
from harness.store.opening import transaction

SCHEMA_VERSION = 2
# Tables that grow with the number of calls keep their rows in the order of writing and find them by an index: ids are hashes, so rows
# that are kept in the order of their ids would scatter every commit over the whole file.
_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE frames (key TEXT PRIMARY KEY, frame BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE runs (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL, created REAL NOT NULL)",
    "CREATE TABLE prompts (prompt_id TEXT PRIMARY KEY NOT NULL, body BLOB NOT NULL)",
    "CREATE TABLE calls ("
    "call_id TEXT PRIMARY KEY NOT NULL, prompt_id TEXT NOT NULL, judge TEXT NOT NULL, identity TEXT NOT NULL, item_id TEXT NOT NULL, "
    "metrics TEXT NOT NULL, condition TEXT NOT NULL, temperature REAL NOT NULL, repeat INTEGER NOT NULL, seed INTEGER)",
    "CREATE TABLE attempts ("
    "call_id TEXT NOT NULL, attempt INTEGER NOT NULL, received REAL NOT NULL, lost TEXT, reply TEXT, PRIMARY KEY (call_id, attempt))",
    "CREATE TABLE batches ("
    "batch_id TEXT PRIMARY KEY NOT NULL, run TEXT NOT NULL, judge TEXT NOT NULL, submitted REAL NOT NULL, state TEXT NOT NULL, "
    "calls BLOB NOT NULL)",
)
# What brings a store of this version to the next one. Runs had no number, only the time of day at which they were made.
_UPDATES = {
    1: (
        "ALTER TABLE runs RENAME TO runs_of_version_1",
        _TABLES[2],
        "INSERT INTO runs (name, spec, created) SELECT name, spec, created FROM runs_of_version_1 ORDER BY created, name",
        "DROP TABLE runs_of_version_1",
        _TABLES[6],
    ),
}
# What makes a store of this version look like the present one to who only reads it: views of the connection's own, before its tables.
_VIEWS = {
    1: (
        "CREATE TEMP VIEW runs AS SELECT row_number() OVER (ORDER BY created, name) AS number, name, spec, created FROM main.runs",
        "CREATE TEMP VIEW batches AS SELECT NULL AS rowid, NULL AS batch_id, NULL AS run, NULL AS judge, "
        "NULL AS submitted, NULL AS state, NULL AS calls WHERE 0",
    ),
}


def bring_up_to_date(db: sqlite3.Connection, where: object) -> None:
    """Make the tables, or change those of an earlier version, wholly or not at all.

    Raises StoreError for a store of a newer version, and for a file with tables of another program.
    """
    with transaction(db):
        if not _tables(db):
            _run(db, _TABLES)
            db.execute("INSERT INTO meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
        found = _version(db, where)
        for version in range(found, SCHEMA_VERSION):
            _run(db, _UPDATES[version])
        if found < SCHEMA_VERSION:
            db.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (str(SCHEMA_VERSION),))


def look_up_to_date(db: sqlite3.Connection, where: object) -> None:
    """Show a store as one of the present version without changing it. Raises as `bring_up_to_date`."""
    _run(db, _VIEWS.get(_version(db, where), ()))


def _version(db: sqlite3.Connection, where: object) -> int:
    found = db.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone() if "meta" in _tables(db) else None
    if not found or not str(found[0]).isdecimal():
        raise StoreError(f"{where}: what store.sqlite holds is something else; it is no store of this program; move it away")
    if not 1 <= int(found[0]) <= SCHEMA_VERSION:
        raise StoreError(
            f"{where}: a store of version {found[0]}, and this program reads versions up to {SCHEMA_VERSION}: "
            "use the one it was made with, or a newer one"
        )
    return int(found[0])


def _tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _run(db: sqlite3.Connection, statements: tuple[str, ...]) -> None:
    for statement in statements:
        db.execute(statement)
