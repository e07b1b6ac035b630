"""`harness labels plan`, `labels page`, `labels serve`, `labels reviews`."""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.annotate.answers.page_record import RECORD, ReviewedJudge
from harness.annotate.pages.blind_pairs import load_pack
from harness.annotate.pages.options import PageOptions
from harness.annotate.pages.page import PagesSummary, make_pages
from harness.annotate.pages.review import Reviewed, reviewed_scores, without_review
from harness.cli.arguments import page_path
from harness.cli.commands.labels_and_data import LabelsPage, LabelsPlan, LabelsReviews, LabelsServe
from harness.cli.judged import opened_source
from harness.cli.streams import print_json
from harness.content import Library
from harness.content.specs import LabelMapping
from harness.data import Dataset, load_bundled, load_folder
from harness.errors import UsageError
from harness.exchange.labels.mapping import load_mapping, parse_pairs
from harness.offensive import WARNING, hides_texts, refuse_in_repository
from harness.reports.tables.numbers import counted
from harness.row_files import to_json, to_jsonl, write_atomic
from harness.text import terminal_safe


def plan(arguments: LabelsPlan) -> int:
    from harness.correction import label_sample

    sample = label_sample.draw_label_sample(opened_source(arguments).recording, arguments.options)
    write_atomic(arguments.to, to_jsonl(sample.items), private=True)
    for stratum in sample.strata:
        print(terminal_safe(f"{stratum.name}: {stratum.drawn} of {stratum.texts} texts"), file=sys.stderr)
    for note in sample.notes:
        print(terminal_safe(note), file=sys.stderr)
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

        data, texts = texts_of_table(table, _map_texts(options), library)
        names = {column: name for name, column in texts.items()}  # --text may name a column of the table
        fields = tuple(names.get(field, field) for field in options.fields) if options.fields else tuple(sorted(texts)) or None
        arguments, options = replace(arguments, data=str(data)), replace(options, fields=fields)
    options = replace(options, review=_read_review(arguments))
    pages = make_pages(_open_data(arguments, library), arguments.data, arguments.out, library, options)
    for note in pages.notes:
        print(terminal_safe(note), file=sys.stderr)
    items_by_person = ", ".join(f"{who} {count}" for who, count in pages.items_each.items())
    print(
        terminal_safe(f"{counted(pages.items, 'item')} for {counted(len(pages.items_each), 'annotator')} ({items_by_person})"),
        file=sys.stderr,
    )
    print(terminal_safe(f"send each page to its annotator; keep {pages.record}, which the import needs"), file=sys.stderr)
    if table is not None:
        folder = shlex.quote(arguments.data)
        importing = f"harness labels import RESULTS.json --pages {shlex.quote(str(arguments.out))}"
        words = f"their answers go into the data folder {folder}: {importing}, then harness compare {folder}"
        print(terminal_safe(words), file=sys.stderr)
    if arguments.json:
        return print_json(_collect_facts(pages))
    print(terminal_safe("\n".join(map(str, pages.files))))
    return 0


def _map_texts(options: PageOptions) -> LabelMapping:
    """Return the mapping that the options of a page make of a table of texts."""
    texts = parse_pairs([f"{name}={name}" for name in options.fields or ()], "--text")
    metric = options.metrics[0] if options.metrics else None
    return load_mapping(None, {"texts": texts, "metric": metric, "language": options.language})


def serve(arguments: LabelsServe) -> int:
    """Serve until Ctrl-C."""
    if missing := [name for name in ("starlette", "uvicorn") if find_spec(name) is None]:
        raise UsageError(f"'labels serve' needs the package {missing[0]}: pip install \"judge-harness[serve]\"")
    from harness.annotate.pages.reserve_port import LOOPBACK, address_of, listening_socket, sole_server
    from harness.annotate.pages.serve import RESULTS, application, served_pages

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
    from harness.annotate.answers.review_answers import read_reviews
    from harness.annotate.checks.review_agreement import review_summary

    page = page_path(arguments.html)
    review_rows = read_reviews(arguments.data)
    data = load_folder(arguments.data, Library(*arguments.content))
    summary = review_summary(data, review_rows, seed=arguments.seed)
    if page is not None:
        from harness.render.html.reviews import reviews_page

        refuse_in_repository(page, data.about)
        name, warning = arguments.data.resolve().name, WARNING if hides_texts([data.about]) else ""
        write_atomic(page, reviews_page(summary, name, f"harness labels reviews {name} --html {page.name}", warning), private=True)
        print(terminal_safe(str(page)))
    elif arguments.json:
        sys.stdout.write(to_json(summary.as_json()))
    else:
        from harness.render.comparison import show
        from harness.render.sections import render_reviews
        from harness.render.terminal import closing_line

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


def _open_data(arguments: Any, library: Library) -> Dataset:
    if arguments.options.pack:
        if arguments.data != "bundled":
            raise UsageError("--pack names packs of 'bundled'; leave it out for a data folder")
        return load_pack(library, arguments.options.pack)
    if arguments.data != "bundled":
        return load_folder(Path(arguments.data), library)
    return load_bundled(library, library.tags_with_items())


def _collect_facts(pages: PagesSummary) -> dict[str, Any]:
    facts = {"files": list(map(str, pages.files)), "record": str(pages.record), "items": pages.items}
    return {**facts, "items_each": pages.items_each, "notes": pages.notes}
