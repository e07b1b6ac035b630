"""Recorded answers beside two fresh ones: the exact test is the binomial's where that is exact, and holds its level for noisy judges.

`python -m tests.unit.stats.agreement.test_retest` from the checkout prints the table for docs/error-rates.md.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from harness.stats import ShapeError, clopper_pearson, retest


def answers(calls: int, *, noise: float, edited: float = 0.0, judgments: int = 1, seed: int = 0) -> list[Any]:
    """Three readings of one judge that gives its usual answer but for `noise`; of the first, `edited` was changed to another class."""
    rng = np.random.default_rng(seed)
    usual = rng.integers(0, 3, (calls, judgments))
    found = [np.where(rng.random(usual.shape) < noise, rng.integers(0, 3, usual.shape), usual) for _ in range(3)]
    changed = rng.random(calls) < edited
    found[0][changed] = (found[0][changed] + 1) % 3
    return found


def test_a_deterministic_judge_agrees_with_itself_and_nothing_speaks_against_it() -> None:
    found = retest(*answers(20, noise=0))
    assert (found.apart, found.apart_fresh, found.alone, found.p) == (0, 0, 0, 1)
    assert found.alone_interval == clopper_pearson(0, 20, 0.025)


@pytest.mark.parametrize("edits", [1, 2, 3, 10])
def test_each_answer_that_stands_alone_makes_the_same_source_three_times_less_likely(edits: int) -> None:
    usual = np.zeros(40, int)
    edited = np.where(np.arange(40) < edits, 1, usual)
    found = retest(edited, usual, usual)
    assert found.p == pytest.approx(3.0**-edits, rel=1e-12)
    assert found.alone == edits and found.excess == edits / 40


@pytest.mark.parametrize("seed", range(5))
def test_with_one_judgment_a_call_it_is_the_binomial_test_of_the_odd_one(seed: int) -> None:
    recorded, first, second = (each[:, 0] for each in answers(60, noise=0.4, edited=0.1, seed=seed))
    alone = ((first == second) & (recorded != first)).sum()
    split = alone + ((recorded == first) ^ (recorded == second)).sum()
    found = retest(recorded, first, second)
    assert found.alone == alone
    assert found.p == pytest.approx(binom.sf(alone - 1, split, 1 / 3), rel=1e-9)


def test_with_several_judgments_a_call_it_counts_every_choice_of_the_recorded_answer() -> None:
    drawn = answers(6, noise=0.5, judgments=3, seed=3)
    table = np.stack(drawn)  # (three, calls, judgments)

    def total(choice: tuple[int, ...]) -> int:
        result = 0
        for call, recorded in enumerate(choice):
            one, other = (k for k in range(3) if k != recorded)
            differ = [(table[a, call] != table[b, call]).sum() for a, b in ((recorded, one), (recorded, other), (one, other))]
            result += differ[0] + differ[1] - 2 * differ[2]
        return result

    observed = total((0,) * 6)
    every = [total(choice) for choice in itertools.product(range(3), repeat=6)]
    assert retest(*drawn).p == pytest.approx(np.mean([each >= observed for each in every]), rel=1e-12)


def test_the_order_of_the_fresh_answers_and_of_the_calls_does_not_matter() -> None:
    recorded, first, second = answers(50, noise=0.3, judgments=2, seed=1)
    order = np.random.default_rng(0).permutation(50)
    assert retest(recorded, first, second) == retest(recorded[order], second[order], first[order])


def test_judgments_that_a_call_does_not_have_count_for_nothing() -> None:
    recorded, first, second = answers(30, noise=0.3, seed=2)
    wider = [np.concatenate([each, np.full((30, 2), -1)], axis=1) for each in (recorded, first, second)]
    assert retest(*wider) == retest(recorded, first, second)


def test_a_failure_that_comes_back_is_agreement() -> None:
    off_scale = [3] * 10
    assert retest(off_scale, off_scale, off_scale).apart == 0


def test_without_calls_nothing_is_claimed() -> None:
    found = retest([], [], [])
    assert np.isnan(found.apart) and found.p == 1


@pytest.mark.parametrize(
    ("arrays", "words"),
    [(([1, 2], [1], [1, 2]), "of the same calls"), (([1, -1], [1, 1], [1, -1]), "the same judgments")],
)
def test_answers_of_different_calls_are_refused(arrays: Any, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        retest(*arrays)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("judgments", [1, 5])
def test_an_honest_submission_fails_at_most_as_often_as_the_level_says(noise: float, judgments: int) -> None:
    draws = 2000
    failed = sum(retest(*answers(60, noise=noise, judgments=judgments, seed=seed)).p < 0.05 for seed in range(draws))
    assert failed / draws <= 0.05 + 3 * (0.05 * 0.95 / draws) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "power"), [(0.0, 0.99), (0.1, 0.8)])
def test_a_fifth_of_edited_answers_is_found_in_most_samples_of_sixty(noise: float, power: float) -> None:
    found = sum(retest(*answers(60, noise=noise, edited=0.2, seed=seed)).p < 0.05 for seed in range(500))
    assert found / 500 > power


def table(draws: int = 1000) -> str:
    """How often a submission does not hold, by noise and number of calls (rows) and share of edited replies (columns), as Markdown."""
    shares = (0.0, 0.05, 0.1, 0.2, 0.5)
    lines = ["| noise | calls | " + " | ".join(f"{share:.0%} edited" for share in shares) + " |", "| --- | --- |" + " --- |" * len(shares)]
    for noise, calls in itertools.product((0.0, 0.05, 0.2), (20, 60, 180, 325)):
        found = [np.mean([retest(*answers(calls, noise=noise, edited=e, seed=s)).p < 0.05 for s in range(draws)]) for e in shares]
        lines.append(f"| {noise:g} | {calls} | " + " | ".join(f"{100 * each:.1f}" for each in found) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
