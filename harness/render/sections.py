"""The sections of a report in the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.render.fitted_table import FittedTable
from harness.render.terminal import dim_lines, print_whole
from harness.reports.sections.section import Found
from harness.reports.sections.section_registry import SECTIONS
from harness.reports.shown_sections import sections_legend, shown_sections


def render_sections(sections: Mapping[str, Found]) -> RenderableType:
    """The sections for a terminal."""
    parts: list[RenderableType] = []
    shown = shown_sections(sections)
    for section in shown:
        parts += [Text(f"\n{section.title}", style="bold cyan"), Text(section.text)]
        for table in section.tables:
            parts += [*(Text(line, style="dim") for line in (table.shared, table.no_result) if line), FittedTable(table)]
    if legend := sections_legend(shown):
        parts.append(dim_lines(legend))
    return Group(*parts)


def print_sections(sections: Mapping[str, Found], console: Console | None = None) -> None:
    """Print the sections of a run that asked under several conditions; nothing for any other run."""
    variants = {row["variant"] for row in sections.get("variants", {}).get("rows", ())}
    if len(variants) > 1 or set(sections) - {one.name for one in SECTIONS if one.in_every_run}:
        print_whole(lambda width: render_sections(sections), console=console)
