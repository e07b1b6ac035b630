"""What is noted of batches in the store, and what a later process finds there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.engines.batch.record import BatchRecord, file_id, is_file
from harness.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.writing(tmp_path) as opened:
        for run in ("one", "two"):
            opened.put_run(run, b"{}")
        yield opened


@pytest.fixture
def record(store: Store) -> BatchRecord:
    return BatchRecord(store, "openai/m", "one")


def test_an_uploaded_file_is_open_with_its_calls(record: BatchRecord) -> None:
    note = record.add_file("file-1", ("a", "b"))
    [found] = record.open()
    assert is_file(found) and file_id(found) == "file-1"
    assert (found.calls, found.run, found.judge) == (note.calls, note.run, note.judge) == (("a", "b"), "one", "openai/m")


def test_a_batch_takes_the_place_of_its_file(record: BatchRecord) -> None:
    made = record.add_batch(record.add_file("file-1", ("a", "b")), "batch_1")
    [found] = record.open()
    assert not is_file(found) and found.batch_id == made.batch_id == "batch_1" and found.calls == made.calls == ("a", "b")


def test_noting_a_batch_twice_changes_nothing(record: BatchRecord) -> None:
    note = record.add_file("file-1", ("a",))
    record.add_batch(note, "batch_1")
    record.add_batch(note, "batch_1")
    assert [one.batch_id for one in record.open()] == ["batch_1"]


def test_what_came_to_nothing_or_to_its_end_is_not_open(record: BatchRecord, store: Store) -> None:
    record.drop_file(record.add_file("file-1", ("a",)))
    record.settle(record.add_batch(record.add_file("file-2", ("b",)), "batch_2"), "expired")
    assert record.open() == []
    states = {batch.batch_id: batch.state for batch in store.batches("one", "openai/m")}
    assert states == {"file file-1": "not made into a batch", "file file-2": "made into batch_2", "batch_2": "expired"}


def test_batches_of_other_runs_are_open_too_and_stay_theirs(record: BatchRecord, store: Store) -> None:
    other = BatchRecord(store, "openai/m", "two")
    other.add_file("file-1", ("a",))
    [note] = record.open()
    assert record.add_batch(note, "batch_1").run == "two"
    assert [batch.batch_id for batch in store.batches("two", "openai/m")] == ["file file-1", "batch_1"]
    assert store.batches("one", "openai/m") == []


def test_batches_of_another_judge_are_not_seen(record: BatchRecord, store: Store) -> None:
    BatchRecord(store, "openai/other", "one").add_file("file-1", ("a",))
    assert record.open() == []
