"""What may be believed of a judge's probabilities: first the sentences, then the section's tables; and its figure."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from rich.console import Group, RenderableType
from rich.text import Text

from harness.correction.probabilities import Probabilities
from harness.render.figures.reliability import draw_reliability
from harness.render.figures.style import WIDTHS, FigureOptions, write_figure
from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines
from harness.reports.sections.probabilities import NAME, headline, probabilities_section
from harness.reports.sections.section import SectionNumbers
from harness.reports.shown_sections import shown_sections
from harness.text import terminal_safe


def render_probabilities(measured: Probabilities) -> RenderableType:
    """Return a sentence for each language and metric, then the tables, and below them what their headings mean."""
    numbers = _section(measured)
    [shown] = shown_sections({NAME: numbers})
    parts: list[RenderableType] = [Text(terminal_safe(line)) for line in headline(numbers)]
    further = shown.text.removeprefix("Is it as often right as it says?").strip()
    for line in headline(numbers):
        further = further.replace(line, "").strip()
    parts += [Text(further)] if further else []
    for table in shown.tables:
        parts += [Text(""), *(Text(line, style="dim") for line in (table.shared, table.no_result) if line), FittedTable(table)]
    return Group(*parts, dim_lines((*shown.legend, *map(terminal_safe, measured.notes))))


def draw_probabilities(measured: Probabilities, path: Path, width: Literal["single", "double"], names: Literal["english", "own"]) -> None:
    """Draw the reliability curves, a panel a language and metric. Raises UsageError as `write_figure`."""
    section = _section(measured)
    write_figure(path, lambda options: draw_reliability(section, measured.signature, options), FigureOptions(WIDTHS[width], names))


def _section(measured: Probabilities) -> SectionNumbers:
    return probabilities_section(measured.cells, measured.languages, measured.cuts) or {}
