"""A kind of perturbation: its doses, its expected effect on scores, the pure function that changes a text, and what that function uses.

The segmenter `icu` finds words in every script. The segmenter `whitespace` splits at white space and counts punctuation as a part of
words. It exists to show what this naive way does to scripts without spaces.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import Literal, NamedTuple, Protocol, TypeVar

import msgspec

from harness.content.lexicons import NO_WORDS
from harness.content.specs import Lexicon
from harness.model import Item
from harness.segmentation import extends, is_word, words

SEGMENTERS = ("icu", "whitespace")

_OTHER, _WORD, _CONTINUED = 0, 1, 2  # roles of a part; _CONTINUED: it continues the grapheme before it


class SplitText(NamedTuple):
    """`parts` joined are the text. `places` are the indices of the parts that are words."""

    parts: tuple[str, ...]
    places: tuple[int, ...]


class Words:
    """One output text of an item, split into words on first use. `lexicon` belongs to its language; it is empty if there is none."""

    def __init__(self, text: str, language: str, segmenter: str = "icu", field: str = "output", lexicon: Lexicon = NO_WORDS) -> None:
        self.text, self.language, self.segmenter, self.field, self.lexicon = text, language, segmenter, field, lexicon

    @property
    def parts(self) -> tuple[str, ...]:
        """All parts in order, words and others. Joined they are the text."""
        return split_text(self.text, self.language, self.segmenter).parts

    @property
    def places(self) -> tuple[int, ...]:
        """The indices of the words in `parts`."""
        return split_text(self.text, self.language, self.segmenter).places

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[str]:
        parts = self.parts
        return (parts[position] for position in self.places)


# The doses and seeds of one text follow each other, so a small cache is enough.
@lru_cache(maxsize=16)
def split_text(text: str, language: str, segmenter: str) -> SplitText:
    """Split a text. No part begins inside a grapheme, so parts may change places."""
    if segmenter == "icu":
        parts = words(text, language)
        roles = list(map(_role, parts))
    else:
        parts = [part for part in re.split(r"(\s+)", text) if part]
        roles = [_OTHER if part.isspace() else _CONTINUED if extends(part[0]) else _WORD for part in parts]
    if _CONTINUED in roles:
        # Join parts that continue a grapheme to the part before them. At the start of a text or line such a part is not a word.
        joined: list[str] = []
        joined_roles: list[int] = []
        for part, role in zip(parts, roles, strict=True):
            if role == _CONTINUED and joined and not joined[-1].endswith(("\n", "\r")):
                joined[-1] += part
            else:
                joined.append(part)
                joined_roles.append(_OTHER if role == _CONTINUED else role)
        parts, roles = joined, joined_roles
    return SplitText(tuple(parts), tuple(compress(range(len(parts)), roles)))


@lru_cache(maxsize=1 << 16)
def _role(part: str) -> int:
    return _CONTINUED if extends(part[0]) else int(is_word(part))


Direction = Literal[-1, 0, 1]
T = TypeVar("T")


class Doses(NamedTuple):
    """The doses of a kind. The range includes both ends."""

    default: float
    least: float
    most: float


class Change(NamedTuple):
    """A changed text, and the size of the change, under names that the kind chooses. Shares are in [0, 1]."""

    text: str
    realised: dict[str, float]


class Perturb(Protocol):
    """Changes `words.text`, one output text of `item`. Returns None if the text cannot be changed.

    The function is pure: equal arguments give equal results on every platform. `seed` already depends on the run's seed, the item and the
    text, so `Chance(seed)` is enough. `dose` is None for kinds without doses. `pool` holds the items from which a text may be taken.
    """

    def __call__(self, item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None: ...


class Kind(msgspec.Struct, frozen=True):
    """One kind of perturbation."""

    name: str
    summary: str
    doses: Doses | None
    heeds_segmenter: bool  # whether it works on words
    moves: Mapping[str, Direction]  # metrics whose scores should fall (-1), stay (0) or rise (1); others may do anything
    perturb: Perturb
    broken: str = ""  # why a plug-in cannot be loaded


class Chance:
    """Draws from a seed, the same on all platforms: it uses only `Random.random`, the one method whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, count: int) -> int:
        """Return a number from 0 to `count` - 1. `count` is at least 1."""
        return int(self._random() * count)

    def pick(self, among: Sequence[T]) -> T:
        """Return one element of a sequence that is not empty."""
        return among[self.below(len(among))]

    def some(self, count: int, wanted: int) -> list[int]:
        """Return `wanted` different numbers below `count`, in random order.

        With the same seed, a smaller `wanted` gives the first numbers of a larger one: a greater dose chooses all that a smaller one does.
        """
        remaining = list(range(count))
        draw = self._random
        chosen = []
        for size in range(count, count - wanted, -1):  # the last remaining number takes the place of the chosen one
            position = int(draw() * size)
            chosen.append(remaining[position])
            remaining[position] = remaining[size - 1]
        return chosen


def dosed_count(dose: float | None, count: int) -> int:
    """Return `dose * count`, rounded half up."""
    return int((dose or 0.0) * count + 0.5)
