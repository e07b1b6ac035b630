"""Sentences that are said twice."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from harness.model import Item
from harness.perturb.chance import Chance, number_of
from harness.perturb.kind import Change, Doses, Kind
from harness.perturb.segments import Words
from harness.text import extends, is_word, sentences

_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO")  # no space after a sentence


def repeat_sentences(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """The chosen sentences, at least one, are said again right after. Sentences are ICU's; lines without a letter do not count.

    Realised: `repeated`, the share of sentences; `sentences`, how many there were.
    """
    parts = sentences(words.text, item.language)
    spoken = [place for place, part in enumerate(parts) if is_word(part) and not extends(part[0])]
    if not spoken:
        return None
    number = max(1, number_of(dose, len(spoken)))
    chosen = {spoken[one] for one in Chance(seed).some(len(spoken), number)}
    text = "".join(_twice(part) if place in chosen else part for place, part in enumerate(parts))
    return Change(text, {"repeated": number / len(spoken), "sentences": float(len(spoken))})


def _twice(sentence: str) -> str:
    """A sentence and itself; the last of a text ends without a space, so one is put between where the script has any."""
    if sentence[-1].isspace():
        return sentence * 2
    letter = next(character for character in reversed(sentence) if character.isalpha())
    return sentence + ("" if unicodedata.name(letter, "").startswith(_UNSPACED) else " ") + sentence


REPEAT_SENTENCES = Kind(
    name="repeat-sentences",
    summary="some sentences are said twice in a row",
    doses=Doses(0.25, 0.05, 1.0),
    heeds_segmenter=False,
    moves={"output_content_quality": -1, "problematic_content": 0, "hallucination": 0},
    perturb=repeat_sentences,
)
