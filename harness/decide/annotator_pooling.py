"""The alternative annotator test by task: each (text, metric) counts as an item, as its authors count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.content.specs import DatasetCard
from harness.decide.annotator_labels import AnnotatorSample, annotator_test, pooled_sample
from harness.decide.cell_tests import CellTests
from harness.decide.options import DecisionOptions

NOBODYS = 1e6
"""The code of an answer that is no class, where scores are only equal or not."""


def pooled_annotator_tests(
    tests: Sequence[CellTests], options: DecisionOptions, cards: Sequence[DatasetCard]
) -> tuple[dict[str, Any], ...]:
    """Return a row for each task, judge and condition: its key without metric, `metrics`, `n` texts on a metric, `read` answers, the test.

    The row is the published test. An answer that could not be read is a score that nobody else gave, and by distance it is left out. In a
    verdict's own test the judge loses it.

    Only metrics of one scoring are pooled, and only where all data have one discount. Empty where neither a card nor a flag names the
    scoring.

    Reference: Calderon, Reichart & Dror (2025), The alternative annotator test for LLM-as-a-judge.
    """
    discounts = {options.discount(card.epsilon) for card in cards}
    if len(discounts) != 1:
        return ()
    [epsilon] = discounts
    samples: dict[tuple[Any, ...], list[AnnotatorSample]] = {}
    for cell in tests:
        for task, sample in cell.alt_samples.items():
            rest_of_key = {name: value for name, value in cell.key.items() if name not in ("metric", "task")}
            samples.setdefault((task, tuple(rest_of_key.items()), sample.scoring), []).append(sample)
    rows = []
    for (task, key, scoring), task_samples in samples.items():
        pooled = pooled_sample(task_samples)
        unread = np.isnan(pooled.judge)
        if scoring == "accuracy":
            pooled = pooled._replace(judge=np.where(unread, NOBODYS, pooled.judge))
        test = annotator_test(pooled, epsilon, failures_lose=False) or {}
        rows.append({"task": task, **dict(key), "metrics": list(pooled.metrics), "n": len(unread), "read": int((~unread).sum()), **test})
    return tuple(rows)
