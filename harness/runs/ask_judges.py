"""Ask every judge of a run the calls that have no reply yet, with the engine that the user chose.

Addresses that answered for a judge and the start of a `--fresh` run are notes in the store, in no record, report or export.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from itertools import takewhile
from threading import Thread
from typing import Any, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.asking_options import Settings
from harness.engines import Engine, JudgeOpening, JudgeWork, Outcome, Progress, ask_all
from harness.engines.budget import budget_of
from harness.errors import HarnessError
from harness.judges import Judge, traits_of
from harness.model import Call, Failure, JudgeIdentity, Query, Reply, Score, Usage
from harness.parse import language
from harness.runs.judgments_from_replies import ReadingRules, count_failures, derive_judgments, reply_failures
from harness.runs.plan import Plan, PlannedCalls, estimate_usage
from harness.runs.preparation import Prepared
from harness.runs.prices import CostEstimate, Price, estimate_cost, price_for_engine
from harness.store import Store

_MOST_CALLS = 2_000  # of a run: to read or look at more replies twice would delay them
_SECONDS = 5.0  # a run that is done sooner shows everything at once
_SECONDS_BETWEEN_LOOKS = 0.5


class LiveRow(msgspec.Struct):
    """The results so far of one metric in one language and one judge.

    `total`: answers that this command asks for. `done`: those that came, `unreadable` ones too. `agreement`: sum over the answers with
    labels, `labelled`, of the share of labels that have the same score. `verdict`: in words, once the language is answered.
    """

    judge: str
    language: str
    metric: str
    total: int = 0
    done: int = 0
    unreadable: int = 0
    labelled: int = 0
    agreement: float = 0.0
    verdict: str = ""


class LiveRows:
    """Rows in the order of asking. Agreement is counted where scores are classes; numbers are compared at the end."""

    def __init__(self, prepared: Prepared, rules: ReadingRules) -> None:
        self._prepared, self._rules = prepared, rules
        self._rows: dict[tuple[str, str, str], LiveRow] = {}
        self._people: dict[tuple[str, str], Counter[Score]] = {}

    def __iter__(self) -> Iterator[LiveRow]:
        return iter(list(self._rows.values()))

    def expect(self, identity: JudgeIdentity, calls: PlannedCalls) -> None:
        """Count the calls to a judge. Of a run with more than 2,000, there are no rows."""
        if len(calls) > _MOST_CALLS:
            return
        queries = [call.query for call in calls]
        for query in queries:
            for metric in query.metrics:
                key = (identity.name, query.item.language, metric)
                self._rows.setdefault(key, LiveRow(*key)).total += 1
        labels = self._prepared.data.labels.for_items(query.item.item_id for query in queries)
        for item, metric, score in zip(labels.item, labels.metric, labels.score, strict=True):
            self._people.setdefault((item, metric), Counter())[score] += 1

    def add(self, identity: JudgeIdentity, query: Query, reply: Reply) -> None:
        """Count what a reply says about each metric of its query. A reply to a call without a row is not read."""
        if (identity.name, query.item.language, query.metrics[0]) not in self._rows:
            return
        data = self._prepared.data
        for judgment in derive_judgments(query, reply, "", identity, self._rules, detect_language=False):
            row = self._rows[identity.name, judgment.language, judgment.metric]
            row.done += 1
            row.unreadable += judgment.score is None
            people = self._people.get((judgment.item_id, judgment.metric))
            has_classes = data.scales[judgment.metric].kind != "interval" and judgment.metric not in data.label_scales
            if judgment.score is not None and people and has_classes:
                row.labelled += 1
                row.agreement += people[judgment.score] / people.total()

    def decide(self, verdicts: Iterable[Any]) -> None:
        """Write verdicts, as a report has them, into their rows."""
        for verdict in verdicts:
            if row := self._rows.get((verdict["judge"], verdict["language"], verdict["metric"])):
                row.verdict = verdict["answer"]


class FirstLanguage:
    """Looks, after each reply, whether the first language is answered, and gives its part of the run to `tell`, once.

    Its verdicts are then shown while the other languages are asked.
    """

    def __init__(self, prepared: Prepared, plan: Plan, store: Store, tell: Callable[[Prepared], None]) -> None:
        self._prepared, self._store, self._tell = prepared, store, tell
        self._language = prepared.protocol.texts.languages[0]
        self._next_look = time.monotonic() + _SECONDS
        small = len(plan) * len(prepared.protocol.judges.identities) <= _MOST_CALLS
        self._calls: list[str] = []  # to all judges; queries of a language stand together, and those of the first language come first
        for identity in prepared.protocol.judges.identities if small and len(prepared.protocol.texts.languages) > 1 else ():
            queries = zip(plan.queries(), plan.calls(identity).all_call_ids(), strict=True)
            self._calls += [call_id for _, call_id in takewhile(lambda query: query[0].item.language == self._language, queries)]
        self._told = not self._calls or self._answered()

    def _answered(self) -> bool:
        return all(number is not None for number in self._store.last_attempts(self._calls))

    def look(self) -> None:
        """Called after every reply. What cannot be told now is told with the whole run."""
        if self._told or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _SECONDS_BETWEEN_LOOKS
        if self._answered():
            self._told = True
            with suppress(HarnessError):
                language_data = self._prepared.data.only(item for item in self._prepared.data.items if item.language == self._language)
                protocol = self._prepared.protocol.with_fields(languages=(self._language,))
                self._tell(msgspec.structs.replace(self._prepared, data=language_data, protocol=protocol))


def address_of(judge: Judge) -> str | None:
    """Scheme, host, port and path that a judge's calls go to; None for judges that have no address."""
    address: str | None = getattr(judge, "address", None)
    return address


