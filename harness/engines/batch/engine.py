"""The batch engine: submits calls to a provider as files, waits, and fetches the results: at half the price, within a day.

Every submission is recorded in the store before the engine waits for it. So a process may end at any moment, and the next one goes on.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path

from harness.asking import Settings
from harness.engines.batch.files import request_files, scratch
from harness.engines.batch.results import CallAccounts, Collector
from harness.engines.batch.submission import BatchRecord, BatchSubmitter, is_file, is_queue_full, learn_from_problems, problems_in_words
from harness.engines.budget import Budget, budget_of
from harness.engines.concurrent import run_loop, run_together
from harness.engines.local import Watch
from harness.engines.retry import OutOfTime, Polling
from harness.engines.work import CallSequence, Engine, JudgeWork, Outcome, with_ids
from harness.errors import JudgeError
from harness.judges.base import NoReply
from harness.judges.batches import Batching, BatchRefused, ProviderBatch
from harness.judges.capabilities import EndpointCapabilities
from harness.judges.rate_limits import LONGEST_WAIT_SECONDS
from harness.store import Store, StoredBatch

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
            if self._queue_problem:
                self._wait_for_queue()
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

    def _wait_for_queue(self) -> None:
        """The provider's queue is full: wait longer each time. If no batch of this run is in the queue, give the calls up after a while."""
        self._retry_at = time.monotonic() + min(QUEUE_SECONDS * 2**self._queue_waits, LONGEST_WAIT_SECONDS)
        if self._open:
            return
        self._queue_waits += 1
        if self._queue_waits > _MAX_QUEUE_WAITS:
            for call in with_ids(self._work.calls, self._accounts.to_ask_again):
                self._accounts.give_up(call, self._queue_problem)
            self._accounts.to_ask_again.clear()

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
