"""Which lexicon a language has, and that a broken one is refused wherever it is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.content import Library
from harness.content.lexicons import NO_WORDS, lexicon_for
from harness.content.library import bundled_lexicons
from harness.content.specs import Lexicon
from harness.errors import ContentError

HEAD = 'tag = "ko"\nversion = "1.0.0"\nreviewed_by = []\n'


def library_with(folder: Path, text: str) -> Library:
    path = folder / "languages" / "ko" / "lexicon.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return Library(folder)


def test_every_list_may_be_left_out(tmp_path: Path) -> None:
    lexicon = library_with(tmp_path, HEAD + 'units = ["점"]\n').lexicon("ko")
    assert lexicon == Lexicon(tag="ko", version="1.0.0", reviewed_by=(), units=("점",))


def test_a_further_folder_adds_its_lexicons(tmp_path: Path) -> None:
    lexicons = library_with(tmp_path, HEAD).lexicons
    assert list(lexicons) == sorted([*bundled_lexicons(), "ko"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('announcer = ["점수"]', "unknown field `announcer`"),
        ('announcers = "점수"', "Expected `array`"),
        ('announcers = ["점수", " "]', "a word in announcers is blank"),
        ('announcers = ["점수", "점수"]', "'점수' is listed twice in announcers"),
        ('quotation_marks = ["“”", "『 』"]', "'『 』' in quotation_marks is not a pair"),
        ('refusals = ["~ 못합니다"]', "stands for refused_actions, but the list is empty"),
    ],
)
def test_a_lexicon_with_something_wrong_names_the_line(tmp_path: Path, line: str, words: str) -> None:
    library = library_with(tmp_path, HEAD + line + "\n")
    with pytest.raises(ContentError, match="lexicon") as caught:
        _ = library.lexicons
    assert caught.value.line == 4 and words in str(caught.value)


@pytest.mark.parametrize(
    ("language", "tag"), [("en", "en"), ("en-GB", "en"), ("pt-BR", "pt-BR"), ("zh-SG", "zh"), ("de-AT", "de"), ("fr-CA", "fr")]
)
def test_regions_of_a_language_share_its_lexicon(language: str, tag: str) -> None:
    assert lexicon_for(language, bundled_lexicons()).tag == tag


@pytest.mark.parametrize("language", ["ko", "pt", "pt-PT", "zh-Hant", "zh-TW", "ja-Latn", "", "not a tag", "en-not a tag"])
def test_other_languages_and_scripts_have_none(language: str) -> None:
    assert lexicon_for(language, bundled_lexicons()) is NO_WORDS
