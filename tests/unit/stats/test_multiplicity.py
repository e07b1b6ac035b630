from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from harness.stats import benjamini_hochberg, benjamini_yekutieli, holm, paired_difference

RNG = np.random.default_rng(21)
METHODS = [(holm, "holm"), (benjamini_hochberg, "fdr_bh"), (benjamini_yekutieli, "fdr_by")]


@pytest.mark.parametrize(("ours", "theirs"), METHODS)
def test_adjusted_are_statsmodels(ours, theirs: str) -> None:  # type: ignore[no-untyped-def]
    p = np.round(RNG.random(40) ** 3, 2)  # with ties
    assert ours(p) == pytest.approx(multipletests(p, method=theirs)[1])


@pytest.mark.parametrize(("ours", "theirs"), METHODS)
def test_undefined_tests_are_no_members_of_the_grid(ours, theirs: str) -> None:  # type: ignore[no-untyped-def]
    grid = RNG.random((4, 5))
    grid[1, 2] = grid[3, 0] = np.nan
    found = ours(grid)
    assert found.shape == grid.shape and np.array_equal(np.isnan(found), np.isnan(grid))
    assert found[~np.isnan(grid)] == pytest.approx(multipletests(grid[~np.isnan(grid)], method=theirs)[1])
    assert np.isnan(ours([np.nan])).all() and ours([]).size == 0
    with pytest.raises(ValueError, match="between 0 and 1"):
        ours([0.5, 1.5])


@pytest.mark.slow
def test_false_discovery_stays_under_its_level() -> None:
    rng, shares = np.random.default_rng(22), {"bh": [], "by": [], "holm": []}  # type: ignore[var-annotated]
    for _ in range(120):
        effect = np.where(np.arange(40) < 30, 0.0, 0.15)  # 30 judges no better than the baseline, 10 better
        p = []
        for gain in effect:
            text = np.repeat(np.arange(25), 8)
            baseline = (rng.random(200) < 0.7).astype(float)
            easier = rng.normal(0, 0.1, 25)[text]
            judge = (rng.random(200) < np.clip(0.7 + gain + easier, 0, 1)).astype(float)
            p.append(paired_difference(judge, baseline, text, resamples=200).p)
        for name, q in (("bh", benjamini_hochberg(p)), ("by", benjamini_yekutieli(p))):
            found = q <= 0.1
            shares[name].append(found[effect == 0].sum() / max(found.sum(), 1))
        shares["holm"].append(float((holm(p)[effect == 0] <= 0.1).any()))
    assert np.mean(shares["bh"]) <= 0.1 and np.mean(shares["by"]) <= 0.1
    assert np.mean(shares["holm"]) <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 120)
