"""Comparisons at the level of systems: does the judge rank systems as people do?"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.measure.cells import NAMES, NO_REFERENCE, Cell, bounds, number
from harness.measure.judged_table import JudgedTable, item_key
from harness.measure.label_counts import LabelCounts
from harness.measure.options import MeasureOptions
from harness.measure.score_cells import NO_SEGMENT_KEY, source_texts
from harness.measure.scores import numbers
from harness.stats import system_correlation
from harness.stats.core.arrays import Estimate, Floats
from harness.stats.core.arrays import undefined as not_defined
from harness.stats.core.catalogue import NO_ORDER
from harness.stats.ranking.systems import soft_pairwise_accuracy

NOT_HERE = "not a statistic of systems"
CORRELATIONS = ("kendall_tau", "spearman", "pearson")
_DISTRIBUTIONS = ("distribution_labels", "distribution_judge", "distribution_by_agreement")


def system_cells(judged: JudgedTable, options: MeasureOptions) -> list[Cell]:
    """Return cells whose units are systems: correlations of the judge's mean scores with the means over items of the annotators' means.

    People's mean is over all items that the judge was asked about; the judge's mean is over those of them with a readable score.
    `systems` has both, with the number of items (and repeats) of each. Every cell has all names; statistics of items are null. `n_ref`
    counts systems with labels, `n` those of them with a readable score.

    Raises UsageError if items name no systems, or if `system` is a key to group by.
    """
    if "system" in options.by:
        raise UsageError("at the level of systems a cell holds them all; leave system out of --by")
    if not any(item.system for item in judged.data.items):
        raise UsageError("no item names a system; give items a 'system', or compare at the level of items")
    if "metric" not in options.by:
        raise UsageError("at the level of systems metrics cannot be pooled; keep metric in --by")
    keys, code = judged.keyed(options.by)
    return [
        _system_cell(key, judged.data, judged.take(np.flatnonzero(code == number)), judged.labels[key["metric"]], options)
        for number, key in enumerate(keys)
        if key["metric"] in judged.labels
    ]


def _system_cell(key: dict[str, Any], data: Dataset, units: JudgedTable, labels: LabelCounts, options: MeasureOptions) -> Cell:
    classes = labels.classes
    human, judge = _mean_scores(labels, units)
    system, group = (column.take(units.item) for column in (item_key(data, "system"), data.clusters))
    has_system = system.codes >= 0
    with_reference = len(np.unique(system.codes[has_system & ~np.isnan(human)]))
    undefined = dict.fromkeys((*NAMES, "vs_baseline", *_DISTRIBUTIONS), NOT_HERE)
    undefined |= {} if with_reference else {"coverage": NO_REFERENCE}
    estimates: dict[str, float | None] = dict.fromkeys(NAMES)
    pairs: dict[str, tuple[float, float] | None] = {}
    means: list[dict[str, Any]] = []
    n = groups = 0
    if classes.kind == "nominal":
        undefined |= dict.fromkeys((*CORRELATIONS, "spa"), NO_ORDER)
    else:
        judged = np.where(np.isnan(human), np.nan, judge)[has_system]
        correlations = system_correlation(
            judged,
            human[has_system],
            system.codes[has_system],
            group.codes[has_system],
            paired=False,
            seed=options.seed,
            resamples=options.resamples,
        )
        for name in CORRELATIONS:
            estimate, interval = correlations.estimate[name], correlations.interval[name]
            n, groups = estimate.n, interval.groups
            estimates[name], pairs[name] = number(estimate.value), bounds(interval)
            undefined.pop(name)
            if estimate.reason:
                undefined[name] = estimate.reason
            elif interval.reason:
                undefined[f"{name}_ci"] = interval.reason
        undefined.pop("spa")
        spa = _soft_accuracy(data, units.item[has_system], human[has_system], judged, system.codes[has_system], options.seed)
        estimates["spa"] = number(spa.value)
        if spa.reason:
            undefined["spa"] = spa.reason
        codes, position = np.unique(system.codes[has_system], return_inverse=True)
        items = [np.bincount(position, ~np.isnan(side), minlength=len(codes)).astype(int).tolist() for side in (human[has_system], judged)]
        means = _system_means([system.values[c] for c in codes], correlations.human, correlations.judge, *items)
    return Cell(
        key=key,
        n_ref=with_reference,
        n=n,
        coverage=n / with_reference if with_reference else None,
        failures=units.failures(~np.isnan(human)),
        groups=groups,
        design_effect=None,
        few_rare_cases=False,
        values=estimates,
        intervals=pairs,
        vs_baseline=dict.fromkeys(("baseline", "pa", "diff", "ci", "p", "q", "n", "hypothesis")) | {"reason": NOT_HERE},
        distribution_labels=None,
        distribution_judge=None,
        distribution_by_agreement=None,
        undefined=undefined,
        systems=means,
    )


def _mean_scores(labels: LabelCounts, units: JudgedTable) -> tuple[Floats, Floats]:
    """Return people's mean score of every unit's item, and the judge's score, (units,); NaN without one."""
    if labels.scores is not None:
        return labels.scores.mean[units.item], numbers(units.judgments.score)
    classes, counts = labels.classes, labels.counts[units.item]
    values = np.array(classes.values if classes.values is not None else range(len(classes.scores)), np.float64)
    raters = counts.sum(axis=1)
    code = units.judgments.score.recode(classes.index())
    return np.where(raters > 0, counts @ values / np.maximum(raters, 1), np.nan), np.where(code >= 0, values[np.maximum(code, 0)], np.nan)


def _soft_accuracy(data: Dataset, item: Any, human: Floats, judge: Floats, system: Any, seed: int) -> Estimate:
    """Return the soft pairwise accuracy of the systems; undefined where the dataset card names no source text."""
    if not data.about.segment:
        return not_defined(0, NO_SEGMENT_KEY)
    segment = source_texts(data)[item]
    has_segment = segment >= 0
    return soft_pairwise_accuracy(human[has_segment], judge[has_segment], system[has_segment], segment[has_segment], seed=seed)


def _system_means(names: list[str], human: Floats, judge: Floats, human_items: list[int], judge_items: list[int]) -> list[dict[str, Any]]:
    """Return both means of each system and their numbers of items; the best system by people comes first."""
    rows = [
        {"system": name, "human": number(h), "judge": number(j), "human_items": of_h, "judge_items": of_j}
        for name, h, j, of_h, of_j in zip(names, human, judge, human_items, judge_items, strict=True)
    ]
    return sorted((row for row in rows if row["human"] is not None), key=lambda row: (-row["human"], row["system"]))
