"""Errors that people marked in a second round, without scores: `second_spans` of a data folder. They are no reference of any judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from harness.data.columns import NO_VALUE, CodedColumn, read_columns
from harness.data.labels import first_line, unknown_items
from harness.data.marked_errors import checked_errors
from harness.errors import ContentError, refuse_faults


class SecondSpansRow(msgspec.Struct):
    """The keys of a row of `second_spans`; other keys are ignored."""

    item_id: str
    annotator_id: str
    spans: msgspec.Raw = msgspec.Raw(b"")


@dataclass(frozen=True, eq=False)
class SecondSpans:
    """Columns (rows,): the item, the annotator, and the errors that he or she marked in its text, a tuple of `ErrorSpan`."""

    item: CodedColumn
    annotator: CodedColumn
    spans: CodedColumn

    def __len__(self) -> int:
        return len(self.item)

    def for_items(self, ids: Iterable[str]) -> SecondSpans:
        """The rows of some items."""
        kept = np.flatnonzero(self.item.recode(dict.fromkeys(ids, 0)) != NO_VALUE)
        return SecondSpans(*(column.take(kept) for column in (self.item, self.annotator, self.spans)))


def read_second_spans(path: Path, items: Mapping[str, Any]) -> SecondSpans:
    """Read the table. Raises ContentError with `file:line` for an unknown item, a row without `spans` or with wrong ones."""
    rows = read_columns(path, SecondSpansRow, "a row of marked errors")
    refuse_faults(unknown_items(rows, items, "row of marked errors"), path)
    spans = checked_errors(rows, path)
    if (spans.codes == NO_VALUE).any():
        raise ContentError("no 'spans'; write [] if the person marked no error", path, first_line(rows, spans.codes == NO_VALUE))
    return SecondSpans(rows["item_id"], rows["annotator_id"], spans)
