"""`harness gate` and `harness watch`: limits and certificates that are held against a judge again and again."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import api, sources
from harness.cli.arguments import check_figure
from harness.cli.commands.use_scores import CheckWatch, Gate, WatchAdd, WatchDraw, WatchInit
from harness.errors import GATE_FAILED, GATE_INCONCLUSIVE, JUDGE, UsageError

if TYPE_CHECKING:
    from harness.correction.certificate import CertifiedJudge
    from harness.data.judgments import Judgments
    from harness.measure.compare import Recording
    from harness.runs import RunResult
    from harness.watch.watch_folder import Asking


def gate(arguments: Gate) -> int:
    from harness.gate.check import UNREAD
    from harness.render.gate_and_watch import gate_junit, gate_markdown, print_gate
    from harness.render.terminal import working
    from harness.row_files import to_json, write_atomic

    policy = arguments.policy or Path("gate.toml")
    if not arguments.policy and not policy.is_file():
        raise UsageError(f"there is no gate.toml here; 'harness new gate {arguments.source}' writes a first one")
    with working("checking limits"):
        result = api.check_gate(arguments.source, policy, arguments.options, out=arguments.out)
    if arguments.junit:
        write_atomic(arguments.junit, gate_junit(result))
    if arguments.json:
        write_atomic(arguments.json, to_json(result.as_json()))
    if arguments.summary:
        write_atomic(arguments.summary, gate_markdown(result))
    card = ["--card", arguments.options.card] if arguments.options.card else []
    checked_words = [arguments.source, *card, *(["--out", str(arguments.out)] if arguments.out != Path("results") else [])]
    print_gate(result, checked_words, all_rows=arguments.all, notes=arguments.notes)
    if result.outcome == "inconclusive" and any(UNREAD in check.obstacles for check in result.checks):
        return JUDGE
    return {"pass": 0, "fail": GATE_FAILED, "inconclusive": GATE_INCONCLUSIVE}[result.outcome]


def init(arguments: WatchInit) -> int:
    from harness.cli.arguments import judged_run, opened_source
    from harness.correction import certificate
    from harness.render.gate_and_watch import print_plan
    from harness.watch.watch_folder import WatchStart, begin, open_watch, refuse_unfit
    from harness.watch.watch_options import WatchOptions

    certified = certificate.load(arguments.certificate)
    source = opened_source(arguments)
    run = source.run
    start = WatchStart(certified, source.recording, str(run.folder.resolve()) if run else None)
    refuse_unfit(start, judged_run(run))
    earlier = open_watch(arguments.folder).plan.options if arguments.restart else WatchOptions()
    options = replace(earlier, **arguments.stated["options"])
    ask = _make_asking(run, certified.judge, arguments) if run else None
    plan = begin(arguments.folder, start, options, arguments.date or _today(), ask, restart=arguments.restart)
    print_plan(plan, str(arguments.folder), open_watch(arguments.folder).earlier)
    return 0


def _make_asking(run: RunResult, judge: CertifiedJudge, arguments: Any) -> Asking:
    """Asks the judge of a run about items again, under the certified condition."""
    from harness.asking_options import Settings
    from harness.model import SAMPLING
    from harness.options import part_of
    from harness.render.progress import TerminalWatcher
    from harness.runs import AskAgain, ask_again

    condition = next(
        condition
        for condition in run.protocol.questions.conditions
        if not condition.perturbation
        and (condition.order, condition.shown_source, str(condition.variant)) == ("forward", "none", judge.variant)
        and all(getattr(condition, axis) == getattr(judge, axis) for axis in SAMPLING)
    )

    def ask(times: Mapping[str, int], out: Path) -> Judgments:
        wanted = AskAgain(judge.name, condition, run.protocol.questions.metrics, times)
        watcher = TerminalWatcher(assume_yes=arguments.yes)
        return ask_again(run, wanted, out, watcher, part_of(arguments.asking, Settings), arguments.addresses)

    return ask


def add(arguments: WatchAdd) -> int:
    from harness.render.gate_and_watch import day_lines
    from harness.render.terminal import print_lines
    from harness.runs import reopen
    from harness.watch.watch_folder import NewScores, add_day, open_watch

    plan = open_watch(arguments.folder).plan
    ask = None
    if plan.run is not None and arguments.answers is None:
        ask = _make_asking(reopen(Path(plan.run), arguments.out), plan.judge, arguments)
    new = NewScores(_open_recording(arguments.source, arguments), _open_recording(arguments.answers, arguments))
    added = add_day(arguments.folder, arguments.date or _today(), new, _today(), ask)
    print_lines(day_lines(added, str(arguments.folder)))
    return 0


def _open_recording(source: str | None, arguments: Any) -> Recording | None:
    return None if source is None else sources.open_sources([source], arguments.card, arguments.out)[0].recording


def check(arguments: CheckWatch) -> int:
    check_figure(arguments.figure)
    from harness.render.gate_and_watch import print_watch, watch_junit
    from harness.row_files import to_json, write_atomic

    watched = api.check_watch(arguments.folder, arguments.date)
    if arguments.junit:
        write_atomic(arguments.junit, watch_junit(watched))
    if arguments.figure:
        from harness.render.gate_and_watch import draw_watch

        draw_watch(watched, arguments.figure)
    if arguments.json:
        sys.stdout.write(to_json(watched.as_json()))
    else:
        print_watch(watched, str(arguments.folder))
    if watched.answer == "not yet known":
        return GATE_INCONCLUSIVE
    return GATE_FAILED if watched.changed or watched.expired else 0


def draw(arguments: WatchDraw) -> int:
    from harness.watch.watch_folder import drawn

    for item_id, times in sorted(drawn(arguments.folder, arguments.date or _today()).items()):
        print(f"{times}\t{item_id}")
    return 0


def _today() -> date:
    return datetime.now(UTC).date()
