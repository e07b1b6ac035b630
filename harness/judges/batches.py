"""A provider's batch interface: calls are submitted as a file and answered within a day, at a lower price.

It uses the openai client (`files` and `batches`). Retries and waiting are left to the caller. Responses are untrusted.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import msgspec

from harness.errors import JudgeError
from harness.judges.capabilities import EndpointCapabilities
from harness.judges.chat import Chat
from harness.judges.http_refusals import is_page, kind_of_limit, may_answer_later, read_refusal
from harness.judges.judge_protocol import NoReply
from harness.judges.rate_limit_headers import LONGEST_WAIT_SECONDS, retry_after, wait_in_text
from harness.judges.transport import LONGEST_BODY, LONGEST_REFUSAL, Response
from harness.model import Call

if TYPE_CHECKING:
    import openai
    from openai import AsyncAPIResponse

ENDED = frozenset({"completed", "expired", "failed", "cancelled"})
_FILE_NOT_READY = frozenset({"pending", "running", "processing"})
_FILE_CHECK_SECONDS = 2.0
_MOST_FILE_CHECKS = 300
_PAGE_SIZE = 100
_MOST_LISTED = 100_000
_LONGEST_STATUS = 64  # characters
_MOST_COUNTED = 10**9  # requests of a batch
_LONGEST_METADATA = 512  # characters of a value
LONGEST_RESULT = 4 * 2**20  # bytes of a file of results for each of its calls; an answer with all its probabilities has far fewer
T = TypeVar("T")


@runtime_checkable
class Batching(Protocol):
    """A judge whose endpoint also accepts files of calls."""

    def batches(self) -> Batches:
        """Return the endpoint's batch interface. Raises JudgeError with what to do when it cannot be used."""


