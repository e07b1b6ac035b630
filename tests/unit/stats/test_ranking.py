"""Ranks: intervals hold the true rank, groups hold who does not differ.

`python -m tests.unit.stats.test_ranking` from the checkout prints the table of docs/leaderboards.md.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import Ranks, bradley_terry, kendall_tau, paired_difference, pearson, rank_judges, spearman, system_correlation
from harness.stats.core.arrays import Floats, Ints, ShapeError
from harness.stats.ranking import NO_COMPARISON, NO_POSITION, NOT_CONNECTED, SEPARATED, soft_pairwise_accuracy

RNG = np.random.default_rng(41)


def credits_of(shares: list[float], units: int) -> Floats:
    """Judges that are right on these shares of the units, each by itself."""
    return (RNG.random((len(shares), units)) < np.array(shares)[:, None]).astype(float)


def test_equal_judges_share_rank_and_group_whatever_their_number() -> None:
    found = rank_judges(np.tile(RNG.random(60) < 0.7, (6, 1)), np.arange(60))
    assert found.rank.tolist() == [1] * 6
    assert (found.lo.tolist(), found.hi.tolist()) == ([1] * 6, [6] * 6)
    assert found.letters == ("a",) * 6 and found.runs == ((1, 6),)


def test_a_judge_alone_is_first() -> None:
    found = rank_judges(credits_of([0.5], 40), np.arange(40))
    assert (found.rank[0], found.lo[0], found.hi[0], found.letters) == (1, 1, 1, ("a",))


def test_fewer_than_eight_texts_have_ranks_but_neither_intervals_nor_groups() -> None:
    found = rank_judges(credits_of([0.2, 0.9], 70), np.repeat(np.arange(7), 10))
    assert found.rank.tolist() == [2, 1]
    assert found.lo.tolist() == [0, 0] and found.letters == ("", "") and found.runs == ()
    assert found.reason == "too few independent texts" and np.isnan(found.p).all()


def test_without_units_there_is_nothing_to_rank() -> None:
    found = rank_judges(np.empty((2, 0)), [])
    assert found.reason == "no units" and np.isnan(found.value).all() and found.rank.tolist() == [1, 1]
    assert rank_judges(np.empty((0, 20)), range(20)).letters == ()


def test_what_a_judge_lacks_is_wrong() -> None:
    given_up = np.array([[1.0] * 20 + [np.nan] * 20, [1.0] * 20 + [0.0] * 20])
    found = rank_judges(given_up, np.arange(40))
    assert found.value.tolist() == [0.5, 0.5] and found.rank.tolist() == [1, 1]


@pytest.mark.parametrize("size", [1, 6])
def test_two_judges_are_told_apart_as_their_paired_difference_says(size: int) -> None:
    texts = np.repeat(np.arange(30), size)
    for _ in range(20):
        pair = credits_of([0.6, 0.75], len(texts))
        found = rank_judges(pair, texts, resamples=4000)
        alone = paired_difference(*pair, texts)
        assert found.p[0, 1] == pytest.approx(alone.p)


def test_judges_that_differ_by_the_same_on_every_text_are_told_apart_by_the_sign_test() -> None:
    found = rank_judges([[1.0] * 20, [0.0] * 20], range(20))
    assert found.p[0, 1] == 2.0**-19 and found.letters == ("a", "b")


def test_a_further_judge_moves_nobodys_value() -> None:
    few, texts = credits_of([0.4, 0.6, 0.9], 90), np.repeat(np.arange(30), 3)
    more = np.concatenate([few, credits_of([0.5], 90)])
    assert rank_judges(more, texts).value[:3].tolist() == rank_judges(few, texts).value.tolist()


def test_arrays_of_different_units_are_refused() -> None:
    with pytest.raises(ShapeError, match="same units"):
        rank_judges([[1, 0]], [0, 1, 2])
    with pytest.raises(ValueError, match="resamples"):
        rank_judges([[1, 0]], [0, 1], resamples=10)


@given(st.lists(st.floats(0.05, 0.95), min_size=1, max_size=9), st.integers(8, 40), st.integers(1, 5), st.integers(0, 1000))
def test_intervals_hold_the_rank_and_letters_tell_what_p_tells(shares: list[float], texts: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(texts), size)
    found = rank_judges((rng.random((len(shares), len(groups))) < np.array(shares)[:, None]).astype(float), groups, resamples=200)
    assert (found.lo <= found.rank).all() and (found.rank <= found.hi).all()
    assert (found.lo >= 1).all() and (found.hi <= len(shares)).all()
    assert np.array_equal(found.p, found.p.T)
    _letters_are_honest(found)


def _letters_are_honest(found: Ranks) -> None:
    """No common letter: corrected p says so. Every judge has one, and the groups follow the order of the values."""
    own = [set(letters) for letters in found.letters]
    assert all(own)
    for i, j in combinations(range(len(own)), 2):
        if not own[i] & own[j]:
            assert found.p[i, j] <= 0.05 and found.rank[i] != found.rank[j]
    ordered = sorted(range(len(own)), key=lambda j: -found.value[j])
    first = [min(found.letters[j]) for j in ordered]
    assert first == sorted(first)


@pytest.mark.slow
@given(st.permutations(range(5)))
def test_the_order_of_the_judges_moves_nothing(order: list[int]) -> None:
    matrix = (np.random.default_rng(3).random((5, 120)) < np.array([[0.3], [0.45], [0.6], [0.75], [0.9]])).astype(float)
    texts = np.repeat(np.arange(40), 3)
    one, other = rank_judges(matrix, texts, resamples=300), rank_judges(matrix[order], texts, resamples=300)
    for name in ("rank", "lo", "hi"):
        assert getattr(one, name)[order].tolist() == getattr(other, name).tolist()
    assert [one.letters[j] for j in order] == list(other.letters)


# ---- simulation with known truth


class Field(NamedTuple):
    """Judges with these true shares on `texts` texts of 1 to 2 size - 1 units; a text is as hard for all of them."""

    name: str
    shares: tuple[float, ...]
    texts: int
    size: int


FIELDS = [
    Field("5 equal judges, 200 texts of 1", (0.7,) * 5, 200, 1),
    Field("8 judges, two ties, 100 texts of 3", (0.5, 0.6, 0.6, 0.65, 0.7, 0.7, 0.7, 0.8), 100, 3),
    Field("20 close judges, 60 texts of 5", tuple(np.linspace(0.55, 0.75, 20).round(3)), 60, 5),
    Field("6 judges, 20 texts of 10", (0.5, 0.55, 0.6, 0.7, 0.7, 0.85), 20, 10),
    Field("6 judges, 12 texts of 5", (0.5, 0.55, 0.6, 0.7, 0.7, 0.85), 12, 5),
]


def draw(field: Field, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Credits of one sample. Texts move all judges' logits alike, and each judge's a little more."""
    size = rng.integers(1, 2 * field.size, field.texts) if field.size > 1 else np.ones(field.texts, np.int64)
    texts = np.repeat(np.arange(field.texts), size)
    shares = np.array(field.shares)[:, None]
    common = rng.random(len(texts))  # a unit that is hard is hard for all: half of the judges' luck is shared
    own = rng.random((len(shares), len(texts)))
    moved = shares + (rng.choice([-1, 1], field.texts) * 0.1)[texts] + (rng.choice([-1, 1], (len(shares), field.texts)) * 0.05)[:, texts]
    luck = np.where(rng.random(len(texts)) < 0.5, common, own)
    return (luck < moved).astype(float), texts


