"""`harness import` and `harness export`: scores and judges of other programs."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from harness import sources
from harness.annotate import label_check
from harness.cli.arguments import opened_source
from harness.cli.commands.other_programs import ExportHub, ExportInspectScores, ExportPromptfooJudge, ImportScores
from harness.cli.output import ended, print_refusals, refusals_of
from harness.cli.streams import print_message
from harness.content import Library
from harness.errors import JUDGE, UsageError
from harness.exchange.scores.score_import import import_scores
from harness.measure.options import MeasureOptions
from harness.offensive_texts import refuse_in_repository
from harness.reports.tables.numbers import counted
from harness.text import terminal_safe

if TYPE_CHECKING:
    from harness.data.dataset import Dataset
    from harness.data.judgments import Judgments
    from harness.exchange.scores.external_scores import Reasons
    from harness.runs import RunResult


def import_(arguments: ImportScores) -> int:
    imported = import_scores(arguments.files, arguments.to, arguments.options, Library(*arguments.content))
    for judge in imported.unreadable:  # first of all: no verdict may rest on it
        print_message(str(judge))
    print_refusals(imported.refused, imported.notes)
    failures = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in imported.failures.items())
    judgments = counted(imported.judgments, "judgment") + (f" ({failures})" if failures else "")
    summary = f"{imported.kind}: {judgments} and {counted(imported.labels, 'label')} of {counted(imported.items, 'item')}"
    ending = " imported" if imported.written else " could be imported" if imported.refused else "; nothing was written"
    if any(judge.misfit for judge in imported.unreadable) and not imported.written:
        ending += "; say what the values mean, or pass --allow-refused to import them as failures"
    elif imported.unreadable and imported.written:
        ending += f"; {imported.folder} holds them as failures, on which no verdict can rest"
    refused = f"; {refusals_of(imported, imported.judgments + imported.labels)}" if imported.refused else ""
    print_message(f"{summary}{ending}{refused}")

    def facts() -> dict[str, Any]:
        return msgspec.structs.asdict(imported) | {
            "folder": str(imported.folder),
            "unreadable": [msgspec.structs.asdict(judge) for judge in imported.unreadable],
            "refused": [msgspec.structs.asdict(refusal) for refusal in imported.refused],
        }

    code = ended(imported, facts if arguments.json else None)
    return JUDGE if imported.unreadable else code


def promptfoo_judge(arguments: ExportPromptfooJudge) -> int:
    from harness.exchange.judges.promptfoo_judge import AssertionConfig, write_promptfoo_judge

    if bool(arguments.metrics) == bool(arguments.prompt):
        raise UsageError("name the metrics with --metric, or a prompt of your own with --prompt")
    same_name = ("judge", "language", "task", "variant", "temperature", "allow_unreviewed", "base_url")
    shared = {name: getattr(arguments, name) for name in same_name}
    if len(arguments.content) > 1:
        raise UsageError("an assertion has one content folder; put tasks and rubrics together")
    shared["content"] = str(arguments.content[0]) if arguments.content else None
    prompt = str(arguments.prompt) if arguments.prompt else None
    shared["headers"] = {name: _read_variable(name, value) for name, value in arguments.headers.items()}
    shared["body"] = arguments.body
    configs = [AssertionConfig(**shared, metric=metric, prompt=prompt) for metric in arguments.metrics or (None,)]
    for path in write_promptfoo_judge(arguments.to, configs):
        print(terminal_safe(str(path)))
    return 0


def _read_variable(header: str, text: str) -> str:
    """Return the environment variable that a header's value names. Raises UsageError for a value: the written file would hold it."""
    variable = re.fullmatch(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})", text, re.ASCII)
    if variable is None:
        raise UsageError(f"--header {header}: the file would hold its value; name the environment variable that does: '{header}=$VARIABLE'")
    return variable[1] or variable[2]


def inspect_scores(arguments: ExportInspectScores) -> int:
    from harness.exchange.scores.exports import inspect_scores as score_lines
    from harness.row_files import write_atomic

    if arguments.to.suffix != ".jsonl":
        raise UsageError(f"--to {arguments.to}: Inspect reads JSON lines only from a file whose name ends in .jsonl")
    source = opened_source(arguments)
    refuse_in_repository(arguments.to, source.recording.data.about)
    signatures = sources.gated_source(source.run or source.recording.data, None, arguments.out).signatures
    lines = list(
        score_lines(
            source.recording.judgments,
            arguments.choice,
            lambda judge: signatures.get(judge) or signatures[""],
            source.recording.data.by_id,
            _open_reasons(source.run) if source.run else None,
        )
    )
    write_atomic(arguments.to, lines, private=True)
    print(f"{counted(len(lines), 'score')} written", file=sys.stderr)
    print(terminal_safe(str(arguments.to)))
    return 0


def _open_reasons(run: RunResult) -> Reasons:
    from harness.runs import read_evidence

    return lambda rows: list(read_evidence(run, rows).justification)


def hub(arguments: ExportHub) -> int:
    from harness.content import Library
    from harness.exchange.scores.exports import hub_tables, left_out, write_hub
    from harness.render.markdown import hub_card
    from harness.render.terminal import working

    with working("writing tables"):
        data: Dataset
        judgments: Judgments | None
        if sources.is_data_folder(arguments.source):  # it can be published without judgments too
            data, run = sources.load(arguments.source, card=arguments.card), None
            judgments, notes = data.judgments, data.about.notes
        else:
            source = opened_source(arguments)
            data, judgments, run = source.recording.data, source.recording.judgments, source.run
            notes = source.recording.notes
        tables = hub_tables(data, judgments, _open_reasons(run) if run else None)
        agreement = label_check.label_cells(data, MeasureOptions(by=label_check.BY)) if len(data.labels) else ()
        signatures = sources.gated_source(run, None, arguments.out).signatures if run else {}
        card = hub_card(data, tables, agreement, signatures, arguments.license or "", notes)
        write_hub(arguments.to, tables, data, card, run.prepared.library if run else Library())
    counts = ", ".join(counted(len(table.rows), table.name.removesuffix("s")) for table in tables)
    for line in (*left_out(data), f"{counts} written; read README.md before you publish"):
        print_message(line)
    print(terminal_safe(str(arguments.to)))
    return 0
