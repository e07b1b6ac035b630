"""The differences between a run and a board's protocol, and how one submission replaces another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.boards import submit as module
from harness.boards.submit import differences
from harness.errors import StoreError
from harness.model import Condition
from harness.runs import Prepared, RunResult


def sentences(result: RunResult, mini: Prepared, **changes: Any) -> list[str]:
    """The differences that would be reported if the run had another protocol."""
    run = msgspec.structs.replace(result, protocol=result.protocol.with_fields(**changes))
    return list(differences(run, mini.protocol))


def test_a_run_of_the_board_does_not_differ(result: RunResult, mini: Prepared) -> None:
    assert sentences(result, mini) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"source": "mini@0.9.0"}, "it is a run of mini@0.9.0"),
        ({"languages": ("cs",)}, "without the language en"),
        ({"languages": ("cs", "de", "en")}, "with the language de, not on the board"),
        ({"tasks": {}}, "without the task open_prompt"),
        ({"metrics": ()}, "without the metrics linguistic_acceptability, task_quality"),
        ({"tasks": {"open_prompt": "0.1.0"}}, "task open_prompt had version 0.1.0, and the board has 1.0.0"),
        ({"limit": 3}, "the first 3 items"),
        ({"data_sha256": "0" * 64}, "its items or labels differ from those of the board"),
        ({"conditions": ()}, "it lacks the condition single, temperature 0"),
        ({"repeats": 5}, "it asked 5 times, and the board asks 2 times"),
        ({"seed": 9}, "its seed was 9, and the board's is 0"),
        ({"reask": ("refused",)}, "repeated refused calls"),
        ({"prompts": "x"}, "rendered by another version of the program"),
        ({"examples": "x"}, "examples were taken from other data"),
        ({"instructions": {"cs": "1.0.0"}}, "instructions in the items' languages"),
    ],
)
def test_each_difference_is_a_sentence(result: RunResult, mini: Prepared, changes: dict[str, Any], words: str) -> None:
    [sentence] = sentences(result, mini, **changes)
    assert words in sentence


def test_all_differences_are_reported(result: RunResult, mini: Prepared) -> None:
    all_sentences = sentences(result, mini, languages=("en",), repeats=1, seed=1, conditions=(Condition(temperature=1.0),))
    assert len(all_sentences) == 5


def test_calls_without_an_answer_are_counted(result: RunResult, mini: Prepared) -> None:
    answers = msgspec.structs.replace(result.answers, missing={"openai/m": 1200, "openai/n": 0})
    assert list(differences(msgspec.structs.replace(result, answers=answers), mini.protocol)) == ["1,200 calls of openai/m have no answer"]


def test_a_folder_is_whole_folder(tmp_path: Path) -> None:
    with module._whole_folder(tmp_path / "a" / "b") as unfinished:
        (unfinished / "file").write_text("new")
        assert not (tmp_path / "a" / "b").exists()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]
    assert (tmp_path / "a" / "b" / "file").read_text() == "new"


def test_a_folder_is_not_written_at_all_when_something_goes_wrong(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), module._whole_folder(tmp_path / "a" / "b") as unfinished:
        (unfinished / "file").write_text("new")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_folder_is_restored_if_it_cannot_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "file").write_text("old")
    rename = Path.rename

    def fails_for_the_new_one(self: Path, target: Path) -> Path:
        if self.parent.name.startswith(".b.") and self.name == "b":
            raise OSError("no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails_for_the_new_one)
    with pytest.raises(StoreError, match="cannot be written"), module._whole_folder(tmp_path / "b") as unfinished:
        (unfinished / "file").write_text("new")
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["b"] and (tmp_path / "b" / "file").read_text() == "old"
