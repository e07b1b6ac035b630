"""The batch engine: calls go to a provider as files, are waited for, and fetched: at half the price, within a day.

What is submitted is in the store before it is waited for, so a process may end at any moment: the next one goes on.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path

from harness.engines.batch.accounts import Accounts
from harness.engines.batch.files import request_files, scratch
from harness.engines.batch.record import BatchRecord, is_file
from harness.engines.batch.refusal import is_full, learns, said
from harness.engines.batch.results import Collector
from harness.engines.batch.submission import Submission
from harness.engines.budget import Budget
from harness.engines.local import Watch
from harness.engines.patience import LONGEST_WAIT_SECONDS, OutOfTime, Patience
from harness.engines.together import run_together
from harness.engines.work import Calls, Engine, Outcome, Settings, Work, only
from harness.errors import JudgeError
from harness.judges.batches import Batch, Batching, Refusal
from harness.judges.chat import Manner
from harness.store import Batch as Record
from harness.store import Store

FIRST_POLL_SECONDS = 5.0
LONGEST_POLL_SECONDS = 120.0
_POLL_GROWTH = 1.5
QUEUE_SECONDS = 60.0  # the first pause when a provider's queue is full; it doubles
_FULL_TIMES = 8  # that a full queue is waited for when nothing of ours is in it


def ask_all(works: Sequence[Work], store: Store, settings: Settings, watch: Watch = lambda work, progress: None) -> list[Outcome]:
    """Ask the calls of all judges by their providers' batches, going on with what earlier processes have submitted.

    All judges have a batch interface. Raises JudgeError when a provider cannot be used or refuses a file, StoreError when
    the results folder cannot be written. Ctrl-C and kills leave batches that the next process goes on with.
    """
    budget = Budget(settings.limits)
    with scratch(store.folder) as folder:
        sessions = []
        for number, work in enumerate(works):
            (folder / str(number)).mkdir()
            sessions.append(_Session(work, store, settings, budget, watch, folder / str(number)))
        return run_together(sessions)


class _Session:
    """One judge's calls on their way through batches."""

    def __init__(self, work: Work, store: Store, settings: Settings, budget: Budget, watch: Watch, folder: Path) -> None:
        assert isinstance(work.judge, Batching)
        self._work = work
        self._store = store
        self._settings = settings
        self._budget = budget
        self._folder = folder
        self._accounts = Accounts(work, budget, settings.attempts)
        self._watch = partial(watch, work, self._accounts.progress)
        self._patience = Patience(work.judge.identity.name, budget, self._accounts.progress, self._watch)
        self._record = BatchRecord(store, work.judge.identity.name, work.run)
        self._open: dict[str, tuple[Record, Batch]] = {}
        self._ended: dict[str, str] = {}
        self._interval = FIRST_POLL_SECONDS
        self._full = ""  # what the provider said when its queue was full
        self._times_full = 0
        self._room_at = 0.0  # when the provider's queue is tried again, on the monotonic clock
        self._most_requests: int | None = None

    def outcome(self, *, interrupted: bool) -> Outcome:
        states = self._ended | {batch_id: batch.status for batch_id, (_, batch) in self._open.items()}
        held = {call_id for record, _ in self._open.values() for call_id in record.calls}
        under_way = sum(call_id in held for call_id in self._work.calls.ids()) if held else 0
        told = self._accounts
        return Outcome(told.progress, interrupted, told.last_loss, self._budget.exhausted, states, under_way, Engine("batch"))

    async def run(self) -> None:
        assert isinstance(self._work.judge, Batching)
        self._provider = self._work.judge.batches()
        self._submission = Submission(self._provider, self._record, self._patience)
        self._collector = Collector(self._work, self._store, self._provider, self._accounts, self._patience, self._folder)
        try:
            await self._ask()
        except OutOfTime:
            pass  # the outcome says so
        finally:
            await self._provider.close()

    async def _ask(self) -> None:
        """Collect what has ended, submit what is not submitted, wait; until nothing is under way."""
        held: set[str] | None = await self._take_up()
        while True:
            await self._look()
            if self._settings.batches != "collect" and time.monotonic() >= self._room_at:
                await self._submit(held)
                held = None
            if self._settings.batches != "wait" or not (self._open or self._accounts.again or held is not None):
                return
            await self._patience.rest(self._pause())

    # ---- what earlier processes have submitted

    async def _take_up(self) -> set[str]:
        """Find the batches that hold some of the calls; returns the calls in them."""
        records = self._record.open()
        wanted = frozenset(self._work.calls.ids()) if records else frozenset()
        for record in records:
            if not wanted.isdisjoint(record.calls):
                await self._take_up_one(record)
        held = {call_id for record, _ in self._open.values() for call_id in record.calls}
        if held:
            self._note(f"{len(held)} calls are in batches that were submitted before ({', '.join(self._open)})")
        if held and (self._settings.limits.cost is not None or self._settings.limits.calls is not None):
            for call in only(self._work.calls, held):
                self._accounts.hold(call)
        return held

    async def _take_up_one(self, record: Record) -> None:
        if not is_file(record):
            self._open[record.batch_id] = record, Batch(record.batch_id, "submitted")
        elif found := await self._submission.recover(record):
            self._open[found[1].id] = found

    # ---- submitting

    async def _submit(self, held: set[str] | None) -> None:
        """Submit what is to be asked again, and the first time, when it says what is `held` already, everything else, too."""
        again = self._accounts.again
        if held is None:
            calls = only(self._work.calls, again)
        else:
            calls = self._work.calls.without([call_id in held and call_id not in again for call_id in self._work.calls.ids()])
        manner = self._provider.chat.manner
        files = request_files(self._folder / "requests.jsonl", self._lines(calls, manner), self._most_requests)
        async with aclosing(files):
            async for file in files:
                record, batch = await self._submission.submit(file, manner)
                self._open[batch.id] = record, batch
                again.difference_update(file.calls)
                self._interval = FIRST_POLL_SECONDS
                self._show()

    def _lines(self, calls: Calls, manner: Manner) -> Iterator[tuple[str, bytes]]:
        for call in calls:
            if self._accounts.take(call):
                yield call.call_id, self._provider.line(call, manner)
            elif not self._accounts.again:
                return  # the budget is used up, and nothing else may go out

    # ---- waiting

    async def _look(self) -> None:
        """See how all batches are, and collect those that have ended."""
        self._full = ""
        for record, _ in list(self._open.values()):
            batch = await self._patience.until_answered(partial(self._look_at, record))
            self._open[record.batch_id] = record, batch
            self._show()
            if batch.ended:
                await self._end(record, batch)
                self._show()
        if self._full:
            self._wait_for_room()

    async def _look_at(self, record: Record) -> Batch:
        try:
            return await self._provider.look(record.batch_id)
        except Refusal as err:
            if err.status != 404:
                raise
            raise JudgeError(
                f"there is no batch {record.batch_id}, which run {record.run} has submitted ({err}). Is this the key of the same project? "
                f"'harness batch forget {record.batch_id}' gives it up: its calls are then asked, and paid for, again"
            ) from None

    def _wait_for_room(self) -> None:
        """Too much is queued there: less of it is tried later, longer each time, and given up where it is not ours that fills the queue."""
        self._room_at = time.monotonic() + min(QUEUE_SECONDS * 2**self._times_full, LONGEST_WAIT_SECONDS)
        if self._open:
            return
        self._times_full += 1
        if self._times_full > _FULL_TIMES:
            for call in only(self._work.calls, self._accounts.again):
                self._accounts.give_up(call, self._full)
            self._accounts.again.clear()

    def _pause(self) -> float:
        """Seconds until the next look: as the provider wants it, or longer each time."""
        asked = [batch.asked_to_wait for _, batch in self._open.values() if batch.asked_to_wait is not None]
        seconds = min(max(asked), LONGEST_WAIT_SECONDS) if asked else self._interval
        self._interval = min(self._interval * _POLL_GROWTH, LONGEST_POLL_SECONDS)
        if not self._open:
            seconds = max(self._room_at - time.monotonic(), 0.0)
        return seconds

    def _show(self) -> None:
        progress, counts = self._accounts.progress, [batch.counts for _, batch in self._open.values()]
        progress.batches = dict(Counter(batch.status for _, batch in self._open.values()))
        progress.there = sum(count.completed + count.failed for count in counts)
        self._watch()

    def _note(self, text: str) -> None:
        self._accounts.progress.notes.append(text)
        self._watch()

    # ---- what has ended

    async def _end(self, record: Record, batch: Batch) -> None:
        """Collect a batch; it is noted as ended after what it brought is in the store, and only then errors end the run."""
        if batch.status == "failed":
            whole, error = True, self._refused(record, batch)
        else:
            collected = await self._collector.collect(record, batch)
            whole, error = collected.whole, collected.fatal
            self._times_full, self._room_at = 0, 0.0
        if whole:
            self._record.ended(record, batch.status)
        del self._open[record.batch_id]
        self._ended[record.batch_id] = batch.status
        if batch.status != "completed":
            self._note(f"batch {record.batch_id} is {batch.status}")
        if error is not None:
            raise error
        self._accounts.check()

    def _refused(self, record: Record, batch: Batch) -> JudgeError | None:
        """A file was refused as a whole: its calls are asked in another way or later, where that may help."""
        calls = only(self._work.calls, frozenset(record.calls))
        chat = self._provider.chat
        problems = chat.safe(said(batch))
        if is_full(batch):
            self._full = problems
            self._most_requests = max(1, len(record.calls) // 2)
        elif not learns(chat, calls, record, batch):
            return JudgeError(f"batch {record.batch_id} was refused: {problems}")
        for call in calls:
            self._accounts.taught(call)
        return None
