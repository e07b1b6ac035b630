"""`harness labels`: import, export, needed, plan, page, serve, reviews and check."""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.annotate.blind_pairs import load_pack
from harness.annotate.page_import import import_page_results, is_result_file
from harness.annotate.page_results import RECORD, ReviewedJudge
from harness.annotate.pages_for_annotators import make_pages
from harness.annotate.reviews import Reviewed, reviewed_scores, without_review
from harness.cli.arguments import opened_source, page_path
from harness.cli.commands.labels_and_data import (
    CountLabelsNeeded,
    LabelsCheck,
    LabelsExport,
    LabelsImport,
    LabelsPage,
    LabelsPlan,
    LabelsReviews,
    LabelsServe,
)
from harness.cli.output import ended, facts_of, print_result, print_summary
from harness.cli.streams import print_json, print_message
from harness.content import Library
from harness.correction import labels_budget
from harness.data.dataset import load_bundled, load_folder
from harness.decide.options import DecisionOptions
from harness.errors import UsageError
from harness.exchange.labels.label_import import import_labels
from harness.exchange.labels.label_sheets import export_labels
from harness.exchange.labels.labelling_tasks import Selection
from harness.exchange.labels.mapping import load_mapping, mapping_of, parse_pairs
from harness.offensive_texts import WARNING, hides_texts, refuse_in_repository
from harness.options import part_of
from harness.reports.tables.numbers import counted
from harness.row_files import to_json, to_jsonl, write_atomic
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


def _plan_before(arguments: Any) -> int:
    """The plan before any judge was asked, from the labels of a data folder or from assumptions."""
    from harness.correction import labels_budget as before
    from harness.data.folders import located

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
    from harness.render.decisions import render_plan
    from harness.render.terminal import print_whole

    stated_shares = bool(arguments.shares)
    print_whole(lambda width: render_plan(planned, decision, cells=cells, half_width=half_width, shares_given=stated_shares))
    return 0


def needed(arguments: CountLabelsNeeded) -> int:
    from harness.render.terminal import working

    flags = [flag for flag in ("metric", "people_agree", "shares", "people", "cells") if getattr(arguments, flag)]
    if flags and not arguments.judge_as_good:
        raise UsageError(f"--{flags[0].replace('_', '-')} is for a plan before any judge was asked; add --judge-as-good")
    if arguments.source is None and not (arguments.judge_as_good and arguments.metric):
        raise UsageError(
            "name a data folder or a run; before any labels and judges: harness labels needed --judge-as-good --metric task_quality"
        )
    if arguments.judge_as_good:
        return _plan_before(arguments)
    with working("planning"):
        budget = labels_budget.label_budget([opened_source(arguments).recording], arguments.options)
    from harness.render.decisions import render_budget

    return print_result(budget, lambda budget: render_budget(budget, all_rows=arguments.all), as_json=arguments.json)


def plan(arguments: LabelsPlan) -> int:

    sample = labels_budget.draw_label_sample(opened_source(arguments).recording, arguments.options)
    write_atomic(arguments.to, to_jsonl(sample.items), private=True)
    for stratum in sample.strata:
        print_message(f"{stratum.name}: {stratum.drawn} of {stratum.texts} texts")
    for note in sample.notes:
        print_message(note)
    print(f"{len(sample.items)} of {counted(sample.texts, 'text')} drawn", file=sys.stderr)
    if arguments.json:
        return print_json(sample)
    print(terminal_safe(str(arguments.to)))
    return 0


def page(arguments: LabelsPage) -> int:
    library, options = Library(*arguments.content), arguments.options
    table = Path(arguments.data) if Path(arguments.data).is_file() else None
    if table is not None:
        from harness.cli.start import texts_of_table  # late: most data are folders

        fields_as_texts = parse_pairs([f"{name}={name}" for name in options.fields or ()], "--text")
        metric = options.metrics[0] if options.metrics else None
        mapping = load_mapping(None, {"texts": fields_as_texts, "metric": metric, "language": options.language})
        data, texts = texts_of_table(table, mapping, library)
        names = {column: name for name, column in texts.items()}  # --text may name a column of the table
        fields = tuple(names.get(field, field) for field in options.fields) if options.fields else tuple(sorted(texts)) or None
        arguments, options = replace(arguments, data=str(data)), replace(options, fields=fields)
    options = replace(options, review=_read_review(arguments))
    bundled = arguments.data == "bundled"
    if options.pack and not bundled:
        raise UsageError("--pack names packs of 'bundled'; leave it out for a data folder")
    if options.pack:
        dataset = load_pack(library, options.pack)
    else:
        dataset = load_bundled(library, library.tags_with_items()) if bundled else load_folder(Path(arguments.data), library)
    pages = make_pages(dataset, arguments.data, arguments.out, library, options)
    for note in pages.notes:
        print_message(note)
    items_by_person = ", ".join(f"{who} {count}" for who, count in pages.items_each.items())
    print(
        terminal_safe(f"{counted(pages.items, 'item')} for {counted(len(pages.items_each), 'annotator')} ({items_by_person})"),
        file=sys.stderr,
    )
    print_message(f"send each page to its annotator; keep {pages.record}, which the import needs")
    if table is not None:
        folder = shlex.quote(arguments.data)
        importing = f"harness labels import RESULTS.json --pages {shlex.quote(str(arguments.out))}"
        words = f"their answers go into the data folder {folder}: {importing}, then harness compare {folder}"
        print_message(words)
    if arguments.json:
        facts = {"files": list(map(str, pages.files)), "record": str(pages.record), "items": pages.items}
        return print_json({**facts, "items_each": pages.items_each, "notes": pages.notes})
    print(terminal_safe("\n".join(map(str, pages.files))))
    return 0


