from __future__ import annotations

import numpy as np
import pytest

from harness.stats import gwet_ac

RNG = np.random.default_rng(13)


def test_ac1_by_hand() -> None:
    # two raters: pa = .75, pi_1 = 5/8, pe = 2 (5/8)(3/8) = .46875
    assert gwet_ac([[0, 0], [0, 0], [0, 1], [1, 1]], 2).value == pytest.approx((0.75 - 0.46875) / (1 - 0.46875))


def test_a_class_nobody_used_counts() -> None:
    labels = RNG.integers(0, 2, (50, 3))
    assert gwet_ac(labels, 2).value != gwet_ac(labels, 3).value
    assert gwet_ac(labels, 2, "quadratic").value == pytest.approx(gwet_ac(labels, 2).value)


def test_constant_raters_agree() -> None:
    assert gwet_ac([[1, 1], [1, 1]], 3) == (1.0, 2, None)


def test_undefined() -> None:
    assert gwet_ac([[1, -1]], 3).reason == "no item with two annotators"
    assert gwet_ac([[0, 0]], 1).reason == "constant raters"
