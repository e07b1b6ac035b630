"""How long the batch engine lets go by between two looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest

from harness.asking import Settings
from harness.engines import JudgeWork
from harness.engines.batch import engine as module
from harness.engines.batch.engine import _BatchSession
from harness.engines.budget import Budget
from harness.judges import Judge
from harness.judges.batches import ProviderBatch
from harness.model import JudgeIdentity
from harness.store import Store, StoredBatch


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.writing(tmp_path) as opened:
        yield opened


@pytest.fixture
def session(make_work: Callable[..., JudgeWork], store: Store, tmp_path: Path) -> _BatchSession:
    judge = SimpleNamespace(identity=JudgeIdentity("openai", "m"), batches=lambda: None)
    work = msgspec.structs.replace(make_work("a"), judge=cast(Judge, judge))
    return _BatchSession(work, store, Settings(), Budget(Settings()), lambda work, progress: None, tmp_path)


def put(session: _BatchSession, **waits: float | None) -> None:
    """Open batches, and how long each provider's answer asked to wait."""
    for name, wait in waits.items():
        session._open[name] = (
            StoredBatch(name, "run", "openai/m", 0.0, "submitted", ("a",)),
            ProviderBatch(name, "in_progress", asked_to_wait=wait),
        )


def test_looks_are_further_apart_each_time_up_to_a_limit(session: _BatchSession) -> None:
    put(session, b=None)
    pauses = [session._pause() for _ in range(20)]
    assert pauses[0] == module.FIRST_POLL_SECONDS and pauses[-1] == module.LONGEST_POLL_SECONDS
    assert all(one < other or other == module.LONGEST_POLL_SECONDS for one, other in pairwise(pauses))


@pytest.mark.parametrize(
    ("waits", "seconds"),
    [({"b": 0.5}, 0.5), ({"b": 300.0}, 300.0), ({"b": 1.0, "c": 7.0, "d": None}, 7.0), ({"b": 1e9}, 3600.0)],
)
def test_a_provider_that_says_how_long_to_wait_is_heeded(session: _BatchSession, waits: dict[str, float | None], seconds: float) -> None:
    put(session, **waits)
    assert session._pause() == seconds


def test_where_nothing_is_open_the_next_try_of_a_full_queue_is_waited_for(session: _BatchSession) -> None:
    session._retry_at = time.monotonic() + 500
    assert 400 < session._pause() <= 500
    session._retry_at = 0.0
    assert session._pause() == 0.0
