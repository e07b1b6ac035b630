"""content.lock: an edit without a raised version does not pass, and nothing else is complained about."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.authoring.lock import LockEntry, accept, current, differences, lock_path, read
from harness.content.library import Library
from harness.content.problems import Problem
from harness.errors import ContentError

Edit = Callable[[Path, str, str], None]
MakeLibrary = Callable[..., Library]

TASK = Path("tasks/summarize/task.toml")
# Every kind of unit: the file that is edited, the unit, its TOML file.
EDITS = {
    "task": (TASK, "faithfully", "tasks/summarize", TASK),
    "rubric": ("rubrics/hallucination.toml", "made up", "rubrics/hallucination", "rubrics/hallucination.toml"),
    "pack": ("languages/cs/pack.toml", "Joshi", "languages/cs", "languages/cs/pack.toml"),
    "items": ("languages/cs/items/summarize.jsonl", "cs-su-1", "languages/cs", "languages/cs/pack.toml"),
    "labels": ("languages/cs/labels/summarize.jsonl", "cs-su-1", "languages/cs", "languages/cs/pack.toml"),
    "instructions": ("languages/cs/instructions.toml", "Vaším", "instructions/cs", "languages/cs/instructions.toml"),
    "interface": ("languages/en/interface.toml", "Nothing was changed", "interfaces/en", "languages/en/interface.toml"),
    "lexicon": ("languages/cs/lexicon.toml", "skóre", "lexicons/cs", "languages/cs/lexicon.toml"),
    "dataset card": ("catalog/basse/dataset.toml", "BASSE", "catalog/basse", "catalog/basse/dataset.toml"),
    "board": ("leaderboards/controls/board.toml", "balanced", "leaderboards/controls", "leaderboards/controls/board.toml"),
}


@pytest.fixture
def copy(root: Path, library_of: MakeLibrary) -> Library:
    return library_of(root)


def test_file_has_one_sorted_line_a_unit(root: Path, copy: Library) -> None:
    text = (root / "content.lock").read_text("utf-8")
    lines = text.splitlines()
    assert text.endswith("\n") and lines == sorted(lines)
    name, version, sha256 = next(line for line in lines if line.startswith("tasks/summarize ")).split(" ")
    assert (version, len(sha256)) == ("1.0.0", 64)
    assert {line.split("/")[0] for line in lines} == {
        "catalog",
        "collections",
        "exits",
        "instructions",
        "interfaces",
        "languages",
        "leaderboards",
        "lexicons",
        "rubrics",
        "tasks",
        "writing",
    }
    assert read(lock_path(copy)) == current(copy)
    assert current(copy)[name] == LockEntry(version, sha256)
    assert differences(copy) == []


@pytest.mark.parametrize(("file", "word", "unit", "toml"), EDITS.values(), ids=EDITS)
def test_edit_without_raised_version(root: Path, copy: Library, edit: Edit, file: str, word: str, unit: str, toml: str) -> None:
    edit(root / file, word, word + "X")
    lines = (root / toml).read_text("utf-8").splitlines()
    line, stated = next((n, text) for n, text in enumerate(lines, start=1) if text.startswith("version ="))
    version = stated.split('"')[1]
    message = f"content of {unit} changed but its version is still {version}: raise the version, then run 'harness check --accept'"
    assert differences(copy) == [Problem(root / toml, line, message)]
    before = lock_path(copy).read_bytes()
    with pytest.raises(ContentError, match=f"changed but its version is still {re.escape(version)}") as caught:
        accept(copy)
    assert (caught.value.path, caught.value.line) == (root / toml, line)
    assert lock_path(copy).read_bytes() == before


def test_raised_version_waits_for_accept(root: Path, copy: Library, edit: Edit) -> None:
    edit(root / TASK, 'version = "1.0.0"', 'version = "1.1.0"')
    message = "version 1.1.0 is not in content.lock yet: run 'harness check --accept'"
    assert differences(copy) == [Problem(root / TASK, 2, message)]
    assert accept(copy) == ["tasks/summarize"]
    assert differences(copy) == []
    assert read(lock_path(copy))["tasks/summarize"].version == "1.1.0"
    assert accept(copy) == []


def test_versions_compare_as_numbers(root: Path, copy: Library, edit: Edit) -> None:
    edit(root / TASK, '"1.0.0"', '"1.9.0"')
    accept(copy)
    edit(root / TASK, '"1.9.0"', '"1.10.0"')
    assert accept(copy) == ["tasks/summarize"]


def test_lower_version_is_refused(root: Path, copy: Library, edit: Edit) -> None:
    edit(root / TASK, '"1.0.0"', '"0.9.9"')
    [problem] = differences(copy)
    assert (problem.path, problem.line) == (root / TASK, 2)
    assert "version 0.9.9 of tasks/summarize is lower than 1.0.0 in content.lock" in problem.message
    with pytest.raises(ContentError, match="lower than"):
        accept(copy)


def test_same_version_written_otherwise_is_no_raise(root: Path, copy: Library, edit: Edit) -> None:
    edit(root / TASK, '"1.0.0"', '"1.0.00"')
    with pytest.raises(ContentError, match="changed but its version is still"):
        accept(copy)


def test_new_and_gone_units(root: Path, copy: Library) -> None:
    (root / "tasks/translate").rename(root / "tasks/shorten")
    gone_line = 1 + [line.split()[0] for line in lock_path(copy).read_text("utf-8").splitlines()].index("tasks/translate")
    assert differences(copy) == [
        Problem(
            lock_path(copy), gone_line, "tasks/translate is in content.lock but does not exist: restore it, or run 'harness check --accept'"
        ),
        Problem(root / "tasks/shorten/task.toml", 2, "tasks/shorten is new, not in content.lock: run 'harness check --accept'"),
    ]
    assert accept(copy) == ["tasks/shorten", "tasks/translate"]
    assert differences(copy) == []


def test_without_a_lock_all_is_new(root: Path, copy: Library) -> None:
    lock_path(copy).unlink()
    assert len(differences(copy)) == len(current(copy))
    assert all("is new, not in content.lock" in problem.message for problem in differences(copy))
    assert accept(copy) == sorted(current(copy))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("<<<<<<< HEAD", "not a line of content.lock: '<<<<<<< HEAD'"),
        ("tasks/summarize 1.0.0", "lines look like"),
        ("", "not a line of content.lock"),
        ("tasks/summarize 1.0.0 " + "0" * 64, "'tasks/summarize' is listed twice"),
    ],
    ids=["conflict", "no-hash", "empty", "twice"],
)
def test_maintenanced_lock(root: Path, copy: Library, line: str, words: str) -> None:
    path = lock_path(copy)
    number = 1 + len(path.read_text("utf-8").splitlines())
    path.write_text(path.read_text("utf-8") + line + "\n", "utf-8")
    [problem] = differences(copy)
    assert (problem.path, problem.line) == (path, number)
    assert words in problem.message
    with pytest.raises(ContentError, match=rf"content\.lock:{number}: "):
        accept(copy)


def test_unreadable_unit_does_not_pass(root: Path, copy: Library, edit: Edit) -> None:
    edit(root / TASK, 'title = "Summarize"', "title = 3")
    [problem] = differences(copy)
    assert (problem.path, problem.line) == (root / TASK, 3)
    with pytest.raises(ContentError, match="title"):
        accept(copy)


def test_text_moved_between_files_changes_the_hash(root: Path, copy: Library) -> None:
    before = current(copy)["languages/cs"]
    items = root / "languages/cs/items"
    one, other = items / "open_prompt.jsonl", items / "summarize.jsonl"
    last = one.read_bytes().splitlines(keepends=True)[-1]
    one.write_bytes(one.read_bytes().removesuffix(last))
    other.write_bytes(last + other.read_bytes())
    assert current(copy)["languages/cs"].sha256 != before.sha256


def test_cards_and_texts_are_not_locked(root: Path, copy: Library) -> None:
    (root / "tasks/summarize/CARD.md").write_text("other words\n", "utf-8")
    (root / "languages/cs/texts").mkdir()
    (root / "languages/cs/texts/summarize.toml").write_text("# base texts\n", "utf-8")
    assert differences(copy) == []


def test_instructions_are_a_unit_of_their_own(root: Path, copy: Library, edit: Edit) -> None:
    """New words for judges are no new items: what is frozen on the pack's version stays frozen."""
    path = root / "languages/cs/instructions.toml"
    edit(path, f'"{copy.instructions("cs").version}"', '"9.0.0"')
    assert accept(copy) == ["instructions/cs"]
    path.unlink()
    assert accept(copy) == ["instructions/cs"]


def test_lexicons_are_units_of_their_own(root: Path, copy: Library, edit: Edit) -> None:
    """New words are no new items: boards are frozen on the pack's version, and their submissions are read with the words of today."""
    path = root / "languages/cs/lexicon.toml"
    edit(path, f'"{copy.lexicon("cs").version}"', '"9.0.0"')
    assert accept(copy) == ["lexicons/cs"]
    path.unlink()
    assert accept(copy) == ["lexicons/cs"]


def test_further_folders_are_not_locked(root: Path, tmp_path: Path, library_of: MakeLibrary) -> None:
    extra = tmp_path / "extra"
    shutil.copytree(root / "tasks/summarize", extra / "tasks/shorten")
    assert differences(library_of(root, extra)) == []
    assert "tasks/shorten" not in current(library_of(root, extra))
