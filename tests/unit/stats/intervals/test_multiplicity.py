from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
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
            p.append(paired_difference(judge, baseline, text).p)
        for name, q in (("bh", benjamini_hochberg(p)), ("by", benjamini_yekutieli(p))):
            found = q <= 0.1
            shares[name].append(found[effect == 0].sum() / max(found.sum(), 1))
        shares["holm"].append(float((holm(p)[effect == 0] <= 0.1).any()))
    assert np.mean(shares["bh"]) <= 0.1 and np.mean(shares["by"]) <= 0.1
    assert np.mean(shares["holm"]) <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 120)


def discoveries(p: np.ndarray, true: np.ndarray, level: float) -> dict[str, tuple[float, float]]:
    """Mean false discovery rate, and rate of any false discovery, of each correction over families p (families, tests)."""
    out = {}
    for adjust in (holm, benjamini_hochberg, benjamini_yekutieli):
        found = np.array([adjust(family) for family in p]) <= level
        false = (found & true).sum(axis=1)
        out[adjust.__name__] = (float(np.mean(false / np.maximum(found.sum(axis=1), 1))), float(np.mean(false > 0)))
    return out


def normal_families(dependence: str, families: int = 4000, tests: int = 40, true: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """p-values of normal tests, `true` of them of true hypotheses, and which ones those are."""
    rng = np.random.default_rng(23)
    z, common = rng.normal(size=(families, tests)), rng.normal(size=(families, 1))
    if dependence != "independent":
        sign = np.where(np.arange(tests) % 2, 1, -1) if dependence == "both ways" else 1
        z = np.sqrt(0.5) * z + np.sqrt(0.5) * common * sign
    z += np.where(np.arange(tests) < true, 0.0, 3.0)
    p = stats.norm.sf(z) if dependence == "positive" else 2 * stats.norm.sf(abs(z))
    return p, np.arange(tests) < true


@pytest.mark.slow
@pytest.mark.parametrize("dependence", ["independent", "positive", "both ways"])
def test_levels_hold_under_dependence(dependence: str) -> None:
    p, true = normal_families(dependence)
    found = discoveries(p, true, level=0.1)
    error = 0.01  # two standard errors of 4,000 families
    assert found["holm"][1] <= 0.1 + error
    assert found["benjamini_hochberg"][0] <= 0.1 * true.mean() + error
    assert found["benjamini_yekutieli"][0] <= 0.1 * true.mean()
    if dependence == "independent":  # where it is exactly the level times the share of true hypotheses
        assert found["benjamini_hochberg"][0] == pytest.approx(0.1 * true.mean(), abs=error)


@pytest.mark.slow
def test_only_yekutieli_holds_under_the_worst_dependence() -> None:
    """Guo & Rao (2008): with probability level / j, just the p-values of j true hypotheses lie in the j-th step."""
    rng, level, tests, families = np.random.default_rng(24), 0.1, 20, 4000
    p = rng.uniform(level, 1, (families, tests))
    steps = level / np.arange(1, tests + 1)
    j = rng.choice(tests + 1, families, p=np.append(1 - steps.sum(), steps))
    for family, step in zip(p, j, strict=True):
        family[rng.permutation(tests)[:step]] = rng.uniform(step - 1, step, step) * level / tests
    found = discoveries(p, np.ones(tests, bool), level)
    assert found["benjamini_hochberg"][0] == pytest.approx(steps.sum(), abs=0.03) and steps.sum() > 0.35
    assert found["benjamini_yekutieli"][0] <= level + 0.01 and found["holm"][1] <= level + 0.01
