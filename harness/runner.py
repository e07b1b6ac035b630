"""plan × judge → store: a run specification is resolved, its missing answers are asked for, and everything derived is written.

The same specification is the same run: repeating it resumes or re-reads, and pays for nothing twice.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import msgspec

from harness import judgments as judging
from harness.content import Board, Dataset, Library, load_bundled, load_folder
from harness.content.tags import resolve, suggest
from harness.errors import ContentError, IncompleteRun, UsageError
from harness.judges import Judge, JudgeOptions, open_judge
from harness.model import Call, Condition, JudgeIdentity, Judgment, parse_variant
from harness.plan import Estimate, Plan, estimate, make_plan
from harness.prompts import Frames
from harness.prompts.frames import program_hash
from harness.store import Store

DEFAULT_BOARD = "controls"
DEFAULT_JUDGE = "local/smollm2-135m"


class RunSpec(msgspec.Struct, frozen=True):
    """What a user asks for. None means: what the board says (or, for a data folder, everything)."""

    board: str | None = None
    data: Path | None = None
    content: tuple[Path, ...] = ()
    languages: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    metrics: tuple[str, ...] | None = None
    judges: tuple[str, ...] = (DEFAULT_JUDGE,)
    base_url: str | None = None
    variants: tuple[str, ...] | None = None
    temperatures: tuple[float, ...] | None = None
    repeats: int | None = None
    seed: int = 0
    limit: int | None = None


class Protocolled(msgspec.Struct, frozen=True):
    """A run specification resolved: everything that decides what is asked, as it is kept in the store. `identities` are its judges."""

    source: str  # board or data folder, with version
    title: str
    constructed: bool
    data: str | None
    content: tuple[str, ...]
    board: str | None
    languages: tuple[str, ...]
    tasks: dict[str, str]
    rubrics: dict[str, str]
    metrics: tuple[str, ...]
    conditions: tuple[Condition, ...]
    repeats: int
    seed: int
    limit: int | None
    data_sha256: str
    prompts: str
    identities: tuple[JudgeIdentity, ...] = ()

    @property
    def name(self) -> str:
        """A readable name and a hash: equal protocols have equal names."""
        judges = "+".join(identity.model for identity in self.identities)
        digest = hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()[:8]
        readable = re.sub(r"[^\w.+-]+", "-", f"{self.source.partition('@')[0]}-{'+'.join(self.languages)}-{judges}")
        return f"{readable[:80].strip('-.')}-{digest}"


class Prepared(msgspec.Struct, frozen=True):
    """What a protocol means: the items to judge with their labels, and all that baselines may learn from."""

    protocol: Protocolled
    data: Dataset
    training: Dataset
    library: Library

    def plan(self, store: Store | None) -> Plan:
        frames = Frames(store, self.protocol.prompts)
        p = self.protocol
        return make_plan(self.data, self.library, p.metrics, p.conditions, p.repeats, p.seed, frames)


class Watcher(Protocol):
    """Who looks on: told what is about to be asked, and how it goes. May refuse."""

    def consent(self, host: str, texts: int) -> None:
        """Raises UsageError unless the user's own texts may go to `host`."""

    def planned(self, identity: JudgeIdentity, wanted: Estimate, stored: int) -> None: ...

    def progress(self, identity: JudgeIdentity) -> Callable[[Any], None]: ...

    def finished(self, identity: JudgeIdentity) -> None: ...


class RunResult(msgspec.Struct, frozen=True):
    """A run as it stands in its results folder."""

    name: str
    folder: Path
    protocol: Protocolled
    prepared: Prepared
    judgments: tuple[Judgment, ...]
    missing: dict[str, int]  # judge -> calls without an answer


def prepare(spec: RunSpec) -> Prepared:
    """Resolve names, load and restrict content. Raises UsageError or ContentError; asks nobody."""
    library = Library(*spec.content)
    if spec.data is not None and spec.board is not None:
        raise UsageError("--data and --board exclude each other: a board names its own data")
    return _prepare_folder(spec, spec.data, library) if spec.data else _prepare_board(spec, spec.board or DEFAULT_BOARD, library)


