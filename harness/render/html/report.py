"""The page of a run: the answer, the grid, what moves the judge, what it took, and every judgment to be looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from harness.analyse import Report, of_rule, outcomes, recording
from harness.content import Library
from harness.evidence import evidence
from harness.render.ablations import ShownTable, shown_ablations
from harness.render.html import spending
from harness.render.html.answer import of_report
from harness.render.html.browser import Browsed, chosen, items_json
from harness.render.html.cells import grids, has_people, shares_of
from harness.render.html.command import command_notes, command_of
from harness.render.html.marks import legend_mark
from harness.render.html.shell import shell
from harness.render.html.templates import render
from harness.render.sealed import HEADINGS, SEALED, covered_rows
from harness.render.terminal import LEGEND, notes
from harness.runner import RunResult

SCRIPTS = ("tables.js", "items.js")
_FEW = 24  # rows of a table that are shown unfolded


def report_page(result: RunResult, report: Report) -> str:
    """One self-contained page of a run and its report. Deterministic, but for what run.json says of money."""
    protocol = result.protocol
    source = recording(result.judgments, result.prepared.data, result.prepared.training, report.run)
    judged = outcomes(source, of_rule(protocol.majority, protocol.annotators))
    [kept] = chosen([judged])
    shown = Browsed(report.run, judged, kept, evidence(result, judged.row[kept]))
    library = result.prepared.library
    data = items_json([shown], text_fields(library))
    shares = shares_of(report.by_metric)
    squares = grids(report.by_metric)
    ablations = [_ablation(section.title, section.text, section.tables) for section in shown_ablations(report.ablations)]
    record = _record(result)
    body = render(
        "report.html",
        title=report.title,
        run=report.run,
        judgments=len(judged),
        languages=protocol.languages,
        sections=list(_sections(bool(squares), bool(shares), bool(ablations))),
        warnings=notes(report),
        answers=of_report(report),
        people=any(map(has_people, report.by_metric)),
        marks={kind: legend_mark(kind) for kind in ("judge", "people", "base")},
        legend=" ".join(LEGEND),
        sealed=SEALED if report.sealed else "",
        covered=spending.table(HEADINGS[:3], HEADINGS[3:], covered_rows(report)),
        grids=squares,
        shares=shares,
        leveled=any(block.bars and block.bars[0][0] for _, blocks in shares for block in blocks),
        ablations=ablations,
        failures=spending.failures(result.answers, _counts(result)),
        cost=spending.cost(result.answers, record),
        cost_words=spending.cost_words(record),
        command=command_of(protocol, library.board(protocol.board) if protocol.board else None),
        command_notes=command_notes(protocol),
        signatures=list(report.signatures.items()),
        ci_method=report.ci_method,
        left=data["left"],
    )
    return shell(f"{report.title} – {report.run}", body, scripts=SCRIPTS, data={"items-data": data})


def text_fields(library: Library) -> frozenset[str]:
    """The names of all texts that tasks are about."""
    return frozenset(name for task in library.task_files for name in library.task(task).fields)


def _sections(squares: bool, shares: bool, ablations: bool) -> Iterator[tuple[str, str]]:
    yield "answer", "The answer"
    if squares:
        yield "grid", "Language × metric"
    if shares:
        yield "classes", "Scores due and given"
    if ablations:
        yield "ablations", "What moves the judge"
    yield from (("failures", "Failures"), ("cost", "Cost"), ("again", "Make it again"), ("items", "Every judgment"))


def _ablation(title: str, text: str, tables: tuple[ShownTable, ...]) -> dict[str, Any]:
    return {"title": title, "text": text, "tables": [_plain(table) for table in tables]}


def _plain(shown: ShownTable) -> spending.PlainTable:
    heads = [spending.Head(name, key=True) for name in shown.keys]
    heads += [spending.Head(name, number=shown.counts(len(shown.keys) + place)) for place, name in enumerate(shown.columns)]
    return spending.PlainTable(tuple(heads), shown.rows, shown.shared, shown.nothing, len(shown.rows) > _FEW)


def _counts(result: RunResult) -> dict[tuple[str, str], int]:
    """How many judgments there are of each judge and language."""
    language = {item.item_id: item.language for item in result.prepared.data.items}
    judged = result.judgments
    return Counter((str(judge), language[item]) for judge, item in zip(judged.judge, judged.item, strict=True))


def _record(result: RunResult) -> dict[str, Any]:
    path = result.folder / "run.json"
    return spending.read_record(path.read_bytes()) if path.is_file() else {}
