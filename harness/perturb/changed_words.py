"""Changed words: another order, missing words, others of the same meaning, and texts that end too early."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

from harness.model import Item
from harness.perturb.kind import Chance, Change, Doses, Kind, dosed_count
from harness.perturb.segments import Words

# Digits of any script, with marks inside as in 1,234.5 or 10:30 or 2024-05-01.
_NUMBER = re.compile(r"\d+(?:[.,:/٫٬’'-]\d+)*")

# Letters of scripts that write spaces around numbers, and the signs inside identifiers: the 19 of "COVID-19", the 5 of "x_5" and the 2.0
# of "v2.0" are not numbers. Japanese, Chinese, Thai and Korean letters may touch a number: 2023年.
_LETTER = r"A-Za-zªµº\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u052f\u1d00-\u1fff"
_IDENTIFIER = re.compile(rf"[{_LETTER}\d._@#/\\:&=+-]+")
_HAS_LETTER = re.compile(rf"[{_LETTER}_@#\\]")

# A digit and a mark may form one emoji (a keycap); any other mark after a digit belongs to it as well.
_MARKS = ("Mn", "Me", "Mc", "Cf")


def number_swap(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Change the chosen numbers, at least one, to others with as many digits, in the same script and with the same marks inside.

    A number without leading zeros gets none. Numerals that are words (three, 三) stay: 一 is a part of many words that are not numbers.
    Realised: `changed`, the share of numbers; `numbers`, their number.
    """
    # The (start, end) of every number that is not inside a word or identifier and not a part of an emoji.
    identifiers = [match.span() for match in _IDENTIFIER.finditer(words.text) if _HAS_LETTER.search(match[0])]
    spans: list[tuple[int, int]] = []
    next_identifier = 0
    for match in _NUMBER.finditer(words.text):
        while next_identifier < len(identifiers) and identifiers[next_identifier][1] <= match.start():
            next_identifier += 1
        in_identifier = next_identifier < len(identifiers) and identifiers[next_identifier][0] < match.end()
        marked = match.end() < len(words.text) and unicodedata.category(words.text[match.end()]) in _MARKS
        if not in_identifier and not marked:
            spans.append(match.span())
    if not spans:
        return None
    chance = Chance(seed)
    chosen = sorted(chance.some(len(spans), max(1, dosed_count(dose, len(spans)))))
    pieces: list[str] = []
    end = 0
    for number in chosen:
        start, stop = spans[number]
        pieces += [words.text[end:start], _other_number(words.text[start:stop], chance)]
        end = stop
    return Change("".join([*pieces, words.text[end:]]), {"changed": len(chosen) / len(spans), "numbers": float(len(spans))})


def _other_number(number: str, chance: Chance) -> str:
    """Return a different number with as many digits. Leading zeros stay: 0.5 becomes 0.7, and 007 becomes 003."""
    digits = [position for position, character in enumerate(number) if character.isdecimal()]
    zeros = next((n for n, position in enumerate(digits) if unicodedata.decimal(number[position])), len(digits) - 1)
    characters = list(number)
    for position in digits[zeros + 1 :]:
        characters[position] = _digit(number[position], chance.below(10))
    first = digits[zeros]  # always a different digit, and never 0
    old = unicodedata.decimal(number[first])
    characters[first] = _digit(number[first], chance.pick([digit for digit in range(1, 10) if digit != old]))
    return "".join(characters)


def _digit(like: str, value: int) -> str:
    """Return the digit `value` in the script of the digit `like`. Every script has its digits in a row, from 0 to 9."""
    return chr(ord(like) - unicodedata.decimal(like) + value)


NUMBER_SWAP = Kind(
    name="number-swap",
    summary="some numbers become others of as many digits",
    doses=Doses(0.5, 0.05, 1.0),
    heeds_segmenter=False,
    moves={"hallucination": -1, "linguistic_acceptability": 0, "problematic_content": 0},
    perturb=number_swap,
)


