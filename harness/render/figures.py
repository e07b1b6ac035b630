"""Figures as SVG: class distributions by agreement, people and judge side by side."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.analyse import Cell, Comparison
from harness.errors import UsageError
from harness.tables import write_atomic
from harness.text import plain

_PEOPLE, _JUDGE = "#4477aa", "#ee6677"  # told apart by those who see colours differently, too
_WIDTH, _HEIGHT = 2.6, 1.9  # inches of one panel


def draw_by_agreement(found: Comparison, path: Path) -> None:
    """Draw, for each cell, the shares of the classes where three annotators agree fully, partly and not at all.

    A row a cell, a column a level of agreement. The file is an SVG with text as text, the same for the same comparison.

    Raises:
        UsageError: without the extra `figures`, for another suffix than .svg, and when no cell has items with three annotators.
    """
    if path.suffix != ".svg":
        raise UsageError(f"figures are SVG files; name it {path.with_suffix('.svg').name}")
    cells = [cell for cell in found.cells if cell.distribution_by_agreement]
    if not cells:
        raise UsageError("no cell has items with three annotators, so there is no agreement to draw by; try --by with fewer keys")
    write_atomic(path, _svg(cells, found.signature))


def _svg(cells: Sequence[Cell], signature: str) -> bytes:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("figures need the extra 'figures': pip install 'judge-harness[figures]'") from None
    levels = list(cells[0].distribution_by_agreement or {})
    # Text stays text (any script shows), and ids do not change from one drawing to the next.
    style: Any = {"svg.fonttype": "none", "svg.hashsalt": signature, "font.size": 8, "font.family": "sans-serif", "text.parse_math": False}
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # signs that the font here lacks, names too long for the layout: drawn all the same
        figure = Figure(figsize=(_WIDTH * len(levels) + 0.4, _HEIGHT * len(cells) + 0.6), layout="constrained")
        panels: Any = figure.subplots(len(cells), len(levels), sharey=True, squeeze=False)
        for row, cell in enumerate(cells):
            for column, level in enumerate(levels):
                _panel(panels[row][column], (cell.distribution_by_agreement or {})[level], level)
            panels[row][0].set_ylabel(_name(cell))
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Description": plain(signature)})
    return out.getvalue()


def _panel(panel: Any, of: dict[str, Any], level: str) -> None:
    panel.set_title(f"{'no' if level == 'none' else level} agreement, {of['items']} items", fontsize=8)
    panel.set_ylim(0, 1)
    panel.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    panel.spines[["top", "right"]].set_visible(False)
    if not of["items"]:
        panel.set_axis_off()
        return
    names = list(of["labels"] or of["judge"] or {})
    for offset, who, colour in ((-0.2, "labels", _PEOPLE), (0.2, "judge", _JUDGE)):
        shares = of[who] or {}
        heights = [shares.get(name, 0.0) for name in names]
        panel.bar([i + offset for i in range(len(names))], heights, 0.38, color=colour, label="people" if who == "labels" else "judge")
    panel.set_xticks(range(len(names)), [plain(name) for name in names])


def _name(cell: Cell) -> str:
    said = [cell.key[name] for name in ("language", "metric") if cell.key[name] != "*"]
    return plain("\n".join(str(part).replace("_", " ") for part in said) or "all")
