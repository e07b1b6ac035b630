"""Exchanged words: some words become others that may stand in their place, by the lexicon of the language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from harness.model import Item
from harness.perturb.chance import Chance, dosed_count
from harness.perturb.kind import Change, Doses, Kind
from harness.perturb.segments import Words


def swap_synonyms(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Exchange the chosen words for others of their group in the lexicon, at least one. The dose counts words that have a group.

    Case is kept: of a first letter, and of a whole word. Realised: `exchanged`, the share of all words; `words`, their number.
    """
    groups = _group_of(words.lexicon.synonyms)
    parts = list(words.parts)
    known = [place for place in words.places if parts[place].casefold() in groups]
    if not known:
        return None
    chosen = Chance(seed).some(len(known), max(1, dosed_count(dose, len(known))))
    for number in chosen:  # each word has its own seed, so that a greater dose repeats a smaller one
        word = parts[known[number]]
        others = [other for other in groups[word.casefold()] if other.casefold() != word.casefold()]
        parts[known[number]] = _in_case_of(word, Chance(seed + number).pick(others))
    return Change("".join(parts), {"exchanged": len(chosen) / len(words), "words": float(len(words))})


@lru_cache(maxsize=64)
def _group_of(groups: tuple[tuple[str, ...], ...]) -> Mapping[str, tuple[str, ...]]:
    return {word.casefold(): group for group in groups for word in group}


def _in_case_of(word: str, other: str) -> str:
    """The other word with the capitals of a word.

    >>> _in_case_of("Small", "little"), _in_case_of("SMALL", "little"), _in_case_of("small", "little")
    ('Little', 'LITTLE', 'little')
    """
    if len(word) > 1 and word.isupper():
        return other.upper()
    return other[:1].upper() + other[1:] if word[:1].isupper() else other


SWAP_SYNONYMS = Kind(
    name="swap-synonyms",
    summary="some words become others of nearly the same meaning, by the language's lexicon",
    doses=Doses(0.5, 0.05, 1.0),
    heeds_segmenter=True,
    moves={"problematic_content": 0, "hallucination": 0},
    perturb=swap_synonyms,
)
