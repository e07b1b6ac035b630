"""What scores go with beside the text: its length, and other metrics that are asked about with them, in which order."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from harness.data.columns import first_rows
from harness.data.judgments import Judgments
from harness.measure.condition_rows import Row, level_of, new_row, put_difference, put_number, section, with_q
from harness.measure.judged_table import JudgedTable
from harness.measure.options import POOLED, Drawing
from harness.model import SAMPLING
from harness.reports.sections.section import BY_METRIC, Section, SectionNumbers, SectionTable, cells_at, of_answers, q_value, tests_shown
from harness.reports.sections.variants import PAIRED_ANSWERS, SCORE_CHANGE, Q, moved_rows, pairs_by, variant_of
from harness.reports.tables.columns import COEFFICIENT, COUNT_OR_BLANK, Column
from harness.stats.agreement.concordance import tau_within
from harness.stats.agreement.correlation import pearson_of_moments
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.statistic import bootstrap_from_sums

LENGTH_LEVELS = (("language", "metric"), ("language", "task", "metric"))
LENGTH_HYPOTHESIS = (
    "H0: the score does not go with the length of the output in characters; two-sided. tau_given_label: Kendall's tau-b among items of one "
    "task that people gave the same class, averaged over classes; tau and human_tau: among all items of one task, of the judge and of "
    "people's mean label. q: Benjamini-Yekutieli over the rows of one level of this table"
)


def correlate_length(answers: JudgedTable) -> SectionNumbers | None:
    """Return the rank correlation of scores with the length of the output, for judge and people; None without labels or outputs."""
    clean = answers.clean
    long = measure_output_lengths(clean)
    clean = clean.take(~(np.isnan(long[clean.item]) | np.isnan(clean.label_points[:])))
    if not len(clean):
        return None
    rows = []
    for key, cell in cells_at(clean, LENGTH_LEVELS):
        row = new_row(key, groups=len(np.unique(clean.group[cell])))
        task, lengths = clean.column("task").codes[cell].astype(np.int64), long[clean.item[cell]]
        points, group, label, reference = clean.points[cell], clean.group[cell], clean.label_points[cell], clean.reference_class[cell]
        row["n"] = int((~np.isnan(points)).sum())
        task_and_label = task * (int(reference.max(initial=0)) + 2) + reference + 1
        labelled = np.where(reference >= 0, points, np.nan)
        put_difference(row, "tau_given_label", tau_within(lengths, labelled, task_and_label, group))
        put_difference(row, "tau", tau_within(lengths, points, task, group))
        item = np.unique(clean.item[cell], return_index=True)[1]
        put_difference(row, "human_tau", tau_within(lengths[item], label[item], task[item], group[item]))
        rows.append(row)
    for name in ("tau_given_label", "tau", "human_tau"):
        with_q(rows, name, level_of)
    return section("Length of the text", rows, hypothesis=LENGTH_HYPOTHESIS)


def measure_output_lengths(answers: JudgedTable) -> Floats:
    """Return the number of characters of each item's output; NaN if the item has two outputs, or an empty one."""
    outputs = ((item, answers.data.outputs_of(item)) for item in answers.data.items)
    texts = (item.fields.get(names[0]) if len(names) == 1 else None for item, names in outputs)
    return np.array([float(len(text)) if isinstance(text, str) and text else np.nan for text in texts])


LENGTH = Section(
    "length",
    "Do longer texts get better scores? Kendall's τ of score and number of characters, first among texts with the same label, then "
    "among all. Of many variants and temperatures only the plainest is shown; --json has all.",
    tests_shown("tau_given_label", "longer is better", "longer is worse"),
    (
        SectionTable(
            (
                Column("n", "texts", COUNT_OR_BLANK, "texts with a readable score"),
                Column(
                    "tau_given_label",
                    "τ given the label",
                    COEFFICIENT,
                    "Kendall's τ of the judge's score and the number of characters, among texts with the same label",
                ),
                q_value("tau_given_label_q", "τ"),
                Column("tau", "τ of the judge", COEFFICIENT, "the same among all texts"),
                Column("human_tau", "τ of people", COEFFICIENT, "the same of the annotators' scores, among all texts"),
            ),
            levels=BY_METRIC,
            plainest=True,
        ),
    ),
    of_answers(correlate_length),
    in_every_run=True,
)


LEVELS = (("language",), ("language", "task"))
WITHIN = ("judge", *SAMPLING)
CALLS = (("joint", "single"), ("conversation", "single"), ("conversation", "joint"))
"""Ways of asking about several metrics, each with the plainer one that it is compared with."""
HYPOTHESIS = (
    "H0 (moved): a metric's score is the same on average in both orders, or both ways of asking, on the same items; two-sided. H0 (halo): "
    "scores of two metrics go together (Pearson's r, the mean over all pairs of metrics) as closely both ways; two-sided; a positive halo "
    "means that asking this way makes the scores more alike. H0 (drag): another metric's score goes with that of the metric `first` as "
    "closely (Pearson's r) when `first` is named first as when it is named last; two-sided; a positive drag means that what is named first "
    f"pulls the others along. {Q}"
)


