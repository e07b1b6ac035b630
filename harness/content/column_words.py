"""The words in names of columns that say what a column holds; `column_words.toml` lists them."""

from __future__ import annotations

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


@cache
def column_words() -> ColumnWords:
    """Return the words of `column_words.toml`."""
    return msgspec.convert(tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")), ColumnWords)
