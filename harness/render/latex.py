"""Reports and comparisons as a LaTeX table: rules of booktabs, columns of numbers of siunitx."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from harness.measure.cells import Cell
from harness.measure.compare import Comparison
from harness.reports.run_report import Report
from harness.reports.tables.column import Column, Row, TableName
from harness.reports.tables.columns import columns_in, legend_lines
from harness.reports.tables.numbers import UNDEFINED
from harness.reports.tables.text_table import cell_row, columns_to_show, key_text, varying_keys
from harness.text import terminal_safe

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {c: f"\\{c}" for c in "&%$#_{}"}
_SPECIAL |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}  # the usual font encoding prints these as others
_SYMBOLS = {"κ": r"$\kappa$", "α": r"$\alpha$", "τ": r"$\tau$", "ρ": r"$\rho$", "→": r"$\to$", "−": "$-$", "–": "--"}  # of headings
_VARIABLE = re.compile(r"\b[nqr]\b(?!')")
PREAMBLE = r"% \usepackage{booktabs,siunitx}  in the preamble; other scripts' names need XeLaTeX or LuaLaTeX"


def to_latex(comparison: Comparison) -> str:
    """Return a comparison's cells as a `tabular`, with legend, notes and signature as comments. Texts are escaped, undefined numbers are
    `--`.
    """
    name = TableName.SYSTEMS if comparison.level == "system" else TableName.COMPARISON
    return _tabular(comparison.cells, columns_in(name), comments=(*comparison.notes, comparison.signature))


def report_latex(report: Report) -> str:
    """Return a run's cells that pool tasks as a `tabular`, with title, legend and signatures as comments; every text is escaped."""
    columns = columns_in(TableName.REPORT, TableName.REPORT_WIDE)
    return _tabular(report.by_metric or report.cells, columns, comments=(report.title, *report.signatures.values()))


def _tabular(cells: Sequence[Cell], columns: Sequence[Column], *, comments: Sequence[str]) -> str:
    rows = [cell_row(cell) for cell in cells]
    names = [*cells[0].key] if cells else []
    varying = varying_keys(rows, names)
    keys = [name for name in names if name in ("language", "metric") or name in varying]
    numeric = [column for column in columns if column.latex and column.format.numeric]
    visible = columns_to_show(rows, numeric) if rows else numeric
    with_interval = [(column, any(column.interval_of(row) for row in rows)) for column in visible]
    form = "l" * len(keys) + "".join(f"S[table-format={c.format.latex_digits}]{'l' * interval}" for c, interval in with_interval)
    headings = [*map(escape, keys)]
    for column, interval in with_interval:
        headings += [f"{{{heading(column)}}}", *(["{95\\,\\%}"] * interval)]
    lines = [*(f"% {' '.join(terminal_safe(text).split())}" for text in (*comments, *legend_lines(visible)))]
    lines += [PREAMBLE, rf"\begin{{tabular}}{{{form}}}", r"\toprule", " & ".join(headings) + r" \\", r"\midrule"]
    for row in rows:
        texts = [*(escape(key_text(name, row[name])) for name in keys), *_numbers(row, with_interval)]
        lines.append(" & ".join(texts) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def heading(column: Column) -> str:
    """Return a column's heading with its unit; symbols and variables are set as mathematics."""
    text = escape(column.heading)
    for symbol, command in _SYMBOLS.items():
        text = text.replace(symbol, command)
    unit = f" ({escape(column.format.unit)})" if column.format.unit else ""
    return _VARIABLE.sub(r"$\g<0>$", text) + unit


def _numbers(row: Row, columns: Sequence[tuple[Column, bool]]) -> Iterator[str]:
    """Yield a row's numbers, each followed by its interval where the column has intervals."""
    for column, has_interval in columns:
        value, interval = column.value_of(row), column.interval_of(row)
        number = column.format.latex_number
        yield "{--}" if value is None else number(value)
        if has_interval:
            yield f"{{$[{number(interval[0])}, {number(interval[1])}]$}}" if interval else "{}"


def escape(value: Any) -> str:
    """Text that LaTeX prints and does not run. Its beginning is never taken for the star or the bracket that `\\\\` may have after it.

    >>> escape("50 % of a_b\\\\input{x}")
    '50 \\\\% of a\\\\_b\\\\textbackslash{}input\\\\{x\\\\}'
    """
    text = "--" if value in (None, UNDEFINED) else f"{value:g}" if isinstance(value, float) else str(value)
    line = " ".join(terminal_safe(text).split())
    return ("{}" if line.startswith(("*", "[")) else "") + "".join(_SPECIAL.get(letter, letter) for letter in line)
