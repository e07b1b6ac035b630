"""Markdown of reports, comparisons and standings, and the card of a data set for a hub."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import langcodes
import msgspec

from harness.boards.probes import Finding
from harness.boards.standings import Standings
from harness.content.tags import both_names
from harness.data.dataset import Dataset
from harness.decide.verdicts import Verdict
from harness.exchange.scores.exports import HubTable, split_name
from harness.measure.options import POOLED
from harness.model import BY_PEOPLE
from harness.render.comparison import language_name, language_tables
from harness.render.standings import groups_in_words, heading, overall_table, ranking_table, standings_notes, table_title, verdict_table
from harness.render.terminal import agreement_sentence, belongs, condition_of, notes, reason_without_agreement, sealed_table, unreviewed_in
from harness.render.verdict_text import answer_lines, verdict_tables
from harness.reports.answer.next_steps import LabelPages
from harness.reports.board_answer import board_answer, board_facts, probes_in_short
from harness.reports.comparison import DecidedComparison
from harness.reports.run_report import Report
from harness.reports.sections.section_registry import ShownSection, sections_legend, shown_sections
from harness.reports.tables.columns import TableName, columns_in
from harness.reports.tables.numbers import coefficient, counted, percent
from harness.reports.tables.text_table import Heading, TextTable, cell_row, tabulate
from harness.row_files import escape_controls
from harness.text import terminal_safe

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_SOURCES = {
    "native": "people",
    "people": "people; whether they are native speakers is not stated",
    "constructed": "nobody: they were constructed with the texts, and no person gave them",
    "model": "a model, not people",
}
_ANNOTATORS = {
    "persistent": "An `annotator_id` is one person throughout.",
    "positional": "An `annotator_id` is a place in a list; different people may stand behind it.",
    "anonymous": "An `annotator_id` says nothing about who labelled.",
    "aggregate": "A label is an aggregate of several people.",
}
_OPEN = "**Not stated in the data. Write it here before you publish.**"


def hub_card(
    data: Dataset,
    tables: Sequence[HubTable],
    agreement: Sequence[Mapping[str, Any]],
    signatures: Mapping[str, str],
    licence: str,
    notes: Sequence[str],
) -> str:
    """Return the text of `README.md` for the published tables of a data set.

    `agreement` has the cells of a label check, `signatures` those of the judges that are known, `licence` is as the hub names it; all may
    be empty. `notes` are what readers must know of texts and labels.
    """
    title = data.about.title or data.id
    sections = (
        _contents(data, tables),
        ("## What to know", "", *(f"- {escape(note)}" for note in notes), "") if notes else (),
        _scales(data, tables),
        _people(data, tables),
        _agreement(agreement) if agreement and data.about.source in BY_PEOPLE else (),
        _judges(tables, signatures),
        _rights(data, licence),
        ("## Use", "", "```python", "from datasets import load_dataset", ""),
        (f'{tables[-1].name} = load_dataset("OWNER/NAME", "{tables[-1].name}", split="{split_name(data)}")',),
        ("```", "", "The files are also a data folder of judge-harness: `harness compare` reads a downloaded copy."),
    )
    lines = [*_front_matter(data, tables, title, licence), "", f"# {escape(title)}", ""]
    return "\n".join([*lines, *(line for section in sections for line in section)]).rstrip("\n") + "\n"


def _front_matter(data: Dataset, tables: Sequence[HubTable], title: str, licence: str) -> Iterator[str]:
    """YAML; every text that comes from the data is JSON, which is YAML too."""
    languages = sorted({item.language for item in data.items})
    people = data.about.source in BY_PEOPLE and len(tables) > 1 and tables[1].name == "labels"
    size = next((name for limit, name in _SIZES if len(data.items) < limit), "n>1M")
    tags = ["llm-as-a-judge", *(["human-annotations"] if people else [])]
    fields: dict[str, Any] = {
        "pretty_name": title,
        "language": sorted({langcodes.get(tag).language for tag in languages}),
        **({"language_bcp47": languages} if any("-" in tag for tag in languages) else {}),
        **({"license": licence} if licence else {}),
        **({} if people else {"annotations_creators": ["machine-generated"]}),
        "multilinguality": ["multilingual" if len(languages) > 1 else "monolingual"],
        "size_categories": [size],
        "task_categories": ["text-classification"],
        "tags": tags,
    }
    split = split_name(data)
    yield "---"
    for name, value in fields.items():
        text = escape_controls(msgspec.json.encode(value).decode()).replace("<", "\\u003c")
        yield f"{name}: {text}"
    yield "configs:"
    for table in tables:
        yield from (f"- config_name: {table.name}", "  data_files:", f"  - split: {split}", f"    path: {table.file}")
    yield "---"


def _contents(data: Dataset, tables: Sequence[HubTable]) -> Iterator[str]:
    yield from ("## What is in it", "")
    described = {"items": "the texts that were judged", "labels": "one row a label", "judgments": "one row a judge's score"}
    headings = (Heading("config", "config"), Heading("rows", "rows", number=True), Heading("holds", "holds"))
    rows = tuple((table.name, counted(len(table.rows)), described[table.name]) for table in tables)
    yield from (*markdown_table(TextTable(headings, rows)), "")
    by_language = Counter(item.language for item in data.items)
    yield from (f"- {escape(both_names(tag))}: {counted(count, 'item')}" for tag, count in sorted(by_language.items()))
    yield from ("", "`item_id` joins the tables. Labels and scores are never aggregated here.", "")


def _scales(data: Dataset, tables: Sequence[HubTable]) -> Iterator[str]:
    used = sorted({row["metric"] for table in tables[1:] for row in table.rows})
    yield from ("## Scales", "")
    headings = tuple(Heading(name, name) for name in ("metric", "kind", "scores", "best"))
    rows = []
    for name in used:
        scale = data.scales[name]
        best = "none" if scale.best is None else f"{scale.best:g}" if isinstance(scale.best, float) else str(scale.best)
        rows.append((name, scale.kind, scale.describe(), best))
    yield from (*markdown_table(TextTable(headings, tuple(rows))), "")


def _people(data: Dataset, tables: Sequence[HubTable]) -> Iterator[str]:
    yield from ("## Who labelled", "")
    if not len(data.labels):
        yield from ("There are no labels.", "")
        return
    labels, ids = counted(len(data.labels), "label"), counted(len(set(data.labels.annotator)), "annotator id")
    yield f"{labels} with {ids}. The labels come from {_SOURCES[data.about.source]}."
    if data.about.source not in BY_PEOPLE:
        yield ""
        return
    yield f"{_ANNOTATORS[data.about.annotators]} Items were drawn: {data.about.sampling}."
    if any(value is False for value in data.labels.blind):
        yield "Some labels were given in sight of a judge's score (`blind` is false): agreement with them is too high."
    yield from ("", f"How people were chosen, instructed and paid: {_OPEN}", "")


def _agreement(cells: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from ("## How far people agree", "")
    keys, numbers = ("language", "task", "metric"), ("labelled items", "labels", "agreement", "alpha")
    headings = tuple(Heading(name, name, number=name in numbers) for name in (*keys, *numbers))
    rows = []
    for cell in cells:
        scale = "nominal" if cell.get("human_alpha_ordinal") is None else "ordinal"
        shares = percent(cell.get("human_pa"), cell.get("human_pa_ci"))
        alpha = coefficient(cell.get(f"human_alpha_{scale}"), cell.get(f"human_alpha_{scale}_ci"))
        rows.append((*(str(cell[name]) for name in keys), counted(cell["labelled"]), counted(cell["labels"]), shares, alpha))
    yield from (*markdown_table(TextTable(headings, tuple(rows))), "")
    yield "agreement: mean share of pairs of people who gave one item the same label, with its 95 % interval. alpha: Krippendorff's,"
    yield from ("ordinal where the scores have an order. A dash stands where too few people labelled the same items.", "")


def _judges(tables: Sequence[HubTable], signatures: Mapping[str, str]) -> Iterator[str]:
    judgments = next((table for table in tables if table.name == "judgments"), None)
    if judgments is None:
        return
    yield from ("## Judges", "")
    counts = Counter(str(row["judge"]) for row in judgments.rows)
    failed = Counter(str(row["judge"]) for row in judgments.rows if row.get("score") is None)
    for judge, count in sorted(counts.items()):
        without = f", {counted(failed[judge])} of them without a score (`failure` says why)" if failed[judge] else ""
        yield f"- {escape(judge)}: {counted(count, 'row')}{without}"
        if signature := signatures.get(judge):
            yield f"  Signature: {escape(signature)}"
    yield ""


def _rights(data: Dataset, licence: str) -> Iterator[str]:
    yield from ("## Licence and personal data", "")
    yield f"Licence: {escape(licence)}" if licence else f"Licence: {_OPEN}"
    if data.about.licence:
        yield f"The data folder says of its labels: {escape(data.about.licence)}"
    yield f"Licence of the texts, if it is another one: {_OPEN}"
    yield from ("", "`annotator_id` stands as in the data folder. Check that no id and no text names a person.", "")
    if data.about.citation:
        yield from (f"Citation: {escape(data.about.citation)}", "")


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
        lines += [f"## {both_names(language)}", ""]
        for line in unreviewed_in(report, language):
            lines += [line, ""]
        for summary in report.summaries:
            if summary.language == language:
                condition = f" ({condition_of(summary)})" if len(report.summaries) > 1 else ""
                lines += [f"- {escape(verdict.words.sentence)}" for verdict in report.verdicts if belongs(verdict, summary)]
                lines += ["", escape(agreement_sentence(summary) + condition), ""]
                rows = [cell_row(cell) for cell in (*report.by_metric, *report.cells) if belongs(cell, summary)]
                table = tabulate(rows, columns_in(*_REPORT), ("metric", "task"))
                legend |= dict.fromkeys(table.legend)
                lines += [*markdown_table(table), ""]
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
        lines += [f"## {escape(both_names(tag))}", ""]
        rankings = [ranking for ranking in standings.tables if ranking.language == tag]
        lines += [] if rankings else ["No numbers.", ""]
        for ranking in rankings:
            title = escape(table_title(standings, ranking))
            tables.append(ranking_table(standings, ranking))
            lines += [f"{title}." if ranking.metric == POOLED else f"### {title}", ""]
            lines += [*markdown_table(tables[-1]), "", escape(groups_in_words(ranking)), ""]
    if findings:
        lines += ["## Probes", "", *(f"- {escape(line)}" for line in probes_in_short(standings, findings)), ""]
    lines += ["## Notes", "", *(f"- {escape(note)}" for note in standings_notes(standings, tables))]
    return "\n".join(lines) + "\n"
