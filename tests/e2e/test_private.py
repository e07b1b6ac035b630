"""Who can read what the command writes: texts, labels and replies their owner only, what is made to be published everybody."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.store import Store

Cli = Callable[..., Any]


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """The modes of a folder and of all below it."""
    return {str(path.relative_to(folder.parent)): path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*"))}


def is_private(folder: Path) -> bool:
    return all(mode == (0o700 if (folder.parent / name).is_dir() else 0o600) for name, mode in modes(folder).items())


def test_a_results_folder_is_its_owners_only(cli: Cli, out: Path) -> None:
    assert cli("run", "--langs", "cs", "--tasks", "open_prompt", "--judge", "baseline/random", "--out", out).code == 0
    assert cli("report", "--out", out, "--html").code == 0
    names = {Path(name).name for name in modes(out)}
    assert names >= {"store.sqlite", "run.json", "judgments.parquet", "answers.json", "report.json", "report.csv", "report.parquet"}
    private = {name: mode for name, mode in modes(out).items() if not (out.parent / name).is_dir()}
    assert set(private.values()) == {0o600}, private
    assert out.stat().st_mode & 0o777 == 0o700
    with Store.writing(out) as store:
        store.put_template("a", b"b")
        assert {path.name for path in out.iterdir()} >= {"store.sqlite-wal", "store.sqlite-shm", ".lock"}
        assert {path.stat().st_mode & 0o777 for path in out.iterdir() if path.is_file()} == {0o600}


def test_a_folder_that_is_there_keeps_its_mode_and_files_in_it_are_private(cli: Cli, out: Path) -> None:
    out.mkdir()
    assert cli("run", "--langs", "cs", "--tasks", "open_prompt", "--judge", "baseline/random", "--out", out).code == 0
    assert out.stat().st_mode & 0o777 == 0o755 and (out / "store.sqlite").stat().st_mode & 0o777 == 0o600


def test_exports_sheets_and_imports_are_their_owners_only(cli: Cli, out: Path, tmp_path: Path) -> None:
    cli("run", "--langs", "cs", "--tasks", "open_prompt", "--judge", "baseline/random", "--out", out)
    assert cli("store", "export", "--out", out, "--to", tmp_path / "replies.jsonl").code == 0
    for name in ("sheet.xlsx", "project.json", "labels.csv", "labels.jsonl", "labels.parquet"):
        assert cli("labels", "export", "bundled", "--langs", "cs", "--task", "open_prompt", "--to", tmp_path / name).code == 0, name
    imported = ("labels", "import", tmp_path / "labels.csv", "--items", "bundled", "--keep-annotators", "--to", tmp_path / "data")
    assert cli(*imported).code == 0
    for name in ("replies.jsonl", "sheet.xlsx", "project.json", "labels.csv", "labels.jsonl", "labels.parquet"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600, name
    assert is_private(tmp_path / "data"), modes(tmp_path / "data")
    assert (tmp_path / "project.xml").stat().st_mode & 0o777 == 0o644  # the wording of rubrics
    assert cli("compare", "bundled", "--html", tmp_path / "page.html").code in (0, 2, 3)


def test_submissions_tables_and_sites_follow_the_umask(cli: Cli, own_board: Any, out: Path, tmp_path: Path) -> None:
    own_board.label_openly()
    assert cli("run", "--board", "held", "--content", own_board.content, "--judge", "baseline/random", "--out", out).code == 0
    assert cli("submit", "held", "--board", "held", "--out", out).code == 0
    assert cli("board", "build", "held", "--content", own_board.content, "--site", tmp_path / "site").code == 0
    written = [own_board.folder / "TABLE.md", *(own_board.folder / "submissions").rglob("*.*"), *(tmp_path / "site").rglob("*.html")]
    assert len(written) >= 5
    assert {path.stat().st_mode & 0o777 for path in written} == {0o644}
    os.umask(0o027)
    assert cli("board", "build", "held", "--content", own_board.content).code == 0
    assert (own_board.folder / "TABLE.md").stat().st_mode & 0o777 == 0o640