def known_addresses(store: Store, identity: JudgeIdentity) -> list[str]:
    """The addresses that have answered for a judge, oldest first; empty if unknown."""
    try:
        return msgspec.json.decode(store.note(_address_key(identity)) or "[]", type=list[str])
    except msgspec.DecodeError:
        return []


def note_address(store: Store, judge: Judge, *, only: bool = False) -> None:
    """Note that the judge's address has answered. With `only`, forget the others: all stored replies that count come from this address."""
    address = address_of(judge)
    stored = known_addresses(store, judge.identity)
    if address is not None and (only or address not in stored):
        addresses = [*([] if only else stored), address]
        store.put_note(_address_key(judge.identity), msgspec.json.encode(addresses).decode())


def begin_fresh_run(store: Store, run: str) -> float:
    """Return the time (seconds since 1970) after which replies count for a `--fresh` run.

    An unfinished `--fresh` command goes on with its own time. A new one begins now, but never before a reply that is already in the store,
    whatever the clock says.
    """
    began = unfinished_fresh_run(store, run)
    if began is None:
        began = max(time.time(), store.last_received())
        store.put_note(_fresh_key(run), repr(began))
    return began


def unfinished_fresh_run(store: Store, run: str) -> float | None:
    """When an unfinished `--fresh` command of this run began; None if there is none."""
    note = store.note(_fresh_key(run))
    try:
        return None if note is None else float(note)
    except ValueError:
        return None


def finish_fresh_run(store: Store, run: str) -> None:
    """Remove the note: every call has a fresh reply."""
    store.put_note(_fresh_key(run), None)


def _address_key(identity: JudgeIdentity) -> str:
    return f"address {msgspec.json.encode(identity, order='sorted').decode()}"


def _fresh_key(run: str) -> str:
    return f"fresh {run}"


_NEEDED_AFTERWARDS = ("pyarrow.compute", "pyarrow.parquet", "scipy.special")


class Watcher(Protocol):
    """Follows a run: receives the plan and the progress, and may refuse the run."""

    def consent(self, host: str, texts: int) -> None:
        """Raise UsageError unless the user's own texts may be sent to `host`."""

    def planned(self, identity: JudgeIdentity, estimate: CostEstimate, stored: int, /) -> None: ...

    def note(self, text: str) -> None:
        """Report something that a reader of the numbers should know."""

    def progress(self, identities: Sequence[JudgeIdentity]) -> Callable[[JudgeIdentity, Any], None]: ...

    def finished(self) -> None: ...

    def follow(self, rows: LiveRows) -> bool:
        """Return True if rows are shown while they fill; they are filled only then."""

    def first_language(self, part: Any) -> None:
        """Show the part of the run (a `RunResult`) that is answered first, while the other languages are asked."""


