"""The answer of the majority baseline: its learnt class, else the commonest class of its stratum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from harness.measure.units import Classes
from harness.stats import commonest
from harness.stats.core.arrays import Floats, Ints


def majority_classes(
    reference: Ints,
    classes: Classes,
    stratum: Ints,
    learnt: Mapping[tuple[str, str], Any] | None,
    questions: Iterable[tuple[str, str]],
    weights: Floats | None = None,
) -> Ints:
    """The class that the baseline gives to each unit, (units,).

    A judge that knows only the stratum of a text gains nothing beside it when strata are pooled.

    Args:
        reference: (units,) the class of the aggregate, negative without one.
        classes: of the metric.
        stratum: (units,) what has one constant: language, task and metric, and where judges are not told apart elsewhere, the judge.
        learnt: `{(item_id, metric): score}`, from development items; questions that are missing have the constant.
        questions: the item and metric of every unit; read only if something was learnt.
        weights: (units,) how many units each stands for; without them each counts once.
    """
    constant = commonest(reference, len(classes.scores), stratum, weights)
    if not learnt:
        return constant
    index = classes.index()
    known = np.array([index.get(learnt.get(question), -1) for question in questions], np.int64)
    return np.where(known >= 0, known, constant)
