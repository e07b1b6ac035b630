"""Two judges or conditions on continuous scores: the difference of their correlations with the same people on the same items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.data.columns import combination_ids
from harness.data.dataset import Dataset
from harness.measure.cells import as_difference
from harness.measure.judged import JudgedData
from harness.measure.score_cells import NO_SEGMENT_KEY, NOT_CLASSES, WITHIN, source_texts
from harness.measure.scores import numbers
from harness.measure.units import LabelCounts, Units, item_key
from harness.stats.agreement.continuous import correlation_difference, joined_groups, mean_of_segments, segment_correlations
from harness.stats.agreement.correlation import NAMES as CORRELATIONS
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.sums import Estimated
from harness.stats.intervals.intervals import no_interval

DIFFERENCES = ("kendall_tau_within", "pearson_within", "kendall_tau", "pearson", "spearman")
"""The correlations whose differences are computed; the first one that is defined is the one that is tested."""


def scores_apart(judged: JudgedData, ours: Ints, theirs: Ints, hypothesis: str) -> dict[str, Any]:
    """The paired difference of a versus-row: `{diff, ci, p, n, reason, hypothesis, statistic, differences, margins, mcnemar}`.

    Args:
        judged: judgments beside labels.
        ours, theirs: (pairs,) the units of the cell, and the unit that each is compared with: the same item, metric and repeat.
        hypothesis: what p tests.

    `statistic` names the correlation whose difference `diff` is: within source texts where the card names them, else over all items.
    `differences` has them all by name, each as `{diff, ci, p, n, reason}`.
    """
    found = differences(judged, ours, theirs)
    tested = "kendall_tau_within" if judged.data.about.segment else "kendall_tau"
    each = {name: as_difference(one) for name, one in found.items()}
    return {
        **each[tested],
        "hypothesis": hypothesis,
        "statistic": tested,
        "differences": each,
        "margins": None,
        "mcnemar": None,
        "undefined": {"margins": NOT_CLASSES, "mcnemar": NOT_CLASSES},
    }


def differences(judged: JudgedData, ours: Ints, theirs: Ints) -> dict[str, Estimated]:
    """The difference of every correlation in `DIFFERENCES`, by name; arguments as `scores_apart`."""
    units = judged.units
    item = units.item[ours].astype(np.int64)
    score = numbers(units.judgments.score)
    x = _people(units, judged.counted, ours, item)
    used = ~(np.isnan(x) | np.isnan(score[ours]) | np.isnan(score[theirs]))
    item, x, first, second = item[used], x[used], score[ours][used], score[theirs][used]
    question = combination_ids([units.judgments.metric.take(ours[used])], item)
    return correlation_differences(judged.data, question, item, x, first, second)


def correlation_differences(data: Dataset, question: Ints, item: Ints, x: Floats, first: Floats, second: Floats) -> dict[str, Estimated]:
    """The same of arrays: the correlation of `first` with people's mean `x` minus that of `second`, none of them NaN, (answers,).

    `item` is the index of each answer's item, `question` is equal for answers on one item and metric.
    """
    group = item_key(data, "group").codes.astype(np.int64)
    found = {name: correlation_difference(method, x, first, second, group[item]) for method, name in CORRELATIONS.items()}
    within = _within(data, question, item, (x, first, second), group)
    return {name: (found | within)[name] for name in DIFFERENCES}


def _people(units: Units, counted: Mapping[str, LabelCounts], rows: Ints, item: Ints) -> Floats:
    """The mean label of every unit's item, as correlations use it."""
    metric, x = units.judgments.metric.take(rows), np.full(len(rows), np.nan)
    for name in metric.used:
        if name in counted and (scores := counted[name].scores) is not None:
            here = metric.equals(name)
            x[here] = scores.mean[item[here]]
    return x


def _within(data: Dataset, question: Ints, item: Ints, columns: Sequence[Floats], group: Ints) -> dict[str, Estimated]:
    """Differences within source texts: those on which both correlations are defined, repeats of an item averaged."""
    if not data.about.segment:
        return dict.fromkeys(WITHIN, Estimated(math.nan, 0, no_interval(0, NO_SEGMENT_KEY), math.nan, NO_SEGMENT_KEY))
    segments = source_texts(data)
    known = segments >= 0
    cluster = joined_groups(segments[known], group[known])
    _, first, which = np.unique(question, return_index=True, return_inverse=True)
    times = np.maximum(np.bincount(which, minlength=len(first)), 1)
    x, ours, theirs = (np.bincount(which, column, minlength=len(first)) / times for column in columns)
    of, against = (segment_correlations(x, y, segments[item[first]]) for y in (ours, theirs))
    return {
        name: mean_of_segments(getattr(of, method) - getattr(against, method), cluster[of.segment], None) for name, method in WITHIN.items()
    }
