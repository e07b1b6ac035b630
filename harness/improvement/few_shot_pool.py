"""The texts that few-shot examples of candidates are taken from: the choosing half and development items, never the confirming half."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.content.specs import DatasetCard
from harness.data.dataset import Dataset
from harness.exchange.labels.folder import data_toml, write_folder
from harness.improvement.halves import ChooseHalf
from harness.model import Item
from harness.offensive import refuse_in_repository
from harness.tables import to_jsonl

FOLDER = "examples"


def has_development_items(data: Dataset, half: ChooseHalf) -> bool:
    """Whether the data have labelled development items for each language and metric that is asked about."""
    by_id, labelled = data.by_id, data.labelled_metrics
    known = {(item.language, item.task, metric) for item in data.items if item.split == "dev" for metric in labelled.get(item.item_id, ())}
    return {(each.language, by_id[each.item_id].task, each.metric) for each in half.texts.questions} <= known


def write_pool(half: ChooseHalf, data: Dataset, parent: Path) -> Path:
    """Write a data folder of the choosing half and of the development items, with their labels, for `RunSpec.examples`.

    Args:
        half: the half that chooses. The other one is refused: what confirms may be in no prompt.
        data: the items with all labels.
        parent: where the folder is written; its name is a hash of what it holds.

    Raises:
        TypeError: for anything but the choosing half.
        UsageError: for offensive texts in a repository.
        StoreError: where it cannot be written.
    """
    if not isinstance(half, ChooseHalf):
        raise TypeError(f"few-shot examples come from the half that chooses, not from {type(half).__name__}")
    chosen = set(half.texts.items)
    pool = data.only(item for item in data.items if item.split == "dev" or item.item_id in chosen)
    folder = parent / FOLDER / pool.sha256[:12]
    refuse_in_repository(folder, data.about)
    if not folder.is_dir():
        used = {name: data.label_scale(name) for name in sorted(pool.labels.metric.used)}
        about = DatasetCard(
            id=f"{data.id}-examples",
            annotators=data.about.annotators,
            source=data.about.source,
            metrics=used,
            offensive=data.about.offensive,
        )
        rows = {"items.jsonl": to_jsonl(map(_row, pool.items)), "labels.jsonl": to_jsonl(pool.labels)}
        write_folder(folder, {"data.toml": data_toml(about).encode(), **rows})
    return folder


def _row(item: Item) -> dict[str, Any]:
    own = {name: getattr(item, name) for name in ("item_id", "language", "task", "group", "system", "parallel_id")}
    return {**item.fields, **{name: value for name, value in own.items() if value is not None}, "split": "dev"}
