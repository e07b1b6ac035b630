"""Runs a specification: asks the judges for replies that the store lacks, then reads all judgments from the store.

The same specification is the same run. Repeating it resumes the run or reads it again, and no call is paid for twice.
A judge is asked again about some of its texts in a results folder of their own: its store holds no reply yet, so every call is a new one;
and a command that was killed goes on where it stopped.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from harness.asking_options import Addresses, Settings
from harness.content import Library
from harness.content.specs import BoardCollection, BoardData, DatasetCard
from harness.content.tags import choose_from, resolve
from harness.data.judgments import Judgments, read_judgments
from harness.engines import JudgeOpening, check_engine
from harness.engines.batch_submission import open_batches
from harness.engines.budget import budget_of
from harness.errors import ContentError, IncompleteRun, JudgeError, MissingData, UsageError
from harness.judges import Judge, JudgeOptions, open_judge, opening_name, traits_of
from harness.judges.judge_protocol import Environment
from harness.model import Condition, JudgeIdentity
from harness.offensive_texts import refuse_in_repository
from harness.prompts import decision_program_hash
from harness.row_files import can_write, temporary_copy
from harness.runs.ask_judges import (
    AskingPlace,
    FirstLanguage,
    Watcher,
    ask_judges,
    begin_fresh_run,
    calls_to_ask,
    finish_fresh_run,
    note_address,
    reading_of,
    unfinished_fresh_run,
    why_stopped,
)
from harness.runs.asked_questions import board_conditions, refuse_unfit_judges
from harness.runs.board_data import usual_folder
from harness.runs.derived_files import update_judgments
from harness.runs.plan import Plan, PlannedCalls
from harness.runs.preparation import Prepared, prepare, with_panels
from harness.runs.prices import CostEstimate, added, estimate_cost, price_for_engine, price_of
from harness.runs.protocol import RunProtocol
from harness.runs.results import RunResult, run_place, write_record
from harness.runs.specification import ChosenJudges, ChosenTexts, RunSpec
from harness.runs.study import study_named
from harness.store import Store


def judge_options(
    spec: RunSpec, prepared: Prepared, environment: Mapping[str, str] | None = None, timeout: float | None = None
) -> JudgeOptions:
    """The options that the judges of a specification are opened with; by default with the environment of this process."""
    return JudgeOptions(
        spec.base_url.get(""), Environment(os.environ if environment is None else environment), prepared.training, spec.seed, timeout
    )


def open_judges(spec: RunSpec, prepared: Prepared, environment: Mapping[str, str] | None = None) -> list[Judge]:
    """Open the judges of a specification without starting them, with the options from `environment`; of a panel, its members."""
    return open_with(with_panels(spec), judge_options(spec, prepared, environment))[0]


def open_with(chosen: ChosenJudges, options: JudgeOptions) -> tuple[list[Judge], dict[str, JudgeOpening]]:
    """The judges of a specification, opened with these options, and what each was opened with, by its name.

    A judge's own endpoint goes before that of the options. Raises UsageError for one of a judge that is not in the run.
    """
    if not chosen.judges or len(set(chosen.judges)) != len(chosen.judges):
        raise UsageError(f"name each judge once; got: {', '.join(chosen.judges) or 'none'}")
    for name in chosen.base_url:
        if name and name not in chosen.judges:
            raise UsageError(f"--base-url names '{name}', which is not a judge of this run; its judges: {', '.join(chosen.judges)}")
    addresses = {name: chosen.base_url.get(name, options.base_url) for name in chosen.judges}
    by_name = {
        name: msgspec.structs.replace(
            options,
            base_url=address,
            headers=of_judge(chosen.headers, name, chosen.judges),
            body=of_judge(chosen.body, name, chosen.judges),
            persona=chosen.personas.get(name, ""),
        )
        for name, address in addresses.items()
    }
    judges = [open_judge(name, opts) for name, opts in by_name.items()]
    names = [judge.identity.name for judge in judges]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"two judges would have the name '{name}' in the report; run them one after the other with different --out folders"
            )
    openings = {judge.identity.name: JudgeOpening(*opened) for opened, judge in zip(by_name.items(), judges, strict=True)}
    return judges, openings


def of_judge(fields: Mapping[str, Any], judge: str, judges: Collection[str]) -> dict[str, Any]:
    """Return the headers or body fields of one judge: those of all judges, and its own, whose names follow `JUDGE=`.

    Raises UsageError for a field of a judge that is not among `judges`.
    """
    settings = {}
    for key, value in sorted(fields.items(), key=lambda item: "=" in item[0]):
        name, _, field = key.rpartition("=")
        if name and name not in judges:
            raise UsageError(f"'{name}' is not a judge of this run; its judges: {', '.join(judges)}")
        if name in ("", judge):
            settings[field] = value
    return settings


def run(spec: RunSpec, out: Path, watcher: Watcher, settings: Settings) -> RunResult:
    """Ask the calls that have no reply yet, and read the whole run from the store.

    Raises what `prepare` raises, JudgeError, StoreError, and IncompleteRun if calls have no answer; the same command continues it.
    """
    opened = open_run(spec, out, settings)
    opened.ask_consent(watcher, settings)
    with Store.writing(out) as store:
        return ask_opened(opened, store, out, watcher, settings)


class OpenedRun(msgspec.Struct, frozen=True):
    """A run that can be asked: its protocol with its data, and its judges with what each was opened with."""

    prepared: Prepared
    judges: Sequence[Judge]
    openings: Mapping[str, JudgeOpening] = {}
    reask: tuple[str, ...] = ()  # failures of replies that are asked again

    def ask_consent(self, watcher: Watcher, settings: Settings) -> None:
        """Ask before texts of the user's own leave this machine. Raises UsageError without consent."""
        for host in remote_hosts(self.judges, settings) if self.prepared.data.private else ():
            watcher.consent(host, len(self.prepared.data.asked_metrics))


