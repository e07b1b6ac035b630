"""

Welch's t-test equals that of scipy and of statsmodels, and says why it is undefined."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats as scipy_stats
from scipy.stats import ttest_ind
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import ttest_ind as statsmodels_test

from harness.stats import (
    TOO_FEW,
    Difference,
    clopper_pearson,
    commonest,
    hits,
    mean_interval,
    paired_difference,
    proportion_interval,
    rank_judges,
    wilson,
)
from harness.stats.core.arrays import Floats, ShapeError
from harness.stats.intervals.intervals import CONSTANT, NO_VARIATION, hall_mean, least_p, two_sided, welch_test

RNG = np.random.default_rng(24)


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (8, 10), (10, 10), (150, 200)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_is_statsmodels(successes: int, n: int, level: float) -> None:
    assert wilson(successes, n, level) == pytest.approx(proportion_confint(successes, n, 1 - level, "wilson"), abs=1e-12)


def test_wilson_of_nothing_and_of_nonsense() -> None:
    assert all(math.isnan(x) for x in wilson(0, 0))
    with pytest.raises(ValueError, match="successes"):
        wilson(3, 2)


def test_single_groups_have_wilsons_interval() -> None:
    hits = (RNG.random(50) < 0.8).astype(float)
    found = proportion_interval(hits, np.array([f"text {i}" for i in range(50)]))
    assert (found.lo, found.hi) == wilson(hits.sum(), 50)
    assert (found.method, found.groups, found.design_effect, found.reason) == ("wilson", 50, 1.0, None)


def test_items_that_go_together_count_less() -> None:
    hits = np.repeat((RNG.random(40) < 0.7).astype(float), 5)  # every text five times the same
    found = proportion_interval(hits, np.repeat(np.arange(40), 5))
    single = proportion_interval(hits, np.arange(200))
    assert found.design_effect == pytest.approx(5, rel=0.15)
    assert found.hi - found.lo > 2 * (single.hi - single.lo)
    assert found.groups == 40 and found.method == "cluster bootstrap (wilson on effective n)"


def test_seven_texts_are_too_few() -> None:
    for find in (proportion_interval, mean_interval):
        found = find(np.tile([0.0, 1.0], 35), np.repeat(np.arange(7), 10))
        assert math.isnan(found.lo) and math.isnan(found.hi)
        assert (found.method, found.groups, found.reason) == ("none", 7, TOO_FEW)
        assert find(np.tile([0.0, 1.0], 35), np.repeat(np.arange(14), 5)).reason is None
        assert find(np.array([]), np.array([])).reason == "no units"
        assert find(np.array([np.nan, 1.0]), np.array([1, 2])).groups == 1


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("size", [1, 10])
def test_degenerate_cells_have_an_interval_of_some_width(share: float, size: int) -> None:
    found = proportion_interval(np.full(20 * size, share), np.repeat(np.arange(20), size))
    assert found.hi - found.lo > 0.1 and found.lo <= share <= found.hi
    mean = mean_interval(np.full(20 * size, share), np.repeat(np.arange(20), size), bounds=(-1, 1))
    assert mean.hi - mean.lo > 0.1 and -1 <= mean.lo <= share <= mean.hi <= 1


def test_a_constant_without_bounds_has_no_interval() -> None:
    assert mean_interval(np.full(20, 0.3), np.arange(20)).reason == CONSTANT
    balanced = mean_interval(np.tile([0.0, 1.0], 20), np.repeat(np.arange(20), 2))
    assert balanced.reason == NO_VARIATION


def test_means_have_students_interval() -> None:
    values = RNG.normal(3, 1, 4000)
    found = mean_interval(values, np.arange(4000))
    half = 1.9605 * values.std(ddof=1) / np.sqrt(4000)
    assert (found.lo, found.hi) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.003)
    assert found.design_effect == pytest.approx(1, abs=0.1)


def test_same_seed_same_interval() -> None:
    hits, text = (RNG.random(100) < 0.5).astype(float), RNG.integers(0, 20, 100)
    shuffled = RNG.permutation(100)
    first, again = proportion_interval(hits, text, seed=4), proportion_interval(hits[shuffled], text[shuffled], seed=4)
    assert (first.lo, first.hi) == pytest.approx((again.lo, again.hi))
    assert first == proportion_interval(hits, text, seed=4) != proportion_interval(hits, text, seed=5)


def test_bad_input() -> None:
    with pytest.raises(ShapeError):
        proportion_interval(np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match="between 0 and 1"):
        proportion_interval(np.array([2.0]), np.array([0]))


@pytest.mark.slow
@pytest.mark.parametrize(("texts", "size", "together"), [(20, 10, 0.0), (20, 10, 0.1), (40, 6, 0.0), (40, 6, 0.1), (200, 1, 0.0)])
@pytest.mark.parametrize("share", [0.6, 0.85, 0.925])
def test_shares_are_covered(texts: int, size: int, together: float, share: float) -> None:
    """n >= 200, 15 misses expected or more; intra-text correlation 0 and .1."""
    rng, held = np.random.default_rng(25), 0
    for _ in range(4000):
        sizes = rng.integers(1, 2 * size, texts) if size > 1 else np.ones(texts, int)
        c = 1 / together - 1 if together else 0
        p = rng.beta(share * c, (1 - share) * c, texts) if together else np.full(texts, share)
        text = np.repeat(np.arange(texts), sizes)
        found = proportion_interval((rng.random(len(text)) < p[text]).astype(float), text, resamples=400)
        held += found.lo <= share <= found.hi
    assert 0.93 <= held / 4000 <= 0.97


@given(st.integers(1, 300), st.floats(0, 1), st.sampled_from([0.025, 0.05, 0.1, 0.2]))
def test_exact_limits_are_those_of_statsmodels(n: int, share: float, tail: float) -> None:
    hits = round(share * n)
    assert clopper_pearson(hits, n, tail) == pytest.approx(proportion_confint(hits, n, 2 * tail, method="beta"), abs=1e-9)


def test_it_equals_two_other_programs() -> None:
    rng = np.random.default_rng(3)
    for sizes in ((5, 9), (30, 12), (2, 2)):
        a, b = (rng.normal(loc, 1 + loc, size) for loc, size in zip((0.3, 1.0), sizes, strict=True))
        found, scipys = welch_test(a, b), ttest_ind(a, b, equal_var=False)
        t, p, freedom = statsmodels_test(a, b, usevar="unequal")
        assert (found.t, found.p, found.freedom) == pytest.approx((t, p, freedom))
        assert (found.t, found.p) == pytest.approx((scipys.statistic, scipys.pvalue))


def test_gaps_are_left_out() -> None:
    assert welch_test([1, 2, math.nan, 4], [5, 6, 7]) == welch_test([1, 2, 4], [5, 6, 7])


@pytest.mark.parametrize(
    ("a", "b", "reason"), [([1], [1, 2], "fewer than two texts"), ([2, 2], [3, 3], "no score differs"), ([], [], "fewer")]
)
def test_what_cannot_be_tested_has_a_reason(a: list[float], b: list[float], reason: str) -> None:
    found = welch_test(a, b)
    assert math.isnan(found.p) and found.reason and reason in found.reason


def test_a_table_is_no_sample() -> None:
    with pytest.raises(ShapeError):
        welch_test([[1, 2]], [1, 2])


SKEWNESS_RNG = np.random.default_rng(41)


def sample(groups: int = 20) -> tuple[Floats, Floats, Floats]:
    """Sums and sizes of groups, and how often each occurs."""
    size = SKEWNESS_RNG.integers(1, 6, groups).astype(float)
    return SKEWNESS_RNG.binomial(size.astype(int), 0.1) - SKEWNESS_RNG.binomial(size.astype(int), 0.2) + 0.0, size, np.ones(groups)


def test_p_and_bound_are_inverses() -> None:
    for _ in range(50):
        found = hall_mean(*sample(), guard=-1.0)
        for alpha in (0.025, 0.005, 0.2):
            assert found.p_above(found.lower_bound(alpha)) == pytest.approx(alpha)


def test_the_statistic_falls_as_the_hypothesised_mean_rises() -> None:
    for _ in range(50):
        t = hall_mean(*sample()).statistic(np.linspace(-1, 1, 400))
        assert (np.diff(t) <= 1e-9).all()


def test_without_skewness_it_is_students_t_over_clusters() -> None:
    values = np.r_[SKEWNESS_RNG.normal(0.3, 1, 100)]
    values = np.r_[values, 0.6 - values]  # symmetric about 0.3
    found = hall_mean(values, np.ones(200), np.ones(200))
    assert found.skewness == pytest.approx(0, abs=1e-9)
    oracle = scipy_stats.ttest_1samp(values, 0.1)
    assert found._replace(freedom=found.groups - 1).p_above(0.1) == pytest.approx(oracle.pvalue / 2)


def test_equal_groups_may_be_counted_together() -> None:
    one = hall_mean([1.0, 1.0, -1.0, 0.0], [2, 2, 1, 1], [1, 1, 1, 1], guard=-1.0)
    other = hall_mean([1.0, -1.0, 0.0], [2, 1, 1], [2, 1, 1], guard=-1.0)
    assert all(a == pytest.approx(b) for a, b in zip(one, other, strict=True))


def test_many_means_at_once_are_those_of_each() -> None:
    y, size = SKEWNESS_RNG.normal(size=(5, 12)) / 10, np.full(12, 3.0)
    together = two_sided(y, size, np.ones(12), (-1.0, 1.0), 0.1)
    for row, sums in enumerate(y):
        alone = two_sided(sums, size, np.ones(12), (-1.0, 1.0), 0.1)
        assert [part[row] for part in together] == pytest.approx([float(part) for part in alone])


# ---- interval and p agree, everywhere

cells = st.integers(8, 24).flatmap(
    lambda groups: st.lists(
        st.tuples(st.integers(0, groups - 1), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=8, max_size=80
    )
)


def agree(found: Difference, level: float = 0.95) -> bool:
    """p < 1 - level exactly where the interval leaves 0 out; both are there or neither."""
    lo, hi = found.interval.lo, found.interval.hi
    if np.isnan(found.p) or np.isnan(lo):
        return bool(np.isnan(found.p) and np.isnan(lo))
    return bool((found.p < 1 - level) == (not lo <= 0 <= hi) and lo <= found.diff <= hi)


@given(cells, st.sampled_from([0.8, 0.9, 0.95, 0.99]), st.booleans())
def test_of_paired_differences(cell: list[tuple[int, float, float]], level: float, bounded: bool) -> None:
    groups, first, second = zip(*cell, strict=True)
    assert agree(paired_difference(first, second, groups, bounds=(-1.0, 1.0) if bounded else None, level=level), level)


def from_constant(judge: ArrayLike, reference: ArrayLike, k: int, groups: ArrayLike) -> Difference:
    """Of a judge, failures as wrong, and the class that is commonest in the references."""
    ours, theirs = (hits(given, reference, k, failed_wrong=True) for given in (judge, commonest(reference, k)))
    return paired_difference(ours, theirs, groups)


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(-1, 2), st.integers(0, 2)), min_size=8, max_size=60))
def test_of_differences_from_the_baseline(cell: list[tuple[int, int, int]]) -> None:
    groups, judge, reference = zip(*cell, strict=True)
    assert agree(from_constant(judge, reference, 3, groups))


@given(cells)
def test_of_judges_that_are_ranked(cell: list[tuple[int, float, float]]) -> None:
    """Differences from the baseline and between judges are those of `paired_difference`."""
    groups, first, second = (np.asarray(column) for column in zip(*cell, strict=True))
    found = rank_judges([first, second], groups, second, resamples=100)
    alone = paired_difference(first, second, groups)
    if found.reason:
        assert np.isnan(alone.p)
    else:
        assert found.gains[0] == alone.interval
        assert found.p[0, 1] == pytest.approx(alone.p)


def test_a_level_that_the_groups_cannot_reach_has_no_interval() -> None:
    found = paired_difference([1, 0] * 8, [0, 0] * 8, np.repeat(np.arange(8), 2), level=0.999)
    assert found.interval.reason == "too few independent texts" and np.isnan(found.p)


def twelve_texts_of_four(errors: int) -> Difference:
    """Three of four references are 1, and every fourth item is 0: a judge with this many errors against the constant 1."""
    reference = np.tile([1, 1, 1, 0], 12)
    judge = reference.copy()
    judge[np.arange(errors) * 8] = 0
    return from_constant(judge, reference, 2, np.repeat(np.arange(12), 4))


def test_a_perfect_judge_is_shown_as_one_with_errors_is() -> None:
    perfect, worse = twelve_texts_of_four(0), twelve_texts_of_four(6)
    assert perfect.diff == 0.25 and perfect.p < 0.05 and perfect.interval.lo > 0
    assert worse.diff == 0.125 and worse.p < 0.05 and worse.interval.lo > 0
    assert perfect.p < worse.p and perfect.interval.lo > worse.interval.lo


@pytest.mark.slow
@pytest.mark.parametrize("right", [0.05, 0.25, 0.5, 0.75, 0.9])
@pytest.mark.parametrize(("texts", "size"), [(12, 1), (30, 1), (12, 4), (20, 5)])
def test_a_perfect_judge_is_shown_wherever_another_one_is(texts: int, size: int, right: float) -> None:
    """The baseline is right on a share of the items, the other judge on nearly all of them."""
    rng, groups = np.random.default_rng(43), np.repeat(np.arange(texts), size)
    for _ in range(50):
        baseline, other = ((rng.random(len(groups)) < share) * 1.0 for share in (right, 0.95))
        if paired_difference(other, baseline, groups).interval.lo > 0:
            assert paired_difference(np.ones(len(groups)), baseline, groups).interval.lo > 0


def test_where_nothing_was_lost_something_might_have_been() -> None:
    """60 items without a loss: the bound is about the 5 % that 60 items could have missed, and that of 12 texts about 20 %."""
    found = mean_interval(np.zeros(60), np.arange(60), bounds=(-1, 1))
    assert -0.1 < found.lo < -0.03 and found.hi == -found.lo
    assert mean_interval(np.zeros(60), np.repeat(np.arange(12), 5), bounds=(-1, 1)).lo < 3 * found.lo
    assert least_p(60) > 0


# ---- simulated worlds

DESIGNS = ((30, 1), (60, 1), (200, 1), (8, 4), (12, 4), (20, 5), (20, 10))
SKEWED = ((0.02, 0.0), (0.1, 0.0), (0.05, 0.02), (0.1, 0.05), (0.0, 0.05), (0.02, 0.1), (0.02, 0.3))
"""Shares of -1 and of +1 among the differences."""
ALIKE = 8.0  # concentration of the shifts that the items of a text share


@dataclass(frozen=True)
class World:
    """`texts` of `size` items whose rarer class has the share `rare`; people and judges report the truth with a probability."""

    texts: int
    size: int
    rare: float
    people: float
    judge: float

    def draw(self, rng: np.random.Generator, sets: int) -> dict[str, Floats]:
        """Differences of each item, (sets, texts, size): the judge less people, less the constant, less a second judge like people."""
        shape = (sets, self.texts)

        def skill(right: float) -> Floats:
            return np.full(shape, right) if self.size == 1 else rng.beta(right * ALIKE, (1 - right) * ALIKE, shape)

        rare = np.full(shape, self.rare) if self.size == 1 else rng.beta(self.rare * ALIKE, (1 - self.rare) * ALIKE, shape)
        items = (*shape, self.size)
        true = rng.random(items) < rare[..., None]

        def read(right: Floats) -> Any:
            return np.where(rng.random(items) < right[..., None], true, rng.random(items) < self.rare)

        people = skill(self.people)
        found = np.stack([read(people) for _ in range(3)]).sum(axis=0)  # of three annotators, those who chose the rarer class
        judge, second = read(skill(self.judge)), read(skill(self.people))
        agreed = np.where(judge, found, 3 - found) / 3
        among = (found * (found - 1) + (3 - found) * (2 - found)) / 6
        majority = found >= 2
        hit = (judge == majority) * 1.0
        return {
            "people": agreed - among,
            "constant": hit - (~majority),
            "second": hit - (second == majority),
        }


def worlds() -> Iterator[World]:
    for texts, size in DESIGNS:
        for rare in (0.5, 0.1, 0.02):
            for people in (0.7, 0.9):
                for judge in (people, 0.3, 0.97):
                    yield World(texts, size, rare, people, judge)


def skewed(rng: np.random.Generator, texts: int, size: int, down: float, up: float, sets: int) -> Floats:
    """Differences of each item, (sets, texts, size), that are -1, 0 or 1; those of a text go together."""
    shares = np.array([down, 1 - down - up, up])
    if size == 1:
        cut = np.broadcast_to(np.cumsum(shares), (sets, texts, 3))
    else:
        cut = np.cumsum(rng.dirichlet(np.maximum(shares * ALIKE, 1e-9), (sets, texts)), axis=-1)
    u = rng.random((sets, texts, size))
    return (u > cut[..., None, 1]).astype(float) - (u < cut[..., None, 0])


@dataclass(frozen=True)
class Held:
    """Coverage and the share of intervals above and below the truth; mean width relative to Student's."""

    coverage: float
    above: float
    below: float
    width: float

    @property
    def tail(self) -> float:
        return max(self.above, self.below)


