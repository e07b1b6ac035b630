"""The long tier: twins of long texts differ in one flaw, which stands in the last fifth."""

from __future__ import annotations

import tomllib
from collections import Counter
from functools import cache

import pytest

from harness.content.library import Library, bundled_root
from harness.data.dataset import Dataset, load_bundled
from harness.model import Item
from harness.segmentation import is_word, sentences, words
from tests.content.test_content import OWN_QUOTES, QUOTES, derive, unbalanced

LIBRARY = Library()
BOARD = LIBRARY.board("controls-long")
TAGS = list(BOARD.languages)
WORDS = {"500": (450, 650), "2000": (1850, 2400)}  # as the segmenter counts them


@cache
def data(tag: str) -> Dataset:
    return load_bundled(LIBRARY, [tag], BOARD)


def flawless(tag: str) -> list[Item]:
    return [item for item in data(tag).items if item.fields["construction"] == "flawless"]


@pytest.mark.parametrize("tag", TAGS)
def test_files_are_what_derive_makes(tag: str) -> None:
    made = dict(derive().paired_files(tag, "long"))
    folder = bundled_root() / "languages" / tag / "packs" / "long"
    assert set(made) == {*folder.glob("items/*.jsonl"), *folder.glob("labels/*.jsonl")}
    assert all(path.read_bytes() == content for path, content in made.items()), f"run: python languages/derive.py {tag}"


@pytest.mark.parametrize("tag", TAGS)
def test_three_texts_of_each_length(tag: str) -> None:
    lengths = Counter(str(item.fields["genre"]).rpartition("-")[2] for item in flawless(tag))
    assert lengths == {"500": 3, "2000": 3}
    for item in flawless(tag):
        low, high = WORDS[str(item.fields["genre"]).rpartition("-")[2]]
        assert low <= sum(map(is_word, words(str(item.fields["output"]), tag))) <= high, item.item_id


@pytest.mark.parametrize("tag", TAGS)
def test_flaws_stand_in_the_last_fifth(tag: str) -> None:
    """Every text that a twin replaces begins there; `derive` changes nothing else."""
    path = bundled_root() / "languages" / tag / "packs" / "long" / "texts.toml"
    for text in tomllib.loads(path.read_text("utf-8"))["text"]:
        for version in text["version"]:
            for old, new in version["replace"]:
                assert text["output"].index(old) >= 0.8 * len(text["output"]), (text["group"], version["construction"])
                assert old != new


@pytest.mark.parametrize("tag", TAGS)
def test_half_of_the_labels_of_each_metric_are_bad(tag: str) -> None:
    total, bad = Counter[str](), Counter[str]()
    for label in data(tag).labels:
        total[label.metric] += 1
        bad[label.metric] += label.score != data(tag).scales[label.metric].best
    assert total == dict.fromkeys(BOARD.rubrics, 12) and bad == dict.fromkeys(BOARD.rubrics, 6)


@pytest.mark.parametrize("tag", TAGS)
def test_no_sentence_comes_twice_and_marks_are_the_languages_own(tag: str) -> None:
    """Long texts are whole texts: none is filled up with what it or another one has said."""
    seen = Counter(part.strip() for item in flawless(tag) for part in sentences(str(item.fields["output"]), tag) if len(part.strip()) > 12)
    assert [part for part, count in seen.items() if count > 1] == []
    for item in data(tag).items:
        for field in ("prompt", "output"):
            text = str(item.fields[field])
            assert not unbalanced(text) and not QUOTES & set(text) - set(OWN_QUOTES[tag]), item.item_id


@pytest.mark.parametrize("tag", TAGS)
def test_texts_are_in_their_language(tag: str) -> None:
    from py3langid import langid

    assert {langid.classify(str(item.fields["output"]))[0] for item in flawless(tag)} == {tag}
