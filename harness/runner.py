"""plan × judges → store: what a run has no answer to is asked for (`asking`), and its judgments are read from the store.

The same specification is the same run: repeating it resumes or re-reads, and pays for nothing twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from harness.answers import Answers, collect
from harness.asking import Asked, Watcher, ask
from harness.content.recorded import Judgments
from harness.content.tags import suggest
from harness.engines import Opening, Settings, check_engine
from harness.engines.batch.record import open_batches
from harness.errors import ContentError, IncompleteRun, UsageError
from harness.judges import Judge, JudgeOptions, open_judge
from harness.judges.environment import Environment
from harness.judgments import read_judgments
from harness.model import JudgeIdentity, Realised, Score
from harness.plan import Calls, Plan
from harness.prices import price_of
from harness.protocol import Prepared, RunProtocol, RunSpec, prepare
from harness.record import write_record
from harness.store import Store


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
        watcher.consent(place, len(prepared.data.asked_metrics))
    with Store.writing(out) as store:
        store.put_run(protocol.name, msgspec.json.encode(protocol))
        return _complete(judges, openings, prepared, store, out, watcher, settings)


def collect_batches(name: str, out: Path, watcher: Watcher, settings: Settings, base_url: str | None = None) -> RunResult:
    """Fetch what is ready of the batches that hold calls of run `name`, submitting nothing. Raises as `reopen` and `run`."""
    with Store.writing(out) as store:
        prepared = _stored(name, store, out)
        identities = [identity for identity in prepared.protocol.identities if open_batches(store, identity.name)]
        judges = [same_judge(identity, base_url, settings.timeout) for identity in identities]
        collecting = msgspec.structs.replace(settings, engine="batch", batches="collect")
        return _complete(judges, {}, prepared, store, out, watcher, collecting)


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
    sessions, engine = ask(judges, openings, plan, prepared, store, watcher, settings)
    result = read_run(prepared, store, out, plan)
    write_record(result.folder / "run.json", result.protocol, result.answers, started, sessions, settings, engine)
    _raise_if_incomplete(result, sessions, settings)
    return result


def _places(judges: Sequence[Judge], settings: Settings) -> set[str]:
    """Where texts would be sent to that is not this machine."""
    found = {judge.endpoint for judge in judges if judge.endpoint}
    if settings.engine == "ray" and settings.cluster.address != "local":
        found.add(f"the nodes of the Ray cluster '{settings.cluster.address}'")
    return found


def _check_prices(judges: Sequence[Judge], settings: Settings) -> None:
    unknown = [judge.identity.name for judge in judges if price_of(judge.identity, settings.prices) is None]
    if settings.limits.cost is not None and unknown:
        raise UsageError(f"--max-cost needs a price, and none is known for {', '.join(unknown)}: give one with --prices FILE")


def _raise_if_incomplete(result: RunResult, sessions: Sequence[Asked], settings: Settings) -> None:
    left = ", ".join(f"{count} of {judge}" for judge, count in result.answers.missing.items() if count)
    again = "Run the same command again: what was answered is kept"
    if any(asked.interrupted for asked in sessions):
        raise IncompleteRun(f"interrupted; calls without an answer: {left or 'none'}. {again}", result, interrupted=True)
    if left and settings.batches != "wait":
        raise IncompleteRun(f"calls without an answer: {left}. {_how_batches_go_on(result, sessions)}")
    if left:
        reason = next((why for asked in sessions for why in (asked.stopped, asked.last_loss) if why), "no reason was given")
        raise IncompleteRun(f"calls without an answer: {left} ({reason}). {again}", result)


def _how_batches_go_on(result: RunResult, sessions: Sequence[Asked]) -> str:
    under_way = sum(asked.under_way for asked in sessions)
    if not under_way:
        reason = next((f" ({why})" for asked in sessions for why in (asked.stopped, asked.last_loss) if why), "")
        return f"None of them is in a batch{reason}: the run's own command asks them"
    out = result.folder.parent.parent
    return (
        f"{under_way} calls are with the provider: 'harness batch status --out {out}' says how far they are, "
        f"'harness batch collect {result.name} --out {out}' fetches what is ready, and the run's command without --detach waits for them"
    )


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


def calls_of(prepared: Prepared, judges: Sequence[Judge]) -> dict[str, Calls]:
    """`{judge name: calls}` without a store: for a dry run."""
    plan = prepared.plan(None)
    return {judge.identity.name: plan.calls(judge.identity) for judge in judges}
