"""The words of a text that differ from another text, as places that a page marks."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import accumulate

from harness.text import words


def changed_words(original: str, altered: str, language: str) -> list[tuple[int, int]]:
    """Return the (start, end) of the parts of the altered text that are not in the original, in characters; words stay whole.

    A part that is missing from the altered text has no place in it.

    >>> changed_words("The film was good.", "The movie was good.", "en")
    [(4, 9)]
    >>> changed_words("Same.", "Same.", "en"), changed_words("one two three", "one three", "en")
    ([], [])
    """
    before, after = words(original, language), words(altered, language)
    starts = [0, *accumulate(map(len, after))]
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(starts[low], starts[high]) for kind, _, _, low, high in steps if kind in ("replace", "insert")]
