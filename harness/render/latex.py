"""Comparisons as a LaTeX table (booktabs)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.analyse import Cell, Comparison
from harness.text import plain

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {c: f"\\{c}" for c in "&%$#_{}"}

_ITEMS: tuple[tuple[str, Callable[[Cell], str]], ...] = (
    ("$n$", lambda c: str(c.n_ref)),
    (r"PA (\%)", lambda c: _percent(c["pa"], c["pa_ci"])),
    (r"$-$ baseline", lambda c: _percent(c.vs_baseline["diff"], c.vs_baseline["ci"])),
    ("judge--person", lambda c: _percent(c["pa_pairwise"])),
    ("person--person", lambda c: _percent(c["human_pa"])),
    (r"Cohen's $\kappa$", lambda c: _number(c["cohen_kappa"], c["cohen_kappa_ci"])),
    (r"Fleiss' $\kappa$", lambda c: _number(c["human_fleiss"], c["human_fleiss_ci"])),
    ("leniency", lambda c: _number(c["leniency"], c["leniency_ci"])),
)
_SYSTEMS: tuple[tuple[str, Callable[[Cell], str]], ...] = (
    ("systems", lambda c: str(c.n)),
    (r"$\tau_b$", lambda c: _number(c["kendall_tau"], c["kendall_tau_ci"])),
    (r"$\rho$", lambda c: _number(c["spearman"], c["spearman_ci"])),
    ("$r$", lambda c: _number(c["pearson"], c["pearson_ci"])),
)


def to_latex(found: Comparison) -> str:
    """A `tabular` for `\\usepackage{booktabs}`, with the signature as a comment; every text is escaped.

    Undefined numbers are `--`.
    """
    columns = _SYSTEMS if found.level == "system" else _ITEMS
    keys = [name for name in (found.cells[0].key if found.cells else {}) if name in ("language", "metric") or _varies(found.cells, name)]
    heads = [*map(escape, keys), *(head for head, _ in columns)]
    lines = [
        *(f"% {plain(note)}" for note in found.notes),
        f"% {plain(found.signature)}",
        rf"\begin{{tabular}}{{{'l' * len(keys)}{'r' * len(columns)}}}",
        r"\toprule",
    ]
    lines += [" & ".join(heads) + r" \\", r"\midrule"]
    for cell in found.cells:
        lines.append(" & ".join([*(escape(cell.key[name]) for name in keys), *(show(cell) for _, show in columns)]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escape(value: Any) -> str:
    """Text that LaTeX prints and does not run.

    >>> escape("50 % of a_b\\\\input{x}")
    '50 \\\\% of a\\\\_b\\\\textbackslash{}input\\\\{x\\\\}'
    """
    text = "--" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return "".join(_SPECIAL.get(letter, letter) for letter in plain(text))


def _varies(cells: Sequence[Cell], name: str) -> bool:
    return len({str(cell.key[name]) for cell in cells}) > 1


def _percent(value: float | None, interval: tuple[float, float] | None = None) -> str:
    return _shown(value, interval, lambda x: f"{100 * x:.1f}")


def _number(value: float | None, interval: tuple[float, float] | None = None) -> str:
    return _shown(value, interval, lambda x: f"{x:.3f}")


def _shown(value: float | None, interval: tuple[float, float] | None, form: Callable[[float], str]) -> str:
    if value is None:
        return "--"
    return f"${form(value)}$" + (f" $[{form(interval[0])}, {form(interval[1])}]$" if interval else "")
