"""What depends on script rather than on meaning: words, sentences, and text that is safe to show in a terminal.

Words and sentences are what ICU says (`icu4py`), for every language alike: splitting Japanese on spaces finds no words.
"""

from __future__ import annotations

import re
import unicodedata

# C0 and C1 controls except tab and newline, and what reorders or hides text: bidi marks, overrides and isolates, the byte-order mark.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def plain(text: str) -> str:
    """Text without control characters, escape sequences' lead-ins and bidi controls: safe in a terminal.

    >>> plain("a\\x1b[31mb\\u202ec")
    'a[31mbc'
    """
    return _UNSAFE.sub("", text)


def words(text: str, language: str) -> list[str]:
    """All segments of `text` in order, words and what stands between them; joined they are the text again."""
    from icu4py.breakers import WordBreaker

    return [str(segment) for segment in WordBreaker(text, language)]


def is_word(segment: str) -> bool:
    """Whether a segment is a word: it holds a letter (digits and punctuation are not words)."""
    return any(unicodedata.category(character)[0] == "L" for character in segment)


def sentences(text: str, language: str) -> list[str]:
    """The sentences of `text`, each with the white space that follows it; joined they are the text again."""
    from icu4py.breakers import SentenceBreaker

    return [str(segment) for segment in SentenceBreaker(text, language)]


def segmenter_version() -> str:
    """Which ICU cuts the words, e.g. `icu 77.1`."""
    import icu4py

    return f"icu {icu4py.icu_version}"
