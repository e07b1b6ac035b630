"""Writes a data set in memory as a data folder that reads back as the same data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from harness.data.folder_writer import data_toml, write_folder
from harness.data.judgments import UNCHANGED, Judgments
from harness.errors import ContentError, UsageError
from harness.model import CONDITION, Item
from harness.row_files import to_jsonl

Dataset = Any  # of harness.data.dataset, which imports this module

_STATED = (*CONDITION, *UNCHANGED, "repeat", "score", "failure", "raw_choice", "expected", "entropy")
_ITEM_KEYS = tuple(name for name in Item.__struct_fields__ if name != "fields")


def save_dataset(data: Dataset, folder: Path, load: Callable[[Path], Dataset]) -> None:
    """Write items, labels, judgments and `data.toml` into a new folder, all or nothing.

    `load` reads a data folder: what it reads of the files has to be the same before they are in place. Raises as `Dataset.save`.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists; choose a new folder")
    parts = {"second ratings": data.second, "errors of a second round": data.second_spans, "attention checks": data.checks}
    if parts_held := [name for name, part in parts.items() if part]:
        raise UsageError(f"'{data.id}' has {', '.join(parts_held)}, which are not written; copy its folder instead")
    used = {*data.labels.metric.used, *(data.judgments.metric.used if data.judgments is not None else ())}
    about = msgspec.structs.replace(data.about, metrics={name: data.scales[name] for name in sorted(used)}, group="group", shared=None)
    items = ({key: value for key in _ITEM_KEYS if (value := getattr(item, key)) is not None} | item.fields for item in data.items)
    files = {"data.toml": data_toml(about).encode(), "items.jsonl": to_jsonl(items), "labels.jsonl": to_jsonl(_label_rows(data))}
    if data.judgments is not None:
        files["judgments.jsonl"] = to_jsonl(_judgment_rows(data.judgments))

    def check(staged: Path) -> None:
        read = load(staged)
        if read.sha256 != data.sha256 or _values(read.judgments) != _values(data.judgments):
            raise ContentError("this data set holds what a data folder cannot hold, so it would not read back as the same", data.id)

    write_folder(folder, files, check)


def _values(judgments: Judgments | None) -> dict[str, list[Any]]:
    return {} if judgments is None else {name: list(column) for name, column in judgments.columns.items()}


def _label_rows(data: Dataset) -> Iterator[dict[str, Any]]:
    columns = (data.labels.spans, data.labels.blind)
    for label, spans, blind in zip(data.labels, *columns, strict=True):
        tables = {"spans": spans, "blind": blind}
        yield msgspec.structs.asdict(label) | {name: value for name, value in tables.items() if value is not None}


def _judgment_rows(judgments: Judgments) -> Iterator[dict[str, Any]]:
    columns = [judgments.columns[name] for name in _STATED]
    further_columns = (judgments.item, judgments.metric, judgments.probs, judgments.spans)
    for item, metric, probs, spans, *values in zip(*further_columns, *columns, strict=True):
        stated = dict(zip(_STATED, values, strict=True))
        stated |= {"probs": probs and msgspec.json.decode(probs), "spans": spans}
        yield {"item_id": item, "metric": metric} | {name: value for name, value in stated.items() if value is not None}
