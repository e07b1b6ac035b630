"""Two judges on continuous scores: paired differences of correlations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from harness.measure.compare import Recording, compare
from harness.measure.options import MeasureOptions
from harness.model import Judgment, Scale

MakeRecording = Callable[..., Recording]
Judged = Callable[..., Judgment]
RNG = np.random.default_rng(11)
SCALE = Scale(kind="interval", min=0.0, max=100.0, best=100.0)
TRUTH = {f"i{n}": int(RNG.integers(0, 101)) for n in range(120)}
NEAR = {name: int(np.clip(score + RNG.normal() * 15, 0, 100)) for name, score in TRUTH.items()}
FAR = {name: int(np.clip(score + RNG.normal() * 60, 0, 100)) for name, score in TRUTH.items()}


@pytest.fixture
def two(make_recording: MakeRecording, judged: Judged) -> Recording:
    given = [judged(item, score, judge=name) for name, of in (("near", NEAR), ("far", FAR)) for item, score in of.items()]
    return make_recording({item: [score] for item, score in TRUTH.items()}, given, scales={"m": SCALE})


def test_versus_gives_the_difference_of_scipys_correlations(two: Recording) -> None:
    near, far = sorted(compare([two], MeasureOptions(versus=("judge", "far"))).cells, key=lambda cell: cell["judge"] == "far")
    assert far.versus is None
    versus: dict[str, Any] = near.versus or {}
    x, y, z = (np.array(list(of.values())) for of in (TRUTH, NEAR, FAR))
    wanted = {
        "kendall_tau": stats.kendalltau(x, y).statistic - stats.kendalltau(x, z).statistic,
        "pearson": stats.pearsonr(x, y).statistic - stats.pearsonr(x, z).statistic,
        "spearman": stats.spearmanr(x, y).statistic - stats.spearmanr(x, z).statistic,
    }
    assert (versus["statistic"], versus["with"], versus["n"]) == ("kendall_tau", "far", 120)
    for name, value in wanted.items():
        own = versus["differences"][name]
        assert own["diff"] == pytest.approx(value)
        assert own["ci"][0] < value < own["ci"][1] and own["ci"][0] > 0 and own["p"] < 0.001
    assert versus["diff"] == pytest.approx(wanted["kendall_tau"]) == pytest.approx(near["kendall_tau"] - far["kendall_tau"])
    assert versus["differences"]["kendall_tau_within"]["reason"] == "the dataset card names no segment (the key of the source text)"
    assert (versus["margins"], versus["mcnemar"]) == (None, None)
