"""The page of a run: the answer, the grid, the ablations, failures, cost, and every judgment to look at."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import msgspec
from markupsafe import Markup

from harness.content import Board, Library
from harness.decide.verdicts import Verdict
from harness.judges import opening_name
from harness.measure.cells import Cell
from harness.measure.compare import table_of_all
from harness.measure.judged_table import JudgedTable
from harness.measure.options import of_rule
from harness.measure.recordings import recording
from harness.model import SAMPLING, Failure
from harness.published.listing import statement_of
from harness.render.html.ablations import ablation_figures, difference_grid, dose_grids, preference_grid, row_links
from harness.render.html.answer import (
    DrawnTable,
    FigureColumn,
    JudgedCells,
    answer_legend,
    answers_by_language,
    has_people,
    judged_of_report,
)
from harness.render.html.browser import BrowserSource, chosen, items_json
from harness.render.html.first_screen import Known, first_screen, study_screen
from harness.render.html.marks import LEGEND_MARKS, svg
from harness.render.html.pictures import judge_language_map, language_metric_maps, pictures_of_cases, reliability_figures
from harness.render.html.shell import grouped_digits, render, shell
from harness.render.pictured import ConditionFailures, FailureShares, failure_shares, kind_number, kind_words
from harness.render.runs import cost_sentences
from harness.render.terminal import notes, reason_without_agreement, sealed_table, unreviewed_in
from harness.render.verdict_text import two_people_sentence
from harness.reports.answer.judged_sides import judged_sides
from harness.reports.answer.matrix import judges_in_order
from harness.reports.run_report import Report
from harness.reports.sections.section_registry import ShownSection, all_sections, sections_legend, shown_sections
from harness.reports.tables.numbers import UNDEFINED, counted, percent
from harness.reports.tables.text_table import Heading, TextTable
from harness.runs import DEFAULT_BOARD, RunAnswers, RunCosts, RunProtocol, RunResult, date_asked, read_evidence, run_costs

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
_MANY_ROWS = 24  # a longer table is folded away
_FEW_ROWS = 3  # the same of tables that few readers need


def report_page(result: RunResult, report: Report, wage: float | None = None) -> str:
    """One self-contained page of a run and its report. Deterministic, except for the date and the cost, which run.json has.

    `wage` is what people earn in an hour: the page then says what their labels cost beside the calls. Raises as `run_costs`.
    """
    protocol = result.protocol
    source = recording(result.judgments, result.prepared.data, result.prepared.training, report.run)
    judged = table_of_all(source, of_rule(protocol.rule.majority, protocol.rule.annotators))
    [selected] = chosen([judged])
    browsed = BrowserSource(report.run, judged, selected, read_evidence(result, judged.row[selected]))
    library = result.prepared.library
    data = items_json([browsed], text_fields(library), [library], judges_in_order(judged_sides(report.verdicts)))
    unreviewed = {row.language: unreviewed_in(report, row.language) for row in report.summaries}
    parts = judged_parts(judged_of_report(report), [(None, judged)], report.by_metric, report.verdicts, unreviewed)
    sections = shown_sections(report.ablations)
    standalone = {section.name for section in all_sections() if section.standalone}
    study_sections, ablations = ([row for row in sections if (row.name in standalone) is is_study] for is_study in (True, False))
    path = result.folder / "run.json"
    record = read_record(path.read_bytes()) if path.is_file() else {}
    costs = run_costs(result, wage)
    about = result.prepared.data.about
    statements = [(about.id, lines)] if (lines := statement_of(about)) else []
    unreadable = failure_shares(report.failures)
    annotators = result.prepared.data.labels.max_annotators
    two_people = two_people_sentence(report.by_metric)
    language_of = {item.item_id: item.language for item in result.prepared.data.items}
    answered = zip(result.judgments.judge, result.judgments.item, strict=True)
    judgment_counts = Counter((str(judge), language_of[item]) for judge, item in answered)
    facts = Known(annotators, date_asked(record), minimal_pair_rows(report.ablations), two_people, report.pages)
    first = study_screen(first_screen(report.verdicts, facts), report.ablations)
    body = render(
        "report.html",
        title=report.title,
        run=report.run,
        judgments=len(judged),
        languages=protocol.texts.languages,
        sections=list(_sections(bool(parts["maps"]), study_sections, bool(ablations), bool(statements))),
        warnings=notes(report),
        **parts,
        first=first,
        sealed=reason_without_agreement(report),
        sealed_table=sealed_table(report),
        own_sections=[(section, [], section_tables(section), reliability_figures(section)) for section in study_sections],
        ablations=[(row, difference_grid(row), dose_grids(row), preference_grid(row), section_tables(row)) for row in ablations],
        ablation_legend=sections_legend(ablations),
        few_rows=_FEW_ROWS,
        failures_by_condition=unreadable and failures_table(unreadable),
        failure_key=failure_key(unreadable) if unreadable else [],
        failures=failure_table(result.answers, judgment_counts),
        cost=cost_table(result.answers, costs),
        cost_sentences=list(cost_sentences(costs)),
        statements=statements,
        command=command_of(protocol, library.board(protocol.texts.board) if protocol.texts.board else None),
        command_notes=command_notes(protocol),
        signatures=list(report.signatures.items()),
        ci_method=report.ci_method,
        browsed=data,
    )
    page_title = f"{report.title}: {first.title}" if first else f"{report.title} – {report.run}"
    return shell(page_title, body, scripts=SCRIPTS, data={"items-data": data})


def judged_parts(
    judged: Sequence[JudgedCells],
    sources: Sequence[tuple[str | None, JudgedTable]],
    cells: Sequence[Cell],
    verdicts: Sequence[Verdict],
    unreviewed: Mapping[str, Sequence[str]] = {},
) -> dict[str, Any]:
    """Return what the pages of runs and of comparisons have in common: answers language by language, heat maps, and pictures of cases."""
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
    """Return the tables of a section, each with its figures and links."""
    return list(zip(section.tables, ablation_figures(section), row_links(section), strict=True))


def minimal_pair_rows(sections: Mapping[str, Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the rows of minimal pairs that the first screen draws."""
    rows: Sequence[Mapping[str, Any]] = sections.get("minimal_pairs", {}).get("rows", [])
    return rows


