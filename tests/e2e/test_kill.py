"""A run that is killed at any moment loses no reply that it has committed, and asks again at most what was in flight."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

IN_FLIGHT = 8
RUN = ("run", "--langs", "ja,cs", "--judge", "openai/m", "--concurrency", str(IN_FLIGHT))


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_at_random_moments_cost_at_most_what_was_in_flight(
    seed: int,
    cli: Callable[..., Any],
    endpoint: Any,
    start: Callable[..., Any],
    rows: Callable[..., Any],
    run_folder: Callable[[Path], Path],
    tmp_path: Path,
) -> None:
    chance = random.Random(seed)
    endpoint.latency = 0.02
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    assert cli(*RUN, "--base-url", endpoint.url, "--out", undisturbed).code == 0
    calls = len(endpoint.requests)
    assert calls > 90  # or the moments below would come too late
    endpoint.requests.clear()
    kept: list[Any] = []
    for moment in sorted(chance.sample(range(1, calls - IN_FLIGHT), 4)):
        before = len(endpoint.requests)
        process = start(*RUN, "--base-url", endpoint.url, "--out", killed)
        endpoint.wait_for(max(moment, before + 1))
        time.sleep(chance.uniform(0, 2 * endpoint.latency))
        process.kill()
        process.wait()
        stored = rows(killed, "SELECT call_id, reply FROM attempts WHERE reply IS NOT NULL")
        assert all(row in stored for row in kept)  # nothing committed is lost
        asked = len(endpoint.requests) - before
        assert 0 <= asked - (len(stored) - len(kept)) <= IN_FLIGHT  # all but what was in flight has been kept
        kept = stored
    again = cli(*RUN, "--base-url", endpoint.url, "--out", killed)
    assert again.code == 0 and f"{len(kept)} answered already" in again.err
    times = Counter(request.key for request in endpoint.requests)
    assert len(times) == calls
    assert sum(times.values()) - calls <= 4 * IN_FLIGHT
    final = {row["call_id"]: row["reply"] for row in rows(killed, "SELECT call_id, reply FROM attempts")}
    assert all(final[row["call_id"]] == row["reply"] for row in kept)
    assert len(final) == len(rows(killed, "SELECT 1 FROM attempts")) == calls  # no call was kept twice
    for name in ("report.json", "report.csv"):
        assert (run_folder(killed) / name).read_bytes() == (run_folder(undisturbed) / name).read_bytes()


def test_a_kill_before_the_first_call_leaves_a_folder_that_works(
    cli: Callable[..., Any], endpoint: Any, start: Callable[..., Any], tmp_path: Path
) -> None:
    chance = random.Random(0)
    folder = tmp_path / "results"
    for _ in range(3):
        process = start("run", "--langs", "cs", "--judge", "baseline/random", "--out", folder)
        deadline = time.monotonic() + 30
        while not folder.exists():
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.1))
        process.kill()
        process.wait()
    done = cli("run", "--langs", "cs", "--judge", "baseline/random", "--out", folder)
    assert done.code == 0
