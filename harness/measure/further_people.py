"""Ratings of a second round by people who had not scored the text: further annotators, where a judge is compared with people.

A person's second rating of the same text is the person's own repeat. It says how steady the person is, and no verdict counts it.
Statistics of a comparison (correlations, errors) rest on the labels of the first round alone, as releases compute them.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.data.labels import Labels
from harness.measure.judged_table import JudgedTable, item_key
from harness.measure.label_counts import count_labels
from harness.measure.options import Annotators


def with_further_people(judged: JudgedTable, least: int) -> JudgedTable:
    """Return the table with the ratings of further people among its labels, in each language and on each metric where `least` judged
    texts have one.
    """
    data, further = judged.data, judged.data.further_people
    counts = np.zeros(len(further), bool)
    for metric in judged.labels:
        counts |= _rows_that_count(judged, further, metric, least)
    if not counts.any():
        return judged
    labels = Labels.concatenate([data.labels, further.take(counts)])
    counted = dict(judged.labels)
    for metric in further.take(counts).metric.used:
        earlier, of_metric = judged.labels[metric], labels.take(labels.metric.equals(metric))
        continuous = frozenset([metric] if earlier.classes.continuous else [])
        alone = msgspec.structs.replace(data, labels=of_metric)
        counted |= count_labels(alone, judged.judgments, Annotators(1), earlier.majority, continuous=continuous)
    return replace(judged, data=msgspec.structs.replace(data, labels=labels), labels=counted)


def _rows_that_count(judged: JudgedTable, further: Labels, metric: str, least: int) -> NDArray[np.bool_]:
    """Return a mask of the ratings on a metric in the languages where enough judged texts with a label of the first round have one."""
    labels = judged.labels[metric]
    first = labels.raters if labels.scores is None else labels.scores.n
    position = further.item.recode(judged.data.positions)
    is_judged = np.zeros(len(judged.data.items), bool)
    is_judged[judged.item[judged.rows_by_metric.get(metric, np.zeros(0, np.int64))]] = True
    rows = further.metric.equals(metric) & (position >= 0)
    rows[rows] = (is_judged & (first > 0))[position[rows]]
    language = item_key(judged.data, "language").codes[position]
    enough = [code for code in np.unique(language[rows]) if len(np.unique(position[rows & (language == code)])) >= least]
    return np.asarray(rows & np.isin(language, enough))
