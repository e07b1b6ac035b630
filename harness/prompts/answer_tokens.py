"""How many tokens an answer may have: enough for the longest one that its schema allows, by language (`max_tokens` of a call)."""

from __future__ import annotations

import langcodes

from harness.model import Variant
from harness.prompts.answer_schema import JUSTIFICATION_CHARACTERS, MAX_SPANS, SPAN_CHARACTERS

_EXPLAINED_CHARACTERS = 400  # of a text with an explanation; it may be cut, as its score comes first
_SPAN_TOKENS = 20  # for the braces, keys and severity of an error
_JSON_TOKENS = 40  # for braces, keys, white space and the score itself
_TOKENS_PER_CHARACTER = {"Latn": 2}  # letters with diacritics take several tokens of an English vocabulary
_DEFAULT_TOKENS_PER_CHARACTER = 3


def most_tokens(variant: Variant, language: str, metrics: int) -> int:
    """Return enough tokens for the longest answer that the schema allows, so that its JSON is never cut off; a limit for texts."""
    per_character = tokens_for(language, 1)
    if variant.answer == "text":
        return per_character * (_EXPLAINED_CHARACTERS if variant.explain else JUSTIFICATION_CHARACTERS)
    if variant.answer == "spans":
        return _JSON_TOKENS + MAX_SPANS * (_SPAN_TOKENS + SPAN_CHARACTERS * per_character)
    characters = 0 if variant.justification == "none" else JUSTIFICATION_CHARACTERS
    return metrics * (_JSON_TOKENS + characters * per_character)


def tokens_for(language: str, characters: int) -> int:
    """Return the most tokens that so many characters of a text in this language take."""
    script = langcodes.get(language).maximize().script or ""
    return characters * _TOKENS_PER_CHARACTER.get(script, _DEFAULT_TOKENS_PER_CHARACTER)
