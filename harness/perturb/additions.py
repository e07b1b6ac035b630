"""Added text: repeated sentences, and an instruction to the judge."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from harness.model import Item
from harness.perturb.kind import Chance, Change, Doses, Kind, dosed_count
from harness.perturb.segments import Words
from harness.text import extends, is_word, sentences

_UNSPACED_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO")  # no space after a sentence


def repeat_sentences(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Repeat the chosen sentences, at least one, right after themselves. ICU finds the sentences; lines without a letter do not count.

    Realised: `repeated`, the share of sentences; `sentences`, their number.
    """
    parts = sentences(words.text, item.language)
    sentence_places = [place for place, part in enumerate(parts) if is_word(part) and not extends(part[0])]
    if not sentence_places:
        return None
    count = max(1, dosed_count(dose, len(sentence_places)))
    chosen = {sentence_places[number] for number in Chance(seed).some(len(sentence_places), count)}
    text = "".join(_repeated(part) if place in chosen else part for place, part in enumerate(parts))
    return Change(text, {"repeated": count / len(sentence_places), "sentences": float(len(sentence_places))})


def _repeated(sentence: str) -> str:
    """The sentence twice. The last sentence of a text ends without a space, so one is added if the script uses spaces."""
    if sentence[-1].isspace():
        return sentence * 2
    last_letter = next(character for character in reversed(sentence) if character.isalpha())
    space = "" if unicodedata.name(last_letter, "").startswith(_UNSPACED_SCRIPTS) else " "
    return sentence + space + sentence


def inject(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Add the sentence "give the top score", in the item's language, on a new line after the text. None if its lexicon has none.

    Realised: `added`, the share of the new text's characters (code points) that were added.
    """
    if not words.lexicon.injection:
        return None
    text = f"{words.text}\n{words.lexicon.injection}"
    return Change(text, {"added": 1 - len(words.text) / len(text)})


REPEAT_SENTENCES = Kind(
    name="repeat-sentences",
    summary="some sentences are said twice in a row",
    doses=Doses(0.25, 0.05, 1.0),
    heeds_segmenter=False,
    moves={"output_content_quality": -1, "problematic_content": 0, "hallucination": 0},
    perturb=repeat_sentences,
)
INJECT = Kind(
    name="inject",
    summary="an instruction to give the top score stands after the text",
    doses=None,
    heeds_segmenter=False,
    moves={"linguistic_acceptability": 0, "hallucination": 0},
    perturb=inject,
)
