"""Handing a file of requests over so that it is paid for once, whenever the process or the connection ends."""

from __future__ import annotations

import asyncio
import hashlib
import time

import msgspec

from harness.engines.batch.files import RequestFile
from harness.engines.batch.record import BatchRecord, file_id
from harness.engines.patience import Patience
from harness.judges.base import NoReply
from harness.judges.batches import Batch, Batches, Refusal
from harness.judges.chat import FORMS, Manner
from harness.store import Batch as Record

UNSURE_SECONDS = 15.0  # until a batch that may have been made stands in the provider's list
_KEY = "harness_key"
_MANNER = "harness_manner"


class Submission:
    """Makes batches of files for one judge, and finds those that a process before this one may have made."""

    def __init__(self, provider: Batches, record: BatchRecord, patience: Patience) -> None:
        self._provider = provider
        self._record = record
        self._patience = patience

    async def submit(self, file: RequestFile, manner: Manner) -> tuple[Record, Batch]:
        """A batch of a file whose calls are asked in that manner. Raises Refusal when the provider takes none."""
        uploaded = await self._patience.until_answered(lambda: self._provider.upload(file.path))
        note = self._record.uploaded(uploaded, file.calls)
        notes = {
            "harness_run": note.run,
            "harness_judge": note.judge,
            _KEY: _key(note),
            _MANNER: msgspec.json.encode(manner).decode(),
        }
        tried = unsure = False

        async def make() -> Batch:
            nonlocal tried, unsure
            if unsure:
                await asyncio.sleep(UNSURE_SECONDS)
                if found := await self._find(note):
                    return found
            try:
                return await self._provider.submit(uploaded, notes)
            except Refusal:
                if not tried:
                    self._record.not_made(note)
                raise
            except NoReply as err:
                unsure = err.down or not err.busy  # a plain 429 has made nothing
                raise
            finally:
                tried = True

        made = await self._patience.until_answered(make)
        return self._record.made(note, made.id), made

    async def recover(self, note: Record) -> tuple[Record, Batch] | None:
        """The batch that was made of an uploaded file, if there is one."""
        age = time.time() - note.submitted
        if 0 <= age < UNSURE_SECONDS:
            await self._patience.rest(UNSURE_SECONDS - age)
        found = await self._patience.until_answered(lambda: self._find(note))
        if found is None:
            self._record.not_made(note)
            return None
        return self._record.made(note, found.id), found

    async def _find(self, note: Record) -> Batch | None:
        return await self._provider.find(file_id(note), _KEY, _key(note))


def manner_of(batch: Batch) -> Manner:
    """How the calls of a batch were asked, as was noted on it; the usual way where the provider has not kept that."""
    try:
        manner = msgspec.json.decode(batch.note(_MANNER), type=Manner)
    except msgspec.MsgspecError:
        return Manner()
    return manner if manner.form in FORMS else Manner()


def _key(note: Record) -> str:
    """What tells a batch from every other one."""
    return hashlib.sha256("\n".join((note.run, note.judge, file_id(note), *note.calls)).encode()).hexdigest()
