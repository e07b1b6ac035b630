"""Values that other programs or papers computed, as collected in the project's notes (statistics-fixtures).

Origins: Krippendorff's published 4 x 12 table; alpha by krippendorff 0.9.0, AC1 and AC2 by irrCAC 0.4.4 (both GPL and
never imported here); Stuart-Maxwell and the skewed pair as given in the notes. Tolerance: the digits given.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    krippendorff_alpha_interval,
    pa,
    stuart_maxwell_of_table,
)

RATERS = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
LABELS = np.array([[-1 if c == "." else int(c) - 1 for c in line.split()] for line in RATERS.split("\n") if line]).T


@pytest.mark.parametrize(("kind", "alpha"), [("nominal", 0.743421), ("ordinal", 0.815388), ("interval", 0.849107)])
def test_krippendorffs_table(kind: str, alpha: float) -> None:
    found = krippendorff_alpha(LABELS, 5, kind)  # type: ignore[arg-type]
    assert found.value == pytest.approx(alpha, abs=5e-7) and found.n == 11


def test_krippendorffs_table_as_numbers() -> None:
    scores = np.where(LABELS < 0, np.nan, LABELS + 1.0)
    assert krippendorff_alpha_interval(scores).value == pytest.approx(0.849107, abs=5e-7)


@pytest.mark.parametrize(("weights", "ac"), [("identity", 0.775444), ("quadratic", 0.914001)])
def test_gwet_on_the_same_table(weights: str, ac: float) -> None:
    assert gwet_ac(LABELS, 5, weights).value == pytest.approx(ac, abs=5e-7)  # type: ignore[arg-type]


def test_stuart_maxwell() -> None:
    found = stuart_maxwell_of_table([[20, 10, 5], [3, 30, 15], [0, 5, 40]])
    assert found.statistic == pytest.approx(13.764706, abs=5e-7) and found.df == 2
    assert found.p == pytest.approx(0.0010257, abs=5e-8)


def test_stuart_maxwell_drops_a_class_nobody_used() -> None:
    for table in ([[30, 15], [5, 40]], [[30, 0, 15], [0, 0, 0], [5, 0, 40]]):
        found = stuart_maxwell_of_table(table)
        assert found.statistic == pytest.approx(5.0) and found.df == 1


def test_a_skewed_pair_of_raters() -> None:
    """PA .94 with kappa -.031, alpha -.026, AC1 .936: never print one of them alone."""
    a, b = np.ones(100, int), np.ones(100, int)
    a[:3], b[3:6] = 0, 0
    labels = np.stack([a, b], axis=1)
    assert pa(b, a[:, None], 2).value == pytest.approx(0.94)
    assert cohen_kappa(a, b, 2).value == pytest.approx(-0.031, abs=5e-4)
    assert krippendorff_alpha(labels, 2, "nominal").value == pytest.approx(-0.026, abs=5e-4)
    assert gwet_ac(labels, 2).value == pytest.approx(0.936, abs=5e-4)


def test_constant_raters_are_undefined_not_zero() -> None:
    labels = np.full((40, 3), 2)
    for found in (
        cohen_kappa(labels[:, 0], labels[:, 1], 3),
        fleiss_kappa(labels, 3),
        krippendorff_alpha(labels, 3, "nominal"),
        krippendorff_alpha(labels, 3, "ordinal"),
    ):
        assert np.isnan(found.value) and found.n == 40 and found.reason == "constant raters"
