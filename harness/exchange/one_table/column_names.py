"""What the names of a table's columns say: who gave scores, on what, which text of a pair, and what was made of other columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Literal

from harness.content.column_words import column_words, is_judge_name, name_parts
from harness.exchange.labels.mapping import ITEM_KEYS

Side = Literal["human", "judge"]
_INPUTS = frozenset({"input", "inputs", "question", "prompt", "query", "instruction"})
_PAIRED = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"))
_EITHER = frozenset({"evaluator", "evaluators", "scorer", "scorers", "score", "label", "rating", "grade", "the", "a"})
"""Parts of a name that people and programs both have."""


def side_of(name: str) -> Side | None:
    """Return whether a name speaks for a judge or for people; None where it speaks for neither.

    An evaluator or a scorer is a person as often as a program, so such a name alone says nothing, and is asked about.

    >>> [side_of(name) for name in ("gpt-4o", "llm_label", "my_label", "výstup modelu", "人手による列", "human_judge", "Jana", "evaluator")]
    ['judge', 'judge', 'human', 'judge', 'human', 'human', None, None]
    """
    words = column_words()
    if words.in_name("programs", name):
        return "judge"
    people = bool(words.in_name("people", name))
    if not people and name_parts(name) and _EITHER.issuperset(name_parts(name)):
        return None
    if is_judge_name(name):
        return "judge"
    return "human" if people else "judge" if words.in_name("judging", name) else None


def name_without_side(name: str) -> str:
    """Return what a column's name says beside who gave the scores and that they are scores.

    >>> name_without_side("fluency_human"), name_without_side("Human Score"), name_without_side("gpt-4o")
    ('fluency', '', '')
    """
    words = column_words()
    parts = [
        part
        for part in name_parts(name)
        if len(part) > 1
        and not any(words.in_name(role, part) for role in ("programs", "people", "judging", "scores"))
        and not part.startswith(words.models)
    ]
    return "_".join(parts)


def name_scorer(name: str, metric: str) -> str:
    """Return the name of who gave a column's scores: the column's name without the metric and the words for scores.

    >>> name_scorer("fluency_gpt-4o", "fluency"), name_scorer("judge.score", ""), name_scorer("judge_2", "")
    ('gpt-4o', 'judge', 'judge_2')
    """
    score_words = column_words().of_role("scores")
    not_of_scorer = {*metric.split("_"), *score_words}
    pieces = re.split(r"([\s_.:/]+)", name)
    text = "".join(piece for piece in pieces if not (parts := name_parts(piece)) or not not_of_scorer.issuperset(parts))
    for word in score_words:
        if not word.isascii() and len(word) > 1:
            text = text.replace(word, "")
    return text.strip(" _.:/-の的[]()") or name


def list_aggregates(names: Sequence[str]) -> list[str]:
    """Return the names that say that a column is made of several people's scores.

    >>> list_aggregates(["fluency_mean", "fluency_max", "Max", "expert"])
    ['fluency_mean', 'fluency_max']
    """
    words = column_words()
    of_what = {name: [part for part in name_parts(name) if part not in words.gold | words.spread] for name in names}
    gold = [name for name in names if words.gold.intersection(name_parts(name))]
    with_mean = [of_what[name] for name in gold]
    return [name for name in names if name in gold or (words.spread.intersection(name_parts(name)) and of_what[name] in with_mean)]


def names_question(name: str) -> bool:
    """Return whether a column's name says that it holds what was asked, and no id of it.

    >>> [names_question(name) for name in ("inputs.question", "question_id", "score")]
    [True, False, False]
    """
    words, parts = column_words(), {*name_parts(name)}
    return bool(parts & _INPUTS or words.in_name("metric", name)) and not words.in_name("id", name)


def find_pair_key(name: str) -> str | None:
    """Return what the names of a pair's columns share; None where a name does not end in a place.

    >>> find_pair_key("response_a") == find_pair_key("response_b"), find_pair_key("answer")
    (True, None)
    """
    match = re.fullmatch(r"(.*?)[\s_.-]*(a|b|1|2|left|right|first|second)", name.casefold())
    return match[1] if match and match[1] else None


def are_pair(name: str, other: str) -> bool:
    """Return whether two columns hold the first and second text of a pair, in this order: `reply_a` and `reply_b`, `a` and `b`."""
    if (name.casefold(), other.casefold()) in _PAIRED:
        return True
    key = find_pair_key(name)
    if key is None or key != find_pair_key(other):
        return False
    ends = name.casefold().removeprefix(key).strip(" _.-"), other.casefold().removeprefix(key).strip(" _.-")
    return ends in _PAIRED


def are_places(names: Collection[str]) -> bool:
    """Return whether columns are places, such as 'Rater 1' and 'Rater 2', and no people: one word, and a number or letter after it.

    >>> are_places(["Rater A", "Rater B"]), are_places(["Jana N", "Petr K"])
    (True, False)
    """
    numbered = [re.fullmatch(r"(.*?)[\s_.-]*(?:\d+|\b[A-Za-z])", name.strip()) for name in names]
    return all(numbered) and len({match[1] for match in numbered if match}) == 1


def field_name(name: str, taken: Collection[str]) -> str:
    """Return the name of a text in letters that a prompt can hold.

    >>> field_name("Über uns!", ())
    'uber_uns'
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    field = re.sub(r"[^a-z0-9]+", "_", plain).strip("_") or "text"
    return field if field not in taken and field not in ITEM_KEYS else f"{field}_{len(taken) + 1}"
