"""The batch engine: submits calls to a provider as files, waits, and fetches the results: at half the price, within a day.

Every submission is recorded in the store before the engine waits for it. So a process may end at any moment, and the next one goes on.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec

from harness.asking_options import Settings
from harness.engines.batch_submission import (
    BatchRecord,
    BatchSubmitter,
    ResultLine,
    Results,
    capabilities_of,
    is_file,
    is_queue_full,
    learn_from_problems,
    problems_in_words,
    request_files,
    scratch,
)
from harness.engines.budget import Budget, budget_of
from harness.engines.judge_sessions import run_loop, run_together
from harness.engines.local_engine import MAX_REASKS, Watch, repeated_refusal
from harness.engines.retries import FIRST_ATTEMPTS, MAX_ATTEMPTS, MAX_REFUSALS, OutOfTime, Polling
from harness.engines.work import CallSequence, Engine, JudgeWork, Outcome, Progress, charged, with_ids
from harness.errors import EndpointRefusal, FatalReply, JudgeError
from harness.judges.batches import Batches, Batching, BatchRefused, ProviderBatch
from harness.judges.capabilities import EndpointCapabilities
from harness.judges.judge_protocol import NoReply, UnexplainedRefusal
from harness.judges.rate_limit_headers import LONGEST_WAIT_SECONDS
from harness.judges.response_body import error_text
from harness.judges.transport import Response
from harness.model import Call, Reply
from harness.store import Attempt, Store, StoredBatch
from harness.store.database import explaining_errors


class CallAccounts:
    """Counts, costs and attempts of one judge's calls. A call's cost is reserved from its first submission until it is settled."""

    def __init__(self, work: JudgeWork, budget: Budget, attempts: int | None) -> None:
        self.progress = Progress(total=len(work.calls))
        self.to_ask_again: set[str] = set()
        self._given_up: str | None = None
        self._work = work
        self._budget = budget
        self._max_attempts = attempts or MAX_ATTEMPTS
        self._attempts: Counter[str] = Counter()
        self._reasked: Counter[str] = Counter()
        self._exhausted = False
        self._last_reason = ""

    def take(self, call: Call) -> bool:
        """Return True if a call may go out: a call that is asked again may, any other if the budget allows it."""
        return call.call_id in self.to_ask_again or self._budget.take(self._reserved(call))

    def hold(self, call: Call) -> None:
        """Count a call that went out before this command began."""
        self._budget.hold(self._reserved(call))

    def record_reply(self, call: Call, reply: Reply) -> None:
        """Count a reply; if the call has to be asked again, it stays open."""
        cost = charged(self._work, call, reply)
        asked_again = self._work.ask_again(call, reply) and self._reasked[call.call_id] < MAX_REASKS
        if asked_again and not self._budget.late:
            self._reasked[call.call_id] += 1
            self.progress.reasked += 1
            self.to_ask_again.add(call.call_id)
            self._budget.settle(0.0, cost)
            return
        self._budget.settle(self._reserved(call), cost)
        self.progress.count(self._work, call, reply)

    def record_stored(self, call: Call) -> None:
        """Count a call whose reply was already in the store."""
        self._budget.settle(self._reserved(call), 0.0)
        self.progress.done += 1

    def ask_differently(self, call: Call) -> None:
        """Ask the call again: it was refused for a parameter or answer format that is now left out."""
        self.to_ask_again.add(call.call_id)

    def record_loss(self, call: Call, reason: str) -> None:
        """Count an attempt without a reply; after the last one the call is given up."""
        self._last_reason = reason
        self._attempts[call.call_id] += 1
        if self._attempts[call.call_id] < (self._max_attempts if self.progress.done else min(self._max_attempts, FIRST_ATTEMPTS)):
            self.progress.retries += 1
            self.to_ask_again.add(call.call_id)
        else:
            self._exhausted = True
            self.give_up(call, reason)

    @property
    def last_loss(self) -> str | None:
        """Return the reason why a call has no answer: the last one that was given up, else the last one that waits to be asked again."""
        return self._given_up or (self._last_reason if self.to_ask_again else None)

    def check(self) -> None:
        """Raises JudgeError when calls were given up and nothing was ever answered: then the problem is not these calls."""
        if self._exhausted and not self.progress.done:
            raise JudgeError(f"{self._work.judge.identity.name}: {self._last_reason}; no call was answered")

    def give_up(self, call: Call, reason: str) -> None:
        """Leave a call without a reply."""
        self._given_up = reason
        self.progress.lost += 1
        self._budget.settle(self._reserved(call), 0.0)

    def _reserved(self, call: Call) -> float:
        return self._work.cost(self._work.tokens(call))


_CHUNK = 500  # attempts in a commit

LineMeaning = Reply | FatalReply | NoReply | None  # None: the call has to be asked differently


class CollectedResults(msgspec.Struct, frozen=True):
    """`complete`: nothing of the batch is left for other runs to collect. `fatal`: a refusal that every further call would get."""

    complete: bool
    fatal: FatalReply | None


class Collector:
    """Collects the batches of one judge."""

    def __init__(self, work: JudgeWork, store: Store, provider: Batches, accounts: CallAccounts, polling: Polling, folder: Path) -> None:
        self._work = work
        self._store = store
        self._provider = provider
        self._accounts = accounts
        self._polling = polling
        self._folder = folder
        self._others_answered = False

    async def collect(self, record: StoredBatch, batch: ProviderBatch) -> CollectedResults:
        """Fetch the results of a batch that has ended, and store those of calls of this run that are not answered yet.

        Collecting twice changes nothing. Raises JudgeError when the provider no longer has the results.
        """
        calls = with_ids(self._work.calls, frozenset(record.calls))
        with Results(record.calls) as results:
            for number, result_file in enumerate(filter(None, (batch.output_file_id, batch.error_file_id))):
                path = self._folder / f"results-{number}.jsonl"
                await self._polling.until_answered(partial(self._fetch, result_file, path, record))
                results.add(path)
            if results.ignored_lines:
                self._accounts.progress.notes.append(f"{record.batch_id}: ignored lines: {results.ignored_lines}")
            fatal = await self._store_results(calls, results, record, batch)
        plan_ids = frozenset(calls.ids())  # runs in one results folder share calls: another one may still need some of this batch
        other_ids = [call_id for call_id in record.calls if call_id not in plan_ids]
        return CollectedResults(all(number is not None for number in self._store.last_attempts(other_ids)), fatal)

    async def _fetch(self, file_id: str, path: Path, record: StoredBatch) -> None:
        try:
            with explaining_errors(path):
                await self._provider.fetch(file_id, path, len(record.calls))
        except BatchRefused as err:
            if err.status not in (404, 410):
                raise
            raise JudgeError(
                f"the results of batch {record.batch_id} no longer exist: {err}. 'harness batch forget {record.batch_id}' gives "
                "the batch up: its calls are then asked and paid for again"
            ) from None

    async def _store_results(self, calls: CallSequence, results: Results, record: StoredBatch, batch: ProviderBatch) -> FatalReply | None:
        """Store answers first, then the rest. Returns the refusal that every further call would get, if there is one.

        A refusal by the endpoint is normally about its own call. It stops the judge if the judge has never answered, or if several calls
        in a row were refused. A refusal without a reason is about the text if other lines hold answers.
        """
        capabilities = capabilities_of(batch)
        self._others_answered = bool(results.answers or self._accounts.progress.done)
        answered_before = self._accounts.progress.done
        fatal: FatalReply | None = None
        refusals: dict[str, EndpointRefusal] = {}
        unanswered = calls.without([call_id in results.answers for call_id in calls.ids()])
        for are_answers, part in ((True, with_ids(calls, results.answers)), (False, unanswered)):
            remaining = iter(part)
            while chunk := list(islice(remaining, _CHUNK)):
                meanings = [(call, self._meaning(call, results.line(call.call_id), capabilities, record)) for call in chunk]
                self._write(meanings, cancelled=record.batch_id if batch.status == "cancelled" else None)
                refusals |= {call.call_id: meaning for call, meaning in meanings if isinstance(meaning, EndpointRefusal)}
                fatal = fatal or next((m for _, m in meanings if isinstance(m, FatalReply) and not isinstance(m, EndpointRefusal)), None)
                await asyncio.sleep(0)
            if are_answers and self._accounts.progress.done > answered_before:
                fatal = None  # some lines were completions, so the others were exceptions
        if fatal is None and refusals and not (self._accounts.progress.done or self._work.answered_before):
            return next(iter(refusals.values()))
        in_a_row = 0
        for call_id in calls.ids() if fatal is None else ():
            in_a_row = in_a_row + 1 if call_id in refusals else 0
            if in_a_row >= MAX_REFUSALS:
                return repeated_refusal(refusals[call_id], in_a_row)
        return fatal

    def _meaning(self, call: Call, line: ResultLine | None, capabilities: EndpointCapabilities, record: StoredBatch) -> LineMeaning:
        if line is None:
            return NoReply(f"batch {record.batch_id} has no result for the call")
        if line.response is None:
            error = None
            with suppress(RecursionError):
                error = error_text(msgspec.json.encode({"error": line.error}))
            error = error or "no reason given"
            return NoReply(f"batch {record.batch_id} did not send the call: {self._provider.chat.quote(error)}")
        response = Response(line.response.status_code, {}, bytes(line.response.body))
        chat = self._provider.chat
        request = chat.request(call, capabilities)
        try:
            answer = chat.interpret(call, request, response, 0.0)
        except UnexplainedRefusal as err:
            if not self._others_answered:
                return None if chat.loosen(request) else err
            answer = err.reply
        except (NoReply, FatalReply) as err:
            return err
        if isinstance(answer, Reply):
            return msgspec.structs.replace(answer, batched=True)
        if answer is not chat.capabilities:  # this text leaves less room; all calls of the next batch are asked alike
            least = min(answer.reasoning_tokens, chat.capabilities.reasoning_tokens)
            chat.capabilities = msgspec.structs.replace(chat.capabilities, reasoning_tokens=least, reasoning_refused=True)
        return None

    def _write(self, meanings: Sequence[tuple[Call, LineMeaning]], cancelled: str | None) -> None:
        """Write results to the store first, then count them. Replies that the store already has are not written twice."""
        stored = list(self._store.replies((call.call_id for call, _ in meanings), self._work.since))
        attempts: list[Attempt] = []
        open_ids = set()
        for (call, meaning), reply in zip(meanings, stored, strict=True):
            if reply is not None and not self._work.ask_again(call, reply):
                continue
            open_ids.add(call.call_id)
            if isinstance(meaning, Reply) and meaning != reply:
                attempts.append(Attempt(call, meaning, None))
            elif isinstance(meaning, NoReply | FatalReply):
                loss = meaning.reason if isinstance(meaning, EndpointRefusal) else str(meaning)
                attempts.append(Attempt(call, None, loss))
        self._store.put_attempts(attempts, self._work.judge.identity)
        for call, meaning in meanings:
            if call.call_id not in open_ids:
                self._accounts.record_stored(call)
            elif isinstance(meaning, Reply):
                self._accounts.record_reply(call, meaning)
            elif cancelled:
                self._accounts.give_up(call, f"batch {cancelled} was cancelled")
            elif meaning is None:
                self._accounts.ask_differently(call)
            elif isinstance(meaning, EndpointRefusal):
                self._accounts.give_up(call, meaning.reason)
            else:
                self._accounts.record_loss(call, str(meaning))


FIRST_POLL_SECONDS = 5.0
LONGEST_POLL_SECONDS = 120.0
_POLL_GROWTH = 1.5
QUEUE_SECONDS = 60.0  # the first pause when the provider's queue is full; it doubles
_MAX_QUEUE_WAITS = 8  # when the queue is full and holds no batch of this run


def ask_all(works: Sequence[JudgeWork], store: Store, settings: Settings, watch: Watch = lambda work, progress: None) -> list[Outcome]:
    """Ask the calls of all judges by their providers' batches, and go on with batches that earlier processes submitted.

    All judges need a batch interface. Raises JudgeError when a provider cannot be used or refuses a file, StoreError when the results
    folder cannot be written. After Ctrl-C or a kill the next process goes on with the submitted batches.
    """
    budget = budget_of(settings)
    with scratch(store.folder) as folder:
        sessions = []
        for number, work in enumerate(works):
            (folder / str(number)).mkdir()
            sessions.append(_BatchSession(work, store, settings, budget, watch, folder / str(number)))
        return run_together(sessions)


class _BatchSession:
    def __init__(self, work: JudgeWork, store: Store, settings: Settings, budget: Budget, watch: Watch, folder: Path) -> None:
        assert isinstance(work.judge, Batching)
        self._work = work
        self._store = store
        self._settings = settings
        self._budget = budget
        self._folder = folder
        self._accounts = CallAccounts(work, budget, settings.attempts)
        self._watch = partial(watch, work, self._accounts.progress)
        self._polling = Polling(work.judge.identity.name, budget, self._accounts.progress, self._watch)
        self._record = BatchRecord(store, work.judge.identity.name, work.run)
        self._open: dict[str, tuple[StoredBatch, ProviderBatch]] = {}
        self._ended: dict[str, str] = {}
        self._interval = FIRST_POLL_SECONDS
        self._queue_problem = ""  # the provider's message that its queue is full
        self._queue_waits = 0
        self._retry_at = 0.0  # when to submit again after a full queue, on the monotonic clock
        self._most_requests: int | None = None

    def outcome(self, *, interrupted: bool) -> Outcome:
        states = self._ended | {batch_id: batch.status for batch_id, (_, batch) in self._open.items()}
        with_provider = {call_id for record, _ in self._open.values() for call_id in record.calls}
        under_way = sum(call_id in with_provider for call_id in self._work.calls.ids()) if with_provider else 0
        accounts = self._accounts
        return Outcome(accounts.progress, interrupted, accounts.last_loss, self._budget.exhausted, states, under_way, Engine("batch"))

    async def run(self) -> None:
        assert isinstance(self._work.judge, Batching)
        self._provider = self._work.judge.batches()
        self._submission = BatchSubmitter(self._provider, self._record, self._polling)
        self._collector = Collector(self._work, self._store, self._provider, self._accounts, self._polling, self._folder)
        try:
            await self._ask()
        except OutOfTime:
            pass  # the outcome says so
        finally:
            await self._provider.close()

    async def _ask(self) -> None:
        """Collect batches that have ended, submit what is missing, and wait, until no batch is open."""
        with_provider: set[str] | None = await self._resume()
        while True:
            self._queue_problem = ""
            for record, _ in list(self._open.values()):
                batch = await self._polling.until_answered(partial(self._state_of, record))
                self._open[record.batch_id] = record, batch
                self._show()
                if batch.ended:
                    # Collect a batch. It is settled after its replies are in the store; errors are raised only after that.
                    if batch.status == "failed":
                        complete, error = True, self._handle_refusal(record, batch)
                    else:
                        collected = await self._collector.collect(record, batch)
                        complete, error = collected.complete, collected.fatal
                        self._queue_waits, self._retry_at = 0, 0.0
                    if complete:
                        self._record.settle(record, batch.status)
                    del self._open[record.batch_id]
                    self._ended[record.batch_id] = batch.status
                    if batch.status != "completed":
                        self.note(f"batch {record.batch_id} is {batch.status}")
                    if error is not None:
                        raise error
                    self._accounts.check()
                    self._show()
            if self._queue_problem:  # the provider's queue is full: wait longer each time
                self._retry_at = time.monotonic() + min(QUEUE_SECONDS * 2**self._queue_waits, LONGEST_WAIT_SECONDS)
                self._queue_waits += not self._open
                if not self._open and self._queue_waits > _MAX_QUEUE_WAITS:  # and no batch of this run is in it
                    for call in with_ids(self._work.calls, self._accounts.to_ask_again):
                        self._accounts.give_up(call, self._queue_problem)
                    self._accounts.to_ask_again.clear()
            if not self._settings.collect and time.monotonic() >= self._retry_at:
                await self._submit(with_provider)
                with_provider = None
            if (
                self._settings.detach
                or self._settings.collect
                or not (self._open or self._accounts.to_ask_again or with_provider is not None)
            ):
                return
            await self._polling.wait(self._pause())

    # ---- batches of earlier processes

    async def _resume(self) -> set[str]:
        """Find the open batches that hold some of the calls. Returns the ids of all calls in them."""
        records = self._record.open()
        own_ids = frozenset(self._work.calls.ids()) if records else frozenset()
        for record in records:
            if not own_ids.isdisjoint(record.calls):
                if not is_file(record):
                    self._open[record.batch_id] = record, ProviderBatch(record.batch_id, "submitted")
                elif recovered := await self._submission.recover(record):
                    self._open[recovered[1].id] = recovered
        with_provider = {call_id for record, _ in self._open.values() for call_id in record.calls}
        if with_provider:
            self.note(f"{len(with_provider)} calls are in batches that were submitted before ({', '.join(self._open)})")
        if with_provider and (self._settings.max_cost is not None or self._settings.max_calls is not None):
            for call in with_ids(self._work.calls, with_provider):
                self._accounts.hold(call)
        return with_provider

    # ---- submitting

    async def _submit(self, with_provider: set[str] | None) -> None:
        """Submit the calls to ask again; the first time, with `with_provider`, all calls that no open batch holds, too."""
        again = self._accounts.to_ask_again
        if with_provider is None:
            calls = with_ids(self._work.calls, again)
        else:
            calls = self._work.calls.without([call_id in with_provider and call_id not in again for call_id in self._work.calls.ids()])
        capabilities = self._provider.chat.capabilities
        files = request_files(self._folder / "requests.jsonl", self._lines(calls, capabilities), self._most_requests)
        async with aclosing(files):
            async for file in files:
                record, batch = await self._submission.submit(file, capabilities)
                self._open[batch.id] = record, batch
                again.difference_update(file.calls)
                self._interval = FIRST_POLL_SECONDS
                self._show()

    def _lines(self, calls: CallSequence, capabilities: EndpointCapabilities) -> Iterator[tuple[str, bytes]]:
        for call in calls:
            if self._accounts.take(call):
                yield call.call_id, self._provider.line(call, capabilities)
            elif not self._accounts.to_ask_again:
                return  # the budget is used up

    # ---- waiting

    async def _state_of(self, record: StoredBatch) -> ProviderBatch:
        try:
            return await self._provider.retrieve(record.batch_id)
        except BatchRefused as err:
            if err.status != 404:
                raise
            raise JudgeError(
                f"there is no batch {record.batch_id}, which run {record.run} has submitted ({err}). Is this the key of the same project? "
                f"'harness batch forget {record.batch_id}' gives the batch up: its calls are then asked and paid for again"
            ) from None

    def _pause(self) -> float:
        """Seconds until the next check: as the provider asks, otherwise longer each time."""
        requested = [batch.asked_to_wait for _, batch in self._open.values() if batch.asked_to_wait is not None]
        seconds = min(max(requested), LONGEST_WAIT_SECONDS) if requested else self._interval
        self._interval = min(self._interval * _POLL_GROWTH, LONGEST_POLL_SECONDS)
        if not self._open:
            seconds = max(self._retry_at - time.monotonic(), 0.0)
        return seconds

    def _show(self) -> None:
        progress, counts = self._accounts.progress, [batch.counts for _, batch in self._open.values()]
        progress.batches = dict(Counter(batch.status for _, batch in self._open.values()))
        progress.done_at_provider = sum(count.completed + count.failed for count in counts)
        self._watch()

    def note(self, text: str) -> None:
        self._accounts.progress.notes.append(text)
        self._watch()

    # ---- batches that have ended

    def _handle_refusal(self, record: StoredBatch, batch: ProviderBatch) -> JudgeError | None:
        """A whole file was refused. Its calls are asked differently or later if that may help; otherwise returns the error."""
        calls = with_ids(self._work.calls, frozenset(record.calls))
        chat = self._provider.chat
        problems = chat.quote(problems_in_words(batch), 2000)
        if is_queue_full(batch):
            self._queue_problem = problems
            self._most_requests = max(1, len(record.calls) // 2)
        elif not learn_from_problems(chat, calls, record, batch):
            return JudgeError(f"batch {record.batch_id} was refused: {problems}")
        for call in calls:
            self._accounts.ask_differently(call)
        return None


def states_of(judge: Batching, batch_ids: Iterable[str]) -> dict[str, ProviderBatch | str]:
    """Each batch in its present state, or the reason why the state is unknown. Raises JudgeError for a judge that cannot ask."""
    states: dict[str, ProviderBatch | str] = {}

    async def retrieve_all() -> None:
        provider = judge.batches()
        try:
            for batch_id in batch_ids:
                try:
                    states[batch_id] = await provider.retrieve(batch_id)
                except (NoReply, JudgeError) as err:
                    states[batch_id] = str(err)
        finally:
            await provider.close()

    run_loop(retrieve_all())
    return states
