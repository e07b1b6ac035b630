"""Intraclass correlations: the published example, and an independent program."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from harness.stats.agreement.intraclass import one_way_icc, two_way_icc
from harness.stats.core.arrays import ShapeError

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def test_the_published_example() -> None:
    """Shrout & Fleiss (1979), table 4: ICC(1,1) .17, ICC(1,4) .44, ICC(2,1) .29, ICC(2,4) .62."""
    one, two = one_way_icc(SHROUT_FLEISS), two_way_icc(SHROUT_FLEISS)
    assert [round(v, 2) for v in (one.single.value, one.mean.value, two[0].value, two[1].value)] == [0.17, 0.44, 0.29, 0.62]
    assert one.annotators == 4 and one.single.n == 6


def test_unequal_numbers_of_annotators_equal_the_analysis_of_variance() -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    table = rng.normal(size=(30, 1)) + rng.normal(size=(30, 4))
    table[rng.random((30, 4)) < 0.3] = math.nan
    kept = table[(~np.isnan(table)).sum(axis=1) >= 2]
    frame = pd.DataFrame({"score": kept[~np.isnan(kept)], "item": np.nonzero(~np.isnan(kept))[0].astype(str)})
    squares = anova_lm(ols("score ~ item", frame).fit())["mean_sq"]
    n = frame.groupby("item").size()
    k = (n.sum() - (n**2).sum() / n.sum()) / (len(n) - 1)
    between, within = squares["item"], squares["Residual"]
    found = one_way_icc(table)
    assert found.single.value == pytest.approx((between - within) / (between + (k - 1) * within))
    assert found.mean.value == pytest.approx((between - within) / between)
    assert found.annotators == pytest.approx(k)
    assert found.single.interval.lo < found.single.value < found.single.interval.hi


def test_undefined_without_pairs_or_variation() -> None:
    assert one_way_icc([[1, math.nan], [2, math.nan]]).single.reason == "no item with two annotators"
    assert one_way_icc([[1, 1], [1, 1]]).single.reason == "constant raters"
    assert one_way_icc(np.empty((0, 2))).single.reason == "no item with two annotators"
    assert two_way_icc([[1, 2], [3, math.nan]])[0].reason == "annotators are not crossed: not everybody scored every item"
    assert two_way_icc([[1], [2]])[0].reason == "no item with two annotators"
    assert two_way_icc([[1, 1], [1, 1]])[0].reason == "constant raters"
    for function in (one_way_icc, two_way_icc):
        with pytest.raises(ShapeError):
            function([1, 2])  # type: ignore[operator]
