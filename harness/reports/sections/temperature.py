"""Agreement at several temperatures: at each one, compared with the lowest, and as a trend."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.data.columns import NO_VALUE, first_rows
from harness.measure.condition_rows import (
    LEVELS,
    Row,
    level_of,
    new_row,
    put_agreement,
    put_difference,
    put_gap,
    put_number,
    section,
    with_q,
)
from harness.measure.judged_table import JudgedTable, means_by
from harness.model import CONDITION
from harness.reports.sections.section import (
    AGREEMENT_DIFFERENCE,
    Section,
    SectionNumbers,
    SectionTable,
    cells_at,
    of_answers,
    q_value,
    tests_shown,
)
from harness.reports.tables.column import COUNT_OR_BLANK, NUMBER, POINTS, Column, TableName
from harness.reports.tables.columns import columns_in
from harness.stats import page_falling, paired_difference, slope
from harness.stats.core.arrays import Ints

OTHERWISE = tuple(name for name in CONDITION if name != "temperature")
HYPOTHESIS = (
    "H0 (diff): the judge agrees with the annotators' aggregate as often as at its lowest temperature, on the same items, failures counted "
    "as wrong, repeats averaged; two-sided. H0 (slope): agreement does not change with the temperature; two-sided. H0 (page): it does not "
    "fall from one temperature to the next, against the alternative that it does; Page's L over independent texts, one-sided. q: "
    "Benjamini-Yekutieli over the rows of one level (language and metric, language, …) of a table"
)


def compare_temperatures(answers: JudgedTable) -> SectionNumbers | None:
    """Return agreement at each temperature (`rows`) and its trend (`trends`), where a judge and variant have two temperatures or more."""
    clean = answers.clean
    rows: list[Row] = []
    trends: list[Row] = []
    for key, cell in cells_at(clean, LEVELS, OTHERWISE):
        codes = np.unique(clean.column("temperature").codes[cell])
        codes = codes[codes != NO_VALUE]
        if len(codes) > 1 and not np.isnan(clean.hit[cell]).all():
            rows_of_cell, trend = _compare_cell(clean, key, cell, codes)
            rows += rows_of_cell
            trends.append(trend)
    with_q(rows, "diff", level_of)
    for name in ("slope", "page"):
        with_q(trends, name, level_of)
    return section("Agreement by temperature", rows, hypothesis=HYPOTHESIS, trends=trends)


def _compare_cell(clean: JudgedTable, key: dict[str, Any], cell: Ints, codes: Ints) -> tuple[list[Row], Row]:
    """Return a cell's row for each temperature, and its trend: the slope over items with an answer at all of them, and Page's test."""
    temperatures = [clean.column("temperature").values[code] for code in codes.tolist()]
    code_of_row, hit_of_row, answers = clean.column("temperature").codes[cell], clean.hit[cell], clean.take(cell)
    unit = answers.joint(("metric",), items=True)  # an item on a metric; repeats are averaged
    group = answers.group[first_rows(unit)]
    hits = [means_by(unit, np.where(code_of_row == code, hit_of_row, np.nan)) for code in codes]
    rows = []
    for code, degrees, hit in zip(codes, temperatures, hits, strict=True):
        row = new_row({**key, "temperature": degrees})
        put_agreement(row, clean, cell[code_of_row == code])
        is_lowest = degrees == temperatures[0]
        row["versus"] = None if is_lowest else temperatures[0]
        if is_lowest:
            put_gap(row, "diff", "the lowest temperature")
        else:
            put_difference(row, "diff", paired_difference(hit, hits[0], group))
        rows.append(row)
    table = np.stack(hits, axis=1)
    complete = ~np.isnan(table).any(axis=1)
    table, group = table[complete], group[complete]
    trend = new_row({**key, "temperature": "*"}, temperatures=temperatures)
    degrees_of_hits = np.tile(np.asarray(temperatures, np.float64), len(table))
    put_difference(trend, "slope", slope(degrees_of_hits, table.ravel(), np.repeat(group, table.shape[1]), **clean.drawing))
    trend["slope_n"] = len(table)
    text = np.unique(group, return_inverse=True)[1].astype(np.int64)
    test = page_falling(np.stack([means_by(text, column) for column in table.T], axis=1))
    put_number(trend, "page_l", test.statistic, why=test.reason)
    put_number(trend, "page_p", test.p, why=test.reason)
    trend |= {"page_blocks": test.blocks, "page_q": None}
    return rows, trend


TEMPERATURE = Section(
    "temperature",
    "Does agreement fall as the temperature rises? Differences are from the lowest temperature, on the same items, failures as wrong. "
    "The second table has the slope for one unit of temperature, and Page's test that agreement falls step by step.",
    tests_shown("slope", "rising", "falling", "trends"),
    (
        SectionTable((*columns_in(TableName.CONDITIONS), *AGREEMENT_DIFFERENCE)),
        SectionTable(
            (
                Column("slope_n", "questions", COUNT_OR_BLANK, "questions that were asked at every temperature"),
                Column("slope", "slope in points", POINTS, "the change of agreement for one unit of temperature, in percentage points"),
                q_value("slope_q", "the slope"),
                Column("page_l", "Page's L", NUMBER, "Page's test that agreement falls step by step as the temperature rises"),
                q_value("page_q", "Page's L"),
            ),
            "trends",
        ),
    ),
    of_answers(compare_temperatures),
)