def text_fields(library: Library) -> frozenset[str]:
    """Return the names of all texts that tasks have."""
    return frozenset(name for task in library.task_files for name in library.task(task).fields)


def _sections(maps: bool, study_sections: Sequence[ShownSection], ablations: bool, stated: bool) -> Iterator[tuple[str, str]]:
    yield "items", "Every judgment"
    yield "answer", "Language by language"
    if maps:
        yield "grid", "Agreement"
    yield from ((section.name, section.title) for section in study_sections)
    if ablations:
        yield "ablations", "What changes the scores"
    yield from (("failures", "Failures"), ("cost", "Cost"))
    if stated:
        yield "people", "Who labelled"
    yield "about", "About these data"
    yield "again", "Reproduce this page"


def command_of(protocol: RunProtocol, board: Board | None = None) -> str:
    """`harness run …` with the same specification, which is the same run. Folders have no path; keys and ports are left out.

    `board` is the board of the protocol; flags that repeat it are left out.
    """
    return " ".join(map(shlex.quote, ("harness", "run", *_flags(protocol, board))))


def command_notes(protocol: RunProtocol) -> list[str]:
    """Return what a reader has to add to the command."""
    notes = []
    if protocol.texts.data or protocol.texts.content:
        notes.append("Folders are given by name only. Add their paths on your machine.")
    if protocol.judges.panels:
        notes.append("Files of panels are given by name only. Add their paths on your machine.")
    hosts = sorted({str(i.settings["endpoint"]) for i in protocol.judges.identities if "endpoint" in i.settings})
    if hosts:
        notes.append(f"Calls went to {', '.join(hosts)}. Give the address with --base-url.")
    return notes


def _flags(p: RunProtocol, board: Board | None) -> Iterator[str]:
    if p.texts.data:
        yield from ("--data", PurePath(p.texts.data).name)
    elif p.texts.board and p.texts.board != DEFAULT_BOARD:
        yield from ("--board", p.texts.board)
    for folder in p.texts.content:
        yield from ("--content", PurePath(folder).name)
    yield from ("--langs", ",".join(p.texts.languages))
    if board is None or tuple(p.wording.tasks) != tuple(board.tasks):
        yield from ("--tasks", ",".join(p.wording.tasks))
    if board is None or p.questions.metrics != tuple(board.rubrics):
        yield from ("--metrics", ",".join(p.questions.metrics))
    for identity in p.judges.identities:
        yield from ("--judge", opening_name(identity))
    for panel in p.judges.panels:
        yield from ("--judge", f"{panel}.toml")
    for variant in dict.fromkeys(condition.variant for condition in p.questions.conditions):
        name = variant.prompt.partition("@")[0]
        yield from ("--prompt", f"{name}.toml") if name else ("--variant", str(variant))
    for name in SAMPLING:
        if values := [v for v in dict.fromkeys(getattr(condition, name) for condition in p.questions.conditions) if v is not None]:
            yield from (f"--{name.replace('_', '-')}", ",".join(f"{v:g}" for v in values))
    for change in dict.fromkeys(condition.perturbation for condition in p.questions.conditions if condition.perturbation):
        yield from ("--perturb", change)
    orders = {condition.order for condition in p.questions.conditions}
    if orders != {"forward"} or p.texts.study:  # a study may ask in both orders
        yield from ("--order", "both" if len(orders) > 1 else orders.pop())
    if shown_sources := [
        source for source in dict.fromkeys(condition.shown_source for condition in p.questions.conditions) if source != "none"
    ]:
        yield from ("--shown-source", ",".join(shown_sources))
    yield from ("--repeats", str(p.questions.repeats), "--seed", str(p.questions.seed))
    if p.rule.majority != (board.majority if board else "drop"):
        yield from ("--majority", p.rule.majority)
    if p.texts.limit is not None:
        yield from ("--limit", str(p.texts.limit))
    if p.texts.unlabelled:
        yield "--unlabelled"
    if p.texts.study:
        yield from ("--study", p.texts.study)
    for flag, systems in (("--is", p.judges.own_systems), ("--tuned", p.judges.tuned)):
        for judge, other in systems.items():
            yield from (flag, f"{judge}={other}")
    if p.questions.reask:
        yield from ("--reask", "refused")
    if p.wording.instructions:
        yield "--allow-unreviewed"


