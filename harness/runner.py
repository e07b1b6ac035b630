"""plan × judge → store: what a run has no answer to is asked for, and its judgments are read from the store.

The same specification is the same run: repeating it resumes or re-reads, and pays for nothing twice.
"""

from __future__ import annotations

import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import msgspec

from harness import judgments as judging
from harness.content.tags import suggest
from harness.errors import ContentError, IncompleteRun, UsageError
from harness.judges import Judge, JudgeOptions, open_judge
from harness.model import Call, JudgeIdentity, Judgment, Realised, Score
from harness.plan import Estimate, Plan, estimate
from harness.protocol import Prepared, RunProtocol, RunSpec, prepare
from harness.store import Store
from harness.tables import to_json, write_atomic

_PACKAGES = ("judge-harness", "guidance", "openai", "xllamacpp", "icu4py")


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
    protocol: RunProtocol
    prepared: Prepared
    judgments: tuple[Judgment, ...]
    missing: dict[str, int]  # judge -> calls without an answer
    answered_by: dict[str, dict[str, int]]  # judge -> model name as the provider gave it -> calls
    forms: dict[str, dict[str, int]]  # judge -> how the answer's shape was asked for -> calls
    realised: tuple[Realised, ...] = ()  # what perturbations achieved
    left_out: dict[str, dict[str, int]] = {}  # judge -> parameter that it does not take -> calls asked without it
    absent: dict[tuple[str, str, str], tuple[Score, ...]] = {}  # classes without an example, by (language, task, metric)


def open_judges(spec: RunSpec, prepared: Prepared, environment: Mapping[str, str] | None = None) -> list[Judge]:
    """The judges of a specification, opened but not started."""
    if not spec.judges or len(set(spec.judges)) != len(spec.judges):
        raise UsageError(f"name each judge once; got: {', '.join(spec.judges) or 'none'}")
    options = JudgeOptions(spec.base_url, dict(os.environ if environment is None else environment), prepared.training, spec.seed)
    judges = [open_judge(name, options) for name in spec.judges]
    names = [judge.identity.name for judge in judges]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"two judges would both be called '{name}' in the report; run them one after the other with different --out folders"
            )
    return judges


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
        watcher.consent(host, len(prepared.data.labelled_metrics))
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

    ids = list(dict.fromkeys(plan.call_ids(judge.identity)))
    known = {call_id for call_id, attempt in zip(ids, store.last_attempts(ids), strict=True) if attempt is not None}
    missing = list(plan.calls(judge.identity, known).values())
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
    missing, answered_by, forms, left_out = {}, {}, {}, {}
    for identity in protocol.identities:
        ids = list(dict.fromkeys(plan.call_ids(identity)))
        replies = {call_id: reply for call_id, reply in zip(ids, store.replies(ids), strict=True) if reply is not None}
        missing[identity.name] = len(ids) - len(replies)
        answered_by[identity.name] = dict(sorted(Counter(reply.model for reply in replies.values()).items()))
        forms[identity.name] = dict(sorted(Counter(reply.form for reply in replies.values()).items()))
        left_out[identity.name] = dict(sorted(Counter(name for reply in replies.values() for name in reply.left_out).items()))
        found += judging.derive(plan, identity, replies, prepared.data.scales)
    folder = out / "runs" / protocol.name
    return RunResult(
        name=protocol.name,
        folder=folder,
        protocol=protocol,
        prepared=prepared,
        judgments=tuple(found),
        missing=missing,
        answered_by=answered_by,
        forms=forms,
        realised=plan.realised,
        left_out=left_out,
        absent=plan.absent,
    )


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
        return read_run(msgspec.structs.replace(prepared, protocol=protocol), store, out)


def _record(result: RunResult, started: float, progress: Sequence[Mapping[str, Any]]) -> None:
    """Write run.json: what was asked, of whom, when, at what speed. Never a key, never a port.

    Every time that calls were asked is one of its `sessions`; a run that is only re-read adds none.
    """
    path = result.folder / "run.json"
    sessions = _sessions(path)
    if not sessions or any(outcome["asked"] for outcome in progress):
        sessions = [*sessions, {"started": started, "ended": time.time(), "judges": progress}]
    record = {
        "schema_version": 1,
        "run": result.name,
        "protocol": result.protocol,
        "missing": result.missing,
        "answered_by": result.answered_by,
        "forms": result.forms,
        "sessions": sessions,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES},
    }
    write_atomic(path, to_json(record))


def _sessions(path: Path) -> list[Any]:
    try:
        return list(msgspec.json.decode(path.read_bytes())["sessions"])
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return []  # not there, or not ours: it is derived, and made anew


def calls_of(prepared: Prepared, judges: Sequence[Judge]) -> dict[str, dict[str, Call]]:
    """`{judge name: {call_id: call}}` without a store: for a dry run."""
    plan = prepared.plan(None)
    return {judge.identity.name: plan.calls(judge.identity) for judge in judges}
