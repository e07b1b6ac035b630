"""Other layouts of labels, turned into one record a score: ids made of several columns, a row a person and a column an item (forms), and
Potato's scores as keys; and plain tables that programs export (promptfoo, Langfuse, Label Studio), with columns whose names say what they
hold. Answers in JSON and lists of raters that stand inside cells become columns and rows.

A program's table is known by the names of its columns. What the rows hold stays; what the program notes for itself is left out, and a
note says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from harness.content.column_words import column_words, is_judge_name
from harness.errors import ContentError, UsageError
from harness.exchange.labels.cell_scores import MOST_CLASSES, Unreadable, UnreadableScore, id_text, is_blank
from harness.exchange.labels.columns_of_source import answers_of_people, parse_cell
from harness.exchange.labels.source_table import Record, SourceTable, columns_of, flat
from harness.exchange.labels.table_columns import column_of_table
from harness.text import quoted
from harness.timed_patterns import TOO_SLOW, Pattern, SlowPattern

_POTATO = ("instance_id", "user_id")
_ON = ("on", "true", "1")
_BEGINNINGS = ("{", "[", "```")
_LOOKED_AT = 20  # cells of a column
_MOST_IN_LIST = 40  # scores of one text, of all metrics
_LONGEST_WORD = 40  # characters of a verdict


ROW_NUMBER = "#"
ITEM_ID = "item_id"


def with_ids(table: SourceTable, columns: Sequence[str], location: str) -> SourceTable:
    """The table with a column `item_id`: the values of `columns`, joined by a hyphen; `#` is the number of the row.

    A record that lacks one of them has no id, and is refused later. Raises ContentError for a column that the table does not have.

    >>> table = SourceTable("csv", ["question", "system"], [Record({"question": 3, "system": "A"}, 2, "x.csv:")])
    >>> with_ids(table, ["question", "system"], "x.csv").records[0].cells["item_id"]
    '3-A'
    """
    if missing := [name for name in columns if name not in (*table.columns, ROW_NUMBER)]:
        raise ContentError(f"--id-from: {quoted(missing)} is not a column; the columns are: {', '.join(table.columns)}", location)
    records = []
    parts_of: dict[str, tuple[str, ...]] = {}  # of a joined id: 1-2 and 3 make the same as 1 and 2-3
    for record in table.records:
        cells = {name: value for name, value in record.cells.items() if name != ITEM_ID}
        parts = [record.number if name == ROW_NUMBER else record.cells.get(name) for name in columns]
        if not any(map(is_blank, parts)):
            try:
                texts = tuple(id_text(part, "item id") for part in parts)
            except UnreadableScore as err:
                cells[ITEM_ID] = Unreadable(str(err))
            else:
                joined = "-".join(texts)
                earlier = parts_of.setdefault(joined, texts)
                why = f"the item id '{joined}' joins {quoted(texts)} here and {quoted(earlier)} in an earlier row; they are two items"
                cells[ITEM_ID] = joined if earlier == texts else Unreadable(why)
        records.append(record._replace(cells=cells))
    return table._replace(columns=list(dict.fromkeys([*table.columns, ITEM_ID])), records=records)


def one_record_per_item(table: SourceTable, pattern: str, location: str) -> SourceTable:
    """A form's answers, a row a person: each column whose whole name matches `pattern` has the scores of one item; others stay.

    `pattern` is a regular expression with the group `item`, and `metric` where there are several; `place` is that of the header. Raises
    UsageError for a pattern that cannot be, ContentError if no column matches.
    """
    try:
        names = Pattern(pattern)
    except ValueError as err:
        raise UsageError(f"--wide-items {pattern}: {err}") from None
    if "item" not in names.names or names.names - {"item", "metric"}:
        raise UsageError(rf"--wide-items {pattern}: name the item's part, such as \[(?P<item>[^]]+)\] (?P<metric>.+)")
    try:
        matches = {column: match for column in table.columns if (match := names.full_match(column))}
    except SlowPattern:
        raise UsageError(f"--wide-items {pattern} {TOO_SLOW} the name of a column ({location})") from None
    if not matches:
        raise ContentError(f"no column matches --wide-items {pattern}; the columns are: {', '.join(table.columns)}", location)
    shared_columns = [column for column in table.columns if column not in matches]
    records = []
    for record in table.records:
        shared_cells = {column: record.cells[column] for column in shared_columns if column in record.cells}
        for column, match in matches.items():
            if is_blank(record.cells.get(column)):
                continue
            cells = {"item_id": match["item"].strip(), "score": record.cells[column], **shared_cells}
            if "metric" in names.names and match["metric"] is not None:
                cells["metric"] = match["metric"].strip()
            letters = {"score": record.letters[column]} if column in record.letters else {}
            tail = record.tail if letters else f" (column {list(table.columns).index(column) + 1})"
            records.append(Record(cells, record.number, record.head, letters, tail))
    columns = ["item_id", *(["metric"] if "metric" in names.names else []), "score", *shared_columns]
    return table._replace(columns=columns, records=records)


def is_potato(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether flat rows are annotations of Potato: the score is a key, and its value says that it was chosen."""
    keys = {name for row in rows for name in row}
    return keys.issuperset(_POTATO) and any(_read_chosen(row) for row in rows)


