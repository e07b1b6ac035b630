"""Reports and comparisons in a notebook: verdicts, tables, notes and signatures as HTML, with all markup escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from types import MappingProxyType

from harness.decide.verdicts import Verdict
from harness.render.comparison import language_name, language_tables
from harness.render.sealed import reason_without_agreement, sealed_table
from harness.render.terminal import continuous_table, notes, unreviewed
from harness.render.verdicts import answer_lines, judged_sides, screen_tables, verdict_tables
from harness.reports.answer_parts import SIGNS
from harness.reports.comparison import DecidedComparison
from harness.reports.run_report import Report
from harness.reports.tables.text_table import TextTable
from harness.text import terminal_safe

_SHADES: dict[str, str] = {
    "good": "background:rgba(0,98,168,.2)",
    "bad": "background:rgba(168,92,0,.22)",
    "open": "background:rgba(128,128,128,.12)",
}
"""Colours of verdicts on a light ground and on a dark one: those of the pages, see-through."""
_OF_WORDS = {"use": "good", "passes the controls": "good", "do not use": "bad", "fails the controls": "bad"}


def report_html(report: Report) -> str:
    """A report: its answer, its verdicts, continuous scores, notes and signatures."""
    sections = [(reason_without_agreement(report), sealed_table(report))] if report.sealed else []
    sections += _verdict_sections(report.verdicts)
    if (continuous := continuous_table(report)) is not None:
        sections.append(("Continuous scores", continuous))
    return _page(report.title, report, sections, [*unreviewed(report), *notes(report)], report.signatures)


def comparison_html(comparison: DecidedComparison) -> str:
    """A comparison: its answer with coloured cells; folded below it all verdicts, a table for each language, notes and signature."""
    sections = _verdict_sections(comparison.verdicts)
    sections += [(language_name(language), table) for language, table in language_tables(comparison)]
    return _page("", comparison, sections, comparison.notes, {"": comparison.signature})


def _verdict_sections(verdicts: Sequence[Verdict]) -> list[tuple[str, TextTable]]:
    return [(f"Verdicts{f': {name}' if name else ''}", table) for name, table in verdict_tables(verdicts)]


def _page(
    title: str,
    answered: Report | DecidedComparison,
    sections: Sequence[tuple[str, TextTable]],
    notes: Iterable[str],
    signatures: Mapping[str, str],
) -> str:
    answer = list(screen_tables(answered.verdicts)) if judged_sides(answered.verdicts) else []
    legend = dict.fromkeys(line for _, table in sections for line in table.legend)
    parts = [f"<p><b>{_text(title)}</b></p>"] if title else []
    for line in answer_lines(answered.verdicts, answered.pages):
        shade = f' style="{_SHADES[line.style]};padding:.2em .6em"' if line.style in _SHADES else ""
        parts.append(f"<p><b>{_text(line.whole)}</b></p>" if line.style == "title" else f"<p{shade}>{_text(line.whole)}</p>")
    for shown in answer:
        key = (*([shown.below] if shown.below else []), *shown.table.signs)
        parts += [*_table(shown.table, shown.headings), *(f"<p><small>{_text(line)}</small></p>" for line in key)]
    tables = [part for heading, table in sections for part in (f"<p><b>{_text(heading)}</b></p>", *_table(table))]
    parts += [f"<details><summary>All numbers</summary>{''.join(tables)}</details>"] if answer else tables
    lines = [*legend, *notes, *(f"Signature{f' of {judge}' if judge else ''}: {text}" for judge, text in signatures.items())]
    about = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return "".join(("<div>", *parts, f"<details><summary>Notes and signatures</summary><ul>{about}</ul></details></div>"))


def _table(table: TextTable, groups: Mapping[int, str] = MappingProxyType({})) -> Iterator[str]:
    """A table; `groups` are headings that stand above rows, by the number of the row. Cells of a verdict are coloured by it."""
    sides = ["right" if heading.number else "left" for heading in table.headings]
    yield "<table><thead><tr>"
    yield from (
        f'<th scope="col" style="text-align:{side}">{_text(heading.text)}</th>' for heading, side in zip(table.headings, sides, strict=True)
    )
    yield "</tr></thead><tbody>"
    for number, row in enumerate(table.rows):
        if number in groups:
            yield f'<tr><th colspan="{len(row)}" style="text-align:left">{_text(groups[number])}</th></tr>'
        cells = (f'<td style="text-align:{side}{_shade(cell)}">{_text(cell)}</td>' for cell, side in zip(row, sides, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def _shade(cell: str) -> str:
    """The colour of a cell that is a verdict, for its style attribute: blue for a judge, brown against it; signs and words say the same."""
    found = [style for style in _SHADES if SIGNS[style] in cell or _OF_WORDS.get(cell) == style]
    return f";{_SHADES[found[0]]}" if len(found) == 1 else ""


def _text(text: str) -> str:
    """A text from anywhere: escaped, without control characters, in a direction of its own."""
    return f'<bdi dir="auto">{escape(terminal_safe(text))}</bdi>'
