"""Cells that hold the answers of several people, or of one person to several questions: lists and objects, turned into rows and columns.

`[4, 2, 2]` are the scores of three people, who are known by their places only. `[{"rater": "a", "fluency": 4}, …]` are people with
their answers, and `{"fluency": 4, "adequacy": 2}` are the answers of one. CSV files hold them as JSON, or as Python writes them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from harness.content.specs import LabelMapping
from harness.exchange.labels.columns_of_source import find_columns
from harness.exchange.labels.table import Record, SourceTable, columns_of, flat, is_blank
from harness.text import quoted

_MOST_PEOPLE = 30  # of one text: longer lists hold something else
_MOST_VALUES = 101  # different numbers of a column of scores: 0 to 100
_FEW_ROWS = 3
_LONGEST_CELL = 100_000  # characters
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_NUMBERS = re.compile(r"\[\s*[-+\d.]+(?:\s+[-+\d.]+)*\s*\]")  # as numpy writes them


def with_people_apart(table: SourceTable, mapping: LabelMapping) -> tuple[SourceTable, LabelMapping]:
    """Return a table with a record for each person in a list, and the mapping; both unchanged where no cells hold several answers.

    Lists of scores are read where nothing else tells who scored: their columns are those that the mapping names as scores, or else all
    that hold few different numbers. A column of objects is read if it is the only one. Beside other columns of numbers, nothing is read
    unless the mapping names it, and columns that the mapping drops stay as they are.
    """
    if mapping.annotators == "aggregate" or table.kind in ("sheet", "label-studio", "argilla"):  # these have an answer a record
        return table, mapping
    if any(wide.annotator is not None and wide.column in table.columns for wide in mapping.scored_columns):
        return table, mapping
    values = {name: [_parse_cell(record.cells.get(name)) for record in table.records] for name in table.columns if name not in mapping.drop}
    objects = [name for name, cells in values.items() if _are_all(cells, _is_objects)]
    rated = _has_annotators(table, mapping)
    scored = [wide.column for wide in mapping.scored_columns] or list({mapping.columns.get("score", "")} - {""})
    lists = [name for name, cells in values.items() if _are_all(cells, _is_scores) and (name in scored or _are_few_numbers(cells))]
    lists = [name for name in lists if not set(scored) & set(lists) or name in scored]
    plain_columns = [cells for name, cells in values.items() if name not in (*lists, *objects)]
    score_columns = {*scored} & {*table.columns} or {*find_columns(table, {}, ["score"])[0].values()}
    if score_columns - {*lists, *objects} or (not score_columns and any(map(_are_scores, plain_columns))):
        return table, mapping  # other columns hold the scores
    if lists and not rated:
        return _split_lists(table, {name: values[name] for name in lists}, mapping)
    if len(objects) != 1 or score_columns:
        return table, mapping
    people = [_read_people(cell) for cell in values[objects[0]]]
    answers = [answer for item_answers in people for answer in item_answers]
    questions = table._replace(columns=columns_of(answers), records=())
    names_people = _has_annotators(questions, mapping)
    if not names_people and not any(_are_scores([answer.get(question) for answer in answers]) for question in questions.columns):
        return table, mapping  # messages, and other objects that are no answers
    return _join_answers(
        table, objects[0], people, mapping, placed=not (rated or names_people) and any(len(item_answers) > 1 for item_answers in people)
    )


def _has_annotators(table: SourceTable, mapping: LabelMapping) -> bool:
    if mapping.annotator is not None or mapping.annotator_from_file is not None:
        return True
    return mapping.columns.get("annotator_id") in table.columns or bool(find_columns(table, {}, ["annotator_id"])[0])


def _parse_cell(cell: Any) -> Any:
    """The list or object of a cell, which may be text; any other cell as it is."""
    if not isinstance(cell, str) or cell.lstrip()[:1] not in ("[", "{") or len(cell) > _LONGEST_CELL:
        return list(cell) if isinstance(cell, tuple) and type(cell) is tuple else cell
    try:
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, RecursionError):
        if _NUMBERS.fullmatch(cell.strip()):
            return [float(part) if "." in part else int(part) for part in cell.strip(" []").split()]
    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return cell


def _are_all(cells: Sequence[Any], kind: Callable[[Any], bool]) -> bool:
    filled = [cell for cell in cells if not is_blank(cell) and cell != []]
    return bool(filled) and all(map(kind, filled))


def _is_scores(cell: Any) -> bool:
    return (
        isinstance(cell, list) and len(cell) <= _MOST_PEOPLE and all(part is None or isinstance(part, (int, float, str)) for part in cell)
    )


def _is_objects(cell: Any) -> bool:
    return isinstance(cell, dict) or (isinstance(cell, list) and len(cell) <= _MOST_PEOPLE and all(isinstance(part, dict) for part in cell))


def _are_few_numbers(cells: Sequence[Any]) -> bool:
    """Return whether lists hold few different numbers, again and again.

    Lists that all add up to the same are shares, counts or ranks, and no people's scores.
    """
    lists = [cell for cell in cells if isinstance(cell, list)]
    values = [part for cell in lists for part in cell if part is not None]
    numbers = all(isinstance(part, (int, float)) and not isinstance(part, bool) for part in values)
    if not numbers or not 1 < len(set(values)) <= min(_MOST_VALUES, len(values) / 2) or max(map(len, lists)) < 2:
        return False
    return len(lists) <= _FEW_ROWS or len({round(sum(part or 0 for part in cell), 6) for cell in lists}) > 1


def _are_scores(cells: Sequence[Any]) -> bool:
    """Return whether a column holds few different numbers, again and again."""
    filled = [str(cell).strip() for cell in cells if not is_blank(cell)]
    return bool(filled) and all(map(_NUMBER.fullmatch, filled)) and 1 < len(set(filled)) <= len(filled) / 2


def _read_people(cell: Any) -> list[dict[str, Any]]:
    """The answers of each person in a cell of objects, by question."""
    people = [cell] if isinstance(cell, dict) else cell or []
    return [dict(_read_answers(person)) for person in people]


def _read_answers(person: dict[str, Any]) -> list[tuple[str, Any]]:
    """The questions and answers in an object. `{"1": false, "2": true}` is the answer 2, and an object with answers is none itself."""
    answers: list[tuple[str, Any]] = []
    for name, value in person.items():
        if isinstance(value, dict) and value and all(isinstance(chosen, bool) for chosen in value.values()):
            chosen = [choice for choice, is_chosen in value.items() if is_chosen]
            answers.append((name, chosen[0] if len(chosen) == 1 else None))
        elif isinstance(value, dict):
            answers += flat(value).items()
        else:
            answers.append((name, value))
    return answers


def _split_lists(table: SourceTable, lists: dict[str, list[Any]], mapping: LabelMapping) -> tuple[SourceTable, LabelMapping]:
    """A record for each place in the lists of a record."""
    people = [
        [
            {name: column[row][position] for name, column in lists.items() if position < len(column[row] or ())}
            for position in range(longest)
        ]
        for row in range(len(table.records))
        for longest in [max((len(column[row] or ()) for column in lists.values()), default=0)]
    ]
    return _join_answers(table, "", people, mapping, placed=True, without=lists)


def _join_answers(
    table: SourceTable,
    name: str,
    people: Sequence[Sequence[dict[str, Any]]],
    mapping: LabelMapping,
    *,
    placed: bool,
    without: Collection[str] = (),
) -> tuple[SourceTable, LabelMapping]:
    """The table with the answers of people beside the other cells; with `placed`, people are known by their places."""
    shared_columns = [column for column in table.columns if column != name and column not in without]
    records: list[Record] = []
    for record, answers in zip(table.records, people, strict=True):
        cells = {column: record.cells[column] for column in shared_columns if column in record.cells}
        for position, answer in enumerate(answers or [{}], start=1):
            free = {(f"{name}.{question}" if question in shared_columns else question): value for question, value in answer.items()}
            who = {"annotator_id": f"place {position}"} if placed and answers else {}
            records.append(record._replace(cells=cells | who | {column: value for column, value in free.items() if not is_blank(value)}))
    columns = list(dict.fromkeys([*shared_columns, *columns_of([record.cells for record in records]), *without]))
    read = quoted([name] if name else [*without])
    note = f"{read}: the answers of several people, in a list" if placed else f"{read}: read as answers, each in a column of its name"
    if placed and mapping.annotators is None:
        mapping = msgspec.structs.replace(mapping, annotators="positional")
        note += "; places are people (--annotators persistent, if a place is one person throughout)"
    return table._replace(columns=columns, records=records, notes=[*table.notes, note]), mapping
