"""Class distributions where annotators agree fully, partly and not at all, people and judge side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.analyse import Comparison
from harness.errors import UsageError
from harness.render.figures.style import JUDGE, PEOPLE, SMALL, bare, drawing, finish
from harness.tables import write_atomic
from harness.text import plain

_WIDTH, _HEIGHT = 2.6, 1.9  # inches of one panel
_NAMED = ("language", "metric")


def draw_by_agreement(found: Comparison, path: Path) -> None:
    """Draw, for each cell, the shares of the classes where three annotators agree fully, partly and not at all.

    A row a cell, a column a level of agreement. The file is an SVG with text as text, the same for the same comparison.

    Raises:
        UsageError: without the extra `figures`, for another suffix than .svg, and when no cell has items with three annotators.
    """
    if path.suffix != ".svg":
        raise UsageError(f"figures are SVG files; name it {path.with_suffix('.svg').name}")
    rows = [cell.flat() for cell in found.cells if cell.distribution_by_agreement]
    if not rows:
        raise UsageError("no cell has items with three annotators, so there is no agreement to draw by; try --by with fewer keys")
    write_atomic(path, distributions(rows, found.signature))


def distributions(rows: Sequence[Mapping[str, Any]], signature: str, named: Sequence[str] = _NAMED, *, form: str = "svg") -> bytes:
    """The drawing of flat cells that have a `distribution_by_agreement`; each is called by its keys in `named`."""
    levels = list(rows[0]["distribution_by_agreement"])
    with drawing(signature) as new_figure:
        figure = new_figure(figsize=(_WIDTH * len(levels) + 0.4, _HEIGHT * len(rows) + 0.6), layout="constrained")
        panels: Any = figure.subplots(len(rows), len(levels), sharey=True, squeeze=False)
        for line, row in enumerate(rows):
            for column, level in enumerate(levels):
                _panel(panels[line][column], row["distribution_by_agreement"][level], level)
            panels[line][0].set_ylabel(_name(row, named))
        handles, labels = next((panel.get_legend_handles_labels() for panel in panels.flat if panel.patches), ([], []))
        figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
        return finish(figure, signature, form=form)


def _panel(panel: Any, of: Mapping[str, Any], level: str) -> None:
    panel.set_title(f"{'no' if level == 'none' else level} agreement, {of['items']} items", fontsize=SMALL)
    panel.set_ylim(0, 1)
    panel.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    bare(panel)
    if not of["items"]:
        panel.set_axis_off()
        return
    names = list(of["labels"] or of["judge"] or {})
    for offset, who, colour in ((-0.2, "labels", PEOPLE), (0.2, "judge", JUDGE)):
        shares = of[who] or {}
        heights = [shares.get(name, 0.0) for name in names]
        panel.bar([i + offset for i in range(len(names))], heights, 0.38, color=colour, label="people" if who == "labels" else "judge")
    panel.set_xticks(range(len(names)), [plain(name) for name in names])


def _name(row: Mapping[str, Any], named: Sequence[str]) -> str:
    said = [f"{row[name]:g}" if isinstance(row[name], float) else str(row[name]) for name in named if row.get(name) not in (None, "*")]
    return plain("\n".join(part.replace("_", " ") for part in said) or "all")
