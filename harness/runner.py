"""plan × judges → store: what a run has no answer to is asked for, and its judgments are read from the store.

The same specification is the same run: repeating it resumes or re-reads, and pays for nothing twice.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import msgspec

from harness.answers import Answers, Spent, collect
from harness.content.recorded import Judgments
from harness.content.tags import suggest
from harness.engines import Engine, Opening, Outcome, Progress, Settings, Work, ask_all, check_engine
from harness.engines.batch.record import is_open
from harness.errors import ContentError, IncompleteRun, UsageError
from harness.judges import Judge, JudgeOptions, open_judge
from harness.judges.environment import Environment
from harness.judgments import failures, read_judgments
from harness.model import Call, Failure, JudgeIdentity, Realised, Reply, Scale, Score, Usage
from harness.parse import language
from harness.plan import Calls, Plan, rough_usage
from harness.prices import Price, price_of
from harness.protocol import Prepared, RunProtocol, RunSpec, prepare
from harness.store import Batch, Store
from harness.tables import to_json, write_atomic

_PACKAGES = ("judge-harness", "guidance", "openai", "httptools", "xllamacpp", "icu4py")


class Estimate(msgspec.Struct, frozen=True):
    """What a set of calls is about to take, roughly. `cost` is in US dollars; None where no price is known."""

    calls: int
    prompt_tokens: int
    answer_tokens: int
    cost: float | None
    price: Price | None


class Watcher(Protocol):
    """Who looks on: told what is about to be asked, and how it goes. May refuse."""

    def consent(self, host: str, texts: int) -> None:
        """Raises UsageError unless the user's own texts may go to `host`."""

    def planned(self, identity: JudgeIdentity, wanted: Estimate, stored: int) -> None: ...

    def progress(self, identities: Sequence[JudgeIdentity]) -> Callable[[JudgeIdentity, Any], None]: ...

    def finished(self) -> None: ...


class RunResult(msgspec.Struct, frozen=True):
    """A run as it stands in its results folder."""

    name: str
    folder: Path
    protocol: RunProtocol
    prepared: Prepared
    judgments: Judgments
    answers: Answers
    realised: tuple[Realised, ...] = ()  # what perturbations achieved
    absent: dict[tuple[str, str, str], tuple[Score, ...]] = {}  # classes without an example, by (language, task, metric)


def judge_options(
    spec: RunSpec, prepared: Prepared, environment: Mapping[str, str] | None = None, timeout: float | None = None
) -> JudgeOptions:
    """What the judges of a specification are opened with; by default the environment of this process."""
    return JudgeOptions(
        spec.base_url, Environment(os.environ if environment is None else environment), prepared.training, spec.seed, timeout
    )


def open_judges(
    spec: RunSpec, prepared: Prepared, environment: Mapping[str, str] | None = None, options: JudgeOptions | None = None
) -> list[Judge]:
    """The judges of a specification, opened but not started, with these options or those that `environment` gives."""
    if not spec.judges or len(set(spec.judges)) != len(spec.judges):
        raise UsageError(f"name each judge once; got: {', '.join(spec.judges) or 'none'}")
    options = judge_options(spec, prepared, environment) if options is None else options
    judges = [open_judge(name, options) for name in spec.judges]
    names = [judge.identity.name for judge in judges]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"two judges would both be called '{name}' in the report; run them one after the other with different --out folders"
            )
    return judges


def run(spec: RunSpec, out: Path, watcher: Watcher, settings: Settings) -> RunResult:
    """Ask what is not yet answered, and read the whole run from the store.

    Raises what `prepare` raises, JudgeError and StoreError, and IncompleteRun when calls are left without an answer: the same
    command goes on from there.
    """
    check_engine(settings)
    prepared = prepare(spec)
    options = judge_options(spec, prepared, timeout=settings.timeout)
    judges = open_judges(spec, prepared, options=options)
    openings = {judge.identity.name: Opening(name, options) for name, judge in zip(spec.judges, judges, strict=True)}
    check_engine(settings, judges)
    _check_prices(judges, settings)
    protocol = msgspec.structs.replace(prepared.protocol, identities=tuple(judge.identity for judge in judges))
    prepared = msgspec.structs.replace(prepared, protocol=protocol)
    for place in _places(judges, settings) if prepared.data.private else ():
        watcher.consent(place, len(prepared.data.labelled_metrics))
    with Store.writing(out) as store:
        store.put_run(protocol.name, msgspec.json.encode(protocol))
        return _complete(judges, openings, prepared, store, out, watcher, settings)


