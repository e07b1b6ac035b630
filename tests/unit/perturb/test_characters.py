"""Marks that go and marks that are letters; typos that hit words and tear no grapheme."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest

from harness.content.lexicons import lexicon_for
from harness.content.library import bundled_lexicons
from harness.perturb import Chance, Perturbed
from harness.perturb.bundled_kinds import add_typo, adjacent_keys
from harness.segmentation import graphemes


@pytest.mark.parametrize(
    ("language", "text", "stripped"),
    [
        ("cs", "Příliš žluťoučký kůň", "Prilis zlutoucky kun"),
        ("vi", "Việt Nam, phở", "Viet Nam, pho"),
        ("el", "Καλημέρα, ϊ ΰ", "Καλημερα, ι υ"),
        ("ru", "ёлка, йод", "елка, иод"),
        ("ar", "ذَهَبَ إلى آخِرِ المَدْرَسَةِ", "ذهب إلى آخر المدرسة"),
        ("he", "שָׁלוֹם", "שלום"),
        ("ja", "café がぎぐ", "cafe がぎぐ"),
        ("pl", "łódź", "łodz"),
        ("cs", "e\u0301 z\u030c", "e z"),
    ],
)
def test_marks_go_from_letters_that_stay_letters(output: Callable[..., str], language: str, text: str, stripped: str) -> None:
    assert output("strip-diacritics", language, text) == stripped


@pytest.mark.parametrize(
    "text",
    ["がぎぐパピプ", "हिन्दी में फ़र्क़", "ภาษาไทยง่ายนิดเดียว", "한국어", "plain", "أ إ ؤ آ", "1️⃣ ❤️ 👨‍👩‍👧‍👦 🇨🇿", "2\u0301 +\u0301"],
    ids=["kana", "Devanagari", "Thai", "Hangul", "none", "hamza", "emoji", "no letters"],
)
def test_marks_that_are_letters_or_parts_of_them_stay(perturb: Callable[..., Perturbed], text: str) -> None:
    assert perturb("strip-diacritics", "en", text).applied is False


def test_what_lost_a_mark_is_counted_by_letters(perturb: Callable[..., Perturbed]) -> None:
    assert perturb("strip-diacritics", "vi", "ệ a 1").realised == {"changed": 0.5, "letters": 2.0}


@pytest.mark.parametrize(
    ("language", "text", "typed"),
    [
        ("ja", "猫が窓から外を見ている。雨は三時にやんだ。", "猫猫がが窓らか外を見見てている。雨雨は三時にやんんだだ。"),
        ("zh", "我们去北京大学，看了2023年的展览。", "们我去去京北大学学，看了2023年的展览。"),
        ("cs", "Kočka leze dírou, pes oknem; nezmoknem.", "Kočk lete dírou, pess oknem; nezmoknem."),
        ("ar", "ذَهَبَ الوَلَدُ إلى المَدْرَسَةِ، ثُمَّ عاد.", "ذَبَهَ الوَلَدُ لإى المَدْرَسَةِ، ثُمَّمَّ عاد."),
        ("th", "ภาษาไทยง่ายนิดเดียวในปี 2566", "ภาาษาไทยง่ายนิดเดียใปีปี 2566"),
        ("hi", "हिन्दी में लिखना आसान है, १२ बार।", "हिन्दीन्दी में लिखना आसा हैहै, १२ बार।"),
        ("en", "Our family 👨‍👩‍👧‍👦 went to 🇨🇿 twice 👍🏽 today.", "Or family 👨‍👩‍👧‍👦 wen to 🇨🇿 twce 👍🏽 today."),
    ],
    ids=["ja", "zh", "cs", "ar", "th", "hi", "emoji"],
)
def test_half_of_the_words_get_a_typo(output: Callable[..., str], language: str, text: str, typed: str) -> None:
    assert output("typos:0.5", language, text) == typed


def _slips(word: str, language: str) -> set[str | None]:
    keys = adjacent_keys(language, lexicon_for(language, bundled_lexicons()).keyboard)
    return {add_typo(word, keys, Chance(seed)) for seed in range(400)}


def test_all_slips_of_a_word_of_two_letters() -> None:
    assert _slips("pa", "en") == {"ap", "p", "paa", "oa", "la", "pq", "pw", "ps", "pz"}


def test_words_of_chinese_characters_are_swapped_or_doubled_only() -> None:
    assert _slips("大学", "zh") == {"学大", "大学学"}
    assert _slips("猫", "ja") == {"猫猫"}


def test_a_capital_keeps_its_place_and_its_size() -> None:
    slips = {one for one in _slips("Abb", "en") if one}
    assert all(one[0].isupper() and one[1:].islower() for one in slips)
    assert "Qbb" in slips


@pytest.mark.parametrize(("language", "beside_z"), [("en", "asx"), ("de", "gtuh"), ("fr", "aeqs")])
def test_keys_lie_where_the_language_has_them(language: str, beside_z: str) -> None:
    slips = _slips("zzz", language)
    assert {one for one in "abcdefghijklmnopqrstuvwxy" if f"{one}zz" in slips} == set(beside_z)


@pytest.mark.parametrize("language", ["ja", "ru", "not a tag"])
def test_languages_without_a_latin_keyboard_have_no_neighbouring_keys(language: str) -> None:
    assert _slips("zzz", language) == {"zz", "zzzz"}


def test_a_lexicon_brings_keys_of_any_script() -> None:
    keys = adjacent_keys("ru", ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"))
    typed = {add_typo("ппп", keys, Chance(seed)) for seed in range(400)}
    assert {one[0] for one in typed if one and one[1:] == "пп"} == set("ар" + "ен" + "ми")  # beside, above, below


def test_a_key_without_neighbours_is_never_missed() -> None:
    keys = adjacent_keys("xx", ("a",))
    assert {add_typo("aaa", keys, Chance(seed)) for seed in range(100)} == {"aa", "aaaa"}


@pytest.mark.parametrize("language", ["en", "de", "fr", "nl"], ids=["qwerty", "qwertz", "azerty", "no lexicon"])
def test_neighbours_are_mutual(language: str) -> None:
    beside = adjacent_keys(language, lexicon_for(language, bundled_lexicons()).keyboard)
    assert sorted(beside) == [chr(code) for code in range(ord("a"), ord("z") + 1)]
    assert all(one in beside[other] for one in beside for other in beside[one])


@pytest.mark.parametrize(("word", "language"), [("क्षत्रिय", "hi"), ("กำลังน้ำ", "th"), ("e\u0301te\u0301", "fr"), ("دَرَسَ", "ar")])
def test_a_typo_tears_no_grapheme(word: str, language: str) -> None:
    units = set(graphemes(word))
    for typed in _slips(word, language) - {None}:
        new = set(graphemes(typed)) - units
        assert len(new) <= 1
        assert all(unit in "abcdefghijklmnopqrstuvwxyz" for unit in new)


def test_letters_that_would_merge_are_not_swapped() -> None:
    """क् before वा is one conjunct."""
    assert "क्वा" not in _slips("वाक्", "hi")


@pytest.mark.parametrize("text", ["12 + 13", "👍🏽 👨‍👩‍👧‍👦", "…"])
def test_without_words_there_are_no_typos(perturb: Callable[..., Perturbed], text: str) -> None:
    assert perturb("typos:1", "en", text).applied is False


def test_a_word_that_no_typo_fits_hands_on_to_the_next(perturb: Callable[..., Perturbed]) -> None:
    for seed in range(10):
        typed = perturb("typos:0.5@whitespace", "ru", "12 13 да", seed=seed)
        assert typed.item.fields["output"].startswith("12 13 ")
        assert typed.realised == {"mistyped": 1 / 3, "words": 3.0}


def test_the_result_of_stripping_is_in_normal_form_c(output: Callable[..., str]) -> None:
    stripped = output("strip-diacritics", "ja", unicodedata.normalize("NFD", "č が"))
    assert stripped == "c が"
    assert unicodedata.is_normalized("NFC", stripped)
