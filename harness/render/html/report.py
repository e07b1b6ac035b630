"""The page of a run: the answer, the grid, the ablations, failures, cost, and every judgment to look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.content import Library
from harness.decide.verdicts import Verdict
from harness.measure.cells import Cell
from harness.measure.options import of_rule
from harness.measure.outcomes import Outcomes, outcomes
from harness.measure.recorded_run import recording
from harness.render.html.ablations import ablation_figures, difference_grid, dose_grids, preference_grid, row_links
from harness.render.html.answer import JudgedCells, answer_legend, answers_by_language, has_people, judged_of_report
from harness.render.html.browser import BrowserSource, chosen, items_json
from harness.render.html.cell_panels import pictures_of_cases
from harness.render.html.command import command_notes, command_of
from harness.render.html.first_screen import Known, first_screen
from harness.render.html.heat_map import judge_language_map, language_metric_maps
from harness.render.html.marks import LEGEND_MARKS
from harness.render.html.shell import render, shell
from harness.render.html.spending import cost_sentence, cost_table, date_asked, failure_key, failure_table, failures_table, read_record
from harness.render.html.study_screen import study_screen
from harness.render.human_agreement import two_people_sentence
from harness.render.pictured import failure_shares
from harness.render.sealed import reason_without_agreement, sealed_table
from harness.render.terminal import notes, unreviewed_in
from harness.render.verdicts import judged_sides
from harness.reports.answer import judges_in_order
from harness.reports.run_report import Report
from harness.reports.sections.section_registry import SECTIONS
from harness.reports.shown_sections import ShownSection, sections_legend, shown_sections
from harness.runs import RunResult, read_evidence

SCRIPTS = (
    "views.js",
    "tables.js",
    "save_figures.js",
    "item_text.js",
    "pair_texts.js",
    "error_spans.js",
    "items_data.js",
    "items_share.js",
    "items.js",
)
OWN_SECTIONS = frozenset(one.name for one in SECTIONS if one.apart)
_MANY_ROWS = 24  # a longer table is folded away
_FEW_ROWS = 3  # the same of tables that few readers need


def report_page(result: RunResult, report: Report) -> str:
    """One self-contained page of a run and its report. Deterministic, except for the date and the cost, which run.json has."""
    protocol = result.protocol
    source = recording(result.judgments, result.prepared.data, result.prepared.training, report.run)
    judged = outcomes(source, of_rule(protocol.rule.majority, protocol.rule.annotators))
    [kept] = chosen([judged])
    shown = BrowserSource(report.run, judged, kept, read_evidence(result, judged.row[kept]))
    library = result.prepared.library
    data = items_json([shown], text_fields(library), [library], judges_in_order(judged_sides(report.verdicts)))
    unreviewed = {one.language: unreviewed_in(report, one.language) for one in report.summaries}
    parts = judged_parts(judged_of_report(report), [(None, judged)], report.by_metric, report.verdicts, unreviewed)
    sections = shown_sections(report.ablations)
    own, ablations = ([one for one in sections if (one.name in OWN_SECTIONS) is apart] for apart in (True, False))
    path = result.folder / "run.json"
    record = read_record(path.read_bytes()) if path.is_file() else {}
    unreadable = failure_shares(report.failures)
    annotators = result.prepared.data.labels.max_annotators
    two_people = two_people_sentence(report.by_metric)
    known = Known(annotators, date_asked(record), minimal_pair_rows(report.ablations), two_people, report.pages)
    body = render(
        "report.html",
        title=report.title,
        run=report.run,
        judgments=len(judged),
        languages=protocol.texts.languages,
        sections=list(_sections(bool(parts["maps"]), own, bool(ablations))),
        warnings=notes(report),
        **parts,
        first=study_screen(first_screen(report.verdicts, known), report.ablations),
        sealed=reason_without_agreement(report),
        sealed_table=sealed_table(report),
        own_sections=[(section, [], section_tables(section)) for section in own],
        ablations=[(one, difference_grid(one), dose_grids(one), preference_grid(one), section_tables(one)) for one in ablations],
        ablation_legend=sections_legend(ablations),
        few_rows=_FEW_ROWS,
        failures_by_condition=unreadable and failures_table(unreadable),
        failure_key=failure_key(unreadable) if unreadable else [],
        failures=failure_table(result.answers, _counts(result)),
        cost=cost_table(result.answers, record),
        cost_sentence=cost_sentence(record),
        command=command_of(protocol, library.board(protocol.texts.board) if protocol.texts.board else None),
        command_notes=command_notes(protocol),
        signatures=list(report.signatures.items()),
        ci_method=report.ci_method,
        browsed=data,
    )
    return shell(f"{report.title} – {report.run}", body, scripts=SCRIPTS, data={"items-data": data})


def judged_parts(
    judged: Sequence[JudgedCells],
    sources: Sequence[tuple[str | None, Outcomes]],
    cells: Sequence[Cell],
    verdicts: Sequence[Verdict],
    unreviewed: Mapping[str, Sequence[str]] = {},
) -> dict[str, Any]:
    """What the pages of runs and of comparisons have in common: answers language by language, heat maps, and pictures of cases."""
    answers = answers_by_language(judged, unreviewed)
    return {
        "answers": answers,
        "answer_legend": answer_legend(answers),
        "people": any(map(has_people, cells)),
        "marks": LEGEND_MARKS,
        "maps": language_metric_maps(cells, verdicts),
        "matrix": judge_language_map(judged),
        "cases": pictures_of_cases(sources, cells, verdicts),
        "many_rows": _MANY_ROWS,
    }


def section_tables(section: ShownSection) -> list[tuple[Any, ...]]:
    """The tables of a section, each with its figures and links."""
    return list(zip(section.tables, ablation_figures(section), row_links(section), strict=True))


def minimal_pair_rows(sections: Mapping[str, Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The rows of minimal pairs that the first screen draws."""
    rows: Sequence[Mapping[str, Any]] = sections.get("minimal_pairs", {}).get("rows", [])
    return rows


def text_fields(library: Library) -> frozenset[str]:
    """The names of all texts that tasks have."""
    return frozenset(name for task in library.task_files for name in library.task(task).fields)


def _sections(maps: bool, own: Sequence[ShownSection], ablations: bool) -> Iterator[tuple[str, str]]:
    yield "items", "Every judgment"
    yield "answer", "Language by language"
    if maps:
        yield "grid", "Agreement"
    yield from ((section.name, section.title) for section in own)
    if ablations:
        yield "ablations", "What changes the scores"
    yield from (("failures", "Failures"), ("cost", "Cost"), ("again", "Reproduce this page"))


def _counts(result: RunResult) -> dict[tuple[str, str], int]:
    """The number of judgments by judge and language."""
    language = {item.item_id: item.language for item in result.prepared.data.items}
    judged = result.judgments
    return Counter((str(judge), language[item]) for judge, item in zip(judged.judge, judged.item, strict=True))
