"""Published data by name, with the real command: from an origin on loopback to numbers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.loopback import Loopback, Quiet

pytestmark = [pytest.mark.needs("raw data"), pytest.mark.needs("shared data")]


class Origin(Loopback):
    """Serves the raw files of all published sets as `OWNER/REPO/COMMIT/PATH`, and counts requests."""

    def __init__(self, raw_data: Path) -> None:
        self.files: dict[str, Path] = {}
        self.asked: list[str] = []
        for manifest in raw_data.glob("*/MANIFEST.json"):
            rows = json.loads(manifest.read_text("utf-8"))
            several = len({row["repository"] for row in rows}) > 1
            for row in rows:
                folder = manifest.parent / "files" / (row["repository"].replace("/", "+") if several else "")
                self.files[f"/{row['repository']}/{row['commit']}/{row['path']}"] = folder / row["path"]
        origin = self

        class Handler(Quiet):
            def do_GET(self) -> None:
                origin.asked.append(self.path)
                path = origin.files.get(self.path)
                body = path.read_bytes() if path and path.is_file() else b""
                self.send_response(200 if body else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        super().__init__(Handler)


@pytest.fixture
def origin(raw_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Origin]:
    served = Origin(raw_data)
    monkeypatch.setenv("HARNESS_DATA_MIRROR", served.url.removesuffix("/v1"))
    monkeypatch.setenv("HARNESS_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    yield served
    served.close()


def test_from_a_name_to_numbers(origin: Origin, cli: Callable[..., Any], shared_data: Path, tmp_path: Path) -> None:
    absent = cli("compare", "adparaphrase_ja")
    assert absent.code == 2 and "'harness data get adparaphrase_ja' fetches 0.1 MB" in absent.err
    refused = cli("data", "get", "adparaphrase_ja")
    assert refused.code == 2 and "Pass --yes to agree" in refused.err and "licence: " in refused.err and not origin.asked
    fetched = cli("data", "get", "adparaphrase_ja", "--yes")
    assert fetched.code == 0 and Path(fetched.out.strip()) == tmp_path / "home" / "adparaphrase_ja", fetched.err
    assert cli("data", "check").code == 0
    named, by_path = (
        cli("labels", "check", "adparaphrase_ja", "--json"),
        cli("labels", "check", str(shared_data / "adparaphrase_ja"), "--json"),
    )
    assert named.code == 0 and named.out == by_path.out
    again = cli("data", "get", "adparaphrase_ja", "--yes")
    assert again.code == 0 and "is here already" in again.err and len(origin.asked) == 1
    assert cli("data", "remove", "adparaphrase_ja").code == 0 and cli("data", "path", "adparaphrase_ja").code == 2


def test_a_folder_of_that_name_comes_first(origin: Origin, cli: Callable[..., Any], shared_data: Path, tmp_path: Path) -> None:
    os.symlink(shared_data / "hanna", tmp_path / "hanna")
    assert cli("compare", "hanna", "--verdicts").code == 0 and not origin.asked


@pytest.mark.slow
def test_japanese_and_czech_have_verdicts_of_native_raters(origin: Origin, cli: Callable[..., Any]) -> None:
    assert cli("data", "get", "rtp_lx", "--yes").code == 0
    compared = cli("compare", "rtp_lx", "--where", "language=ja,cs", "--json")
    verdicts = json.loads(compared.out)["verdicts"]
    assert {verdict["language"] for verdict in verdicts} == {"ja", "cs"} and len(verdicts) == 16
    assert {verdict["labels"] for verdict in verdicts} == {"native"} and any(verdict["verdict"] == "do not use" for verdict in verdicts)