class BatchRefused(JudgeError):
    """The provider refused a request for good; repeating it would not help."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class RequestCounts(msgspec.Struct, frozen=True):
    """The requests of a batch, as the provider counts them."""

    total: int = 0
    completed: int = 0
    failed: int = 0


class LineError(msgspec.Struct, frozen=True):
    """A problem with a file of requests, and its line (from 1), if it is about one line."""

    code: str | None = None
    message: str | None = None
    line: int | None = None


class _Errors(msgspec.Struct, frozen=True):
    data: tuple[LineError, ...] | None = None


class ProviderBatch(msgspec.Struct, frozen=True):
    """A batch as the provider describes it. `asked_to_wait`: seconds until the next check, if the provider asks for a wait."""

    id: str
    status: str
    input_file_id: str | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    request_counts: RequestCounts | None = None
    errors: _Errors | None = None
    metadata: dict[str, Any] | None = None
    asked_to_wait: float | None = None

    @property
    def counts(self) -> RequestCounts:
        return self.request_counts or RequestCounts()

    @property
    def ended(self) -> bool:
        """True if the batch has ended. A completed batch whose result files are not named yet has not."""
        has_results = self.output_file_id or self.error_file_id or not self.counts.completed
        return self.status in ENDED and bool(has_results or self.status != "completed")

    @property
    def problems(self) -> tuple[LineError, ...]:
        """The reason why the whole file was refused."""
        return (self.errors.data if self.errors else None) or ()

    def metadata_value(self, name: str) -> str:
        """Return a value of the metadata that it was submitted with; empty if the provider has not kept it."""
        return str((self.metadata or {}).get(name) or "")


class _File(msgspec.Struct, frozen=True):
    id: str
    status: str = ""
    status_details: str | None = None


class _Page(msgspec.Struct, frozen=True):
    data: tuple[ProviderBatch, ...] = ()
    has_more: bool = False


class Batches:
    """One model's batches at one provider. `target` is the path that each request is for.

    Every method raises NoReply when repeating it may help, and BatchRefused when it will not.
    """

    def __init__(self, client: openai.AsyncOpenAI, chat: Chat, host: str, target: str) -> None:
        self.chat = chat
        self._client = client
        self._host = host
        self._target = target

    def line(self, call: Call, capabilities: EndpointCapabilities) -> bytes:
        """Return a call as a line of a file of requests, without a line break."""
        body = self.chat.request(call, capabilities).body
        return msgspec.json.encode({"custom_id": call.call_id, "method": "POST", "url": self._target, "body": body})

    async def upload(self, path: Path) -> str:
        """Upload a file of requests. Returns the provider's id of the file, once the file is ready."""
        files = self._client.files.with_streaming_response
        with open(path, "rb") as content:
            answer = await self._ask("upload a file", files.create(file=(path.name, content, "application/jsonl"), purpose="batch"))
        file = self._decode(answer.body, _File)
        for _ in range(_MOST_FILE_CHECKS):
            if file.status not in _FILE_NOT_READY:
                break
            await asyncio.sleep(_FILE_CHECK_SECONDS)
            file = self._decode((await self._ask("check a file", files.retrieve(file.id))).body, _File)
        if file.status in _FILE_NOT_READY:
            raise NoReply(f"{self._host} has not finished checking the file of requests")
        if file.status == "error":
            raise BatchRefused(
                f"{self._host} cannot use the file of requests: {self.chat.quote(file.status_details or 'no reason given')}", 400
            )
        return file.id

    async def submit(self, file_id: str, metadata: dict[str, str]) -> ProviderBatch:
        """Make a batch of an uploaded file. After an error there may be a batch all the same: `find` looks for it."""
        try:
            wanted = self._client.batches.with_streaming_response.create(
                input_file_id=file_id,
                endpoint=self._target,  # type: ignore[arg-type]  # Azure's has no /v1
                completion_window="24h",
                metadata={name: value[:_LONGEST_METADATA] for name, value in metadata.items()},
                extra_headers={"Idempotency-Key": file_id},  # some providers respect it
            )
            return self._decode_batch(await self._ask("make a batch", wanted))
        except BatchRefused as err:
            if err.status in (400, 404) and file_id in str(err):  # a new file is not known to all of the provider's servers at once
                raise NoReply(str(err)) from None
            raise

    async def find(self, file_id: str, name: str, value: str) -> ProviderBatch | None:
        """Return the batch that was made of that file or has that value in its metadata; None if there is none."""
        listed, after = 0, ""
        while listed < _MOST_LISTED:
            wanted = self._client.batches.with_streaming_response.list(limit=_PAGE_SIZE, extra_query={"after": after} if after else None)
            page = self._decode((await self._ask("list batches", wanted)).body, _Page)
            for batch in page.data:
                if batch.input_file_id == file_id or batch.metadata_value(name) == value:
                    return batch
            if not page.has_more or not page.data:
                return None
            listed += len(page.data)
            after = page.data[-1].id
        return None

    async def retrieve(self, batch_id: str) -> ProviderBatch:
        """Return a batch in its present state."""
        return self._decode_batch(await self._ask("check a batch", self._client.batches.with_streaming_response.retrieve(batch_id)))

    async def fetch(self, file_id: str, path: Path, calls: int) -> None:
        """Download a file of the provider to a path. Raises BatchRefused if it is longer than the results of so many calls can be."""
        longest, size = calls * LONGEST_RESULT + LONGEST_BODY, 0
        async with self._request("fetch results"), self._client.files.with_streaming_response.content(file_id) as answer:
            with open(path, "wb") as file:
                async for part in answer.iter_bytes():
                    size += file.write(part)
                    if size > longest:
                        raise BatchRefused(f"{self._host} sent more than {longest >> 20} MiB as the results of {calls:,} calls", 200)

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, action: str, wanted: AbstractAsyncContextManager[AsyncAPIResponse[Any]]) -> Response:
        """Return the whole response to a request of the client."""
        async with self._request(action), wanted as answer:
            body = await _beginning(answer.iter_bytes(), LONGEST_BODY)
            if len(body) > LONGEST_BODY:
                raise NoReply(f"{self._host} answered with more than {LONGEST_BODY >> 20} MiB")
            return Response(answer.status_code, answer.headers, body)

    def _decode_batch(self, answer: Response) -> ProviderBatch:
        batch = self._decode(answer.body, ProviderBatch)
        counts = RequestCounts(*(max(0, min(number, _MOST_COUNTED)) for number in msgspec.structs.astuple(batch.counts)))
        status = batch.status if batch.status in ENDED else self.chat.quote(batch.status, _LONGEST_STATUS)
        return msgspec.structs.replace(batch, status=status, request_counts=counts, asked_to_wait=retry_after(answer.headers))

    def _decode(self, body: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            begins = self.chat.quote(body.decode(errors="replace"), 80)
            raise NoReply(f"{self._host} answers, but not like a batch interface (it begins: {begins!r})") from None

    @asynccontextmanager
    async def _request(self, action: str) -> AsyncIterator[None]:
        """Turn errors of the client into NoReply or BatchRefused, without secrets."""
        import openai

        try:
            yield
        except openai.APITimeoutError:
            raise NoReply(f"{self._host}: no answer in time", down=True) from None
        except Exception as err:
            for raised in (err, err.__cause__):  # versions of the client differ in whether they wrap it
                if isinstance(raised, RefusedRequest):
                    self._raise_refusal(action, raised.response)
            # Errors of the client's HTTP library while it reads a body; the library has had two names.
            of_library = tuple(sys.modules[name].HTTPError for name in ("httpx", "httpx2") if name in sys.modules)
            if not isinstance(err, (openai.APIError, *of_library)):
                raise
            cause = self.chat.quote(str(err.__cause__ or err)) or type(err).__name__
            raise NoReply(f"{self._host}: no connection ({cause})", down=True) from None

    def _raise_refusal(self, action: str, response: Response) -> None:
        status, refusal, wait = response.status, read_refusal(response.body), retry_after(response.headers)
        message = "no reason given" if is_page(refusal.message) else self.chat.quote(refusal.message) or "no reason given"
        limit = kind_of_limit(refusal.words, waits=wait is not None) if status == 429 else ""
        if limit == "spent":
            raise BatchRefused(
                f"{self._host} says that the quota is used up: {message}. Add credit, then run the same command again", status
            )
        if limit == "day" and (wait is None or wait > LONGEST_WAIT_SECONDS):
            raise BatchRefused(
                f"{self._host} says that the limit of the day is reached: {message}. Run the same command again tomorrow", status
            )
        if may_answer_later(status) and status != HTTPStatus.NOT_IMPLEMENTED:
            wait = wait_in_text(refusal.words) if wait is None and limit else wait
            raise NoReply(f"{self._host} answered {status}: {message}", wait, busy=status in (429, 503), down=status >= 500)
        raise BatchRefused(f"{self._host} would not {action} ({status}: {message}). {_give_advice(status)}", status)


class RefusedRequest(Exception):
    """A response with another status than 2xx. The client would read its body whole, however long it is."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"status {response.status}")
        self.response = response


async def raise_refused(response: Any) -> None:
    """Raise RefusedRequest with the beginning of the body, for a response of the client's HTTP library that is no success."""
    if not response.is_success:
        body = await _beginning(response.aiter_bytes(), LONGEST_REFUSAL)
        raise RefusedRequest(Response(response.status_code, response.headers, body[:LONGEST_REFUSAL]))


async def _beginning(parts: AsyncIterator[bytes], most: int) -> bytes:
    """Return all bytes of a body; of a longer one a few more than `most`."""
    body = bytearray()
    async for part in parts:
        body += part
        if len(body) > most:
            break
    return bytes(body)


def _give_advice(status: int) -> str:
    if status < 400:
        return "It points to another address: use that as the base URL"
    return {
        401: "The API key is wrong or missing: set OPENAI_API_KEY (for Azure AZURE_OPENAI_API_KEY) to a valid one",
        403: "This key may not use batches: choose another key, or use --engine local",
        404: "Does this endpoint have a batch interface, and does the base URL end in /v1? --engine local needs none",
        405: "This endpoint has no batch interface: use --engine local",
        413: "The file is too long for it: use --engine local",
        501: "This endpoint has no batch interface: use --engine local",
    }.get(status, "Nothing was submitted; --engine local needs no batches")
