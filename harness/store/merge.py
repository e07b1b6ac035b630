"""Making one store of several: the results of machines that shared the asking."""

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
from harness.store.batches import SUBMITTED
from harness.store.opening import FILE, explained, transaction
from harness.store.store import Store

_Row = tuple[Any, ...]


class Merged(msgspec.Struct, frozen=True):
    """How many rows the target gained."""

    runs: int
    frames: int
    prompts: int
    calls: int
    attempts: int
    batches: int


def merge(sources: Sequence[Path], out: Path) -> Merged:
    """Add what the stores of `sources` hold to that of `out`, which is made if need be: everything, or nothing where that fails.

    What is there already is not taken twice. Attempts of one call, and runs, stand in the order of their times, but those of one store
    keep their order whatever its clock said. Raises UsageError when a source is the target, StoreError for a source that is no store or
    of a newer version, and as `Store.writing` for the target.
    """
    for source in sources:
        if source.resolve() == out.resolve() or _same(source / FILE, out / FILE):
            raise UsageError(f"{source} is read and cannot be written to as well; name another folder with --out")
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.reading(source)) for source in sources]
        target = opened.enter_context(Store.writing(out))
        before = _rows(target.db)
        with explained(out), transaction(target.db):
            for store in stores:
                _add(target.db, store)
        return Merged(**{table: count - before[table] for table, count in _rows(target.db).items()})


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _rows(db: sqlite3.Connection) -> dict[str, int]:
    return {table: db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in Merged.__struct_fields__}


def _add(target: sqlite3.Connection, source: Store) -> None:
    with explained(source.folder):
        source.db.execute("BEGIN")  # a run may go on writing
    _add_runs(target, source)
    for table, columns in (("frames", 2), ("prompts", 2), ("calls", 10)):
        target.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({_marks(columns)})", _read(source, f"SELECT * FROM {table}"))
    _add_attempts(target, source)
    _add_batches(target, source)


def _read(source: Store, query: str) -> Iterator[_Row]:
    """Rows of a source, one at a time; what goes wrong is said of the source, not of the target."""
    with explained(source.folder):
        yield from source.db.execute(query)


def _add_runs(target: sqlite3.Connection, source: Store) -> None:
    query = "SELECT created, name, spec FROM runs ORDER BY number"
    ours = target.execute(query).fetchall()
    known = {name for _, name, _ in ours}
    new = [run for run in _read(source, query) if run[1] not in known]
    target.execute("DELETE FROM runs")
    target.executemany("INSERT INTO runs (created, name, spec) VALUES (?, ?, ?)", in_order(ours, new))


def _add_attempts(target: sqlite3.Connection, source: Store) -> None:
    rows = _read(source, "SELECT call_id, received, reply, lost FROM attempts ORDER BY call_id, attempt")
    for call_id, theirs in groupby(rows, key=lambda row: row[0]):
        query = "SELECT call_id, received, reply, lost FROM attempts WHERE call_id = ? ORDER BY attempt"
        ours = target.execute(query, (call_id,)).fetchall()
        if new := [attempt for attempt in theirs if attempt not in ours]:
            target.execute("DELETE FROM attempts WHERE call_id = ?", (call_id,))
            target.executemany(
                "INSERT INTO attempts (attempt, call_id, received, reply, lost) VALUES (?, ?, ?, ?, ?)",
                ((number, *attempt) for number, attempt in enumerate(in_order(ours, new, key=_reception), start=1)),
            )


def _reception(attempt: _Row) -> _Row:
    """When an attempt came to its end; of two at the same moment, which is first must not depend on who is merged first."""
    _, received, reply, lost = attempt
    return received, reply or "", lost or ""


def _add_batches(target: sqlite3.Connection, source: Store) -> None:
    for batch in _read(source, "SELECT batch_id, run, judge, submitted, state, calls FROM batches ORDER BY rowid"):
        target.execute(f"INSERT OR IGNORE INTO batches VALUES ({_marks(6)})", batch)
        target.execute("UPDATE batches SET state = ? WHERE batch_id = ? AND state = ?", (batch[4], batch[0], SUBMITTED))


def _marks(count: int) -> str:
    return ", ".join("?" * count)
