"""Reports and comparisons in a notebook: verdicts, tables, notes and signatures as HTML, with all markup escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from harness.decide.verdicts import Verdict
from harness.render.comparison import comparison_table, language_name
from harness.render.sealed import reason_without_agreement, sealed_table
from harness.render.terminal import continuous_table, notes, unreviewed
from harness.render.verdicts import answer_lines, verdict_tables
from harness.reports.comparison import DecidedComparison
from harness.reports.run_report import Report
from harness.reports.tables.text_table import TextTable
from harness.text import terminal_safe


def report_html(report: Report) -> str:
    """A report: its answer, its verdicts, continuous scores, notes and signatures."""
    sections: list[tuple[str, TextTable]] = []
    if report.sealed:
        sections.append((reason_without_agreement(report), sealed_table(report)))
    sections += _verdict_sections(report.verdicts)
    if (continuous := continuous_table(report)) is not None:
        sections.append(("Continuous scores", continuous))
    return _page(report.title, report, sections, [*unreviewed(report), *notes(report)], report.signatures)


def comparison_html(comparison: DecidedComparison) -> str:
    """A comparison: its answer, its verdicts, a table for each language, notes and signature."""
    sections = _verdict_sections(comparison.verdicts)
    for language in dict.fromkeys(cell.key["language"] for cell in comparison.cells):
        cells = [cell for cell in comparison.cells if cell.key["language"] == language]
        sections.append((language_name(language), comparison_table(comparison, cells)))
    return _page("", comparison, sections, comparison.notes, {"": comparison.signature})


def _verdict_sections(verdicts: Sequence[Verdict]) -> list[tuple[str, TextTable]]:
    return [(f"Verdicts{f': {name}' if name else ''}", table) for name, table in verdict_tables(verdicts)]


def _page(
    title: str,
    answered: Report | DecidedComparison,
    sections: Iterable[tuple[str, TextTable]],
    notes: Iterable[str],
    signatures: Mapping[str, str],
) -> str:
    shown = list(sections)
    legend = dict.fromkeys(line for _, table in shown for line in table.legend)
    parts = [f"<p><b>{_text(title)}</b></p>"] if title else []
    parts += [
        f"<p><b>{_text(line)}</b></p>" if style == "title" else f"<p>{_text(line)}</p>"
        for style, line in answer_lines(answered.verdicts, answered.pages)
    ]
    for heading, table in shown:
        parts += [f"<p><b>{_text(heading)}</b></p>", *_table(table)]
    lines = [*legend, *notes, *(f"Signature{f' of {judge}' if judge else ''}: {text}" for judge, text in signatures.items())]
    about = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return "".join(("<div>", *parts, f"<details><summary>Notes and signatures</summary><ul>{about}</ul></details></div>"))


def _table(table: TextTable) -> Iterator[str]:
    sides = ["right" if heading.number else "left" for heading in table.headings]
    yield "<table><thead><tr>"
    yield from (
        f'<th scope="col" style="text-align:{side}">{_text(heading.text)}</th>' for heading, side in zip(table.headings, sides, strict=True)
    )
    yield "</tr></thead><tbody>"
    for row in table.rows:
        cells = (f'<td style="text-align:{side}">{_text(cell)}</td>' for cell, side in zip(row, sides, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


def _text(text: str) -> str:
    """A text from anywhere: escaped, without control characters, in a direction of its own."""
    return f'<bdi dir="auto">{escape(terminal_safe(text))}</bdi>'
