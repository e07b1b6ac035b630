"""Checkpoints in the background: what was written moves from the log into the file without a commit's help, and a failure costs nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.store import Store
from harness.store import store as store_module
from harness.store.store import Checkpoints

Put = Callable[..., None]
Said = Callable[[str], Any]
COUNT = 20


def answered_without_log(folder: Path, copy: Path) -> int:
    """How many of the calls have a reply in the store's file alone."""
    copy.mkdir()
    shutil.copy(folder / "store.sqlite", copy)
    with Store.reading(copy) as store:
        return sum(attempt is not None for attempt in store.last_attempts(f"call {n}" for n in range(COUNT)))


@pytest.mark.parametrize(("every", "moved"), [(5, COUNT), (COUNT + 1, 0)])
def test_after_so_many_attempts_the_log_is_moved_into_the_file(
    tmp_path: Path, put: Put, said: Said, monkeypatch: pytest.MonkeyPatch, every: int, moved: int
) -> None:
    monkeypatch.setattr(store_module, "_ATTEMPTS", every)
    with Store.writing(tmp_path / "running") as store:
        shutil.copy(tmp_path / "running" / "store.sqlite", tmp_path)
        for n in range(COUNT):
            put(store, (f"call {n}", said("x"), None))
            if store._checkpoints and store._checkpoints._running:
                store._checkpoints._running.result()
        if moved:
            assert answered_without_log(tmp_path / "running", tmp_path / "copy") == moved
        else:
            assert (tmp_path / "running" / "store.sqlite").read_bytes() == (tmp_path / "store.sqlite").read_bytes()


def test_a_checkpoint_that_fails_is_left_to_the_commits(tmp_path: Path, put: Put, said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_ATTEMPTS", 1)
    with Store.writing(tmp_path) as store:
        assert isinstance(store._checkpoints, Checkpoints)
        store._checkpoints._db.close()
        for n in range(COUNT):
            put(store, (f"call {n}", said("x"), None))
        assert store._checkpoints._running is not None and store._checkpoints._running.exception() is None
    with Store.reading(tmp_path) as store:
        assert None not in list(store.last_attempts(f"call {n}" for n in range(COUNT)))