def compare_metric_orders(answers: JudgedTable, forward: Sequence[str]) -> SectionNumbers | None:
    """Return how scores change when several metrics are asked about together, and when their order is reversed.

    `rows`: how far scores move. `halo`: how much closer the scores of different metrics go together. `drag`: how much closer they follow
    the metric named first, by order. `forward` are the metrics in the order in which a forward call names them.
    """
    clean = answers.clean
    variants = clean.column("variant").values
    metrics = [metric for metric in forward if metric in clean.column("metric").values]
    rows: list[Row] = []
    halo: list[Row] = []
    drag: list[Row] = []
    if len(metrics) > 1:
        for together, plainer in CALLS:
            for variant, other in pairs_by(variants, "call", together, plainer):
                rows += [row for row, _, _ in moved_rows(clean, variant, other)]
                halo += _halo_rows(clean, variant, other, metrics)
    for reverse, straight in pairs_by(variants, "metric_order", "reversed", "forward"):
        rows += [row for row, _, _ in moved_rows(clean, reverse, straight)]
        drag += _drag_rows(clean, straight, reverse, metrics)
    for name, table in (("moved", rows), ("halo", halo), ("drag", drag)):
        with_q(table, name, level_of)
    further_tables = {name: table for name, table in (("halo", halo), ("drag", drag)) if table}
    return section("Questions together, and their order", rows, hypothesis=HYPOTHESIS, **further_tables)


def order_of_calls(judgments: Judgments) -> list[str]:
    """Return the metrics in the order of a forward joint call or conversation: of the first item that was asked about the most metrics."""
    by_item: dict[Any, dict[str, None]] = {}
    forward = {
        text
        for text in judgments.variant.values
        if (parsed := variant_of(text)) and parsed.call != "single" and parsed.metric_order == "forward"
    }
    for item, metric, variant in zip(judgments.item, judgments.metric, judgments.variant, strict=True):
        if variant in forward:
            by_item.setdefault(item, {})[metric] = None
    longest = max(by_item.values(), key=len, default={})
    return [*longest, *(metric for metric in judgments.metric.values if metric not in longest)]


def _points_by_metric(
    clean: JudgedTable, variants: tuple[str, str], metrics: Sequence[str]
) -> Iterator[tuple[dict[str, Any], Floats, Ints, Drawing]]:
    """Yield, for each cell of answers under two variants, their points (variants, metrics, questions) and the questions' groups."""
    variant = clean.column("variant")
    in_both = clean.take(np.isin(variant.codes, [variant.values.index(name) for name in variants]))
    for key, cell in cells_at(in_both, LEVELS, WITHIN):
        answers = in_both.take(cell)
        question = answers.joint(("order", "repeat"), items=True)
        first_of_question = first_rows(question)
        points = np.full((2, len(metrics), len(first_of_question)), np.nan)
        which = answers.column("variant").recode({name: number for number, name in enumerate(variants)})
        metric = answers.column("metric").recode({name: number for number, name in enumerate(metrics)})
        listed = (which >= 0) & (metric >= 0)
        points[which[listed], metric[listed], question[listed]] = answers.points[listed]
        yield key, points, answers.group[first_of_question], in_both.drawing