def open_run(spec: RunSpec, out: Path, settings: Settings) -> OpenedRun:
    """Everything about a run that can be refused before the results folder is opened. Raises as `run`."""
    check_engine(settings)
    spec = with_panels(spec)
    prepared = prepare(spec)
    judges, openings = open_with(spec, judge_options(spec, prepared, timeout=settings.timeout))
    check_engine(settings, judges)
    check_prices(judges, settings)
    refuse_in_repository(out, prepared.data.about)  # the store holds prompts and replies
    # The protocol with the identities of its judges; members of panels have the names that their judgments have.
    names = {opening.name: name for name, opening in openings.items()}
    panels = {
        name: msgspec.structs.replace(panel, members=tuple(names[member] for member in panel.members))
        for name, panel in prepared.protocol.judges.panels.items()
    }
    identities = tuple(judge.identity for judge in judges)
    decision_prompts = decision_program_hash() if any(traits_of(identity).decides for identity in identities) else ""
    protocol = prepared.protocol.with_fields(identities=identities, panels=panels, decision_prompts=decision_prompts)
    prepared = msgspec.structs.replace(prepared, protocol=protocol)
    prepared.refuse_unfit_judges(protocol.judges.identities)
    study_named(protocol.texts.study).refuse(protocol, prepared.data.items)
    return OpenedRun(prepared, judges, openings, spec.reask)


def collect_batches(
    name: str | Path,
    out: Path,
    watcher: Watcher,
    settings: Settings,
    addresses: Addresses = Addresses(),
) -> RunResult:
    """Fetch the finished batches of run `name`, and submit nothing. Takes what `reopen` takes; raises as it and `run`."""
    name, out = run_place(name, out)
    with Store.writing(out) as store:
        prepared = _prepare_stored(name, store, out)
        identities = [identity for identity in prepared.protocol.judges.identities if open_batches(store, identity.name)]
        names = [opening_name(identity) for identity in identities]
        options = JudgeOptions(environment=os.environ, timeout=settings.timeout)
        judges = [
            reopen_judge(
                identity,
                msgspec.structs.replace(options, base_url=addresses.address_of(name), headers=of_judge(addresses.headers, name, names)),
            )
            for identity, name in zip(identities, names, strict=True)
        ]
        collecting = replace(settings, engine="batch", collect=True)
        return ask_opened(OpenedRun(prepared, judges), store, out, watcher, collecting)


