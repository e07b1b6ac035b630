"""Variance components and reliabilities: the printed example of Shrout & Fleiss, gaps, and the edges.

Intraclass correlations: the published example, and an independent program.

Scores standardised within annotator, and the share of variance between the levels of a factor."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from harness.stats import clopper_pearson, retest
from harness.stats.agreement.variance_components import (
    Components,
    SingleScoreError,
    eta_squared,
    mean_squares,
    mixed_components,
    one_way_components,
    one_way_icc,
    reliability,
    standardised,
    two_way_components,
    two_way_icc,
)
from harness.stats.core.arrays import ShapeError

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def test_the_printed_coefficients() -> None:
    two, one = reliability(two_way_components(SHROUT_FLEISS), [1, 4]), reliability(one_way_components(SHROUT_FLEISS), [1, 4])
    assert [round(x, 2) for each in two for x in (each.absolute, each.relative)] == [0.29, 0.71, 0.62, 0.91]
    assert [round(each.absolute, 2) for each in one] == [0.17, 0.44] and one[0].absolute == one[0].relative


def test_negative_components_are_cut_and_named() -> None:
    found = two_way_components([[0, 1], [1, 0]])
    assert found.item == 0 and found.cut == ("item", "annotator") and reliability(found, 2)[0].relative == 0
    assert one_way_components([[0, 1], [1, 0]]).cut == ("item",)


def test_without_variance_there_is_no_reliability() -> None:
    found = two_way_components(np.ones((4, 3)))
    assert found == Components(0.0, 0.0, 0.0) and math.isnan(reliability(found, 1)[0].absolute)


def test_components_of_a_known_world() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(0, 1, (400, 1)) + rng.normal(0, 0.5, (1, 40)) + rng.normal(0, 0.8, (400, 40))
    found = two_way_components(scores)
    assert (found.item, found.annotator, found.residual) == pytest.approx((1, 0.25, 0.64), rel=0.35)


def test_gaps() -> None:
    scores = np.random.default_rng(5).normal(size=(25, 1)) + np.random.default_rng(6).normal(size=(25, 4)) + [0, 1, 2, 4]
    whole, balanced = mixed_components(scores), two_way_components(scores)
    assert (whole.item, whole.annotator, whole.residual) == pytest.approx((balanced.item, balanced.annotator, balanced.residual), rel=0.01)
    scores[:8, 0] = scores[20:, 3] = np.nan
    some = mixed_components(scores)
    assert some.reason is None and (some.item, some.residual) == pytest.approx((whole.item, whole.residual), rel=0.6)
    assert mixed_components([[1, np.nan], [np.nan, 2]]).reason == "too few scores"
    with pytest.raises(ValueError, match="without gaps"):
        mean_squares(scores)


@pytest.mark.parametrize("seed", range(4))
def test_gaps_are_as_in_statsmodels(seed: int) -> None:
    from pandas import DataFrame
    from statsmodels.regression.mixed_linear_model import MixedLM

    rng = np.random.default_rng(seed)
    scores = 3 + rng.normal(0, 1, (30, 1)) + rng.normal(0, 0.6, (1, 5)) + rng.normal(0, 0.7, (30, 5))
    scores[rng.random((30, 5)) < 0.35] = np.nan
    item, rater = np.nonzero(~np.isnan(scores))
    frame = DataFrame({"score": scores[item, rater], "item": item, "rater": rater, "one": 1})
    parts = {"item": "0+C(item)", "rater": "0+C(rater)"}
    oracle = MixedLM.from_formula("score ~ 1", groups="one", vc_formula=parts, data=frame).fit(reml=True)
    theirs = dict(zip(oracle.model.exog_vc.names, oracle.vcomp, strict=True))
    found = mixed_components(scores)
    assert (found.item, found.annotator, found.residual) == pytest.approx((theirs["item"], theirs["rater"], oracle.scale), rel=2e-3)


def test_scores_without_variance_have_no_components() -> None:
    assert mixed_components([[1, 1, np.nan], [1, np.nan, 1], [1, 1, 1]]).reason == "constant values"


def test_a_component_at_the_boundary_is_named() -> None:
    scores = np.random.default_rng(5).normal(size=(20, 1)) + np.tile([[0.5, -0.5], [-0.5, 0.5]], (10, 2)) * 0.4
    found = mixed_components(scores)
    assert found.annotator == pytest.approx(0, abs=1e-4) or found.reason


def test_input_is_checked() -> None:
    for scores in ([1, 2], [[1, 2]], [[1], [2]]):
        with pytest.raises(ShapeError):
            mean_squares(scores)
    with pytest.raises(ShapeError):
        mixed_components([1.0, 2.0])


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


def test_every_annotator_has_mean_0_and_standard_deviation_1() -> None:
    rng = np.random.default_rng(0)
    who = rng.integers(0, 4, 200)
    found = standardised(rng.normal(size=200) * (who + 1) + 10 * who, who)
    for one in range(4):
        assert found[who == one].mean() == pytest.approx(0, abs=1e-12) and found[who == one].std(ddof=1) == pytest.approx(1)


def test_one_score_an_annotator_is_refused_and_a_constant_annotator_is_0() -> None:
    with pytest.raises(SingleScoreError, match="annotator b has a single score") as caught:
        standardised([1, 2, 3], ["a", "a", "b"])
    assert caught.value.annotator == "b"
    assert standardised([5, 5, 5], ["a", "a", "a"]).tolist() == [0, 0, 0]
    assert len(standardised([], [])) == 0
    with pytest.raises(ShapeError):
        standardised([1, 2], ["a"])


def test_eta_squared_is_r_squared_of_the_factor() -> None:
    import pandas as pd

    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"score": rng.normal(size=60), "who": rng.choice(list("abc"), 60)})
    assert eta_squared(frame["score"], frame["who"]).value == pytest.approx(ols("score ~ who", frame).fit().rsquared)


def test_eta_squared_is_undefined_without_variance() -> None:
    assert eta_squared([2, 2], ["a", "b"]).reason == "all scores are equal"
    assert eta_squared([], []).reason == "no label"
    with pytest.raises(ShapeError):
        eta_squared([1], ["a", "b"])


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
