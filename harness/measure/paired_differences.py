"""Two judges, variants, temperatures or runs on the same items: every cell's paired difference from one of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from harness.content.tags import suggest
from harness.data.columns import CodedColumn, combination_ids, last_matching_rows, rows_by_number
from harness.data.dataset import Dataset
from harness.errors import UsageError
from harness.measure.cells import NO_REFERENCE, Cell, as_difference, bounds, number, statistic_names
from harness.measure.judged_table import JudgedTable, as_text, item_key
from harness.measure.label_counts import LabelCounts, numbers
from harness.measure.options import MeasureOptions
from harness.measure.score_cells import NO_SEGMENT_KEY, NOT_CLASSES, WITHIN, source_texts
from harness.model import CONDITION
from harness.stats.agreement.concordance import joined_groups
from harness.stats.agreement.correlation import NAMES as CORRELATIONS
from harness.stats.agreement.correlation import correlation_difference, mean_of_segments, segment_correlations
from harness.stats.agreement.describe import MarginTest, mcnemar, stuart_maxwell
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.arrays import undefined as not_defined
from harness.stats.core.catalogue import NO_ORDER
from harness.stats.core.statistic import Estimated
from harness.stats.intervals.intervals import no_interval
from harness.stats.intervals.multiplicity import benjamini_yekutieli
from harness.stats.intervals.paired import paired_difference
from harness.stats.ranking import soft_pairwise_accuracy, system_correlation

HYPOTHESIS = (
    "H0: both agree with the annotators' aggregate equally often, on the same items, failures counted as wrong; two-sided. "
    "q: Benjamini-Yekutieli over all cells of this grid"
)
HYPOTHESIS_OF_SCORES = (
    "H0: both correlate with people's scores equally (the statistic that is named), on the same items; two-sided. q: Benjamini-Yekutieli "
    "over all cells of this grid"
)
DIFFERENCES = ("kendall_tau_within", "pearson_within", "kendall_tau", "pearson", "spearman")
"""On continuous scores, the correlations whose differences are computed."""
PAIRED_BY = ("judge", "variant", "temperature", "source")


def add_versus(cells: Sequence[Cell], judged: JudgedTable, options: MeasureOptions) -> list[Cell]:
    """Return the cells with `versus`: `{with, diff, ci, p, q, n, hypothesis, margins, mcnemar}`, null in the cells of that one.

    `diff` is this cell's `pa_failed_wrong` minus the other's on the items that both were asked; `margins` is the Stuart-Maxwell test that
    both use the classes equally often, `mcnemar` McNemar's (chi², texts as units) that both are right equally often. On continuous scores
    it is a difference of correlations, and `statistic` and `differences` say of which. With a design, `diff`, its interval and p weight
    each text; the tests of margins count it once. Raises UsageError for a key that judgments cannot be paired by, and for an unknown name.
    """
    assert options.versus
    name, wanted = options.versus
    if name not in PAIRED_BY or name not in options.by:
        raise UsageError(f"judgments are paired by {', '.join(PAIRED_BY)}, if it is one of the keys in --by; got '{name}'")
    column = judged.column(name)
    names = {as_text(value): code for code, value in enumerate(column.values)}
    if wanted not in names:
        raise UsageError(f"no {name} '{wanted}'.{suggest(wanted, list(names))}\n         choose from: {', '.join(sorted(names))}")
    partner = _find_partners(judged, column, names[wanted], name)
    keys, which = judged.keyed(options.by)
    by_key: dict[tuple[Any, ...], dict[str, Any]] = {}
    for key, rows in zip(keys, rows_by_number(which, len(keys)), strict=True):
        scales = [judged.labels[metric].classes.scores for metric in judged.judgments.metric.take(rows).used if metric in judged.labels]
        if as_text(key[name]) != wanted and scales:  # a cell's metrics are on one scale
            rows = rows[partner[rows] >= 0]
            if len(scales[0]) == 1:
                test = _compare_correlations(judged, rows, partner[rows])
            else:
                hit, code, group = judged.hit, judged.code, judged.group[rows]
                weights = None if judged.weight is None else judged.weight[rows]
                difference = paired_difference(hit[rows], hit[partner[rows]], group, weights=weights, hypothesis=HYPOTHESIS)
                margins = stuart_maxwell(code[rows], code[partner[rows]], len(scales[0]), group)
                equally_right = mcnemar(hit[rows], hit[partner[rows]], group, method="chi2")
                test = as_difference(difference) | {"margins": _test_to_row(margins), "mcnemar": _test_to_row(equally_right)}
            by_key[tuple(key.values())] = {"with": wanted} | test
    q = benjamini_yekutieli([math.nan if row["p"] is None else row["p"] for row in by_key.values()])
    for row, value in zip(by_key.values(), q.tolist(), strict=True):
        row["q"] = number(value)
    return [msgspec.structs.replace(cell, versus=by_key.get(tuple(cell.key.values()))) for cell in cells]


def _find_partners(judged: JudgedTable, column: CodedColumn, wanted: int, name: str) -> Ints:
    """Return the row of each row's partner: the same in everything but `name`, which is `wanted` there; -1 without one.

    A partner from the same source comes first; without one, any source's will do.
    """
    same = {name: judged.column(name) for name in ("metric", "repeat", "order", *CONDITION)}
    is_partner = column.codes == wanted
    rows = np.flatnonzero(is_partner)
    key = combination_ids((values for key_name, values in same.items() if key_name != name), judged.item)
    partner = last_matching_rows(key, rows)
    if name != "source":
        same_source = last_matching_rows(combination_ids([judged.source], key), rows)
        partner = np.where(same_source >= 0, same_source, partner)
    return np.where(is_partner, -1, partner)


def _test_to_row(test: MarginTest) -> dict[str, Any]:
    return {"statistic": number(test.statistic), "df": test.df, "p": number(test.p), "n": test.n, "reason": test.reason}


def _compare_correlations(judged: JudgedTable, rows: Ints, partners: Ints) -> dict[str, Any]:
    """Return the difference in the correlation that `statistic` names: within source texts where the card names them, else
    over all items. `differences` has that of every correlation in `DIFFERENCES`."""
    item = judged.item[rows].astype(np.int64)
    score = numbers(judged.judgments.score)
    x = judged.mean_label[rows]
    used = ~(np.isnan(x) | np.isnan(score[rows]) | np.isnan(score[partners]))
    item, x, first, second = item[used], x[used], score[rows][used], score[partners][used]
    question = combination_ids([judged.judgments.metric.take(rows[used])], item)
    estimates = correlation_differences(judged.data, question, item, x, first, second)
    tested = "kendall_tau_within" if judged.data.about.segment else "kendall_tau"
    differences = {name: as_difference(estimate) for name, estimate in estimates.items()}
    return differences[tested] | {
        "hypothesis": HYPOTHESIS_OF_SCORES,
        "statistic": tested,
        "differences": differences,
        "margins": None,
        "mcnemar": None,
        "undefined": {"margins": NOT_CLASSES, "mcnemar": NOT_CLASSES},
    }


def correlation_differences(data: Dataset, question: Ints, item: Ints, x: Floats, first: Floats, second: Floats) -> dict[str, Estimated]:
    """Return by name the correlation of `first` with people's mean `x` minus that of `second`, none of them NaN, (answers,).

    `item` is the index of each answer's item, `question` is equal for answers on one item and metric.
    """
    group = data.clusters.codes.astype(np.int64)
    over_all = {name: correlation_difference(method, x, first, second, group[item]) for method, name in CORRELATIONS.items()}
    within = _differences_within_texts(data, question, item, (x, first, second), group)
    return {name: (over_all | within)[name] for name in DIFFERENCES}


def _differences_within_texts(data: Dataset, question: Ints, item: Ints, columns: Sequence[Floats], group: Ints) -> dict[str, Estimated]:
    """Return differences within source texts: those on which both correlations are defined, repeats of an item averaged."""
    if not data.about.segment:
        return dict.fromkeys(WITHIN, Estimated(math.nan, 0, no_interval(0, NO_SEGMENT_KEY), math.nan, NO_SEGMENT_KEY))
    segments = source_texts(data)
    has_segment = segments >= 0
    cluster = joined_groups(segments[has_segment], group[has_segment])
    _, first, which = np.unique(question, return_index=True, return_inverse=True)
    times = np.maximum(np.bincount(which, minlength=len(first)), 1)
    x, first_scores, second_scores = (np.bincount(which, column, minlength=len(first)) / times for column in columns)
    first_correlations, against = (segment_correlations(x, y, segments[item[first]]) for y in (first_scores, second_scores))
    return {
        name: mean_of_segments(getattr(first_correlations, method) - getattr(against, method), cluster[first_correlations.segment], None)
        for name, method in WITHIN.items()
    }


NOT_HERE = "not a statistic of systems"
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
    undefined = dict.fromkeys((*statistic_names(), "vs_baseline", *_DISTRIBUTIONS), NOT_HERE)
    undefined |= {} if with_reference else {"coverage": NO_REFERENCE}
    estimates: dict[str, float | None] = dict.fromkeys(statistic_names())
    pairs: dict[str, tuple[float, float] | None] = {}
    means: list[dict[str, Any]] = []
    n = groups = 0
    if classes.kind == "nominal":
        undefined |= dict.fromkeys((*CORRELATIONS.values(), "spa"), NO_ORDER)
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
        for name in CORRELATIONS.values():
            estimate, interval = correlations.estimate[name], correlations.interval[name]
            n, groups = estimate.n, interval.groups
            estimates[name], pairs[name] = number(estimate.value), bounds(interval)
            undefined.pop(name)
            if estimate.reason:
                undefined[name] = estimate.reason
            elif interval.reason:
                undefined[f"{name}_ci"] = interval.reason
        undefined.pop("spa")
        # The soft pairwise accuracy of the systems; undefined where the dataset card names no source text.
        if not data.about.segment:
            spa = not_defined(0, NO_SEGMENT_KEY)
        else:
            segment = source_texts(data)[units.item[has_system]]
            has_segment = segment >= 0
            spa = soft_pairwise_accuracy(
                human[has_system][has_segment],
                judged[has_segment],
                system.codes[has_system][has_segment],
                segment[has_segment],
                seed=options.seed,
            )
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


def _system_means(names: list[str], human: Floats, judge: Floats, human_items: list[int], judge_items: list[int]) -> list[dict[str, Any]]:
    """Return both means of each system and their numbers of items; the best system by people comes first."""
    rows = [
        {"system": name, "human": number(h), "judge": number(j), "human_items": of_h, "judge_items": of_j}
        for name, h, j, of_h, of_j in zip(names, human, judge, human_items, judge_items, strict=True)
    ]
    return sorted((row for row in rows if row["human"] is not None), key=lambda row: (-row["human"], row["system"]))