def _count_table(keys: Sequence[str], numbers: Sequence[str], rows: Sequence[Sequence[str]]) -> TextTable:
    """Rows whose first columns are keys and whose others are numbers."""
    headings = (*(Heading(name, name, key=True) for name in keys), *(Heading(name, name, number=True) for name in numbers))
    return TextTable(headings, tuple(map(tuple, rows)))


def failure_table(answers: RunAnswers, judged: Mapping[tuple[str, str], int]) -> TextTable:
    """Failures by judge and language; `judged` counts the judgments of each, whether or not they could be read."""
    kinds = [str(kind) for kind in Failure if any(str(kind) in spent.failures for by in answers.spent.values() for spent in by.values())]
    rows = []
    for judge, by in answers.spent.items():
        for language, spent in by.items():
            judgments = judged.get((judge, language), 0)
            failed = sum(spent.failures.values())
            share = percent(failed / judgments) if judgments else UNDEFINED
            counts = (grouped_digits(spent.failures.get(kind, 0)) for kind in kinds)
            rows.append([judge, language, grouped_digits(judgments), grouped_digits(failed), share, *counts])
        if missing := answers.missing.get(judge):
            rows.append([judge, "calls without an answer", grouped_digits(missing), "", "", *("" for _ in kinds)])
        if reasoning := answers.reasoning.get(judge):
            rows.append([judge, "replies with reasoning (not read)", grouped_digits(reasoning["replies"]), "", "", *("" for _ in kinds)])
    return _count_table(("judge", "language"), ("judgments", "unreadable", "share", *(kind.replace("_", " ") for kind in kinds)), rows)


def cost_table(answers: RunAnswers, costs: RunCosts) -> TextTable:
    """Calls, tokens, seconds and dollars by judge and language. The dollars come from run.json, which has the prices."""
    rows = []
    for cost in costs.judges:
        spent = answers.spent[cost.judge][cost.language]
        usage = spent.usage
        tokens = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.reasoning_tokens)
        seconds = f"{1000 * spent.seconds / spent.calls:.1f}" if spent.calls else "–"
        rate = "–" if cost.tokens_per_character is None else f"{cost.tokens_per_character:.2f}"
        money = ["unknown" if amount is None else f"{amount:.4f}" for amount in (cost.dollars, cost.per_thousand)]
        numbers = [*map(grouped_digits, (spent.calls, *tokens)), rate, f"{spent.seconds:.1f}", seconds, *money]
        rows.append([cost.judge, cost.language, *numbers])
    counts = ("calls", "prompt tokens", "of them cached", "answer tokens", "of them reasoning", "tokens per character of the texts")
    money_headings = ("seconds", "seconds per 1,000", "US dollars", "US dollars per 1,000 texts")
    return _count_table(("judge", "language"), (*counts, *money_headings), rows)


def read_record(data: bytes) -> dict[str, Any]:
    """Return a run's run.json, or nothing where it cannot be read: it is a derived file."""
    try:
        record = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def failures_table(failures: FailureShares) -> DrawnTable:
    """Return a row for each judge and condition, from the plainest on."""
    rows = []
    for condition in failures.conditions:
        counts = (counted(condition.counts[kind]) for kind in failures.kinds)
        rows.append((condition.name, counted(condition.judgments), percent(condition.unreadable), *counts))
    table = _count_table(("judge and condition",), ("judgments", "unreadable", *map(kind_words, failures.kinds)), rows)
    figures = tuple(_bar(condition, failures.reach) for condition in failures.conditions)
    drawn = FigureColumn("share of judgments, by kind", figures, ("0 %", "", percent(failures.reach)))
    return DrawnTable(table, {"unreadable": drawn})


def failure_key(failures: FailureShares) -> list[tuple[str, str]]:
    """Return the class of the style sheet and the words of each kind."""
    return [(f"f{kind_number(kind)}", kind_words(kind)) for kind in failures.kinds]


def _bar(condition: ConditionFailures, reach: float) -> Markup:
    """Shares beside each other on a line from 0 to `reach`; a kind has the same colour in every bar."""
    parts, start = [], 0.0
    for kind, share in condition.shares.items():
        rect = '<rect class="f{}" x="{:.2f}%" width="{:.2f}%" y="15%" height="70%"/>'
        parts.append(Markup(rect).format(kind_number(kind), 100 * start / reach, 100 * share / reach))
        start += share
    title = "; ".join(f"{kind_words(kind)}: {percent(share)}" for kind, share in condition.shares.items())
    return svg("bar failures", title, parts)
