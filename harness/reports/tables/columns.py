"""The registry of columns: heading, format and meaning of every column of results.

The terminal, Markdown, CSV, LaTeX and HTML read `COLUMNS`; a new column is one line of `columns.tsv`, whose fields are those of `Column`.
Its options are flags (`key`, `signs`, `no_interval`, `no_latex`), and `value`, `text`, `text_in`, `same_as` and `no_interval_in` with `=`:
`value` and `text` name a function of `cell_values.py`, `text_in` a key under which the row has its text.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from harness.reports.tables import column as formats
from harness.reports.tables.cell_values import TEXTS, VALUES
from harness.reports.tables.column import Column, ColumnFormat, Row, TableName
from harness.reports.tables.numbers import UNDEFINED

_FORMATS = {name.lower(): value for name, value in vars(formats).items() if isinstance(value, ColumnFormat)}


def _parse_column(line: Mapping[str, str]) -> Column:
    options = {name: value for name, _, value in (option.partition("=") for option in line["options"].split())}
    key = options.get("text_in")
    return Column(
        line["name"],
        line["heading"],
        _FORMATS[line["format"]],
        line["legend"],
        _parse_tables(line["tables"]),
        value=VALUES[options["value"]] if "value" in options else None,
        text=_text_in(key) if key else TEXTS[options["text"]] if "text" in options else None,
        signs="signs" in options,
        interval="no_interval" not in options,
        no_interval_in=_parse_tables(options.get("no_interval_in", "")),
        same_as=options.get("same_as", ""),
        latex="no_latex" not in options,
        key="key" in options,
    )


def _parse_tables(names: str) -> frozenset[TableName]:
    return frozenset(map(TableName, names.split()))


def _text_in(name: str) -> Callable[[Row], str]:
    return lambda row: row.get(name, UNDEFINED)


def _read_columns() -> tuple[Column, ...]:
    with Path(__file__).with_name("columns.tsv").open(encoding="utf-8", newline="") as lines:
        return tuple(map(_parse_column, csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)))


COLUMNS = _read_columns()
"""Every column, in the order in which tables show them."""


def columns_in(*tables: TableName) -> list[Column]:
    """The columns of some tables, in the order of the registry."""
    return [column for column in COLUMNS if column.tables.intersection(tables)]


def shown_intervals() -> frozenset[str]:
    """The statistics whose intervals a comparison shows on any screen or page."""
    return frozenset(column.name for column in columns_in(TableName.COMPARISON, TableName.ANSWER) if column.interval)


def legend_lines(columns: Iterable[Column]) -> list[str]:
    """What headings mean, a line for each column: `agreement: the share of …`."""
    return list(dict.fromkeys(column.legend_line for column in columns))