def _student(d: Floats) -> tuple[Floats, Floats]:
    means = d.mean(axis=2)
    half = scipy_stats.t.ppf(0.975, d.shape[1] - 1) * means.std(axis=1, ddof=1) / np.sqrt(d.shape[1])
    return means.mean(axis=1) - half, means.mean(axis=1) + half


def held(d: Floats, truth: float) -> tuple[Held, Held]:
    """Student's and our interval of the mean of d (sets, texts, size)."""
    _, texts, size = d.shape
    scatter = np.where(np.ptp(d, axis=(1, 2)) > 0, d.var(axis=(1, 2)), 0.0)
    ours = two_sided(d.sum(axis=2), np.full(texts, float(size)), np.ones(texts), (-1.0, 1.0), scatter)
    out, width = [], 0.0
    for lo, hi in (_student(d), (ours.lo, ours.hi)):
        above, below = float((lo > truth + 1e-9).mean()), float((hi < truth - 1e-9).mean())
        width = width or max(float((hi - lo).mean()), 1e-9)
        out.append(Held(1 - above - below, above, below, float((hi - lo).mean()) / width))
    return out[0], out[1]


def of_world(world: World, sets: int, seed: int = 5) -> dict[str, tuple[Held, Held]]:
    truth = world.draw(np.random.default_rng(99), 200_000 // world.texts)
    drawn = world.draw(np.random.default_rng(seed), sets)
    return {name: held(d, float(truth[name].mean())) for name, d in drawn.items()}


def of_skewed(texts: int, size: int, down: float, up: float, sets: int) -> tuple[Held, Held]:
    return held(skewed(np.random.default_rng(6), texts, size, down, up, sets), up - down)


def check(found: Held, sets: int, what: object) -> None:
    """Covers 94 % or more with at most 3.5 % in either tail, three simulation errors aside."""
    error = lambda share: 3 * np.sqrt(share * (1 - share) / sets)  # noqa: E731
    assert found.coverage >= 0.94 - error(0.94), (what, found)
    assert found.tail <= 0.035 + error(0.035), (what, found)


@pytest.mark.slow
@pytest.mark.parametrize(("texts", "size"), DESIGNS)
def test_a_few_worlds_are_covered(texts: int, size: int) -> None:
    for rare, people, judge in ((0.5, 0.9, 0.9), (0.1, 0.7, 0.97), (0.02, 0.9, 0.9)):
        for name, (_, ours) in of_world(World(texts, size, rare, people, judge), 500).items():
            check(ours, 500, (rare, people, judge, name))
    for down, up in SKEWED[:3]:
        check(of_skewed(texts, size, down, up, 500)[1], 500, (down, up))


@pytest.mark.slow
def test_every_world_is_covered() -> None:
    for world in worlds():
        for name, (_, ours) in of_world(world, 4000).items():
            check(ours, 4000, (world, name))
    for texts, size in DESIGNS:
        for down, up in SKEWED:
            check(of_skewed(texts, size, down, up, 4000)[1], 4000, (texts, size, down, up))


def table(sets: int = 4000) -> str:
    """Least coverage and largest tail over judges and comparisons, Student's t beside ours, as Markdown."""
    lines = [
        "| design | rarer class | t: least coverage | t: largest tail | here: least coverage | here: largest tail | width / t |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    rows: dict[tuple[str, str], list[tuple[Held, Held]]] = {}
    for world in worlds():
        key = f"{world.texts} texts of {world.size}", f"{100 * world.rare:g} %"
        rows.setdefault(key, []).extend(of_world(world, sets).values())
    for texts, size in DESIGNS:
        rows[f"{texts} texts of {size}", "−1, 0, +1"] = [of_skewed(texts, size, *shares, sets) for shares in SKEWED]
    for (design, rare), pairs in sorted(rows.items(), key=lambda row: [f"{a} texts of {b}" for a, b in DESIGNS].index(row[0][0])):
        student, ours = zip(*pairs, strict=True)
        numbers = [f"{100 * min(h.coverage for h in side):.1f} | {100 * max(h.tail for h in side):.1f}" for side in (student, ours)]
        lines.append(f"| {design} | {rare} | {' | '.join(numbers)} | {np.median([h.width for h in ours]):.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
