"""The guard against formulas in CSV: a text that a spreadsheet could carry out gets an apostrophe before it, which reading removes."""

from __future__ import annotations

import unicodedata

_INVISIBLE = {"Cc", "Cf", "Zs", "Zl", "Zp", "Mn"}  # categories: controls, joiners, spaces, combining marks


def looks_like_formula(text: str) -> bool:
    """Return True if a spreadsheet may read this text as a formula: it begins with `=`, `+`, `-` or `@` in any width, possibly after white
    space or invisible characters; or it begins with a tab or a line break.

    >>> [looks_like_formula(text) for text in ("=1", "\\n=1", "\\u00a0-1", "\\u200b@x", "＝1", "a=1", "")]
    [True, True, True, True, True, False, False]
    """
    first_visible = next((c for c in text if unicodedata.category(c) not in _INVISIBLE), "")
    return text[:1] in ("\t", "\r", "\n") or (first_visible != "" and unicodedata.normalize("NFKC", first_visible)[0] in "=+-@")


def guard_cell(cell: object) -> object:
    """Return a cell with an apostrophe before a text that a spreadsheet could read as a formula, and any other cell as it is.

    >>> guard_cell("=1+1"), guard_cell("'=1+1"), guard_cell("'quoted'"), guard_cell(-0.5)
    ("'=1+1", "''=1+1", "'quoted'", -0.5)
    """
    return "'" + cell if isinstance(cell, str) and looks_like_formula(cell.lstrip("'")) else cell


def unguard_cell(cell: str) -> str:
    """Return a cell without the apostrophe that `guard_cell` added.

    >>> unguard_cell("'=1+1"), unguard_cell("'quoted'")
    ('=1+1', "'quoted'")
    """
    return cell[1:] if cell[:1] == "'" and looks_like_formula(cell.lstrip("'")) else cell
