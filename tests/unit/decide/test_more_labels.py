"""How many further texts: the largest number that is tried is a number like any other; beyond it stands "more than"."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.decide.more_labels import FurtherTexts, labels_needed
from harness.decide.options import DecisionOptions


@pytest.mark.parametrize(
    ("items", "words"), [(240, "about 240"), (2_995, "about 3,000"), (3_000, "about 3,000"), (3_001, "more than 3,000")]
)
def test_the_largest_number_that_is_tried_suffices_or_not(items: int, words: str) -> None:
    """Without any text of two annotators, as many are needed as the rule asks for, rounded up to tens."""
    nothing: Any = SimpleNamespace(
        gap=SimpleNamespace(mean=0.0),
        baseline=SimpleNamespace(mean=0.1),
        differences=SimpleNamespace(gap=np.empty(0)),
        texts=SimpleNamespace(n=0, groups=0, closeness=False),
        right=1.0,
        basis="people",
        aggregate=False,
    )
    [found] = labels_needed([(nothing, 0.05)], DecisionOptions(items=items))
    assert str(found) == words and isinstance(found, FurtherTexts) and found.more_than == (items > 3_000)


@pytest.mark.parametrize(("right", "level", "words"), [(0.75, 0.05, "about 120"), (0.6, 0.05, "about 190"), (0.6, 0.01, "about 310")])
def test_a_second_person_scores_as_many_texts_as_show_a_judge_that_people_agree_with_as_with_each_other(
    right: float, level: float, words: str
) -> None:
    alone: Any = SimpleNamespace(
        gap=SimpleNamespace(mean=math.nan),
        baseline=SimpleNamespace(mean=0.1),
        texts=SimpleNamespace(n=0, groups=0, closeness=False),
        right=right,
        basis="people",
        aggregate=False,
    )
    [found] = labels_needed([(alone, level)], DecisionOptions())
    assert str(found) == words
