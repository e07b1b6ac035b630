"""Ratings of Topical-Chat by GPT-3.5 beside people's: the numbers of Chiang & Lee (2023), arXiv 2310.05657, table 2.

PROVENANCE.md of the data says which rows of the table the released ratings give again: Pearson's r of the first three, and their taus as
means over dialogues. The released ratings of groundedness hold values off their scale, which the authors keep and the harness does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.needs("shared data")
REPRODUCED = ("cot+score-only", "score-only", "free-text")


@pytest.fixture(scope="module")
def section(shared_data: Path) -> Callable[[str], dict[str, dict[str, Any]]]:
    @cache
    def rows_of(variant: str) -> dict[str, dict[str, Any]]:
        import msgspec

        from harness import sources
        from harness.measure.options import MeasureOptions
        from harness.studies.chiang_lee.section import chiang_lee

        data = sources.load(shared_data / "chiang_lee_closer_look")
        assert data.judgments is not None
        chosen = data.judgments.take(np.flatnonzero(data.judgments.variant.recode({variant: 0}) == 0))
        found = chiang_lee(msgspec.structs.replace(data, judgments=chosen), chosen, MeasureOptions(resamples=100))
        assert found is not None
        return {row["metric"]: row for row in found["rows"]}

    return rows_of


@pytest.fixture(scope="module")
def published(shared_data: Path) -> dict[str, dict[str, list[float]]]:
    read: dict[str, Any] = json.loads((shared_data / "chiang_lee_closer_look" / "expected.json").read_text("utf-8"))
    results: dict[str, dict[str, list[float]]] = read["results"]
    return results


@pytest.mark.slow  # 30,000 ratings of each prompt
@pytest.mark.parametrize("variant", REPRODUCED)
def test_correlations_with_people_are_the_published_ones(section: Any, published: Any, variant: str) -> None:
    for metric, (r, tau) in published[variant].items():
        row = section(variant)[metric]
        assert row["r"] == pytest.approx(r, abs=0.01)
        assert row["tau_in_prompt"] == pytest.approx(tau, abs=0.03 if metric == "groundedness" else 0.003)


@pytest.mark.slow
def test_people_cannot_be_compared_where_only_their_mean_is_released(section: Any) -> None:
    for row in section("score-only").values():
        assert row["people_alpha_interval"] is None and "no text has scores of two annotators" in row["undefined"].values()
        assert row["alpha_interval_ci"][0] < row["alpha_interval"] < row["alpha_interval_ci"][1]
