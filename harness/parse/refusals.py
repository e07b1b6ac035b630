"""Refusals: texts that open with words by which judges refuse, in any language of the lexicons."""

from __future__ import annotations

from harness.parse.vocabulary import Vocabulary, folded_opening

_OPENING_CHARACTERS = 200  # a refusal must begin within them


def is_refusal(text: str, vocabulary: Vocabulary) -> bool:
    """Return True if a text begins like a refusal. Use it only for texts without a readable score.

    >>> from harness.content.specs import Lexicon
    >>> words = Vocabulary([Lexicon(tag="en", version="1.0.0", reviewed_by=(), refusals=("i don't ~",), refused_actions=("judge",))])
    >>> [is_refusal(text, words) for text in ("“I don’t judge texts.”", "I don't like it.")]
    [True, False]
    """
    return folded_opening(text[:_OPENING_CHARACTERS]).lstrip(" \t\r\n\ufeff\"'*>「“").startswith(vocabulary.refusals)
