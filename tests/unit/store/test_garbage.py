"""Removing what is of no use: replies stay, reports stay possible, and the file gets smaller."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.errors import StoreError
from harness.prompts.templates import program_hash
from harness.store import Store
from harness.store.damage import check
from harness.store.garbage import collect

Put = Callable[..., None]
Rows = Callable[..., list[Any]]
Said = Callable[[str], Any]
ATTEMPTS = "SELECT call_id, attempt, lost FROM attempts ORDER BY call_id, attempt"


def removed(folder: Path, **options: bool) -> dict[str, int]:
    found = msgspec.structs.asdict(collect(folder, **options))
    return {table: found[table] for table in ("frames", "attempts", "calls", "prompts")}


NOTHING = {"frames": 0, "attempts": 0, "calls": 0, "prompts": 0}


@pytest.fixture
def littered(tmp_path: Path, put: Put, said: Said, make_call: Callable[..., Any], rows: Rows) -> Path:
    """A store with something to remove of each kind."""
    folder = tmp_path / "littered"
    with Store.writing(folder) as store:
        store.put_run("run", b'{"prompts":"earlier"}')
        for program in ("earlier", "another", program_hash()):
            store.put_template(f"{program}:question", b"{}")
        put(store, ("late", None, "1"), ("late", None, "2"), ("lost", None, "1"), ("lost", None, "2"))
        put(store, ("late", said("first"), None), ("late", None, "3"), ("late", said("second"), None), ("late", None, "4"))
        put(store, (make_call("untried", prompt_id="unasked"), said(""), None))
    rows(folder, "DELETE FROM attempts WHERE call_id = 'untried'")
    return folder


def test_only_what_is_of_no_use_is_removed(littered: Path, rows: Rows) -> None:
    assert removed(littered) == {"frames": 1, "attempts": 3, "calls": 1, "prompts": 1}
    assert rows(littered, ATTEMPTS) == [("late", 1, None), ("late", 2, None), ("late", 3, "4"), ("lost", 1, "1"), ("lost", 2, "2")]
    assert rows(littered, "SELECT call_id FROM calls ORDER BY call_id") == ["late", "lost"]
    assert rows(littered, "SELECT COUNT(*) FROM prompts") == [1]
    assert rows(littered, "SELECT name FROM runs") == ["run"]


def test_replies_and_their_order_stay(littered: Path, said: Said) -> None:
    with Store.reading(littered) as store:
        before = list(store.export())
    collect(littered)
    with Store.reading(littered) as store:
        assert list(store.export()) == before
        assert list(store.replies(["late"])) == [said("second")]


def test_frames_stay_that_a_run_is_read_with(littered: Path, rows: Rows) -> None:
    """Those of an earlier wording cannot be made again."""
    collect(littered)
    assert rows(littered, "SELECT key FROM frames ORDER BY key") == sorted(["earlier:question", f"{program_hash()}:question"])


def test_a_second_time_there_is_nothing_to_remove(littered: Path) -> None:
    collect(littered)
    assert removed(littered) == NOTHING


def test_a_dry_run_counts_the_same_and_changes_nothing(littered: Path) -> None:
    path = littered / "store.sqlite"
    before = path.read_bytes()
    counted = removed(littered, dry_run=True)
    assert path.read_bytes() == before
    assert counted == removed(littered) != NOTHING


def test_the_file_shrinks_by_what_is_said(tmp_path: Path, put: Put, said: Said) -> None:
    with Store.writing(tmp_path) as store:
        put(store, *(("a", None, "x" * 1000) for _ in range(1000)), ("a", said("at last"), None))
    size = (tmp_path / "store.sqlite").stat().st_size
    found = collect(tmp_path)
    assert found.bytes_before == size > 1_000_000
    assert found.bytes_after == (tmp_path / "store.sqlite").stat().st_size < 100_000
    assert check(tmp_path).problems == ()


def test_room_that_an_earlier_try_could_not_give_back_is_given_back(tmp_path: Path, put: Put, said: Said, rows: Rows) -> None:
    with Store.writing(tmp_path) as store:
        put(store, *(("a", None, "x" * 1000) for _ in range(1000)), ("a", said("at last"), None))
    rows(tmp_path, "DELETE FROM attempts WHERE lost IS NOT NULL")
    rows(tmp_path, "UPDATE attempts SET attempt = 1")
    assert removed(tmp_path, dry_run=True) == NOTHING
    assert collect(tmp_path).bytes_after < 100_000


def test_a_run_that_cannot_be_read_might_need_anything(littered: Path, rows: Rows) -> None:
    rows(littered, "UPDATE runs SET spec = '{'")
    before = rows(littered, ATTEMPTS)
    with pytest.raises(StoreError, match=r"the specification of run run is damaged, .*; nothing was removed"):
        collect(littered)
    assert rows(littered, ATTEMPTS) == before


def test_a_folder_that_a_run_holds_is_left_alone(littered: Path) -> None:
    with Store.writing(littered), pytest.raises(StoreError, match="is in use by another run"):
        collect(littered)


@pytest.mark.parametrize("dry_run", [True, False])
def test_without_a_store_there_is_nothing_to_clean_and_none_is_made(tmp_path: Path, dry_run: bool) -> None:
    with pytest.raises(StoreError, match="no results in"):
        collect(tmp_path / "none", dry_run=dry_run)
    assert list(tmp_path.iterdir()) == []
