"""Our scores for other programs: tables for a hub of data sets, and scores for Inspect's `precomputed_scores`.

A hub gets a data folder as items, labels and judgments in Parquet, one row a label and a score. The files are those of a data folder with
its `data.toml`, so that `harness compare` reads what was downloaded from a hub. Inspect gets one JSON line for each sample and epoch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from harness.content import Library
from harness.data.columns import NO_VALUE
from harness.data.dataset import Dataset, read_back
from harness.data.folders import data_toml, write_folder
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.exchange.scores.external_scores import METADATA_KEY, Reasons, metadata_of_item
from harness.exchange.scores.score_options import ScoreChoice
from harness.model import CONDITION, Item
from harness.offensive_texts import refuse_in_repository
from harness.row_files import escape_controls, to_json, to_parquet

_ITEM_KEYS = ("item_id", "language", "task", "split", "group", "system", "parallel_id")
_JUDGMENT_KEYS = (*Judgments.COLUMNS[1:], "order", "shown_source", "expected", "entropy")
_INT64 = 2**63
_ABOUT_ITEM = ("language", "task", "split")  # in every table, so that it can be filtered alone


class HubTable(msgspec.Struct, frozen=True):
    """One config of a data set: its rows with the type of each column. Columns without any value are left out."""

    name: str
    rows: Sequence[Mapping[str, Any]]
    schema: Mapping[str, str]

    @property
    def file(self) -> str:
        return f"{self.name}.parquet"


def hub_tables(data: Dataset, judgments: Judgments | None, reasons: Reasons | None = None) -> list[HubTable]:
    """The tables that have rows. Raises UsageError for sealed labels and without items."""
    if data.sealed:
        raise UsageError("the labels of these data are sealed, so they cannot be published")
    if not data.items:
        raise UsageError("there are no items to export")
    by_id = data.by_id
    tables = [_make_table("items", ({name: getattr(item, name) for name in _ITEM_KEYS} | item.fields for item in data.items))]
    if len(data.labels):
        labels = zip(data.labels, data.labels.blind, strict=True)
        rows = (msgspec.structs.asdict(label) | {"blind": blind} | _describe_item(by_id[label.item_id]) for label, blind in labels)
        tables.append(_make_table("labels", rows))
    if judgments is not None and len(judgments):
        columns = [judgments.columns[name] for name in _JUDGMENT_KEYS]
        words = reasons(np.arange(len(judgments))) if reasons else [None] * len(judgments)
        judged = (
            {"item_id": item, **dict(zip(_JUDGMENT_KEYS, values, strict=True)), "justification": reason, **_describe_item(by_id[item])}
            for item, reason, *values in zip(judgments.item, words, *columns, strict=True)
        )
        tables.append(_make_table("judgments", judged))
    return tables


def left_out(data: Dataset) -> list[str]:
    """Say which parts of a data folder the tables do not hold."""
    parts = (
        ("marked errors", bool(data.labels.spans.values)),
        ("second ratings", bool(data.second)),
        ("attention checks", bool(data.checks)),
        ("labels on another scale than the judge's answers", bool(data.label_scales)),
    )
    return [f"{what} are not written" for what, has in parts if has]


def write_hub(folder: Path, tables: Sequence[HubTable], data: Dataset, card: str, library: Library) -> None:
    """Write the tables, `data.toml` and the card to a new folder, all or nothing.

    Raises UsageError if it exists, StoreError if it cannot be written, or not read again with the content of `library`.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists; choose a new folder")
    refuse_in_repository(folder, data.about)
    used = {name: data.scales[name] for name in sorted({row["metric"] for table in tables[1:] for row in table.rows})}
    about = msgspec.structs.replace(data.about, metrics=used, group="group", shared=None)
    files = {table.file: to_parquet(table.rows, table.schema) for table in tables}
    counts = {table.name: len(table.rows) for table in tables}
    write_folder(folder, files | {"data.toml": data_toml(about).encode(), "README.md": card.encode()}, read_back(folder, library, counts))


def split_name(data: Dataset) -> str:
    """The name of the one split that each table has: that of all items, or `all`; then the column `split` tells them apart."""
    [*names] = {item.split for item in data.items}
    return names[0] if len(names) == 1 else "all"


