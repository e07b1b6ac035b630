"""`harness run`, `report`, `runs`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness.api import report as make_report
from harness.asking_options import Settings
from harness.cli.arguments import page_path
from harness.cli.commands.find_out import Run, Runs, ShowReport
from harness.cli.output import RunOutput, exit_code_of, show_run
from harness.cli.streams import print_json, print_message, told_warnings
from harness.content import Library
from harness.content.specs import BoardData
from harness.data.asked_data import quality_of
from harness.data.folders import data_home, how_to_get
from harness.errors import IncompleteRun, StoreError, UsageError
from harness.judges import traits_of
from harness.offensive_texts import refuse_in_repository
from harness.options import flag_name
from harness.reports.answer.build_answer import BoardVerdicts, answer_of_boards
from harness.reports.run_report import Report
from harness.row_files import to_json, to_toml, write_atomic
from harness.runs import (
    RunResult,
    RunSpec,
    absent_cards,
    askable_boards,
    board_specs,
    estimate_cost,
    open_judges,
    people_times,
    planned_calls,
    prepare,
    price_for_engine,
    reopen,
    run_record,
    run_together,
)
from harness.runs import run as run_spec
from harness.store import Store

if TYPE_CHECKING:
    pass


def run(arguments: Run) -> int:
    spec, settings = arguments.request, arguments.asking
    if arguments.cascade:
        return _run_cascaded(arguments, spec, settings)
    library = Library(*spec.content)
    if arguments.wage:
        people_times(spec.data, library)
    if spec.board in library.collection_files:
        return _run_collection(library, spec, settings, arguments)
    if arguments.dry_run:
        from harness.cli.dry_run import plan_of
        from harness.render.terminal import print_lines

        plan = plan_of(spec, settings, show_texts=arguments.show_texts)
        width = shutil.get_terminal_size().columns
        if arguments.json:
            sys.stdout.write(plan.as_json(_list_flags(arguments)))
        else:
            print_lines(plan.text(width, arguments.verbose).splitlines())
        return 0
    from harness.render.progress import TerminalWatcher

    try:
        shows = None if arguments.json else make_report
        result = run_spec(spec, arguments.out, TerminalWatcher(assume_yes=arguments.yes, report_of=shows), settings)
    except IncompleteRun as err:
        if err.result is not None:  # show the answers first, then the error with what is missing
            show_run(err.result, _read_output(arguments))
        raise
    # The flags are kept with the run, without addresses, which only the store knows. A folder that cannot be written is no error here.
    flags = {name: value for name, value in _list_flags(arguments).items() if name not in ("base_url", "out", "header")}
    with suppress(StoreError):
        write_atomic(result.folder / "spec.toml", to_toml(flags), private=True)
    return exit_code_of(show_run(result, _read_output(arguments)).verdicts)


_FROM_CERTIFICATE = ("judges", "variants", "temperatures", "top_ps", "repeats", "perturbations", "study")
"""What the certificate of a cascade says."""


def _run_cascaded(arguments: Any, spec: RunSpec, settings: Settings) -> int:
    """Ask the judges of a certificate, each about what those before it left, and write who answers each text."""
    from harness.cli.dry_run import spending
    from harness.correction.cascade_certificate import load, refuse_changed, run_cascade, step_spec
    from harness.render.improvement import print_cascaded
    from harness.render.progress import TerminalWatcher

    usual = RunSpec()
    if stated := [field for field in _FROM_CERTIFICATE if getattr(spec, field) != getattr(usual, field)]:
        flags = ", ".join(flag_name(RunSpec, field) for field in stated)
        raise UsageError(f"the certificate of the cascade says whom to ask, and how; leave out {flags}")
    certificate = load(arguments.cascade)
    if not arguments.dry_run:
        cascaded = run_cascade(spec, certificate, arguments.out, TerminalWatcher(assume_yes=arguments.yes), settings)
        first = next(step.run for step in cascaded.steps if step.run is not None)
        path = arguments.out / "runs" / first / "cascade.jsonl"  # beside the run of the first judge that was asked
        write_atomic(path, b"".join(msgspec.json.encode(answer) + b"\n" for answer in cascaded.answers), private=True)
        if arguments.json:
            sys.stdout.write(to_json(cascaded))
        else:
            print_cascaded(cascaded)
        print(f"answers: {path}", file=sys.stderr)
        return 0
    # each judge would be asked about the share of the texts that reaches it, as certified in the mean of languages and metrics
    for index, step in enumerate(certificate.steps):
        spec_of_step = step_spec(spec, step)
        ready = prepare(spec_of_step)
        refuse_changed(certificate, step, ready, spec_of_step)
        [judge] = open_judges(spec_of_step, ready)
        [calls] = planned_calls(ready, [judge]).values()
        share = sum(cell.chain.steps[index].asked for cell in certificate.cells) / len(certificate.cells)
        part = estimate_cost(calls, price_for_engine(judge.identity, settings)).times(share)
        words = f" ({100 * share:.0f} % of the questions, as certified)" if index else ""
        print(f"{spending({'judge': step.judge.name, **msgspec.structs.asdict(part)})}{words}")
    return 0


def _run_collection(library: Library, spec: RunSpec, settings: Settings, arguments: Any) -> int:
    """Ask the boards of a collection together. Boards that cannot be asked here are left out, and named."""
    collection = library.collection(str(spec.board))
    specs, not_askable = askable_boards(board_specs(spec, collection, library), library)
    if not specs:
        raise UsageError("\n         ".join(["no board can be asked:", *not_askable]))
    if arguments.dry_run:
        from harness.cli.dry_run import plan_of_collection
        from harness.render.terminal import print_lines

        planned = plan_of_collection(collection.title, specs, library, settings, not_askable)
        if arguments.json:
            sys.stdout.write(planned.as_json(_list_flags(arguments)))
        else:
            print_lines(planned.text().splitlines())
        return 0
    from harness.cli.data import fetch_sets
    from harness.render.progress import TerminalWatcher
    from harness.render.terminal import print_collection

    asked_specs, left_out = list[RunSpec](), list[str]()
    for board in specs:
        data = library.board(str(board.board)).data
        try:
            if isinstance(data, BoardData):
                refuse_in_repository(arguments.out, library.dataset_card(data.card))
        except UsageError as err:
            left_out.append(f"{board.board} is left out: {err} with --out")
        else:
            asked_specs.append(board)
    cards = list({card.id: card for card in absent_cards(asked_specs, library).values()}.values())
    fetch_sets(cards, library, data_home(), assume_yes=arguments.yes, all_needed=False)
    absent = absent_cards(asked_specs, library)
    left_out += not_askable
    left_out += [f"{name} is left out: its data are not here; {how_to_get(card)}" for name, card in absent.items()]
    asked_specs = [spec for spec in asked_specs if spec.board not in absent]
    if not asked_specs:
        raise UsageError("\n         ".join(["no board can be asked:", *left_out]))
    done = run_together(asked_specs, arguments.out, TerminalWatcher(assume_yes=arguments.yes), settings)
    left_out += done.left_out
    reports = {name: show_run(result, RunOutput(quiet=True)) for name, result in done.results.items()}
    answer = answer_of_boards([board_verdicts(done.results[name], report) for name, report in reports.items()])
    if arguments.json:
        parts = {"title": collection.title, "answer": answer and answer.as_json()}
        sys.stdout.write(to_json(parts | {"boards": {name: report.as_json() for name, report in reports.items()}, "left_out": left_out}))
    else:
        print_collection(collection.title, answer, list(reports.values()), left_out)
    if done.unfinished:
        raise IncompleteRun(done.unfinished, interrupted=done.interrupted)
    return 0


def board_verdicts(result: RunResult, report: Report) -> BoardVerdicts:
    """Return the verdicts of one board for the answer of a collection."""
    prepared = result.prepared
    decided = tuple(verdict for verdict in report.verdicts if not traits_of(verdict["judge"]).is_baseline)
    with_verdict = {(verdict["language"], verdict["judge"], verdict["metric"]) for verdict in report.verdicts}
    cells = [(cell["language"], cell["judge"], cell["metric"]) for cell in report.by_metric if not traits_of(cell["judge"]).is_baseline]
    qualities = {metric: quality_of(metric, prepared.data.about, prepared.library) for metric in prepared.protocol.questions.metrics}
    by_order = tuple(dict.fromkeys(cell for cell in cells if cell not in with_verdict))
    return BoardVerdicts(decided, qualities, by_order, only_baselines=bool(report.by_metric) and not cells)


def _list_flags(arguments: Any) -> dict[str, Any]:
    """The flags of this command, as `--spec` reads them."""
    from harness.cli.spec_file import spec_of

    flags: dict[str, Any] = spec_of("run", arguments.argv)
    if "header" in flags:  # their values may be secrets
        flags["header"] = [f"{name}=…" for name in arguments.request.headers]
    return flags


def _find_latest(out: Path) -> RunResult:
    """Return the latest run in a results folder that has an answer: one that ended before its first call says nothing."""
    with Store.reading(out) as store:
        names = list(store.runs())
    if not names:
        raise UsageError(f"there are no runs in {out} yet; start one with 'harness run'")
    opened = (reopen(name, out) for name in reversed(names))
    answered = next((run for run in opened if any(run.answers.answered_by.values()) or any(run.judgments.score.used)), None)
    if answered is not None and answered.name != names[-1]:
        print_message(f"note: this is {answered.name}; the latest run, {names[-1]}, has no answer yet")
    return answered or reopen(names[-1], out)


def report(arguments: ShowReport) -> int:
    page_name = None if arguments.html is None else next(iter(arguments.html), "")
    page_path(page_name)  # a wrong name is refused before anything that takes time
    result = reopen(arguments.run, arguments.out) if arguments.run else _find_latest(arguments.out)
    result.refuse_unanswered()
    if arguments.majority:
        result = result.with_majority(arguments.majority)
    form = next((name for name in ("md", "csv") if getattr(arguments, name)), "latex" if arguments.latex is not None else None)
    quiet = arguments.html is not None or form is not None
    if arguments.langs and arguments.html is not None:
        raise UsageError("a page has all languages of its run, and a switch; leave out --langs or --html")
    decided = show_run(result, _read_output(arguments, quiet=quiet, langs=arguments.langs or ()), arguments.decision)
    if page := page_path(page_name, result.folder / "report.html"):
        from harness.render.html.report import report_page

        refuse_in_repository(page, result.prepared.data.about)
        write_atomic(page, report_page(result, decided, arguments.wage), private=True)
        print(page)
    elif form == "md":
        from harness.render.markdown import report_markdown

        sys.stdout.write(report_markdown(decided))
    elif form == "latex":
        if decided.sealed:
            numbers = "--md and --csv show how many answers could be read"
            raise UsageError(f"there are no labels here, so there is no agreement to show; {numbers}")
        from harness.render.latex import report_latex

        sys.stdout.write(report_latex(decided, next(iter(arguments.latex or ()), "verdicts")))
    elif form:
        from harness.render.files import report_csv

        sys.stdout.write(report_csv(decided))
    if arguments.figures:
        from harness.render.figures import FORMS, WIDTHS, FigureOptions, draw_figures

        options = FigureOptions(WIDTHS[arguments.figure_width], arguments.figure_names, FORMS)
        with told_warnings():
            drawn = draw_figures(decided.as_json(), result.folder / "figures", options)
        print(*drawn, sep="\n", file=sys.stderr)
    return exit_code_of(decided.verdicts)


def _read_output(arguments: Any, *, quiet: bool = False, langs: Sequence[str] = ()) -> RunOutput:
    return RunOutput(arguments.json, quiet, arguments.by_task, arguments.all, arguments.notes, tuple(langs), arguments.wage)


def runs(arguments: Runs) -> int:
    with Store.reading(arguments.out) as store:
        specs_by_name = store.runs()
    if arguments.json:
        return print_json({name: msgspec.json.decode(spec) for name, spec in specs_by_name.items()})
    from harness.render.runs import print_runs

    print_runs({name: run_record(arguments.out, name) for name in specs_by_name})
    return 0
