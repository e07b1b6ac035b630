"""How many further texts: the largest number that is tried is a number like any other; beyond it stands "more than"."""

from __future__ import annotations

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
        texts=SimpleNamespace(n=0, groups=0),
        basis="people",
    )
    [found] = labels_needed([(nothing, 0.05)], DecisionOptions(items=items))
    assert str(found) == words and isinstance(found, FurtherTexts) and found.more_than == (items > 3_000)
