"""Damaged texts from a data set: its attention checks, with people's scores."""

from __future__ import annotations

from collections.abc import Sequence

from harness.data.damaged_texts import ORIGINAL
from harness.model import Item
from harness.perturb.kind import Change, Kind
from harness.perturb.segments import Words

_last_index: list[tuple[Sequence[Item], dict[str, list[Item]]]] = []


def _damaged(pool: Sequence[Item], item_id: str) -> list[Item]:
    """The damaged versions of an item in the pool, by their ids; the index of the last pool is kept."""
    if not _last_index or _last_index[0][0] is not pool:
        index: dict[str, list[Item]] = {}
        for each in pool:
            if original := each.fields.get(ORIGINAL):
                index.setdefault(str(original), []).append(each)
        _last_index[:] = [(pool, index)]
    return sorted(_last_index[0][1].get(item_id, ()), key=lambda each: each.item_id)


def attention_check(item: Item, pool: Sequence[Item], seed: int, dose: float | None, words: Words) -> Change | None:
    """Take the damaged version of the text from the data folder's `attention_checks`, the first one by id; None without one."""
    for damaged in _damaged(pool, item.item_id):
        text = damaged.fields.get(words.field)
        if isinstance(text, str) and text.strip():
            return Change(text, {})
    return None


ATTENTION_CHECK = Kind(
    name="attention-check",
    summary="the damaged version of the text in the data folder's attention_checks",
    doses=None,
    heeds_segmenter=False,
    moves={},
    perturb=attention_check,
)
