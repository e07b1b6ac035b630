"""Reads score records: a list of objects or a table, with field names from a preset or the user."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from harness.content.tags import suggest
from harness.errors import ContentError, UsageError
from harness.exchange.labels.table import SourceTable, flat, is_blank
from harness.exchange.scores.external_scores import ExternalScore, ExternalScores, Reader, ReadOptions, Rows
from harness.model import Failure

TABLE = "table"
_USUAL_TEXTS = ("input", "prompt", "source", "passage", "output", "response", "text", "output_a", "output_b")
_PRESETS = Path(__file__).with_name("presets.toml")


class RecordNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the parts of a score stand in a record; nested keys are joined by dots.

    Attributes:
        each: the lists that lead to the records; what stands around a record has the name of its list in front.
        item, value, who: names; the first that a record has counts.
        metric, explanation, repeat, variant, temperature: names.
        error: the name of what says why there is no score.
        kind, people: the name of the kind of source, and its values that mean a person.
        skip: `{name: value}` of records that do not count.
        texts: texts of the items, by our name.
        quoted: whether these texts are JSON, so that a plain text stands in quotation marks.
    """

    item: tuple[str, ...] = ()
    metric: str = "metric"
    value: tuple[str, ...] = ("score", "value")
    each: tuple[str, ...] = ()
    explanation: str = ""
    who: tuple[str, ...] = ()
    kind: str = ""
    people: tuple[str, ...] = ()
    error: str = ""
    repeat: str = ""
    variant: str = ""
    temperature: str = ""
    skip: dict[str, Any] = {}
    texts: dict[str, str] = {}
    quoted: bool = False

    @property
    def own(self) -> frozenset[str]:
        """The names of fields that are about the score, not about the item."""
        return frozenset((self.metric, self.explanation, self.kind, self.error, *self.value, *self.who))


@cache
def presets() -> dict[str, RecordNames]:
    """The presets by name."""
    return msgspec.toml.decode(_PRESETS.read_bytes(), type=dict[str, RecordNames])


def preset(name: str) -> RecordNames:
    """The preset of a name. Raises UsageError for another name."""
    if name not in presets():
        raise UsageError(f"no preset '{name}'.{suggest(name, presets())} Choose from: {', '.join(presets())}")
    return presets()[name]


def preset_of(content: Any) -> str | None:
    """The preset that fits a JSON file: by its lists, else by the fields of the first record; None if there is none."""
    return next((name for name, names in presets().items() if _fits(content, names)), None)


def _fits(content: Any, names: RecordNames) -> bool:
    first, *inner = names.each or [""]
    if isinstance(content, dict) and not (first and isinstance(content.get(first), list)):
        return False
    if isinstance(content, dict) and inner:
        return True
    rows = content[first] if isinstance(content, dict) else content
    if not (isinstance(rows, list) and rows and isinstance(rows[0], dict)):
        return False
    record = flat(rows[0])
    if inner:
        return isinstance(record.get(inner[0]), list) and any(name.removeprefix(f"{first}.") in record for name in names.item)
    return bool(names.kind) and {names.metric, names.kind} <= record.keys() and any(name in record for name in names.item)


def listed(content: Any) -> Any:
    """A JSON value with its records in a list: one trace of MLflow (`trace.to_json()`) or of Langfuse, a data frame by columns."""
    if not isinstance(content, dict):
        return content
    about = content.get("info")
    if isinstance(about, dict) and "trace_id" in about:
        return {"traces": [content]}
    if isinstance(content.get("scores"), list) and "id" in content:
        return {"data": [content]}
    return _rows_of_columns(content) or content


