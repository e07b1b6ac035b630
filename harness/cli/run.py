"""`harness run`, `report`, `runs`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import msgspec

from harness.analyse import Report
from harness.api import report as make_report
from harness.asking import estimate, price_asked
from harness.cli.pages import page_path
from harness.engines import Cluster, Limits, Settings, check_engine
from harness.errors import IncompleteRun, UsageError
from harness.protocol import DEFAULT_JUDGE, RunSpec, prepare
from harness.runner import RunResult, calls_of, open_judges, reopen
from harness.runner import run as run_spec
from harness.store import Store
from harness.tables import to_json
from harness.text import plain


def run(arguments: argparse.Namespace) -> int:
    spec, settings = _spec(arguments), _settings(arguments)
    if arguments.dry_run:
        return _dry_run(spec, settings, as_json=arguments.json)
    from harness.render.progress import TerminalWatcher

    try:
        result = run_spec(spec, arguments.out, TerminalWatcher(assume_yes=arguments.yes), settings)
    except IncompleteRun as err:
        if err.result is not None:  # what was answered is shown before the error says what is missing
            show(err.result, as_json=arguments.json)
        raise
    show(result, as_json=arguments.json)
    return 0


def _spec(arguments: argparse.Namespace) -> RunSpec:
    if arguments.full and arguments.board not in (None, "controls-full"):
        raise UsageError("--full is the board controls-full; leave --board away")
    return RunSpec(
        board="controls-full" if arguments.full else arguments.board,
        data=arguments.data,
        content=tuple(arguments.content),
        languages=arguments.langs,
        tasks=arguments.tasks,
        metrics=arguments.metrics,
        judges=tuple(arguments.judge or (DEFAULT_JUDGE,)),
        base_url=arguments.base_url,
        variants=tuple(arguments.variant) if arguments.variant else None,
        temperatures=arguments.temperature,
        top_ps=arguments.top_p or (None,),
        perturbations=tuple(arguments.perturb or ()),
        segmenters=arguments.segmenter,
        allow_unreviewed=arguments.allow_unreviewed,
        repeats=arguments.repeats,
        reask=arguments.reask == "refused",
        seed=arguments.seed,
        limit=arguments.limit,
    )


def _settings(arguments: argparse.Namespace) -> Settings:
    if arguments.detach and arguments.engine != "batch":
        raise UsageError("--detach is for --engine batch: only a provider's batches go on by themselves")
    if arguments.engine != "ray" and (arguments.ray_address is not None or arguments.ray_actors is not None):
        raise UsageError("--ray-address and --ray-actors say how to ask from a Ray cluster; add --engine ray")
    return Settings(
        engine=arguments.engine,
        batches="detach" if arguments.detach else "wait",
        concurrency=dict(arguments.concurrency or ()),
        rpm=dict(arguments.rpm or ()),
        tpm=dict(arguments.tpm or ()),
        attempts=arguments.attempts,
        timeout=arguments.timeout,
        limits=Limits(arguments.max_cost, arguments.max_calls, arguments.max_minutes),
        prices=arguments.prices,
        cluster=Cluster(arguments.ray_address or "auto", arguments.ray_actors),
    )


def report(arguments: argparse.Namespace) -> int:
    with Store.reading(arguments.out) as store:
        known = list(store.runs())
    if not known:
        raise UsageError(f"no runs in {arguments.out} yet; make one with 'harness run'")
    page_path(arguments.html)  # before anything that takes time
    result = reopen(arguments.run or known[-1], arguments.out)
    form = next((name for name in ("md", "csv", "latex") if getattr(arguments, name)), None)
    found = show(result, as_json=arguments.json, quiet=arguments.html is not None or form is not None)
    if page := page_path(arguments.html, result.folder / "report.html"):
        from harness.render.html import report_page
        from harness.tables import write_atomic

        write_atomic(page, report_page(result, found))
        print(page)
    elif form:
        sys.stdout.write(_as_text(found, form))
    if arguments.figures:
        from harness.render.figures import draw_figures

        for path in draw_figures(found.as_json(), result.folder / "figures"):
            print(path, file=sys.stderr)
    return 0


def _as_text(found: Report, form: str) -> str:
    if form == "md":
        from harness.render.markdown import report_markdown

        return report_markdown(found)
    if form == "latex":
        if found.sealed:
            raise UsageError("the labels of this board are sealed, so that there is no agreement to set; --md and --csv say what was read")
        from harness.render.latex import report_latex

        return report_latex(found)
    from harness.render.files import report_csv

    return report_csv(found)


def show(result: RunResult, *, as_json: bool, quiet: bool = False) -> Report:
    """Write the run's derived files, print its report (unless `quiet`) and return it."""
    from harness.render.ablations import print_ablations
    from harness.render.files import write_files
    from harness.render.terminal import print_report

    found = make_report(result)
    write_files(result.folder, found)
    if quiet:
        return found
    if as_json:
        sys.stdout.write(to_json(found.as_json()))
    elif result.prepared.data.sealed:
        from harness.render.sealed import print_covered

        print_covered(found)
        print(f"\nfiles: {result.folder}", file=sys.stderr)
    else:
        print_report(found)
        print_ablations(found.ablations)
        print(f"\nfiles: {result.folder}", file=sys.stderr)
    return found


def runs(arguments: argparse.Namespace) -> int:
    with Store.reading(arguments.out) as store:
        known = store.runs()
    if arguments.json:
        sys.stdout.write(to_json({name: msgspec.json.decode(spec) for name, spec in known.items()}))
    else:
        for name in known:
            print(plain(name))
    return 0


def _dry_run(spec: RunSpec, settings: Settings, *, as_json: bool) -> int:
    prepared = prepare(spec)
    judges = open_judges(spec, prepared)
    check_engine(settings, judges)
    rows = []
    prompts: dict[str, Sequence[object]] = {}
    for judge, calls in zip(judges, calls_of(prepared, judges).values(), strict=True):
        wanted = estimate(calls, price_asked(judge.identity, settings))
        rows.append({"judge": judge.identity.name, **msgspec.structs.asdict(wanted)})
        for call in calls:
            ask = call.ask
            prompts.setdefault(f"{ask.item.language} {ask.item.task} {'+'.join(ask.metrics)} {ask.condition.variant}", call.prompt.messages)
    if as_json:
        sys.stdout.write(to_json({"judges": rows, "prompts": prompts}))
        return 0
    for cell, messages in prompts.items():
        print(plain(f"── {cell}"))
        for message in messages:
            print(f"[{message.role}]\n{plain(message.content)}")  # type: ignore[attr-defined]
    for row in rows:
        cost = (
            "price unknown"
            if row["cost"] is None
            else f"${row['cost']:.2f}" + (f" (prices of {row['price'].as_of})" if row["cost"] else "")
        )
        print(f"{row['judge']}: {row['calls']} calls, about {row['prompt_tokens']} prompt and {row['answer_tokens']} answer tokens, {cost}")
    return 0
