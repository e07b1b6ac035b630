"""What holds of every kind and every text: purity, nothing else touched, whole graphemes, kept normal form, true numbers."""

from __future__ import annotations

import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model import Item
from harness.perturb import Perturbation, Perturbed, Words, apply, registered
from harness.segmentation import graphemes

# Words of a script and what may stand between them. Normal form C, but for what is said otherwise.
_VOCABULARY: dict[str, tuple[list[str], list[str]]] = {
    "en": (
        ["one", "two", "three's", "naïve", "x1", "COVID-19", "12", "3.5", "👍🏽", "👨‍👩‍👧‍👦", "🇨🇿", "1️⃣"],
        [" ", ", ", ". ", "\n", " (", ") "],
    ),
    "cs": (["Kočka", "leze", "dírou", "ž", "příšerně", "1998", "¼"], [" ", ", ", "; ", "! ", "\r\n", " „"]),
    "ja": (["猫", "が", "窓", "から", "見ている", "東京タワー", "ｶﾞ", "２０２３年", "三"], ["", "、", "。", "\n", "「", "」"]),
    "zh": (["我们", "去", "北京大学", "学习", "2023", "年"], ["", "，", "。", "！", "\n"]),
    "ar": (["ذَهَبَ", "الوَلَدُ", "إلى", "المَدْرَسَةِ", "عاد", "٢٠٢٣", "ومع"], [" ", "، ", "؟ ", " \u200f"]),
    "th": (["ภาษา", "ไทย", "กำลัง", "น้ำ", "ที่นี่", "๒๕๖๖"], ["", " ", "\n", "ฯ "]),
    "hi": (["हिन्दी", "में", "क्षत्रिय", "ज़िंदगी", "१२"], [" ", "। ", ", ", "\n"]),
    "ko": (["한국어", "를", "배우다", "2023년"], [" ", ". ", ", "]),
    "fr": (["e\u0301te\u0301", "de\u0301ja\u0300", "vu", "l'eau"], [" ", " : ", ". "]),  # normal form D
}
_SCRIPTS = sorted(_VOCABULARY)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """(language, text)"""
    language = draw(st.sampled_from(_SCRIPTS))
    units, gaps = _VOCABULARY[language]
    pieces = draw(st.lists(st.tuples(st.sampled_from(units), st.sampled_from(gaps)), max_size=25))
    return language, "".join(unit + gap for unit, gap in pieces)


_ANY_TEXT = st.tuples(st.sampled_from([*_SCRIPTS, "xx"]), st.text(st.characters(codec="utf-8"), max_size=40))
_SEEDS = st.integers(0, 2**31)
_DOSES = st.floats(0.05, 0.95)
_ICU_OR_NAIVE = st.sampled_from(["icu", "whitespace"])
_POOL = (
    Item("pool-de", "de", "t", fields={"output": "Ein Haus, zwei Häuser."}),
    Item("pool-el", "el", "t", fields={"output": "Ένα σπίτι."}),
)
_KINDS = sorted(registered())
_SOME = settings(max_examples=40)


def _perturbed(name: str, language: str, text: str, dose: float, seed: int, segmenter: str = "icu") -> tuple[Item, Perturbed]:
    item = Item("i", language, "t", "dev", "g", "s", "p", {"prompt": "12 for é", "output": text, "note": ["kept"]})
    kind = registered()[name]
    perturbation = Perturbation(name, dose if kind.doses else None, segmenter if kind.heeds_segmenter else "icu")
    return item, apply(perturbation, item, _POOL, seed)


def _new(perturbed: Perturbed) -> str:
    return str(perturbed.item.fields["output"])


@pytest.mark.parametrize("name", _KINDS)
@_SOME
@given(texts() | _ANY_TEXT, _DOSES, _SEEDS, _ICU_OR_NAIVE)
def test_it_is_pure_and_touches_the_output_only(name: str, given_text: tuple[str, str], dose: float, seed: int, segmenter: str) -> None:
    item, perturbed = _perturbed(name, *given_text, dose, seed, segmenter)
    assert perturbed == _perturbed(name, *given_text, dose, seed, segmenter)[1]
    old = item.fields["output"]
    assert perturbed.applied is (_new(perturbed) != old)
    assert perturbed.item.fields == item.fields | {"output": _new(perturbed)}
    assert (perturbed.item.item_id, perturbed.item.language, perturbed.item.group) == ("i", given_text[0], "g")
    if perturbed.applied:
        assert _new(perturbed).strip()
        assert perturbed.realised
        assert all(value == value and value >= 0 for value in perturbed.realised.values())
    else:
        assert perturbed.item is item
        assert perturbed.realised == {}