def _rows_of_columns(content: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of a data frame that was saved column by column, as `DataFrame.to_json` does by default; None for another form."""
    columns = list(content.values())
    if len(columns) < 2 or not all(isinstance(column, dict) and column and column.keys() == columns[0].keys() for column in columns):
        return None
    return [{name: column[row] for name, column in content.items()} for row in columns[0]]


def _with_lists(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> list[dict[str, Any]]:
    """The rows of a table, with the lists of objects in some columns that a CSV file holds as text: JSON, or as Python writes them."""
    return [{**row, **{name: _nested(row[name]) for name in columns if name in row}} for row in rows]


def _nested(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith("[{"):
        return value
    try:
        return msgspec.json.decode(value) if value.startswith('[{"') else ast.literal_eval(value)
    except (msgspec.DecodeError, ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def records_in(content: Any, names: RecordNames, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """`(place, fields)` of every record."""
    steps = names.each[1:] if isinstance(content, list) else names.each
    head = names.each[0] if names.each and isinstance(content, list) else ""
    if not isinstance(content, list) and not steps:
        raise ContentError("a list of records is expected", place)
    numbered = _walk(content, steps, head, {})
    return ((f"{place}:record {number}", fields) for number, fields in enumerate(numbered, start=1))


def _walk(node: Any, steps: Sequence[str], head: str, around: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if isinstance(node, list):
        for element in node:
            yield from _walk(element, steps, head, around)
        return
    if not isinstance(node, dict):
        return
    fields = flat(node)
    if not steps:
        yield {**around, **fields}
        return
    own = {f"{head}.{name}" if head else name: value for name, value in fields.items() if not isinstance(value, list)}
    below: Any = node
    for key in steps[0].split("."):
        below = below.get(key) if isinstance(below, dict) else None
    yield from _walk(below or [], steps[1:], steps[0].rpartition(".")[2], {**around, **own})


def read_records(path: Path, rows: Sequence[tuple[str, Mapping[str, Any]]], names: RecordNames, wide: Sequence[str] = ()) -> ExternalScores:
    """Read `(place, fields)` records; with `wide`, these columns hold the scores of one metric each.

    Raises ContentError if none has the named fields.
    """
    kept = [(place, row) for place, row in rows if not any(row.get(name) == value for name, value in names.skip.items())]
    if not kept:
        raise ContentError("no records", path)
    known = {name for _, row in kept for name in row}
    place = kept[0][0]
    for what, wanted in (("item", names.item), ("score", wide or names.value)):
        if wanted and not known & {*wanted, *((names.error,) if what == "score" else ())}:
            found = ", ".join(sorted(known)[:30])
            hint = "; --wide-metrics names columns that hold the scores of one metric each" if what == "score" else ""
            raise ContentError(f"no field for the {what}: {' or '.join(wanted)} is expected; the fields are: {found}{hint}", place)
    if names.quoted:
        kept = [(place, {**row, **_unquoted(row, names)}) for place, row in kept]
    left_out = len(rows) - len(kept)
    notes = [f"{left_out} superseded records left out"] if left_out else []
    if not wide:
        return ExternalScores("records", [_score(place, row, names) for place, row in kept], notes, _texts(names, kept))
    scores = []
    for place, row in kept:
        for metric in wide:
            own = msgspec.structs.replace(names, value=(metric,), explanation=f"{metric}_reason", error="")
            scores.append(msgspec.structs.replace(_score(place, row, own), metric=metric))
    return ExternalScores("records", scores, notes, _texts(names, kept))


def _texts(names: RecordNames, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """The texts of a preset; of other records, the usual names of texts."""
    known = {name for _, row in rows for name in row}
    return names.texts or {name: name for name in _USUAL_TEXTS if name in known - names.own}


def _unquoted(row: Mapping[str, Any], names: RecordNames) -> dict[str, Any]:
    """The texts of a record that are one JSON text, without its quotation marks."""
    texts = {field: row[field] for field in names.texts.values() if isinstance(row.get(field), str) and row[field][:1] == '"'}
    return {field: text for field, value in texts.items() if (text := _json_text(value)) is not None}


def _json_text(value: str) -> str | None:
    try:
        return msgspec.json.decode(value, type=str)
    except msgspec.DecodeError:
        return None


def _score(place: str, row: Mapping[str, Any], names: RecordNames) -> ExternalScore:
    human = bool(names.kind) and str(row.get(names.kind)) in names.people
    value, error = _first(row, names.value), row.get(names.error) if names.error else None
    return ExternalScore(
        place=place,
        item=_first(row, names.item),
        fields=row,
        metric=_text(row.get(names.metric)),
        value=value,
        failure=_failure(value, error),
        justification=_text(row.get(names.explanation)),
        who=_text(_first(row, names.who)),
        human=human,
        repeat=_whole(row.get(names.repeat)) if names.repeat else None,
        variant=_text(row.get(names.variant)) if names.variant else None,
        temperature=_number(row.get(names.temperature)) if names.temperature else None,
    )


def _first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if not is_blank(row.get(name))), None)


def _failure(value: Any, error: Any) -> Failure | None:
    """A named failure counts as it is; any other error is a reply that could not be read."""
    if not is_blank(error):
        text = str(error).strip().casefold()
        return Failure(text) if text in {kind.value for kind in Failure} else Failure.NOT_JSON
    return Failure.MISSING if is_blank(value) or value != value else None


def _text(value: Any) -> str | None:
    return None if is_blank(value) else str(value)


def _whole(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number.is_integer() and number >= 0 else None


def _number(value: Any) -> float | None:
    try:
        return None if is_blank(value) else float(value)
    except (TypeError, ValueError):
        return None


def _read_json(path: Path, content: Any, options: ReadOptions) -> ExternalScores:
    content = listed(content)
    names = _names(options, content)
    return read_records(path, list(records_in(content, names, str(path))), names, options.wide_metrics)


def _read_lines(rows: Rows, options: ReadOptions) -> ExternalScores:
    names = _names(options, [row for _, _, row in rows[:1]])
    flattened = [record for path, number, row in rows for record in records_in([row], names, f"{path}:{number}")]
    return read_records(rows[0][0], flattened, names, options.wide_metrics)


def _read_table(path: Path, table: SourceTable, options: ReadOptions) -> ExternalScores:
    if {"Named Scores", "Grader Reason"} <= set(table.columns):
        raise ContentError("promptfoo's table has means of assertions and no failures; import its JSON file (-o results.json)", path)
    cells = [record.cells for record in table.records]
    names = _names(options, _with_lists(cells[:1], {name for known in presets().values() for name in known.each[1:]}))
    rows = _with_lists(cells, names.each[1:]) if names.each else cells
    placed = [(record.place(), row) for record, row in zip(table.records, rows, strict=True)]
    flattened = [record for place, row in placed for record in records_in([row], names, place)] if names.each else placed
    return read_records(path, flattened, names, options.wide_metrics)


def _names(options: ReadOptions, content: Any) -> RecordNames:
    """The names of the preset that is given or fits, with those that the user gives."""
    names = preset(options.preset or preset_of(content) or TABLE)
    return msgspec.structs.replace(names, **{name: value for name, value in options.names.items() if value})


READERS = {"records": Reader(read_json=_read_json, read_lines=_read_lines, read_table=_read_table, persistent=True)}