def from_potato(table: SourceTable) -> SourceTable:
    """One record a chosen score: `labels.fluency.2 = "on"` (JSON) and `fluency.2 = "on"` (CSV) are the score 2 on `fluency`."""
    records = [
        record._replace(
            cells={"item_id": record.cells["instance_id"], "annotator_id": record.cells["user_id"], "metric": metric, "score": score}
        )
        for record in table.records
        for metric, score in _read_chosen(record.cells)
    ]
    return table._replace(columns=["item_id", "annotator_id", "metric", "score"], records=records)


def _read_chosen(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """`(scheme, score)` of every key that was chosen."""
    chosen = []
    for name, value in row.items():
        scheme, dot, score = name.removeprefix("labels.").rpartition(".")
        if dot and isinstance(value, str) and value.strip().casefold() in _ON:
            chosen.append((scheme, score))
    return chosen


def unwrapped_result(value: Any) -> Any:
    """The score in a cell of Label Studio's JSON-MIN: a rating is a list with one object, `[{"rating": 5}]`.

    >>> unwrapped_result([{"rating": 5}]), unwrapped_result([{"a": 1, "b": 2}]), unwrapped_result("2")
    (5, [{'a': 1, 'b': 2}], '2')
    """
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and len(value[0]) == 1:
        [(kind, score)] = value[0].items()
        if kind in ("rating", "number", "choices", "selected"):
            return score[0] if isinstance(score, list) and len(score) == 1 else score
    return value


GRADER = "grader"  # the column of promptfoo's verdicts: a judge's, by its name
_PROMPT = re.compile(r"\[[^]]+\] .*", re.DOTALL)  # the name of a column of outputs: provider and prompt
_OUTPUT = re.compile(r"\[(PASS|FAIL|ERROR)\] \([^)]*\)\s*(.*?)(?:\n+\s*(?:Pass|Fail) Reason: (.*))?", re.DOTALL)
_PROMPTFOO = ("Status", "Score", "Named Scores", "Grader Reason")
_PROMPTFOO_OWN = {"Status": GRADER, "Grader Reason": f"{GRADER} reason", "Reasoning": "reasoning", "Comment": "comment"}
_LANGFUSE = ("source", "name", "dataType", "value")
_LANGFUSE_KINDS = {"ANNOTATION": "human", "EVAL": "llm"}
_LANGFUSE_ITEMS = ("traceId", "observationId", "sessionId", "datasetRunId")
_LABEL_STUDIO = ("annotation_id", "annotator", "created_at", "updated_at", "lead_time")


def with_plain_names(table: SourceTable) -> SourceTable:
    """Return an export of a program with plain columns; any other table as it is."""
    names = {*table.columns}
    outputs = [name for name in table.columns if _PROMPT.fullmatch(name)]
    if outputs and any({*(name.removesuffix(f" {output}") for name in names)} >= {*_PROMPTFOO} for output in outputs):
        return _read_promptfoo(table, outputs, _read_columns_of_output)
    if outputs and all(_are_outputs(table, name) for name in outputs):
        return _read_promptfoo(table, outputs, _read_cell_of_output)
    if names >= {*_LANGFUSE} and names & {*_LANGFUSE_ITEMS}:
        # A row a score: who gave it, of what, on which metric. Scores of the programming interface stay of an unknown kind.
        records = []
        for record in table.records:
            cells = record.cells
            source = str(cells.get("source", "")).strip()
            kind = _LANGFUSE_KINDS.get(source.upper(), source)
            person = cells.get("authorUserId") or cells.get("author_user_id") or "person"
            row = {
                "item_id": next((cells[name] for name in _LANGFUSE_ITEMS if not is_blank(cells.get(name))), None),
                "metric": cells.get("name"),
                "rater_type": kind,
                "rater": person
                if kind == "human"
                else cells.get("evaluatorId") or cells.get("evaluator_id") or f"{source.lower()} evaluator",
                "score": cells.get("value") if is_blank(cells.get("stringValue")) else cells["stringValue"],
                "comment": cells.get("comment"),
            }
            records.append(record._replace(cells={name: cell for name, cell in row.items() if not is_blank(cell)}))
        if len({record.cells["rater_type"] for record in records}) == 1:  # then nothing has to be told apart
            records = [
                record._replace(cells={name: cell for name, cell in record.cells.items() if name != "rater_type"}) for record in records
            ]
        return _with_rows(
            table, records, "Langfuse's scores: ANNOTATION is people's, EVAL a judge's; of words, the number beside them is left out"
        )
    if names >= {*_LABEL_STUDIO}:
        # The rows without what the program notes of each annotation; a rating in JSON is its number.
        facts = {"annotation_id", "created_at", "updated_at", "lead_time"}
        records = []
        for record in table.records:
            cells = {name: _strip_messages(cell) for name, cell in record.cells.items() if name not in facts}
            records.append(record._replace(cells=cells))
        return _with_rows(table, records, "Label Studio's table: what it notes of each annotation is left out")
    return table


def distinct_names(header: list[str]) -> list[str]:
    """Return the header of promptfoo's table with the prompt behind repeated names: each prompt has a column `Status`, `Score`, …"""
    if header.count(_PROMPTFOO[2]) < 2:
        return header
    prompt, names, times = "", [], Counter(header)
    for name in header:
        prompt = name if _PROMPT.fullmatch(name) else prompt
        names.append(f"{name} {prompt}" if times[name] > 1 and name != prompt else name)
    return names


def _are_outputs(table: SourceTable, name: str) -> bool:
    cells = [record.cells[name] for record in table.records if not is_blank(record.cells.get(name))]
    return bool(cells) and all(isinstance(cell, str) and _OUTPUT.fullmatch(cell) for cell in cells)


def _read_promptfoo(table: SourceTable, outputs: Sequence[str], read: Callable[[dict[str, Any], str], dict[str, Any]]) -> SourceTable:
    """Return a row for each output, with its text, its system and what the grader said of it."""
    about = {f"{name}{end}" for name in (*_PROMPTFOO, *_PROMPTFOO_OWN) for end in ("", *(f" {output}" for output in outputs))}
    about |= {name for name in table.columns if name.startswith("Metric: ")}
    remaining = [name for name in table.columns if name not in about and name not in outputs]
    scored = [name for name in remaining if column_of_table(table, name).looks_like_scores] if len(outputs) > 1 else []
    if scored:
        raise UsageError(
            f"{quoted(scored)} holds scores, and a row of promptfoo's table has {len(outputs)} outputs: nothing says which one is scored; "
            "export one prompt, or give each output a row"
        )
    records = []
    for record in table.records:
        variables = {name: cell for name, cell in record.cells.items() if name not in outputs and name not in about}
        for output in outputs:
            if not is_blank(record.cells.get(output)):
                system = {"system": output} if len(outputs) > 1 else {}
                records.append(record._replace(cells=variables | system | read(record.cells, output)))
    note = (
        "promptfoo's table: PASS and FAIL are the grader's verdicts (or those of a person who changed them there, which the table does not "
        "say); the scores behind them are left out"
    )
    return _with_rows(table, records, note)


def _read_columns_of_output(cells: dict[str, Any], output: str) -> dict[str, Any]:
    """Return the parts of an output of the viewer's table, which has a column for each."""
    said = {our_name: cells.get(f"{their_name} {output}", cells.get(their_name)) for their_name, our_name in _PROMPTFOO_OWN.items()}
    return {"output": cells[output]} | {name: cell for name, cell in said.items() if not is_blank(cell)}


def _read_cell_of_output(cells: dict[str, Any], output: str) -> dict[str, Any]:
    """Return the parts of an output of `promptfoo eval -o FILE.csv`, where one cell holds verdict, score, text and reason."""
    match = _OUTPUT.fullmatch(str(cells[output]))
    verdict, text, reason = match.groups() if match else ("", "", None)
    return {"output": text, GRADER: verdict} | ({f"{GRADER} reason": reason} if reason else {})


def _strip_messages(cell: Any) -> Any:
    if not (isinstance(cell, str) and cell.lstrip().startswith(("[{", '{"'))):
        return cell
    try:
        value = msgspec.json.decode(cell)
    except msgspec.DecodeError:
        return cell
    plain = unwrapped_result(value)
    return cell if plain is value else plain


def _with_rows(table: SourceTable, records: list[Record], note: str) -> SourceTable:
    return table._replace(columns=columns_of([record.cells for record in records]), records=records, notes=[*table.notes, note])


def with_scores_of_cells(table: SourceTable) -> SourceTable:
    """Return a table whose answers in JSON have become columns, and whose lists of raters' scores have become rows; with a note on each."""
    for column in table.columns:
        filled = (cell for record in table.records if not is_blank(cell := record.cells.get(column)))
        if not any(
            isinstance(cell, (list, dict)) or (isinstance(cell, str) and cell.lstrip().startswith(_BEGINNINGS))
            for cell in islice(filled, _LOOKED_AT)
        ):
            continue
        parsed = [None if is_blank(cell := record.cells.get(column)) else parse_cell(cell) for record in table.records]
        values = [value for value in parsed if value is not None]
        if 2 * sum(isinstance(value, dict) for value in values) > len(values):
            table = _with_columns_of_answers(table, column, parsed)
        elif all(isinstance(value, list) and value and all(isinstance(part, dict) for part in value) for value in values):
            with_rows = _with_rows_of_raters(table, column, parsed)
            table = with_rows if with_rows is not table else _with_columns_of_lists(table, column, parsed)
        elif all(
            isinstance(value, list) and len(value) < 2 and not any(isinstance(part, (list, dict)) for part in value) for value in values
        ):
            # Lists of at most one value, as some tools write every answer: the value itself.
            cells = [value[0] if isinstance(value, list) and value else None for value in parsed]
            records = [record._replace(cells=record.cells | {column: cell}) for record, cell in zip(table.records, cells, strict=True)]
            table = table._replace(records=records)
        elif not is_judge_name(column):
            table = _with_columns_of_lists(table, column, parsed)
    return table


def _with_columns_of_lists(table: SourceTable, column: str, parsed: Sequence[Any]) -> SourceTable:
    """Return the table with a column for each place of the lists, if they hold scores: numbers, or objects of numbers by metric.

    >>> table = SourceTable("jsonl", ["text", "expert_scores"], [Record({"text": "a", "expert_scores": [4, 5]}, 1, "t.jsonl:")])
    >>> with_scores_of_cells(table).records[0].cells
    {'text': 'a', 'expert_scores 1': 4, 'expert_scores 2': 5}
    """
    words = column_words()
    person = words.in_name("people", column)
    if not person and any(words.in_name("people", name) for name in table.columns):
        return table  # lists of something else, such as places in the text, beside people's columns
    rows: list[dict[str, Any]] = []
    for value in parsed:
        cells: dict[str, Any] = {}
        for number, part in enumerate(value if isinstance(value, list) else [value], start=1):
            if isinstance(part, dict) and person:  # a person's scores by metric
                cells |= {f"{person} {number} {metric}": score for metric, score in part.items()}
            else:
                cells[f"{column} {number}"] = part
        rows.append({name: cell for name, cell in cells.items() if cell is not None})
    scores = [score for row in rows for score in row.values()]
    names = columns_of(rows)
    are_numbers = all(isinstance(score, (int, float)) and not isinstance(score, bool) for score in scores)
    if not are_numbers or len(names) > _MOST_IN_LIST or len(set(scores)) > MOST_CLASSES or set(names) & set(table.columns):
        return table
    records = [
        record._replace(cells={name: cell for name, cell in record.cells.items() if name != column} | row)
        for record, row in zip(table.records, rows, strict=True)
    ]
    index = list(table.columns).index(column)
    columns = [*table.columns[:index], *names, *table.columns[index + 1 :]]
    note = f"'{column}' holds lists of scores: each place of a list is a column, such as '{names[0]}'"
    return table._replace(columns=columns, records=records, notes=[*table.notes, note])


def _with_columns_of_answers(table: SourceTable, column: str, parsed: Sequence[Any]) -> SourceTable:
    """Return the table with the parts of the answers as columns. The only score keeps the name of the column, as does what is no JSON."""
    answers = [answer for answer in parsed if isinstance(answer, dict)]
    parts = columns_of([flat(answer) for answer in answers])
    words = column_words()
    is_side = is_judge_name(column) or bool(words.in_name("people", column) or words.in_name("annotator", column))
    scores = [part for part in parts if words.in_name("scores", part) and _are_scores(answers, part)]
    scores = scores or [part for part in parts if is_side and _are_scores(answers, part)]
    names = {part: column if [part] == scores else f"{column}.{part}" for part in parts}
    if not scores or {*names.values()} - {column} & {*table.columns}:
        return table
    records = []
    for record, answer in zip(table.records, parsed, strict=True):
        cells = dict(record.cells)
        cell = cells.pop(column, None)
        read = {names[part]: value for part, value in flat(answer).items()} if isinstance(answer, dict) else {names[scores[0]]: cell}
        cells |= {name: value for name, value in read.items() if not is_blank(value)}
        letters = dict.fromkeys(names.values(), record.letters.get(column, "")) | {**record.letters}
        records.append(record._replace(cells=cells, letters=letters))
    index = list(table.columns).index(column)
    columns = [*table.columns[:index], *dict.fromkeys(names[part] for part in parts), *table.columns[index + 1 :]]
    other_parts = [part for part in parts if part not in scores]
    beside_note = f"; {quoted(other_parts)} {'stands' if len(other_parts) == 1 else 'stand'} beside" if other_parts else ""
    unread = sum(answer is not None and not isinstance(answer, dict) for answer in parsed)
    more = f"; {unread:,} {'cell is' if unread == 1 else 'cells are'} no JSON and read as written" if unread else ""
    what = "its score is" if len(scores) == 1 else "its scores are"
    note = f"'{column}' holds answers in JSON: {what} {quoted(scores)}{beside_note}{more}"
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


def _with_rows_of_raters(table: SourceTable, column: str, parsed: Sequence[Any]) -> SourceTable:
    """Return the table with a row for each rater in a list; as it is, where the parts of the list are no raters with scores."""
    answers = [answers_of_people(value) for value in parsed]
    parts = [part for answer in answers for part in answer]
    words, names = column_words(), columns_of(parts)
    raters = [name for name in names if words.in_name("annotator", name) or words.in_name("account", name)]
    scores = [name for name in names if name not in raters and any(isinstance(part.get(name), (int, float, str)) for part in parts)]
    if not raters or not scores:
        return table
    plain = {name: name if name not in table.columns or name == column else f"{column}.{name}" for name in names}
    records: list[Record] = []
    for record, answer in zip(table.records, answers, strict=True):
        cells = {name: cell for name, cell in record.cells.items() if name != column}
        for part in answer or [{}]:
            of_rater = {plain[name]: value for name, value in part.items() if not is_blank(value)}
            records.append(record._replace(cells=cells | of_rater))
    index = list(table.columns).index(column)
    columns = [*table.columns[:index], *plain.values(), *table.columns[index + 1 :]]
    note = f"'{column}' holds lists of raters ({quoted(raters[:1])}): each rater's scores are a row"
    return table._replace(columns=list(dict.fromkeys(columns)), records=records, notes=[*table.notes, note])