def collect_batches(name: str, out: Path, watcher: Watcher, settings: Settings, base_url: str | None = None) -> RunResult:
    """Fetch what is ready of the batches that hold calls of run `name`, submitting nothing. Raises as `reopen` and `run`."""
    with Store.writing(out) as store:
        prepared = _stored(name, store, out)
        identities = [identity for identity in prepared.protocol.identities if open_batches(store, identity)]
        judges = [same_judge(identity, base_url, settings.timeout) for identity in identities]
        collecting = msgspec.structs.replace(settings, engine="batch", batches="collect")
        return _complete(judges, {}, prepared, store, out, watcher, collecting)


def open_batches(store: Store, identity: JudgeIdentity) -> list[Batch]:
    """What was submitted for a judge by any run of a results folder, and has not come to its end."""
    return [batch for run in store.runs() for batch in store.batches(run, identity.name) if is_open(batch)]


def same_judge(identity: JudgeIdentity, base_url: str | None, timeout: float | None = None) -> Judge:
    """The judge of an earlier run, opened anew. Raises UsageError when the address is that of another one."""
    judge = open_judge(identity.name, JudgeOptions(base_url, dict(os.environ), timeout=timeout))
    if judge.identity != identity:
        where = identity.settings.get("endpoint", "its usual address")
        raise UsageError(f"{identity.name} was asked at {where}, which is not the address given; say --base-url or set OPENAI_BASE_URL")
    return judge


def _complete(
    judges: Sequence[Judge],
    openings: Mapping[str, Opening],
    prepared: Prepared,
    store: Store,
    out: Path,
    watcher: Watcher,
    settings: Settings,
) -> RunResult:
    """Ask these judges what they have not answered, and read the whole run from the store."""
    plan = prepared.plan(store)
    started = time.time()
    sessions, engine = _ask(judges, openings, plan, prepared, store, watcher, settings)
    result = read_run(prepared, store, out, plan)
    _record(result, started, sessions, settings, engine)
    _raise_if_incomplete(result, sessions, settings)
    return result


def _places(judges: Sequence[Judge], settings: Settings) -> set[str]:
    """Where texts would be sent to that is not this machine."""
    found = {judge.endpoint for judge in judges if judge.endpoint}
    if settings.engine == "ray" and settings.cluster.address != "local":
        found.add(f"the nodes of the Ray cluster '{settings.cluster.address}'")
    return found


def price_asked(identity: JudgeIdentity, settings: Settings) -> Price | None:
    """What the judge's calls cost by the engine that asks them; None where no price is known."""
    price = price_of(identity, settings.prices)
    return price.in_batch() if price and settings.engine == "batch" else price


def _check_prices(judges: Sequence[Judge], settings: Settings) -> None:
    unknown = [judge.identity.name for judge in judges if price_of(judge.identity, settings.prices) is None]
    if settings.limits.cost is not None and unknown:
        raise UsageError(f"--max-cost needs a price, and none is known for {', '.join(unknown)}: give one with --prices FILE")


class _Asked(msgspec.Struct):
    """How one judge was asked, for run.json."""

    judge: JudgeIdentity
    stored: int
    asked: int = 0
    lost: int = 0
    retries: int = 0
    reasked: int = 0
    most_in_flight: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    stopped: str = ""
    last_loss: str | None = None
    batches: dict[str, str] = {}
    under_way: int = 0
    notes: list[str] = []


def _raise_if_incomplete(result: RunResult, sessions: Sequence[_Asked], settings: Settings) -> None:
    left = ", ".join(f"{count} of {judge}" for judge, count in result.answers.missing.items() if count)
    again = "Run the same command again: what was answered is kept"
    if any(asked.interrupted for asked in sessions):
        raise IncompleteRun(f"interrupted; calls without an answer: {left or 'none'}. {again}", result, interrupted=True)
    if left and settings.batches != "wait":
        raise IncompleteRun(f"calls without an answer: {left}. {_how_batches_go_on(result, sessions)}")
    if left:
        reason = next((why for asked in sessions for why in (asked.stopped, asked.last_loss) if why), "no reason was given")
        raise IncompleteRun(f"calls without an answer: {left} ({reason}). {again}", result)