def _prepare_board(spec: RunSpec, name: str, library: Library) -> Prepared:
    board = library.board(name)
    _check_frozen(board, library)
    known = {tag for tag in board.languages if library.item_files(tag)}
    if spec.languages is not None:
        _explain_no_items(spec.languages, known, library)
    languages = tuple(sorted(resolve(spec.languages, known, "items"))) if spec.languages is not None else tuple(sorted(known))
    everything = load_bundled(library, languages)
    tasks = _choose(spec.tasks, board.tasks, "task")
    wanted = {item_id for ids in board.items.values() for item_id in ids}
    items = [i for i in everything.items if i.task in tasks and (i.item_id in wanted if board.items else i.split == "test")]
    return _finish(
        spec,
        everything,
        items,
        library,
        tasks,
        _choose(spec.metrics, board.rubrics, "metric"),
        f"{board.id}@{board.version}",
        board,
        languages,
    )


def _prepare_folder(spec: RunSpec, folder: Path, library: Library) -> Prepared:
    everything = load_folder(folder, library)
    known = sorted({item.language for item in everything.items})
    languages = tuple(sorted(resolve(spec.languages, known, "items"))) if spec.languages is not None else tuple(known)
    judgeable = {item.task for item in everything.items} & set(library.task_files)
    if not judgeable:
        found = ", ".join(sorted({item.task for item in everything.items}))
        raise UsageError(
            f"{folder} has items of '{found}', which no tasks/ entry describes; add one with --content, or see 'harness new task'"
        )
    tasks = _choose(spec.tasks, sorted(judgeable), "task")
    askable = sorted({label.metric for label in everything.labels} & set(library.rubric_files))
    if not askable:
        raise UsageError(f"{folder} has no labels on a metric that a rubric describes; see 'harness list rubrics' and 'harness new rubric'")
    items = [i for i in everything.items if i.language in languages and i.task in tasks and i.split == "test"]
    return _finish(spec, everything, items, library, tasks, _choose(spec.metrics, askable, "metric"), everything.id, None, languages)


def _finish(
    spec: RunSpec,
    everything: Dataset,
    items: Sequence[Any],
    library: Library,
    tasks: Sequence[str],
    metrics: Sequence[str],
    source: str,
    board: Board | None,
    languages: tuple[str, ...],
) -> Prepared:
    data = everything.only(_limited(items, spec.limit))
    if not data.items:
        raise UsageError("nothing is left to judge: no item of these languages and tasks")
    variants = spec.variants or (board.variants if board else ("single",))
    temperatures = spec.temperatures or ((board.temperature,) if board else (0.0,))
    protocol = Protocolled(
        source=source,
        title=board.title if board else everything.id,
        constructed=all(label.source == "constructed" for label in data.labels),
        data=str(spec.data.resolve()) if spec.data else None,
        content=tuple(str(path.resolve()) for path in spec.content),
        board=board.id if board else None,
        languages=languages,
        tasks={name: library.task(name).version for name in tasks},
        rubrics={name: library.rubric(name).version for name in metrics},
        metrics=tuple(metrics),
        conditions=tuple(Condition(_variant(text), float(temperature)) for text in variants for temperature in temperatures),
        repeats=spec.repeats or (board.repeats if board else 1),
        seed=spec.seed,
        limit=spec.limit,
        data_sha256=data.sha256,
        prompts=program_hash(),
    )
    return Prepared(protocol, data, everything, library)


def _variant(text: str) -> Any:
    try:
        return parse_variant(text)
    except ValueError as err:
        raise UsageError(str(err)) from None


def _choose(wanted: Sequence[str] | None, known: Sequence[str] | Mapping[str, str], what: str) -> tuple[str, ...]:
    if wanted is None:
        return tuple(known)
    for name in wanted:
        if name not in known:
            raise UsageError(f"no {what} '{name}'.{suggest(name, list(known))}\n         here: {', '.join(known)}")
    if len(set(wanted)) != len(wanted):
        raise UsageError(f"a {what} is named twice in '{','.join(wanted)}'; name each once")
    return tuple(wanted)


