"""Boards on data that are not in the packs, by the command: a data folder of the user's, and the hub imitated on the loopback interface."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from harness.content import Library, load_folder

Cli = Callable[..., Any]
COMMIT = "c" * 40
BOARD = f"""\
id = "hubby"
version = "1.0.0"
title = "On the hub"
description = "Answers in Danish."
languages = ["da"]
variants = ["single"]
temperature = 0
repeats = 1
majority = "drop"
annotators = ""
statistics = ["pa_failed_wrong"]
rank_by = "pa_failed_wrong"

[data]
recipe = "danish"
hub = "owner/name"
revision = "{COMMIT}"

[tasks]
open_prompt = "1.0.0"

[rubrics]
task_quality = "1.0.0"
"""
RECIPE = """\
id = "danish"
version = "1.0.0"
title = "Danish answers"
licence = "none"
citation = "nobody"
get = "ask for it"
"""


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


FILES = {
    "items.jsonl": _lines(
        [{"item_id": f"i{n}", "language": "da", "task": "open_prompt", "prompt": "Hvad?", "output": f"Svar {n}."} for n in range(10)]
    ),
    "labels.jsonl": _lines([{"item_id": f"i{n}", "annotator_id": "a", "metric": "task_quality", "score": n % 3} for n in range(10)]),
    "README.md": b"not asked for",
}


class _Hub(BaseHTTPRequestHandler):
    """As much of the hub's API as fetching the files of one data set asks for."""

    asked: list[str]

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.asked.append(path)
        name = path.rpartition("/")[2]
        api = "/api/datasets/owner/name"
        entries = [{"type": "file", "path": n, "size": len(d), "oid": hashlib.sha1(d).hexdigest()} for n, d in FILES.items()]
        if path == f"{api}/revision/{COMMIT}":
            siblings = [{"rfilename": entry["path"]} for entry in entries]
            self._send(200, {"id": "owner/name", "sha": COMMIT, "siblings": siblings, "private": False, "gated": False, "tags": []})
        elif path == f"{api}/tree/{COMMIT}":
            self._send(200, entries)
        elif path == f"/datasets/owner/name/resolve/{COMMIT}/{name}" and name in FILES:
            self._send(200, FILES[name], {"ETag": hashlib.sha1(FILES[name]).hexdigest(), "X-Repo-Commit": COMMIT})
        else:
            self._send(404, {"error": "Invalid rev id"}, {"X-Error-Code": "RevisionNotFound"})

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What a process needs in its environment to ask the imitated hub."""
    _Hub.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield {
        "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "HF_HOME": str(tmp_path / "hub"),
        "HF_HUB_OFFLINE": "0",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def content(tmp_path: Path) -> Path:
    folder = tmp_path / "content"
    for path, text in {"leaderboards/hubby/board.toml": BOARD, "datasets/danish/data.toml": RECIPE}.items():
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def test_a_board_of_the_hub_fetches_its_data_once_and_is_read_again_without_the_hub(
    command: Cli, hub: dict[str, str], content: Path, tmp_path: Path
) -> None:
    run = ("run", "--board", "hubby", "--content", content, "--judge", "baseline/length", "--out", tmp_path / "results")
    done = command(*run, env=hub)
    assert done.returncode == 0, done.stderr
    assert "On the hub" in done.stdout and "Danish" in done.stdout
    assert {path.rpartition("/")[2] for path in _Hub.asked if "/resolve/" in path} == {"items.jsonl", "labels.jsonl"}, "and nothing else"
    offline = hub | {"HF_HUB_OFFLINE": "1"}
    [folder] = (tmp_path / "results" / "runs").iterdir()
    for again in (run, ("report", folder.name, "--out", tmp_path / "results")):
        found = command(*again, env=offline)
        assert (found.returncode, found.stdout) == (0, done.stdout), found.stderr


def test_a_commit_that_is_not_there_is_said(command: Cli, hub: dict[str, str], content: Path, refused: Callable[..., None]) -> None:
    board = content / "leaderboards" / "hubby" / "board.toml"
    board.write_text(BOARD.replace(COMMIT, "d" * 40), encoding="utf-8")
    done = command("run", "--board", "hubby", "--content", content, "--judge", "baseline/length", env=hub)
    refused(done, 3, f"hf:owner/name: cannot be fetched at commit {'d' * 40}")


def test_a_board_without_its_data_is_passed_over_where_nobody_named_it(
    cli: Cli, content: Path, tmp_path: Path, refused: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for name, rows in FILES.items():
        (data / name).write_bytes(rows)
    found = load_folder(data, Library(content), recipe="danish").sha256
    board = content / "leaderboards" / "hubby" / "board.toml"
    frozen = f'sha256 = "{found}"'
    board.write_text(BOARD.replace('hub = "owner/name"', frozen).replace(f'revision = "{COMMIT}"\n', ""), encoding="utf-8")
    place, results = ("--content", content), ("--out", tmp_path / "results")
    assert cli("run", "--board", "hubby", *place, "--data", data, "--judge", "baseline/length", *results).code == 0
    [run] = (tmp_path / "results" / "runs").iterdir()
    assert cli("submit", run.name, "--board", "hubby", *results).code == 0
    monkeypatch.chdir(tmp_path / "results")
    for command in (("check", "hubby"), ("build", "hubby"), ("show", "hubby")):
        refused(cli("board", *command, *place), 2, "say --data DIR", "ask for it")
        assert cli("board", *command, *place, "--data", data).code == 0
    (board.parent / "TABLE.md").unlink()
    every = cli("board", "check", *place)
    assert every.code == 0 and "hubby: not checked: the board 'hubby' judges data that are not part" in every.err
    assert list(json.loads(cli("board", "check", *place, "--json").out)["unchecked"]) == ["hubby"]


@pytest.mark.needs("shared data")
@pytest.mark.parametrize(("board", "langs"), [("pariksha", "or"), ("basse", "eu")])
def test_a_board_of_published_data_is_run_and_handed_in(
    cli: Cli, board: str, langs: str, shared_data: Path, tmp_path: Path, refused: Callable[..., None]
) -> None:
    flags = ("--data", shared_data / board, "--judge", "baseline/length", "--out", tmp_path / "results")
    assert cli("run", "--board", board, "--langs", langs, *flags).code == 0
    [part] = (tmp_path / "results" / "runs").iterdir()
    refused(cli("submit", part.name, "--board", board, "--out", tmp_path / "results"), 2, "without the language", "--data DIR")
    assert cli("run", "--board", board, *flags).code == 0
    [whole] = {path.name for path in (tmp_path / "results" / "runs").iterdir()} - {part.name}
    into = tmp_path / "into"
    into.mkdir()
    done = cli("submit", whole, "--board", board, "--out", tmp_path / "results", "--into", into)
    assert done.code == 0, done.err
    assert sorted(path.name for path in (into / "leaderboards" / board / "submissions" / "baseline-length").iterdir()) == [
        "judge.toml",
        "replies.jsonl.gz",
    ]


@pytest.mark.needs("shared data")
def test_data_of_another_board_are_refused_and_nothing_is_made(
    cli: Cli, shared_data: Path, tmp_path: Path, refused: Callable[..., None]
) -> None:
    flags = ("--judge", "baseline/length", "--out", tmp_path / "results")
    done = cli("run", "--board", "basse", "--data", shared_data / "pariksha", *flags)
    refused(done, 3, "not the data of the board 'basse'", "content hash should be", "to get them: github.com/hitz-zentroa/summarization")
    assert not (tmp_path / "results").exists() and "HF_ENDPOINT" not in os.environ
