"""What a batch has brought: its lines become replies in the store, or calls that are to be asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec

from harness.engines.batch.accounts import Accounts
from harness.engines.batch.files import Line, Results
from harness.engines.batch.submission import manner_of
from harness.engines.patience import Patience
from harness.engines.work import Calls, Work, only
from harness.errors import FatalReply, JudgeError
from harness.judges.base import NoReply
from harness.judges.batches import Batch, Batches, Refusal
from harness.judges.chat import Manner
from harness.judges.completion import error_of
from harness.judges.wire import Response
from harness.model import Call, Reply
from harness.store import Attempt, Store
from harness.store import Batch as Record
from harness.store.opening import explained

_CHUNK = 500  # attempts in one commit

Meaning = Reply | FatalReply | NoReply | None  # None: the call is to be asked in another way


class Collected(msgspec.Struct, frozen=True):
    """Whether nothing of a batch is left to be collected, and what about it would be the same for every call."""

    whole: bool
    fatal: FatalReply | None


class Collector:
    """Collects the batches of one judge."""

    def __init__(self, work: Work, store: Store, provider: Batches, accounts: Accounts, patience: Patience, folder: Path) -> None:
        self._work = work
        self._store = store
        self._provider = provider
        self._accounts = accounts
        self._patience = patience
        self._folder = folder

    async def collect(self, record: Record, batch: Batch) -> Collected:
        """Fetch the results of a batch that has ended, and put them into the store as far as its calls are wanted and not answered yet.

        Collecting again changes nothing. Raises JudgeError when the results cannot be had any more.
        """
        calls = only(self._work.calls, frozenset(record.calls))
        with Results(record.calls) as results:
            for number, there in enumerate(filter(None, (batch.output_file_id, batch.error_file_id))):
                path = self._folder / f"results-{number}.jsonl"
                await self._patience.until_answered(partial(self._fetch, there, path, record))
                results.add(path)
            if results.oddities:
                self._accounts.progress.notes.append(f"{record.batch_id}: lines that were passed over: {results.oddities}")
            fatal = await self._take(calls, results, record, batch)
        return Collected(self._is_whole(record, calls), fatal)

    async def _fetch(self, file_id: str, path: Path, record: Record) -> None:
        try:
            with explained(path):
                await self._provider.fetch(file_id, path)
        except Refusal as err:
            if err.status not in (404, 410):
                raise
            raise JudgeError(
                f"the results of batch {record.batch_id} are not there any more: {err}. 'harness batch forget {record.batch_id}' gives it "
                "up: its calls are then asked, and paid for, again"
            ) from None

    async def _take(self, calls: Calls, results: Results, record: Record, batch: Batch) -> FatalReply | None:
        """Answers first: once there is one, a refusal is known to be about its own call."""
        manner = manner_of(batch)
        answered_before = self._accounts.progress.done
        fatal = None
        for good, part in ((True, only(calls, results.good)), (False, calls.without([name in results.good for name in calls.ids()]))):
            for chunk in _chunks(part):
                met = [(call, self._meaning(call, results.line(call.call_id), manner, record)) for call in chunk]
                self._keep(met, cancelled=record.batch_id if batch.status == "cancelled" else None)
                fatal = fatal or next((meaning for _, meaning in met if isinstance(meaning, FatalReply)), None)
                await asyncio.sleep(0)
            if good and self._accounts.progress.done > answered_before:
                fatal = None  # what was no completion was an exception
        return fatal

    def _meaning(self, call: Call, line: Line | None, manner: Manner, record: Record) -> Meaning:
        if line is None:
            return NoReply(f"batch {record.batch_id} says nothing about it")
        if line.response is None:
            said = error_of(msgspec.json.encode({"error": line.error})) or "without a word"
            return NoReply(f"batch {record.batch_id} did not ask it: {self._provider.chat.safe(said)}")
        response = Response(line.response.status_code, {}, bytes(line.response.body))
        try:
            reply = self._provider.chat.understand(call, self._provider.chat.request(call, manner), response, 0.0)
        except (NoReply, FatalReply) as err:
            return err
        return None if reply is None else msgspec.structs.replace(reply, batched=True)

    def _keep(self, met: Sequence[tuple[Call, Meaning]], cancelled: str | None) -> None:
        """Into the store first, then into the accounts. What is there already is not put there twice."""
        known = list(self._store.replies(call.call_id for call, _ in met))
        left = [
            (call, meaning, reply)
            for (call, meaning), reply in zip(met, known, strict=True)
            if reply is None or self._work.ask_again(call, reply)
        ]
        attempts = [_attempt(call, meaning) for call, meaning, reply in left if meaning is not None and meaning != reply]
        self._store.put_attempts(attempts, self._work.judge.identity)
        waiting = {call.call_id for call, _, _ in left}
        for call, meaning in met:
            if call.call_id not in waiting:
                self._accounts.answered_already(call)
            elif isinstance(meaning, Reply):
                self._accounts.answered(call, meaning)
            elif cancelled:
                self._accounts.give_up(call, f"batch {cancelled} was cancelled")
            elif meaning is None:
                self._accounts.taught(call)
            else:
                self._accounts.lost(call, str(meaning))

    def _is_whole(self, record: Record, calls: Calls) -> bool:
        """Whether no other run still waits for some of the batch's calls: runs of one results folder share them."""
        here = frozenset(calls.ids())
        others = [call_id for call_id in record.calls if call_id not in here]
        return all(number is not None for number in self._store.last_attempts(others))


def _attempt(call: Call, meaning: Reply | NoReply | FatalReply) -> Attempt:
    return Attempt(call, meaning, None) if isinstance(meaning, Reply) else Attempt(call, None, str(meaning))


def _chunks(calls: Calls) -> Iterator[list[Call]]:
    left = iter(calls)
    while chunk := list(islice(left, _CHUNK)):
        yield chunk
