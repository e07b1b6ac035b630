"""Finds the columns of a source, by the mapping or by their names, and reads its labels one by one.

Cells may hold the answers of several people, or of one person to several questions: lists and objects, turned into rows and columns.
`[4, 2, 2]` are the scores of three people, who are known by their places only. `[{"rater": "a", "fluency": 4}, …]` are people with
their answers, and `{"fluency": 4, "adequacy": 2}` are the answers of one. CSV files hold them as JSON, or as Python writes them.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import msgspec

from harness.content.column_words import column_words, is_judge_name
from harness.content.specs import ROLES, LabelMapping, ScoreColumn
from harness.errors import ContentError
from harness.exchange.labels.cell_scores import Unreadable, is_blank
from harness.exchange.labels.source_table import Record, SourceTable, columns_of, flat
from harness.exchange.labels.table_columns import column_of_table, columns_of_table
from harness.model import Source, Split
from harness.text import quoted

# The words for each role (see `column_words`), and the roles whose first word in each language alone is meant: a document is no group of
# texts before somebody says so. Other names are exact.
_WORDS = {
    "item_id": ("id",),
    "annotator_id": ("annotator", "account"),
    "metric": ("metric",),
    "score": ("scores",),
    "language": ("language",),
}
_FIRST_WORDS = ("group", "system")
_EXACT_NAMES = {"task": ("task", "task_id", "task_name"), "parallel_id": ("parallel_id",), "source": ("source",), "split": ("split",)}
_ALLOWED_VALUES: dict[str, Collection[str]] = {"source": get_args(Source), "split": get_args(Split)}  # other values: another meaning


_LINE = "\n         "  # as commands show the lines of an error
NO_ITEM_ID = "no column with item ids was found; name it with --column item_id=COLUMN"


class ColumnPlan(NamedTuple):
    """The column of each role: `columns` by role, `wide` columns of scores (if none, one row is one label), `texts` by field.

    `guessed` holds the columns that were found by their names, so that people can check them.
    """

    columns: Mapping[str, str]
    wide: Sequence[ScoreColumn]
    texts: Mapping[str, str]
    guessed: Mapping[str, str]


class SourceLabel(NamedTuple):
    """One label as the source has it, without any check."""

    place: str
    record: Record
    item_id: Any
    annotator: Any
    metric: Any
    score: Any
    source: Any


class BlankCell(NamedTuple):
    """An empty score cell. Its item counts all the same."""

    record: Record
    item_id: Any


def make_column_plan(
    table: SourceTable, mapping: LabelMapping, metrics: Collection[str], texts: Collection[str], location: str, *, scored: bool = True
) -> ColumnPlan:
    """Find every column that is needed.

    `metrics` are the metrics with a scale, and `texts` the texts of the tasks; if the mapping does not name their columns, columns of the
    same name are used. Without `scored`, only the items are read. Error messages begin with `place`.
    Raises ContentError for a named column that does not exist and for a needed column that is not found.
    """
    wide = mapping.scored_columns
    mapped = [*mapping.named_columns.values(), *mapping.texts.values(), *(w.column for w in wide)]
    absent = [name for name in dict.fromkeys(mapped) if name not in table.columns]
    missing = [quoted(absent) + (" is not a column" if len(absent) == 1 else " are not columns")] if absent else []
    used = {*mapping.texts.values(), *(w.column for w in wide)}
    needed_roles = [role for role in ROLES if mapping.constant(role) is None and not _is_given_by(wide, role)]
    columns, guessed = find_columns(table, mapping.named_columns, needed_roles, used)
    used |= set(columns.values())
    if not wide and not {"score", "metric"} & columns.keys() and mapping.metric is None:
        wide = tuple(ScoreColumn(column=name, metric=name) for name in table.columns if name in metrics and name not in used)
        guessed |= {f"metric {w.metric}": w.column for w in wide}
    unknown = [message for role, message in _find_unknown_roles(columns, wide, mapping) if scored or role == "item_id"]
    if missing or unknown:
        choices = f"the columns are: {', '.join(table.columns)}"
        if len(problems := [*missing, *unknown]) == 1:
            raise ContentError(problems[0] + (f" ({choices})" if unknown else f"; {choices}"), location)
        hints = [f"'harness start {shlex.quote(location)}' finds all this by itself, and says what it takes for what"]
        free = [] if wide or not scored else [column for column in columns_of_table(table) if column.name not in used]
        if people := [column.name for column in free if column.looks_like_scores and not is_judge_name(column.name)]:
            hints.insert(0, f"if {quoted(people)} have one person's scores each: --wide-annotators {shlex.quote(','.join(people))}")
        raise ContentError(_LINE.join([f"{len(problems)} things are missing; {choices}", *problems, *hints]), location)
    fields = dict(mapping.texts) or {name: name for name in table.columns if name in texts and name not in used}
    return ColumnPlan(columns, wide, fields, guessed)


def find_columns(
    table: SourceTable, column_of_role: Mapping[str, str], roles: Iterable[str], used: Collection[str] = ()
) -> tuple[dict[str, str], dict[str, str]]:
    """Return `{role: column}` and the guessed part of it.

    A role without a named column gets the column whose name says the role and nothing else, in any language of the words for columns, if
    there is one; earlier words win.
    """
    columns, guessed = dict(column_of_role), {}
    for role in roles:
        if role in columns:
            continue
        taken = {*used, *columns.values()}
        ranked = [(rank, name) for name in table.columns if name not in taken and (rank := _rank(table, role, name)) is not None]
        if ranked:
            columns[role] = guessed[role] = min(ranked, key=lambda pair: pair[0])[1]
    return columns, guessed


def _is_given_by(wide: Sequence[ScoreColumn], role: str) -> bool:
    if not wide or role == "score":
        return bool(wide)
    if role == "annotator_id":
        return all(w.annotator is not None or w.votes_for is not None for w in wide)
    return role == "metric" and all(w.metric is not None for w in wide)


def _to_snake_case(name: str) -> str:
    """A name in small letters, with an underscore between its words.

    >>> _to_snake_case("Annotator Name"), _to_snake_case("WorkerId"), _to_snake_case("item-ID")
    ('annotator_name', 'worker_id', 'item_id')
    """
    return re.sub(r"[\s._-]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())).casefold()


def _rank(table: SourceTable, role: str, name: str) -> int | None:
    """Return how well a column fits a role, 0 the best; None where its name says something else, or its cells do."""
    words = column_words()
    if role in _EXACT_NAMES:
        names, allowed = _EXACT_NAMES[role], _ALLOWED_VALUES.get(role)
        fits = _to_snake_case(name) in names and (
            not allowed or all(record.cells.get(name) in (None, *allowed) for record in table.records)
        )
        return names.index(_to_snake_case(name)) if fits else None
    if role in _FIRST_WORDS:
        first = [listed[0] for listed in words.roles[role].values()]
        snake = _to_snake_case(name).removesuffix("_id")
        return first.index(snake) if snake in first else None
    ranks = ((index, rank) for index, listed in enumerate(_WORDS[role]) if (rank := words.rank_of_name(listed, name)) is not None)
    if (best := next(ranks, None)) is None or (role == "annotator_id" and is_judge_name(name)):
        return None
    if role in ("score", "metric"):  # a note may be a mark or a remark, and a quality what was scored or its score
        column = column_of_table(table, name)
        if column.is_text or column.holds_objects or (role == "metric" and (column.is_numeric or column.looks_like_scores)):
            return None
    return best[0] * len(words.of_role(_WORDS[role][0])) + best[1]


def _find_unknown_roles(columns: Mapping[str, str], wide: Sequence[ScoreColumn], mapping: LabelMapping) -> Iterator[tuple[str, str]]:
    """Each role that nothing gives, with a sentence on it."""
    needed = {
        "item_id": NO_ITEM_ID,
        "score": "no column with scores was found; name it with --column score=COLUMN, or several with --wide-annotators or --wide-metrics",
        "metric": "the metric of the scores is unknown; give --metric NAME or --column metric=COLUMN",
        "annotator_id": "the annotator of the scores is unknown; give --column annotator_id=COLUMN, --annotator NAME or "
        "--annotators aggregate",
    }
    for role, message in needed.items():
        if role in columns or mapping.constant(role) is not None or _is_given_by(wide, role):
            continue
        if role != "annotator_id" or mapping.annotators != "aggregate":
            yield role, message


def iterate_labels(table: SourceTable, plan: ColumnPlan, mapping: LabelMapping) -> Iterator[SourceLabel | BlankCell]:
    """Yield every label of the source in order, and every blank score cell of a wide source or a sheet."""
    columns, no_answer = plan.columns, {text.strip().casefold() for text in mapping.no_answer}
    for record in table.records:
        cells = record.cells
        values = {role: cells.get(column) for role, column in columns.items()}
        annotator = values.get("annotator_id") if mapping.annotator is None else mapping.annotator
        metric = values.get("metric") if mapping.metric is None else mapping.metric
        source = values.get("source") if mapping.source is None or "source" in mapping.columns else None
        voters: Counter[Any] = Counter()
        for wide in plan.wide or (None,):
            score = values.get("score") if wide is None else cells.get(wide.column)
            nobody = is_blank(values.get("annotator_id"))  # a text that nobody has scored
            if str(score).strip().casefold() in no_answer or (is_blank(score) and (wide is not None or table.kind == "sheet" or nobody)):
                yield BlankCell(record, values.get("item_id"))
                continue
            # The place of a label. If a line has several labels, it includes the number of the column, not its name: that may be a
            # person's.
            column = columns.get("score", "score") if wide is None else wide.column
            location = record.place(column)
            location = location if wide is None or record.letters else f"{location} (column {list(table.columns).index(column) + 1})"
            label = SourceLabel(
                location,
                record,
                values.get("item_id"),
                wide.annotator if wide and wide.annotator is not None else annotator,
                wide.metric if wide and wide.metric is not None else metric,
                score,
                source,
            )
            if wide is None or wide.votes_for is None:
                yield label
                continue
            # The cell is a number of votes: a label a vote. anon-1 to anon-n number the votes on one metric of one item.
            text = str(score).strip()
            if not re.fullmatch(r"\d{1,4}(\.0+)?", text, re.ASCII):
                yield label._replace(score=Unreadable(f"'{text}' is no number of votes on one text, from 0 to 9999"), annotator="anon-1")
                continue
            first, count = voters[label.metric] + 1, int(float(text))
            for number in range(first, first + count):
                yield label._replace(score=wide.votes_for, annotator=f"anon-{number}")
            voters[label.metric] += count
            if not count:
                yield BlankCell(record, label.item_id)


_MOST_PEOPLE = 30  # of one text: longer lists hold something else
_MOST_VALUES = 101  # different numbers of a column of scores: 0 to 100
_FEW_ROWS = 3
_LONGEST_CELL = 100_000  # characters
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_BLOCK = re.compile(r"```(?:json)?\s*([\[{].*?)\s*```", re.DOTALL | re.IGNORECASE)
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
    values = {name: [parse_cell(record.cells.get(name)) for record in table.records] for name in table.columns if name not in mapping.drop}
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
    people = [answers_of_people(cell) for cell in values[objects[0]]]
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


def parse_cell(cell: Any) -> Any:
    """Return the list or object of a cell, which may be text, also as a block of code; any other cell as it is."""
    if isinstance(cell, str) and (block := _BLOCK.fullmatch(cell.strip())):
        cell = block[1]
    if not isinstance(cell, str) or cell.lstrip()[:1] not in ("[", "{") or len(cell) > _LONGEST_CELL:
        return list(cell) if isinstance(cell, tuple) and type(cell) is tuple else cell
    try:
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        if _NUMBERS.fullmatch(cell.strip()):
            return [float(part) if "." in part else int(part) for part in cell.strip(" []").split()]
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


def answers_of_people(cell: Any) -> list[dict[str, Any]]:
    """Return the answers of each person in a cell of objects, by question."""
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
