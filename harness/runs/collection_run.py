"""Boards that are asked together: one plan, one price, one store, one budget. Each board stays a run of its own, which can be submitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from harness.asking import Settings
from harness.content import Library
from harness.content.specs import BoardCollection, BoardData, DatasetCard
from harness.content.tags import choose_from, resolve
from harness.engines.budget import budget_of
from harness.errors import IncompleteRun, MissingData, UsageError
from harness.model import JudgeIdentity
from harness.runs.asked_questions import board_conditions
from harness.runs.asking import AskingPlace, CostEstimate, Watcher, calls_to_ask, estimate_cost, price_for_engine, reading_of
from harness.runs.decision_models import refuse_unfit_judges
from harness.runs.plan import Plan
from harness.runs.preparation import with_panels
from harness.runs.runner import OpenedRun, RunResult, ask_opened, open_run
from harness.runs.sources import usual_folder
from harness.runs.specification import ChosenTexts, RunSpec
from harness.store import Store


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
        for identity, estimate, stored in _in_all(opened, plans, store, settings):
            watcher.planned(identity, estimate, stored)
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


def _in_all(
    opened: Mapping[str, OpenedRun], plans: Mapping[str, Plan], store: Store, settings: Settings
) -> Iterator[tuple[JudgeIdentity, CostEstimate, int]]:
    """For each judge: what all boards together still ask, and how many of their calls are answered."""
    totals: dict[str, tuple[JudgeIdentity, CostEstimate, int]] = {}
    for name, opened_run in opened.items():
        for judge in opened_run.judges:
            asking_place = AskingPlace(store, reading_of(opened_run.prepared, opened_run.reask), settings)
            calls, unanswered = calls_to_ask(judge, plans[name], asking_place)
            missing = calls if settings.fresh else unanswered
            estimate = estimate_cost(missing, price_for_engine(judge.identity, settings))
            _, before, stored = totals.get(judge.identity.name, (judge.identity, None, 0))
            totals[judge.identity.name] = judge.identity, added(before, estimate), stored + len(calls) - len(missing)
    yield from totals.values()


def added(first: CostEstimate | None, other: CostEstimate) -> CostEstimate:
    """Return the cost of two sets of calls of one judge together."""
    if first is None:
        return other
    cost = None if first.cost is None or other.cost is None else first.cost + other.cost
    tokens = (first.prompt_tokens + other.prompt_tokens, first.answer_tokens + other.answer_tokens)
    return CostEstimate(first.calls + other.calls, *tokens, cost, other.price)