def serve(arguments: LabelsServe) -> int:
    """Serve until Ctrl-C."""
    if missing := [name for name in ("starlette", "uvicorn") if find_spec(name) is None]:
        raise UsageError(f"'labels serve' needs the package {missing[0]}: pip install \"judge-harness[serve]\"")
    from harness.annotate.serve import LOOPBACK, RESULTS, address_of, application, listening_socket, served_pages, sole_server

    if not (arguments.folder / RECORD).is_file():
        raise UsageError(f"{arguments.folder} has no pages to serve; write them with 'harness labels page DATA --out {arguments.folder}'")
    pages = served_pages(arguments.folder)
    host = arguments.host or LOOPBACK[0]
    app = application(arguments.folder, pages, hosts=LOOPBACK if host in LOOPBACK else ("*",))
    import uvicorn

    with sole_server(arguments.folder / RESULTS), listening_socket(host, arguments.port) as listener:
        for token, person_page in pages:
            print(terminal_safe(f"{person_page.annotator}  {address_of(listener, host)}/{token}/"), flush=True)
        print(f"answers are kept in {arguments.folder / RESULTS}; Ctrl-C ends the server", file=sys.stderr)
        if host not in LOOPBACK:
            print(
                "warning: everybody in this network who knows a link can read its texts and answers, and answer; "
                "what is sent is not encrypted",
                file=sys.stderr,
            )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listener])
    return 0


def reviews(arguments: LabelsReviews) -> int:
    from harness.annotate.reviews import read_reviews, review_summary

    page = page_path(arguments.html)
    review_rows = read_reviews(arguments.data)
    data = load_folder(arguments.data, Library(*arguments.content))
    summary = review_summary(data, review_rows, seed=arguments.seed)
    if page is not None:
        from harness.render.html.shell import reviews_page

        refuse_in_repository(page, data.about)
        name, warning = arguments.data.resolve().name, WARNING if hides_texts([data.about]) else ""
        write_atomic(page, reviews_page(summary, name, f"harness labels reviews {name} --html {page.name}", warning), private=True)
        print(terminal_safe(str(page)))
    elif arguments.json:
        sys.stdout.write(to_json(summary.as_json()))
    else:
        from harness.render.comparison import show
        from harness.render.terminal import closing_line, render_reviews

        show(lambda narrow: render_reviews(summary), closing_line([summary.signature], more="--json has it whole"))
    return 0


def _read_review(arguments: Any) -> tuple[ReviewedJudge, Reviewed] | None:
    """The judge's scores and reasons that `--review` names."""
    if arguments.review is None:
        if arguments.judge is not None:
            raise UsageError("--judge says whose reasons people are asked about; name the run with --review")
        return None
    from harness import sources

    [source] = sources.open_sources([arguments.review], None, Path("results"))
    texts = source.run.derived / "judgments.parquet" if source.run else None
    judge, reviewed = reviewed_scores(source.recording, texts, arguments.judge, arguments.options.language)
    return judge, reviewed if arguments.options.next_items is None else without_review(reviewed, judge, Path(arguments.data))


def check(arguments: LabelsCheck) -> int:
    from harness import api  # late: it imports what a comparison does not need
    from harness.render.progress import counting

    with counting("reading texts") as watch:
        checked = api.labels_check(arguments.data, arguments.options, watch=watch)
    if arguments.json:
        return print_json(checked)
    from harness.render.comparison import render_label_check, show
    from harness.render.terminal import closing_line

    show(
        lambda width: render_label_check(checked, all_numbers=arguments.all),
        closing_line([checked.signature], notes=len(checked.notes), more="--all"),
    )
    return 0
