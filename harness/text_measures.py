"""Properties of a text that can be computed: words, vowels and reading ease, which are the truth of the control questions about two texts;
how long people read.

Vowels and the constants of reading ease are language data: `vowels` and `[reading_ease]` in a language's lexicon.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any

from harness.content.specs import Lexicon
from harness.content.tags import likely_script
from harness.errors import UsageError
from harness.segmentation import is_word, sentences, words

Measure = Callable[[str, str, Lexicon], float]

# How fast people read: letters a second, by whether a letter is about a word or a sound. A first guess; the page measures its reader.
_LETTERS_A_SECOND = {True: 6.0, False: 16.0}
_WORD_SCRIPTS = {"Hans", "Hant", "Jpan", "Kore"}
_SECONDS_A_QUESTION = 8.0


def count_words(text: str, language: str, lexicon: Lexicon) -> float:
    """Return how many words a text has, by ICU's word breaks.

    >>> count_words("東京と大阪", "ja", Lexicon(tag="ja", version="1.0.0", reviewed_by=()))
    3.0
    """
    return float(sum(map(is_word, words(text, language))))


def count_vowels(text: str, language: str, lexicon: Lexicon) -> float:
    """Return how many letters of a text are among the lexicon's `vowels`; case does not matter.

    Raises UsageError for a language that is not written with vowel letters, or whose lexicon names none.

    >>> count_vowels("Kůň Eva", "cs", Lexicon(tag="cs", version="1.0.0", reviewed_by=(), vowels="aeiouyů"))
    3.0
    """
    if not lexicon.vowels:
        raise UsageError(
            f"vowels cannot be counted in '{language}': its lexicon names no vowel letters, as where words are not written with them; "
            "ask another control question"
        )
    vowels = frozenset(lexicon.vowels.casefold())
    return float(sum(character in vowels for character in unicodedata.normalize("NFC", text).casefold()))


def reading_ease(text: str, language: str, lexicon: Lexicon) -> float:
    """Return Flesch's reading ease with the constants of the language; higher is easier, mostly between 0 and 100.

    base - words_factor * (words / sentence) - syllables_factor * (syllables / word). Syllables are the parts into which hyphenation
    patterns divide a word (`pyphen`), so they are a few too low; the same for all texts.

    NaN for a text without words. Raises UsageError for a language without a published formula in its lexicon, and where `pyphen` is not
    installed.

    Reference: Flesch (1948); each lexicon names the source of its constants.
    """
    formula = lexicon.reading_ease
    if formula is None:
        raise UsageError(
            f"readability cannot be computed in '{language}': its lexicon has no published formula of reading ease; "
            "ask another control question"
        )
    text_words = [word for word in words(text, language) if is_word(word)]
    hyphenation = _hyphenation(formula.hyphenation)
    if not text_words:
        return math.nan
    syllables = sum(len(hyphenation.positions(word)) + 1 for word in text_words)
    per_sentence = len(text_words) / max(1, sum(any(map(is_word, words(sentence, language))) for sentence in sentences(text, language)))
    return formula.base - formula.words_factor * per_sentence - formula.syllables_factor * syllables / len(text_words)


@cache
def _hyphenation(name: str) -> Any:
    try:
        import pyphen
    except ImportError:
        raise UsageError("readability needs the package 'pyphen': pip install 'judge-harness[readability]'") from None
    return pyphen.Pyphen(lang=name)


CONTROL_MEASURES: dict[str, Measure] = {"longer": count_words, "more_vowels": count_vowels, "more_readable": reading_ease}
"""The measure that decides each control question: the metric's name, and what is greater in the right text."""


def control_answer(metric: str, text_a: str, text_b: str, language: str, lexicon: Lexicon) -> str | None:
    """Return the right answer, `A` or `B`, to a control question about two texts; None if the measure is equal, or undefined for one of
    them.

    Raises UsageError for a metric that is no control question, and where the language has no such measure.

    >>> control_answer("longer", "Two words", "Now three words", "en", Lexicon(tag="en", version="1.0.0", reviewed_by=()))
    'B'
    """
    if metric not in CONTROL_MEASURES:
        raise UsageError(f"'{metric}' is not a control question; choose from {', '.join(CONTROL_MEASURES)}")
    a, b = (CONTROL_MEASURES[metric](text, language, lexicon) for text in (text_a, text_b))
    return None if a == b or math.isnan(a + b) else "A" if a > b else "B"


def control_refusal(metric: str, language: str, lexicon: Lexicon) -> str | None:
    """Return why a control question cannot be asked in a language; None if it can.

    >>> control_refusal("longer", "en", Lexicon(tag="en", version="1.0.0", reviewed_by=()))
    """
    try:
        CONTROL_MEASURES[metric]("", language, lexicon)
    except UsageError as err:
        return str(err)
    return None


def reading_seconds(letters: int, language: str, questions: int) -> float:
    """About how long a first reading of so many letters and the answers to so many questions take.

    >>> reading_seconds(160, "cs", 1), reading_seconds(60, "ja", 0)
    (18.0, 10.0)
    """
    return letters / _LETTERS_A_SECOND[likely_script(language) in _WORD_SCRIPTS] + _SECONDS_A_QUESTION * questions
