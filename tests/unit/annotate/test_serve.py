"""The local server shows each page at its secret address, keeps what belongs to it, and refuses everything else."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.annotate.labelling_options import PageOptions
from harness.annotate.page_results import PageAnswer, checksum
from harness.annotate.pages_for_annotators import make_pages
from harness.cli import main
from harness.content import Library
from harness.data import load_bundled
from harness.errors import ContentError

pytest.importorskip("starlette", reason="needs the extra serve")

from harness.annotate.serve import ServedPage, application, served_pages

LIBRARY = Library()
METRIC = LIBRARY.task("summarize").metrics[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "pages"
    make_pages(load_bundled(LIBRARY, ["cs"]), "bundled", folder, LIBRARY, PageOptions(tasks=("summarize",), annotators=("eva", "adam")))
    return folder


def ask(
    app: Any, method: str, path: str, body: bytes = b"", host: str = "127.0.0.1:8765", **further: str
) -> tuple[int, bytes, dict[str, str]]:
    """One request, without a network: status, body and headers of the answer."""
    import asyncio

    parts: list[dict[str, Any]] = []
    named = {"host": host, "content-length": str(len(body)), "content-type": "application/json"}
    named |= {name.replace("_", "-"): value for name, value in further.items()}
    headers = [(name.encode(), value.encode()) for name, value in named.items()]
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
    assert ask(app, "POST", f"/{pages[0].token}/answers", result(pages[0], saved="2026-02-01T10:00:00.000Z"))[0] == 204
    [path] = (folder / "results").glob("eva-*.json")
    assert json.loads(path.read_text())["saved"] == "2026-02-01T10:00:00.000Z" and path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("changes", [{"page": "x"}, {"annotator": "adam"}, {"session": "../../etc"}, {"checksum": "0"}, {"answers": 3}])
def test_what_does_not_belong_to_the_page_is_refused(folder: Path, pages: list[ServedPage], changes: dict[str, Any]) -> None:
    before = sorted((folder / "results").glob("*"))
    assert ask(application(folder, pages), "POST", f"/{pages[0].token}/answers", result(pages[0], **changes))[0] == 400
    assert sorted((folder / "results").glob("*")) == before


def answered(
    served: ServedPage, *, saved: str = "2026-01-31T09:30:00.000Z", session: str = "0" * 16, practised: int = 0, **said: Any
) -> bytes:
    """A result with one answer to the first text of the page."""
    plain = {"key": served.page.items[0].key, "practice": False, "place": 1, "scores": {}, "errors": None, "no_errors": False}
    answer = msgspec.convert(plain | {"skip": None, "comment": None, "ms": 10, "changed": saved} | said, PageAnswer)
    return result(
        served, answers=[msgspec.to_builtins(answer)], checksum=checksum([answer]), saved=saved, session=session, practised=practised
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"scores": {"summary_quality": 99}}, b"a metric that the page does not ask about"),
        ({"scores": {METRIC: 99}}, b"not on the scale"),
        ({"scores": {METRIC: "best"}}, b"not on the scale"),
        ({"scores": {METRIC: 1e308}}, b"not on the scale"),
        ({"key": "nobody"}, b"a text that the page does not have"),
        ({"comment": "x" * 4001}, b"more than 4,000 letters"),
        ({"changed": "~junk"}, b"'changed' is a time"),
        ({"changed": "9999" + "9" * 400}, b"'changed' is a time"),
        ({"ms": 10**15}, b"an impossible time"),
        ({"errors": [{"field": "nowhere", "start": 0, "end": 1, "severity": "minor"}]}, b"outside of the texts"),
        ({"reviews": {"nothing": {"reasons": [], "words": ""}}}, b"a review of a metric"),
        ({"saved": "~"}, b"'saved' is a time"),
        ({"practised": 2**80}, b"more practice texts"),
        ({"practised": -1}, b"more practice texts"),
    ],
)
def test_what_the_page_cannot_say_is_refused(folder: Path, pages: list[ServedPage], said: dict[str, Any], words: bytes) -> None:
    before = sorted((folder / "results").glob("*"))
    status, body, _ = ask(application(folder, pages), "POST", f"/{pages[0].token}/answers", answered(pages[0], **said))
    assert status == 400 and words in body
    assert sorted((folder / "results").glob("*")) == before


def test_an_answer_from_the_future_can_be_changed_again(folder: Path, pages: list[ServedPage]) -> None:
    app, address = application(folder, pages), f"/{pages[1].token}/answers"
    future = {"changed": "9999-12-31T23:59:59.000Z", "saved": "9999-12-31T23:59:59.000Z", "session": "f" * 16}
    assert ask(app, "POST", address, answered(pages[1], scores={METRIC: 0}, **future))[0] in (200, 204)
    [path] = (folder / "results").glob("adam-*.json")
    kept = json.loads(path.read_text())
    assert kept["saved"] < "9999" and kept["answers"][0]["changed"] < "9999"
    a_second_later = datetime.fromisoformat(kept["answers"][0]["changed"]) + timedelta(seconds=1)
    later = {"changed": f"{a_second_later:%Y-%m-%dT%H:%M:%S}.000Z", "saved": kept["saved"], "session": "f" * 16}
    ask(app, "POST", address, answered(pages[1], scores={METRIC: 1}, **later))
    assert json.loads(path.read_text())["answers"][0]["scores"] == {METRIC: 1}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/x-www-form-urlencoded"}, 415),
        ({"content_type": "application/json; charset=utf-8"}, 204),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": "http://127.0.0.1:8765"}, 204),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"sec_fetch_site": "same-origin", "origin": "https://proxy.example"}, 204),
    ],
)
def test_another_site_sends_nothing(folder: Path, pages: list[ServedPage], headers: dict[str, str], status: int) -> None:
    address = f"/{pages[0].token}/answers"
    assert ask(application(folder, pages), "POST", address, result(pages[0]), **headers)[0] == status
    if status == 403:
        assert ask(application(folder, pages), "GET", address, **headers)[0] == 403


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
