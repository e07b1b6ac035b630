"""`harness generate`: models write the outputs of a task, as a data folder that can be judged."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator

import msgspec

from harness.cli.commands.studies_and_jobs import Generate
from harness.cli.dry_run import spending
from harness.content import Library
from harness.data.dataset import card_of_folder
from harness.data.named_folders import located
from harness.errors import IncompleteRun
from harness.offensive import hides_texts
from harness.offensive import shown as shown_text
from harness.reports.tables.numbers import counted
from harness.row_files import to_json
from harness.runs import CostEstimate, Generated, GenerateSpec, Plan, WriterSummary, generate_outputs, planned_writing
from harness.text import terminal_safe


def generate_texts(arguments: Generate) -> int:
    spec, settings = arguments.request, arguments.asking
    if arguments.dry_run:
        _show_plan(*planned_writing(spec, settings), hidden=_hides_texts(spec, arguments.show_texts))
        return 0
    from harness.render.progress import TerminalWatcher

    try:
        generated = generate_outputs(spec, arguments.out, TerminalWatcher(assume_yes=arguments.yes), settings)
    except IncompleteRun as err:
        if isinstance(err.result, Generated):  # show the texts first, then the error with what is missing
            _show(err.result, arguments)
        raise
    _show(generated, arguments)
    return 0


def _hides_texts(spec: GenerateSpec, show_texts: bool) -> bool:
    if spec.data is None:
        return False
    library = Library(*spec.content)
    return hides_texts([card_of_folder(located(spec.data, library), library)], show_texts)


def _show_plan(estimates: list[tuple[str, CostEstimate]], plan: Plan, *, hidden: bool) -> None:
    """The first request of each language, and what each writer would take."""
    seen: set[str] = set()
    for query in plan.queries():
        if query.item.language not in seen:
            seen.add(query.item.language)
            print(terminal_safe(f"── {query.item.language} {query.item.task}"))
            for message in plan.call(query, "").prompt.messages:
                print(f"[{message.role}]\n{terminal_safe(shown_text(message.content, hidden))}")
    for name, estimate in estimates:
        print(spending({"judge": name, **msgspec.structs.asdict(estimate)}))


def _show(generated: Generated, arguments: Generate) -> None:
    if arguments.json:
        sys.stdout.write(
            to_json({"folder": str(generated.folder), "items": generated.rows, "kept": generated.kept, "written": generated.summaries})
        )
        return
    for summary in generated.summaries:
        print(terminal_safe(f"{summary.system}, {summary.language}: {'; '.join(_describe_writer(summary))}"))
    counts = [counted(generated.rows, "text")]
    counts += [f"{generated.kept} of them are outputs of the data"] if generated.kept else []
    counts += [f"{generated.earlier} are from earlier commands"] if generated.earlier else []
    print(terminal_safe(f"{generated.folder}: {'; '.join(counts)}"))
    folder = shlex.quote(str(generated.folder))
    content = "".join(f" --content {shlex.quote(str(path))}" for path in arguments.request.content)
    print(f"judge them with: harness run{content} --data {folder} --unlabelled --judge NAME")
    print(f"compare them with: harness pairs {folder}{content} --out PAIRS")


def _describe_writer(summary: WriterSummary) -> Iterator[str]:
    """Say what a writer did in one language, and what to look at."""
    yield counted(summary.texts, "text")
    for name, count in summary.failures.items():
        yield f"{count} {name}"
    if summary.missing:
        yield f"{summary.missing} without an answer"
    if summary.cut:
        yield f"{summary.cut} {'ends' if summary.cut == 1 else 'end'} at the limit of tokens"
    if summary.other_language:
        yield f"{summary.other_language} {'is' if summary.other_language == 1 else 'are'} in another language"
    if summary.removed:
        yield "removed: " + ", ".join(f"{kind} {counted(count, 'time')}" for kind, count in summary.removed.items())
