"""The embedded model: how many threads it gets, and texts that cannot end its turn."""

from __future__ import annotations

import os

import pytest

from harness.judges.local import thread_count


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 2), (8, 8), (64, 8)])
def test_there_is_a_thread_for_each_core_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch, cores: int, threads: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)), raising=False)
    assert thread_count() == threads


def test_without_an_affinity_all_cores_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert thread_count() == 4
