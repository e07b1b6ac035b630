"""Care of a store: checks its file and rows, deletes rows that nothing refers to, and merges the stores of machines that shared a run."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from heapq import merge as in_order
from itertools import groupby, islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from harness.errors import StoreError, UsageError
from harness.model import Message
from harness.prompts.templates import PromptTemplate, program_hash, prompt_hash
from harness.store.database import FILE, checksum, explaining_errors, store_path, transaction
from harness.store.store import SUBMITTED, Store, decode_reply, unpack_call_ids

T = TypeVar("T")
_MOST_SHOWN = 10  # problems of one kind
_COUNTED = {
    "runs": "runs",
    "calls": "calls",
    "attempts": "attempts",
    "replies": "attempts WHERE reply IS NOT NULL",
    "lost": "attempts WHERE reply IS NULL",
}

# Unreferenced rows, by table. A prompt template (`frames`) of another version of the program cannot be made again. It stays as long as
# there is a run of that version, because the run's report needs it.
_GARBAGE = {
    "frames": "substr(key, 1, instr(key, ':') - 1) NOT IN (SELECT value FROM json_each(:programs))",
    "attempts": "reply IS NULL AND attempt < "
    "(SELECT MAX(attempt) FROM attempts AS of_call WHERE of_call.call_id = attempts.call_id AND reply IS NOT NULL)",
    "calls": "call_id NOT IN (SELECT call_id FROM attempts)",
    "prompts": "prompt_id NOT IN (SELECT prompt_id FROM calls WHERE call_id IN (SELECT call_id FROM attempts))",
}

_Row = tuple[Any, ...]


class StoreReport(msgspec.Struct, frozen=True):
    """The number of rows of each kind (None if they cannot be counted), and one sentence for each problem."""

    counts: dict[str, int | None]
    problems: tuple[str, ...]


def check(folder: Path) -> StoreReport:
    """Check every row of a store at one moment. Raises StoreError when it cannot be opened at all."""
    with Store.reading(folder) as store, explaining_errors(folder):
        store.db.execute("BEGIN")  # a run may be writing to it
        problems: list[str] = []
        for find_problems in _CHECKS:  # the first problems of a kind, and the number of the others
            of_kind = find_problems(store.db)
            try:
                for problem in islice(of_kind, _MOST_SHOWN):
                    problems.append(problem)
                if more := sum(1 for _ in of_kind):
                    problems.append(f"and {more} more of this kind")
            except sqlite3.DatabaseError as err:  # a damaged file ends the search
                problems.append(f"the file cannot be read to its end ({err}): restore it from a copy")
        counts: dict[str, int | None] = dict.fromkeys(_COUNTED)
        for name, rows in _COUNTED.items():
            with suppress(sqlite3.DatabaseError):  # the checks have reported it
                [[count]] = store.db.execute(f"SELECT COUNT(*) FROM {rows}")
                counts[name] = int(count)
        return StoreReport(counts, tuple(problems))


def _file(db: sqlite3.Connection) -> Iterator[str]:
    for (message,) in db.execute("PRAGMA integrity_check"):
        if message != "ok":
            yield f"the file is damaged: {' '.join(message.split())}"


def _attempts(db: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT call_id, attempt, lost, CAST(reply AS BLOB), checksum FROM attempts"  # a damaged text may not be decodable
    for call_id, attempt, lost, reply, expected in db.execute(query):
        if (reply is None) == (lost is None):
            contents = "neither a reply nor a reason" if reply is None else "both a reply and a reason"
            yield f"attempt {attempt} of call {call_id} has {contents} why there is none"
        if reply is not None and (wrong := _try_to_read(decode_reply, reply)[1]):
            yield f"attempt {attempt} of call {call_id} has a reply that cannot be read: {wrong}"
        elif reply is not None and checksum(reply) != expected:
            yield f"attempt {attempt} of call {call_id} has a different reply than the one that was received: its checksum differs"


def _numbers(db: sqlite3.Connection) -> Iterator[str]:
    query = (
        "SELECT call_id, COUNT(*), MIN(attempt), MAX(attempt) FROM attempts GROUP BY call_id "
        "HAVING MIN(attempt) != 1 OR MAX(attempt) != COUNT(*)"
    )
    for call_id, count, first, last in db.execute(query):
        yield f"call {call_id} has {count} attempts, numbered from {first} to {last}; they should be numbered from 1 without a gap"


def _calls(db: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT DISTINCT call_id FROM attempts WHERE NOT EXISTS (SELECT 1 FROM calls WHERE calls.call_id = attempts.call_id)"
    for (call_id,) in db.execute(query):
        yield f"there are attempts of call {call_id}, but the call is missing"


def _prompts_of_calls(db: sqlite3.Connection) -> Iterator[str]:
    query = "SELECT call_id, prompt_id FROM calls WHERE NOT EXISTS (SELECT 1 FROM prompts WHERE prompts.prompt_id = calls.prompt_id)"
    for call_id, prompt_id in db.execute(query):
        yield f"call {call_id} asks prompt {prompt_id}, which is missing"


class _Body(msgspec.Struct):
    messages: tuple[Message, ...]
    schema: dict[str, Any]


def _prompts(db: sqlite3.Connection) -> Iterator[str]:
    decode = msgspec.json.Decoder(_Body).decode

    def hashed(packed: bytes) -> str:
        body = decode(zlib.decompress(packed))
        return prompt_hash(body.messages, body.schema)

    for prompt_id, packed in db.execute("SELECT prompt_id, body FROM prompts"):
        body_hash, wrong = _try_to_read(hashed, packed)
        if wrong:
            yield f"prompt {prompt_id} cannot be read: {wrong}"
        elif body_hash != prompt_id:
            yield f"prompt {prompt_id} has a different text than it was made with: its hash is {body_hash}"


def _templates(db: sqlite3.Connection) -> Iterator[str]:
    decode = msgspec.json.Decoder(PromptTemplate).decode
    for key, template, expected in db.execute("SELECT key, frame, checksum FROM frames"):
        if wrong := _try_to_read(decode, template)[1]:
            yield f"the prompt template {key} cannot be read: {wrong}"
        elif checksum(template) != expected:
            yield f"the prompt template {key} is different from the one that was stored: its checksum differs"


def _runs_and_batches(db: sqlite3.Connection) -> Iterator[str]:
    spec = msgspec.json.Decoder(dict[str, Any]).decode
    for kind, query, decode in (
        ("the specification of run", "SELECT name, spec FROM runs ORDER BY number", spec),
        ("the list of calls of batch", "SELECT batch_id, calls FROM batches", unpack_call_ids),
    ):
        for name, stored in db.execute(query):
            if wrong := _try_to_read(decode, stored)[1]:
                yield f"{kind} {name} cannot be read: {wrong}"


def _try_to_read(read: Callable[[Any], T], stored: Any) -> tuple[T | None, str]:
    """Return the result of `read`, and what is wrong with the stored value, if anything."""
    try:
        return read(stored), ""
    except (msgspec.DecodeError, zlib.error, UnicodeDecodeError, TypeError) as err:
        return None, str(err) or type(err).__name__


_CHECKS = (_file, _attempts, _numbers, _calls, _prompts_of_calls, _prompts, _templates, _runs_and_batches)


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
                # Number the attempts of each call from 1 without gaps, in their order.
                gaps = store.db.execute("SELECT call_id FROM attempts GROUP BY call_id HAVING MAX(attempt) != COUNT(*)").fetchall()
                for (call_id,) in gaps:
                    remaining = store.db.execute("SELECT attempt FROM attempts WHERE call_id = ? ORDER BY attempt", (call_id,)).fetchall()
                    store.db.executemany(
                        "UPDATE attempts SET attempt = ? WHERE call_id = ? AND attempt = ?",
                        [(number, call_id, attempt) for number, (attempt,) in enumerate(remaining, start=1)],
                    )
            # Rewrite the file if rows were deleted, now or by an earlier command that had too little disk space to rewrite it.
            [[free_pages]] = store.db.execute("PRAGMA freelist_count")
            if any(rows.values()) or free_pages:
                store.db.execute("VACUUM")
            store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return RemovedRows(**rows, bytes_before=before, bytes_after=_bytes(folder / FILE))


def _on_garbage(db: sqlite3.Connection, statement: str) -> dict[str, sqlite3.Cursor]:
    """Count or delete unreferenced rows, by table."""
    # The prompt programs in use, as a JSON list of hashes: that of this version, and those of the stored runs.
    used = {program_hash()}
    for name, spec in db.execute("SELECT name, spec FROM runs"):
        try:
            used.add(msgspec.json.decode(spec)["prompts"])
        except (msgspec.DecodeError, KeyError, TypeError):
            raise StoreError(
                f"the specification of run {name} is damaged, so it is unknown which rows it needs; nothing was removed"
            ) from None
    programs = msgspec.json.encode(sorted(used)).decode()
    parameters = {"programs": programs}
    return {table: db.execute(f"{statement} FROM {table} WHERE {where}", parameters) for table, where in _GARBAGE.items()}


def _bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, path.with_name(f"{FILE}-wal")) if file.exists())


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
                with explaining_errors(store.folder):
                    store.db.execute("BEGIN")  # a run may be writing to it
                query = "SELECT created, name, spec FROM runs ORDER BY number"
                target_rows = target.db.execute(query).fetchall()
                run_ids = {name for _, name, _ in target_rows}
                new = [run for run in _read(store, query) if run[1] not in run_ids]
                target.db.execute("DELETE FROM runs")
                target.db.executemany("INSERT INTO runs (created, name, spec) VALUES (?, ?, ?)", in_order(target_rows, new))
                for table, columns in (("frames", 3), ("prompts", 2), ("calls", 10)):
                    target.db.executemany(
                        f"INSERT OR IGNORE INTO {table} VALUES ({_placeholders(columns)})", _read(store, f"SELECT * FROM {table}")
                    )
                attempts = _read(store, "SELECT call_id, received, reply, lost, checksum FROM attempts ORDER BY call_id, attempt")
                for call_id, of_call in groupby(attempts, key=lambda row: row[0]):
                    query = "SELECT call_id, received, reply, lost, checksum FROM attempts WHERE call_id = ? ORDER BY attempt"
                    target_rows = target.db.execute(query, (call_id,)).fetchall()
                    if new := [attempt for attempt in of_call if attempt not in set(target_rows)]:
                        target.db.execute("DELETE FROM attempts WHERE call_id = ?", (call_id,))
                        target.db.executemany(
                            "INSERT INTO attempts (attempt, call_id, received, reply, lost, checksum) VALUES (?, ?, ?, ?, ?, ?)",
                            ((number, *attempt) for number, attempt in enumerate(in_order(target_rows, new, key=_received_order), start=1)),
                        )
                for batch in _read(store, "SELECT batch_id, run, judge, submitted, state, calls FROM batches ORDER BY rowid"):
                    target.db.execute(f"INSERT OR IGNORE INTO batches VALUES ({_placeholders(6)})", batch)
                    target.db.execute("UPDATE batches SET state = ? WHERE batch_id = ? AND state = ?", (batch[4], batch[0], SUBMITTED))
        return AddedRows(**{table: count - before[table] for table, count in _rows(target.db).items()})


def _rows(db: sqlite3.Connection) -> dict[str, int]:
    return {table: db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in AddedRows.__struct_fields__}


def _read(source: Store, query: str) -> Iterator[_Row]:
    """Stream rows of a source. Errors name the source, not the target."""
    with explaining_errors(source.folder):
        yield from source.db.execute(query)


def _received_order(attempt: _Row) -> _Row:
    """Order by time. Of two attempts at the same time, the first must not depend on the order of the sources."""
    _, received, reply, lost, _ = attempt
    return received, reply or "", lost or ""


def _placeholders(count: int) -> str:
    return ", ".join("?" * count)