def held(field: Field, samples: int = 400, seed: int = 7) -> tuple[Floats, float, float, float]:
    """Of each judge: how often the interval holds its true ranks; the least of these for percentiles of bootstrapped ranks; how often any
    two equal judges are told apart; the intervals' mean width in ranks."""
    rng = np.random.default_rng(seed)
    true = np.array(field.shares)
    best = 1 + (true[None] > true[:, None]).sum(axis=1)
    worst = len(true) - (true[None] < true[:, None]).sum(axis=1)
    same = (true[:, None] == true[None]) & ~np.eye(len(true), dtype=bool)
    inside, naive, falsely, width = np.zeros(len(true)), np.zeros(len(true)), 0, 0.0
    for _ in range(samples):
        matrix, texts = draw(field, rng)
        found = rank_judges(matrix, texts, resamples=500)
        inside += (found.lo <= best) & (worst <= found.hi)
        low, high = _percentiles_of_ranks(matrix, texts, rng)
        naive += (low <= best) & (worst <= high)
        letters = [set(each) for each in found.letters]
        falsely += any(not letters[i] & letters[j] for i, j in zip(*np.nonzero(same), strict=True))
        width += float((found.hi - found.lo + 1).mean())
    return inside / samples, float(naive.min() / samples), falsely / samples, width / samples


def _percentiles_of_ranks(matrix: Floats, texts: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Goldstein & Spiegelhalter's intervals."""
    sums = np.stack([np.bincount(texts, row) for row in matrix])
    values = rng.multinomial(sums.shape[1], np.full(sums.shape[1], 1 / sums.shape[1]), 500) @ sums.T
    ranks = 1 + (values[:, None, :] > values[:, :, None]).sum(axis=2)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0)
    return np.floor(low), np.ceil(high)


