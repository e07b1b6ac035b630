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
from harness.measure.cells import Cell, as_difference, number
from harness.measure.judged_table import JudgedTable, as_text
from harness.measure.options import MeasureOptions
from harness.measure.score_cells import NO_SEGMENT_KEY, NOT_CLASSES, WITHIN, source_texts
from harness.measure.scores import numbers
from harness.model import CONDITION
from harness.stats import MarginTest, benjamini_yekutieli, mcnemar, paired_difference, stuart_maxwell
from harness.stats.agreement.continuous import correlation_difference, joined_groups, mean_of_segments, segment_correlations
from harness.stats.agreement.correlation import NAMES as CORRELATIONS
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.functions_of_sums import Estimated
from harness.stats.intervals.intervals import no_interval

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
            pair = (judged, rows, partner[rows])
            test = _compare_correlations(*pair) if len(scales[0]) == 1 else _compare_classes(*pair, len(scales[0]))
            by_key[tuple(key.values())] = {"with": wanted} | test
    q = benjamini_yekutieli([math.nan if difference["p"] is None else difference["p"] for difference in by_key.values()])
    for difference, value in zip(by_key.values(), q.tolist(), strict=True):
        difference["q"] = number(value)
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


def _compare_classes(judged: JudgedTable, rows: Ints, partners: Ints, classes: int) -> dict[str, Any]:
    hit, code, group = judged.hit, judged.code, judged.group[rows]
    weights = None if judged.weight is None else judged.weight[rows]
    difference = paired_difference(hit[rows], hit[partners], group, weights=weights, hypothesis=HYPOTHESIS)
    margins = stuart_maxwell(code[rows], code[partners], classes, group)
    equally_right = mcnemar(hit[rows], hit[partners], group, method="chi2")
    return as_difference(difference) | {"margins": _test_to_row(margins), "mcnemar": _test_to_row(equally_right)}


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