def reopen_judge(identity: JudgeIdentity, options: JudgeOptions) -> Judge:
    """Open the judge of an earlier run again, with the further fields of its requests, which are recorded.

    Raises UsageError if the address or the headers are not those of this judge.
    """
    body = msgspec.json.decode(str(identity.settings.get("body", "{}")))
    persona = str(identity.settings.get("persona", ""))
    judge = open_judge(opening_name(identity), msgspec.structs.replace(options, body=body, persona=persona))
    if judge.identity != identity:
        flags = "--base-url or OPENAI_BASE_URL names the endpoint"
        if judge.identity.settings.get("headers") != identity.settings.get("headers"):
            flags += "; --header NAME=VALUE gives a header, whose value is not recorded"
        raise UsageError(
            f"{identity.name} was asked with the settings {_settings_text(identity)}, and here it has {_settings_text(judge.identity)}; "
            f"{flags}"
        )
    return judge


def _settings_text(identity: JudgeIdentity) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(identity.settings.items())) or "none"


def ask_opened(opened: OpenedRun, store: Store, out: Path, watcher: Watcher, settings: Settings, plan: Plan | None = None) -> RunResult:
    """Ask the judges of a run the calls that have no reply, and read the whole run from the store. `plan`: if it is made already.

    Raises JudgeError, StoreError, and IncompleteRun if calls have no answer.
    """
    prepared, judges, openings = opened.prepared, opened.judges, opened.openings
    plan = plan or prepared.plan(store)
    prepared.refuse_empty(plan)
    started = time.time()
    run = prepared.protocol.name
    is_new = run not in store.runs()
    store.put_run(run, msgspec.json.encode(prepared.protocol.flat()))
    since = begin_fresh_run(store, run) if settings.fresh else None

    def show(part: Prepared) -> None:  # of a run that is being asked: read in a folder of its own
        with TemporaryDirectory() as folder:
            watcher.first_language(read_run(part, store, Path(folder)))

    first = FirstLanguage(prepared, plan, store, show)
    setting = AskingPlace(store, reading_of(prepared, opened.reask, watcher), settings, since)
    try:
        sessions, engine = ask_judges(judges, openings, plan, setting, watcher, first.look)
    except JudgeError:
        if is_new and not (
            any(
                any(number is not None for number in store.last_attempts(plan.calls(judge.identity).ids()))
                or store.batches(run, judge.identity.name)
                for judge in judges
            )
        ):
            finish_fresh_run(store, run)
            store.drop_run(run)  # otherwise a run without an answer would look like a result
        raise
    stale: dict[str, int] = {}  # the number of calls of each judge without a reply since that time
    for judge in judges if since is not None else ():
        stale[judge.identity.name] = sum(number is None for number in store.last_attempts(plan.calls(judge.identity).ids(), since))
    if settings.fresh and not any(stale.values()):
        finish_fresh_run(store, run)
        for judge in judges:
            note_address(store, judge, only=True)
    result = read_run(prepared, store, out, plan)
    write_record(result.folder / "run.json", result.protocol, result.answers, started, sessions, settings, engine)
    if not settings.fresh and unfinished_fresh_run(store, run) is not None:
        watcher.note("a --fresh command of this run was not finished, so the run holds older and newer answers; --fresh continues it")
    for warning in result.answers.warnings:
        watcher.note(warning)
    missing = ", ".join(f"{count} of {judge}" for judge, count in (stale or result.answers.missing).items() if count)
    again = "Run the same command again: all answers are kept"
    if any(session.interrupted for session in sessions):
        raise IncompleteRun(f"interrupted; calls without an answer: {missing or 'none'}. {again}", result, interrupted=True)
    if missing and (settings.detach or settings.collect):
        under_way = sum(session.under_way for session in sessions)
        why = why_stopped(sessions)
        advice = f"None of them is in a batch{f' ({why})' if why else ''}; run the same command again to ask them"
        if under_way:
            advice = (
                f"{under_way} calls are with the provider: 'harness batch status --out {out}' shows their progress, 'harness batch collect "
                f"{result.name} --out {out}' fetches finished batches, and the same command without --detach waits for them"
            )
        raise IncompleteRun(f"calls without an answer: {missing}. {advice}")
    if missing:
        raise IncompleteRun(f"calls without an answer: {missing} ({why_stopped(sessions, 'no reason was given')}). {again}", result)
    return result


