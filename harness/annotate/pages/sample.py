"""A list of items to label: ids, and the draw of each. `harness labels plan` writes it; a file with one id a line works too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.annotate.answers.page_record import Drawn
from harness.content.tags import suggest
from harness.data import Dataset
from harness.errors import ContentError
from harness.model import Item
from harness.tables import read_rows


def read_sample(path: Path, data: Dataset) -> dict[str, Drawn]:
    """`{item_id: how it was drawn}`, in the order of the file.

    Raises ContentError with `file:line` for a file that cannot be read, an item that is unknown or stands twice, and a probability that
    is none.
    """
    drawn: dict[str, Drawn] = {}
    for line, row in _rows(path):
        name = str(row.get("item_id", ""))
        if name not in data.by_id:
            raise ContentError(f"there is no item '{name}' in the data.{suggest(name, data.by_id)}", path, line)
        if name in drawn:
            raise ContentError(f"item '{name}' stands in the list twice", path, line)
        share, stratum = row.get("inclusion_probability"), row.get("stratum")
        if share is not None and (isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1):
            raise ContentError(f"inclusion_probability is {share!r}; it should be a number above 0 and at most 1", path, line)
        drawn[name] = Drawn(share, None if stratum is None else str(stratum))
    if not drawn:
        raise ContentError("lists no items; write one item id a line, or the file of 'harness labels plan'", path)
    return drawn


def unlabelled(data: Dataset, items: Sequence[Item], order: Sequence[str] = (), metrics: Sequence[str] | None = None) -> list[Item]:
    """The items without a native label on any of the metrics (None: on any metric at all).

    They come in the `order` of ids that is given, and without one in their own.
    """
    native = data.labels.native_items(metrics)
    place = {name: number for number, name in enumerate(order)}
    waiting = [item for item in items if item.item_id not in native]
    return sorted(waiting, key=lambda item: place.get(item.item_id, len(place)))


def _rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    if path.suffix == ".txt":
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as err:
            raise ContentError(f"cannot be read: {err}", path) from None
        return [(number, {"item_id": line.strip()}) for number, line in enumerate(lines, start=1) if line.strip()]
    return list(read_rows(path))
