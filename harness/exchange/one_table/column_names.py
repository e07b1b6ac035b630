"""What the names of a table's columns say: who gave scores, on what, which text of a pair, and what was made of other columns.

Columns such as p_pass and p_fail hold a judge's probability of each class; the likeliest class is its score.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from harness.content.column_words import column_words, is_judge_name, name_parts
from harness.exchange.labels.cell_scores import cell_score, probability_class
from harness.exchange.labels.mapping import ITEM_KEYS
from harness.exchange.labels.table_columns import SourceColumn
from harness.parse.probabilities import SUM_TOLERANCE

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


_MOSTLY = 0.9  # of the rows
_PERCENT = 100.0


class ProbabilityColumns(NamedTuple):
    """One judge's probabilities as a table has them.

    Attributes:
        judge: what the names say before the probability, such as gpt-4o in `gpt-4o p_pass`; empty if they say nothing.
        columns: the names of the columns.
        by_class: the probability of each class in each row, from 0 to 1; None where a row has none.
    """

    judge: str
    columns: tuple[str, ...]
    by_class: Mapping[float | str, Sequence[float | None]]

    def rows(self) -> list[dict[float | str, float] | None]:
        """Return the probability of each class by row; None where one is missing, or where they do not sum to 1."""
        rows = []
        for values in zip(*self.by_class.values(), strict=True):
            stated = [value for value in values if value is not None]
            is_complete = len(stated) == len(values) and abs(sum(stated) - 1) <= SUM_TOLERANCE
            rows.append(dict(zip(self.by_class, stated, strict=True)) if is_complete else None)
        return rows

    def likeliest(self) -> list[float | str | None]:
        """Return the likeliest class of each row; None where there are two, or no probabilities."""
        likeliest = [[score for score, p in row.items() if p == max(row.values())] if row else [] for row in self.rows()]
        return [scores[0] if len(scores) == 1 else None for scores in likeliest]


def find_probability_columns(columns: Sequence[SourceColumn], all_columns: Sequence[SourceColumn]) -> list[ProbabilityColumns]:
    """Return each judge's columns of probabilities: shares of 1 or of 100 that make a whole in nearly every row.

    One column is enough if a column of the table has two values of which its name says one, as `p_pass` does beside pass and fail.
    """
    by_judge: dict[str, dict[float | str, SourceColumn]] = {}
    for column in columns:
        judge, word = probability_class(column.name) or ("", "")
        score = cell_score(word) if word else None
        if score is not None and _are_shares(column):
            by_judge.setdefault(judge, {}).setdefault(score, column)
    complete: list[ProbabilityColumns] = []
    for judge, of_judge in by_judge.items():
        names = tuple(column.name for column in of_judge.values())
        by_class = dict(zip(of_judge, _read_shares(list(of_judge.values())), strict=True))
        if len(by_class) == 1:
            [(score, shares)] = by_class.items()
            pairs = (set(column.scores) for column in all_columns if len(column.scores) == 2 and column.repeats)
            rest = next((pair - {score} for pair in pairs if score in pair), None)
            if rest is None or all(share in (None, 0.0, 1.0) for share in shares):
                continue
            by_class |= {other: [None if share is None else 1 - share for share in shares] for other in rest}
        judge_columns = ProbabilityColumns(judge, names, by_class)
        filled = sum(None not in values for values in zip(*by_class.values(), strict=True))
        if filled and sum(row is not None for row in judge_columns.rows()) > _MOSTLY * filled:
            complete.append(judge_columns)
    return complete


def probabilities_of_verdicts(column: SourceColumn, verdicts: SourceColumn, classes: Sequence[float | str]) -> ProbabilityColumns | None:
    """Return the probabilities of two classes from a column that holds the one of the judge's verdict; None where it does not.

    The verdict is the likelier class, so its probability is at least a half.
    """
    if not _are_shares(column):
        return None
    [shares] = _read_shares([column])
    scores = [None if cell is None else cell_score(cell) for cell in verdicts.cells]
    stated = [share for share, score in zip(shares, scores, strict=True) if share is not None and score in classes]
    if sum(share >= 0.5 for share in stated) <= _MOSTLY * len(stated) or all(share in (0.5, 1.0) for share in stated):
        return None
    pairs = list(zip(shares, scores, strict=True))
    by_class: dict[float | str, list[float | None]] = {
        verdict: [None if share is None or score not in classes else share if score == verdict else 1 - share for share, score in pairs]
        for verdict in classes
    }
    return ProbabilityColumns("", (column.name,), by_class)


def _are_shares(column: SourceColumn) -> bool:
    return column.is_numeric and column.numbers[0] >= 0 and column.numbers[-1] <= _PERCENT


def _read_shares(columns: Sequence[SourceColumn]) -> list[list[float | None]]:
    """Return shares of 1; those that go beyond 1 in any column are percentages."""
    unit = _PERCENT if max(column.numbers[-1] for column in columns) > 1 else 1.0
    cells = [[None if cell is None else cell_score(cell) for cell in column.cells] for column in columns]
    return [[value / unit if isinstance(value, float) else None for value in of_column] for of_column in cells]