def _explain_no_items(texts: Sequence[str], known: set[str], library: Library) -> None:
    for text in texts:
        if text in library.pack_files and text not in known:
            raise UsageError(f"the language pack '{text}' has no items yet.\n         with items: {', '.join(sorted(known))}")


def _check_frozen(board: Board, library: Library) -> None:
    """A board is comparable for ever because what it names does not change under it."""
    path = library.board_files[board.id]
    here = (
        [("task", name, frozen, library.task(name).version) for name, frozen in board.tasks.items()]
        + [("rubric", name, frozen, library.rubric(name).version) for name, frozen in board.rubrics.items()]
        + [("language pack", tag, frozen, library.pack(tag).version) for tag, frozen in board.languages.items()]
    )
    for what, name, frozen, found in here:
        if frozen != found:
            raise ContentError(
                f"the board is frozen on {what} {name}@{frozen}, but {name}@{found} is here; make a new version of the board", path
            )


def _limited(items: Sequence[Any], limit: int | None) -> list[Any]:
    """The first `limit` items of each language and task."""
    if limit is None:
        return list(items)
    taken: dict[tuple[str, str], int] = {}
    kept = []
    for item in items:
        cell = (item.language, item.task)
        taken[cell] = taken.get(cell, 0) + 1
        if taken[cell] <= limit:
            kept.append(item)
    return kept


def open_judges(spec: RunSpec, prepared: Prepared, environment: Mapping[str, str] | None = None) -> list[Judge]:
    """The judges of a specification, opened but not started."""
    if not spec.judges or len(set(spec.judges)) != len(spec.judges):
        raise UsageError(f"name each judge once; got: {', '.join(spec.judges) or 'none'}")
    options = JudgeOptions(spec.base_url, dict(os.environ if environment is None else environment), prepared.training, spec.seed)
    return [open_judge(name, options) for name in spec.judges]


def run(spec: RunSpec, out: Path, watcher: Watcher, concurrency: int | None = None) -> RunResult:
    """Ask what is not yet answered, and read the whole run from the store.

    Raises what `prepare` raises, JudgeError and StoreError, and IncompleteRun when calls are left without an answer: the same
    command goes on from there.
    """
    prepared = prepare(spec)
    judges = open_judges(spec, prepared)
    protocol = msgspec.structs.replace(prepared.protocol, identities=tuple(judge.identity for judge in judges))
    prepared = msgspec.structs.replace(prepared, protocol=protocol)
    for host in {judge.endpoint for judge in judges if judge.endpoint and prepared.data.private}:
        watcher.consent(host, len(prepared.data.items))
    with Store.writing(out) as store:
        store.put_run(protocol.name, msgspec.json.encode(protocol))
        plan = prepared.plan(store)
        started = time.time()
        progress = _ask_each(judges, plan, prepared, store, watcher, concurrency)
        result = read_run(prepared, store, out, plan)
        _record(result, started, progress)
    _raise_if_incomplete(result, progress)
    return result


def _raise_if_incomplete(result: RunResult, progress: Sequence[Mapping[str, Any]]) -> None:
    left = ", ".join(f"{count} of {judge}" for judge, count in result.missing.items() if count)
    again = "Run the same command again: what was answered is kept"
    if any(outcome["interrupted"] for outcome in progress):
        raise IncompleteRun(f"interrupted; calls without an answer: {left or 'none'}. {again}", result, interrupted=True)
    if left:
        reason = next((outcome["last_loss"] for outcome in progress if outcome["last_loss"]), "no reason was given")
        raise IncompleteRun(f"calls without an answer: {left} ({reason}). {again}", result)


def _ask_each(
    judges: Sequence[Judge], plan: Plan, prepared: Prepared, store: Store, watcher: Watcher, concurrency: int | None
) -> list[dict[str, Any]]:
    """Ask one judge after the other; Ctrl-C ends them all."""
    outcomes: list[dict[str, Any]] = []
    for judge in judges:
        outcomes.append(_ask(judge, plan, prepared, store, watcher, concurrency))
        if outcomes[-1]["interrupted"]:
            break
    return outcomes


