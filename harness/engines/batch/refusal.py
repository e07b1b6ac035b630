"""Why a provider has refused a file of requests as a whole, and what follows from it."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from harness.engines.batch.submission import manner_of
from harness.engines.work import Calls, only
from harness.errors import FatalReply
from harness.judges.base import NoReply
from harness.judges.batches import Batch, LineError
from harness.judges.chat import Chat
from harness.judges.wire import Response
from harness.store import Batch as Record

_SHOWN = 5
_QUEUE_WORDS = ("token_limit_exceeded", "enqueued token")


def is_full(batch: Batch) -> bool:
    """Whether more is queued there than the provider allows: later there may be room, and for less there may be room now."""
    return any(words in _text(problem).lower() for problem in batch.problems for words in _QUEUE_WORDS)


def learns(chat: Chat, calls: Calls, record: Record, batch: Batch) -> bool:
    """Whether a problem names what can be asked for in another way or left out; it is from now on."""
    manner = manner_of(batch)
    about = {_call_id(problem, record): _text(problem) for problem in batch.problems if record.calls}
    learnt = False
    for call in only(calls, about):
        body = msgspec.json.encode({"error": {"message": about[call.call_id]}})
        with suppress(NoReply, FatalReply):
            learnt |= chat.understand(call, chat.request(call, manner), Response(400, {}, body), 0.0) is None
    return learnt


def said(batch: Batch) -> str:
    """The problems with their lines, in words."""
    shown = [f"line {problem.line}: {_text(problem)}" if problem.line else _text(problem) for problem in batch.problems[:_SHOWN]]
    more = [f"and {len(batch.problems) - _SHOWN} more"] if len(batch.problems) > _SHOWN else []
    return "; ".join([*shown, *more]) or "without a word"


def _call_id(problem: LineError, record: Record) -> str:
    """The call that a problem is about; the first one's is as good as any where it does not say."""
    line = problem.line or 1
    return record.calls[line - 1 if 1 <= line <= len(record.calls) else 0]


def _text(problem: LineError) -> str:
    message, code = " ".join((problem.message or "").split()), problem.code or ""
    return f"{message} ({code})" if message and code and code not in message else message or code or "without a word"
