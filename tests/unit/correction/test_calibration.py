"""Calibration by language: against scikit-learn and by construction, and where nothing can be said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as log_loss_of_sklearn

from harness.correction.calibration import NO_LABELS, NO_PROBABILITIES, Calibration, calibration_note, calibration_of, calibrations
from harness.decide.options import DecisionOptions
from harness.measure.compare import Recording, align
from harness.measure.options import MeasureOptions
from harness.model import Failure, Judgment
from harness.reports.comparison import compare
from harness.row_files import to_json

MakeRecording = Callable[..., Recording]
Judged = Callable[..., Judgment]


def found(recording: Recording, **options: Any) -> tuple[Calibration, ...]:
    compared = MeasureOptions(**options)
    return calibrations(align([recording], compared), compared, DecisionOptions())


@pytest.fixture
def sure_judge(make_recording: MakeRecording, judged: Judged) -> Callable[..., Recording]:
    """A judge of `n` texts that is right with the probability `right`, and gives to its score the probability `sure`."""

    def make(n: int = 200, right: float = 0.7, sure: float = 0.9, probs: bool = True, **item: Any) -> Recording:
        rng = np.random.default_rng(0)
        labels = {f"i{number}": [int(score)] * 2 for number, score in enumerate(rng.integers(0, 3, n))}
        answers = []
        for name, given in labels.items():
            score = given[0] if rng.random() < right else (given[0] + 1) % 3
            rest = (1 - sure) / 2
            own = {str(c): sure if c == score else rest for c in range(3)}
            answers.append(judged(name, score, probs=own if probs else None))
        return make_recording(labels, answers, **item)

    return make


def test_confidence_is_the_probability_of_the_score_and_right_is_the_aggregate(sure_judge: Callable[..., Recording]) -> None:
    [one] = found(sure_judge())
    assert one.n == one.groups == 200 and one.confidence == pytest.approx(0.9) and one.right == pytest.approx(0.7, abs=0.1)
    assert one.right is not None and one.error is not None and one.debiased_ci is not None and one.debiased is not None
    assert one.error == pytest.approx(0.9 - one.right, abs=0.01)
    assert one.debiased_ci[0] < one.debiased < one.debiased_ci[1]
    y = np.r_[np.ones(round(200 * one.right)), np.zeros(200 - round(200 * one.right))]
    assert one.brier == pytest.approx(brier_score_loss(y, np.full(200, 0.9)))
    assert one.log_loss == pytest.approx(log_loss_of_sklearn(y, np.full(200, 0.9)))
    assert one.miscalibration is not None and one.discrimination is not None and one.uncertainty is not None
    assert one.brier == pytest.approx(one.miscalibration - one.discrimination + one.uncertainty)


def test_a_judge_that_is_too_sure_is_corrected_by_other_texts(sure_judge: Callable[..., Recording]) -> None:
    [one] = found(sure_judge())
    assert one.recalibration and one.brier is not None and one.log_loss is not None
    assert one.recalibration["method"] == "platt"
    assert one.recalibration["brier"] < one.brier and one.recalibration["log_loss"] < one.log_loss


def test_a_calibrated_judge_has_an_error_that_chance_explains() -> None:
    rng = np.random.default_rng(1)
    p = rng.uniform(0.4, 1.0, 400)
    one = calibration_of({}, p, (rng.random(400) < p) * 1.0, np.arange(400), seed=0, least_groups=20)
    assert one.debiased_ci and one.debiased_ci[0] < 0 < one.debiased_ci[1] and one.ece and one.error is not None and one.ece > one.error


def test_few_texts_are_not_recalibrated_and_have_no_interval(sure_judge: Callable[..., Recording]) -> None:
    [one] = found(sure_judge(n=7))
    assert one.recalibration is None and one.no_recalibration == "fewer than 20 independent texts" and one.debiased_ci is None
    assert one.brier is not None


def test_without_probabilities_it_says_how_to_get_them(sure_judge: Callable[..., Recording]) -> None:
    [one] = found(sure_judge(probs=False))
    assert (one.n, one.reason, one.ece) == (0, NO_PROBABILITIES, None)
    assert "probabilities" in str(calibration_note([one])) and calibration_note([]) is None


def test_texts_without_an_aggregate_say_nothing(make_recording: MakeRecording, judged: Judged) -> None:
    answers = [judged("a", 1, probs={"1": 0.9}), judged("b", Failure.REFUSED), judged("c", 2, probs={"2": 0.5})]
    [one] = found(make_recording({"a": [1, 2], "b": [1, 1], "c": [0, 2]}, answers))
    assert (one.n, one.reason) == (0, NO_LABELS)


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_a_judge_that_is_always_right_or_wrong_has_no_nan(sure_judge: Callable[..., Recording], right: float) -> None:
    comparison = compare([sure_judge(n=60, right=right)], MeasureOptions(), full=True)
    text = to_json(comparison.as_json())
    assert "NaN" not in text and "Infinity" not in text
    assert len(msgspec.json.decode(text)["calibration"]) == 1


def test_calibration_is_there_only_where_it_is_asked_for(sure_judge: Callable[..., Recording]) -> None:
    plain = compare([sure_judge(n=30)], MeasureOptions())
    assert plain.calibration is None and "calibration" not in plain.as_json() and len(plain.as_json()["languages"]) == 1
    systems = compare([sure_judge(n=30, system="s")], MeasureOptions(level="system"), full=True)
    assert systems.calibration is None and systems.languages == ()
