"""Ratings of a second round by people who had not scored the text: further annotators, where a judge is compared with people.

A person's second rating of the same text is the person's own repeat. It says how steady the person is, and no verdict counts it.
Statistics of a comparison (correlations, errors) rest on the labels of the first round alone, as releases compute them.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from harness.data.labels import Labels
from harness.measure.judged_table import JudgedTable
from harness.measure.label_counts import count_labels
from harness.measure.options import Annotators


def with_further_people(judged: JudgedTable, least: int) -> JudgedTable:
    """Return the table with the ratings of further people among its labels, on each metric where `least` judged texts have some.

    Where a metric has such texts, its labels are those of texts that two people or more scored.
    """
    further = judged.data.further_people
    metrics = [metric for metric in judged.labels if _judged_again(judged, further, metric) >= least]
    if not metrics:
        return judged
    labels = Labels.concatenate([judged.data.labels, further.take(further.metric.among(metrics))])
    data = msgspec.structs.replace(judged.data, labels=labels)
    counted = dict(judged.labels)
    for metric in metrics:
        earlier = judged.labels[metric]
        alone = msgspec.structs.replace(data, labels=labels.take(labels.metric.equals(metric)))
        continuous = frozenset([metric] if earlier.classes.continuous else [])
        counted |= count_labels(alone, judged.judgments, Annotators(2), earlier.majority, continuous=continuous)
    return replace(judged, data=data, labels=counted)


def _judged_again(judged: JudgedTable, further: Labels, metric: str) -> int:
    """Return how many texts with a judgment on a metric have a label of the first round and the rating of a further person."""
    items = judged.item[judged.rows_by_metric.get(metric, np.zeros(0, np.int64))]
    again = further.item.take(further.metric.equals(metric)).recode(judged.data.positions)
    labels = judged.labels[metric]
    first = labels.raters if labels.scores is None else labels.scores.n
    return int((first[np.intersect1d(items, again[again >= 0])] > 0).sum())