def _how_batches_go_on(result: RunResult, sessions: Sequence[_Asked]) -> str:
    under_way = sum(asked.under_way for asked in sessions)
    if not under_way:
        reason = next((f" ({why})" for asked in sessions for why in (asked.stopped, asked.last_loss) if why), "")
        return f"None of them is in a batch{reason}: the run's own command asks them"
    out = result.folder.parent.parent
    return (
        f"{under_way} calls are with the provider: 'harness batch status --out {out}' says how far they are, "
        f"'harness batch collect {result.name} --out {out}' fetches what is ready, and the run's command without --detach waits for them"
    )


def _ask(
    judges: Sequence[Judge],
    openings: Mapping[str, Opening],
    plan: Plan,
    prepared: Prepared,
    store: Store,
    watcher: Watcher,
    settings: Settings,
) -> tuple[list[_Asked], Engine]:
    """Ask every judge what it has not answered yet; how that went for each, and what the engine says of itself."""
    works, records = [], []
    engine = Engine(settings.engine)
    for judge in judges:
        every = plan.calls(judge.identity)
        missing = every.without(_done(every, store, prepared, plan))
        price = price_asked(judge.identity, settings)
        if settings.batches != "collect":
            watcher.planned(judge.identity, estimate(missing, price), len(every) - len(missing))
        records.append(_Asked(judge.identity, len(every) - len(missing)))
        if len(missing):
            works.append(_work(judge, missing, prepared, settings, price, openings.get(judge.identity.name)))
    if works:
        engine = _ask_all(works, store, watcher, settings, {record.judge.name: record for record in records})
    return records, engine


def _done(calls: Calls, store: Store, prepared: Prepared, plan: Plan) -> list[bool]:
    """Which calls need no asking: those with a reply; with `reask`, one that does not refuse."""
    if not prepared.protocol.reask:
        return [number is not None for number in store.last_attempts(calls.ids())]
    return [
        reply is not None and not _is_refused(call, reply, prepared.data.scales)
        for call, reply in zip(calls, store.replies(calls.ids()), strict=True)
    ]


def _is_refused(call: Call, reply: Reply, scales: Mapping[str, Scale]) -> bool:
    return Failure.REFUSED in failures(call.ask, reply, scales)


def _never(call: Call, reply: Reply) -> bool:
    return False


def _work(judge: Judge, calls: Calls, prepared: Prepared, settings: Settings, price: Price | None, opening: Opening | None) -> Work:
    scales = prepared.data.scales
    reask = prepared.protocol.reask
    weighed = settings.limits.cost is not None or bool(settings.tpm)  # or nobody looks at the estimate
    return Work(
        judge,
        calls,
        unreadable=lambda call, reply: len(failures(call.ask, reply, scales)),
        ask_again=partial(_is_refused, scales=scales) if reask else _never,
        tokens=rough_usage if weighed else lambda call: Usage(),
        cost=price.of if price else lambda usage: 0.0,
        run=prepared.protocol.name,
        opening=opening,
    )


def _ask_all(works: Sequence[Work], store: Store, watcher: Watcher, settings: Settings, records: Mapping[str, _Asked]) -> Engine:
    start = time.perf_counter()
    show = watcher.progress([work.judge.identity for work in works])
    language.load()  # while the judges think

    def watch(work: Work, progress: Progress) -> None:
        show(work.judge.identity, progress)

    try:
        outcomes = ask_all(works, store, settings, watch)
    finally:
        watcher.finished()
    for work, outcome in zip(works, outcomes, strict=True):
        _note(records[work.judge.identity.name], outcome, time.perf_counter() - start)
    return outcomes[0].engine


def _note(record: _Asked, outcome: Outcome, seconds: float) -> None:
    done = outcome.progress
    record.asked, record.lost, record.retries, record.reasked = done.done, done.lost, done.retries, done.reasked
    record.most_in_flight = done.most_in_flight
    record.seconds = round(seconds, 3)
    record.interrupted, record.stopped, record.last_loss = outcome.interrupted, outcome.stopped, outcome.last_loss
    record.batches, record.under_way, record.notes = outcome.batches, outcome.under_way, done.notes


