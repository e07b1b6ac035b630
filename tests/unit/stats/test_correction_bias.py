"""How far a corrected share of a rare class lies from the truth with few labels: the weight of the judge is estimated from the same labels.

`python -m tests.unit.stats.test_correction_bias` prints the table of docs/using-scores.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from harness.stats import prediction_powered_mean

SHARE = 0.05
LABELS = (30, 60, 120)
JUDGES = ((0.5, 0.02), (0.7, 0.05), (0.9, 0.02))
"""How often the judge finds the class where it is, and where it is not."""


class Bias(NamedTuple):
    """The mean error of the corrected share, its standard error, and the mean error of the labels alone."""

    corrected: float
    error: float
    alone: float


def bias_of(labels: int, found: float, false: float, repetitions: int) -> Bias:
    """With ten times as many judged texts as labels."""
    rng, corrected, alone = np.random.default_rng(7), [], []
    for _ in range(repetitions):
        y = rng.random(11 * labels) < SHARE
        f = np.where(y, rng.random(len(y)) < found, rng.random(len(y)) < false)
        made = prediction_powered_mean(np.where(np.arange(len(y)) < labels, y, np.nan), f)
        corrected.append(made.value - SHARE)
        alone.append(made.alone - SHARE)
    return Bias(float(np.mean(corrected)), float(np.std(corrected) / repetitions**0.5), float(np.mean(alone)))


@pytest.mark.slow
@pytest.mark.parametrize(("found", "false"), JUDGES)
def test_the_bias_is_a_hundredth_with_thirty_labels_and_falls_with_their_number(found: float, false: float) -> None:
    few, many = (bias_of(labels, found, false, 2000) for labels in (30, 120))
    assert -0.016 < few.corrected < -0.007 and abs(few.alone) < 4 * few.error
    assert many.corrected > -0.006 and abs(many.corrected) < abs(few.corrected) / 2


def main() -> None:
    print("| judge finds the class in, and says it elsewhere in | " + " | ".join(f"{n} labels" for n in LABELS) + " |")
    print("| --- |" + " --- |" * len(LABELS))
    for found, false in JUDGES:
        biases = " | ".join(f"{bias_of(n, found, false, 4000).corrected:+.3f}" for n in LABELS)
        print(f"| {100 * found:.0f} % and {100 * false:.0f} % | {biases} |")


if __name__ == "__main__":
    main()
