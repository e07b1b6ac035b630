"""

Soft pairwise accuracy, against a permutation test written out pair by pair."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.stats import kendall_tau, pearson, spearman, system_correlation
from harness.stats.core.arrays import ShapeError
from harness.stats.ranking.systems import soft_pairwise_accuracy

RNG = np.random.default_rng(16)


def scores(systems: int, texts: int) -> tuple[np.ndarray, ...]:
    quality = RNG.normal(0, 0.5, systems)
    human = quality + RNG.normal(0, 1, (texts, systems))
    judge = quality + RNG.normal(0, 1, (texts, systems))
    system = np.tile(np.arange(systems), texts)
    return judge.ravel(), human.ravel(), system, np.repeat(np.arange(texts), systems)


def test_means_over_items_with_both() -> None:
    judge, human, system, text = scores(8, 40)
    judge[::7], human[::11] = np.nan, np.nan
    found = system_correlation(judge, human, system, text)
    used = ~(np.isnan(judge) | np.isnan(human))
    a, b = (np.array([v[used & (system == s)].mean() for s in range(8)]) for v in (judge, human))
    assert found.judge == pytest.approx(a) and found.human == pytest.approx(b)
    expected = {"kendall_tau": kendall_tau(a, b), "spearman": spearman(a, b), "pearson": pearson(a, b)}
    for name, estimate in expected.items():
        assert found.estimate[name] == pytest.approx(estimate)
        interval = found.interval[name]
        assert -1 <= interval.lo < estimate.value < interval.hi <= 1 and interval.groups == 40


def test_undefined() -> None:
    few = system_correlation([1, 2], [1, 2], ["a", "a"])
    assert few.estimate["kendall_tau"].reason == "fewer than two systems"
    assert few.interval["pearson"].reason == "too few independent texts"
    same = system_correlation([1] * 20, range(20), ["a", "b"] * 10)
    assert same.estimate["spearman"].reason == "constant raters" == same.interval["spearman"].reason
    assert system_correlation([np.nan], [1], ["a"]).estimate["pearson"].n == 0
    apart = system_correlation([0, 9] * 10, [0, 9] * 10, ["a", "b"] * 10)
    assert apart.interval["kendall_tau"].reason == "no variation between texts"
    with pytest.raises(ShapeError):
        system_correlation([1, 2], [1], ["a", "b"])


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "texts"), [(20, 45), (10, 100)])
def test_intervals_cover_the_correlation_at_this_number_of_texts(systems: int, texts: int) -> None:
    rng = np.random.default_rng(17)
    quality = rng.normal(0, 0.5, (2, systems)) + rng.normal(0, 0.5, systems)
    system, text = np.tile(np.arange(systems), texts), np.repeat(np.arange(texts), systems)
    runs = []
    for _ in range(600):
        shared = rng.normal(0, 0.5, (texts, 1))
        a, b = (quality[i] + shared + rng.normal(0, 0.8, (texts, systems)) for i in (0, 1))
        runs.append(system_correlation(a.ravel(), b.ravel(), system, text, resamples=300))
    for name in ("kendall_tau", "spearman", "pearson"):
        expected = np.mean([run.estimate[name].value for run in runs])
        held = np.mean([run.interval[name].lo <= expected <= run.interval[name].hi for run in runs])
        assert 0.92 <= held <= 0.99, name


def test_means_may_be_over_what_each_side_has() -> None:
    """Unpaired, an item that the judge did not score still counts for people."""
    judge, human, system = [1, np.nan, 2, 3], [5, 1, 4, 4], ["a", "a", "b", "b"]
    paired, each = (system_correlation(judge, human, system, paired=of) for of in (True, False))
    assert (paired.human.tolist(), each.human.tolist()) == ([5.0, 4.0], [3.0, 4.0])
    assert paired.judge.tolist() == each.judge.tolist() == [1.0, 2.5]
    assert (paired.estimate["kendall_tau"].value, each.estimate["kendall_tau"].value) == (-1.0, 1.0)
    alone = system_correlation([1, np.nan], [1, 2], ["a", "b"], paired=False)
    assert alone.estimate["kendall_tau"].n == 1 and alone.estimate["kendall_tau"].reason == "fewer than two systems"


SYSTEM, SEGMENT = (each.ravel() for each in np.meshgrid(np.arange(4), np.arange(25), indexing="ij"))


def scores_of_systems(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    people = SYSTEM * 0.3 + rng.normal(size=100)
    return people, people + rng.normal(size=100)


@pytest.mark.slow
def test_it_is_near_a_test_written_out() -> None:
    people, judge = scores_of_systems()
    rng, apart = np.random.default_rng(9), []
    for i in range(4):
        for j in range(i + 1, 4):
            ps = []
            for of in (people, judge):
                d = of[i == SYSTEM] - of[j == SYSTEM]
                ps.append(np.mean([(d * rng.choice([-1, 1], 25)).mean() >= d.mean() for _ in range(4000)]))
            apart.append(abs(ps[0] - ps[1]))
    found = soft_pairwise_accuracy(people, judge, SYSTEM, SEGMENT, permutations=4000)
    assert found.value == pytest.approx(1 - np.mean(apart), abs=0.02) and found.n == 4


def test_bounds_and_invariance() -> None:
    people, judge = scores_of_systems()
    assert soft_pairwise_accuracy(people, people, SYSTEM, SEGMENT).value == 1
    assert soft_pairwise_accuracy(SYSTEM, -SYSTEM, SYSTEM, SEGMENT).value == pytest.approx(0, abs=1e-6)
    renamed = soft_pairwise_accuracy(people, judge, 3 - SYSTEM, SEGMENT).value
    assert soft_pairwise_accuracy(people, judge, SYSTEM, SEGMENT).value == pytest.approx(renamed, abs=1e-12)
    assert soft_pairwise_accuracy(people, 2 * judge + 5, SYSTEM, SEGMENT).value == pytest.approx(renamed, abs=1e-12)


def test_undefined_without_pairs() -> None:
    assert soft_pairwise_accuracy([1, 2], [1, 2], ["a", "a"], [0, 1]).reason == "fewer than two systems"
    assert soft_pairwise_accuracy([], [], [], []).reason == "fewer than two systems"
    assert soft_pairwise_accuracy([1, 2], [1, 2], ["a", "b"], [0, 1]).reason == "no two systems share a scored source text"
    assert soft_pairwise_accuracy([1, math.nan], [1, 2], ["a", "b"], [0, 0]).reason == "fewer than two systems"
    with pytest.raises(ShapeError):
        soft_pairwise_accuracy([1], [1, 2], ["a"], [0])
