"""Text: what is safe in a terminal, and words and sentences as ICU finds them, in scripts with and without spaces."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.segmentation import is_word, segmenter_version, sentences, words
from harness.text import fill_placeholders, terminal_safe

_TEXT = st.text(st.characters(codec="utf-8"), max_size=60)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x1b]0;title\x07rest", "]0;titlerest"),
        ("\x9b31mred", "31mred"),
        ("over\rwritten\x08", "overwritten"),
        ("a\u202eb\u2066c\u2069d\u200fe\u061cf", "abcdef"),
        ("\ufeffmark", "mark"),
    ],
    ids=["escape sequence", "window title", "8-bit escape", "return", "bidi", "byte-order mark"],
)
def test_what_steers_a_terminal_is_taken_out(text: str, shown: str) -> None:
    assert terminal_safe(text) == shown


@pytest.mark.parametrize("text", ["two\nlines\tand a tab", "〽 日本語 «čeština» عربي हिन्दी", "👩\u200d👧 family", "[bold]not markup[/]"])
def test_what_is_text_stays(text: str) -> None:
    assert terminal_safe(text) == text


@given(_TEXT)
def test_no_control_character_and_no_bidi_control_is_left(text: str) -> None:
    shown = terminal_safe(text)
    assert not [c for c in shown if unicodedata.category(c) == "Cc" and c not in "\n\t"]
    assert not [c for c in shown if unicodedata.bidirectional(c) in ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")]
    assert not re.search("[\u061c\u200e\u200f]", shown)
    assert terminal_safe(shown) == shown


@given(_TEXT, st.sampled_from(["ja", "zh", "cs", "en", "pt-BR", "th", "ar"]))
def test_segments_joined_are_the_text_again(text: str, language: str) -> None:
    assert "".join(words(text, language)) == text
    assert "".join(sentences(text, language)) == text


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("en", "Don't stop, 2 of 3.", ["Don't", "stop", "of"]),
        ("cs", "Kočka leze dírou.", ["Kočka", "leze", "dírou"]),
        ("ja", "猫が窓から見ている。", ["猫", "が", "窓", "から", "見", "て", "いる"]),
        ("zh", "我们去北京大学。", ["我们", "去", "北京", "大学"]),
    ],
)
def test_words_are_found_with_and_without_spaces(language: str, text: str, found: list[str]) -> None:
    assert [segment for segment in words(text, language) if is_word(segment)] == found


@pytest.mark.parametrize(("language", "text", "count"), [("ja", "雨だ。傘がない！", 2), ("cs", "Prší. Mám deštník? Ne!", 3), ("en", "", 0)])
def test_sentences_are_found(language: str, text: str, count: int) -> None:
    assert len(sentences(text, language)) == count


@pytest.mark.parametrize(
    ("segment", "word"), [("a", True), ("é", True), ("猫", True), ("x1", True), ("12", False), ("。", False), (" ", False), ("", False)]
)
def test_a_word_holds_a_letter(segment: str, word: bool) -> None:
    assert is_word(segment) is word


def test_the_segmenter_is_named_with_its_version() -> None:
    assert re.fullmatch(r"icu \d+(\.\d+)*", segmenter_version())


def test_a_value_stands_where_its_name_is() -> None:
    assert fill_placeholders("{first}, then {second}", first="a", second="b") == "a, then b"
    assert fill_placeholders("{second}{first}{second}", first="a", second="b") == "bab"
    assert fill_placeholders("nothing", first="a") == "nothing"


@pytest.mark.parametrize("template", ["{", "}", "{}", "{ first }", "{First}", "{first!r}", "{first", "{{other}}", "{0}", '{"score": 1}'])
def test_what_stands_in_braces_and_is_no_value_stays(template: str) -> None:
    assert fill_placeholders(template, first="a") == template


@pytest.mark.parametrize("value", ["{second}", "{first}", "{", "}", "{}", "%s", "\\1", "{first.__class__}"])
def test_values_are_never_read_as_templates(value: str) -> None:
    assert fill_placeholders("<{first}|{second}>", first=value, second="b") == f"<{value}|b>"


@given(st.text("{}ab"), st.text("{}ab"), st.text("{}ab"))
def test_putting_a_value_in_changes_nothing_else(before: str, value: str, after: str) -> None:
    assert fill_placeholders(f"{before}\0{{x}}\0{after}".replace("{a}", "").replace("{b}", ""), x=value).count("\0") == 2
    assert fill_placeholders(before + after, x=value) == before + after
