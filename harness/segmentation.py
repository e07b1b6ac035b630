"""Segmentation of texts into words, sentences and graphemes by ICU (`icu4py`), in every language.

Splitting at spaces would find no words in Japanese.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache


def words(text: str, language: str) -> list[str]:
    """Return all segments of `text` in order: words and what is between them. Joined, they are the text."""
    from icu4py.breakers import WordBreaker

    return list(WordBreaker(text, language))


def is_word(segment: str) -> bool:
    """Return True if a segment is a word, that is, contains a letter. Digits and punctuation are not words."""
    return any(unicodedata.category(character)[0] == "L" for character in segment)


def sentences(text: str, language: str) -> list[str]:
    """Return the sentences of `text`, each with the white space after it. Joined, they are the text."""
    from icu4py.breakers import SentenceBreaker

    return list(SentenceBreaker(text, language))


def graphemes(text: str) -> list[str]:
    """Return the characters as readers see them: a letter with its marks, an emoji, a flag. Joined, they are the text.

    >>> graphemes("नी👍🏽🇨🇿")
    ['नी', '👍🏽', '🇨🇿']
    """
    from icu4py.breakers import CharacterBreaker

    return list(CharacterBreaker(text, ""))


@lru_cache(maxsize=1 << 14)
def extends(character: str) -> bool:
    """Return True if a character always joins the grapheme before it, like combining marks, vowel signs and joiners.

    >>> extends("\\u0301"), extends("\u0e33"), extends("a")
    (True, True, False)
    """
    return len(graphemes("a" + character)) == 1


def segmenter_version() -> str:
    """Return the version of ICU, e.g. `icu 77.1`."""
    import icu4py

    return f"icu {icu4py.icu_version}"
