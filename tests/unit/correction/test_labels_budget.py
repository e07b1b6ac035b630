"""How many labels are missing: for a half-width by hand, for a verdict as the verdict says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from harness.correction.labels_budget import NO_AGREEMENT, NO_NUMBER, SHOWN, LabelBudget, design_effect_of_share, label_budget
from harness.correction.options import LabelBudgetOptions
from harness.errors import UsageError
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.reports.comparison import compare
from harness.stats import wilson
from harness.stats.intervals.cluster_mean import cluster_mean

MakeRecording = Callable[..., Recording]


@pytest.fixture
def texts(make_recording: MakeRecording) -> Callable[..., Recording]:
    """`n` texts with three labels; the judge is right on the given share of them."""

    def make(n: int, right: float = 0.9, size: int = 1, **other: object) -> Recording:
        rng = np.random.default_rng(0)
        labels, answers = {}, {}
        for number, score in enumerate(rng.integers(0, 3, n).tolist()):
            labels[f"i{number}"] = [score, score, score if number % 3 else (score + 1) % 3]
            answers[f"i{number}"] = score if number < right * n else (score + 2) % 3
        places = {f"i{number}": {"group": f"g{number // size}"} for number in range(n)}
        return make_recording(labels, answers, places=places, **other)

    return make


def budget(recording: Recording, half_width: float = 0.05) -> LabelBudget:
    return label_budget([recording], LabelBudgetOptions(half_width=half_width))


def test_the_number_of_texts_reaches_the_half_width_and_one_less_does_not(texts: Callable[..., Recording]) -> None:
    [cell] = budget(texts(100, 0.9), 0.03).cells
    assert (cell.n, cell.agreement) == (100, 0.9) and cell.design_effect == pytest.approx(1.0)

    def half(n: int) -> float:
        lo, hi = wilson(0.9 * n, n)
        return (hi - lo) / 2

    assert cell.half_width == pytest.approx(half(100)) and cell.texts_for_half_width == 388
    assert half(388) <= 0.03 < half(387) and cell.more_for_half_width == 288


def test_texts_that_share_a_group_count_less(texts: Callable[..., Recording]) -> None:
    [alone], [together] = budget(texts(100, 0.5)).cells, budget(texts(100, 0.5, size=5)).cells
    assert together.design_effect == pytest.approx(5, rel=0.1) and alone.texts_for_half_width and together.texts_for_half_width
    assert together.texts_for_half_width > 4 * alone.texts_for_half_width


def test_what_is_enough_needs_nothing(texts: Callable[..., Recording]) -> None:
    [cell] = budget(texts(300, 0.95)).cells
    assert cell.more_for_half_width == 0 and cell.verdict == "use" and cell.reasons == {"more_for_verdict": SHOWN}


def test_further_texts_for_a_verdict_are_those_of_the_verdict(texts: Callable[..., Recording]) -> None:
    recording = texts(60, 0.9)
    [verdict] = compare([recording], MeasureOptions()).verdicts
    [cell] = budget(recording).cells
    assert (cell.verdict, cell.more_for_verdict, cell.more_than) == (verdict.decision.verdict, verdict["k"], verdict["more_than_k"])


def test_where_no_number_would_do_it_says_so(texts: Callable[..., Recording]) -> None:
    [cell] = budget(texts(60, 0.3)).cells
    assert cell.more_for_verdict is None and cell.reasons["more_for_verdict"] == NO_NUMBER


def test_without_an_aggregate_there_is_no_share(make_recording: MakeRecording) -> None:
    [cell] = budget(make_recording({"a": [0, 1], "b": [1, 2]}, {"a": 0, "b": 1})).cells
    assert cell.texts_for_half_width is None and cell.reasons["agreement"] == NO_AGREEMENT


@pytest.mark.parametrize("half_width", [0.0, -0.1, 0.5, float("nan")])
def test_a_half_width_is_a_share(texts: Callable[..., Recording], half_width: float) -> None:
    with pytest.raises(UsageError, match="half-width"):
        budget(texts(30), half_width)


def test_a_design_effect_is_at_least_one() -> None:
    assert design_effect_of_share(cluster_mean([1.0] * 10)) == 1.0
    assert design_effect_of_share(cluster_mean([1.0, 0.0] * 10, np.arange(20) // 2)) == 1.0
    assert np.isnan(design_effect_of_share(cluster_mean([])))
