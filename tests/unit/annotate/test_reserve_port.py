"""A port is taken before anybody is told its address, and what arrives is counted, whatever a header says."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from harness.annotate.labelling_options import PageOptions
from harness.annotate.pages_for_annotators import make_pages
from harness.cli import main
from harness.content import Library
from harness.data import load_bundled
from harness.errors import StoreError, UsageError
from tests.conftest import HANG_SECONDS

pytest.importorskip("uvicorn", reason="needs the extra serve")

from harness.annotate.serve import address_of, listening_socket, sole_server


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "pages"
    library = Library()
    make_pages(load_bundled(library, ["cs"]), "bundled", folder, library, PageOptions(tasks=("summarize",), annotators=("eva",)))
    return folder


def test_a_port_that_is_taken_is_a_sentence_and_no_link_is_printed(pages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with listening_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert main(["labels", "serve", str(pages), "--port", str(port)]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and f"port {port} of 127.0.0.1 is in use by another program; choose another with --port" in printed.err


@pytest.mark.parametrize(("host", "words"), [("203.0.113.9", "is no address of this machine"), ("no such name", "no address of this name")])
def test_an_address_that_cannot_be_listened_on_is_a_sentence(host: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        listening_socket(host, 0)


def test_an_address_with_colons_stands_in_brackets() -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        assert address_of(listener, "::1").startswith("http://[::1]:")


def test_two_servers_do_not_write_the_same_files(tmp_path: Path) -> None:
    with sole_server(tmp_path), pytest.raises(StoreError, match="in use by another 'harness labels serve'"), sole_server(tmp_path):
        pass
    with sole_server(tmp_path):
        pass


@pytest.fixture(params=["127.0.0.1", "::1"])
def link(request: pytest.FixtureRequest, pages: Path) -> Iterator[str]:
    """The link of the page on a real server; Ctrl-C ends it with code 0."""
    try:
        listening_socket(request.param, 0).close()
    except UsageError:
        pytest.skip(f"this machine has no {request.param}")
    words = [sys.executable, "-m", "harness", "labels", "serve", str(pages), "--port", "0", "--host", request.param]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().split()[1]
        finally:
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0 and "Traceback" not in said


@pytest.mark.slow
@pytest.mark.parametrize("headers", [{}, {"Content-Length": "10"}])
def test_three_hundred_megabytes_are_not_read(link: str, headers: dict[str, str]) -> None:
    address = urlsplit(link)
    assert address.hostname and address.port
    with closing(http.client.HTTPConnection(address.hostname, address.port, timeout=60)) as connection:
        connection.request("GET", address.path)
        assert connection.getresponse().read().startswith(b"<!doctype html>")
    with closing(http.client.HTTPConnection(address.hostname, address.port, timeout=60)) as connection:
        connection.putrequest("POST", f"{address.path}answers")
        for name, value in ({"Transfer-Encoding": "chunked"} | headers).items():
            connection.putheader(name, value)
        connection.endheaders()
        sent, megabyte = 0, b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
        with suppress(ConnectionError, TimeoutError):
            for sent in range(300):  # noqa: B007 - how many were sent
                connection.send(megabyte)
    assert sent < 100, "the server reads on although it has too much"


def test_what_was_changed_by_another_program_is_kept_aside(pages: Path) -> None:
    from harness.annotate.page_results import read_record
    from harness.annotate.serve import _keep, served_pages
    from tests.unit.annotate.test_serve import result

    [served] = served_pages(pages)
    (pages / "results").mkdir(exist_ok=True)
    path = pages / "results" / f"eva-{'0' * 16}.json"
    path.write_text("{}", "utf-8")
    assert _keep(result(served), served.page, read_record(pages / "pages.json"), path.parent).status_code == 204
    assert path.with_name(f"{path.name}.1").read_text() == "{}" and '"session"' in path.read_text()
