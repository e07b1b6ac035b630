"""How often an error that follows nothing is found, and one that follows the length: for scores (CR2) and for pairs.

`python -m tests.unit.stats.intervals.test_regression_simulations` prints the numbers of docs/improve.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import stdtr

from harness.stats.core.arrays import Floats, Ints
from harness.stats.intervals.regression import cluster_regression
from harness.stats.ranking import preference_by_length

LEVEL, WORLDS = 0.05, 1000
SIZE_WORLDS = {10: 12_000, 20: 4_000, 40: 4_000}
"""By the number of groups; with 10 few worlds are tested."""


class Sizes(NamedTuple):
    """Shares of worlds in which a covariate that says nothing is found: by CR1 with G - 1 degrees of freedom, and by CR2 with its own.

    `tested` is the share of worlds with enough degrees of freedom for a test, and `cr2` is of these.
    """

    cr1: float
    cr2: float
    tested: float
    freedom: float


def sizes(groups: int, worlds: int, seed: int = 1) -> Sizes:
    """The covariate is one of groups, of five items on average; .3 of the variance of errors lies between groups."""
    rng = np.random.default_rng(seed)
    by_cr1, by_cr2, tested, freedom = np.zeros(4)
    for _ in range(worlds):
        group = np.repeat(np.arange(groups), 1 + rng.poisson(4, groups))
        x = rng.normal(size=groups)[group]
        y = np.sqrt(0.3) * rng.normal(size=groups)[group] + np.sqrt(0.7) * rng.normal(size=len(group))
        fit = cluster_regression(y, np.column_stack([np.ones(len(x)), x]), group)
        by_cr1 += _cr1(y, x, group, groups) <= LEVEL
        by_cr2 += fit.p[1] <= LEVEL and not fit.refused[1]
        tested += not fit.refused[1]
        freedom += fit.freedom[1]
    return Sizes(by_cr1 / worlds, by_cr2 / tested, tested / worlds, freedom / worlds)


def _cr1(y: Floats, x: Floats, group: Ints, groups: int) -> float:
    """p of the usual clustered error, as statistics packages print it."""
    design = np.column_stack([np.ones(len(x)), x])
    bread = np.linalg.inv(design.T @ design)
    coefficients = bread @ design.T @ y
    residual = y - design @ coefficients
    scores = np.array([design[group == g].T @ residual[group == g] for g in range(groups)])
    n = len(y)
    variance = (bread @ scores.T @ scores @ bread)[1, 1] * groups / (groups - 1) * (n - 1) / (n - 2)
    return float(2 * stdtr(groups - 1, -abs(coefficients[1]) / np.sqrt(variance)))


def found_in_scores(bias: float, groups: int = 40, worlds: int = WORLDS, seed: int = 1) -> float:
    """The share of worlds in which the length of texts is found: five texts a group, errors with a spread of one point."""
    rng = np.random.default_rng(seed)
    group, count = np.repeat(np.arange(groups), 5), 0
    for _ in range(worlds):
        x = np.sqrt(0.3) * rng.normal(size=groups)[group] + np.sqrt(0.7) * rng.normal(size=len(group))
        y = bias * x + np.sqrt(0.5) * rng.normal(size=groups)[group] + np.sqrt(0.5) * rng.normal(size=len(group))
        count += cluster_regression(y, np.column_stack([np.ones(len(x)), x]), group).p[1] <= LEVEL
    return count / worlds


def found_in_pairs(bias: float, *, by_group: bool = True, worlds: int = 500, seed: int = 1, pairs: int = 300, taste: float = 0.4) -> float:
    """The share of worlds in which the length is found: 300 pairs of the texts of four systems, five to a prompt.

    Every text has a length and a quality of its own (`taste` is its spread), which count in all pairs that it is in; `bias` is the effect
    of one standard deviation of the differences of lengths on the log-odds.
    """
    rng = np.random.default_rng(seed)
    count = 0
    for _ in range(worlds):
        prompt = np.repeat(np.arange(pairs // 5), 5)
        first = rng.integers(4, size=pairs)
        second = (first + rng.integers(1, 4, size=pairs)) % 4
        length = rng.normal(size=(pairs // 5, 4)) / np.sqrt(2)
        quality = np.array([0.0, 0.2, 0.4, 0.6]) + taste * rng.normal(size=(pairs // 5, 4))
        longer = length[prompt, first] - length[prompt, second]
        logit = quality[prompt, first] - quality[prompt, second] + 0.1 + bias * longer
        won = rng.random(pairs) < 1 / (1 + np.exp(-logit))
        count += preference_by_length(first, second, won, longer, prompt if by_group else None).length_p <= LEVEL
    return count / worlds


@pytest.mark.slow
@pytest.mark.parametrize("groups", [10, 20, 40])
def test_what_says_nothing_is_found_as_often_as_stated(groups: int) -> None:
    found = sizes(groups, SIZE_WORLDS[groups])
    error = (0.05 * 0.95 / (SIZE_WORLDS[groups] * found.tested)) ** 0.5
    assert error < 0.005
    assert 0.04 <= found.cr2 <= 0.06
    assert found.cr1 > 0.06, "the usual clustered error finds more"


@pytest.mark.slow
def test_a_planted_length_bias_is_found_and_none_is_not() -> None:
    assert found_in_scores(0.5, worlds=200) >= 0.95
    assert found_in_scores(0.0) <= 0.06 + 2 * (0.06 * 0.94 / WORLDS) ** 0.5
    assert found_in_pairs(0.5, worlds=200) >= 0.95
    assert found_in_pairs(0.0) <= 0.06 + 2 * (0.06 * 0.94 / 500) ** 0.5


def table() -> str:
    """All rates."""
    lines = ["| groups | CR1, t(G − 1) | tested | CR2, of those tested | mean degrees of freedom |", "| ---: | ---: | ---: | ---: | ---: |"]
    for groups, worlds in SIZE_WORLDS.items():
        found = sizes(groups, worlds)
        shares = " | ".join(f"{100 * share:.{digits}f} %" for share, digits in ((found.cr1, 1), (found.tested, 0), (found.cr2, 1)))
        lines.append(f"| {groups} | {shares} | {found.freedom:.1f} |")
    lines += ["", "| length in 300 pairs | found by group | found as if pairs were independent |", "| --- | ---: | ---: |"]
    for words, bias, taste in (
        ("no bias", 0.0, 0.4),
        ("β = 0.5", 0.5, 0.4),
        ("no bias, texts differ more in quality", 0.0, 0.7),
        ("β = 0.5, texts differ more in quality", 0.5, 0.7),
    ):
        rates = [100 * found_in_pairs(bias, by_group=by_group, taste=taste) for by_group in (True, False)]
        lines.append(f"| {words} | {rates[0]:.1f} % | {rates[1]:.1f} % |")
    lines += ["", "| length of 200 texts in 40 groups | found |", "| --- | ---: |"]
    lines += [f"| {words} | {100 * found_in_scores(bias):.1f} % |" for words, bias in (("no bias", 0.0), ("0.5 points", 0.5))]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
