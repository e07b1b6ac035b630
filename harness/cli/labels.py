"""`harness labels import`, `labels export`, `labels needed`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from harness.annotate.answers.page_files import is_result_file
from harness.annotate.answers.page_import import import_page_results
from harness.cli.commands.labels_and_data import CountLabelsNeeded, LabelsExport, LabelsImport
from harness.cli.endings import ended, print_refusals, print_result, refusals_of
from harness.cli.judged import opened_source
from harness.cli.streams import print_json
from harness.content import Library
from harness.correction import labels_budget
from harness.data import load_bundled, load_folder
from harness.decide.options import DecisionOptions
from harness.errors import UsageError
from harness.exchange.labels.export import export_labels
from harness.exchange.labels.importing import ImportSummary, import_labels
from harness.exchange.labels.mapping import mapping_of
from harness.exchange.labels.sections import Selection
from harness.options import part_of
from harness.reports.tables.numbers import counted
from harness.text import terminal_safe


def import_(arguments: LabelsImport) -> int:
    mapping, options, library = mapping_of(arguments.columns), arguments.options, Library(*arguments.content)
    if options.kind is None and any(is_result_file(Path(source)) for source in arguments.sources):
        files = list(map(Path, arguments.sources))
        imported = import_page_results(files, arguments.to, mapping, options, arguments.result_files, library)
    elif len(arguments.sources) > 1:
        raise UsageError("name one source; only result files of labelling pages are imported together. Add the next one with --append")
    elif arguments.to is None:
        raise UsageError("name the data folder to write with --to DIR")
    else:
        imported = import_labels(arguments.sources[0], arguments.to, mapping, options, library)
    print_summary(imported)
    return ended(imported, partial(facts_of, imported) if arguments.json else None)


def print_summary(imported: ImportSummary) -> None:
    """Print to stderr what was refused, what was guessed, and how much was imported."""
    print_refusals(imported.refused, imported.hints)
    details = [
        refusals_of(imported, imported.rows - len(imported.refused)) if imported.refused else "",
        f"{counted(imported.blank, 'empty cell')}" if imported.blank else "",
        f"{counted(imported.left_out, 'answer')} left out" if imported.left_out else "",
        f"{counted(imported.known, 'row')} known already" if imported.known else "",
    ]
    suffix = "".join(f"; {part}" for part in details if part)
    done = "imported" if imported.written else "could be imported"
    if not imported.labels and imported.unlabelled and not imported.refused:
        print(terminal_safe(f"{counted(imported.items, 'text')} {done}, none with a label"), file=sys.stderr)
        return
    what = counted(imported.reviews, "review") if imported.reviews else counted(imported.labels, "label")
    summary = f"{what} by {counted(imported.annotators, 'annotator')} on {counted(len(imported.metrics), 'metric')}"
    print(terminal_safe(f"{counted(imported.rows, 'row')}: {summary} {done}{suffix}"), file=sys.stderr)


def facts_of(imported: ImportSummary) -> dict[str, Any]:
    """The summary for programs."""
    numbers = ("rows", "labels", "blank", "left_out", "known", "items", "annotators", "metrics", "written")
    facts = {name: getattr(imported, name) for name in numbers} | ({"reviews": imported.reviews} if imported.reviews else {})
    return {**facts, "refused": len(imported.refused), "folder": str(imported.folder), "notes": [*imported.hints, *imported.notes]}


def export(arguments: LabelsExport) -> int:
    library = Library(*arguments.content)
    bundled = str(arguments.data) == "bundled"
    data = load_bundled(library, library.pack_files) if bundled else load_folder(Path(arguments.data), library)
    if bundled and not arguments.langs:
        raise UsageError(f"name the languages to export from 'bundled' with --langs; choose from: {', '.join(library.pack_files)}")
    selection = Selection(arguments.langs, arguments.task, arguments.metrics, arguments.fields, arguments.seed, arguments.annotator or "")
    exported = export_labels(data, arguments.to, library, format=arguments.format, selection=selection)
    items = counted(exported.items, "item")
    summary = f"{counted(exported.labels, 'label')} of {items}" if exported.labels else f"{items} to be scored"
    print(f"{summary} written", file=sys.stderr)
    files = list(map(str, exported.files))
    if arguments.json:
        return print_json({"format": exported.format, "files": files, "items": exported.items, "labels": exported.labels})
    print(terminal_safe("\n".join(files)))
    return 0


def _refuse_half(arguments: Any) -> None:
    """Raise UsageError for flags of a plan before a run without `--judge-as-good`, and for neither a source nor an assumption."""
    flags = [flag for flag in ("metric", "people_agree", "shares", "people", "cells") if getattr(arguments, flag)]
    if flags and not arguments.judge_as_good:
        raise UsageError(f"--{flags[0].replace('_', '-')} is for a plan before any judge was asked; add --judge-as-good")
    if arguments.source is None and not (arguments.judge_as_good and arguments.metric):
        raise UsageError(
            "name a data folder or a run; before any labels and judges: harness labels needed --judge-as-good --metric task_quality"
        )


def _plan_before(arguments: Any) -> int:
    """The plan before any judge was asked, from the labels of a data folder or from assumptions."""
    from harness.correction import labels_budget as before
    from harness.data.named_folders import located

    library = Library()
    stated = before.StatedPeople(arguments.people_agree, arguments.shares, arguments.people)
    if arguments.source is not None:
        data = load_folder(located(Path(arguments.source), library), library, card=arguments.options.card)
        people = before.read_people(data, arguments.metric, arguments.options.languages or (), stated)
    else:
        scales = {name: library.rubric(name).scale if name in library.rubric_files else None for name in arguments.metric}
        people = [person for name, scale in scales.items() for person in before.assume_people(name, scale, stated)]
    cells = arguments.cells or (1 if arguments.source is None else len(people))
    decision, half_width = part_of(arguments.options, DecisionOptions), arguments.options.half_width
    planned = before.plan_labels(people, decision, cells=cells, half_width=half_width)
    if arguments.json:
        return print_json(before.as_json(planned, cells=cells, half_width=half_width))
    from harness.cli.text_columns import print_columns
    from harness.render.decisions import plan_rows, plan_sentences

    print_columns(plan_rows(planned, half_width))
    print("\n" + "\n".join(plan_sentences(planned, decision, cells, bool(arguments.shares))))
    return 0


def needed(arguments: CountLabelsNeeded) -> int:
    from harness.render.terminal import working

    _refuse_half(arguments)
    if arguments.judge_as_good:
        return _plan_before(arguments)
    options = arguments.options
    with working("planning"):
        recording = opened_source(arguments).recording
        budget = labels_budget.label_budget([recording], options)
    from harness.render.decisions import render_budget

    return print_result(budget, render_budget, as_json=arguments.json)
