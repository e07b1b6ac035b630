"""What a judge may be asked is divided over workers: together they never exceed it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.asking import Settings
from harness.engines.ray.messages import divide_limits


@given(
    workers=st.integers(1, 40),
    concurrency=st.none() | st.integers(1, 100),
    rpm=st.none() | st.floats(0.1, 1e4),
    tpm=st.none() | st.floats(1, 1e7),
)
def test_shares_add_up_to_the_whole_and_leave_nobody_without(
    workers: int, concurrency: int | None, rpm: float | None, tpm: float | None
) -> None:
    whole = {name: {} if value is None else {"": value} for name, value in (("concurrency", concurrency), ("rpm", rpm), ("tpm", tpm))}
    found = divide_limits(Settings(**whole), "openai/m", workers)  # type: ignore[arg-type]
    assert 1 <= len(found) <= workers
    for name, wanted in (("concurrency", concurrency), ("rpm", rpm), ("tpm", tpm)):
        parts = [getattr(one, name) for one in found]
        if wanted is None:
            assert parts == [{}] * len(found)
        else:
            assert sum(part[""] for part in parts) == pytest.approx(wanted) and all(part[""] > 0 for part in parts)


def test_whole_parts_differ_by_one_at_most() -> None:
    assert [one.concurrency[""] for one in divide_limits(Settings(concurrency={"": 11}), "openai/m", 4)] == [3, 3, 3, 2]


def test_no_more_workers_ask_than_may_ask_at_once_or_in_a_minute() -> None:
    assert len(divide_limits(Settings(concurrency={"": 2}), "openai/m", 8)) == 2
    assert len(divide_limits(Settings(rpm={"": 3}), "openai/m", 8)) == 3
    assert len(divide_limits(Settings(rpm={"": 0.5}), "openai/m", 8)) == 1


def test_what_is_said_of_one_judge_is_its_own() -> None:
    settings = Settings(concurrency={"": 8, "openai/slow": 1}, attempts=3)
    assert [one.concurrency for one in divide_limits(settings, "openai/slow", 2)] == [{"": 1}]
    [fast, _] = divide_limits(settings, "openai/fast", 2)
    assert fast.concurrency == {"": 4} and fast.attempts == 3
