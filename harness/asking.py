"""Asking every judge of a run what it has not answered yet, by the engine that was chosen."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from threading import Thread
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.engines import Engine, Opening, Outcome, Progress, Settings, Work, ask_all
from harness.judges import Judge
from harness.judgments import failures, look_at
from harness.model import Call, Failure, JudgeIdentity, Reply, Scale, Usage
from harness.parse import language
from harness.plan import Calls, Plan, rough_usage
from harness.prices import Price, price_of
from harness.protocol import Prepared
from harness.store import Store

_LATER = ("pyarrow.compute", "pyarrow.parquet", "scipy.special")


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


class Asked(msgspec.Struct):
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


def ask(
    judges: Sequence[Judge],
    openings: Mapping[str, Opening],
    plan: Plan,
    prepared: Prepared,
    store: Store,
    watcher: Watcher,
    settings: Settings,
) -> tuple[list[Asked], Engine]:
    """Ask every judge what it has not answered yet; how that went for each, and what the engine says of itself."""
    works, records = [], []
    engine = Engine(settings.engine)
    for judge in judges:
        every = plan.calls(judge.identity)
        missing = every.without(_done(every, store, prepared))
        price = price_asked(judge.identity, settings)
        if settings.batches != "collect":
            watcher.planned(judge.identity, estimate(missing, price), len(every) - len(missing))
        records.append(Asked(judge.identity, len(every) - len(missing)))
        if len(missing):
            works.append(_work(judge, missing, prepared, settings, price, openings.get(judge.identity.name)))
    if any(work.judge.identity.provider != "baseline" for work in works):  # those answer at once
        Thread(target=_load_what_comes_later, args=[_justified(prepared)]).start()  # no daemon: libraries end badly half loaded
    if works:
        engine = _ask_all(works, store, watcher, settings, {record.judge.name: record for record in records})
    return records, engine


def _load_what_comes_later(justified: bool) -> None:
    """Load, while judges think, what is needed once they have answered; with justifications, also what tells their language."""
    for library in _LATER:
        import_module(library)
    if justified:
        language.load()


def _justified(prepared: Prepared) -> bool:
    """Whether justifications are asked for."""
    return any(condition.variant.justification != "none" for condition in prepared.protocol.conditions)


def _done(calls: Calls, store: Store, prepared: Prepared) -> NDArray[np.bool_]:
    """Which calls need no asking: those with a reply; with `reask`, one that does not refuse."""
    if not prepared.protocol.reask:
        return np.fromiter((number is not None for number in store.last_attempts(calls.ids())), bool)
    replies = zip(calls, store.replies(calls.ids()), strict=True)
    return np.fromiter((reply is not None and not _is_refused(call, reply, prepared.data.scales) for call, reply in replies), bool)


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
        unreadable=lambda call, reply: look_at(call.ask, reply, scales),
        ask_again=partial(_is_refused, scales=scales) if reask else _never,
        tokens=rough_usage if weighed else lambda call: Usage(),
        cost=price.of if price else lambda usage: 0.0,
        run=prepared.protocol.name,
        opening=opening,
    )


def _ask_all(works: Sequence[Work], store: Store, watcher: Watcher, settings: Settings, records: Mapping[str, Asked]) -> Engine:
    start = time.perf_counter()
    show = watcher.progress([work.judge.identity for work in works])

    def watch(work: Work, progress: Progress) -> None:
        show(work.judge.identity, progress)

    try:
        outcomes = ask_all(works, store, settings, watch)
    finally:
        watcher.finished()
    for work, outcome in zip(works, outcomes, strict=True):
        _note(records[work.judge.identity.name], outcome, time.perf_counter() - start)
    return outcomes[0].engine


def _note(record: Asked, outcome: Outcome, seconds: float) -> None:
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


def price_asked(identity: JudgeIdentity, settings: Settings) -> Price | None:
    """What the judge's calls cost by the engine that asks them; None where no price is known."""
    price = price_of(identity, settings.prices)
    return price.in_batch() if price and settings.engine == "batch" else price
