"""The promise of a cascade on recorded answers: six judges by price, and one judge's sampled ratings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.recorded_cascades import DELTA, rates, six_judges, three_prompts


@pytest.mark.slow
@pytest.mark.needs("shared data")
def test_the_promise_holds_on_recorded_judges(shared_data: Path) -> None:
    judges = dict(six_judges(shared_data / "alttest"))
    prompts = dict(three_prompts(shared_data / "chiang_lee_closer_look"))
    for recorded, alpha in ((judges["ambiance"], 0.1), (judges["food"], 0.1), (judges["noise"], 0.1), (prompts["coherence"], 0.3)):
        found = rates(recorded, alpha, 60)
        assert found.certified > 0, "a promise that is never made cannot be broken"
        assert found.broken <= DELTA + 2 * (DELTA * (1 - DELTA) / 60) ** 0.5
