"""Reports, comparisons and standings as Markdown: nothing that comes from elsewhere is markup in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from harness.boards.board_standings import Standings
from harness.boards.probes import Finding
from harness.content.tags import both_names
from harness.decide.verdicts import Verdict
from harness.measure.options import POOLED
from harness.render.board_answer import board_answer, board_facts, probes_in_short
from harness.render.comparison import language_name, language_tables
from harness.render.standings import groups_in_words, heading, overall_table, ranking_table, standings_notes, table_title, verdict_table
from harness.render.terminal import agreement_sentence, belongs, condition_of, notes, reason_without_agreement, sealed_table, unreviewed_in
from harness.render.verdicts import answer_lines, verdict_tables
from harness.reports.answer.steps import LabelPages
from harness.reports.comparison import DecidedComparison
from harness.reports.run_report import Report
from harness.reports.shown_sections import ShownSection, sections_legend, shown_sections
from harness.reports.tables.column import TableName
from harness.reports.tables.columns import columns_in
from harness.reports.tables.text_table import TextTable, cell_row, tabulate
from harness.text import terminal_safe

_SPECIAL = re.compile(r"[\\`*_\[\]<>|~$&#!]|^[+=-]|^\d+(?=[.)])")
_LINKS = (("://", "&#58;//"), ("www.", "www&#46;"), ("@", "&#64;"), ("mailto:", "mailto&#58;"), ("xmpp:", "xmpp&#58;"))
_WIDE = 200  # characters of a table that no terminal cuts
_REPORT = (TableName.REPORT, TableName.REPORT_WIDE)


def escape(text: str) -> str:
    """Text that Markdown shows as it is: on one line, without control characters, with nothing that is markup, a link or a mention.

    >>> escape("a|b <b> [x](javascript:y) http://z")
    'a\\\\|b \\\\<b\\\\> \\\\[x\\\\](javascript:y) http&#58;//z'
    """
    text = _SPECIAL.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", " ".join(terminal_safe(text).split()))
    for sign, entity in _LINKS:
        text = text.replace(sign, entity)
    return text


def markdown_table(table: TextTable) -> Iterator[str]:
    """Yield the lines of a table; the columns of numbers are set to the right."""
    yield _row(heading.text for heading in table.headings)
    yield "| " + " | ".join("---:" if heading.number else "---" for heading in table.headings) + " |"
    yield from (_row(row) for row in table.rows)


def _row(texts: Iterable[str]) -> str:
    return "| " + " | ".join(map(escape, texts)) + " |"


def report_markdown(report: Report) -> str:
    """Return the report: for each language the verdicts in words and its table, then the ablations, the legend, notes and signatures."""
    lines = [f"# {escape(report.title)}", "", f"Run {escape(report.run)}.", "", *_answer(report.verdicts, report.pages)]
    legend: dict[str, None] = {}
    for language in dict.fromkeys(summary.language for summary in report.summaries):
        lines += _language(report, language, legend)
    ablations = shown_sections(report.ablations)
    lines += _section_lines(ablations)
    if report.sealed:
        table = sealed_table(report)
        legend |= dict.fromkeys(table.legend)
        lines += [escape(reason_without_agreement(report)), "", *markdown_table(table), ""]
    every_line = dict.fromkeys((*legend, *sections_legend(ablations), *notes(report)))
    lines += ["## Notes", "", *(f"- {escape(line)}" for line in every_line), ""]
    for judge, signature in report.signatures.items():
        lines += [f"Signature of {escape(judge)}:", "", f"    {' '.join(terminal_safe(signature).split())}", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _answer(verdicts: Sequence[Verdict], pages: LabelPages) -> Iterator[str]:
    """Yield what the verdicts say, above everything else."""
    for line in answer_lines(verdicts, pages):
        yield from (f"**{escape(line.full_text)}**", "") if line.style == "title" else (f"- {escape(line.full_text)}",)
    yield ""


def _section_lines(sections: Sequence[ShownSection]) -> Iterator[str]:
    for section in sections:
        yield from (f"## {escape(section.title)}", "", escape(section.text), "")
        for table in section.tables:
            yield from (line for text in (table.shared, table.no_result) if text for line in (escape(text), ""))
            yield from (*markdown_table(table), "")


def comparison_markdown(comparison: DecidedComparison) -> str:
    """Return a comparison: for each language its table of cells, then verdicts, the sections, the legend, notes and the signature."""
    lines, legend = ["# Judges beside labels", "", *_answer(comparison.verdicts, comparison.pages)], dict[str, None]()
    for language, table in language_tables(comparison):
        lines += [f"## {language_name(language)}", "", *markdown_table(table), ""]
        legend |= dict.fromkeys(table.legend)
    for name, table in verdict_tables(comparison.verdicts, _WIDE):
        lines += [f"## Verdicts{f': {escape(name)}' if name else ''}", "", *markdown_table(table), ""]
        legend |= dict.fromkeys(table.legend)
    sections = shown_sections(comparison.sections)
    lines += _section_lines(sections)
    every_line = dict.fromkeys((*legend, *sections_legend(sections), *comparison.notes))
    lines += ["## Notes", "", *(f"- {escape(line)}" for line in every_line), ""]
    lines += ["Signature:", "", f"    {' '.join(terminal_safe(comparison.signature).split())}"]
    return "\n".join(lines) + "\n"


def _language(report: Report, language: str, legend: dict[str, None]) -> Iterator[str]:
    """One language; adds what its headings mean to the legend."""
    yield from (f"## {both_names(language)}", "")
    for line in unreviewed_in(report, language):
        yield from (line, "")
    for summary in report.summaries:
        if summary.language == language:
            condition = f" ({condition_of(summary)})" if len(report.summaries) > 1 else ""
            verdicts = [f"- {escape(verdict.words.sentence)}" for verdict in report.verdicts if belongs(verdict, summary)]
            yield from (*verdicts, "", escape(agreement_sentence(summary) + condition), "")
            rows = [cell_row(cell) for cell in (*report.by_metric, *report.cells) if belongs(cell, summary)]
            table = tabulate(rows, columns_in(*_REPORT), ("metric", "task"))
            legend |= dict.fromkeys(table.legend)
            yield from (*markdown_table(table), "")


GENERATED = "<!-- Generated by 'harness board build' from the submissions; edits are overwritten. -->"


def standings_markdown(standings: Standings, findings: Sequence[Finding] = ()) -> str:
    """Return the whole file; equal standings and findings give equal bytes."""
    lines = [GENERATED, "", f"# {escape(heading(standings))}", ""]
    lines += [f"Board {escape(standings.board)}. {escape(standings.description)}", ""]
    if not standings.judges:
        return "\n".join([*lines, "No submissions yet."]) + "\n"
    answer = board_answer(standings)
    lines += [f"**{escape(line)}**" for line in (answer.title, *(sentence for _, sentence in answer.sentences)) if line]
    lines += ["", f"{escape(board_facts(standings))}.", ""]
    tables: list[TextTable] = []
    if verdicts := verdict_table(standings):
        tables.append(verdicts)
        lines += ["## Verdicts", "", *markdown_table(verdicts), ""]
    for variant in standings.variants:
        tables.append(overall_table(standings, variant))
        title = f"## All languages{f': {escape(variant)}' if len(standings.variants) > 1 else ''}"
        lines += [title, "", *markdown_table(tables[-1]), ""]
    for tag in standings.languages:
        lines += _board_language(standings, tag, tables)
    if findings:
        lines += ["## Probes", "", *(f"- {escape(line)}" for line in probes_in_short(standings, findings)), ""]
    lines += ["## Notes", "", *(f"- {escape(note)}" for note in standings_notes(standings, tables))]
    return "\n".join(lines) + "\n"


def _board_language(standings: Standings, tag: str, tables: list[TextTable]) -> Iterator[str]:
    """Yield the tables of one language; adds them to those shown."""
    yield from (f"## {escape(both_names(tag))}", "")
    rankings = [ranking for ranking in standings.tables if ranking.language == tag]
    if not rankings:
        yield from ("No numbers.", "")
    for ranking in rankings:
        title = escape(table_title(standings, ranking))
        yield from (f"{title}." if ranking.metric == POOLED else f"### {title}", "")
        tables.append(ranking_table(standings, ranking))
        yield from (*markdown_table(tables[-1]), "", escape(groups_in_words(ranking)), "")
