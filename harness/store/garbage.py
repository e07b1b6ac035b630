"""Removing from a store what is of no use any more. Replies are never removed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec

from harness.errors import StoreError
from harness.prompts.frames import program_hash
from harness.store.opening import FILE, explained, find, transaction
from harness.store.store import Store

# What is of no use, by table. A frame that was worded by another version of the program cannot be made again, so it stays as long as
# there is a run that was made with that version: its report is read with it.
_GARBAGE = {
    "frames": "substr(key, 1, instr(key, ':') - 1) NOT IN (SELECT value FROM json_each(:programs))",
    "attempts": "reply IS NULL AND attempt < "
    "(SELECT MAX(attempt) FROM attempts AS of_call WHERE of_call.call_id = attempts.call_id AND reply IS NOT NULL)",
    "calls": "call_id NOT IN (SELECT call_id FROM attempts)",
    "prompts": "prompt_id NOT IN (SELECT prompt_id FROM calls WHERE call_id IN (SELECT call_id FROM attempts))",
}


class Removed(msgspec.Struct, frozen=True):
    """How many rows were removed, and how many bytes the file takes before and after; a dry run leaves it as it is."""

    frames: int
    attempts: int
    calls: int
    prompts: int
    bytes_before: int
    bytes_after: int


def collect(folder: Path, *, dry_run: bool = False) -> Removed:
    """Remove prompt frames that no run can use, lost attempts of calls that were answered later, calls that were never tried and prompts
    that no call asks; then give the room back to the disk.

    Raises StoreError when there is no store, or another process holds the folder.
    """
    before = _bytes(find(folder))
    if dry_run:
        with Store.reading(folder) as store, explained(folder):
            rows = {table: found.fetchone()[0] for table, found in _garbage(store.db, "SELECT COUNT(*)").items()}
    else:
        with Store.writing(folder) as store, explained(folder):
            with transaction(store.db):
                rows = {table: found.rowcount for table, found in _garbage(store.db, "DELETE").items()}
                _number_anew(store.db)
            _shrink(store.db, anew=any(rows.values()))
    return Removed(**rows, bytes_before=before, bytes_after=_bytes(folder / FILE))


def _garbage(db: sqlite3.Connection, statement: str) -> dict[str, sqlite3.Cursor]:
    """Count or delete what is of no use, by table."""
    used = {"programs": _programs(db)}
    return {table: db.execute(f"{statement} FROM {table} WHERE {where}", used) for table, where in _GARBAGE.items()}


def _programs(db: sqlite3.Connection) -> str:
    """The versions of the wording that are in use, as a JSON list: this program's, and those that runs were made with."""
    used = {program_hash()}
    for name, spec in db.execute("SELECT name, spec FROM runs"):
        try:
            used.add(msgspec.json.decode(spec)["prompts"])
        except (msgspec.DecodeError, KeyError, TypeError):
            raise StoreError(
                f"the specification of run {name} is damaged, so that it is unknown what it needs; nothing was removed"
            ) from None
    return msgspec.json.encode(sorted(used)).decode()


def _number_anew(db: sqlite3.Connection) -> None:
    """Attempts are numbered from 1 without gaps, in the order that they have."""
    gaps = db.execute("SELECT call_id FROM attempts GROUP BY call_id HAVING MAX(attempt) != COUNT(*)").fetchall()
    for (call_id,) in gaps:
        left = db.execute("SELECT attempt FROM attempts WHERE call_id = ? ORDER BY attempt", (call_id,)).fetchall()
        db.executemany(
            "UPDATE attempts SET attempt = ? WHERE call_id = ? AND attempt = ?",
            [(number, call_id, attempt) for number, (attempt,) in enumerate(left, start=1)],
        )


def _shrink(db: sqlite3.Connection, *, anew: bool) -> None:
    """Write the file anew where rows were removed, or where an earlier removal could not do so for want of room."""
    [[free_pages]] = db.execute("PRAGMA freelist_count")
    if anew or free_pages:
        db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, path.with_name(f"{FILE}-wal")) if file.exists())
