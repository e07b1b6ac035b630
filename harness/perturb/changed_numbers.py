"""Changed numbers: some numbers of a text become others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

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
    spans = _number_spans(words.text)
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


def _number_spans(text: str) -> list[tuple[int, int]]:
    """The (start, end) of every number that is not inside a word or identifier and not a part of an emoji."""
    identifiers = [match.span() for match in _IDENTIFIER.finditer(text) if _HAS_LETTER.search(match[0])]
    spans: list[tuple[int, int]] = []
    next_identifier = 0
    for match in _NUMBER.finditer(text):
        while next_identifier < len(identifiers) and identifiers[next_identifier][1] <= match.start():
            next_identifier += 1
        in_identifier = next_identifier < len(identifiers) and identifiers[next_identifier][0] < match.end()
        marked = match.end() < len(text) and unicodedata.category(text[match.end()]) in _MARKS
        if not in_identifier and not marked:
            spans.append(match.span())
    return spans


def _other_number(number: str, chance: Chance) -> str:
    """A different number with as many digits. Leading zeros stay: 0.5 becomes 0.7, and 007 becomes 003."""
    digits = [place for place, character in enumerate(number) if character.isdecimal()]
    zeros = next((n for n, place in enumerate(digits) if unicodedata.decimal(number[place])), len(digits) - 1)
    characters = list(number)
    for place in digits[zeros + 1 :]:
        characters[place] = _digit(number[place], chance.below(10))
    first = digits[zeros]  # always a different digit, and never 0
    old = unicodedata.decimal(number[first])
    characters[first] = _digit(number[first], chance.pick([digit for digit in range(1, 10) if digit != old]))
    return "".join(characters)


def _digit(like: str, value: int) -> str:
    """The digit `value` in the script of the digit `like`. Every script has its digits in a row, from 0 to 9."""
    return chr(ord(like) - unicodedata.decimal(like) + value)


NUMBER_SWAP = Kind(
    name="number-swap",
    summary="some numbers become others of as many digits",
    doses=Doses(0.5, 0.05, 1.0),
    heeds_segmenter=False,
    moves={"hallucination": -1, "linguistic_acceptability": 0, "problematic_content": 0},
    perturb=number_swap,
)
