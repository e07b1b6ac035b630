"""A source as a table: named columns and numbered records, with the place of each cell for messages; and the names of columns that stand
in one row or in two."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import mode
from typing import Any, NamedTuple

from harness.conversations import cell_text
from harness.errors import ContentError
from harness.exchange.labels.cell_scores import LONGEST_CLASS, NUMBER, UnreadableScore, is_blank
from harness.text import quoted

MAX_BYTES = 512 * 1024 * 1024  # of an unpacked source: more than any label set needs, less than fills the memory
JUDGES_ALONE = "judges_alone"  # in `about` of a table with a judge's scores and no person's: the sentence on what is missing


class Record(NamedTuple):
    """One row of a source: its `cells` by column, and the parts of its place (`ratings.csv:7`, `book.xlsx:Sheet1!C7`)."""

    cells: dict[str, Any]
    number: int
    head: str
    letters: Mapping[str, str] = {}
    tail: str = ""

    def place(self, column: str | None = None) -> str:
        """The place of the record, or of one of its cells.

        >>> Record({}, 7, "book.xlsx:Sheet1!", {"score": "C"}).place("score")
        'book.xlsx:Sheet1!C7'
        """
        return f"{self.head}{self.letters.get(column or '', '')}{self.number}{self.tail}"


class SourceTable(NamedTuple):
    """A source as it was read. `kind` is the kind of the source; `notes` tell the user how it was read."""

    kind: str
    columns: Sequence[str]
    records: Sequence[Record]
    notes: Sequence[str] = ()
    left_out: int = 0  # answers that cannot be labels: skipped tasks, comments, drawings
    about: Mapping[str, Any] = {}  # what the source says about its metrics (`scales`) and items


def with_conversations(table: SourceTable) -> SourceTable:
    """Return the table with a text in each cell that holds a list of messages, or such a list as JSON."""
    records = [
        record._replace(cells={column: cell_text(cell) for column, cell in record.cells.items()})
        if any(type(cell) is list or (type(cell) is str and cell[:1] == "[") for cell in record.cells.values())
        else record
        for record in table.records
    ]
    return table._replace(records=records)


def header_index(widths: Sequence[int], numbers: Sequence[int], stated: int | None, path: str) -> int:
    """Which row names the columns, among the rows that are not empty: the row number `asked` for, else the first below the title.

    `widths` are the filled cells of each row, `numbers` their numbers in the file. Rows above that fill one cell, or less than half of what
    rows usually fill, are a title. Raises ContentError for the file `place` if there is no row with the number `asked`.

    >>> header_index([1, 4, 4], [1, 3, 4], None, "ratings.csv"), header_index([4, 4], [1, 2], None, "ratings.csv")
    (1, 0)
    """
    if stated is not None:
        if stated not in numbers:
            first = ", ".join(map(str, numbers[:5]))
            raise ContentError(f"--header-row {stated}: this row is empty or not there; the first rows with cells are {first}", path)
        return numbers.index(stated)
    usual = mode(widths) if widths else 0
    rows = widths[: min(_TITLE_ROWS, len(widths) - 1)]
    return next((index for index, width in enumerate(rows) if width > 1 and 2 * width >= usual), 0)


_TITLE_ROWS = 10  # no table has its names further down than this without saying so


def header_note(header: int, numbers: Sequence[int]) -> list[str]:
    """Return the note on rows above the column names."""
    if not header:
        return []
    return [f"row {numbers[header]} was read as the column names, and what stands above it as a title; --header-row names another row"]


def two_row_names(names: Sequence[str], below: Sequence[str]) -> list[str] | None:
    """Return the names of columns whose header takes two rows, as SurveyMonkey writes it: questions, and below them what each column asks.

    None where the second row is one of answers: the first columns, such as the respondent's id, have nothing below their names, and
    all others have words there; of a question with several columns, only the first has its name above.

    >>> two_row_names(["Respondent ID", "How fluent?", "", "Why?"], ["", "Text 1", "Text 2", "Response"])
    ['Respondent ID', 'How fluent? [Text 1]', 'How fluent? [Text 2]', 'Why?']
    >>> two_row_names(["id", "score", ""], ["", "3", "4"]), two_row_names(["id", "text", ""], ["a", "b", "c"])
    (None, None)
    """
    first = next((index for index, cell in enumerate(below) if not is_blank(cell)), 0)
    words = [cell for cell in below[first:] if not is_blank(cell) and not re.fullmatch(r"[\s\d.,:/+-]*", cell)]
    complete = len(names) == len(below) and not any(map(is_blank, names[: first + 1]))
    of_several = any(map(is_blank, names[first:])) or "Collector ID" in names[:first]
    if not (first and complete and of_several and len(words) == len(below) - first):
        return None
    joined, question = list(names[:first]), ""
    for index in range(first, len(names)):
        question = names[index] or question
        alone = names[index] and (index + 1 == len(names) or names[index + 1])
        joined.append(question if alone else f"{question} [{below[index].strip()}]")
    return joined


def grouped_names(groups: Sequence[str], names: Sequence[str], rows: Sequence[Sequence[Any]], *, merged: bool = False) -> list[str] | None:
    """Return the names of columns below which a row of groups stands, such as `Human` over `fluency` and `tone`; None where it is none.

    Args:
        groups: the upper row. A blank cell belongs to the group before it, if all groups then have the same names.
        names: the row below, in words; a column that has no name there is named by the upper row.
        rows: the rows of answers below; a row whose words they repeat holds answers.
        merged: whether the upper row says how far each group reaches; a blank cell then has no group.

    Raises UnreadableScore where nothing says how far groups reach.

    >>> grouped_names(["", "Human", "", "Judge", ""], ["id", "fluency", "tone", "fluency", "tone"], [["1", "3", "4", "4", "4"]])
    ['id', 'Human [fluency]', 'Human [tone]', 'Judge [fluency]', 'Judge [tone]']
    >>> grouped_names(["My survey", "", ""], ["id", "text", "score"], [["1", "a", "3"]])
    >>> grouped_names(["", "text", "score"], ["a", "Some text", "good"], [["b", "Another text", "good"]])
    """
    above = [index for index, cell in enumerate(groups) if not is_blank(cell)]
    if not above or above == [0] or len(groups) != len(names) or not rows:
        return None
    several = any(is_blank(cell) for cell in groups[above[0] :]) or len({groups[index] for index in above}) < len(above)
    words = [cell for cell in names if not is_blank(cell)]
    named = not any(is_blank(name) and is_blank(group) for name, group in zip(names, groups, strict=True))
    in_words = len(words) > 1 and not any(NUMBER.fullmatch(cell.strip()) or len(cell) > LONGEST_CLASS for cell in words)
    if not (several and named and in_words):
        return None
    for index, name in enumerate(names):
        if not is_blank(name) and any(len(row) > index and str(row[index]).strip() == name.strip() for row in rows):
            return None
    joined, group, is_carried = [], "", False
    names_of: dict[str, list[str]] = {}
    for upper, name in zip(groups, names, strict=True):
        is_carried = is_carried or bool(group and is_blank(upper) and not merged)
        group = group if is_blank(upper) and not is_blank(name) and not merged else upper.strip()
        joined.append(group if is_blank(name) else f"{group} [{name.strip()}]" if group else name.strip())
        if group and not is_blank(name):
            names_of.setdefault(group, []).append(name.strip())
    if len({*joined}) < len(joined) or not names_of or (is_carried and len(names_of) == 1):
        return None
    if is_carried and len({tuple(of_group) for of_group in names_of.values()}) > 1:
        raise UnreadableScore(
            f"this row and the one below both hold names of columns, and blank cells do not say how far the groups {quoted(names_of)} "
            "reach: write the group into each of its cells, or keep one row of names"
        )
    return joined


def two_row_note(number: int) -> str:
    """Return the note on a second row of column names."""
    return f"row {number} was read as a second row of column names, and is no answer"


def groups_note(number: int) -> str:
    """Return the note on a row of groups above the names of columns."""
    return f"row {number} was read as groups of columns, and the row below it as their names"


def columns_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """All keys of the rows, in the order of their first occurrence."""
    return list(dict.fromkeys(key for row in rows for key in row))


def flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a row with its nested objects flattened under dotted names.

    >>> flat({"id": 1, "answer": {"fluency": 2}})
    {'id': 1, 'answer.fluency': 2}
    """
    flattened: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict) and value:
            flattened |= flat(value, f"{prefix}{key}.")
        else:
            flattened[f"{prefix}{key}"] = value
    return flattened
