"""Batches that a provider has taken: noted until they are settled, in the order of handing in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import StoreError
from harness.store import Store, StoredBatch

CALLS = tuple(f"{n:064x}" for n in range(5000))


def test_a_batch_comes_back_with_its_calls_in_order(tmp_path: Path, clock: Any) -> None:
    with Store.writing(tmp_path) as store:
        store.put_batch("b", "run", "openai/one", CALLS)
    with Store.reading(tmp_path) as store:
        assert store.batches("run", "openai/one") == [StoredBatch("b", "run", "openai/one", clock.now, "submitted", CALLS)]


def test_batches_are_of_one_run_and_judge_in_the_order_of_handing_in(tmp_path: Path, clock: Any) -> None:
    with Store.writing(tmp_path) as store:
        for name in ("z", "m", "a"):
            store.put_batch(name, "run", "openai/one", CALLS[:2])
            clock.now -= 86_400  # whatever the clock says
        store.put_batch("other", "another run", "openai/one", ())
        store.put_batch("another", "run", "openai/two", ())
        assert [batch.batch_id for batch in store.batches("run", "openai/one")] == ["z", "m", "a"]
        assert [batch.batch_id for batch in store.batches("run", "openai/two")] == ["another"]
        assert store.batches("no run", "openai/one") == []


def test_a_batch_is_settled_once_and_for_all(tmp_path: Path) -> None:
    with Store.writing(tmp_path) as store:
        for name in ("one", "two"):
            store.put_batch(name, "run", "openai/one", CALLS[:1])
        store.settle_batch("one", "fetched")
    with Store.writing(tmp_path) as store:
        store.put_batch("one", "run", "openai/one", CALLS)  # as it was noted before
        found = store.batches("run", "openai/one")
    assert [(batch.batch_id, batch.state, len(batch.calls)) for batch in found] == [("one", "fetched", 1), ("two", "submitted", 1)]


def test_a_batch_that_is_not_here_cannot_be_settled(tmp_path: Path) -> None:
    with (
        Store.writing(tmp_path) as store,
        pytest.raises(StoreError, match="no batch 'elsewhere'; it was submitted from another"),
    ):
        store.settle_batch("elsewhere", "fetched")


@pytest.mark.parametrize("damaged", [b"", b"x\x9c", b"[]"], ids=["empty", "cut", "not packed"])
def test_a_damaged_list_of_calls_is_said(tmp_path: Path, rows: Callable[..., Any], damaged: bytes) -> None:
    with Store.writing(tmp_path) as store:
        store.put_batch("b", "run", "openai/one", CALLS)
    rows(tmp_path, "UPDATE batches SET calls = ?", damaged)
    with Store.reading(tmp_path) as store, pytest.raises(StoreError, match="the calls of a batch of run run are damaged"):
        store.batches("run", "openai/one")
