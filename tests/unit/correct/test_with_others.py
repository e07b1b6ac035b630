"""Languages lend their labels, whether or not all of their texts have one."""

from __future__ import annotations

import numpy as np
import pytest

from harness.correct.mean_estimates import ALL_LABELLED, Sample, mean_estimates
from harness.correct.with_others import own_errors, with_other_languages


def languages_of(labels: tuple[int, ...], texts: int = 300) -> list[Sample]:
    """A language for each number of labels; the judge is right up to a small error, and too kind by 0.3."""
    rng = np.random.default_rng(3)
    made = []
    for count in labels:
        y = rng.normal(5, 1, texts)
        f = y + 0.3 + rng.normal(0, 0.4, texts)
        made.append(Sample(np.where(np.arange(texts) < count, y, np.nan), f, np.arange(texts)))
    return made


@pytest.mark.parametrize("others", [300, 299, 150])
def test_the_judge_counts_however_many_texts_of_the_others_have_no_label(others: int) -> None:
    samples = languages_of((20, *[others] * 5))
    assert own_errors(samples).lam > 0.8
    plain = [mean_estimates([(one, 1.0)], share=False) for one in samples]
    few, *rest = with_other_languages(plain, samples, share=False)
    own = plain[0].labels_alone.ci
    assert few.ci and own and few.ci[0] < 5 < few.ci[1] and few.ci[1] - few.ci[0] < 0.6 * (own[1] - own[0])
    if others == 300:
        assert {one.reason for one in rest} == {ALL_LABELLED} and all(one.value is None for one in rest)
    else:
        assert all(one.ci for one in rest)


def test_a_judge_without_readable_scores_beside_the_labels_is_left_out() -> None:
    first, *others = languages_of((20, 60, 60, 60, 60, 60))
    blind = Sample(first.y, np.where(first.known, np.nan, first.f), first.group)
    samples = [blind, *others]
    found = with_other_languages([mean_estimates([(one, 1.0)], share=False) for one in samples], samples, share=False)
    assert found[0].reason == "no readable scores" and found[0].value is None and all(one.ci for one in found[1:])