def _halo_rows(clean: JudgedTable, variant: str, other: str, metrics: Sequence[str]) -> list[Row]:
    """Return a row for each cell: the mean correlation of two metrics' scores both ways, on the same questions, and the difference."""
    rows = []
    for key, points, group, drawing in _points_by_metric(clean, (variant, other), metrics):
        row = new_row({**key, "variant": variant, "versus": other, "metric": POOLED})
        moments = []  # of each pair of metrics, both ways: (questions, 6)
        for first, second in combinations(range(len(metrics)), 2):
            is_read = ~np.isnan(points[:, [first, second]]).any(axis=(0, 1))
            row["n"] = row.get("n", 0) + int(is_read.sum())
            for way in (0, 1):
                a, b = (np.where(is_read, points[way, metric], 0.0) for metric in (first, second))
                moments.append(np.stack([is_read, a, b, a * a, b * b, a * b], axis=1).astype(float))
        if not row["n"]:
            continue

        def mean_r(sums: Floats, way: int) -> Floats:
            r: Floats = np.nanmean(pearson_of_moments(sums.reshape(*sums.shape[:-1], -1, 2, 6)[..., way, :]), axis=-1)
            return r

        sums = np.concatenate(moments, axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # no pair of metrics with scores that differ: undefined
            for way, name in enumerate(("r_together", "r_versus")):
                put_number(row, name, float(mean_r(sums.sum(axis=0), way)), why="constant scores")
            difference = bootstrap_from_sums(
                sums, lambda drawn: mean_r(drawn, 0) - mean_r(drawn, 1), group, bounds=(-2.0, 2.0), constant="constant scores", **drawing
            )
        put_difference(row, "halo", difference)
        rows.append(row)
    return rows


def _drag_rows(clean: JudgedTable, straight: str, reverse: str, metrics: Sequence[str]) -> list[Row]:
    """Return a row for each other metric beside the metric that is named first in one order and last in the other."""
    rows = []
    for key, points, group, drawing in _points_by_metric(clean, (straight, reverse), metrics):
        for first, orders in ((0, [0, 1]), (len(metrics) - 1, [1, 0])):
            for other in (index for index in range(len(metrics)) if index != first):
                row = new_row({**key, "variant": reverse, "versus": straight, "metric": metrics[other]}, first=metrics[first])
                # Write both correlations, and their difference, on the questions with readable answers on both metrics in both orders.
                x = points[orders, first]
                y = points[orders, other]
                used = ~np.isnan(x + y).any(axis=0)
                moments = [
                    np.stack([np.ones(used.sum()), a, b, a * a, b * b, a * b], axis=1) for a, b in zip(x[:, used], y[:, used], strict=True)
                ]
                row["n"] = int(used.sum())
                for name, sums in zip(("r_named_first", "r_named_last"), moments, strict=True):
                    put_number(row, name, float(pearson_of_moments(sums.sum(axis=0))), why="constant scores")
                difference = bootstrap_from_sums(
                    np.concatenate(moments, axis=1),
                    lambda sums: pearson_of_moments(sums[..., :6]) - pearson_of_moments(sums[..., 6:]),
                    group[used],
                    bounds=(-2.0, 2.0),
                    constant="constant scores",
                    **drawing,
                )
                put_difference(row, "drag", difference)
                rows.append(row)
    return [row for row in rows if row["n"]]


_DRAG_COLUMNS = (
    Column("n", "questions", COUNT_OR_BLANK, "items (and repeats) that were compared"),
    Column("r_named_first", "r, named first", COEFFICIENT, "Pearson's r of the two metrics' scores when the one is named first"),
    Column("r_named_last", "r, named last", COEFFICIENT, "the same when it is named last"),
    Column("drag", "drag", COEFFICIENT, "the difference of the two; + means that the metric named first drags the other along"),
    q_value("drag_q", "the drag"),
)
_HALO_COLUMNS = (
    Column(
        "n", "questions", COUNT_OR_BLANK, "items (and repeats) with readable scores of two metrics both ways, over all pairs of metrics"
    ),
    Column("r_together", "r, this way", COEFFICIENT, "Pearson's r of the scores of two metrics, the mean over all pairs of metrics"),
    Column("r_versus", "r, the other", COEFFICIENT, "the same under the variant that it is compared with"),
    Column("halo", "halo", COEFFICIENT, "the difference of the two; + means that asking this way makes the scores more alike"),
    q_value("halo_q", "the halo"),
)
_FINDINGS = {
    "rows": ("the score moves", tests_shown("moved", "up", "down")),
    "halo": ("metrics together", tests_shown("halo", "closer", "farther apart", "halo")),
    "drag": ("the first metric", tests_shown("drag", "drags", "pushes away", "drag")),
}


def _finding(numbers: SectionNumbers) -> str:
    return " ".join(f"{what[0].upper()}{what[1:]}: {of_part(numbers)}" for part, (what, of_part) in _FINDINGS.items() if numbers.get(part))


METRIC_ORDER = Section(
    "metric_order",
    "Does it matter whether a judge is asked about each metric in a call of its own, about all in one call, or in one conversation, and in "
    "which order? The first table shows how far scores move, in points toward the best. The second shows whether scores of different "
    "metrics go together more closely (Pearson's r) when they are asked together. The third shows how closely another metric follows the "
    "first one when that is named first, and when it is named last.",
    _finding,
    (
        SectionTable((*PAIRED_ANSWERS, *SCORE_CHANGE), keys=("versus",), levels=BY_METRIC),
        SectionTable(_HALO_COLUMNS, "halo", ("versus",)),
        SectionTable(_DRAG_COLUMNS, "drag", ("first",), levels=BY_METRIC),
    ),
    lambda inputs: (
        compare_metric_orders(inputs.answers, inputs.metrics or order_of_calls(inputs.recording.judgments)) if len(inputs.answers) else None
    ),
    needs_labels=False,
)
