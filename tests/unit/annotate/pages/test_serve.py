"""The local server shows each page at its secret address, keeps what belongs to it, and refuses everything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.annotate.pages.page import PageOptions, make_pages
from harness.cli import main
from harness.content import Library
from harness.data import load_bundled
from harness.errors import ContentError

pytest.importorskip("starlette", reason="needs the extra serve")

from harness.annotate.pages.serve import ServedPage, application, served_pages

LIBRARY = Library()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "pages"
    make_pages(load_bundled(LIBRARY, ["cs"]), "bundled", folder, LIBRARY, PageOptions(tasks=("summarize",), annotators=("eva", "adam")))
    return folder


def ask(app: Any, method: str, path: str, body: bytes = b"", host: str = "127.0.0.1:8765") -> tuple[int, bytes, dict[str, str]]:
    """One request, without a network: status, body and headers of the answer."""
    import asyncio

    parts: list[dict[str, Any]] = []
    headers = [(b"host", host.encode()), (b"content-length", str(len(body)).encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers}
    scope |= {"http_version": "1.1", "scheme": "http", "server": ("127.0.0.1", 8765), "root_path": ""}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(part: Any) -> None:
        parts.append(part)

    asyncio.run(app(scope, receive, send))
    answered = {name.decode(): value.decode() for name, value in parts[0]["headers"]}
    return parts[0]["status"], b"".join(part.get("body", b"") for part in parts[1:]), answered


@pytest.fixture
def pages(folder: Path) -> list[ServedPage]:
    return served_pages(folder)


def result(served: ServedPage, **changes: Any) -> bytes:
    own = {
        "kind": "judge-harness labels",
        "schema_version": 1,
        "page": served.page.page,
        "version": "v",
        "annotator": served.page.annotator,
    }
    return json.dumps(own | {"session": "0" * 16, "saved": "2026", "answers": [], "checksum": "811c9dc5"} | changes).encode()


def test_addresses_are_secret_different_and_stay(folder: Path, pages: list[ServedPage]) -> None:
    assert len({page.token for page in pages}) == 2 and min(len(page.token) for page in pages) >= 20
    assert served_pages(folder) == pages
    assert (folder / "tokens.json").stat().st_mode & 0o077 == 0


def test_a_page_may_ask_its_own_server_only(folder: Path, pages: list[ServedPage]) -> None:
    status, body, headers = ask(application(folder, pages), "GET", f"/{pages[0].token}/")
    assert status == 200 and b"connect-src &#39;self&#39;" in body and b"class AnswerServer" in body
    assert pages[1].token.encode() not in body and headers["cache-control"] == "no-store"


def test_answers_are_kept_in_the_file_of_their_sitting(folder: Path, pages: list[ServedPage]) -> None:
    app = application(folder, pages)
    assert ask(app, "POST", f"/{pages[0].token}/answers", result(pages[0]))[0] == 204
    assert ask(app, "POST", f"/{pages[0].token}/answers", result(pages[0], saved="2027"))[0] == 204
    [path] = (folder / "results").glob("eva-*.json")
    assert json.loads(path.read_text())["saved"] == "2027" and path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("changes", [{"page": "x"}, {"annotator": "adam"}, {"session": "../../etc"}, {"checksum": "0"}, {"answers": 3}])
def test_what_does_not_belong_to_the_page_is_refused(folder: Path, pages: list[ServedPage], changes: dict[str, Any]) -> None:
    before = sorted((folder / "results").glob("*"))
    assert ask(application(folder, pages), "POST", f"/{pages[0].token}/answers", result(pages[0], **changes))[0] == 400
    assert sorted((folder / "results").glob("*")) == before


@pytest.mark.parametrize("path", ["/", "/nobody/", "/pages.json", "/%2e%2e/pages.json", "/nobody/answers"])
def test_nothing_else_is_there(folder: Path, pages: list[ServedPage], path: str) -> None:
    assert ask(application(folder, pages), "POST" if path.endswith("answers") else "GET", path)[0] == 404


def test_a_foreign_name_is_refused(folder: Path, pages: list[ServedPage]) -> None:
    assert ask(application(folder, pages), "GET", f"/{pages[0].token}/", host="evil.example")[0] == 400


def test_a_folder_without_pages_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["labels", "serve", str(tmp_path)]) == 2
    assert "has no pages to serve" in capsys.readouterr().err
    with pytest.raises(ContentError):
        served_pages(tmp_path)