def remote_hosts(judges: Sequence[Judge], settings: Settings) -> set[str]:
    """The hosts that texts would be sent to, without this machine."""
    hosts = {judge.endpoint for judge in judges if judge.endpoint}
    if settings.engine == "ray" and settings.ray_address != "local":
        hosts.add(f"the nodes of the Ray cluster '{settings.ray_address or 'auto'}'")
    return hosts


def check_prices(judges: Sequence[Judge], settings: Settings) -> None:
    unknown = [judge.identity.name for judge in judges if price_of(judge.identity, settings.prices) is None]
    if settings.max_cost is not None and unknown:
        raise UsageError(f"--max-cost needs a price, but none is known for {', '.join(unknown)}; give one with --prices FILE")


def read_run(prepared: Prepared, store: Store, out: Path, plan: Plan | None = None) -> RunResult:
    """Read a run's judgments from the store, or from the run's folder if nothing has changed. Asks no judge."""
    plan = plan or prepared.plan(store)
    folder = out / "runs" / prepared.protocol.name
    derived = folder if can_write(folder) else temporary_copy(folder, "judgments.parquet", "answers.json")
    answers = update_judgments(prepared, plan, store, derived / "judgments.parquet")
    return RunResult(
        name=prepared.protocol.name,
        folder=folder,
        derived=derived,
        protocol=prepared.protocol,
        prepared=prepared,
        judgments=read_judgments(derived / "judgments.parquet", prepared.data.scales),
        answers=answers,
        realised=plan.realised,
        absent=plan.absent,
    )


def reopen(name: str | Path, out: Path) -> RunResult:
    """Read run `name` (or the run whose name begins so) of a results folder again, with the content that it was made with.

    In the place of a name, the path of the run's folder or of a file in it is enough; `out` is then not used.

    Raises StoreError without a store, UsageError for an unknown or ambiguous name, ContentError if the content has changed since.
    """
    name, out = run_place(name, out)
    with Store.reading(out) as store:
        return read_run(_prepare_stored(name, store, out), store, out)


def _prepare_stored(name: str, store: Store, out: Path) -> Prepared:
    """Prepare run `name` of a store from today's content. Raises as `reopen`."""
    runs = store.runs()
    matching = [stored_name for stored_name in runs if stored_name == name] or [
        stored_name for stored_name in runs if stored_name.startswith(name)
    ]
    if len(matching) != 1:
        problem = f"no run '{name}'" if not matching else f"'{name}' matches several runs"
        raise UsageError(f"{problem} in {out}.{choose_from(matching or list(runs), name)}")
    protocol = RunProtocol.read(runs[matching[0]])
    worded = (
        str(condition.variant) for condition in protocol.questions.conditions if not condition.variant.prompt
    )  # beside the user's own prompts
    spec = RunSpec(
        board=protocol.texts.board,
        data=Path(protocol.texts.data) if protocol.texts.data else None,
        content=tuple(map(Path, protocol.texts.content)),
        languages=protocol.texts.languages,
        tasks=tuple(protocol.wording.tasks),
        metrics=protocol.questions.metrics,
        limit=protocol.texts.limit,
        examples=Path(protocol.wording.examples_from) if protocol.wording.examples_from else None,
        unlabelled=protocol.texts.unlabelled,
        only=protocol.texts.only,
        study=protocol.texts.study,
        own_prompts=protocol.questions.own_prompts,
        own_rubrics=protocol.questions.own_rubrics,
        variants=tuple(dict.fromkeys(worded)),
        allow_unreviewed=True,
    )
    prepared = prepare(spec)
    if prepared.protocol.texts.data_sha256 != protocol.texts.data_sha256:
        raise ContentError(
            f"the items or labels of run {protocol.name} have changed since it was made; check out its content, or run it again",
            protocol.texts.data or "languages",
        )
    return msgspec.structs.replace(prepared, protocol=protocol)


def planned_calls(prepared: Prepared, judges: Sequence[Judge]) -> dict[str, PlannedCalls]:
    """`{judge name: calls}` for a dry run, without a store."""
    identities = tuple(judge.identity for judge in judges)
    prepared.refuse_unfit_judges(identities)
    plan = msgspec.structs.replace(prepared, protocol=prepared.protocol.with_fields(identities=identities)).plan(None)
    prepared.refuse_empty(plan)
    return {judge.identity.name: plan.calls(judge.identity) for judge in judges}