@pytest.mark.slow
@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_intervals_hold_the_true_ranks_and_equal_judges_share_a_letter(field: Field) -> None:
    inside, _, falsely, _ = held(field)
    assert inside.min() >= 0.93, f"{field.name}: {inside}"
    assert falsely <= 0.07, field.name


def table() -> str:
    lines = [
        "| simulated judges | interval holds the true rank (least of the judges) | percentiles of ranks "
        "| equal judges said to differ | mean width |"
    ]
    lines.append("| --- | --- | --- | --- | --- |")
    for field in FIELDS:
        inside, naive, falsely, width = held(field)
        share = "–" if len(set(field.shares)) == len(field.shares) else f"{100 * falsely:.1f} %"
        lines.append(f"| {field.name} | {100 * inside.min():.1f} % | {100 * naive:.1f} % | {share} | {width:.1f} of {len(field.shares)} |")
    return "\n".join(lines)


SYSTEMS_RNG = np.random.default_rng(16)


def scores(systems: int, texts: int) -> tuple[np.ndarray, ...]:
    quality = SYSTEMS_RNG.normal(0, 0.5, systems)
    human = quality + SYSTEMS_RNG.normal(0, 1, (texts, systems))
    judge = quality + SYSTEMS_RNG.normal(0, 1, (texts, systems))
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


def simulated(strengths: list[float], place: float, n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, len(strengths), n)
    second = (first + rng.integers(1, len(strengths), n)) % len(strengths)
    odds = np.take(strengths, first) - np.take(strengths, second) + place
    return first, second, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(float)


def test_strengths_and_the_place_are_recovered_within_their_intervals() -> None:
    true = [0.8, 0.1, -0.9]
    first, second, won = simulated(true, 0.5, 4000)
    found = bradley_terry(first, second, won, 3, np.arange(4000) // 4)
    assert found.strengths == pytest.approx(true, abs=0.15) and found.strengths.sum() == pytest.approx(0)
    assert (found.low <= true).all() and (true <= found.high).all()
    assert found.position[1] < 0.5 < found.position[2] and found.groups == 1000


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    covered = []
    for seed in range(60):
        first, second, won = simulated([0.5, -0.5], 0.3, 300, seed)
        found = bradley_terry(first, second, won, 2, np.arange(300))
        covered.append(found.low[0] <= 0.5 <= found.high[0])
    assert np.mean(covered) > 0.88


def test_a_tie_is_half_a_win_of_each() -> None:
    ties = bradley_terry([0, 1] * 20, [1, 0] * 20, [0.5] * 40, 2, range(40))
    assert ties.strengths == pytest.approx([0, 0]) and ties.position[0] == pytest.approx(0)


@pytest.mark.parametrize(
    ("first", "second", "share", "systems", "reason"),
    [
        ([0, 1], [1, 0], [1, 0], 2, SEPARATED),
        ([0, 1], [1, 0], [1, 1], 2, SEPARATED),
        ([0, 1, 0, 1], [1, 0, 1, 0], [1, 0, 1, 1], 2, SEPARATED),
        ([0, 1, 2, 3], [1, 0, 3, 2], [1, 1, 0, 0], 4, NOT_CONNECTED),
        ([0], [0], [1], 2, NO_COMPARISON),
        ([0, 1], [1, 0], [np.nan, np.nan], 2, NO_COMPARISON),
    ],
    ids=["one always wins", "the first place always wins", "quasi-separation", "two islands", "with itself", "no choice"],
)
def test_what_no_finite_strength_fits_is_undefined(
    first: list[int], second: list[int], share: list[float], systems: int, reason: str
) -> None:
    found = bradley_terry(first, second, share, systems, range(len(first)))
    assert np.isnan(found.strengths).all() and found.reason == reason


def test_without_an_exchange_of_places_the_place_is_unknown_and_strengths_are_not() -> None:
    found = bradley_terry([0] * 40, [1] * 40, [1, 0, 1, 1] * 10, 2, range(40))
    assert found.position_reason == NO_POSITION and found.strengths[0] == pytest.approx(np.log(3) / 2)


def test_few_source_texts_have_no_interval() -> None:
    found = bradley_terry([0, 1] * 10, [1, 0] * 10, [1, 0, 0, 1] * 5, 2, [0, 1] * 10)
    assert not np.isnan(found.strengths).any() and np.isnan(found.low).all() and found.interval_reason


if __name__ == "__main__":
    print(table())
