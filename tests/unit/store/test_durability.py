"""What a store survives: a torn file, a full disk, a clock that jumps, a holder that dies."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import StoreError
from harness.store import Store
from harness.store.maintenance import check
from harness.store.store import RecentIds

Put = Callable[..., None]
Rows = Callable[..., list[Any]]
Said = Callable[[str], Any]
TEARS = pytest.mark.parametrize(
    "torn", [lambda wal, at: wal[:at], lambda wal, at: wal[:at] + b"\xa5" * (len(wal) - at)], ids=["cut", "garbage"]
)


def answered(store: Store, count: int) -> list[int]:
    """Which of the first calls have a reply."""
    return [n for n, attempt in enumerate(store.last_attempts(f"call {n}" for n in range(count))) if attempt is not None]


# A torn log: after a loss of power, its end may be missing or be anything


@TEARS
def test_of_a_torn_log_everything_before_the_tear_is_there(
    tmp_path: Path, put: Put, said: Said, torn: Callable[[bytes, int], bytes]
) -> None:
    log = tmp_path / "running" / "store.sqlite-wal"
    ends = []
    with Store.writing(tmp_path / "running") as store:
        for n in range(12):
            put(store, (f"call {n}", said("x" * 100 * n), None))
            ends.append(log.stat().st_size)
        file, wal = (tmp_path / "running" / "store.sqlite").read_bytes(), log.read_bytes()
    tears = {tear for end in ends for tear in (end - 1, end, end + 1, end + 24, end - 4096)} | {0, 1, 31, 32}
    for at in sorted(tear for tear in tears if 0 <= tear <= len(wal)):
        folder = tmp_path / f"torn at {at}"
        folder.mkdir()
        (folder / "store.sqlite").write_bytes(file)
        (folder / "store.sqlite-wal").write_bytes(torn(wal, at))
        kept = sum(end <= at for end in ends)
        with Store.reading(folder) as store:
            assert answered(store, 12) == list(range(kept)), at
        with Store.writing(folder) as store:
            put(store, *((f"call {n}", said("again"), None) for n in range(kept, 12)))
        assert check(folder).problems == () and check(folder).counts["attempts"] == 12


@TEARS
def test_what_has_left_the_log_for_the_file_does_not_need_the_log(
    tmp_path: Path, put: Put, said: Said, torn: Callable[[bytes, int], bytes]
) -> None:
    with Store.writing(tmp_path / "running") as store:
        for n in range(150):
            put(store, (f"call {n}", said("x" * 160_000), None))
        shutil.copytree(tmp_path / "running", tmp_path / "torn", ignore=shutil.ignore_patterns("*-shm"))
    log = tmp_path / "torn" / "store.sqlite-wal"
    log.write_bytes(torn(log.read_bytes(), 0))
    with Store.writing(tmp_path / "torn") as store:
        kept = answered(store, 150)
    assert kept == list(range(len(kept))) and 50 < len(kept) < 150
    assert check(tmp_path / "torn").problems == ()


# A full disk


def test_what_does_not_fit_leaves_nothing_and_what_was_there_stays(tmp_path: Path, put: Put, said: Said, rows: Rows) -> None:
    with Store.writing(tmp_path) as store:
        put(store, ("before", said("kept"), None))
        [[pages]] = store.db.execute("PRAGMA page_count")
        store.db.execute(f"PRAGMA max_page_count = {pages + 4}")
        for _ in range(2):
            with pytest.raises(StoreError, match="disk is full; make room, then run the same command again: all replies so far are kept"):
                put(store, ("small", said("fits"), None), ("big", said("x" * 100_000), None))
        assert list(store.last_attempts(["before", "small", "big"])) == [1, None, None]
        store.db.execute("PRAGMA max_page_count = 1000000")
        put(store, ("small", said("fits"), None), ("big", said("x" * 100_000), None))
    assert rows(tmp_path, "SELECT call_id FROM calls ORDER BY call_id") == ["before", "big", "small"]
    assert check(tmp_path).problems == ()


# A clock that jumps


DAYS = 86_400.0


def test_the_last_attempt_counts_whatever_the_clock_says(tmp_path: Path, put: Put, said: Said, clock: Any) -> None:
    with Store.writing(tmp_path) as store:
        for text, jump in (("first", 0), ("second", -3 * DAYS), ("third", 5 * DAYS), ("fourth", -9 * DAYS)):
            clock.now += jump
            put(store, ("a", said(text), None))
            assert list(store.replies(["a"])) == [said(text)]
        assert list(store.last_attempts(["a"])) == [4]
    assert check(tmp_path).problems == ()


def test_runs_are_listed_in_the_order_they_were_made_whatever_the_clock_says(tmp_path: Path, clock: Any) -> None:
    for name, jump in (("first", 0), ("second", -3 * DAYS), ("third", 5 * DAYS), ("fourth", -9 * DAYS), ("first", 0)):
        clock.now += jump
        with Store.writing(tmp_path) as store:
            store.put_run(name, b"{}")
    with Store.reading(tmp_path) as store:
        assert list(store.runs()) == ["first", "second", "third", "fourth"]


# Memory


def test_a_call_that_was_just_written_is_not_worked_on_again(tmp_path: Path, put: Put, said: Said, make_call: Any) -> None:
    statements: list[str] = []
    with Store.writing(tmp_path) as store:
        put(store, ("a", None, "lost"))
        store.db.set_trace_callback(statements.append)
        put(store, ("a", said("at last"), None), ("b", said("same prompt"), None))
    written = [statement.split()[4] for statement in statements if statement.startswith("INSERT OR IGNORE")]
    assert written == ["calls"]  # of b


def test_of_the_ids_that_were_written_the_last_are_remembered_and_not_all() -> None:
    recent = RecentIds(100)
    for n in range(1000):
        recent.add([str(n), f"{n} again"])
        assert all(f"{m}" in recent for m in range(max(0, n - 49), n + 1))
    assert sum(f"{n}" in recent for n in range(1000)) <= 100
