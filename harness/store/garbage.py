"""Deleting unreferenced rows of a store. Answers are never deleted."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec

from harness.errors import StoreError
from harness.prompts.templates import program_hash
from harness.store.opening import FILE, explaining_errors, store_path, transaction
from harness.store.store import Store

# Unreferenced rows, by table. A prompt template (`frames`) of another version of the program cannot be made again. It stays as long as
# there is a run of that version, because the run's report needs it.
_GARBAGE = {
    "frames": "substr(key, 1, instr(key, ':') - 1) NOT IN (SELECT value FROM json_each(:programs))",
    "attempts": "reply IS NULL AND attempt < "
    "(SELECT MAX(attempt) FROM attempts AS of_call WHERE of_call.call_id = attempts.call_id AND reply IS NOT NULL)",
    "calls": "call_id NOT IN (SELECT call_id FROM attempts)",
    "prompts": "prompt_id NOT IN (SELECT prompt_id FROM calls WHERE call_id IN (SELECT call_id FROM attempts))",
}


class RemovedRows(msgspec.Struct, frozen=True):
    """The number of deleted rows by table, and the bytes of the file before and after. A dry run deletes nothing."""

    frames: int
    attempts: int
    calls: int
    prompts: int
    bytes_before: int
    bytes_after: int


def collect(folder: Path, *, dry_run: bool = False) -> RemovedRows:
    """Delete unreferenced rows and reclaim disk space.

    Unreferenced are prompt templates that no run can use, lost attempts of calls that were answered later, calls without attempts, and
    prompts without calls.

    Raises StoreError when there is no store, or another process holds the folder.
    """
    before = _bytes(store_path(folder))
    if dry_run:
        with Store.reading(folder) as store, explaining_errors(folder):
            rows = {table: cursor.fetchone()[0] for table, cursor in _on_garbage(store.db, "SELECT COUNT(*)").items()}
    else:
        with Store.writing(folder) as store, explaining_errors(folder):
            with transaction(store.db):
                rows = {table: cursor.rowcount for table, cursor in _on_garbage(store.db, "DELETE").items()}
                _renumber(store.db)
            _shrink(store.db, rewrite=any(rows.values()))
    return RemovedRows(**rows, bytes_before=before, bytes_after=_bytes(folder / FILE))


def _on_garbage(db: sqlite3.Connection, statement: str) -> dict[str, sqlite3.Cursor]:
    """Count or delete unreferenced rows, by table."""
    parameters = {"programs": _programs(db)}
    return {table: db.execute(f"{statement} FROM {table} WHERE {where}", parameters) for table, where in _GARBAGE.items()}


def _programs(db: sqlite3.Connection) -> str:
    """Return the prompt programs in use, as a JSON list of hashes: that of this version, and those of the stored runs."""
    used = {program_hash()}
    for name, spec in db.execute("SELECT name, spec FROM runs"):
        try:
            used.add(msgspec.json.decode(spec)["prompts"])
        except (msgspec.DecodeError, KeyError, TypeError):
            raise StoreError(
                f"the specification of run {name} is damaged, so it is unknown which rows it needs; nothing was removed"
            ) from None
    return msgspec.json.encode(sorted(used)).decode()


def _renumber(db: sqlite3.Connection) -> None:
    """Number the attempts of each call from 1 without gaps, in their order."""
    gaps = db.execute("SELECT call_id FROM attempts GROUP BY call_id HAVING MAX(attempt) != COUNT(*)").fetchall()
    for (call_id,) in gaps:
        remaining = db.execute("SELECT attempt FROM attempts WHERE call_id = ? ORDER BY attempt", (call_id,)).fetchall()
        db.executemany(
            "UPDATE attempts SET attempt = ? WHERE call_id = ? AND attempt = ?",
            [(number, call_id, attempt) for number, (attempt,) in enumerate(remaining, start=1)],
        )


def _shrink(db: sqlite3.Connection, *, rewrite: bool) -> None:
    """Rewrite the file if rows were deleted, now or by an earlier command that had too little disk space to rewrite it."""
    [[free_pages]] = db.execute("PRAGMA freelist_count")
    if rewrite or free_pages:
        db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, path.with_name(f"{FILE}-wal")) if file.exists())
