"""A provider's batch interface: calls handed over as a file, answered within a day, at a lower price.

Spoken through the openai client (its `files` and `batches`), with retries, waiting and reading left to whoever uses it. What comes back
is untrusted: it is read for what it is worth.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import msgspec

from harness.errors import JudgeError
from harness.judges.allowance import retry_after
from harness.judges.base import NoReply
from harness.judges.chat import TRANSIENT, Chat, Manner
from harness.judges.completion import error_of
from harness.model import Call

if TYPE_CHECKING:
    import openai

ENDED = frozenset({"completed", "expired", "failed", "cancelled"})
_CHECKED_IN = frozenset({"pending", "running", "processing"})  # states of a file that is not ready yet
_LOOKS_AT_FILE_SECONDS = 2.0
_PAGE = 100
_MOST_LISTED = 100_000
_LONGEST_NOTE = 512  # characters that a value of a batch's metadata may have
T = TypeVar("T")


@runtime_checkable
class Batching(Protocol):
    """A judge whose endpoint also takes calls by the file."""

    def batches(self) -> Batches:
        """Its batch interface. Raises JudgeError with what to do when it cannot be used."""


class Refusal(JudgeError):
    """The provider will not do what it was asked to; asking again would end the same way."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Counts(msgspec.Struct, frozen=True):
    """Requests of a batch, as the provider counts them."""

    total: int = 0
    completed: int = 0
    failed: int = 0


class LineError(msgspec.Struct, frozen=True):
    """What is wrong with a file of requests, and in which line (from 1), if it is about one."""

    code: str | None = None
    message: str | None = None
    line: int | None = None


class _Errors(msgspec.Struct, frozen=True):
    data: tuple[LineError, ...] | None = None


class Batch(msgspec.Struct, frozen=True):
    """A batch as the provider describes it. `asked_to_wait`: seconds until it wants to be asked again, if it says so."""

    id: str
    status: str
    input_file_id: str | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    request_counts: Counts | None = None
    errors: _Errors | None = None
    metadata: dict[str, Any] | None = None
    asked_to_wait: float | None = None

    @property
    def counts(self) -> Counts:
        return self.request_counts or Counts()

    @property
    def ended(self) -> bool:
        """Whether nothing more happens to it. One that is complete but has not named its results yet is about to."""
        named = self.output_file_id or self.error_file_id or not self.counts.completed
        return self.status in ENDED and bool(named or self.status != "completed")

    @property
    def problems(self) -> tuple[LineError, ...]:
        """Why it was refused as a whole."""
        return (self.errors.data if self.errors else None) or ()

    def note(self, name: str) -> str:
        """What was noted on it under that name when it was submitted; empty where it does not say."""
        return str((self.metadata or {}).get(name) or "")


class _File(msgspec.Struct, frozen=True):
    id: str
    status: str = ""
    status_details: str | None = None


class _Page(msgspec.Struct, frozen=True):
    data: tuple[Batch, ...] = ()
    has_more: bool = False


