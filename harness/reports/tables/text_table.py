"""Tables of text: flat rows and columns of the registry become text cells for all renderers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.measure.cells import Cell
from harness.measure.options import POOLED
from harness.reports.tables.columns import EMPTY, INTERVAL_HEADING, SIGN_MEANINGS, Column, Row, TableName, legend_lines, metric_words
from harness.reports.tables.numbers import UNDEFINED
from harness.text import one_line


@dataclass(frozen=True)
class Heading:
    """The heading of a column: its name, its text, whether numbers stand below it (set to the right) or the names of rows."""

    name: str
    text: str
    number: bool = False
    key: bool = False


@dataclass(frozen=True)
class TextTable:
    """A table that is ready to be set.

    `sort_keys` has what each cell is sorted by (None: its text). `faint` says which rows stand back. `legend` explains the columns and
    signs that are shown, `signs` the signs alone. `shared` says what all rows have in common, `no_result` why there is no number at all;
    both may be empty. `absent` are the headings of columns that have no room in a terminal.
    """

    headings: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    sort_keys: tuple[tuple[float | None, ...], ...] = ()
    faint: tuple[bool, ...] = ()
    legend: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    shared: str = ""
    no_result: str = ""
    absent: tuple[str, ...] = ()


def tabulate(
    rows: Sequence[Row],
    columns: Sequence[Column],
    keys: Sequence[str] = (),
    *,
    tables: Iterable[TableName] = (),
    shown_in: Sequence[Row] | None = None,
    faint: Sequence[bool] = (),
) -> TextTable:
    """Return rows as text: their keys, then every column that says something.

    Args:
        rows: flat rows, of cells (`cell_row`), ablations, label checks or standings.
        columns: the columns to choose from.
        keys: names in the rows that stand first.
        tables: the tables that the columns are shown in, as some have no room for intervals.
        shown_in: the rows that decide which columns say something; by default `rows`.
        faint: which rows stand back.
    """
    tables = tuple(tables)
    deciding = rows if shown_in is None else shown_in
    shown_columns = columns_to_show(deciding, columns, tables)
    headings = [Heading(name, key_heading(name), key=True) for name in keys]
    for column in shown_columns:
        has_interval = any(column.interval_of(row, tables) for row in deciding)
        text = f"{column.heading_with_unit} {INTERVAL_HEADING}" if has_interval else column.heading_with_unit
        headings.append(Heading(column.name, text, number=column.format.numeric and not has_interval, key=column.key))
    texts = tuple(
        (*(key_text(name, row.get(name)) for name in keys), *(column.cell_text(row, tables) for column in shown_columns)) for row in rows
    )
    words = {word for row in texts for text in row for word in text.split(" ")}
    signs = tuple(f"{sign} {meaning}." for sign, meaning in SIGN_MEANINGS.items() if sign in words)
    return TextTable(
        headings=tuple(headings),
        rows=texts,
        sort_keys=tuple((*(None for _ in keys), *(column.sort_key(row) for column in shown_columns)) for row in rows),
        faint=tuple(faint) or (False,) * len(rows),
        legend=(*legend_lines(shown_columns), *signs),
        signs=signs,
    )


def columns_to_show(rows: Sequence[Row], columns: Sequence[Column], tables: Iterable[TableName] = ()) -> list[Column]:
    """Return the columns that say something in any row, without those that only repeat another one."""
    tables = tuple(tables)
    texts = {column: [column.cell_text(row, tables) for row in rows] for column in columns}
    filled = [column for column in columns if any(text not in EMPTY for text in texts[column])]
    by_name = {column.name: texts[column] for column in filled}
    return [column for column in filled if not column.same_as or by_name.get(column.same_as) != texts[column]]


def key_heading(name: str) -> str:
    """Return the name of a key as people read it.

    >>> key_heading("changed_to"), key_heading("versus")
    ('changed to', 'compared with')
    """
    return "compared with" if name == "versus" else name.replace("_", " ")


def key_text(name: str, value: Any) -> str:
    """Return a key as people read it: a metric's title, the temperature 0.0 as `0`, `all` where it is pooled, a dash for none.

    >>> key_text("metric", "hallucinations"), key_text("task", "open_prompt"), key_text("temperature", 0.0)
    ('hallucination present', 'open prompt', '0')
    """
    if value is None:
        return UNDEFINED
    if value == POOLED:
        return "all"
    if isinstance(value, float):
        return f"{value:g}"
    if name == "metric":
        return one_line(metric_words(str(value)))
    return one_line(str(value).replace("_", " ") if name == "task" else str(value))


def varying_keys(rows: Sequence[Row], names: Iterable[str]) -> list[str]:
    """Return the keys that differ between rows."""
    return [name for name in names if len({str(row.get(name)) for row in rows}) > 1]


def cell_row(cell: Cell) -> dict[str, Any]:
    """Return a cell as a flat row, each of its differences under several names (`vs_baseline_diff`, `vs_baseline_q`, …)."""
    row = cell.flat()
    for prefix in ("vs_baseline", "versus"):
        stored = row.get(prefix) or {}
        row |= {f"{prefix}_{name}": stored.get(name) for name in ("pa", "diff", "q", "statistic")}
        row[f"{prefix}_diff_ci"] = stored.get("ci")
    return row
