"""Reports and comparisons as a LaTeX table: booktabs' rules, siunitx's columns of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.analyse import Cell, Comparison, Report
from harness.text import plain

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {c: f"\\{c}" for c in "&%$#_{}"}
PREAMBLE = r"% \usepackage{booktabs,siunitx}  in the preamble; other scripts' names need XeLaTeX or LuaLaTeX"


@dataclass(frozen=True)
class _Column:
    """A column of numbers, and one of their intervals beside it where there are any."""

    head: str
    form: str  # siunitx's table-format
    value: Callable[[Cell], Any]
    interval: Callable[[Cell], Any] = lambda cell: None
    show: Callable[[float], str] = lambda x: f"{x:.3f}"


def _count(value: float) -> str:
    return f"{value:.0f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _ranged(head: str, name: str, form: str = "-1.3", show: Callable[[float], str] = lambda x: f"{x:.3f}") -> _Column:
    """A statistic with its interval."""
    return _Column(head, form, lambda c: c[name], lambda c: c[f"{name}_ci"], show)


_ITEMS = (
    _Column("$n$", "5.0", lambda c: c.n_ref, show=_count),
    _ranged(r"PA (\%)", "pa", "3.1", _percent),
    _Column(r"$-$ baseline", "-3.1", lambda c: c.vs_baseline["diff"], lambda c: c.vs_baseline["ci"], _percent),
    _Column("judge--person", "3.1", lambda c: c["pa_pairwise"], show=_percent),
    _Column("person--person", "3.1", lambda c: c["human_pa"], show=_percent),
    _ranged(r"Cohen's $\kappa$", "cohen_kappa"),
    _ranged(r"Fleiss' $\kappa$", "human_fleiss"),
    _ranged("leniency", "leniency"),
)
_SYSTEMS = (
    _Column("systems", "3.0", lambda c: c.n, show=_count),
    _ranged(r"$\tau_b$", "kendall_tau"),
    _ranged(r"$\rho$", "spearman"),
    _ranged("$r$", "pearson"),
)
_OF_RUNS = (
    _Column("$n$", "5.0", lambda c: c.n_ref, show=_count),
    _Column("read", "5.0", lambda c: c.n, show=_count),
    _ranged(r"failed = wrong (\%)", "pa_failed_wrong", "3.1", _percent),
    _Column(r"baseline (\%)", "3.1", lambda c: c.vs_baseline["pa"], show=_percent),
    _Column(r"$-$ baseline", "-3.1", lambda c: c.vs_baseline["diff"], lambda c: c.vs_baseline["ci"], _percent),
    _ranged(r"judge, others left (\%)", "judge_loo", "3.1", _percent),
    _ranged(r"person, others left (\%)", "human_loo", "3.1", _percent),
    _ranged("leniency", "leniency"),
)


def to_latex(found: Comparison) -> str:
    """A comparison's cells as a `tabular`, with notes and signature as comments; every text is escaped. Undefined numbers are `--`."""
    return _tabular(found.cells, _SYSTEMS if found.level == "system" else _ITEMS, (*found.notes, found.signature))


def report_latex(report: Report) -> str:
    """A run's cells as a `tabular`, those that pool tasks, with its title and signatures as comments; every text is escaped."""
    return _tabular(report.by_metric or report.cells, _OF_RUNS, (report.title, *report.signatures.values()))


def _tabular(cells: Sequence[Cell], columns: Sequence[_Column], comments: Sequence[str]) -> str:
    keys = [name for name in (cells[0].key if cells else {}) if name in ("language", "metric") or _varies(cells, name)]
    said = [column for column in columns if not cells or any(column.value(cell) is not None for cell in cells)]
    shown = [(column, any(column.interval(cell) for cell in cells)) for column in said]
    specification = "l" * len(keys) + "".join(f"S[table-format={column.form}]{'l' * ranged}" for column, ranged in shown)
    heads = [*map(escape, keys)]
    for column, ranged in shown:
        heads += [f"{{{column.head}}}", *(["{95\\,\\%}"] * ranged)]
    lines = [*(f"% {' '.join(plain(text).split())}" for text in comments), PREAMBLE, rf"\begin{{tabular}}{{{specification}}}", r"\toprule"]
    lines += [" & ".join(heads) + r" \\", r"\midrule"]
    for cell in cells:
        lines.append(" & ".join([*(escape(cell.key[name]) for name in keys), *_numbers(cell, shown)]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _numbers(cell: Cell, shown: Sequence[tuple[_Column, bool]]) -> Iterator[str]:
    for column, ranged in shown:
        value, interval = column.value(cell), column.interval(cell)
        yield "{--}" if value is None else column.show(value)
        if ranged:
            yield f"{{$[{column.show(interval[0])}, {column.show(interval[1])}]$}}" if interval else "{}"


def escape(value: Any) -> str:
    """Text that LaTeX prints and does not run.

    >>> escape("50 % of a_b\\\\input{x}")
    '50 \\\\% of a\\\\_b\\\\textbackslash{}input\\\\{x\\\\}'
    """
    text = "--" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return "".join(_SPECIAL.get(letter, letter) for letter in " ".join(plain(text).split()))


def _varies(cells: Sequence[Cell], name: str) -> bool:
    return len({str(cell.key[name]) for cell in cells}) > 1
