"""Agreement at several temperatures: at each one, compared with the lowest, and as a trend."""

from __future__ import annotations

from collections.abc import Iterator
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
from harness.reports.sections.section import AGREEMENT_DIFFERENCE, Found, Section, SectionTable, cells_at, of_answers, q_value, tests_shown
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


def temperature(answers: JudgedTable) -> Found | None:
    """Agreement at each temperature (`rows`) and the trend over them (`trends`), for judges and variants with two temperatures or more."""
    clean = answers.clean
    rows: list[Row] = []
    trends: list[Row] = []
    for key, at in cells_at(clean, LEVELS, OTHERWISE):
        heats = np.unique(clean.column("temperature").codes[at])
        heats = heats[heats != NO_VALUE]
        if len(heats) > 1 and not np.isnan(clean.hit[at]).all():
            units = _Units(clean, at, heats)
            rows += units.rows(key)
            trends.append(units.trend(key))
    with_q(rows, "diff", level_of)
    for name in ("slope", "page"):
        with_q(trends, name, level_of)
    return section("Agreement by temperature", rows, hypothesis=HYPOTHESIS, trends=trends)


class _Units:
    """One cell's items (by metric), each with its agreement at every temperature, repeats averaged."""

    def __init__(self, clean: JudgedTable, at: Ints, heats: Ints) -> None:
        self.clean, self.at, self.heat = clean, at, clean.column("temperature").codes[at]
        self.heats = heats
        self.temperatures = [clean.column("temperature").values[code] for code in heats.tolist()]
        here = clean.take(at)
        unit = here.joint(("metric",), items=True)
        first = first_rows(unit)
        self.group = here.group[first]
        hit = clean.hit[at]
        self.hit = np.stack([means_by(unit, np.where(self.heat == code, hit, np.nan)) for code in heats], axis=1)

    def rows(self, key: dict[str, Any]) -> Iterator[Row]:
        for column, (code, degrees) in enumerate(zip(self.heats, self.temperatures, strict=True)):
            row = new_row({**key, "temperature": degrees})
            put_agreement(row, self.clean, self.at[self.heat == code])
            row["versus"] = self.temperatures[0] if column else None
            if column:
                found = paired_difference(self.hit[:, column], self.hit[:, 0], self.group)
                put_difference(row, "diff", found)
            else:
                put_gap(row, "diff", "the lowest temperature")
            yield row

    def trend(self, key: dict[str, Any]) -> Row:
        """The slope over items with an answer at every temperature, and Page's test over their texts."""
        row = new_row({**key, "temperature": "*"}, temperatures=self.temperatures)
        whole = ~np.isnan(self.hit).any(axis=1)
        hit, group = self.hit[whole], self.group[whole]
        heat = np.tile(np.asarray(self.temperatures, np.float64), len(hit))
        put_difference(row, "slope", slope(heat, hit.ravel(), np.repeat(group, hit.shape[1]), **self.clean.drawing))
        row["slope_n"] = len(hit)
        text = np.unique(group, return_inverse=True)[1].astype(np.int64)
        test = page_falling(np.stack([means_by(text, of) for of in hit.T], axis=1))
        put_number(row, "page_l", test.statistic, why=test.reason)
        put_number(row, "page_p", test.p, why=test.reason)
        row |= {"page_blocks": test.blocks, "page_q": None}
        return row


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
    of_answers(temperature),
)