def _describe_item(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in _ABOUT_ITEM}


def _make_table(name: str, rows: Iterable[Mapping[str, Any]]) -> HubTable:
    """The rows as a table; a column has the narrowest type that holds all its values."""
    table_rows = list(rows)
    values: dict[str, list[Any]] = {}
    for row in table_rows:
        for key, value in row.items():
            if value is not None:
                values.setdefault(key, []).append(value)
    schema = {key: _find_kind(cells) for key, cells in values.items()}
    return HubTable(name, [{key: _convert_cell(row.get(key), kind) for key, kind in schema.items()} for row in table_rows], schema)


def _find_kind(values: Iterable[Any]) -> str:
    kinds = {type(value) if not isinstance(value, int) or abs(value) < _INT64 else str for value in values}
    if kinds == {bool}:
        return "bool"
    if kinds == {int}:
        return "int64"
    return "double" if kinds <= {int, float} else "string"


def _convert_cell(value: Any, kind: str) -> Any:
    """A value of a column; in columns of text, numbers as they are written and lists as JSON."""
    if value is None or kind != "string" or isinstance(value, str):
        return None if value is None else str(value) if kind == "string" else value
    return to_json(value).strip() if isinstance(value, (list, dict, tuple, bool)) else str(value)


_CHOSEN = ("judge", "metric", *CONDITION[1:])
_ABOUT = ("metric", "judge", "variant", "temperature", "score", "failure")
_UNSCORED = "grader_failed"  # as Inspect names a judge's reply without a score


def inspect_scores(
    judgments: Judgments, choice: ScoreChoice, signature: Callable[[str], str], items: Mapping[str, Item], reasons: Reasons | None = None
) -> Iterator[bytes]:
    """The lines of a scores file: one judge on one metric under one condition, on unchanged texts in their own order. A failure is NaN.

    `choice` says which of the judgments, `signature` gives that of a judge's numbers, and `reasons` reads the judge's words, if they are
    kept. The tasks and texts of `items` (by id) go along, so that the scores can be imported again as what they are.
    Raises UsageError at the first line, if several judges, metrics or conditions are left, or none is.
    """
    rows = np.flatnonzero(judgments.is_clean & (judgments.order.codes == NO_VALUE))
    for name in _CHOSEN:
        wanted = getattr(choice, name)
        values = list(judgments.columns[name].take(rows))
        if wanted is not None:
            rows = rows[[value == wanted for value in values]]
            if not len(rows):
                raise UsageError(f"there is no judgment with {name} '{wanted}'; there are: {_list_values(values)}")
    if not len(rows):
        raise UsageError("there is no judgment to export")
    for name in _CHOSEN:
        values = list(judgments.columns[name].take(rows))
        if len(set(values)) > 1:
            raise UsageError(
                f"Inspect has one score for each sample and epoch, and there are several {name}s; choose one with "
                f"--{name.replace('_', '-')}: {_list_values(values)}"
            )
    chosen = judgments.take(rows)
    columns = {name: list(chosen.columns[name]) for name in ("item", "repeat", *_ABOUT)}
    words = reasons(rows) if reasons else [None] * len(rows)
    about = signature(columns["judge"][0])
    for (item, repeat, *values), reason in zip(zip(*columns.values(), strict=True), words, strict=True):
        fields = dict(zip(_ABOUT, values, strict=True)) | {"signature": about} | metadata_of_item(items[item])
        score = fields["score"]
        record: dict[str, Any] = {"id": item, "epoch": (repeat or 0) + 1, "value": math.nan if score is None else score}
        if reason:
            record["explanation"] = reason
        record["metadata"] = {METADATA_KEY: fields} | ({"unscored_reason": _UNSCORED} if score is None else {})
        # Inspect itself writes NaN bare; strict JSON has only null, which Inspect refuses
        yield escape_controls(json.dumps(record, ensure_ascii=False)).encode() + b"\n"


def _list_values(values: list[Any]) -> str:
    return ", ".join(sorted({"none" if value is None else str(value) for value in values}))
