"""Correlations by variant: agreement with people's order of texts, and the paired difference from the plainest variant."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.measure.condition_rows import Row, level_of, new_row, put_difference, put_gap, put_number, section, with_q
from harness.measure.judged_table import JudgedTable
from harness.measure.score_cells import NO_SEGMENT_KEY, source_texts
from harness.measure.versus import DIFFERENCES, correlation_differences
from harness.reports.sections.section import BY_METRIC, Found, Section, SectionTable, of_answers, q_value, tests_shown
from harness.reports.sections.variants import ITSELF, SAME
from harness.reports.tables.column import COEFFICIENT, COUNT_OR_BLANK, Column
from harness.stats.agreement.continuous import joined_groups, mean_of_segments, score_correlation, segment_correlations
from harness.stats.core.arrays import Ints
from harness.stats.core.functions_of_sums import Estimated
from harness.stats.intervals.intervals import no_interval

WITHIN, OVERALL = "kendall_tau_within", "kendall_tau"


def correlations(answers: JudgedTable) -> Found | None:
    """Rank correlation with people of every variant on interval scales, and its difference from that of the plainest variant.

    The difference is that within source texts where the dataset card names them, else over all texts: on the same texts, those that
    both variants scored.
    """
    clean = answers.clean
    numeric = [metric for metric in clean.column("metric").used if clean.data.label_scale(metric).kind == "interval"]
    clean = clean.take(clean.column("metric").recode(dict.fromkeys(numeric, 0)) == 0)
    clean = clean.take(~np.isnan(clean.label_points[:]))
    names = clean.column("variant").used
    if len(names) < 2:
        return None
    of = clean.column("variant")
    plainest = np.flatnonzero(of.codes == of.values.index(names[0]))
    partner = clean.partners(np.arange(len(clean)), plainest, SAME)
    rows = []
    for key, ours in clean.cells(("language", "metric")):
        row = new_row(key, versus=None if key["variant"] == names[0] else names[0])
        _put_correlations(row, clean, ours)
        if row["versus"]:
            _put_differences(row, clean, ours, partner[ours])
        else:
            put_gap(row, "tau_diff", ITSELF)
        rows.append(row)
    with_q(rows, "tau_diff", level_of)
    where = "within source texts" if clean.data.about.segment else "over all texts"
    hypothesis = (
        f"H0: Kendall's tau-b with people {where} is the same as under '{names[0]}', on the same texts; two-sided. "
        "q: Benjamini-Yekutieli over the rows of this table"
    )
    return section("Order of texts by variant", rows, hypothesis=hypothesis)


def _put_correlations(row: Row, answers: JudgedTable, rows: Ints) -> None:
    """Write n, and Kendall's tau with people over all texts and within source texts, of the rows with a readable score."""
    rows = rows[~np.isnan(answers.points[rows])]
    x, y, item = answers.label_points[rows], answers.points[rows], answers.item[rows].astype(np.int64)
    row["n"] = len(rows)
    overall = score_correlation("kendall", x, y, answers.group[rows])
    within = _within(answers, x, y, item)
    for name, found in ((OVERALL, overall), (WITHIN, within)):
        put_number(row, name, found.value, found.interval, why=found.reason)


def _within(answers: JudgedTable, x: Any, y: Any, item: Ints) -> Estimated:
    """The mean over source texts; repeats of a text are averaged first."""
    data = answers.data
    if not data.about.segment:
        return Estimated(math.nan, 0, no_interval(0, NO_SEGMENT_KEY), math.nan, NO_SEGMENT_KEY)
    segment, group = source_texts(data), answers.groups.astype(np.int64)
    known = segment >= 0
    cluster = joined_groups(segment[known], group[known])
    _, first, which = np.unique(item, return_index=True, return_inverse=True)
    times = np.bincount(which, minlength=len(first))
    mean = np.bincount(which, y, minlength=len(first)) / np.maximum(times, 1)
    found = segment_correlations(x[first], mean, segment[item[first]])
    return mean_of_segments(found.kendall, cluster[found.segment])


def _put_differences(row: Row, answers: JudgedTable, ours: Ints, theirs: Ints) -> None:
    """Write the difference that is tested, `tau_diff`, and those of all correlations as `<name>_diff`."""
    ours, theirs = ours[theirs >= 0], theirs[theirs >= 0]
    both = ~np.isnan(answers.points[ours]) & ~np.isnan(answers.points[theirs])
    ours, theirs = ours[both], theirs[both]
    item = answers.item[ours].astype(np.int64)
    found = correlation_differences(answers.data, item, item, answers.label_points[ours], answers.points[ours], answers.points[theirs])
    put_difference(row, "tau_diff", found[WITHIN if answers.data.about.segment else OVERALL])
    for name in DIFFERENCES:
        put_number(row, f"{name}_diff", found[name].value, found[name].interval, why=found[name].reason)


CORRELATIONS = Section(
    "correlations",
    "Does another way of asking order texts more as people do? Differences of Kendall's τ are from the plainest variant, on the same "
    "texts, within source texts where these are known.",
    tests_shown("tau_diff", "better", "worse"),
    (
        SectionTable(
            (
                Column("n", "texts", COUNT_OR_BLANK, "texts with a label and a readable score"),
                Column("kendall_tau", "Kendall's τ", COEFFICIENT, "rank correlation of the judge's scores and people's"),
                Column(
                    "kendall_tau_within",
                    "τ within source text",
                    COEFFICIENT,
                    "rank correlation over the outputs for one source text, the mean over source texts",
                ),
                Column("tau_diff", "difference of τ", COEFFICIENT, "the paired difference from the plainest variant"),
                q_value("tau_diff_q", "the difference of τ"),
            ),
            levels=BY_METRIC,
        ),
    ),
    of_answers(correlations),
)
