"""Reads Argilla exports: records with the responses of every user, in one of three shapes.

- nested (`records.to_json(path)` of the current SDK): `responses: {question: [{value, user_id}]}`;
- flat (`records.to_list(flatten=True)`, and what `to_datasets()` writes): `<question>.responses`, `<question>.responses.users`,
  `<question>.responses.status`;
- the server's API: `responses: [{user_id, status, values: {question: {value}}}]`.

Only submitted responses are labels. The nested shape does not tell which responses are drafts or discarded, and a note says so; the other
two do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.errors import ContentError
from harness.exchange.labels.cell_scores import is_blank
from harness.exchange.labels.records import objects_in, with_preferences
from harness.exchange.labels.source_table import Record, SourceTable, columns_of

_ANSWERS = ".responses"


def is_record(row: Mapping[str, Any]) -> bool:
    """Return whether an object is an Argilla record in one of these shapes."""
    nested = isinstance(row.get("responses"), (dict, list)) and isinstance(row.get("fields"), dict)
    return nested or any(name.endswith(_ANSWERS) for name in row)


def read_records(path: Path, content: Any) -> SourceTable:
    """Read one record for each response. Drafts and discarded responses are counted and left out. Fields and metadata become columns."""
    rows = content["items"] if isinstance(content, dict) and isinstance(content.get("items"), list) else content
    records: list[Record] = []
    left_out: Counter[str] = Counter()
    unknown = 0
    for number, row in enumerate(objects_in(path, rows), start=1):
        if not is_record(row):
            problem = "not an Argilla record: it has neither 'fields' with 'responses' nor '<question>.responses'"
            raise ContentError(problem, f"{path}:record {number}")
        tail = f" (id {row['id']})" if "id" in row else ""
        cells_of_item = item_cells(row)
        try:
            answers = list(responses(row))
        except (AttributeError, TypeError, ValueError):  # parts of another type, lists of different lengths
            raise ContentError("its responses do not have Argilla's form", f"{path}:record {number}{tail}") from None
        for question, user, status, value in answers:
            if status not in (None, "submitted"):
                left_out[f"responses that are {status}:"] += 1
                continue
            unknown += status is None and row.get("status") != "completed"
            cells = {**cells_of_item, "annotator_id": user, "metric": question, "score": unwrapped(value)}
            records.append(Record({k: v for k, v in cells.items() if v is not None}, number, f"{path}:record ", {}, tail))
    if not records:
        raise ContentError("no record has a submitted response", path)
    records, scales, of_rankings = with_preferences(records)
    notes = of_rankings + [f"{times} {what} left out" for what, times in left_out.items()] + ([unknown_status(unknown)] if unknown else [])
    return SourceTable(
        "argilla", columns_of([record.cells for record in records]), records, notes, sum(left_out.values()), {"scales": scales}
    )


def unknown_status(responses: int) -> str:
    """A note on responses of unfinished records, in an export that does not say which of them are drafts."""
    return (
        f"{responses} responses may be drafts or discarded: this form of the export does not say so, and they are read as submitted; "
        "export with records.to_list(flatten=True) to leave drafts out"
    )


def item_cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """Id, fields and metadata of a record. A field with the name of one of our columns becomes `fields.<name>`."""
    our_columns = ("annotator_id", "metric", "score")
    plain = {k: v for k, v in row.items() if ".suggestion" not in k and _ANSWERS not in k}
    for part in ("fields", "metadata"):
        if isinstance(members := plain.pop(part, None), dict):
            plain |= {f"{part}.{k}" if k in our_columns else k: v for k, v in members.items()}
    for name in ("responses", "suggestions", "vectors", "_server_id"):
        plain.pop(name, None)
    identity = next((row[key] for key in ("external_id", "id") if not is_blank(row.get(key))), None)
    return {"item_id": identity, **{k: v for k, v in plain.items() if k != "id" and isinstance(v, (str, int, float))}}


def responses(row: Mapping[str, Any]) -> Iterator[tuple[str, Any, str | None, Any]]:
    """(question, user, status, value) of every response."""
    answers = row.get("responses")
    if isinstance(answers, dict):
        for question, answers_of_users in answers.items():
            for response in answers_of_users or ():
                yield question, response.get("user_id"), response.get("status"), response.get("value")
    elif isinstance(answers, list):
        for response in answers:
            for question, answer in (response.get("values") or {}).items():
                yield question, response.get("user_id"), response.get("status"), answer.get("value")
    for name in row:
        if name.endswith(_ANSWERS):
            values = row[name] or []
            users = row.get(f"{name}.users") or [None] * len(values)
            states = row.get(f"{name}.status") or [None] * len(values)
            yield from zip([name.removesuffix(_ANSWERS)] * len(values), users, states, values, strict=True)


def unwrapped(value: Any) -> Any:
    """The label itself if it is the only element of a list."""
    return value[0] if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], dict) else value
