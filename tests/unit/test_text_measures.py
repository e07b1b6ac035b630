"""Words, vowels and reading ease: counted by hand, in the languages that have them."""

from __future__ import annotations

import pytest

from harness.content.lexicons import lexicon_complaints
from harness.content.library import Library
from harness.content.specs import Lexicon, ReadingEase
from harness.errors import UsageError
from harness.text_measures import CONTROL_MEASURES, control_answer, control_refusal, count_vowels, reading_ease

LIBRARY = Library()


def lexicon(tag: str) -> Lexicon:
    return LIBRARY.lexicons[tag]


def test_reading_ease_is_the_formula_of_the_language() -> None:
    # 6 words, 1 sentence, 6 syllables: 206.835 - 1.015 * 6 - 84.6 * 1
    assert reading_ease("The cat sat on the mat.", "en", lexicon("en")) == pytest.approx(116.145)
    # 4 words in 2 sentences, Kat-ze and spie-len have two syllables: 180 - 2 - 58.5 * 6 / 4
    assert reading_ease("Die Katze. Wir spielen.", "de", lexicon("de")) == pytest.approx(90.25)


@pytest.mark.parametrize(
    ("tag", "text", "vowels"),
    [("cs", "Příliš žluťoučký kůň", 7), ("fr", "Un œuf, où ?", 5), ("de", "Über Öl", 3), ("pt-BR", "pão à noite", 6)],
)
def test_vowels_are_counted_with_their_marks(tag: str, text: str, vowels: int) -> None:
    assert count_vowels(text, tag, lexicon(tag)) == vowels


@pytest.mark.parametrize("tag", ["ja", "zh"])
@pytest.mark.parametrize(("metric", "reason"), [("more_vowels", "no vowel letters"), ("more_readable", "no published formula")])
def test_a_language_without_the_measure_refuses_the_question(tag: str, metric: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        control_answer(metric, "猫です。", "犬です。", tag, lexicon(tag))


def test_equal_texts_have_no_right_answer_and_other_metrics_no_truth() -> None:
    assert [control_answer(metric, "One two.", "One two.", "en", lexicon("en")) for metric in CONTROL_MEASURES] == [None] * 3
    with pytest.raises(UsageError, match="not a control question"):
        control_answer("preference", "a", "b", "en", lexicon("en"))
    assert control_answer("more_readable", "1 2 3", "One.", "en", lexicon("en")) is None, "a text without words has no reading ease"


def test_why_a_question_cannot_be_asked_is_known_without_texts() -> None:
    assert control_refusal("more_readable", "en", lexicon("en")) is control_refusal("longer", "ja", lexicon("ja")) is None
    assert "no vowel letters" in str(control_refusal("more_vowels", "ja", lexicon("ja")))


def test_every_formula_has_patterns_that_divide_words() -> None:
    for tag, one in LIBRARY.lexicons.items():
        if isinstance(one.reading_ease, ReadingEase):
            assert reading_ease("Internationale Organisation.", tag, one) < reading_ease("Hut.", tag, one)


def test_vowels_are_different_letters() -> None:
    assert [message for message, _ in lexicon_complaints(Lexicon(tag="x", version="1.0.0", reviewed_by=(), vowels="aa"))] != []
