"""A text as a segmenter sees it: words, and what stands between them.

`icu` finds words in every script. `whitespace` takes what stands between white space for a word, punctuation and all: the naive way,
kept to show what it does to scripts without spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

from harness.text import extends, is_word, words

SEGMENTERS = ("icu", "whitespace")

_OTHER, _WORD, _CONTINUED = 0, 1, 2  # the roles of a segment; the last continues the grapheme before it


class Segmented(NamedTuple):
    """`parts` joined are the text; `places` are the numbers of those parts that are words."""

    parts: tuple[str, ...]
    places: tuple[int, ...]


class Words:
    """One output text of an item, cut into words when somebody asks for them."""

    def __init__(self, text: str, language: str, segmenter: str = "icu", field: str = "output") -> None:
        self.text, self.language, self.segmenter, self.field = text, language, segmenter, field

    @property
    def parts(self) -> tuple[str, ...]:
        """All segments in order, words and others; joined they are the text."""
        return segmented(self.text, self.language, self.segmenter).parts

    @property
    def places(self) -> tuple[int, ...]:
        """Where in `parts` the words are."""
        return segmented(self.text, self.language, self.segmenter).places

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[str]:
        parts = self.parts
        return (parts[place] for place in self.places)


# One text is cut once for all its doses and seeds that follow each other; a few texts suffice.
@lru_cache(maxsize=16)
def segmented(text: str, language: str, segmenter: str) -> Segmented:
    """Cut a text. No part begins inside a grapheme, so that parts may change places."""
    parts, roles = _by_icu(text, language) if segmenter == "icu" else _by_whitespace(text)
    if _CONTINUED in roles:
        parts, roles = _glued(parts, roles)
    return Segmented(tuple(parts), tuple(compress(range(len(parts)), roles)))


def _by_icu(text: str, language: str) -> tuple[list[str], list[int]]:
    parts = words(text, language)
    return parts, list(map(_role, parts))


@lru_cache(maxsize=1 << 16)
def _role(part: str) -> int:
    return _CONTINUED if extends(part[0]) else int(is_word(part))


def _by_whitespace(text: str) -> tuple[list[str], list[int]]:
    parts = [part for part in re.split(r"(\s+)", text) if part]
    return parts, [_OTHER if part.isspace() else _CONTINUED if extends(part[0]) else _WORD for part in parts]


def _glued(parts: list[str], roles: list[int]) -> tuple[list[str], list[int]]:
    """Parts that continue a grapheme become the end of the part before them; at the start of a text they are no words."""
    whole: list[str] = []
    kept: list[int] = []
    for part, role in zip(parts, roles, strict=True):
        if role == _CONTINUED and whole and not whole[-1].endswith(("\n", "\r")):
            whole[-1] += part
        else:
            whole.append(part)
            kept.append(_OTHER if role == _CONTINUED else role)
    return whole, kept