@pytest.mark.parametrize("name", _KINDS)
@_SOME
@given(texts() | _ANY_TEXT, _DOSES, _SEEDS, _ICU_OR_NAIVE)
def test_normal_form_c_is_kept(name: str, given_text: tuple[str, str], dose: float, seed: int, segmenter: str) -> None:
    language, text = given_text
    composed = unicodedata.normalize("NFC", text)
    assert unicodedata.is_normalized("NFC", _new(_perturbed(name, language, composed, dose, seed, segmenter)[1]))


@pytest.mark.parametrize("name", ["shuffle-words", "drop-words", "truncate", "repeat-sentences", "number-swap"])
@_SOME
@given(texts(), _DOSES, _SEEDS, _ICU_OR_NAIVE)
def test_no_grapheme_is_torn_or_made(name: str, given_text: tuple[str, str], dose: float, seed: int, segmenter: str) -> None:
    language, text = given_text
    new = _new(_perturbed(name, language, text, dose, seed, segmenter)[1])
    made = set(graphemes(new)) - set(graphemes(text))
    if name == "number-swap":
        assert all(one.isdecimal() for one in made)
    else:
        assert made <= ({" "} if name == "repeat-sentences" else set())


@_SOME
@given(texts(), _DOSES, _SEEDS)
def test_typos_make_no_grapheme_but_letters_of_the_keyboard(given_text: tuple[str, str], dose: float, seed: int) -> None:
    language, text = given_text
    made = set(graphemes(_new(_perturbed("typos", language, text, dose, seed)[1]))) - set(graphemes(text))
    assert {one.lower() for one in made} <= set("abcdefghijklmnopqrstuvwxyz")


@pytest.mark.parametrize("segmenter", ["icu", "whitespace"])
@_SOME
@given(texts() | _ANY_TEXT, _DOSES | st.just(1.0), _SEEDS)
def test_shuffling_loses_no_character_and_adds_none(segmenter: str, given_text: tuple[str, str], dose: float, seed: int) -> None:
    language, text = given_text
    new = _new(_perturbed("shuffle-words", language, text, dose, seed, segmenter)[1])
    assert Counter(unicodedata.normalize("NFD", new)) == Counter(unicodedata.normalize("NFD", text))


@_SOME
@given(texts(), _DOSES | st.just(1.0), _SEEDS)
def test_what_is_no_word_keeps_its_place(given_text: tuple[str, str], dose: float, seed: int) -> None:
    """In scripts without spaces, words that have become neighbours may be cut otherwise; then what stands between is found in its order."""
    language, text = given_text
    words, new = Words(text, language), _new(_perturbed("shuffle-words", language, text, dose, seed)[1])
    if language in ("ja", "zh", "th"):
        rest = new
        for part in _between(words):
            _, found, rest = rest.partition(part)
            assert found
    else:
        shuffled = Words(new, language)
        assert Counter(shuffled) == Counter(words)
        assert shuffled.places == words.places
        assert _between(shuffled) == _between(words)


def _between(words: Words) -> list[str]:
    places = set(words.places)
    return [part for place, part in enumerate(words.parts) if place not in places]


@pytest.mark.parametrize(
    ("name", "share"), [("shuffle-words", "moved"), ("drop-words", "dropped"), ("typos", "mistyped"), ("truncate", "cut")]
)
@_SOME
@given(st.lists(st.text("abcdefghij", min_size=3, max_size=6), min_size=2, max_size=60, unique=True), _DOSES, _SEEDS)
def test_the_dose_is_what_was_asked_for_to_less_than_one_word(name: str, share: str, words: list[str], dose: float, seed: int) -> None:
    _, perturbed = _perturbed(name, "en", " ".join(words), dose, seed)
    assert perturbed.applied
    number = perturbed.realised[share] * len(words)
    fewest = 2 if name == "shuffle-words" else 1
    most = len(words) - (name in ("drop-words", "truncate"))
    assert abs(number - min(max(dose * len(words), fewest), most)) < 1
    after = _new(perturbed).split()
    if name == "shuffle-words":
        assert sorted(after) == sorted(words)
        assert sum(one != other for one, other in zip(words, after, strict=True)) == round(number)
    elif name == "typos":
        assert sum(one != other for one, other in zip(words, after, strict=True)) == round(number)
    else:
        assert len(words) - len(after) == round(number)
        assert [word for word in words if word in after] == after


@pytest.mark.parametrize(("name", "share"), [("drop-words", "dropped"), ("typos", "mistyped"), ("truncate", "cut")])
@_SOME
@given(texts(), _SEEDS)
def test_a_greater_dose_changes_no_fewer_words(name: str, share: str, given_text: tuple[str, str], seed: int) -> None:
    shares = [_perturbed(name, *given_text, dose, seed)[1].realised.get(share, 0.0) for dose in (0.1, 0.4, 0.8)]
    assert shares == sorted(shares)
