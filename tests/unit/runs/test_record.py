"""The place of a run: by name, by folder, by a file in it; what is no run is named, with the command for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.runs import run_place


def test_a_run_is_found_by_its_name_its_folder_and_a_file_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "runs" / "mine"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}\n", "utf-8")
    for given in (folder, folder / "run.json"):
        assert run_place(given, Path("elsewhere")) == ("mine", tmp_path / "results")
    assert run_place("mine", tmp_path / "results") == ("mine", tmp_path / "results")


def test_what_is_no_run_is_named_with_its_command(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "results" / "runs").mkdir(parents=True)
    (tmp_path / "scores.csv").write_text("a\n", "utf-8")
    for name, words in {
        "data": "a folder of data; 'harness run --data {}' asks a judge",
        "results": "a folder of results; 'harness runs --out {}' lists the runs in it",
        "scores.csv": "a file that no run wrote; 'harness start {}'",
    }.items():
        with pytest.raises(UsageError) as caught:
            run_place(tmp_path / name, tmp_path / "results")
        assert words.format(tmp_path / name) in str(caught.value)


def test_a_folder_with_the_name_of_a_run_hides_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("results/runs/mine").mkdir(parents=True)
    Path("min").mkdir()
    for name in ("mine", "min"):
        assert run_place(name, Path("results")) == (name, Path("results"))
