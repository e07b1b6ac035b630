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
from harness.annotate.pages.blind_pairs import READERS, load_pack
from harness.annotate.pages.page import PageOptions, PagesSummary, make_pages
from harness.annotate.pages.review import Reviewed, reviewed_scores, without_review
from harness.cli.arguments import given_fields, page_path
from harness.cli.commands.labels_and_data import LabelsPage, LabelsPlan, LabelsReviews, LabelsServe
from harness.cli.judged import opened_source
from harness.cli.streams import print_json
from harness.content import Library
from harness.content.specs import LabelMapping
from harness.content.tags import canonical
from harness.data import Dataset, load_bundled, load_folder
from harness.errors import ContentError, UsageError, refuse_pipe, unreadable
from harness.exchange.labels.mapping import load_mapping, parse_pairs
from harness.measure.compare import Recording
from harness.measure.options import key_and_values, restrictions
from harness.offensive import WARNING, hides_texts, refuse_in_repository
from harness.reports.tables.numbers import counted
from harness.row_files import to_json, to_jsonl, write_atomic
from harness.text import terminal_safe


def plan(arguments: LabelsPlan) -> int:
    from harness.correction import label_sample
    from harness.correction.label_sample import SampleOptions

    source = opened_source(arguments)
    language = canonical(arguments.lang) if arguments.lang else None
    budget = arguments.budget or _count_missing_labels(source.recording, arguments, language)
    options = SampleOptions(**given_fields(arguments, SampleOptions) | {"language": language, "budget": budget})
    sample = label_sample.draw_label_sample(source.recording, options)
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


def _count_missing_labels(recording: Recording, arguments: Any, language: str | None) -> int:
    """Return how many texts are missing by `labels needed`: for a verdict, or where it cannot say, for the interval; the most of
    all cells.
    """
    from harness.correction import labels_budget
    from harness.correction.options import LabelBudgetOptions

    where = {name: (value,) for name, value in (("language", language), ("metric", arguments.metric)) if value}
    options = LabelBudgetOptions(judges=(arguments.judge,) if arguments.judge else None, where=where)
    cells = labels_budget.label_budget([recording], options).cells
    missing = [cell.more_for_verdict if cell.more_for_verdict is not None else cell.more_for_half_width for cell in cells]
    if not (counts := [number for number in missing if number]):
        raise UsageError("'labels needed' has no number here (no judgments beside native labels); name the number of texts with --budget")
    return max(counts)


def page(arguments: LabelsPage) -> int:
    library = Library(*arguments.content)
    table = Path(arguments.data) if Path(arguments.data).is_file() else None
    if table is not None:
        from harness.cli.start import texts_of_table  # late: most data are folders

        data, texts = texts_of_table(table, _map_texts(arguments), library)
        names = {column: name for name, column in texts.items()}  # --text may name a column of the table
        fields = tuple(names.get(field, field) for field in arguments.fields) if arguments.fields else tuple(sorted(texts)) or None
        arguments = replace(arguments, data=str(data), fields=fields)
    pages = make_pages(_open_data(arguments, library), arguments.data, arguments.out, library, page_options(arguments))
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


def _map_texts(arguments: Any) -> LabelMapping:
    """Return the mapping that the flags of a page make of a table of texts."""
    texts = parse_pairs([f"{name}={name}" for name in arguments.fields or ()], "--text")
    metric = arguments.metrics[0] if arguments.metrics else None
    return load_mapping(None, {"texts": texts, "metric": metric, "language": arguments.lang})


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


def page_options(arguments: Any) -> PageOptions:
    """Return the options of pages from the flags."""
    for name in ("practice", "checks"):
        if getattr(arguments, name) < 0:
            raise UsageError(f"--{name} is a number of texts, 0 or more; got {getattr(arguments, name)}")
    fields = given_fields(arguments, PageOptions, tasks="task", next_items="next")
    fields["language"] = canonical(arguments.lang) if arguments.lang else None
    fields["annotators"] = arguments.annotators or (READERS if arguments.blind_pairs else 3)
    fields["where"] = restrictions(map(key_and_values, getattr(arguments, "where", ())))
    return PageOptions(**fields | {"about": _read_about(arguments.about), "review": _read_review(arguments)})


def _read_review(arguments: Any) -> tuple[ReviewedJudge, Reviewed] | None:
    """The judge's scores and reasons that `--review` names."""
    if arguments.review is None:
        if arguments.judge is not None:
            raise UsageError("--judge says whose reasons people are asked about; name the run with --review")
        return None
    from harness import sources

    [source] = sources.open_sources([arguments.review], None, Path("results"))
    texts = source.run.derived / "judgments.parquet" if source.run else None
    judge, reviewed = reviewed_scores(source.recording, texts, arguments.judge, canonical(arguments.lang) if arguments.lang else None)
    return judge, reviewed if arguments.next is None else without_review(reviewed, judge, Path(arguments.data))


def _open_data(arguments: Any, library: Library) -> Dataset:
    if arguments.pack is not None:
        if arguments.data != "bundled":
            raise UsageError("--pack names packs of 'bundled'; leave it out for a data folder")
        return load_pack(library, arguments.pack)
    if arguments.data != "bundled":
        return load_folder(Path(arguments.data), library)
    return load_bundled(library, library.tags_with_items())


def _read_about(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        refuse_pipe(path)
        text = path.read_text("utf-8")
    except OSError as err:
        raise unreadable(err, path) from None
    except UnicodeDecodeError:
        raise ContentError("not UTF-8; save the file as UTF-8", path) from None
    if not text.strip():
        raise ContentError("is empty; write who asks, what is kept and what to expect, or leave --about out", path)
    return text


def _collect_facts(pages: PagesSummary) -> dict[str, Any]:
    facts = {"files": list(map(str, pages.files)), "record": str(pages.record), "items": pages.items}
    return {**facts, "items_each": pages.items_each, "notes": pages.notes}
