"""Groups judgments into cells: one language, metric, judge and condition each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.data.columns import rows_by_values
from harness.measure.judged_table import JudgedTable
from harness.model import CELL
from harness.stats.core.arrays import Ints


def rows_by_cell(judged: JudgedTable, by_source: bool) -> Iterator[tuple[dict[str, Any], Ints]]:
    """The key and the unit numbers, rising, of every cell that has labels on the judge's scale. Tasks are pooled.

    Args:
        judged: judgments laid beside labels.
        by_source: whether sources have cells of their own; then `source` is the first part of the key.
    """
    names = (*(("source",) if by_source else ()), *CELL)
    for key, rows in rows_by_values(judged.columns(names), len(judged)):
        votes = judged.labels.get(str(key["metric"]))
        if votes is not None and not votes.classes.order_only:
            yield key, rows
