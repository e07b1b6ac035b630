"""Several metrics in one call: does the order of the metrics matter?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.data.columns import first_rows
from harness.data.judgments import Judgments
from harness.measure.condition_rows import Row, level_of, new_row, put_difference, put_number, section, with_q
from harness.measure.judged_table import JudgedTable
from harness.measure.options import Drawing
from harness.model import SAMPLING
from harness.reports.sections.section import BY_METRIC, Section, SectionNumbers, SectionTable, cells_at, q_value, tests_shown
from harness.reports.sections.variants import PAIRED_ANSWERS, SCORE_CHANGE, Q, moved_rows, pairs_by, variant_of
from harness.reports.tables.column import COEFFICIENT, COUNT_OR_BLANK, Column
from harness.stats import bootstrap_from_sums
from harness.stats.agreement.correlation import pearson_of_moments
from harness.stats.core.arrays import Floats, Ints

LEVELS = (("language",), ("language", "task"))
WITHIN = ("judge", *SAMPLING)
HYPOTHESIS = (
    "H0 (moved): a metric's score is the same on average in both orders, on the same items; two-sided. H0 (drag): another metric's score "
    "goes with that of the metric `first` as closely (Pearson's r) when `first` is named first as when it is named last; two-sided; a "
    f"positive drag means that what is named first pulls the others along. {Q}"
)


def compare_metric_orders(answers: JudgedTable, forward: Sequence[str]) -> SectionNumbers | None:
    """Return how far scores move (`rows`) and how much closer they follow the metric named first (`drag`) when the order is reversed.

    `forward` are the metrics in the order in which a forward call names them.
    """
    clean = answers.clean
    rows: list[Row] = []
    drag: list[Row] = []
    for reverse, straight in pairs_by(clean.column("variant").values, "metric_order", "reversed", "forward"):
        rows += [row for row, _, _ in moved_rows(clean, reverse, straight)]
        drag += _drag_rows(clean, straight, reverse, [metric for metric in forward if metric in clean.column("metric").values])
    with_q(rows, "moved", level_of)
    with_q(drag, "drag", level_of)
    return section("Order of the metrics in a joint call", rows, hypothesis=HYPOTHESIS, **({"drag": drag} if drag else {}))


def order_of_calls(judgments: Judgments) -> list[str]:
    """Return the metrics in the order of a forward joint call, taken from the first item that was asked about the most metrics at once."""
    by_item: dict[Any, dict[str, None]] = {}
    forward = {
        text
        for text in judgments.variant.values
        if (parsed := variant_of(text)) and parsed.call == "joint" and parsed.metric_order == "forward"
    }
    for item, metric, variant in zip(judgments.item, judgments.metric, judgments.variant, strict=True):
        if variant in forward:
            by_item.setdefault(item, {})[metric] = None
    longest = max(by_item.values(), key=len, default={})
    return [*longest, *(metric for metric in judgments.metric.values if metric not in longest)]


def _drag_rows(clean: JudgedTable, straight: str, reverse: str, metrics: Sequence[str]) -> list[Row]:
    """Return a row for each other metric beside the metric that is named first in one order and last in the other."""
    rows = []
    variant = clean.column("variant")
    in_both = clean.take(np.isin(variant.codes, [variant.values.index(name) for name in (straight, reverse)]))
    for key, cell in cells_at(in_both, LEVELS, WITHIN):
        answers = in_both.take(cell)
        question = answers.joint(("order", "repeat"), items=True)
        first_of_question = first_rows(question)
        points = np.full((2, len(metrics), len(first_of_question)), np.nan)  # (orders, metrics, questions)
        order = answers.column("variant").recode({straight: 0, reverse: 1})
        metric = answers.column("metric").recode({name: number for number, name in enumerate(metrics)})
        listed = (order >= 0) & (metric >= 0)
        points[order[listed], metric[listed], question[listed]] = answers.points[listed]
        for first, orders in ((0, [0, 1]), (len(metrics) - 1, [1, 0])):
            for other in (index for index in range(len(metrics)) if index != first):
                row = new_row({**key, "variant": reverse, "versus": straight, "metric": metrics[other]}, first=metrics[first])
                _put_drag(row, points[orders, first], points[orders, other], answers.group[first_of_question], in_both.drawing)
                rows.append(row)
    return [row for row in rows if row["n"]]


def _put_drag(row: Row, x: Floats, y: Floats, group: Ints, drawing: Drawing) -> None:
    """Write both correlations, and their difference, on the questions with readable answers on both metrics in both orders."""
    used = ~np.isnan(x + y).any(axis=0)
    moments = [np.stack([np.ones(used.sum()), a, b, a * a, b * b, a * b], axis=1) for a, b in zip(x[:, used], y[:, used], strict=True)]
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


_DRAG_COLUMNS = (
    Column("n", "questions", COUNT_OR_BLANK, "items (and repeats) that were compared"),
    Column("r_named_first", "r, named first", COEFFICIENT, "Pearson's r of the two metrics' scores when the one is named first"),
    Column("r_named_last", "r, named last", COEFFICIENT, "the same when it is named last"),
    Column("drag", "drag", COEFFICIENT, "the difference of the two; + means that the metric named first drags the other along"),
    q_value("drag_q", "the drag"),
)
METRIC_ORDER = Section(
    "metric_order",
    "Does the metric that is named first drag the others along? The first table shows how far scores move when the order is reversed, "
    "in points toward the best. The second shows how closely another metric follows the first one (Pearson's r) when that is named "
    "first, and when it is named last.",
    tests_shown("drag", "dragged", "pushed away", "drag"),
    (
        SectionTable((*PAIRED_ANSWERS, *SCORE_CHANGE), levels=BY_METRIC),
        SectionTable(_DRAG_COLUMNS, "drag", ("first",), levels=BY_METRIC),
    ),
    lambda inputs: (
        compare_metric_orders(inputs.answers, inputs.metrics or order_of_calls(inputs.recording.judgments)) if len(inputs.answers) else None
    ),
)
