"""A small local server for people in one room: the same pages, and answers kept in files as they come. Needs the extra `serve`.

Each page has a secret address of its own. The server writes result files that `harness labels import` reads, and nothing else. It never
takes an answer away: what a browser sends is merged with what it has, so that an old tab or a second device destroys nothing.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import re
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
from filelock import FileLock, Timeout
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.annotate.page_content import data_of, document
from harness.annotate.page_results import (
    RECORD,
    RESULT,
    SCHEMA_VERSION,
    LabellingPage,
    PageRecord,
    PageResult,
    checksum,
    merged,
    read_record,
    result_fault,
    with_possible_times,
)
from harness.errors import ContentError, HarnessError, StoreError, UsageError, unreadable
from harness.row_files import make_folder, write_atomic
from harness.text import terminal_safe

LOOPBACK = ("127.0.0.1", "localhost", "::1")
RESULTS = "results"
_TOKENS = "tokens.json"
_MOST_BYTES = 20_000_000
_LANGUAGE = re.compile(r'<html lang="([\w-]+)"')
_UNKNOWN = "There is no page at this address. Please check the link that you were given."
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


class ServedPage(NamedTuple):
    """One page, with the secret part of its address."""

    token: str
    page: LabellingPage


def served_pages(folder: Path) -> list[ServedPage]:
    """Return the pages of a folder that `harness labels page` wrote. Their tokens are kept there, so that addresses stay the same.

    Raises ContentError if the folder has no record.
    """
    record = read_record(folder / RECORD)
    path = folder / _TOKENS
    tokens = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    tokens |= {page.page: secrets.token_urlsafe(16) for page in record.pages if page.page not in tokens}
    write_atomic(path, json.dumps(tokens, indent=1) + "\n", private=True)
    return [ServedPage(tokens[page.page], page) for page in record.pages]


def application(folder: Path, pages: list[ServedPage], *, hosts: tuple[str, ...] = LOOPBACK) -> Starlette:
    """Return the server of these pages of a folder; result files go into its folder `results`.

    `hosts` are the names by which browsers may address it (`*`: any), so that a foreign site cannot reach it by a name of its own.
    """
    by_token = {served.token: served.page for served in pages}
    record = read_record(folder / RECORD)
    make_folder(folder / RESULTS, private=True)

    def of_page(answer: Callable[[Request, LabellingPage], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def checked(request: Request) -> Response:
            page = by_token.get(request.path_params["token"])
            return await answer(request, page) if page else PlainTextResponse(_UNKNOWN, 404, headers=_HEADERS)

        return checked

    @of_page
    async def show(request: Request, page: LabellingPage) -> Response:
        path = folder / page.file
        # The page of a file, made to send its answers here too.
        try:
            text = path.read_text("utf-8")
        except OSError as err:
            raise unreadable(err, path) from None
        data, language = data_of(text), _LANGUAGE.search(text)
        if not data or not language:
            raise ContentError("not a page that 'harness labels page' wrote; make the pages again", path)
        return HTMLResponse(document(data, interface_language=language[1], token=request.path_params["token"]), headers=_HEADERS)

    @of_page
    async def earlier(request: Request, page: LabellingPage) -> Response:
        if not _of_same_site(request.headers):
            return PlainTextResponse("another site may not ask for answers", 403, headers=_HEADERS)
        session = request.query_params.get("session", "")
        # What is kept of a sitting; without this sitting, what was saved last on the page.
        paths = (folder / RESULTS).glob(f"{glob.escape(Path(page.file).stem)}-*.json")
        results = [result for path in sorted(paths) if (result := _result(path.read_bytes())) and _of_page(result, page)]
        saved_results = max(results, key=lambda result: (result.session == session, result.saved), default=None)
        return _answers(saved_results) if saved_results else Response(status_code=204, headers=_HEADERS)

    @of_page
    async def take(request: Request, page: LabellingPage) -> Response:
        if not _of_same_site(request.headers):
            return PlainTextResponse("another site may not send answers", 403, headers=_HEADERS | {"Connection": "close"})
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return PlainTextResponse("answers come as application/json", 415, headers=_HEADERS | {"Connection": "close"})
        body = await _body(request)
        if body is None:
            return PlainTextResponse("the answers are too large", 413, headers=_HEADERS | {"Connection": "close"})
        return _keep(body, page, record, folder / RESULTS)

    async def refuse(_: Request, error: Exception) -> Response:
        """Return the refusal of a result. The host reads what is wrong; the browser keeps the answers and sends them again."""
        print(terminal_safe(f"harness: {error}"), file=sys.stderr)
        return PlainTextResponse("the server cannot do this now; please tell the person who asked you", 500, headers=_HEADERS)

    answers = "/{token}/answers"
    routes = [Route("/{token}/", show), Route(answers, earlier, methods=["GET"]), Route(answers, take, methods=["POST"])]
    app = Starlette(routes=routes, middleware=[Middleware(_OnlyHosts, hosts=hosts)], exception_handlers={HarnessError: refuse})
    app.router.redirect_slashes = False
    return app


class _OnlyHosts:
    """Refuses requests that address the server by another name (Starlette's own check takes no IPv6 address)."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp = self.app
        if scope["type"] == "http" and "*" not in self.hosts:
            host = None
            with suppress(ValueError):  # of a header that names no host
                host = urlsplit(f"//{Headers(scope=scope).get('host', '')}").hostname  # without port and brackets
            if host not in self.hosts:
                answer = PlainTextResponse("this server has another name", 400, headers=_HEADERS)
        await answer(scope, receive, send)


def _of_same_site(headers: Headers) -> bool:
    """Return whether a request comes from a page of this server, or from no page: browsers say it, scripts cannot."""
    if site := headers.get("sec-fetch-site"):  # sent to this machine and over https; a proxy does not change it
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host", "")


async def _body(request: Request) -> bytes | None:
    """Return what was sent; None for more than `_MOST_BYTES`. It counts what arrives: a header can say anything."""
    parts, size = [], 0
    with suppress(ClientDisconnect):  # then what arrived is no result
        async for part in request.stream():
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                return None
    return b"".join(parts)


def _keep(body: bytes, page: LabellingPage, record: PageRecord, folder: Path) -> Response:
    """Merge the answers of one sitting into its file. What is not a result of this page is refused, and nothing is written.

    The answer to the browser has all answers of the file, if these are more or later ones than it sent.
    """
    result = _result(body)
    if result is None:
        return PlainTextResponse("not a result of a labelling page", 400, headers=_HEADERS)
    if fault := result_fault(result, page, record):
        return PlainTextResponse(fault, 400, headers=_HEADERS)
    result = with_possible_times(result)
    path = folder / f"{Path(page.file).stem}-{result.session}.json"
    before = _result(path.read_bytes()) if path.is_file() else None
    if path.is_file() and not (before and _of_page(before, page)):
        # Give a file that cannot be merged, such as one that was edited, a name that the import does not take for a result.
        number = next(number for number in count(1) if not path.with_name(f"{path.name}.{number}").exists())
        path.rename(path.with_name(f"{path.name}.{number}"))
        print(terminal_safe(f"{path} was changed by another program; it is kept as {path.name}.{number}"), file=sys.stderr)
        before = None
    merged_result = merged(result, before) if before else result
    if merged_result != before:
        write_atomic(path, msgspec.json.format(msgspec.json.encode(merged_result), indent=1) + b"\n", private=True)
    same = {answer.key: answer for answer in merged_result.answers} == {
        answer.key: answer for answer in result.answers
    }  # in whatever order
    return Response(status_code=204, headers=_HEADERS) if same else _answers(merged_result)


def _result(body: bytes) -> PageResult | None:
    try:
        result = msgspec.json.decode(body, type=PageResult)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    is_intact = result.kind == RESULT and result.schema_version == SCHEMA_VERSION and checksum(result.answers) == result.checksum
    return result if is_intact else None


def _of_page(result: PageResult, page: LabellingPage) -> bool:
    return result.page == page.page and result.annotator == page.annotator


def _answers(result: PageResult) -> Response:
    return Response(msgspec.json.encode(result), media_type="application/json", headers=_HEADERS)


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port of one address of this machine; port 0 is any free one. The caller closes it.

    Raises UsageError for a port that is taken or needs more rights, and for an address that is not one of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError):
        raise UsageError(f"--host {host}: no address of this name is known; use one such as 127.0.0.1, or 0.0.0.0 for all") from None
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name != "nt":  # there it would let two programs share the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as err:
        listener.close()
        reasons = {
            errno.EADDRINUSE: f"port {port} of {host} is in use by another program; choose another with --port, or end that program",
            errno.EACCES: f"port {port} needs more rights than you have; choose one from 1024 on with --port",
            errno.EADDRNOTAVAIL: f"--host {host} is no address of this machine; leave it out for this machine only, or use 0.0.0.0 for all "
            "its addresses",
        }
        other = f"port {port} of {host} cannot be listened on ({err.strerror or err}); choose another with --port"
        raise UsageError(reasons.get(err.errno or 0, other)) from None
    return listener


def address_of(listener: socket.socket, host: str) -> str:
    """Return the beginning of the addresses that are served.

    >>> with listening_socket("127.0.0.1", 0) as listener:
    ...     address_of(listener, "::1")[:13]
    'http://[::1]:'
    """
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


@contextmanager
def sole_server(folder: Path) -> Iterator[None]:
    """Holds a folder of result files: two servers that write one file would each lose what the other wrote. Raises StoreError."""
    lock = FileLock(folder / ".served.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreError(f"{folder} is in use by another 'harness labels serve'; end that one first") from None
    except OSError as err:
        raise StoreError(f"{folder} cannot be written ({err.strerror or err}); make room or choose another folder") from None
    try:
        yield
    finally:
        lock.release()
