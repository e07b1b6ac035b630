"""Columns with a judge's probability of each class, such as p_pass and p_fail, and the likeliest class, which is the judge's score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.exchange.labels.cell_scores import cell_score, probability_class
from harness.exchange.labels.table_columns import SourceColumn
from harness.parse.probabilities import SUM_TOLERANCE

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
