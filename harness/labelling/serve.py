"""A small local server for people in one room: the same pages, and answers kept in files as they come. Needs the extra `serve`.

Each page has a secret address of its own. The server writes result files that `harness labels import` reads, and nothing else.
"""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path
from typing import NamedTuple

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from harness.errors import ContentError
from harness.labelling.document import data_of, document
from harness.labels.page_record import RECORD, LabellingPage, read_record
from harness.labels.page_results import PageResult, checksum
from harness.tables import make_folder, write_atomic

RESULTS = "results"
_TOKENS = "tokens.json"
_MOST_BYTES = 20_000_000
_SESSION = re.compile(r"[0-9a-f]{16}")
_LANGUAGE = re.compile(r'<html lang="([\w-]+)"')
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ServedPage(NamedTuple):
    """One page, with the secret part of its address."""

    token: str
    page: LabellingPage


def served_pages(folder: Path) -> list[ServedPage]:
    """The pages of a folder that `harness labels page` wrote. Their tokens are kept there, so that addresses stay the same.

    Raises ContentError if the folder has no record.
    """
    record = read_record(folder / RECORD)
    path = folder / _TOKENS
    tokens = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    tokens |= {page.page: secrets.token_urlsafe(16) for page in record.pages if page.page not in tokens}
    write_atomic(path, json.dumps(tokens, indent=1) + "\n", private=True)
    return [ServedPage(tokens[page.page], page) for page in record.pages]


def application(folder: Path, pages: list[ServedPage], *, hosts: tuple[str, ...] = LOOPBACK) -> Starlette:
    """The server.

    Args:
        folder: of the pages; result files go into its folder `results`.
        pages: what is served.
        hosts: the names by which browsers may address it (`*`: any), so that a foreign site cannot reach it by a name of its own.
    """
    by_token = {served.token: served.page for served in pages}
    make_folder(folder / RESULTS, private=True)

    async def show(request: Request) -> Response:
        page = by_token.get(request.path_params["token"])
        if page is None:
            return _unknown()
        return HTMLResponse(_page_with_server(folder / page.file, request.path_params["token"]), headers=_HEADERS)

    async def take(request: Request) -> Response:
        page = by_token.get(request.path_params["token"])
        if page is None:
            return _unknown()
        if int(request.headers.get("content-length") or _MOST_BYTES + 1) > _MOST_BYTES:
            return PlainTextResponse("the answers are too large", 413, headers=_HEADERS)
        return _keep(await request.body(), page, folder / RESULTS)

    routes = [Route("/{token}/", show, methods=["GET"]), Route("/{token}/answers", take, methods=["POST"])]
    trusted = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    app = Starlette(routes=routes, middleware=[trusted])
    app.router.redirect_slashes = False
    return app


def _unknown() -> Response:
    return PlainTextResponse("There is no page at this address. Please check the link that you were given.", 404, headers=_HEADERS)


def _page_with_server(path: Path, token: str) -> str:
    """The page of a file, made to send its answers here too."""
    try:
        text = path.read_text("utf-8")
    except OSError as err:
        raise ContentError(f"cannot be read: {err.strerror or err}", path) from None
    data, language = data_of(text), _LANGUAGE.search(text)
    if not data or not language:
        raise ContentError("not a page that 'harness labels page' wrote; make the pages again", path)
    return document(data, interface_language=language[1], token=token)


def _keep(body: bytes, page: LabellingPage, folder: Path) -> Response:
    """Write the answers of one sitting into its file. What is not a result of this page is refused, and nothing is written."""
    try:
        result = msgspec.json.decode(body, type=PageResult)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return PlainTextResponse("not a result of a labelling page", 400, headers=_HEADERS)
    own = result.page == page.page and result.annotator == page.annotator and _SESSION.fullmatch(result.session)
    if not own or checksum(result.answers) != result.checksum:
        return PlainTextResponse("not a result of this page", 400, headers=_HEADERS)
    name = f"{Path(page.file).stem}-{result.session}.json"
    write_atomic(folder / name, body, private=True)
    return Response(status_code=204, headers=_HEADERS)
