"""Which column of a source holds what: as the mapping says, else by its name. And with that, the labels of a source one by one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from harness.errors import ContentError
from harness.labels.mapping import ROLES, LabelMapping, Wide
from harness.labels.table import Record, Table, is_blank
from harness.model import Source, Split

# Names under which a column is found when the mapping does not name it; earlier ones win.
_USUAL: dict[str, tuple[str, ...]] = {
    "item_id": ("item_id", "item", "id", "example_id", "sample_id", "segment_id", "text_id"),
    "annotator_id": ("annotator_id", "annotator", "worker_id", "worker", "user_id", "user", "rater_id", "rater", "annotated_by", "coder"),
    "metric": ("metric", "dimension", "question", "criterion", "aspect"),
    "score": ("score", "label", "rating", "value"),
    "language": ("language", "lang", "language_code", "locale"),
    "task": ("task", "task_id", "task_name"),
    "group": ("group", "group_id"),
    "system": ("system", "system_id"),
    "parallel_id": ("parallel_id",),
    "source": ("source",),
    "split": ("split",),
}
_ONLY_WITH: dict[str, Collection[str]] = {"source": get_args(Source), "split": get_args(Split)}  # else the column means something else


NO_ITEM_ID = "no column holds the items' ids; name it with --column item_id=COLUMN"


class Plan(NamedTuple):
    """`columns` by role, the columns of scores (none: one row is one label), columns of texts by field; `guessed` for people to see."""

    columns: Mapping[str, str]
    wide: Sequence[Wide]
    texts: Mapping[str, str]
    guessed: Mapping[str, str]


class Found(NamedTuple):
    """One label as it stands in the source, nothing about it checked yet."""

    place: str
    record: Record
    item_id: Any
    annotator: Any
    metric: Any
    score: Any
    source: Any


class Blank(NamedTuple):
    """A cell for a score in which nothing stands; its item is one all the same."""

    record: Record
    item_id: Any


def make_plan(table: Table, mapping: LabelMapping, metrics: Collection[str], texts: Collection[str], place: str) -> Plan:
    """Find every column that is needed.

    `metrics` are the names that have a scale, `texts` the names of texts of the tasks: columns of these names are taken for them where the
    mapping says nothing. `place` begins the messages. Raises ContentError for a column that is named and not there, or that nothing names.
    """
    wide = mapping.scored_columns
    _refuse_missing(table, [*mapping.named_columns.values(), *mapping.texts.values(), *(w.column for w in wide)], place)
    taken = {*mapping.texts.values(), *(w.column for w in wide)}
    wanted = [role for role in ROLES if mapping.constant(role) is None and not _given_by(wide, role)]
    columns, guessed = find_columns(table, mapping.named_columns, wanted, taken)
    taken |= set(columns.values())
    if not wide and not {"score", "metric"} & columns.keys() and mapping.metric is None:
        wide = tuple(Wide(column=name, metric=name) for name in table.columns if name in metrics and name not in taken)
        guessed |= {f"metric {w.metric}": w.column for w in wide}
    _require(table, columns, wide, mapping, place)
    fields = dict(mapping.texts) or {name: name for name in table.columns if name in texts and name not in taken}
    return Plan(columns, wide, fields, guessed)


def find_columns(
    table: Table, named: Mapping[str, str], roles: Iterable[str], taken: Collection[str] = ()
) -> tuple[dict[str, str], dict[str, str]]:
    """(`{role: column}`, those of them that were guessed): `named` ones, and for other `roles` the column with a usual name, if any."""
    columns, guessed = dict(named), {}
    for role in roles:
        if role not in columns and (column := _usual(table, role, {*taken, *columns.values()})) is not None:
            columns[role] = guessed[role] = column
    return columns, guessed


def _refuse_missing(table: Table, names: Sequence[str], place: str) -> None:
    if missing := [name for name in dict.fromkeys(names) if name not in table.columns]:
        is_are = "is no column" if len(missing) == 1 else "are no columns"
        shown = ", ".join(f"'{name}'" for name in missing)
        raise ContentError(f"{shown} {is_are} here; the columns are: {', '.join(table.columns)}", place)


def _given_by(wide: Sequence[Wide], role: str) -> bool:
    if not wide or role == "score":
        return bool(wide)
    return role in ("annotator_id", "metric") and all(getattr(w, role.removesuffix("_id")) is not None for w in wide)


def _usual(table: Table, role: str, taken: Collection[str]) -> str | None:
    by_name = {re.sub(r"[\s.-]+", "_", name.strip().casefold()): name for name in reversed(table.columns) if name not in taken}
    for name in _USUAL.get(role, ()):
        if name in by_name:
            column = by_name[name]
            allowed = _ONLY_WITH.get(role)
            if allowed and not all(record.cells.get(column) in (None, *allowed) for record in table.records):
                return None
            return column
    return None


def _require(table: Table, columns: Mapping[str, str], wide: Sequence[Wide], mapping: LabelMapping, place: str) -> None:
    needed = {
        "item_id": NO_ITEM_ID,
        "score": "no column holds the scores; name it with --column score=COLUMN, or several with --wide-annotators or --wide-metrics",
        "metric": "nothing says which metric is scored; give --metric NAME or --column metric=COLUMN",
        "annotator_id": "nothing says who scored; give --column annotator_id=COLUMN, --annotator NAME or --annotators aggregate",
    }
    for role, message in needed.items():
        if role in columns or mapping.constant(role) is not None or _given_by(wide, role):
            continue
        if role != "annotator_id" or mapping.annotators != "aggregate":
            raise ContentError(f"{message} (the columns are: {', '.join(table.columns)})", place)


def labels_of(table: Table, plan: Plan, mapping: LabelMapping) -> Iterator[Found | Blank]:
    """Every label of the source in its order, and every blank cell of a wide source and of a sheet, which is no label."""
    columns = plan.columns
    for record in table.records:
        cells = record.cells
        own = {role: cells.get(column) for role, column in columns.items()}
        who = own.get("annotator_id") if mapping.annotator is None else mapping.annotator
        metric = own.get("metric") if mapping.metric is None else mapping.metric
        source = own.get("source") if mapping.source is None or "source" in mapping.columns else None
        for wide in plan.wide or (None,):
            score = own.get("score") if wide is None else cells.get(wide.column)
            if is_blank(score) and (wide is not None or table.kind == "sheet"):
                yield Blank(record, own.get("item_id"))
                continue
            place = _place(record, columns.get("score", "score") if wide is None else wide.column, table, wide)
            yield Found(
                place,
                record,
                own.get("item_id"),
                wide.annotator if wide and wide.annotator is not None else who,
                wide.metric if wide and wide.metric is not None else metric,
                score,
                source,
            )


def _place(record: Record, column: str, table: Table, wide: Wide | None) -> str:
    """Of several labels in a line, the number of the column says which; its name may be a person's."""
    place = record.place(column)
    return place if wide is None or record.letters else f"{place} (column {list(table.columns).index(column) + 1})"
