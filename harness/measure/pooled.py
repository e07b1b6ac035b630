"""A judge against the majority baseline over all metrics of a language together."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.data.columns import combination_ids, rows_by_number
from harness.measure.cells import BASELINE
from harness.measure.compare import Recording, judged_data
from harness.measure.options import CompareOptions
from harness.measure.unit_agreement import baseline_hits, mean_of_questions, unit_hits
from harness.measure.units import item_key
from harness.model import CONDITION
from harness.stats import Difference, paired_difference

OVERALL = ("language", *CONDITION)
HYPOTHESIS = (
    f"H0: over all metrics together the judge agrees with the annotators' aggregate as often as the {BASELINE} baseline of each language, "
    "task and metric, on the same items, failures counted as wrong, repeats averaged; two-sided"
)


def pooled_differences(source: Recording, options: CompareOptions) -> dict[tuple[Any, ...], Difference]:
    """Every judge less the baseline over all metrics, by language, judge and condition (`OVERALL`).

    Questions that share a text are one group, whatever metric they are about. The same answers give the same numbers on a board. Raises
    UsageError as `compare` does.
    """
    [judged] = judged_data([source], options)
    data, units = judged.data, judged.units
    ours, _ = unit_hits(units, judged.counted, options)
    theirs = baseline_hits(data, units, judged.counted, judged.baseline or {}, options)
    question = combination_ids([units.judgments.metric], units.item)
    group = item_key(data, "group").codes[units.item].astype(np.int64)
    keys, which = judged.keyed(OVERALL)
    found = {}
    for key, rows in zip(keys, rows_by_number(which, len(keys)), strict=True):
        first, each = np.unique(question[rows], return_index=True, return_inverse=True)[1:]
        apart = mean_of_questions(each, ours[rows] - theirs[rows])
        found[tuple(key[name] for name in OVERALL)] = paired_difference(
            apart, np.zeros(len(apart)), group[rows][first], hypothesis=HYPOTHESIS
        )
    return found
