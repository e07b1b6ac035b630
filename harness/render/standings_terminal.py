"""Standings in the terminal: as many columns as fit, the first before the last; what does not fit is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.analyse import POOLED
from harness.boards.probes import Finding
from harness.boards.standings import Standings
from harness.render.standings import (
    GAP,
    ShownTable,
    findings_of,
    groups_in_words,
    heading,
    language_name,
    notes,
    shown_overall,
    shown_table,
    table_title,
)
from harness.text import plain

_NAME = "judge"
_NAME_WIDTHS = 16, 40  # at least, at most
_BETWEEN = 2  # columns of the terminal
_WIDTH = 220  # of what is not shown on a terminal: nothing is cut there


def print_standings(
    found: Standings, findings: Sequence[Finding] = (), language: str | None = None, console: Console | None = None
) -> None:
    """Print to stdout; a pipe gets a generous width instead of cut columns."""
    console = console or Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    console.print(render_standings(found, findings, language, console.width))


def render_standings(
    found: Standings, findings: Sequence[Finding] = (), language: str | None = None, width: int = _WIDTH
) -> RenderableType:
    """All languages with metrics pooled; of one language, its metrics too."""
    parts: list[RenderableType] = [Text(plain(f"{heading(found)} · {found.board}"), style="bold")]
    if not found.judges:
        return Group(*parts, Text("No submissions yet: 'harness submit' makes one from a run."))
    if language is None:
        for variant in found.variants:
            parts += [Text(plain(f"\nAll languages{f' · {variant}' if len(found.variants) > 1 else ''}"), style="bold cyan")]
            parts += _table(shown_overall(found, variant), width)
    for tag in found.languages if language is None else (language,):
        parts.append(Text(plain(f"\n{language_name(tag)}"), style="bold cyan"))
        tables = [table for table in found.tables if table.language == tag and (language is not None or table.metric == POOLED)]
        for table in tables:
            parts += [Text(plain(table_title(found, table)), style="italic"), *_table(shown_table(found, table), width)]
            parts += [Text(groups_in_words(table), style="dim")]
        if not tables:
            parts.append(Text("No numbers."))
    if findings:
        parts += [Text("\nProbes", style="bold cyan"), *_probes(findings)]
    return Group(*parts, Text("\n" + plain("\n".join(notes(found))), style="dim"))


def _table(shown: ShownTable, width: int) -> Iterator[RenderableType]:
    """The table without columns that say nothing in any row, and without those that do not fit."""
    said = [place for place, _ in enumerate(shown.headings) if any(row[place].text not in ("", GAP) for row in shown.rows)]
    widths = {place: _width(shown, place) for place in said}
    kept = _fitting(shown, widths, width)
    left = width - sum(widths[place] + _BETWEEN for place in kept if shown.headings[place] != _NAME) - _BETWEEN
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _BETWEEN, 0, 0))
    for place in kept:
        own = min(widths[place], left, _NAME_WIDTHS[1]) if shown.headings[place] == _NAME else widths[place]
        table.add_column(shown.headings[place], justify="right" if shown.numbers[place] else "left", overflow="fold", width=own)
    for row, faint in zip(shown.rows, shown.faint, strict=True):
        table.add_row(*(Text(plain(row[place].text)) for place in kept), style="dim" if faint else "")
    yield table
    if absent := [shown.headings[place] for place in said if place not in kept]:
        yield Text(f"Not in this width: {', '.join(absent)}. A wider window has them, and so has --json.", style="dim")


def _width(shown: ShownTable, place: int) -> int:
    """What a column takes: its longest text, or the longest word of its heading."""
    texts = (row[place].text for row in shown.rows)
    return max(map(cell_len, (*texts, *shown.headings[place].split())))


def _fitting(shown: ShownTable, widths: dict[int, int], width: int) -> list[int]:
    """The columns for which there is room, from the left on."""
    kept: list[int] = []
    taken = 0
    for place, own in widths.items():
        taken += (_NAME_WIDTHS[0] if shown.headings[place] == _NAME else own) + _BETWEEN
        if taken > width and len(kept) > 1:
            break
        kept.append(place)
    return kept


def _probes(findings: Sequence[Finding]) -> Iterator[Text]:
    for judge in dict.fromkeys(finding.judge for finding in findings):
        yield Text(plain(judge), style="bold")
        for finding in findings_of(findings, judge):
            yield Text(
                plain(f"  {'look closer: ' if finding.flagged else ''}{finding.sentence}"), style="yellow" if finding.flagged else ""
            )
