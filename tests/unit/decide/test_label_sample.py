"""The drawn texts have the probability that is stated with them; estimates weighted by it are unbiased, and their intervals hold."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from harness.analyse import Recording
from harness.data.judgments import Judgments
from harness.decide import SampleOptions, draw_label_sample
from harness.errors import UsageError
from harness.model import Item, Judgment

CLASSES = (0, 1, 2)


def judgment(score: int, item_id: str, probability: float) -> Judgment:
    probs = {str(score): probability}
    return Judgment(item_id, "cs", "t", "m", "j", "single", 0.0, 0, score, None, None, None, item_id, probs=probs)


@pytest.fixture
def recording(make_data: Any) -> Recording:
    """200 texts without a label; the judge gives class n % 3, surely if n is even."""
    items = [Item(f"i{n}", "cs", "t", group=f"g{n}") for n in range(200)]
    rows = [judgment(n % 3, f"i{n}", 0.95 if n % 2 == 0 else 0.6) for n in range(200)]
    return Recording("r", make_data(items, {}), Judgments.from_rows(rows))


def test_every_stratum_is_drawn_in_proportion_with_its_probability(recording: Recording) -> None:
    sample = draw_label_sample(recording, SampleOptions(budget=60))
    assert [stratum.name for stratum in sample.strata] == [f"score {c}, {sure}" for c in CLASSES for sure in ("sure", "unsure")]
    assert len(sample.items) == 60 and {stratum.drawn for stratum in sample.strata} == {10}
    sizes = {stratum.name: stratum.texts for stratum in sample.strata}
    assert all(item.inclusion_probability == 10 / sizes[item.stratum] for item in sample.items)
    assert sample == draw_label_sample(recording, SampleOptions(budget=60))
    assert sample.items != draw_label_sample(recording, SampleOptions(budget=60, seed=1)).items


def test_the_first_texts_of_a_plan_come_from_all_strata(recording: Recording) -> None:
    sample = draw_label_sample(recording, SampleOptions(budget=180))
    first = Counter(item.stratum for item in sample.items[:60])
    assert len(first) == 6 and min(first.values()) >= 4
    assert [item.item_id for item in sample.items] != sorted((item.item_id for item in sample.items), key=lambda name: int(name[1:]))


def test_neyman_draws_more_where_the_judge_is_unsure(recording: Recording) -> None:
    drawn: Counter[str] = Counter()
    for stratum in draw_label_sample(recording, SampleOptions(budget=60, allocation="neyman")).strata:
        drawn[stratum.name.split(", ")[1]] += stratum.drawn
    assert drawn["unsure"] > 1.8 * drawn["sure"]


def test_few_versions_of_one_text_are_drawn_and_labelled_texts_are_left_out(make_data: Any) -> None:
    items = [Item(f"i{n}", "cs", "t", group=f"g{n // 4}") for n in range(41)]
    data = make_data(items, {"i40": 1})
    for seed in range(20):
        sample = draw_label_sample(Recording("r", data, Judgments.from_rows([])), SampleOptions(budget=10, seed=seed))
        assert sample.texts == 40 and "i40" not in {item.item_id for item in sample.items}
        assert len({data.by_id[item.item_id].group for item in sample.items}) == 10
        assert {item.inclusion_probability for item in sample.items} == {0.25}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "too many": ({"budget": 201}, "200 texts without a native label are there"),
    "too few for the strata": ({"budget": 5}, "6 strata need 12 texts"),
    "no such judge": ({"budget": 9, "judge": "gpt"}, "no judgment is by the judge 'gpt'"),
    "no such language": ({"budget": 9, "language": "sw"}, "there is no item in 'sw'"),
}


@pytest.mark.parametrize(("options", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_drawn_is_a_sentence(recording: Recording, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        draw_label_sample(recording, SampleOptions(**options))


@pytest.mark.slow
def test_weighted_means_are_unbiased_and_their_intervals_hold(recording: Recording) -> None:
    """400 draws of 60 texts. The share of equal labels is 0.9 where the judge is sure and 0.5 where it is not."""
    from harness.stats import prediction_powered_weighted

    rng = np.random.default_rng(0)
    truth = {f"i{n}": float(rng.random() < (0.9 if n % 2 == 0 else 0.5)) for n in range(200)}
    mean = float(np.mean(list(truth.values())))
    weighted, simple, covered = [], [], []
    for seed in range(400):
        sample = draw_label_sample(recording, SampleOptions(budget=60, seed=seed))
        y = np.array([truth[item.item_id] for item in sample.items])
        w = np.array([1 / item.inclusion_probability for item in sample.items])
        found = prediction_powered_weighted(y, np.zeros(60), w, np.arange(60), lam=0.0)
        weighted.append(float((y * w).sum() / w.sum()))
        covered.append(found.interval.lo <= mean <= found.interval.hi)
        simple.append(float(np.mean([truth[f"i{n}"] for n in np.random.default_rng(seed).choice(200, 60, replace=False)])))
    error = float(np.std(weighted)) / 20
    print(f"gain over a simple random sample: {np.var(simple) / np.var(weighted):.2f}")
    assert abs(float(np.mean(weighted)) - mean) < 4 * error
    assert np.mean(covered) >= 0.93
    assert np.var(weighted) < np.var(simple)
