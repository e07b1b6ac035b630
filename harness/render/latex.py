"""Reports and comparisons as LaTeX tables: verdicts, shares of classes, or all numbers; rules of booktabs, numbers of siunitx."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from harness.content.tags import english_name
from harness.decide.verdicts import Verdict
from harness.errors import UsageError
from harness.measure.cells import Cell
from harness.measure.compare import Comparison
from harness.reports.answer.judged_sides import judged_sides
from harness.reports.answer.parts import against_words, cause_words, state_of
from harness.reports.answer.verdict_words import condition_words
from harness.reports.run_report import Report
from harness.reports.tables.columns import Column, TableName, columns_in, legend_lines, metric_words
from harness.reports.tables.numbers import UNDEFINED
from harness.reports.tables.text_table import cell_row, columns_to_show, key_text, varying_keys
from harness.text import terminal_safe

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {c: f"\\{c}" for c in "&%$#_{}"}
_SPECIAL |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}  # the usual font encoding prints these as others
_SYMBOLS = {"κ": r"$\kappa$", "α": r"$\alpha$", "τ": r"$\tau$", "ρ": r"$\rho$", "→": r"$\to$", "−": "$-$", "–": "--"}  # of headings
_VARIABLE = re.compile(r"\b[nqr]\b(?!')")
PREAMBLE = r"% \usepackage{booktabs,siunitx}  in the preamble; other scripts' names need XeLaTeX or LuaLaTeX"


LatexKind = Literal["verdicts", "shares", "numbers"]
_PAGE_ROWS = 45  # that one page holds; a longer table is a longtable


def to_latex(comparison: Comparison, kind: LatexKind = "verdicts") -> str:
    """Return a comparison as a table, with legend, notes and signature as comments. Texts are escaped, undefined numbers are `--`.

    `verdicts` has a row for each verdict on a judge, with the numbers that the verdict rests on; without verdicts, as of systems, it is
    `numbers`: all statistics of all cells, which are wider than a page. `shares` has the share of each class in labels and scores.
    """
    if kind == "shares":
        return _shares_table(comparison)
    verdicts = [verdict for side in judged_sides(getattr(comparison, "verdicts", ())) for verdict in side]
    if kind == "verdicts" and verdicts:
        return verdict_table(verdicts, (*comparison.notes, comparison.signature))
    name = TableName.SYSTEMS if comparison.level == "system" else TableName.COMPARISON
    return _tabular(comparison.cells, columns_in(name), comments=(*comparison.notes, comparison.signature))


def report_latex(report: Report, kind: LatexKind = "verdicts") -> str:
    """Return a run as a table, as `to_latex` does: its verdicts, or its cells that pool tasks. Title and signatures are comments."""
    verdicts = [verdict for side in judged_sides(report.verdicts) for verdict in side]
    if kind == "verdicts" and verdicts and not report.constructed_labels:
        return verdict_table(verdicts, (report.title, *report.signatures.values()))
    columns = columns_in(TableName.REPORT, TableName.REPORT_WIDE)
    return _tabular(report.by_metric or report.cells, columns, comments=(report.title, *report.signatures.values()))


def verdict_table(verdicts: Sequence[Verdict], comments: Sequence[str]) -> str:
    """Return verdicts as a table: state, reason or cause, agreement of judge and of people, their difference with its limits, and texts.

    All numbers are those of the verdict, in percent and percentage points: answers that cannot be read count as disagreement.
    """
    judges = {verdict["judge"] for verdict in verdicts}
    conditions = {verdict["judge"]: {condition_words(verdict.key, ()) for verdict in verdicts} for verdict in verdicts}
    keys = ["language", "metric", *(["judge"] if len(judges) > 1 else []), *(["asked"] if max(map(len, conditions.values())) > 1 else [])]
    headings = [*keys, "verdict", "because", "{judge (\\%)}", "{people (\\%)}", "{difference}", "{limits}", "{$n$}"]
    form = "l" * (len(keys) + 1) + "p{3.2cm}" + "S[table-format=3.0]S[table-format=3.0]S[table-format=+3.0]" + "cS[table-format=5.0]"
    rows = []
    for verdict in verdicts:
        agreement, bounds = verdict.agreement, verdict.bounds
        names = {"language": english_name(verdict["language"]), "metric": metric_words(verdict["metric"]), "judge": verdict["judge"]}
        names["asked"] = condition_words(verdict.key, ())
        against = against_words(verdict.words.obstacles, agreement.gap, verdict.baseline.diff) if state_of(verdict) == "do not use" else []
        limits = [_signed(limit) for limit in (bounds.gap, bounds.gap_upper)]
        rows.append(
            [
                *(escape(names[name]) for name in keys),
                escape(state_of(verdict)),
                escape(against[0] if against else cause_words(verdict)),
                _whole(agreement.judge),
                _whole(agreement.people),
                _signed(agreement.gap),
                "{--}" if "{--}" in limits else f"{{$[{limits[0]}, {limits[1]}]$}}",
                str(verdict.texts.labelled),
            ]
        )
    margin = f"{100 * verdicts[0].margin:g}"
    legend = (
        "judge, people: agreement of the judge with people, and of people with each other; an answer that cannot be read is a disagreement",
        "difference: judge minus people in percentage points, with its limits after correction for all tests;"
        f" 'use' needs more than -{margin}",
    )
    return _written(rows, headings, form, (*comments, *legend))


def _shares_table(comparison: Comparison) -> str:
    """Return the share of each class in people's labels and in the judge's scores, a row a class. Raises UsageError without classes."""
    cells = [cell for cell in comparison.cells if cell.distribution_labels]
    if not cells:
        raise UsageError("no cell has shares of classes: scales of numbers and correlations of systems have none; leave out 'shares'")
    varying = varying_keys([cell_row(cell) for cell in cells], [*cells[0].key])
    names = [name for name in cells[0].key if name in ("language", "metric", *varying)]
    rows = []
    for cell in cells:
        judged = cell.distribution_judge or {}
        for label, share in (cell.distribution_labels or {}).items():
            keys = [escape(key_text(name, cell.key[name])) for name in names]
            rows.append([*keys, escape(label), _whole(share), _whole(judged.get(label, 0.0))])
    headings = [*map(escape, names), "class", r"{labels (\%)}", r"{judge (\%)}"]
    form = "l" * (len(names) + 1) + "S[table-format=3.0]S[table-format=3.0]"
    return _written(rows, headings, form, (*comparison.notes, comparison.signature))


def _written(rows: Sequence[Sequence[str]], headings: Sequence[str], form: str, comments: Sequence[str]) -> str:
    """Return a table of small type; one that is longer than a page breaks over pages, with its head on each."""
    long = len(rows) > _PAGE_ROWS
    head = [r"\toprule", " & ".join(headings) + r" \\", r"\midrule"]
    begin = rf"\begin{{longtable}}{{{form}}}" if long else rf"\begin{{tabular}}{{{form}}}"
    lines = [f"% {' '.join(terminal_safe(text).split())}" for text in comments]
    lines += [PREAMBLE.replace("siunitx}", "siunitx,longtable}") if long else PREAMBLE]
    lines += [r"{\footnotesize\setlength{\tabcolsep}{3pt}", begin, *head, *([r"\endhead"] if long else [])]
    lines += [" & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", rf"\end{{{'longtable' if long else 'tabular'}}}", "}", ""])


def _whole(share: float | None) -> str:
    return "{--}" if share is None else f"{100 * share:.0f}"


def _signed(share: float | None) -> str:
    return "{--}" if share is None else f"{round(100 * share):+d}"


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
        texts = [escape(key_text(name, row[name])) for name in keys]
        for column, has_interval in with_interval:
            value, limits, number = column.value_of(row), column.interval_of(row), column.format.latex_number
            texts.append("{--}" if value is None else number(value))
            if has_interval:
                texts.append(f"{{$[{number(limits[0])}, {number(limits[1])}]$}}" if limits else "{}")
        lines.append(" & ".join(texts) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def heading(column: Column) -> str:
    """Return a column's heading with its unit; symbols and variables are set as mathematics."""
    text = escape(column.heading)
    for symbol, command in _SYMBOLS.items():
        text = text.replace(symbol, command)
    unit = f" ({escape(column.format.unit)})" if column.format.unit else ""
    return _VARIABLE.sub(r"$\g<0>$", text) + unit


def escape(value: Any) -> str:
    """Text that LaTeX prints and does not run. Its beginning is never taken for the star or the bracket that `\\\\` may have after it.

    >>> escape("50 % of a_b\\\\input{x}")
    '50 \\\\% of a\\\\_b\\\\textbackslash{}input\\\\{x\\\\}'
    """
    text = "--" if value in (None, UNDEFINED) else f"{value:g}" if isinstance(value, float) else str(value)
    line = " ".join(terminal_safe(text).split())
    return ("{}" if line.startswith(("*", "[")) else "") + "".join(_SPECIAL.get(letter, letter) for letter in line)