class ReplyReading(msgspec.Struct, frozen=True):
    """Return the reading rules of a run while judges are asked.

    `failures` names what is wrong with a reply, `count_failures` counts it. Calls whose reply came out as one of `reask` are asked again.
    `rows` are told of every reply.
    """

    run: str
    failures: Callable[[Query, Reply], Sequence[Failure]]
    count_failures: Callable[[Query, Reply], int]
    reask: Collection[str] = ()
    justifications: bool = False
    rows: LiveRows | None = None


def reading_of(prepared: Prepared, reask: Collection[str] = (), watcher: Watcher | None = None) -> ReplyReading:
    """The rules by which replies become scores, and the rows that `watcher` wants to see filled."""
    protocol, rules = prepared.protocol, prepared.reading
    rows = LiveRows(prepared, rules)
    return ReplyReading(
        run=protocol.name,
        failures=lambda query, reply: reply_failures(query, reply, rules),
        count_failures=lambda query, reply: count_failures(query, reply, rules),
        reask={*reask, *([Failure.REFUSED] if protocol.questions.reask else [])},
        justifications=any(condition.variant.justification != "none" for condition in protocol.questions.conditions),
        rows=rows if watcher is not None and watcher.follow(rows) else None,
    )


class AskingPlace(NamedTuple):
    """The store of the replies, their reading rules, and the settings of asking. Only replies since the time `since` count."""

    store: Store
    reading: ReplyReading
    settings: Settings
    since: float | None = None


class JudgeSummary(msgspec.Struct):
    """The outcome of the calls to one judge, for run.json."""

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

    def add(self, outcome: Outcome, seconds: float) -> None:
        """Add how asking ended after these seconds: once, or in a run with conversations turn by turn."""
        done = outcome.progress
        self.asked += done.done
        self.lost += done.lost
        self.retries += done.retries
        self.reasked += done.reasked
        self.most_in_flight, self.seconds = max(self.most_in_flight, done.most_in_flight), round(self.seconds + seconds, 3)
        self.notes, self.batches = [*self.notes, *done.notes], {**self.batches, **outcome.batches}
        self.interrupted, self.stopped, self.last_loss = outcome.interrupted, outcome.stopped, outcome.last_loss
        self.under_way = outcome.under_way


def why_stopped(summaries: Sequence[JudgeSummary], otherwise: str = "") -> str:
    """The first reason why calls have no answer."""
    return next((why for summary in summaries for why in (summary.stopped, summary.last_loss) if why), otherwise)


def ask_judges(
    judges: Sequence[Judge],
    openings: Mapping[str, JudgeOpening],
    plan: Plan,
    setting: AskingPlace,
    watcher: Watcher,
    replied: Callable[[], None] = lambda: None,
) -> tuple[list[JudgeSummary], Engine]:
    """Ask every judge the calls that have no reply yet, turn by turn where there are conversations. `replied` is called after every reply.

    Returns how it went for each judge, and what the engine reports about itself.
    """
    if plan.turns > 1:  # one budget for all turns
        setting = setting._replace(settings=replace(setting.settings, shared_budget=budget_of(setting.settings)))
    store, reading, settings, _ = setting
    summaries: dict[str, JudgeSummary] = {}
    engine = Engine(settings.engine)
    for turn in range(plan.turns):
        works = []
        for judge in judges:
            calls, missing = calls_to_ask(judge, plan, setting)
            price = price_for_engine(judge.identity, settings)
            if turn == 0:
                stored = len(calls) - len(missing)
                if not settings.collect:
                    watcher.planned(judge.identity, estimate_cost(missing, price), stored)
                summaries[judge.identity.name] = JudgeSummary(judge.identity, stored)
                address = address_of(judge)
                other_addresses = [other for other in known_addresses(store, judge.identity) if other != address]
                if stored and address is not None and other_addresses:
                    watcher.note(
                        f"{judge.identity.name}: {stored} stored answers from {' and '.join(other_addresses)} are used; this command asks "
                        f"{address}. --fresh asks every call again; '{judge.identity.provider}/MODEL@LABEL' keeps two endpoints with one "
                        "model name apart"
                    )
                if len(missing) and reading.rows is not None:
                    reading.rows.expect(judge.identity, missing)
            of_turn = missing.of_turn(turn) if plan.turns > 1 else missing
            if len(of_turn):
                has_answered = len(missing) < len(calls)
                works.append(_work(judge, calls, of_turn, has_answered, setting, price, openings.get(judge.identity.name)))
        start = time.perf_counter()
        for work, outcome in zip(works, _ask_all(works, setting, watcher, replied) if works else (), strict=True):
            summaries[work.judge.identity.name].add(outcome, time.perf_counter() - start)
            engine = outcome.engine
        if any(summary.interrupted or summary.stopped for summary in summaries.values()):
            break
    return list(summaries.values()), engine


