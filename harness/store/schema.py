"""The tables of a store, and which versions of them this program reads."""

from __future__ import annotations

import sqlite3

from harness.errors import StoreError

SCHEMA_VERSION = 1
_SCHEMA = """
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
"""


def create(db: sqlite3.Connection) -> None:
    """Make the tables of a new store, all or none; a store that is there already is left alone."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        db.executescript(f"BEGIN; {_SCHEMA} INSERT INTO meta VALUES ('schema_version', '{SCHEMA_VERSION}'); COMMIT;")


def check_version(db: sqlite3.Connection, where: object) -> None:
    """Raises StoreError unless this program reads the store's version."""
    found = db.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if not found or int(found[0]) != SCHEMA_VERSION:
        raise StoreError(
            f"{where}: a store of version {found and found[0]}; this program reads version {SCHEMA_VERSION}: use the one it was made with"
        )
