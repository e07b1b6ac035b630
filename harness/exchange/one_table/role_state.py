"""The columns of a table while their roles are found: what is settled, what is free, and what the cells of a free column look like."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from harness.content.column_words import column_words
from harness.errors import UsageError
from harness.exchange.labels.table_columns import SourceColumn
from harness.exchange.labels.table_options import Role, TableOptions
from harness.exchange.one_table.column_names import (
    Side,
    find_pair_key,
    find_probability_columns,
    side_of,
)
from harness.text import one_line, quoted

MTURK_INPUT = "Input."  # columns of Mechanical Turk's results that the workers were shown
JUDGED = ("output", "output_a", "output_b")
MOST_SYSTEMS = 50
_SHOWN = 60  # characters of a text in a sentence
_SHOWN_NAMES = 5  # of raters in a sentence


class SideColumn(NamedTuple):
    """A column of one side's scores on one metric; `who` names the judge or person."""

    column: str
    side: Side
    who: str
    metric: str


class RoleState:
    """Hold the roles that are settled, and say what columns look like; every step of `RoleFinder` sees what the ones before it have set."""

    def __init__(
        self,
        columns: Sequence[SourceColumn],
        options: TableOptions,
        ask: Callable[[str], Role] | None = None,
        settled: Mapping[str, Role] | None = None,
    ) -> None:
        self.columns, self.options, self.ask = {column.name: column for column in columns}, options, ask
        self.roles: dict[str, Role] = dict(settled or {})
        self.notes: list[str] = []
        stated = options.columns
        absent = [name for name in stated if name not in self.columns]
        # Names of --human and --judge that are no columns are raters, where one column holds them all.
        self.rater_sides: dict[str, Side] = {name: "judge" if name in options.judge else "human" for name in absent}
        self.stated_rater: SourceColumn | None = None
        if absent:
            named = set(absent) <= {*options.human, *options.judge}
            columns_with_names = [
                column for column in columns if named and not column.is_text and set(absent) <= {str(value) for value in column.counts}
            ]
            if not columns_with_names:
                is_no = "is not a column" if len(absent) == 1 else "are not columns"
                raise UsageError(f"{quoted(absent)} {is_no} of the table; its columns are: {', '.join(self.columns)}")
            [self.stated_rater, *_] = columns_with_names
            human, judge = ([name for name in names if name in self.columns] for names in (options.human, options.judge))
            self.options = options = replace(options, human=tuple(human), judge=tuple(judge))
            stated = options.columns
        for flag, names in (("--human", options.human), ("--judge", options.judge)):
            if texts := [name for name in names if self.columns[name].is_text]:
                raise UsageError(f"{flag} {texts[0]}: {self.holds_texts(texts[0])}")
        self.roles |= stated
        if options.language in self.columns:
            self.roles[options.language] = "language"
        if options.metric in self.columns:
            self.roles[options.metric] = "metric"
        free = [column for name, column in self.columns.items() if self.roles.get(name) in (None, "judge") and column.filled]
        probability_columns = find_probability_columns(free, list(self.columns.values()))
        self.probabilities = [columns for columns in probability_columns if side_of(columns.judge) != "human"]
        self.roles |= dict.fromkeys((name for columns in self.probabilities for name in columns.columns), "probability")
        self.options = replace(options, judge=tuple(name for name in options.judge if self.roles[name] == "judge"))

    def holds_texts(self, name: str) -> str:
        """Say that a column holds texts, with the first of them."""
        first = next(str(cell) for cell in self.columns[name].cells if cell is not None)
        return f"'{name}' holds texts, such as '{one_line(first)[:_SHOWN]}', and no scores"

    def list_free(self) -> list[SourceColumn]:
        return [column for name, column in self.columns.items() if name not in self.roles and column.filled]

    def is_constant_within(self, name: str, key: str) -> bool:
        first: dict[Any, Any] = {}
        pairs = zip(self.columns[key].cells, self.columns[name].cells, strict=True)
        return all(first.setdefault(item, text) == text for item, text in pairs if text is not None)

    def without_facts(self, scored: list[SourceColumn]) -> list[SourceColumn]:
        """Return the columns of raters' scores without those that are the same in all rows of a text, such as the number of a turn."""
        texts = [name for name, role in self.roles.items() if role == "text" and self.columns[name].repeats]
        return [column for column in scored if not any(self.is_constant_within(column.name, text) for text in texts)] or scored

    def is_scores(self, column: SourceColumn, candidates: Iterable[SourceColumn]) -> bool:
        """Return whether a column holds scores: numbers, words of verdicts, or words that another column of scores has too."""
        if not column.may_be_scores or (column_words().in_name("id", column.name) and column.is_key):
            return False
        if column.is_numeric:
            return bool(side_of(column.name)) or column.looks_like_scores or bool(column_words().in_name("scores", column.name))
        side = "judge" if column.name in self.options.judge else side_of(column.name)
        if side == "judge" and 2 * sum(column.scores[word] for word in column.words) < column.filled:
            return True  # numbers, and replies of the judge without a score
        verdicts = column_words().verdicts
        if column.words <= verdicts.good | verdicts.bad | verdicts.first | verdicts.second | verdicts.tie:
            return True
        if not (side_of(column.name) or column.name in (*self.options.human, *self.options.judge)):
            return column.looks_like_scores or self._shares_words(column, candidates)
        return self._shares_words(column, candidates) or self._names_systems(column)

    def _shares_words(self, column: SourceColumn, candidates: Iterable[SourceColumn]) -> bool:
        stated = (self.columns[name] for name in (*self.options.human, *self.options.judge))
        scored = [other for other in (*candidates, *stated) if other is not column and other.may_be_scores]
        return any(2 * sum(column.scores[word] for word in column.words & other.words) > column.filled for other in scored)

    def _names_systems(self, column: SourceColumn) -> bool:
        """Return whether the words are the names of the systems whose texts are compared."""
        key = find_pair_key(column.name)
        partners = [other for name, other in self.columns.items() if find_pair_key(name) and find_pair_key(name) != key]
        names = {str(value).casefold() for other in partners for value in other.counts}
        return not column.is_text and bool(names) and column.words <= names | column_words().verdicts.tie


def listed(names: Sequence[str]) -> str:
    """Return the first names in quotation marks, and how many more there are."""
    return quoted(names[:_SHOWN_NAMES]) + (f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else "")