class AskAgain(msgspec.Struct, frozen=True):
    """The questions: the judge's name, the condition, the metrics, and the repeats for each item."""

    judge: str
    condition: Condition
    metrics: tuple[str, ...]
    times: Mapping[str, int]


def ask_again(
    result: RunResult,
    wanted: AskAgain,
    out: Path,
    watcher: Watcher,
    settings: Settings,
    addresses: Addresses = Addresses(),
) -> Judgments:
    """Ask a part of a run's questions: the calls that have no reply in the results folder `out` yet. Returns all their judgments.

    Where one call or conversation is about several metrics, it is about those of the run. `addresses` say where the judge answers, by
    default its usual endpoint, and with which further headers it was asked.

    Raises:
        UsageError: for a judge that is not one of the run, and an endpoint that is not its own.
        JudgeError, StoreError; IncompleteRun if calls have no answer: the same call continues.
    """
    identity = next((judge_identity for judge_identity in result.protocol.judges.identities if judge_identity.name == wanted.judge), None)
    if identity is None:
        raise UsageError(f"the run {result.name} did not ask '{wanted.judge}'")
    headers = of_judge(addresses.headers, wanted.judge, [wanted.judge])
    options = JudgeOptions(addresses.address_of(wanted.judge), os.environ, timeout=settings.timeout, headers=headers)
    judges = [reopen_judge(identity, options)]
    refuse_in_repository(out, result.prepared.data.about)  # the store holds prompts and replies
    for host in remote_hosts(judges, settings) if result.prepared.data.private else ():
        watcher.consent(host, len(wanted.times))
    with Store.writing(out) as store:
        parts = [
            ask_opened(OpenedRun(_part(result.prepared, wanted, times), judges), store, out, watcher, settings).judgments
            for times in sorted(set(wanted.times.values()))
        ]
    return Judgments.concatenate(parts)


def _part(prepared: Prepared, wanted: AskAgain, times: int) -> Prepared:
    """The items that are asked about so many times, under the one condition."""
    data = prepared.data.only(item for item in prepared.data.items if wanted.times.get(item.item_id) == times)
    together = wanted.condition.variant.call != "single"
    metrics = prepared.protocol.questions.metrics
    protocol = prepared.protocol.with_fields(
        metrics=metrics if together else tuple(name for name in metrics if name in wanted.metrics),
        conditions=(wanted.condition,),
        repeats=times,
        limit=None,
        data_sha256=data.sha256,
        panels={},
        identities=tuple(identity for identity in prepared.protocol.judges.identities if identity.name == wanted.judge),
    )
    return msgspec.structs.replace(prepared, data=data, protocol=protocol)


def board_specs(spec: RunSpec, collection: BoardCollection, library: Library) -> list[RunSpec]:
    """The specification of each board of a collection that has some of the languages, tasks and metrics of `spec`, limited to these.

    Raises UsageError for a language, task or metric that no board has, and for what only one board or a data folder can have.
    """
    for value, flag in ((spec.data, "--data"), (spec.unlabelled, "--unlabelled"), (spec.study, "--study"), (spec.prompts, "--prompt")):
        if value:
            raise UsageError(f"{flag} does not fit the collection '{collection.id}', whose boards have data and questions of their own")
    boards = [library.board(name) for name in collection.boards]
    languages = sorted({tag for board in boards for tag in board.languages})
    wanted = {
        "languages": resolve(spec.languages, languages, f"board of '{collection.id}'") if spec.languages is not None else languages,
        "tasks": _known(spec.tasks, [name for board in boards for name in board.tasks], "task"),
        "metrics": _known(spec.metrics, [name for board in boards for name in board.rubrics], "metric"),
    }
    chosen = []
    for board in boards:
        has = {"languages": sorted(board.languages), "tasks": [*board.tasks], "metrics": [*board.rubrics]}
        board_choices = {what: tuple(name for name in names if name in wanted[what]) for what, names in has.items()}
        if all(board_choices.values()):
            chosen.append(
                replace(
                    spec,
                    board=board.id,
                    languages=board_choices["languages"],
                    tasks=board_choices["tasks"],
                    metrics=board_choices["metrics"],
                )
            )
    if not chosen:
        raise UsageError(f"no board of '{collection.id}' has these languages, tasks and metrics together; leave out one of them")
    return chosen


