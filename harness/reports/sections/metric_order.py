"""Several metrics in one call: does the order of the metrics matter?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.data.columns import first_rows
from harness.data.judgments import Judgments
from harness.measure.condition_rows import Row, level_of, new_row, put_difference, put_number, section, with_q
from harness.measure.judged_table import JudgedTable
from harness.measure.options import Drawing
from harness.model import SAMPLING
from harness.reports.sections.section import BY_METRIC, Found, Section, SectionInput, SectionTable, cells_at, q_value, tests_shown
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


def metric_order(answers: JudgedTable, forward: Sequence[str]) -> Found | None:
    """How far scores move (`rows`) and how much closer they follow the metric named first (`drag`) when the order is reversed.

    `forward` are the metrics in the order in which a forward call names them.
    """
    clean = answers.clean
    rows: list[Row] = []
    drag: list[Row] = []
    for reverse, straight in pairs_by(clean.column("variant").values, "metric_order", "reversed", "forward"):
        rows += [row for row, _, _ in moved_rows(clean, reverse, straight)]
        drag += _drag(clean, straight, reverse, [metric for metric in forward if metric in clean.column("metric").values])
    with_q(rows, "moved", level_of)
    with_q(drag, "drag", level_of)
    return section("Order of the metrics in a joint call", rows, hypothesis=HYPOTHESIS, **({"drag": drag} if drag else {}))


def order_of_calls(judgments: Judgments) -> list[str]:
    """The metrics in the order of a forward joint call, taken from the first item that was asked about the most metrics at once."""
    asked: dict[Any, dict[str, None]] = {}
    forward = {
        text for text in judgments.variant.values if (of := variant_of(text)) and of.call == "joint" and of.metric_order == "forward"
    }
    for item, metric, variant in zip(judgments.item, judgments.metric, judgments.variant, strict=True):
        if variant in forward:
            asked.setdefault(item, {})[metric] = None
    longest = max(asked.values(), key=len, default={})
    return [*longest, *(metric for metric in judgments.metric.values if metric not in longest)]


def _drag(clean: JudgedTable, straight: str, reverse: str, metrics: Sequence[str]) -> list[Row]:
    rows = []
    variant = clean.column("variant")
    both = clean.take(np.isin(variant.codes, [variant.values.index(name) for name in (straight, reverse)]))
    for key, at in cells_at(both, LEVELS, WITHIN):
        table = _scores(both.take(at), metrics, (straight, reverse))
        for first, when in ((0, (0, 1)), (len(metrics) - 1, (1, 0))):
            for other in (place for place in range(len(metrics)) if place != first):
                row = new_row({**key, "variant": reverse, "versus": straight, "metric": metrics[other]}, first=metrics[first])
                _put_drag(row, table, (first, other), when, both.drawing)
                rows.append(row)
    return [row for row in rows if row["n"]]


class _ScoreTable(NamedTuple):
    """Scores (variants, metrics, questions), and the group of each question (an item and a repeat)."""

    points: Floats
    group: Ints


def _scores(here: JudgedTable, metrics: Sequence[str], variants: tuple[str, str]) -> _ScoreTable:
    question = here.joint(("order", "repeat"), items=True)
    first = first_rows(question)
    points = np.full((2, len(metrics), len(first)), np.nan)
    variant = here.column("variant").recode({name: number for number, name in enumerate(variants)})
    metric = here.column("metric").recode({name: number for number, name in enumerate(metrics)})
    known = (variant >= 0) & (metric >= 0)
    points[variant[known], metric[known], question[known]] = here.points[known]
    return _ScoreTable(points, here.group[first])


def _put_drag(row: Row, table: _ScoreTable, pair: tuple[int, int], when: tuple[int, int], drawing: Drawing) -> None:
    """Both correlations, and their difference, on the questions with readable answers on both metrics in both orders."""
    first, other = pair
    x, y = table.points[list(when), first], table.points[list(when), other]
    used = ~np.isnan(x + y).any(axis=0)
    moments = [np.stack([np.ones(used.sum()), a, b, a * a, b * b, a * b], axis=1) for a, b in zip(x[:, used], y[:, used], strict=True)]
    row["n"] = int(used.sum())
    for name, of in zip(("r_named_first", "r_named_last"), moments, strict=True):
        put_number(row, name, float(pearson_of_moments(of.sum(axis=0))), why="constant scores")
    found = bootstrap_from_sums(
        np.concatenate(moments, axis=1),
        lambda sums: pearson_of_moments(sums[..., :6]) - pearson_of_moments(sums[..., 6:]),
        table.group[used],
        bounds=(-2.0, 2.0),
        constant="constant scores",
        **drawing,
    )
    put_difference(row, "drag", found)


def _compute(given: SectionInput) -> Found | None:
    return metric_order(given.answers, given.metrics or order_of_calls(given.recording.judgments)) if len(given.answers) else None


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
    _compute,
)
