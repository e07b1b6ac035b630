"""Merging stores: the results of machines that shared a run."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from heapq import merge as in_order
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.store.opening import FILE, explaining_errors, transaction
from harness.store.store import SUBMITTED, Store

_Row = tuple[Any, ...]


class AddedRows(msgspec.Struct, frozen=True):
    """The number of rows that the target gained, by table."""

    runs: int
    frames: int
    prompts: int
    calls: int
    attempts: int
    batches: int


def merge(sources: Sequence[Path], out: Path) -> AddedRows:
    """Add the rows of the stores of `sources` to the store of `out`, which is created if necessary: all of them or, after an error, none.

    Rows that the target has already are not added again. Attempts of a call, and runs, are ordered by time, but rows of one store keep
    their order whatever its clock said. Raises UsageError when a source is the target, StoreError for a source that is not a store or is
    of a newer version, and the errors of `Store.writing` for the target.
    """
    for source in sources:
        files = source / FILE, out / FILE
        if source.resolve() == out.resolve() or (all(file.exists() for file in files) and files[0].samefile(files[1])):
            raise UsageError(f"{source} is a source and cannot be the target too; name another folder with --out")
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.reading(source)) for source in sources]
        target = opened.enter_context(Store.writing(out))
        before = _rows(target.db)
        with explaining_errors(out), transaction(target.db):
            for store in stores:
                _add_store(target.db, store)
        return AddedRows(**{table: count - before[table] for table, count in _rows(target.db).items()})


def _rows(db: sqlite3.Connection) -> dict[str, int]:
    return {table: db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in AddedRows.__struct_fields__}


def _add_store(target: sqlite3.Connection, source: Store) -> None:
    with explaining_errors(source.folder):
        source.db.execute("BEGIN")  # a run may be writing to it
    _add_runs(target, source)
    for table, columns in (("frames", 3), ("prompts", 2), ("calls", 10)):
        target.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({_placeholders(columns)})", _read(source, f"SELECT * FROM {table}"))
    _add_attempts(target, source)
    for batch in _read(source, "SELECT batch_id, run, judge, submitted, state, calls FROM batches ORDER BY rowid"):
        target.execute(f"INSERT OR IGNORE INTO batches VALUES ({_placeholders(6)})", batch)
        target.execute("UPDATE batches SET state = ? WHERE batch_id = ? AND state = ?", (batch[4], batch[0], SUBMITTED))


def _read(source: Store, query: str) -> Iterator[_Row]:
    """Stream rows of a source. Errors name the source, not the target."""
    with explaining_errors(source.folder):
        yield from source.db.execute(query)


def _add_runs(target: sqlite3.Connection, source: Store) -> None:
    query = "SELECT created, name, spec FROM runs ORDER BY number"
    target_rows = target.execute(query).fetchall()
    run_ids = {name for _, name, _ in target_rows}
    new = [run for run in _read(source, query) if run[1] not in run_ids]
    target.execute("DELETE FROM runs")
    target.executemany("INSERT INTO runs (created, name, spec) VALUES (?, ?, ?)", in_order(target_rows, new))


def _add_attempts(target: sqlite3.Connection, source: Store) -> None:
    """Copy attempts with the checksums of their replies."""
    rows = _read(source, "SELECT call_id, received, reply, lost, checksum FROM attempts ORDER BY call_id, attempt")
    for call_id, source_rows in groupby(rows, key=lambda row: row[0]):
        query = "SELECT call_id, received, reply, lost, checksum FROM attempts WHERE call_id = ? ORDER BY attempt"
        target_rows = target.execute(query, (call_id,)).fetchall()
        if new := [attempt for attempt in source_rows if attempt not in set(target_rows)]:
            target.execute("DELETE FROM attempts WHERE call_id = ?", (call_id,))
            target.executemany(
                "INSERT INTO attempts (attempt, call_id, received, reply, lost, checksum) VALUES (?, ?, ?, ?, ?, ?)",
                ((number, *attempt) for number, attempt in enumerate(in_order(target_rows, new, key=_received_order), start=1)),
            )


def _received_order(attempt: _Row) -> _Row:
    """Order by time. Of two attempts at the same time, the first must not depend on the order of the sources."""
    _, received, reply, lost, _ = attempt
    return received, reply or "", lost or ""


def _placeholders(count: int) -> str:
    return ", ".join("?" * count)
