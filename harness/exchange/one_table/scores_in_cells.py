"""Reads scores that stand inside the cells of a table: an answer in JSON, and a list of raters with their scores.

A judge's reply is often kept whole, `{"score": 4, "reason": "…"}`, also as a block of code, or as Python writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from harness.content.column_words import column_words, is_judge_name
from harness.exchange.labels.columns_of_source import answers_of_people, parse_cell
from harness.exchange.labels.table import MOST_CLASSES, Record, SourceTable, columns_of, flat, is_blank
from harness.text import quoted

_BEGINNINGS = ("{", "[{", "```")
_LOOKED_AT = 20  # cells of a column
_LONGEST_WORD = 40  # characters of a verdict


def with_scores_of_cells(table: SourceTable) -> SourceTable:
    """Return a table whose answers in JSON have become columns, and whose lists of raters' scores have become rows; with a note on each."""
    for column in table.columns:
        filled = (cell for record in table.records if not is_blank(cell := record.cells.get(column)))
        if not any(_may_hold_scores(cell) for cell in islice(filled, _LOOKED_AT)):
            continue
        values = [parse_cell(cell) for record in table.records if not is_blank(cell := record.cells.get(column))]
        if 2 * sum(isinstance(value, dict) for value in values) > len(values):
            table = _with_columns(table, column, [value for value in values if isinstance(value, dict)])
        elif all(isinstance(value, list) and value and all(isinstance(part, dict) for part in value) for value in values):
            table = _with_rows(table, column, [part for value in values for part in answers_of_people(value)])
    return table


def _may_hold_scores(cell: Any) -> bool:
    return isinstance(cell, (list, dict)) or (isinstance(cell, str) and cell.lstrip().startswith(_BEGINNINGS))


def _with_columns(table: SourceTable, column: str, answers: Sequence[Mapping[str, Any]]) -> SourceTable:
    """Return the table with the parts of the answers as columns. The only score keeps the name of the column, as does what is no JSON."""
    parts = columns_of([flat(answer) for answer in answers])
    words = column_words()
    is_side = is_judge_name(column) or bool(words.in_name("people", column) or words.in_name("annotator", column))
    scores = [part for part in parts if words.in_name("scores", part) and _are_scores(answers, part)]
    scores = scores or [part for part in parts if is_side and _are_scores(answers, part)]
    names = {part: column if [part] == scores else f"{column}.{part}" for part in parts}
    if not scores or {*names.values()} - {column} & {*table.columns}:
        return table
    records = []
    for record in table.records:
        cells = dict(record.cells)
        answer = parse_cell(cell) if not is_blank(cell := cells.pop(column, None)) else {}
        read = {names[part]: value for part, value in flat(answer).items()} if isinstance(answer, dict) else {names[scores[0]]: cell}
        cells |= {name: value for name, value in read.items() if not is_blank(value)}
        letters = dict.fromkeys(names.values(), record.letters.get(column, "")) | {**record.letters}
        records.append(record._replace(cells=cells, letters=letters))
    at = list(table.columns).index(column)
    columns = [*table.columns[:at], *dict.fromkeys(names[part] for part in parts), *table.columns[at + 1 :]]
    others = [part for part in parts if part not in scores]
    beside = f"; {quoted(others)} {'stands' if len(others) == 1 else 'stand'} beside" if others else ""
    unread = sum(not is_blank(cell := record.cells.get(column)) and not isinstance(parse_cell(cell), dict) for record in table.records)
    more = f"; {unread:,} {'cell is' if unread == 1 else 'cells are'} no JSON and read as written" if unread else ""
    what = "its score is" if len(scores) == 1 else "its scores are"
    note = f"'{column}' holds answers in JSON: {what} {quoted(scores)}{beside}{more}"
    return table._replace(columns=columns, records=records, notes=[*table.notes, note])


def _are_scores(answers: Sequence[Mapping[str, Any]], part: str) -> bool:
    values = [value for answer in answers if not is_blank(value := flat(answer).get(part))]
    words = {value for value in values if isinstance(value, str)}
    return (
        bool(values)
        and not column_words().in_name("reason", part)
        and all(isinstance(value, (int, float, str)) for value in values)
        and all(len(word) <= _LONGEST_WORD for word in words)
        and len(words) <= max(MOST_CLASSES, len(values) // 10)
    )


def _with_rows(table: SourceTable, column: str, parts: Sequence[Mapping[str, Any]]) -> SourceTable:
    """Return the table with a row for each rater in a list; as it is, where the parts of the list are no raters with scores."""
    words, names = column_words(), columns_of(parts)
    raters = [name for name in names if words.in_name("annotator", name) or words.in_name("account", name)]
    scores = [name for name in names if name not in raters and any(isinstance(part.get(name), (int, float, str)) for part in parts)]
    if not raters or not scores:
        return table
    plain = {name: name if name not in table.columns or name == column else f"{column}.{name}" for name in names}
    records: list[Record] = []
    for record in table.records:
        cells = {name: cell for name, cell in record.cells.items() if name != column}
        for part in answers_of_people(parse_cell(record.cells.get(column))) or [{}]:
            of_rater = {plain[name]: value for name, value in part.items() if not is_blank(value)}
            records.append(record._replace(cells=cells | of_rater))
    at = list(table.columns).index(column)
    columns = [*table.columns[:at], *plain.values(), *table.columns[at + 1 :]]
    note = f"'{column}' holds lists of raters ({quoted(raters[:1])}): each rater's scores are a row"
    return table._replace(columns=list(dict.fromkeys(columns)), records=records, notes=[*table.notes, note])
