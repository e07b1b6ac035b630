"""A column: its heading, the format of its values, its tables, and its meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Any

from harness.reports.tables.numbers import (
    UNDEFINED,
    Interval,
    class_shares,
    coefficient,
    counts_by_name,
    difference,
    percent,
    probability,
)
from harness.text import terminal_safe

Row = Mapping[str, Any]
"""A flat row: every number under its name, its interval under `<name>_ci`."""
EMPTY = ("", UNDEFINED)
"""Texts that say nothing. A column is left out of a table where every row has one of them."""
INTERVAL_HEADING = "[95 %]"
NO_INTERVAL, FEW_RARE_CASES = "†", "‡"
SIGNS = {
    NO_INTERVAL: "too few independent texts for an interval",
    FEW_RARE_CASES: "a class is expected in fewer than 15 items, so the intervals may be too narrow",
    UNDEFINED: "undefined (--json gives the reason)",
}
"""What signs beside and in place of numbers mean."""


class TableName(StrEnum):
    """The tables that columns of the registry stand in. The tables of sections name their columns themselves."""

    REPORT = auto()  # a run in the terminal, in Markdown and LaTeX
    REPORT_WIDE = auto()  # columns that Markdown and LaTeX add to it
    VERDICTS = auto()
    VERDICTS_ALONE = auto()  # columns that need 120 characters beside people, and stand alone where nobody is compared with people
    VERDICTS_REASONS = auto()  # columns that need 120 characters
    VERDICTS_WIDE = auto()  # columns that need 180 characters
    CORRECTED = auto()
    ACCEPTANCE = auto()
    ANSWER = auto()  # the lines of an answer on a page
    COMPARISON = auto()
    SYSTEMS = auto()
    AGREEMENT_LEVELS = auto()
    LABELS = auto()
    SEALED = auto()
    STANDINGS = auto()
    OVERALL = auto()
    CONDITIONS = auto()  # agreement in sections that compare conditions
    CONDITIONS_PAIRWISE = auto()  # judge and people with single annotators, beside it
    LANGUAGES = auto()
    LABELS_NEEDED = auto()
    REVIEWS = auto()  # people's answers to a judge's reasons


CELL_TABLES = frozenset({TableName.REPORT, TableName.REPORT_WIDE, TableName.ANSWER, TableName.COMPARISON, TableName.SYSTEMS})
"""The tables whose rows are cells: CSV and Parquet have all their columns."""


@dataclass(frozen=True)
class ColumnFormat:
    """The format of one kind of value.

    `csv_type` is its Arrow type in CSV and Parquet. `latex_digits` is siunitx's table-format and `latex_number` the number in it; without
    digits the values are no numbers, and LaTeX leaves the column out. `unit` stands in LaTeX's heading.
    """

    text: Callable[[Any, Interval | None], str]
    csv_type: str = "string"
    latex_digits: str = ""
    latex_number: Callable[[float], str] = str
    unit: str = ""

    @property
    def numeric(self) -> bool:
        return bool(self.latex_digits)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


TEXT = ColumnFormat(lambda value, interval: UNDEFINED if value is None else terminal_safe(str(value)))
COUNT = ColumnFormat(lambda value, interval: UNDEFINED if value is None else f"{value:,}", "int64", "5.0", "{:.0f}".format)
COUNT_OR_BLANK = ColumnFormat(lambda value, interval: f"{value:,}" if value else "", "int64", "5.0", "{:.0f}".format)
SHARE = ColumnFormat(percent, "double", "3.1", _percent, "%")
POINTS = ColumnFormat(difference, "double", "-3.1", _percent, "points")
PERCENT_OF_SCALE = ColumnFormat(difference, "double", "-3.1", _percent, "% of the scale")
COEFFICIENT = ColumnFormat(coefficient, "double", "-1.3", "{:.3f}".format)
PROBABILITY = ColumnFormat(lambda value, interval: probability(value), "double", "1.3", "{:.3f}".format)
NUMBER = ColumnFormat(lambda value, interval: UNDEFINED if value is None else f"{value:g}", "double", "5.1", "{:.1f}".format)
CLASS_SHARES = ColumnFormat(lambda value, interval: class_shares(value))
NAMED_COUNTS = ColumnFormat(lambda value, interval: counts_by_name(value))


@dataclass(frozen=True)
class Column:
    """One column, of the registry or of a section.

    Args:
        name: the name of its value in JSON and CSV, and in the rows that it is read from.
        heading: what stands above it; ` [95 %]` is added where it has intervals.
        format: how its values are written.
        legend: what it means, without the heading and the full stop.
        tables: where it stands; none for a column of one section.
        value: reads its value from a row; by default `row[name]`.
        text: writes a row's cell, where the format alone cannot.
        signs: whether `†` and `‡` stand beside its numbers.
        interval: whether it has an interval, in the row under `<name>_ci`.
        no_interval_in: tables that have no room for its interval.
        same_as: the column that it often repeats; where all rows of a table show the same in both, only that one is shown.
        latex: whether LaTeX has it.
        key: whether it names the row.
    """

    name: str
    heading: str
    format: ColumnFormat
    legend: str
    tables: frozenset[TableName] = frozenset()
    value: Callable[[Row], Any] | None = None
    text: Callable[[Row], str] | None = None
    signs: bool = False
    interval: bool = True
    no_interval_in: frozenset[TableName] = frozenset()
    same_as: str = ""
    latex: bool = True
    key: bool = False

    def value_of(self, row: Row) -> Any:
        return self.value(row) if self.value else row.get(self.name)

    def interval_of(self, row: Row, tables: Iterable[TableName] = ()) -> Interval | None:
        """Return the ends of its interval in a row; None without one, and in tables that do not show it."""
        return row.get(f"{self.name}_ci") if self.interval and not self.no_interval_in.intersection(tables) else None

    def cell_text(self, row: Row, tables: Iterable[TableName] = ()) -> str:
        """Return a row's text in this column."""
        if self.text:
            return self.text(row)
        text = self.format.text(self.value_of(row), self.interval_of(row, tables))
        if self.signs and row.get(f"{self.name}_ci", ()) is None:  # a row without the name is not of cells
            text += f" {NO_INTERVAL}"
        if self.signs and row.get("few_rare_cases") and row.get("n_ref"):
            text += f" {FEW_RARE_CASES}"
        return text

    def sort_key(self, row: Row) -> float | None:
        """Return the number that a page sorts the row by (of counts their sum); None where it sorts by the text."""
        value = self.value_of(row)
        if self.format is NAMED_COUNTS and value is not None:
            return float(sum(value.values()))
        return float(value) if isinstance(value, (int, float)) else None

    @property
    def legend_line(self) -> str:
        return f"{self.heading_with_unit}: {self.legend}."

    @property
    def heading_with_unit(self) -> str:
        """The heading as tables show it: `judge − people (points)`. Percent signs stand beside the numbers."""
        unit = self.format.unit
        return f"{self.heading} ({unit})" if unit and unit != "%" else self.heading
