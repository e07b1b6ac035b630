"""The library: bundled content by name, further folders beside it, and one sentence for every name that is wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.authoring.scaffold import new_language
from harness.content import Library
from harness.content.library import bundled_root
from harness.content.specs import BoardData
from harness.errors import ContentError, UsageError

KINDS: dict[str, Callable[[Library], object]] = {
    "tasks/summarize/task.toml": lambda library: library.task_files,
    "rubrics/hallucination.toml": lambda library: library.rubric_files,
    "languages/ja/pack.toml": lambda library: library.pack_files,
    "languages/ja/lexicon.toml": lambda library: library.lexicons,
    "leaderboards/controls/board.toml": lambda library: library.board_files,
    "catalog/pariksha/dataset.toml": lambda library: library.dataset_card_files,
}
LOADERS: dict[str, Callable[[Library, str], object]] = {
    "task": Library.task,
    "rubric": Library.rubric,
    "language pack": Library.pack,
    "lexicon of": Library.lexicon,
    "board": Library.board,
    "dataset card": Library.dataset_card,
}


@pytest.fixture
def extra(tmp_path: Path) -> Path:
    """A content folder of one's own with the task `retell`, which is `summarize` under another name."""
    path = tmp_path / "tasks" / "retell" / "task.toml"
    path.parent.mkdir(parents=True)
    text = (bundled_root() / "tasks" / "summarize" / "task.toml").read_text("utf-8")
    path.write_text(text.replace('id = "summarize"', 'id = "retell"'), "utf-8")
    return tmp_path


def test_a_file_is_read_once(extra: Path) -> None:
    library = Library(extra)
    before = library.task("retell")
    (extra / "tasks/retell/task.toml").write_text("nothing")
    assert library.task("retell") is before
    with pytest.raises(ContentError):
        Library(extra).task("retell")


def test_bundled_content_is_found(library: Library) -> None:
    single = ["answer_question", "continue_writing", "open_prompt", "summarize", "summarize_article", "translate"]
    single += ["answer_from_passages", "rate_altered_text", "rate_story", "answer_exam_question", "answer_sensitive_question", "rate_harm"]
    single += ["translate_tokenised", "write_story", "rate_conversation", "detoxify", "answer_trick_question", "example_sentence"]
    pairs = ["compare_advertisements", "compare_continuations", "compare_responses", "compare_summaries", "summary_beside_reference"]
    assert sorted(library.task_files) == sorted([*pairs, *single])
    assert sorted(library.pack_files) == ["cs", "de", "en", "es", "fr", "it", "ja", "pt-BR", "zh"]
    controls = [
        "controls",
        "controls-conversations",
        "controls-full",
        "controls-hard",
        "controls-long",
        "controls-models",
        "controls-parallel",
    ]
    people = [
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
    ]
    assert sorted(library.board_files) == sorted([*controls, *people])
    assert library.task("summarize").id == "summarize"


def test_packs_without_items_are_told_from_those_with(library: Library) -> None:
    assert library.tags_with_items() == ["cs", "de", "en", "es", "fr", "it", "ja", "pt-BR", "zh"]
    assert sorted(library.item_files("ja")) == ["continue_writing", "open_prompt", "summarize"]


def test_a_pack_may_have_no_items(tmp_path: Path) -> None:
    new_language("ko", tmp_path)
    library = Library(tmp_path)
    assert library.item_files("ko") == {} and "ko" not in library.tags_with_items()


def test_a_further_folder_adds_to_the_bundled_content(extra: Path) -> None:
    library = Library(extra)
    assert library.task("retell").id == "retell"
    assert library.task("summarize").id == "summarize"
    assert sorted(library.rubric_files) == sorted(Library().rubric_files)


@pytest.mark.parametrize("file", KINDS)
def test_the_same_name_twice_names_both_files(tmp_path: Path, file: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True)
    shutil.copy(bundled_root() / file, tmp_path / file)
    with pytest.raises(ContentError) as caught:
        KINDS[file](Library(tmp_path))
    assert str(tmp_path / file) in str(caught.value) and str(bundled_root() / file) in str(caught.value)
    assert "give one of them another name" in str(caught.value)


def test_two_further_folders_may_not_clash_either(extra: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    shutil.copytree(extra / "tasks", other / "tasks")
    with pytest.raises(ContentError, match="'retell' is also at"):
        Library(extra, other).task("retell")


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"content folder .*nowhere does not exist; it should hold tasks/"):
        Library(tmp_path / "nowhere")


def test_a_broken_file_harms_only_those_who_ask_for_it(extra: Path) -> None:
    (extra / "tasks" / "broken").mkdir()
    (extra / "tasks" / "broken" / "task.toml").write_text("no TOML")
    library = Library(extra)
    assert "broken" in library.task_files and library.task("retell").id == "retell"
    with pytest.raises(ContentError, match=r"broken/task\.toml:1: not valid TOML"):
        library.task("broken")


def test_a_name_inside_that_is_not_the_place_is_refused(extra: Path) -> None:
    (extra / "tasks" / "retell").rename(extra / "tasks" / "sum_up")
    with pytest.raises(ContentError, match="the name inside is 'retell', but the folder or file is named 'sum_up'"):
        Library(extra).task("sum_up")


@pytest.mark.parametrize("word", LOADERS)
def test_an_unknown_name_is_refused_with_those_that_are_here(library: Library, word: str) -> None:
    with pytest.raises(UsageError) as caught:
        LOADERS[word](library, "no-such-name")
    known = {"task": "summarize", "rubric": "hallucination", "language pack": "pt-BR", "board": "controls", "dataset card": "pariksha"}
    assert str(caught.value).startswith(f"no {word} 'no-such-name'.") and known.get(word, "pt-BR") in str(caught.value)


def test_a_slip_of_the_pen_is_answered_with_the_near_name(library: Library) -> None:
    with pytest.raises(UsageError, match="Did you mean 'summarize'"):
        library.task("sumarize")


def test_a_dataset_card_with_a_name_that_the_catalog_has_is_refused(tmp_path: Path) -> None:
    card = tmp_path / "catalog" / "pariksha" / "dataset.toml"
    card.parent.mkdir(parents=True)
    card.write_text('id = "pariksha"\n', "utf-8")
    with pytest.raises(ContentError, match="'pariksha' is also at"):
        Library(tmp_path).dataset_card("pariksha")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('card = "basse"', ""),
        ("", "missing required field `card`"),
        ('card = ""', "card"),
    ],
)
def test_a_board_names_its_dataset_card(tmp_path: Path, keys: str, message: str) -> None:
    board = tmp_path / "leaderboards" / "mine" / "board.toml"
    board.parent.mkdir(parents=True)
    text = (bundled_root() / "leaderboards" / "basse" / "board.toml").read_text("utf-8")
    board.write_text(text.replace('id = "basse"', 'id = "mine"', 1).replace('card = "basse"', keys), "utf-8")
    if message:
        with pytest.raises(ContentError, match=message):
            Library(tmp_path).board("mine")
    else:
        data = Library(tmp_path).board("mine").data
        assert isinstance(data, BoardData) and data.card == "basse"