def _known(names: Sequence[str] | None, allowed: Sequence[str], kind: str) -> Sequence[str]:
    choices = sorted(dict.fromkeys(allowed))
    for name in names or ():
        if name not in choices:
            raise UsageError(f"no {kind} '{name}' on a board of the collection.{choose_from(choices, name)}")
    return choices if names is None else names


def absent_cards(specs: Sequence[ChosenTexts], library: Library) -> dict[str, DatasetCard]:
    """`{board: card of its data}` of the boards whose data are not on this machine."""
    data = {str(spec.board): library.board(str(spec.board)).data for spec in specs}
    cards = {name: board_data.card for name, board_data in data.items() if isinstance(board_data, BoardData) and not board_data.hub}
    return {name: library.dataset_card(card) for name, card in cards.items() if usual_folder(card) is None}


class Together(msgspec.Struct, frozen=True):
    """The runs of a collection's boards, by board. `unfinished` says why calls have no answer; empty if all have one.

    `left_out` says of boards that need all of a set why they were not asked: only a part of it is here.
    """

    results: dict[str, RunResult]
    unfinished: str = ""
    interrupted: bool = False
    left_out: tuple[str, ...] = ()


def askable_boards(specs: Sequence[RunSpec], library: Library) -> tuple[list[RunSpec], list[str]]:
    """The boards whose questions all judges can be asked, and a sentence for each of the others."""
    askable, left_out = [], []
    for spec in specs:
        scales = {name: library.rubric(name).scale for name in spec.metrics or ()}
        conditions = board_conditions(spec, library.board(str(spec.board)), scales.values())
        try:
            refuse_unfit_judges(with_panels(spec).judges, conditions, scales)
        except UsageError as err:
            left_out.append(f"{spec.board} is left out: {err}")
        else:
            askable.append(spec)
    return askable, left_out


def run_together(specs: Sequence[RunSpec], out: Path, watcher: Watcher, settings: Settings) -> Together:
    """Ask the boards one after the other, after one plan of all of them; what a limit leaves out is read as far as it is stored.

    `watcher` is told what each judge is asked in all before anything is asked. Raises as `run`, except IncompleteRun; MissingData if no
    board has all of its data.
    """
    opened: dict[str, OpenedRun] = {}
    left_out: list[str] = []
    for spec in specs:
        try:
            opened[str(spec.board)] = open_run(spec, out, settings)
        except MissingData as err:
            left_out.append(f"{spec.board} is left out: {err}")
    if not opened:
        raise MissingData("\n         ".join(["no board can be asked:", *left_out]))
    settings = replace(settings, shared_budget=budget_of(settings))
    results: dict[str, RunResult] = {}
    unfinished, interrupted = [], False
    with Store.writing(out) as store:
        plans = {name: opened_run.prepared.plan(store) for name, opened_run in opened.items()}
        # For each judge: what all boards together still ask, and how many of their calls are answered.
        totals: dict[str, tuple[JudgeIdentity, CostEstimate, int]] = {}
        for name, opened_run in opened.items():
            for judge in opened_run.judges:
                asking_place = AskingPlace(store, reading_of(opened_run.prepared, opened_run.reask), settings)
                calls, unanswered = calls_to_ask(judge, plans[name], asking_place)
                missing = calls if settings.fresh else unanswered
                estimate = estimate_cost(missing, price_for_engine(judge.identity, settings))
                _, before, stored = totals.get(judge.identity.name, (judge.identity, None, 0))
                totals[judge.identity.name] = judge.identity, added(before, estimate), stored + len(calls) - len(missing)
        for total in totals.values():
            watcher.planned(*total)
        for name, opened_run in opened.items():
            watcher.note(f"board {name}: {opened_run.prepared.protocol.texts.title}")
            try:
                results[name] = ask_opened(opened_run, store, out, watcher, settings, plans[name])
            except IncompleteRun as err:
                if err.result is None:
                    raise
                results[name] = err.result
                unfinished.append(f"{name}: {err}")
                interrupted = err.exit_code != IncompleteRun.exit_code
                if interrupted:
                    break
    return Together(results, "\n         ".join(unfinished), interrupted, tuple(left_out))
