"""A judge against the majority baseline over all metrics of a language together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.analyse.cells import BASELINE, factorise, key_column
from harness.analyse.compare import Recording, restrict
from harness.analyse.options import CompareOptions, annotators_needed
from harness.analyse.units import Units, Votes, asked_and_not, item_key, units_of, votes
from harness.analyse.versus import unit_hits
from harness.data.columns import combination_ids, rows_by_number
from harness.stats import Difference, aggregate_counts, commonest, hits, paired_difference
from harness.stats.arrays import Floats, Ints

OVERALL = ("language", "judge", "variant", "temperature", "top_p")
HYPOTHESIS = (
    f"H0: over all metrics together the judge agrees with the annotators' aggregate as often as the {BASELINE} baseline of each language, "
    "task and metric, on the same items, failures counted as wrong, repeats averaged; two-sided"
)


def pooled_differences(source: Recording, options: CompareOptions) -> dict[tuple[Any, ...], Difference]:
    """Every judge less the baseline over all metrics, by language, judge, variant, temperature and top-p.

    Questions that share a text are one group, whatever metric they are about. The same answers give the same numbers on a board. Raises
    UsageError as `compare` does.
    """
    data, judgments = restrict(source, options)
    counted = votes(data, judgments, annotators_needed(options, data.labels.max_annotators))
    units, _ = asked_and_not(units_of(data, judgments, source.name), data, counted, source.asked, source.judgments.clean)
    ours, _ = unit_hits(units, counted, options)
    theirs = _baseline_hits(
        units, counted, source.baseline or {}, options, combination_ids([item_key(data, "language")], item_key(data, "task").codes)
    )
    question = combination_ids([units.judgments.metric], units.item)
    group = item_key(data, "group").codes[units.item].astype(np.int64)
    keys, which = factorise({name: key_column(name, data, units, counted) for name in OVERALL}, len(units))
    found = {}
    for key, rows in zip(keys, rows_by_number(which, len(keys)), strict=True):
        first, each = np.unique(question[rows], return_index=True, return_inverse=True)[1:]
        apart = _mean_of(each, ours[rows] - theirs[rows])
        found[tuple(key[name] for name in OVERALL)] = paired_difference(
            apart, np.zeros(len(apart)), group[rows][first], hypothesis=HYPOTHESIS
        )
    return found


def _baseline_hits(
    units: Units, counted: Mapping[str, Votes], learnt: Mapping[tuple[str, str], Any], options: CompareOptions, place: Ints
) -> Floats:
    """Whether the majority baseline agrees with the aggregate on every unit: what it has learnt, else the commonest of the stratum.

    `place` (items,) tells languages and tasks apart.
    """
    j, items = units.judgments, units.item
    stratum = combination_ids([j.judge, j.variant, j.temperature, j.top_p], place[items])
    hit = np.full(len(units), np.nan)
    for metric, of in counted.items():
        rows = np.flatnonzero(j.metric.recode({metric: 0}) == 0)
        k, index = len(of.classes.scores), of.classes.index()
        reference = aggregate_counts(of.counts[items[rows]], options.majority)
        guessed = commonest(reference, k, stratum[rows])
        if learnt:
            known = np.array([index.get(learnt.get((item, metric)), -1) for item in j.item.take(rows)], np.int64)
            guessed = np.where(known >= 0, known, guessed)
        hit[rows] = hits(guessed, reference, k, failed_wrong=True)
        if options.majority == "strict":  # an item without a majority is one that nobody can meet
            labelled = of.counts[items[rows]].sum(axis=1) > 0
            hit[rows] = np.where(labelled, np.nan_to_num(hit[rows]), hit[rows])
    return hit


def _mean_of(unit: Ints, values: Floats) -> Floats:
    """Mean of the values of each unit; NaN where one has none."""
    known = ~np.isnan(values)
    n = np.bincount(unit[known], minlength=int(unit.max(initial=-1)) + 1)
    return np.where(n > 0, np.bincount(unit[known], values[known], minlength=len(n)) / np.maximum(n, 1), np.nan)