class Batches:
    """One model's batches at one provider. `target` is the endpoint that each request is for.

    Every method raises NoReply when asking again may help, and Refusal when it will not.
    """

    def __init__(self, client: openai.AsyncOpenAI, chat: Chat, host: str, target: str) -> None:
        self.chat = chat
        self._client = client
        self._host = host
        self._target = target

    def line(self, call: Call, manner: Manner) -> bytes:
        """A call as a line of a file of requests, without the line's end."""
        body = self.chat.request(call, manner).body
        return msgspec.json.encode({"custom_id": call.call_id, "method": "POST", "url": self._target, "body": body})

    async def upload(self, path: Path) -> str:
        """Hand over a file of requests; returns the id that it has there, once it may be used."""
        async with self._asking("upload a file"):
            with open(path, "rb") as content:
                answer = await self._client.files.with_raw_response.create(file=(path.name, content, "application/jsonl"), purpose="batch")
        file = self._read(answer.content, _File)
        while file.status in _CHECKED_IN:
            await asyncio.sleep(_LOOKS_AT_FILE_SECONDS)
            async with self._asking("look at a file"):
                answer = await self._client.files.with_raw_response.retrieve(file.id)
            file = self._read(answer.content, _File)
        if file.status == "error":
            raise Refusal(f"{self._host} cannot use the file of requests: {self.chat.safe(file.status_details or 'without a word')}", 400)
        return file.id

    async def submit(self, file_id: str, notes: dict[str, str]) -> Batch:
        """Have a batch made of an uploaded file. What it raises leaves open whether there is a batch now: `find` says so."""
        try:
            async with self._asking("make a batch"):
                answer = await self._client.batches.with_raw_response.create(
                    input_file_id=file_id,
                    endpoint=self._target,  # type: ignore[arg-type]  # Azure's has no /v1
                    completion_window="24h",
                    metadata={name: text[:_LONGEST_NOTE] for name, text in notes.items()},
                    extra_headers={"Idempotency-Key": file_id},  # some providers heed it
                )
        except Refusal as err:
            if err.status in (400, 404) and file_id in str(err):  # files take a moment until all of a provider knows them
                raise NoReply(str(err)) from None
            raise
        return self._batch(answer.content, answer.headers)

    async def find(self, file_id: str, name: str, text: str) -> Batch | None:
        """The batch that was made of that file, or has that note; None where there is none."""
        async for batch in self._every():
            if batch.input_file_id == file_id or batch.note(name) == text:
                return batch
        return None

    async def _every(self) -> AsyncIterator[Batch]:
        """All batches of the account, a page at a time."""
        listed, after = 0, ""
        while listed < _MOST_LISTED:
            async with self._asking("list batches"):
                answer = await self._client.batches.with_raw_response.list(limit=_PAGE, extra_query={"after": after} if after else None)
            page = self._read(answer.content, _Page)
            for batch in page.data:
                yield batch
            if not page.has_more or not page.data:
                return
            listed += len(page.data)
            after = page.data[-1].id

    async def look(self, batch_id: str) -> Batch:
        """A batch as it is now."""
        async with self._asking("look at a batch"):
            answer = await self._client.batches.with_raw_response.retrieve(batch_id)
        return self._batch(answer.content, answer.headers)

    async def fetch(self, file_id: str, path: Path) -> None:
        """Write the content of a file there to a file here."""
        async with self._asking("fetch results"), self._client.files.with_streaming_response.content(file_id) as answer:
            with open(path, "wb") as file:
                async for part in answer.iter_bytes():
                    file.write(part)

    async def close(self) -> None:
        await self._client.close()

    def _batch(self, body: bytes, headers: Mapping[str, str]) -> Batch:
        return msgspec.structs.replace(self._read(body, Batch), asked_to_wait=retry_after(headers))

    def _read(self, body: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            begins = self.chat.safe(" ".join(body.decode(errors="replace").split()))[:80]
            raise NoReply(f"{self._host} answers, but not like a batch interface (it begins: {begins!r})") from None

    @asynccontextmanager
    async def _asking(self, what: str) -> AsyncIterator[None]:
        """Turns what the client raises into NoReply or Refusal, without secrets."""
        import openai

        try:
            yield
        except openai.APITimeoutError:
            raise NoReply(f"{self._host}: no answer in time", down=True) from None
        except openai.APIStatusError as err:
            said = self.chat.safe(error_of(await err.response.aread()) or "without a word")
            self._refused(what, err.status_code, said, retry_after(err.response.headers))
        except Exception as err:
            if not isinstance(err, (openai.APIError, *_transport_errors())):
                raise
            cause = " ".join(str(err.__cause__ or err).split()) or type(err).__name__
            raise NoReply(f"{self._host}: no connection ({self.chat.safe(cause)})", down=True) from None

    def _refused(self, what: str, status: int, said: str, wait: float | None) -> None:
        if status == 429 and "quota" in said.lower():
            raise Refusal(f"{self._host} says that the quota is used up: {said}. Add credit, then run the same command again", status)
        if status in TRANSIENT or (status >= 500 and status != 501):
            raise NoReply(f"{self._host} answered {status}: {said}", wait, busy=status in (429, 503), down=status >= 500)
        raise Refusal(f"{self._host} would not {what} ({status}: {said}). {_advice(status)}", status)


def _transport_errors() -> tuple[type[Exception], ...]:
    """What the client's HTTP library raises while a body comes in; it has had two names."""
    return tuple(sys.modules[name].HTTPError for name in ("httpx", "httpx2") if name in sys.modules)


def _advice(status: int) -> str:
    if status < 400:
        return "It points to another address: use that as the base URL"
    return {
        401: "The API key is wrong or missing: set OPENAI_API_KEY (for Azure AZURE_OPENAI_API_KEY) to a valid one",
        403: "This key may not use batches: choose another key, or ask with --engine local",
        404: "Has this endpoint a batch interface, and does the base URL end in /v1? --engine local does without",
        405: "This endpoint has no batch interface: ask with --engine local",
        413: "The file is too long for it: ask with --engine local",
        501: "This endpoint has no batch interface: ask with --engine local",
    }.get(status, "Nothing was submitted; --engine local asks without batches")
