"""Boards on data that are not in the packs, by the command: a data folder of the user's, and the hub imitated on the loopback interface."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.content import Library
from harness.data import load_folder
from tests.e2e.hub import Hub

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
card = "danish"
hub = "owner/name"
revision = "{COMMIT}"

[tasks]
open_prompt = "1.0.0"

[rubrics]
task_quality = "1.0.1"
"""
DATASET_CARD = """\
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


@pytest.fixture
def hub() -> Iterator[Hub]:
    served = Hub(FILES, COMMIT)
    yield served
    served.close()


@pytest.fixture
def content(tmp_path: Path) -> Path:
    folder = tmp_path / "content"
    for path, text in {"leaderboards/hubby/board.toml": BOARD, "catalog/danish/dataset.toml": DATASET_CARD}.items():
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_a_board_of_the_hub_fetches_its_data_once_and_is_read_again_without_the_hub(
    command: Cli, hub: Hub, content: Path, tmp_path: Path
) -> None:
    run = ("run", "--board", "hubby", "--content", content, "--judge", "baseline/length", "--out", tmp_path / "results")
    online = hub.environment(tmp_path / "hub")
    done = command(*run, env=online)
    assert done.returncode == 0, done.stderr
    assert "On the hub" in done.stdout and "Danish" in done.stdout
    assert {path.rpartition("/")[2] for path in hub.asked if "/resolve/" in path} == {"items.jsonl", "labels.jsonl"}, "and nothing else"
    offline = online | {"HF_HUB_OFFLINE": "1"}
    [folder] = (tmp_path / "results" / "runs").iterdir()
    for again in (run, ("report", folder.name, "--out", tmp_path / "results")):
        found = command(*again, env=offline)
        assert (found.returncode, found.stdout) == (0, done.stdout), found.stderr


@pytest.mark.slow
def test_a_commit_that_is_not_there_is_said(command: Cli, hub: Hub, content: Path, tmp_path: Path, refused: Callable[..., None]) -> None:
    board = content / "leaderboards" / "hubby" / "board.toml"
    board.write_text(BOARD.replace(COMMIT, "d" * 40), encoding="utf-8")
    done = command("run", "--board", "hubby", "--content", content, "--judge", "baseline/length", env=hub.environment(tmp_path / "hub"))
    refused(done, 3, f"hf:owner/name: cannot be fetched at commit {'d' * 40}")


def frozen(content: Path, data: Path, files: dict[str, bytes], **changes: str) -> tuple[Path, Path]:
    """A folder with these files, and the board `hubby` on just that data; `changes` are other words in its file."""
    data.mkdir()
    for name, rows in files.items():
        (data / name).write_bytes(rows)
    found = load_folder(data, Library(content), card="danish").sha256
    board = content / "leaderboards" / "hubby" / "board.toml"
    text = BOARD.replace('hub = "owner/name"', f'sha256 = "{found}"').replace(f'revision = "{COMMIT}"\n', "")
    for key, value in changes.items():
        text, times = re.subn(rf'^{key} = ".*"$', f'{key} = "{value}"', text, flags=re.MULTILINE)
        assert times == 1
    board.write_text(text, encoding="utf-8")
    return data, board


def test_the_page_says_right_and_wrong_by_the_rule_of_the_board(cli: Cli, content: Path, tmp_path: Path) -> None:
    """Of two annotators who say 0 and 2 there is no commonest score, but the board wants the one in the middle."""
    labels = [
        {"item_id": f"i{n}", "annotator_id": who, "metric": "task_quality", "score": score if n % 2 else 1}
        for n in range(10)
        for who, score in (("a", 0), ("b", 2))
    ]
    data, _ = frozen(content, tmp_path / "data", FILES | {"labels.jsonl": _lines(labels)}, majority="median", annotators="2")
    place = ("--out", tmp_path / "results")
    asked = ("--board", "hubby", "--content", content, "--data", data, "--judge", "baseline/random")
    said = json.loads(cli("run", *asked, *place, "--json").out)
    assert cli("report", *place, "--html", tmp_path / "page.html").code == 0
    [embedded] = re.findall(r'id="items-data"[^>]*>(.*?)</script>', (tmp_path / "page.html").read_text("utf-8"), re.DOTALL)
    outcome = json.loads(embedded)["rows"]["outcome"]
    given = [outcome["v"][code] for code in outcome["c"]]
    [cell] = said["by_metric"]
    assert cell["n_ref"] == len(given) == 10 and set(given) == {"right", "wrong"}
    assert given.count("right") == round(10 * cell["pa_failed_wrong"])


@pytest.mark.slow
def test_a_board_without_its_data_is_passed_over_where_nobody_named_it(
    cli: Cli, content: Path, tmp_path: Path, refused: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, board = frozen(content, tmp_path / "data", FILES)
    place, results = ("--content", content), ("--out", tmp_path / "results")
    assert cli("run", "--board", "hubby", *place, "--data", data, "--judge", "baseline/length", *results).code == 0
    [run] = (tmp_path / "results" / "runs").iterdir()
    assert cli("submit", run.name, "--board", "hubby", *results).code == 0
    monkeypatch.chdir(tmp_path / "results")
    monkeypatch.setenv("HARNESS_DATA_HOME", str(tmp_path / "home"))
    for command in ("build", "show"):
        refused(cli("board", command, "hubby", *place), 2, "pass --data DIR", "ask for it")
    for command in ("check", "build", "show"):
        assert cli("board", command, "hubby", *place, "--data", data).code == 0
    (board.parent / "TABLE.md").unlink()
    for named in ((), ("hubby",)):
        checked = cli("board", "check", *named, *place)
        assert checked.code == 6 and "hubby: not checked: the board 'hubby' judges data that are not part" in checked.err
        assert "could not be checked" in checked.err and "no problems" not in checked.err
    unchecked = json.loads(cli("board", "check", *place, "--json").out)["unchecked"]
    assert set(unchecked) == {
        "hubby",
        "adparaphrase",
        "adparaphrase-v2",
        "basse",
        "bilingual-examples",
        "hanna",
        "korean-square",
        "llmeval2",
        "memerag",
        "mlqe-critical",
        "multi-summeval",
        "pariksha",
        "rtp-lx",
        "textdetox",
        "truthfulqa-multi",
        "wmt23-esa-de",
        "wmt24-esa",
    }
    (board.parent / "submissions" / "baseline-length" / "judge.toml").unlink()
    assert cli("board", "check", "hubby", *place, "--data", data).code == 1, "a problem comes first"


@pytest.mark.slow
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
    refused(done, 3, "not the data of the board 'basse'", "content hash should be", "'harness data get basse' fetches")
    assert not (tmp_path / "results").exists() and "HF_ENDPOINT" not in os.environ
