from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats.core.arrays import Estimates, ScaleError, ShapeError, as_codes, as_index, as_judge, as_labels, as_values, power


def test_codes_may_be_int_float_or_bool() -> None:
    for given in ([0, 2, -1], [0.0, 2.0, math.nan], np.array([0, 2, -1], np.int8)):
        assert as_codes(given, 3).tolist() == [0, 2, -1]
    assert as_codes([True, False], 2).tolist() == [1, 0]
    assert as_codes([], 3).shape == (0,)


@pytest.mark.parametrize("bad", [[3], [-2], [0.5], [math.inf], ["a"], [None], [3.0]])
def test_codes_off_the_scale_are_refused(bad: list[object]) -> None:
    with pytest.raises(ScaleError, match="class codes 0 to 2"):
        as_codes(bad, 3)  # type: ignore[arg-type]


def test_a_scale_has_classes() -> None:
    with pytest.raises(ScaleError, match="at least one class"):
        as_codes([0], 0)


def test_shapes_are_checked() -> None:
    with pytest.raises(ShapeError, match="items x raters"):
        as_labels([0, 1], 2)
    with pytest.raises(ShapeError, match="labels are of 3 items"):
        as_judge([0, 1], 2, 3)
    with pytest.raises(ShapeError, match="cell"):
        as_index([0, 1], 3, "cell")


def test_values_rise_one_a_class() -> None:
    assert as_values([1, 2, 5], 3).tolist() == [1, 2, 5]
    for bad in ([1, 2], [1, 1, 2], [3, 2, 1]):
        with pytest.raises(ScaleError, match="rising numbers"):
            as_values(bad, 3)


def test_estimates_give_one_cell() -> None:
    many = Estimates(np.array([0.5, np.nan]), np.array([4, 0]), (None, "no overlap"))
    assert many[0] == (0.5, 4, None)
    assert math.isnan(many[1].value) and many[1].reason == "no overlap"


@pytest.mark.parametrize("low", [0, 7, -100, 2**62, -(2**63)])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64])
def test_index_is_the_rank_among_different_codes(low: int, dtype: type) -> None:
    codes = np.random.default_rng(0).integers(0, 200 if dtype is not np.int8 else 27, 90)
    if not np.iinfo(dtype).min <= low <= np.iinfo(dtype).max - 200 * (dtype is not np.int8):
        pytest.skip("beyond the type")
    given = np.array([low + code for code in codes.tolist()], dtype)
    assert as_index(given, 90, "groups").tolist() == np.unique(given, return_inverse=True)[1].tolist()


@pytest.mark.parametrize("exponent", [1.5, 2, 3, 1 / 7, 90])
def test_powers_are_those_of_c(exponent: float) -> None:
    base = np.random.default_rng(0).uniform(0, 3, 100_000)
    assert power(base, exponent).tolist() == [math.pow(each, exponent) for each in base.tolist()]