def estimate(calls: Calls, price: Price | None) -> Estimate:
    """Calls, tokens (roughly: no tokenizer is asked) and money."""
    usage = calls.tokens
    return Estimate(len(calls), usage.prompt_tokens, usage.completion_tokens, price.of(usage) if price else None, price)


def read_run(prepared: Prepared, store: Store, out: Path, plan: Plan | None = None) -> RunResult:
    """A run's judgments, derived from the store; asks nobody. Those of a run that has not changed are read from its folder."""
    plan = plan or prepared.plan(store)
    folder = out / "runs" / prepared.protocol.name
    answers = collect(prepared, plan, store, folder / "judgments.parquet")
    return RunResult(
        name=prepared.protocol.name,
        folder=folder,
        protocol=prepared.protocol,
        prepared=prepared,
        judgments=read_judgments(folder / "judgments.parquet", prepared.data.scales),
        answers=answers,
        realised=plan.realised,
        absent=plan.absent,
    )


def reopen(name: str, out: Path) -> RunResult:
    """The run `name` (or its unique beginning) of a results folder, re-read from the store with the content it was made on.

    Raises StoreError without a store, UsageError for an unknown or ambiguous name, ContentError when the content has changed since.
    """
    with Store.reading(out) as store:
        return read_run(_stored(name, store, out), store, out)


def _stored(name: str, store: Store, out: Path) -> Prepared:
    """What run `name` of a store means, on the content that is here now. Raises as `reopen`."""
    runs = store.runs()
    matching = [known for known in runs if known == name] or [known for known in runs if known.startswith(name)]
    if len(matching) != 1:
        what = f"no run '{name}'" if not matching else f"'{name}' fits several runs"
        raise UsageError(f"{what} in {out}.{suggest(name, runs)}\n         here: {', '.join(matching or runs) or 'none'}")
    protocol = msgspec.json.decode(runs[matching[0]], type=RunProtocol)
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
    return msgspec.structs.replace(prepared, protocol=protocol)


def _record(result: RunResult, started: float, sessions: Sequence[_Asked], settings: Settings, engine: Engine) -> None:
    """Write run.json: what was asked, of whom, when, at what speed and price. Never a key, never a port.

    Every time that calls were asked is one of its `sessions`; a run that is only re-read adds none.
    """
    path = result.folder / "run.json"
    prices = {identity.name: price_of(identity, settings.prices) for identity in result.protocol.identities}
    earlier = _sessions(path)
    if not earlier or any(asked.asked or asked.lost or asked.batches for asked in sessions):
        earlier = [*earlier, {"started": started, "ended": time.time(), "engine": engine, "judges": sessions}]
    record = {
        "schema_version": 2,
        "run": result.name,
        "protocol": result.protocol,
        "missing": result.answers.missing,
        "answered_by": result.answers.answered_by,
        "forms": result.answers.forms,
        "spent": {
            judge: {language: _priced(spent, prices.get(judge)) for language, spent in by.items()}
            for judge, by in result.answers.spent.items()
        },
        "prices": prices,
        "sessions": earlier,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES},
    }
    write_atomic(path, to_json(record))


def _priced(spent: Spent, price: Price | None) -> dict[str, Any]:
    """What one judge took in one language, with US dollars at this price; None where no price is known."""
    cost = price.of(spent.usage) - price.of(spent.batched) + price.in_batch().of(spent.batched) if price else None
    return msgspec.structs.asdict(spent) | {"cost": None if cost is None else round(cost, 6)}


def _sessions(path: Path) -> list[Any]:
    try:
        return list(msgspec.json.decode(path.read_bytes())["sessions"])
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return []  # not there, or not ours: it is derived, and made anew


def calls_of(prepared: Prepared, judges: Sequence[Judge]) -> dict[str, Calls]:
    """`{judge name: calls}` without a store: for a dry run."""
    plan = prepared.plan(None)
    return {judge.identity.name: plan.calls(judge.identity) for judge in judges}
