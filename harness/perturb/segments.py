"""Splits a text into words and the parts between them.

The segmenter `icu` finds words in every script. The segmenter `whitespace` splits at white space and counts punctuation as a part of
words. It exists to show what this naive way does to scripts without spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

from harness.content.lexicons import NO_WORDS
from harness.content.specs import Lexicon
from harness.text import extends, is_word, words

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
