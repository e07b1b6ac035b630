"""The words in names of columns that say what a column holds; `column_words.toml` lists them."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import msgspec


class ColumnWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words, in lower case; the file says what each list is for."""

    programs: frozenset[str]
    models: tuple[str, ...]
    programs_anywhere: tuple[str, ...]
    people: tuple[str, ...]
    judging: frozenset[str]
    metadata: frozenset[str]
    gold: frozenset[str]
    totals: frozenset[str]
    remarks: frozenset[str]
    roles: dict[str, dict[str, tuple[str, ...]]]
    verdicts: CellWords

    def in_name(self, role: str, name: str) -> str:
        """Return the longest word for a role that is in the name of a column; empty where none is.

        >>> column_words().in_name("people", "HumanScore"), column_words().in_name("programs", "výstup modelu")
        ('human', 'model')
        >>> column_words().in_name("people", "人手による列"), column_words().in_name("people", "answer")
        ('人手', '')
        """
        parts, text = name_parts(name), name.casefold()
        words = (word for listed in self.roles[role].values() for word in listed)
        return max((word for word in words if _is_in(word, parts, text)), key=len, default="")


class CellWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words that people write into cells: for the better and the worse of two classes, for no answer, between a score and the highest one,
    behind a score, and for the texts of a pair."""

    good: frozenset[str]
    bad: frozenset[str]
    none: frozenset[str]
    out_of: tuple[str, ...]
    units: tuple[str, ...]
    first: frozenset[str]
    second: frozenset[str]
    tie: frozenset[str]


def name_parts(name: str) -> list[str]:
    """Return the words of a column's name: it is split at blanks, marks, digits and capitals.

    >>> name_parts("JudgeScore_2"), name_parts("judge.score")
    (['judge', 'score'], ['judge', 'score'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [part.casefold() for part in re.findall(r"[^\W\d_]+", spaced)]


def _is_in(word: str, parts: list[str], text: str) -> bool:
    if not word.isascii() and _UNSPACED.search(word):
        return word in text
    if " " in word:
        return word in " ".join(parts)
    return any(part == word or (len(word) >= _BEGINNING and part.startswith(word)) for part in parts)


_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BEGINNING = 4  # letters of a word that a longer one may begin with: `human` for `humans`


@cache
def column_words() -> ColumnWords:
    """Return the words of `column_words.toml`."""
    return msgspec.convert(tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")), ColumnWords)
