"""Results of batches: the state of every call of a judge, and a batch's lines as replies in the store or calls that are asked again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec

from harness.engines.batch.files import ResultLine, Results
from harness.engines.batch.submission import capabilities_of
from harness.engines.budget import Budget
from harness.engines.local import MAX_REASKS, repeated_refusal
from harness.engines.retry import FIRST_ATTEMPTS, MAX_ATTEMPTS, MAX_REFUSALS, Polling
from harness.engines.work import CallSequence, JudgeWork, Progress, charged, with_ids
from harness.errors import EndpointRefusal, FatalReply, JudgeError
from harness.judges.base import NoReply, UnexplainedRefusal
from harness.judges.batches import Batches, BatchRefused, ProviderBatch
from harness.judges.capabilities import EndpointCapabilities
from harness.judges.completion import error_text
from harness.judges.transport import Response
from harness.model import Call, Reply
from harness.store import Attempt, Store, StoredBatch
from harness.store.opening import explaining_errors


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
            for chunk in _chunks(part):
                meanings = [(call, self._meaning(call, results.line(call.call_id), capabilities, record)) for call in chunk]
                self._write(meanings, cancelled=record.batch_id if batch.status == "cancelled" else None)
                refusals |= {call.call_id: meaning for call, meaning in meanings if isinstance(meaning, EndpointRefusal)}
                fatal = fatal or next((m for _, m in meanings if isinstance(m, FatalReply) and not isinstance(m, EndpointRefusal)), None)
                await asyncio.sleep(0)
            if are_answers and self._accounts.progress.done > answered_before:
                fatal = None  # some lines were completions, so the others were exceptions
        return fatal or self._repeated_refusal(calls, refusals)

    def _repeated_refusal(self, calls: CallSequence, refusals: Mapping[str, EndpointRefusal]) -> FatalReply | None:
        """The refusal that stops the judge: any if the judge has never answered, otherwise the last of several in a row."""
        if refusals and not (self._accounts.progress.done or self._work.answered_before):
            return next(iter(refusals.values()))
        in_a_row = 0
        for call_id in calls.ids():
            in_a_row = in_a_row + 1 if call_id in refusals else 0
            if in_a_row >= MAX_REFUSALS:
                return repeated_refusal(refusals[call_id], in_a_row)
        return None

    def _meaning(self, call: Call, line: ResultLine | None, capabilities: EndpointCapabilities, record: StoredBatch) -> LineMeaning:
        if line is None:
            return NoReply(f"batch {record.batch_id} has no result for the call")
        if line.response is None:
            error = _error_text(line.error) or "no reason given"
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
        unanswered = [
            (call, meaning, reply)
            for (call, meaning), reply in zip(meanings, stored, strict=True)
            if reply is None or self._work.ask_again(call, reply)
        ]
        attempts = [_attempt(call, meaning) for call, meaning, reply in unanswered if meaning is not None and meaning != reply]
        self._store.put_attempts(attempts, self._work.judge.identity)
        open_ids = {call.call_id for call, _, _ in unanswered}
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


def _error_text(error: object) -> str | None:
    try:
        return error_text(msgspec.json.encode({"error": error}))
    except RecursionError:
        return None


def _attempt(call: Call, meaning: Reply | NoReply | FatalReply) -> Attempt:
    if isinstance(meaning, Reply):
        return Attempt(call, meaning, None)
    return Attempt(call, None, meaning.reason if isinstance(meaning, EndpointRefusal) else str(meaning))


def _chunks(calls: CallSequence) -> Iterator[list[Call]]:
    remaining = iter(calls)
    while chunk := list(islice(remaining, _CHUNK)):
        yield chunk
