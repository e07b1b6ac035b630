"""Attention checks: texts of a data set that were damaged on purpose, with the scores that people gave to them and to their originals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from harness.errors import ContentError
from harness.model import Item, Scale
from harness.tables import read_rows

ORIGINAL = "original_item_id"
"""The key of a damaged text that names the item whose output was damaged."""


class AttentionCheck(msgspec.Struct, frozen=True):
    """One row of `attention_checks`: a damaged `output` of an item, and if a person scored it, that score beside the one of the original.

    `campaign` names a round of labelling; `metric` is empty where the data have one metric for them.
    """

    item_id: str
    original_item_id: str
    output: str
    annotator_id: str = ""
    score: float | None = None
    score_of_original: float | None = None
    campaign: str = ""
    metric: str = ""

    def as_item(self, original: Item) -> Item:
        """The damaged text as an item of its own kind, which no other item can be taken for."""
        fields = original.fields | {"output": self.output, ORIGINAL: original.item_id}
        return msgspec.structs.replace(original, item_id=self.item_id, task=f"attention check of {original.task}", fields=fields)


def read_checks(path: Path, items: Mapping[str, Item], scales: Mapping[str, Scale]) -> tuple[AttentionCheck, ...]:
    """Read a table of attention checks. Raises ContentError with `file:line` for the first wrong row."""
    found = []
    for line, row in read_rows(path):
        try:
            check = msgspec.convert(row, AttentionCheck)
        except msgspec.ValidationError as err:
            raise ContentError(f"not an attention check: {err}", path, line) from None
        if check.original_item_id not in items:
            raise ContentError(f"an attention check of item '{check.original_item_id}', which is not among the items", path, line)
        if check.metric and check.metric not in scales:
            raise ContentError(f"metric '{check.metric}' has no scale; choose from: {', '.join(scales)}", path, line)
        if (check.score is None) != (check.score_of_original is None):
            raise ContentError("score and score_of_original go together; write both or neither", path, line)
        found.append(check)
    return tuple(found)