def _ask(judge: Judge, plan: Plan, prepared: Prepared, store: Store, watcher: Watcher, concurrency: int | None) -> dict[str, Any]:
    from harness.engines.local import ask_all

    calls = plan.calls(judge.identity)
    known = store.replies(calls)
    missing = [call for call_id, call in calls.items() if call_id not in known]
    watcher.planned(judge.identity, estimate(missing, judge.identity), len(known))
    record: dict[str, Any] = {
        "judge": judge.identity,
        "stored": len(known),
        "asked": 0,
        "retries": 0,
        "interrupted": False,
        "last_loss": None,
    }
    if not missing:
        return record
    store.put_calls(missing, judge.identity)
    scales = prepared.data.scales
    start = time.perf_counter()
    try:
        outcome = ask_all(
            judge,
            missing,
            store,
            concurrency=concurrency,
            on_progress=watcher.progress(judge.identity),
            readable=lambda call, reply: judging.is_readable(call.ask, reply, scales),
        )
    finally:
        watcher.finished(judge.identity)
    done = outcome.progress
    return record | {
        "asked": done.done,
        "retries": done.retries,
        "seconds": round(time.perf_counter() - start, 3),
        "interrupted": outcome.interrupted,
        "last_loss": outcome.last_loss,
    }


def read_run(prepared: Prepared, store: Store, out: Path, plan: Plan | None = None) -> RunResult:
    """A run's judgments, derived from the store; asks nobody."""
    protocol = prepared.protocol
    plan = plan or prepared.plan(store)
    found: list[Judgment] = []
    missing = {}
    for identity in protocol.identities:
        ids = set(plan.call_ids(identity))
        replies = store.replies(ids)
        missing[identity.name] = len(ids) - len(replies)
        found += judging.derive(plan, identity, replies, prepared.data.scales)
    return RunResult(protocol.name, out / "runs" / protocol.name, protocol, prepared, tuple(found), missing)


def reopen(name: str, out: Path) -> RunResult:
    """The run `name` (or its unique beginning) of a results folder, re-read from the store with the content it was made on.

    Raises StoreError without a store, UsageError for an unknown or ambiguous name, ContentError when the content has changed since.
    """
    with Store.reading(out) as store:
        runs = store.runs()
        matching = [known for known in runs if known == name] or [known for known in runs if known.startswith(name)]
        if len(matching) != 1:
            what = f"no run '{name}'" if not matching else f"'{name}' fits several runs"
            raise UsageError(f"{what} in {out}.{suggest(name, runs)}\n         here: {', '.join(matching or runs) or 'none'}")
        protocol = msgspec.json.decode(runs[matching[0]], type=Protocolled)
        spec = RunSpec(
            board=protocol.board,
            data=Path(protocol.data) if protocol.data else None,
            content=tuple(map(Path, protocol.content)),
            languages=protocol.languages,
            tasks=tuple(protocol.tasks),
            metrics=protocol.metrics,
            limit=protocol.limit,
        )
        prepared = prepare(spec)
        if prepared.protocol.data_sha256 != protocol.data_sha256:
            raise ContentError(
                f"the items or labels of run {protocol.name} have changed since it was made; check out that content, or run it again",
                protocol.data or "languages",
            )
        return read_run(msgspec.structs.replace(prepared, protocol=protocol), store, out)


def _record(result: RunResult, started: float, progress: Sequence[Mapping[str, Any]]) -> None:
    """Write run.json: what was asked, of whom, when, at what speed. Never a key, never a port."""
    from harness.tables import to_json, write_atomic

    path = result.folder / "run.json"
    packages = {name: version(name) for name in ("judge-harness", "guidance", "openai", "xllamacpp", "icu4py")}
    record = {
        "schema_version": 1,
        "run": result.name,
        "protocol": result.protocol,
        "missing": result.missing,
        "judges": progress,
        "started": started,
        "ended": time.time(),
        "python": platform.python_version(),
        "packages": packages,
    }
    write_atomic(path, to_json(record))


def calls_of(prepared: Prepared, judges: Sequence[Judge]) -> dict[str, dict[str, Call]]:
    """`{judge name: {call_id: call}}` without a store: for a dry run."""
    plan = prepared.plan(None)
    return {judge.identity.name: plan.calls(judge.identity) for judge in judges}
