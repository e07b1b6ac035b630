"""The words in names of columns that say what a column holds, a judge or a person; `column_words.toml` lists them."""

from __future__ import annotations

import re
import tomllib
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from harness.text import in_nfc

_NO_PERSON = 4  # letters of a word for programs that is no part of a person's name


class ColumnWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words, in lower case; the file says what each list is for."""

    programs: frozenset[str]
    models: tuple[str, ...]
    programs_anywhere: tuple[str, ...]
    people: tuple[str, ...]
    judging: frozenset[str]
    metadata: frozenset[str]
    facts: frozenset[str]
    sureness: frozenset[str]
    places: frozenset[str]
    gold: frozenset[str]
    spread: frozenset[str]
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
        parts, text = name_parts(name), in_nfc(name).casefold()
        return max((word for word in self.of_role(role) if _is_in(word, parts, text)), key=len, default="")

    def of_role(self, role: str) -> list[str]:
        """Return the words for a role in all languages."""
        return [word for listed in self.roles[role].values() for word in listed]

    def rank_of_name(self, role: str, name: str) -> int | None:
        """Return how early the words for a role list the name of a column that says this role and nothing else; None for other names.

        >>> words, names = column_words(), ("WorkerId", "jméno hodnotitele", "rater_1", "rater age")
        >>> [words.rank_of_name("annotator", name) is not None for name in names]
        [True, True, False, False]
        >>> words.rank_of_name("id", "item_id") < words.rank_of_name("id", "ID")
        True
        """
        parts, text = name_parts(name), in_nfc(name).casefold()
        words, naming = self.of_role(role), self.of_role("naming")
        first = next((rank for rank, word in enumerate(words) if _is_in(word, parts, text)), None)
        if first is None or any(character.isdigit() for character in text):
            return None
        role_words = [*words, *naming]
        for word in sorted((word for word in role_words if _ANYWHERE.search(word) or " " in word), key=len, reverse=True):
            text = text.replace(word, " ")
        return first if all(any(_is_in(word, [part], part) for word in role_words) for part in name_parts(text)) else None


class CellWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words that people write into cells: for the better and the worse of two classes, for no answer, between a score and the highest one,
    behind a score, for the texts of a pair, and for scales of words with an order."""

    good: frozenset[str]
    bad: frozenset[str]
    none: frozenset[str]
    out_of: tuple[str, ...]
    units: tuple[str, ...]
    first: frozenset[str]
    second: frozenset[str]
    tie: frozenset[str]
    orders: tuple[OrderedWords, ...]


class OrderedWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The words of a scale from its lowest step to its highest, and which end is better."""

    words: tuple[tuple[str, ...], ...]
    best: Literal["first", "last", "neither"]

    @cached_property
    def step_of_word(self) -> dict[str, int]:
        """The number of each word's step, from 0."""
        return {word: step for step, words in enumerate(self.words) for word in words}


def name_parts(name: str) -> list[str]:
    """Return the words of a column's name: it is split at blanks, marks, digits and capitals, and where another script begins.

    >>> name_parts("JudgeScore_2"), name_parts("judge.score"), name_parts("AIの欄")
    (['judge', 'score'], ['judge', 'score'], ['ai', 'の欄'])
    """
    spaced = re.sub(rf"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?={_ANYWHERE.pattern})|(?<={_ANYWHERE.pattern})(?=[A-Za-z])", " ", in_nfc(name))
    return [part.casefold() for part in re.findall(r"[^\W\d_]+", spaced)]


def _is_in(word: str, parts: list[str], text: str) -> bool:
    if not word.isascii() and _ANYWHERE.search(word):
        return word in text
    if " " in word:
        return word in " ".join(parts)
    return any(part == word or (len(word) >= _BEGINNING and part.startswith(word)) for part in parts)


# Scripts without blanks between words, with articles that are part of the word, or with marks for vowels: the word stands anywhere.
_ANYWHERE = re.compile("[\u0590-\u06ff\u0900-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_BEGINNING = 4  # letters of a word that a longer one may begin with: `human` for `humans`


@cache
def column_words() -> ColumnWords:
    """Return the words of `column_words.toml`, without case, as names are compared: a Greek final sigma becomes σ."""
    return msgspec.convert(tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8").casefold()), ColumnWords)


@lru_cache(maxsize=10_000)  # asked of every label, and few people give many labels
def is_judge_name(name: str) -> bool:
    """Return whether a name speaks for a judge: `judge_score`, `JudgeScore`, `gpt-4o`, but not `human_judge`.

    >>> [is_judge_name(name) for name in ("judge.score", "GPT4o", "posouzeno strojem", "human_evaluator", "Jana", "mainland")]
    [True, True, True, False, False, False]
    """
    parts, text, words = name_parts(name), name.casefold(), column_words()
    if any(part in words.programs or part.startswith((*words.models, "model", "automat")) for part in parts):
        return True
    if len(words.in_name("programs", name)) >= _NO_PERSON:
        return True
    if re.search(r"\bcommand[- ]r\b|(?<!\w)(?:o[134]|phi[- ]?\d)(?!\w)", text) or any(word in text for word in words.programs_anywhere):
        return True
    people = any(part.startswith(words.people) for part in parts) or words.in_name("people", name)
    return not people and not words.judging.isdisjoint(parts)


def judge_refusal(names: list[str], how: str) -> str:
    """Return the sentence on columns or annotators that look like judges; `how` says what to do with a person of this name."""
    quoted_names = ", ".join(f"'{name}'" for name in names[:5])
    whose = "its scores" if len(names) == 1 else "their scores"
    return (
        f"{quoted_names} {'looks' if len(names) == 1 else 'look'} like a judge, by name, and {whose} would count as a person's; "
        "leave the judge out "
        f"here and import {whose} as judgments ('harness import FILE --to DIR --judge NAME'), or {how}"
    )
