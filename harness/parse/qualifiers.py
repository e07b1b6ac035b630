"""Tells numbers (and classes) that a text denies or only bounds from those that it gives: "not a 4", "at least 3", "3 or more", "> 3".

Words that stand before are compared word by word, those of scripts without spaces and those that stand after by patterns. What a denial
denies ends with its clause, or at a word such as "but".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.parse.normalisation import folded

_WINDOW = 80  # characters before a number that are searched
_CLAUSE_BOUNDARY = re.compile(r"[\n\0!?;:,…。！？；：，、।॥؟،؛۔(（)）\[\]|]|\.(?!\d)|\s[-–]\s|—")
_WORD_BOUNDARY = re.compile(r"[\s*_`\"'“”„«»‘’/=-]+")
_LONGEST_ARTICLE = 4
_MOST_ARTICLES = 2  # short words between a bound and its number: "more than just a"
_MOST_WORDS = 4  # of a phrase
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_COMPARISON = re.compile(r"(?:[<＜≤≥≦≧⩽⩾＞]|(?<![-=|])>|&[gl]t;|\\(?:geq?|leq?|gt|lt|geqslant|leqslant)(?![a-z]))\s{0,2}=?[\s$\\(]{0,3}\Z")
_TAG = re.compile(r"<[^<>\n]{1,80}>\s{0,2}\Z")


class Qualifiers:
    """The words of several lexicons that deny or bound a score. `unit` is a pattern of the word for points between a number and such words.

    `inferior` are words that say of a text that it is the worse one.
    """

    def __init__(
        self, denials: Sequence[str], before: Sequence[str], after: str, conjunctions: Sequence[str], inferior: str, unit: str
    ) -> None:
        self._denials, self._before, self._conjunctions = (
            frozenset(_split(word) for word in words if not _UNSPACED.search(word)) for words in (denials, before, conjunctions)
        )
        unspaced = [[folded(word) for word in words if _UNSPACED.search(word)] for words in (denials, before, conjunctions)]
        self._unspaced_denials, self._unspaced_before, self._unspaced_conjunctions = map(_compile_any, unspaced)
        marks = r"[*_`\"'”’»]{0,3}"
        self._after = re.compile(rf"{marks}(?:{unit})?{marks}\s{{0,2}}(?:{after})", re.IGNORECASE)
        self._inferior = re.compile(inferior, re.IGNORECASE)

    def qualify(self, text: str, start: int, end: int, *, denials: bool = True) -> bool:
        """Return True if a text denies or bounds the number from `start` to `end`. Without `denials`, denials before it do not count.

        >>> from harness.parse import bundled_vocabulary
        >>> qualifiers = bundled_vocabulary().qualifiers
        >>> texts = ("not a 4", "at least a 4", "> 4", "4 or more", "4 is too high", "not perfect, 4", "not perfect but 4", "a 4")
        >>> [qualifiers.qualify(text, text.index("4"), text.index("4") + 1) for text in texts]
        [True, True, True, True, True, False, False, False]
        """
        if self._after.match(text, end):
            return True
        before = text[max(0, start - _WINDOW) : start]
        if _COMPARISON.search(before) and not _TAG.search(before):
            return True
        clause = folded(_CLAUSE_BOUNDARY.split(before)[-1])
        if not clause.strip():
            return False
        if _UNSPACED.search(clause):
            if self._unspaced_before.search(clause) and self._ends_with_bound(clause):
                return True
            denied = self._unspaced_denials.search(clause)
            if denials and denied and not self._unspaced_conjunctions.search(clause, denied.end()):
                return True
        words = _split(clause)
        return _ends_with_phrase(words, self._before) or (denials and self._is_denied(words))

    def is_inferior(self, text: str, start: int, end: int) -> bool:
        """Return True if the clause of a class says that it is the worse one: "B is worse", "the loser: A"."""
        before = re.split(r"[\n.!?;,。！？；，、।]", text[max(0, start - _WINDOW) : start])[-1]
        after = _CLAUSE_BOUNDARY.split(text[end : end + _WINDOW])[0]
        return self._inferior.search(before) is not None or self._inferior.search(after) is not None

    def names_denial(self, name: str) -> bool:
        """Return True if a name, such as the key of a member, holds a denial: "not acceptable"."""
        return self._is_denied(_split(folded(name)))

    def _ends_with_bound(self, clause: str) -> bool:
        return any(not clause[match.end() :].strip(" *_`\"'“”「」") for match in self._unspaced_before.finditer(clause))

    def _is_denied(self, words: Sequence[str]) -> bool:
        for position in range(len(words) - 1, -1, -1):
            if (words[position],) in self._conjunctions:
                return False
            if any(tuple(words[position : position + length]) in self._denials for length in range(1, _MOST_WORDS + 1)):
                return True
        return False


def _ends_with_phrase(words: Sequence[str], phrases: frozenset[tuple[str, ...]]) -> bool:
    """Return True if words end with one of the phrases, perhaps with articles behind it."""
    for articles in range(min(_MOST_ARTICLES, len(words)) + 1):
        end = len(words) - articles
        if articles and len(words[end]) > _LONGEST_ARTICLE:
            return False
        if any(tuple(words[end - length : end]) in phrases for length in range(1, min(_MOST_WORDS, end) + 1)):
            return True
    return False


def _split(text: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD_BOUNDARY.split(folded(text)) if word)


def _compile_any(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word))) or r"(?!)")