def calls_to_ask(judge: Judge, plan: Plan, setting: AskingPlace) -> tuple[PlannedCalls, PlannedCalls]:
    """All calls of a plan for one judge, and those of them that have no reply that counts."""
    calls = plan.calls(judge.identity)
    return calls, calls.without(_answered(calls, setting))


def _load_libraries(justifications: bool) -> None:
    """Load libraries that are needed after the replies, while judges think; for justifications, also the language identifier."""
    for library in _NEEDED_AFTERWARDS:
        import_module(library)
    if justifications:
        language.load_identifier()


def _answered(calls: PlannedCalls, setting: AskingPlace) -> NDArray[np.bool_]:
    """Return a mask of the calls that have a reply that counts. With --reask, replies of the kinds that it names do not count."""
    store, reading, _, since = setting
    if reading.reask:
        again = _asked_again(reading)
        replies = zip(calls, store.replies(calls.ids(), since), strict=True)
        return np.fromiter((reply is not None and not again(call, reply) for call, reply in replies), bool)
    return np.fromiter((number is not None for number in store.last_attempts(calls.ids(), since)), bool)


def _asked_again(reading: ReplyReading) -> Callable[[Call, Reply], bool]:
    """Return the test of a call and its reply that is True if the call is asked again for a failure that --reask names."""
    failures, kinds = reading.failures, frozenset(reading.reask)

    return (lambda call, reply: not kinds.isdisjoint(failures(call.query, reply))) if kinds else lambda call, reply: False


def _work(
    judge: Judge,
    all_calls: PlannedCalls,
    unanswered: PlannedCalls,
    has_answered: bool,
    setting: AskingPlace,
    price: Price | None,
    opening: JudgeOpening | None,
) -> JudgeWork:
    """The work of asking a judge those of its calls that are `unanswered`. `has_answered`: it has answered calls of this run before."""
    store, reading, settings, since = setting
    count, rows = reading.count_failures, reading.rows

    def unreadable(call: Call, reply: Reply) -> int:
        if rows is not None:
            rows.add(judge.identity, call.query, reply)
        return count(call.query, reply)

    def answered_call() -> Call | None:
        replies = zip(all_calls, store.replies(all_calls.ids(), since), strict=True)
        return next((call for call, reply in replies if reply and reply.text), None)

    needs_estimate = settings.max_cost is not None or bool(settings.tpm)  # otherwise nothing uses the estimate
    return JudgeWork(
        judge,
        unanswered,
        answered_before=has_answered,
        unreadable=unreadable,
        ask_again=_asked_again(reading),
        tokens=estimate_usage if needs_estimate else lambda call: Usage(),
        cost=price.cost if price else lambda usage: 0.0,
        answered_call=answered_call,
        since=since,
        run=reading.run,
        opening=opening,
    )


def _ask_all(works: Sequence[JudgeWork], setting: AskingPlace, watcher: Watcher, replied: Callable[[], None]) -> list[Outcome]:
    """Ask all calls. Libraries are loaded when a model has answered first, so that this does not delay the first requests."""
    show = watcher.progress([work.judge.identity for work in works])
    # not a daemon: a process that ends while libraries are half loaded may crash
    loading = Thread(target=_load_libraries, args=[setting.reading.justifications])
    noted: set[str] = set()

    def watch(work: JudgeWork, progress: Progress) -> None:
        name = work.judge.identity.name
        if progress.done and name not in noted:
            noted.add(name)
            note_address(setting.store, work.judge)
            if loading.ident is None and not traits_of(work.judge.identity).is_baseline:
                loading.start()
        show(work.judge.identity, progress)
        replied()

    try:
        return ask_all(works, setting.store, setting.settings, watch)
    finally:
        watcher.finished()
