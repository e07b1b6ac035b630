"""Standings in the terminal: as many columns as fit, from the left; the others are named below the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.boards.board_standings import Standings
from harness.boards.probes import Finding
from harness.content.tags import both_names
from harness.measure.options import POOLED
from harness.render.board_answer import board_answer, board_facts, language_answer
from harness.render.fitted_table import PIPE_WIDTH, FittedTable, gap_between
from harness.render.standings import (
    cautions,
    findings_of,
    groups_in_words,
    heading,
    overall_table,
    ranking_table,
    standings_notes,
    table_title,
    verdict_table,
)
from harness.render.terminal import print_whole, render_lines, table_heading
from harness.render.verdicts import column_widths, lines_of
from harness.reports.answer_parts import SIGNS
from harness.reports.tables.numbers import counted
from harness.reports.tables.text_table import TextTable
from harness.text import terminal_safe

_NAME = "judge"
_NAME_WIDTHS = 16, 40  # at least, at most
_GAP = 2  # between columns
_SIGN_OF = {
    "open; do not use:": SIGNS["bad"],
    "do not use:": SIGNS["bad"],
    "do not use": SIGNS["bad"],
    "use corrected:": f"{SIGNS['good']} corrected:",
    "use corrected": f"{SIGNS['good']} corrected",
    "use:": SIGNS["good"],
    "use": SIGNS["good"],
    "open": SIGNS["open"],
}
_SIGN_LEGEND = "✓ use; ✗ do not use, with the number of judges; ○ open."


def print_standings(
    standings: Standings,
    findings: Sequence[Finding] = (),
    language: str | None = None,
    console: Console | None = None,
    *,
    every: bool = False,
) -> None:
    """Print to stdout; a pipe gets a generous width instead of cut columns."""
    print_whole(lambda width: render_standings(standings, findings, language, width, every=every), console=console)


def render_standings(
    standings: Standings, findings: Sequence[Finding] = (), language: str | None = None, width: int = PIPE_WIDTH, *, every: bool = False
) -> RenderableType:
    """All languages with metrics pooled; of one language, its metrics too.

    The tables of single languages, the findings of probes and the meanings of headings are there with `every`, or of one language.
    """
    parts: list[RenderableType] = [Text(terminal_safe(f"{heading(standings)} · {standings.board}"), style="bold")]
    if not standings.judges:
        return Group(*parts, Text("No submissions yet: 'harness submit' makes one from a run."))
    answer = board_answer(standings) if language is None else language_answer(standings, language)
    above, beside = render_lines(lines_of(answer), width)
    parts += [Text(""), *above, Text(terminal_safe(board_facts(standings)), style="dim")]
    shown: list[TextTable] = []
    if verdicts := verdict_table(standings, language):
        shown.append(_with_signs(verdicts, width))
        parts += [table_heading("Verdicts"), FittedTable(shown[-1], unbroken=("language",))]
    if language is None:
        for variant in standings.variants:
            shown.append(overall_table(standings, variant))
            title = f"All languages{f' · {variant}' if len(standings.variants) > 1 else ''}"
            parts += [table_heading(title), *_fitted_table(shown[-1], width)]
    parts += [Text(""), *beside[:-1]] if beside else []
    if language is None and not every:
        signs = [line for table in shown for line in table.legend if line == _SIGN_LEGEND]
        notes = [*signs, *cautions(standings), _more(standings, findings)]
        return Group(*parts, Text("\n" + terminal_safe("\n".join(notes)), style="dim"))
    for tag in standings.languages if language is None else (language,):
        parts.append(table_heading(both_names(tag)))
        rankings = [each for each in standings.tables if each.language == tag and (language is not None or each.metric == POOLED)]
        for ranking in rankings:
            shown.append(ranking_table(standings, ranking))
            parts += [Text(terminal_safe(table_title(standings, ranking)), style="italic"), *_fitted_table(shown[-1], width)]
            parts += [Text(groups_in_words(ranking), style="dim")]
        if not rankings:
            parts.append(Text("No numbers."))
    if findings:
        parts += [table_heading("Probes"), *_probes(findings)]
    return Group(*parts, Text("\n" + terminal_safe("\n".join(standings_notes(standings, shown))), style="dim"))


def _more(standings: Standings, findings: Sequence[Finding]) -> str:
    """What the flags add."""
    flagged = len({finding.judge for finding in findings if finding.flagged})
    probes = f" what probes find ({counted(flagged, 'judge')} to look at closer)," if findings else ""
    more = f"--all adds a table for each language,{probes} and what the headings mean"
    return f"{more}; --lang {standings.languages[0]} shows one language with its metrics."


def _with_signs(table: TextTable, width: int) -> TextTable:
    """A table of verdicts; with signs in place of words where a row would be broken in the width."""
    widths = _column_widths(table)
    if sum(widths) + gap_between(width) * (len(widths) - 1) <= width:
        return table

    def signed(text: str) -> str:  # `✗ 11 of 20` for `open; do not use: 11 of 20`
        return next((sign + text.removeprefix(words) for words, sign in _SIGN_OF.items() if text.startswith(words)), text)

    rows = tuple((row[0], *map(signed, row[1:])) for row in table.rows)
    return replace(table, rows=rows, legend=(*table.legend, _SIGN_LEGEND))


def _fitted_table(table: TextTable, width: int) -> Iterator[RenderableType]:
    """The columns that fit into the width, and the names of the others."""
    widths = _column_widths(table)
    kept = _fitting(table, widths, width)
    room = width - sum(widths[place] + _GAP for place in kept if table.headings[place].name != _NAME) - _GAP
    fitted = replace(
        table,
        headings=tuple(table.headings[place] for place in kept),
        rows=tuple(tuple(terminal_safe(row[place]) for place in kept) for row in table.rows),
    )
    own = {table.headings[place].name: widths[place] for place in kept}
    if _NAME in own:
        own[_NAME] = min(own[_NAME], room, _NAME_WIDTHS[1])
    yield FittedTable(fitted, widths=own)
    if absent := [each.text for place, each in enumerate(table.headings) if place not in kept]:
        yield Text(f"Not in this width: {', '.join(absent)}. A wider window has them, and so has --json.", style="dim")


def _column_widths(table: TextTable) -> list[int]:
    """The widths in which no text of a column is broken; the sign of an interval in a heading stays whole too."""
    own = ("[95 %]" if "[95" in heading.text else "" for heading in table.headings)
    return [max(width, cell_len(sign)) for width, sign in zip(column_widths(table), own, strict=True)]


def _fitting(table: TextTable, widths: Sequence[int], width: int) -> list[int]:
    """The columns for which there is room, from the left on."""
    kept: list[int] = []
    taken = 0
    for place, own in enumerate(widths):
        taken += (_NAME_WIDTHS[0] if table.headings[place].name == _NAME else own) + _GAP
        if taken > width and len(kept) > 1:
            break
        kept.append(place)
    return kept


def _probes(findings: Sequence[Finding]) -> Iterator[Text]:
    for judge in dict.fromkeys(finding.judge for finding in findings):
        yield Text(terminal_safe(judge), style="bold")
        for finding in findings_of(findings, judge):
            words, look = ("look closer: ", "yellow") if finding.flagged else ("", "")
            yield Text(terminal_safe(f"  {words}{finding.sentence}"), style=look)