def shuffle_words(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Exchange the chosen words, at least two; everything else stays in its place.

    Every chosen place gets a different word if such an exchange exists. This needs that no word is more than half of the chosen ones;
    otherwise as many places as possible get a different word. Realised: `moved`, the share of words whose place now holds another word;
    `distance`, the mean distance of these moves in words; `words`, their number.
    """
    parts, word_positions = words.parts, words.places
    if len(word_positions) < 2:
        return None
    chance = Chance(seed)
    text_words = [parts[position] for position in word_positions]
    groups = _group_by_word(text_words, chance.some(len(text_words), max(2, dosed_count(dose, len(text_words)))))
    if len(groups) == 1:  # the chosen words are all the same: another word has to join, if the text has one
        [(only_word, chosen)] = groups.items()
        other_numbers = [number for number, word in enumerate(text_words) if word != only_word]
        if not other_numbers:
            return None
        groups = _group_by_word(text_words, [*chosen[:-1], chance.pick(other_numbers)])
    order = [number for group in groups.values() for number in group]
    step = max(map(len, groups.values()))  # equal words are neighbours in `order`, so this step leads out of every group
    changed = list(parts)
    distances = []
    for number, source in zip(order, order[step:] + order[:step], strict=True):
        if text_words[number] != text_words[source]:
            changed[word_positions[number]] = text_words[source]
            distances.append(abs(number - source))
    moved, distance = len(distances) / len(text_words), sum(distances) / len(distances)
    return Change("".join(changed), {"moved": moved, "distance": distance, "words": float(len(text_words))})


def _group_by_word(words: Sequence[str], chosen: Sequence[int]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for number in chosen:
        groups.setdefault(words[number], []).append(number)
    return groups


def drop_words(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Remove the chosen words, at least one and never all, each with one of the spaces around it.

    Realised: `dropped`, the share of words; `words`, their number.
    """
    count = len(words)
    if count < 2:
        return None
    dropped = Chance(seed).some(count, min(max(1, dosed_count(dose, count)), count - 1))
    word_positions = words.places
    text = _without(words.parts, {word_positions[number] for number in dropped}, set(word_positions))
    return Change(text, {"dropped": len(dropped) / count, "words": float(count)})


def _without(parts: Sequence[str], dropped: set[int], word_positions: set[int]) -> str:
    """Return the text without some words. The space before a word goes too, unless another word needs it; the first word takes the next
    space.
    """
    remaining: list[int] = []
    skipped = -1
    for position in range(len(parts)):
        if position == skipped:
            continue
        if position not in dropped:
            remaining.append(position)
            continue
        after = position + 1
        if remaining and _is_space(parts[remaining[-1]]) and after not in word_positions:
            remaining.pop()
        elif after < len(parts) and _is_space(parts[after]) and (not remaining or remaining[-1] not in word_positions):
            skipped = after
    return "".join(parts[position] for position in remaining)


def _is_space(part: str) -> bool:
    return part.isspace() and "\n" not in part and "\r" not in part


def truncate(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Cut off the last words, at least one and never all, with everything between and after them: the text ends with a word.

    Realised: `cut`, the share of words; `characters`, the share of characters (code points); `words`, the number of words.
    """
    count = len(words)
    if count < 2:
        return None
    cut = min(max(1, dosed_count(dose, count)), count - 1)
    text = "".join(words.parts[: words.places[count - cut - 1] + 1])
    return Change(text, {"cut": cut / count, "characters": 1 - len(text) / len(words.text), "words": float(count)})


def swap_synonyms(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Exchange the chosen words for others of their group in the lexicon, at least one. The dose counts words that have a group.

    Case is kept: of a first letter, and of a whole word. Realised: `exchanged`, the share of all words; `words`, their number.
    """
    groups = _group_of(words.lexicon.synonyms)
    parts = list(words.parts)
    replaceable = [position for position in words.places if parts[position].casefold() in groups]
    if not replaceable:
        return None
    chosen = Chance(seed).some(len(replaceable), max(1, dosed_count(dose, len(replaceable))))
    for number in chosen:  # each word has its own seed, so that a greater dose repeats a smaller one
        word = parts[replaceable[number]]
        synonyms = [other for other in groups[word.casefold()] if other.casefold() != word.casefold()]
        # The other word with the capitals of a word.
        other = Chance(seed + number).pick(synonyms)
        if len(word) > 1 and word.isupper():
            parts[replaceable[number]] = other.upper()
        else:
            parts[replaceable[number]] = other[:1].upper() + other[1:] if word[:1].isupper() else other
    return Change("".join(parts), {"exchanged": len(chosen) / len(words), "words": float(len(words))})


@lru_cache(maxsize=64)
def _group_of(groups: tuple[tuple[str, ...], ...]) -> Mapping[str, tuple[str, ...]]:
    return {word.casefold(): group for group in groups for word in group}


SHUFFLE_WORDS = Kind(
    name="shuffle-words",
    summary="some words exchange their places",
    doses=Doses(0.1, 0.05, 1.0),
    heeds_segmenter=True,
    moves={"linguistic_acceptability": -1, "output_content_quality": -1, "problematic_content": 0},
    perturb=shuffle_words,
)
DROP_WORDS = Kind(
    name="drop-words",
    summary="some words are left out",
    doses=Doses(0.1, 0.05, 1.0),
    heeds_segmenter=True,
    moves={"linguistic_acceptability": -1, "problematic_content": 0},
    perturb=drop_words,
)
TRUNCATE = Kind(
    name="truncate",
    summary="the end is cut off, at a word",
    doses=Doses(0.5, 0.05, 0.95),
    heeds_segmenter=True,
    moves={"task_quality": -1, "output_content_quality": -1, "problematic_content": 0, "hallucination": 0},
    perturb=truncate,
)
SWAP_SYNONYMS = Kind(
    name="swap-synonyms",
    summary="some words become others of nearly the same meaning, by the language's lexicon",
    doses=Doses(0.5, 0.05, 1.0),
    heeds_segmenter=True,
    moves={"problematic_content": 0, "hallucination": 0},
    perturb=swap_synonyms,
)
