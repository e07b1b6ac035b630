"""Skeletons: they load, `check` runs on them and names what is still to be written, and nothing is overwritten."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.authoring.check import check
from harness.authoring.lock import accept
from harness.authoring.parsed_content import ASKED_BY_STUDIES
from harness.authoring.scaffold import PLACEHOLDER, new_language, new_rubric, new_task
from harness.content.library import Library
from harness.content.specs import Lexicon
from harness.errors import StoreError, UsageError
from harness.studies.self_preference.study import SINGLE_METRICS

MakeLibrary = Callable[..., Library]
Edit = Callable[[Path, str, str], None]


def test_language(tmp_path: Path) -> None:
    written = new_language("ko", tmp_path)
    assert written == [tmp_path / "languages/ko" / name for name in ("pack.toml", "lexicon.toml", "CARD.md")]
    pack = Library(tmp_path).pack("ko")
    assert (pack.tag, pack.script, pack.reviewed_by) == ("ko", "Kore", ())
    assert Library(tmp_path).lexicon("ko") == Lexicon(tag="ko", version="0.1.0", reviewed_by=())
    card = written[-1].read_text("utf-8")
    assert card.startswith("# Korean (`ko`)")
    assert "`texts/" in card and "derive.py ko" in card
    assert sorted(path.name for path in (tmp_path / "languages/ko").iterdir()) == ["CARD.md", "lexicon.toml", "pack.toml"]


@pytest.mark.parametrize(("tag", "script"), [("zh-Hant", "Hant"), ("sr", "Cyrl"), ("pt", "Latn")])
def test_script_is_the_likely_one(tmp_path: Path, tag: str, script: str) -> None:
    new_language(tag, tmp_path)
    assert Library(tmp_path).pack(tag).script == script


def test_the_lexicon_names_every_key(tmp_path: Path) -> None:
    new_language("ko", tmp_path)
    keys = re.findall(r"^(\w+) =", (tmp_path / "languages/ko/lexicon.toml").read_text("utf-8"), re.MULTILINE)
    assert tuple(keys) == tuple(name for name in Lexicon.__struct_fields__ if name != "reading_ease")  # a table, where there is a formula


def test_task(tmp_path: Path) -> None:
    assert new_task("story_rating", tmp_path) == [tmp_path / "tasks/story_rating/task.toml", tmp_path / "tasks/story_rating/CARD.md"]
    task = Library(tmp_path).task("story_rating")
    assert (task.title, task.outputs, list(task.fields)) == ("Story rating", ("output",), ["input", "output"])


def test_rubric(tmp_path: Path) -> None:
    assert new_rubric("tone", tmp_path) == [tmp_path / "rubrics/tone.toml", tmp_path / "rubrics/CARD.md"]
    rubric = Library(tmp_path).rubric("tone")
    assert rubric.scale.classes == tuple(criteria.score for criteria in rubric.detailed.criteria) == (0, 1, 2)


def test_card_of_all_rubrics_is_kept(tmp_path: Path) -> None:
    new_rubric("tone", tmp_path)
    (tmp_path / "rubrics/CARD.md").write_text("ours\n", "utf-8")
    assert new_rubric("humour", tmp_path) == [tmp_path / "rubrics/humour.toml"]
    assert (tmp_path / "rubrics/CARD.md").read_text("utf-8") == "ours\n"


def test_a_new_language_has_no_faults_until_it_has_items(root: Path, tmp_path: Path, library_of: MakeLibrary) -> None:
    extra = tmp_path / "extra"
    *_, card = new_language("ko", extra)
    assert check(library_of(root, extra)) == []
    (extra / "languages/ko/items").mkdir()
    (extra / "languages/ko/items/summarize.jsonl").write_text("", "utf-8")
    found = [problem for problem in check(library_of(root, extra)) if problem.path == card]
    assert [problem.message for problem in found] == [
        "there are items now; say what they are, who wrote and labelled them, and what they cannot show"
    ]


@pytest.mark.parametrize(("make", "name"), [(new_task, "story"), (new_rubric, "tone")], ids=["task", "rubric"])
def test_check_complains_about_what_is_missing_only(
    root: Path, tmp_path: Path, library_of: MakeLibrary, make: Callable[[str, Path], list[Path]], name: str
) -> None:
    extra = tmp_path / "extra"
    written = make(name, extra)
    problems = check(library_of(root, extra))
    assert {problem.path for problem in problems} == set(written)
    unlisted = [problem for problem in problems if "no task lists 'tone'" in problem.message]
    assert [problem.line for problem in unlisted] == ([1] if make is new_rubric else [])
    for problem in (problem for problem in problems if problem not in unlisted):
        assert problem.line is not None
        assert "a placeholder was not replaced" in problem.message
        assert PLACEHOLDER in problem.path.read_text("utf-8").splitlines()[problem.line - 1]
    for path in written:
        path.write_text(path.read_text("utf-8").replace(PLACEHOLDER, ""), "utf-8")
    assert check(library_of(root, extra)) == unlisted


def test_a_rubric_that_a_task_lists_is_in_order(root: Path, tmp_path: Path, library_of: MakeLibrary) -> None:
    extra = tmp_path / "extra"
    for path in (*new_rubric("tone", extra), *new_task("story", extra)):
        listed = path.read_text("utf-8").replace('  "hallucination",', '  "hallucination",\n  "tone",')
        path.write_text(listed.replace(PLACEHOLDER, ""), "utf-8")
    assert check(library_of(root, extra)) == []


def test_rubrics_of_studies_need_no_task() -> None:
    assert set(ASKED_BY_STUDIES) == set(SINGLE_METRICS)


def test_a_draft_changes_without_a_new_version_and_no_board_names_it(root: Path, library_of: MakeLibrary, edit: Edit) -> None:
    toml, *_ = new_language("ko", root)
    accept(library_of(root))
    edit(toml, "resource_class = 0", "resource_class = 4")
    [problem] = check(library_of(root))
    assert problem.message == "the draft languages/ko changed: run 'harness check --accept'"
    assert accept(library_of(root)) == ["languages/ko"] and check(library_of(root)) == []
    edit(root / "leaderboards/controls/board.toml", "[languages]\n", '[languages]\nko = "0.1.0"\n')
    assert any("'ko' is a draft (0.1.0)" in problem.message for problem in check(library_of(root)))


def test_in_the_bundled_root_the_lock_is_missing_too(root: Path, library_of: MakeLibrary) -> None:
    new_task("story", root)
    [problem] = [problem for problem in check(library_of(root)) if "placeholder" not in problem.message]
    assert (problem.path, problem.line) == (root / "tasks/story/task.toml", 2)
    assert "tasks/story is new, not in content.lock" in problem.message


def test_a_bundled_task_is_to_be_translated_once_a_pack_holds_items_of_it(root: Path, library_of: MakeLibrary) -> None:
    new_task("story", root)
    (root / "languages/cs/items/story.jsonl").write_text("", "utf-8")
    found = [problem for problem in check(library_of(root)) if "tasks.story" in problem.message]
    assert {problem.path.name for problem in found} == {"instructions.toml"}


@pytest.mark.parametrize(
    ("make", "name", "file"),
    [
        (new_language, "ko", "languages/ko/pack.toml"),
        (new_task, "story", "tasks/story/task.toml"),
        (new_rubric, "tone", "rubrics/tone.toml"),
    ],
    ids=["language", "task", "rubric"],
)
def test_refuses_what_is_there(tmp_path: Path, make: Callable[[str, Path], list[Path]], name: str, file: str) -> None:
    make(name, tmp_path)
    (tmp_path / file).write_text("mine\n", "utf-8")
    with pytest.raises(UsageError, match=f"'{name}' already"):
        make(name, tmp_path)
    assert (tmp_path / file).read_text("utf-8") == "mine\n"


@pytest.mark.parametrize(
    ("make", "name"), [(new_language, "cs"), (new_task, "summarize"), (new_rubric, "hallucination")], ids=["language", "task", "rubric"]
)
def test_refuses_bundled_names(tmp_path: Path, make: Callable[[str, Path], list[Path]], name: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}' already"):
        make(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("pt_br", "write 'pt-BR'"),
        ("kor", "write 'ko'"),
        ("KO", "write 'ko'"),
        ("gr", "Greek is 'el'"),
        ("cz", "Czech is 'cs'"),
        ("xx", "not the tag of a known language"),
        ("", "cannot be a language tag"),
        ("../ko", "cannot be a language tag"),
        ("ko ", "write 'ko'"),
    ],
)
def test_refuses_tags(tmp_path: Path, tag: str, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        new_language(tag, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [new_task, new_rubric], ids=["task", "rubric"])
@pytest.mark.parametrize("name", ["", "Story", "1story", "story-rating", "story rating", "_story", "../story", "příběh", "story\n"])
def test_refuses_ids(tmp_path: Path, make: Callable[[str, Path], list[Path]], name: str) -> None:
    with pytest.raises(UsageError, match="is not a valid id"):
        make(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "tasks").write_text("a file, not a folder\n", "utf-8")
    with pytest.raises(StoreError, match="cannot be written"):
        new_task("story", tmp_path)
