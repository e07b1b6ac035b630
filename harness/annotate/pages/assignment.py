"""The items to be labelled, by whom, and in which order. A list of items may name them: `harness labels plan` writes one with the draw of
each, and a file with one id a line works too. Assignment and order follow from the seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness.annotate.answers.page_record import Drawn
from harness.content.tags import suggest
from harness.data import Dataset
from harness.errors import ContentError, refuse_pipe
from harness.model import Item
from harness.row_files import read_rows

MOST_ON_A_PAGE = 500
"""A page with more items is slow on a phone, and nobody reads them in one go. It is split into parts."""


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
    """Return the items without a native label on any of the metrics (None: on any metric at all).

    They come in the `order` of ids that is given, and without one in their own.
    """
    native = data.labels.native_items(metrics)
    rank = {name: number for number, name in enumerate(order)}
    waiting = [item for item in items if item.item_id not in native]
    return sorted(waiting, key=lambda item: rank.get(item.item_id, len(rank)))


def _rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    if path.suffix == ".txt":
        refuse_pipe(path)
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as err:
            raise ContentError(f"cannot be read: {err}", path) from None
        return [(number, {"item_id": line.strip()}) for number, line in enumerate(lines, start=1) if line.strip()]
    return list(read_rows(path))


def assign(items: Sequence[Item], annotators: Sequence[str], overlap: float, seed: int) -> dict[str, list[Item]]:
    """`{annotator: items}` in the order of `items`: a share of all groups for everybody, and each other group for one of them.

    Groups stay whole, so that an annotator reads all versions of a text or none. `overlap` is the share of the groups that everybody reads,
    from 0 to 1; at least one group unless it is 0. The codes of `annotators` are all different.
    """
    groups = list(dict.fromkeys((item.language, item.group) for item in items))
    random.Random(f"{seed} overlap").shuffle(groups)
    common = max(1, round(overlap * len(groups))) if overlap > 0 else 0
    readers = {group: annotators[number % len(annotators)] for number, group in enumerate(groups[common:])}
    return {who: [item for item in items if readers.get((item.language, item.group), who) == who] for who in annotators}


def reading_order(items: Sequence[Item], seed: str) -> list[Item]:
    """Return a random order in which the items of a group are far apart: no two follow each other, if any such order exists.

    The k items of a group are spread over the whole length, each at a random place within its k-th part. Neighbours of one group that are
    left are then exchanged with others.
    """
    chance = random.Random(seed)
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.group, []).append(item)
    keyed: list[tuple[float, int, Item]] = []
    for group_items in groups.values():
        chance.shuffle(group_items)
        start = chance.random()
        keyed += [((start + number) / len(group_items), len(keyed) + number, item) for number, item in enumerate(group_items)]
    return _apart([item for _, _, item in sorted(keyed, key=lambda entry: entry[:2])])


def _apart(ordered: list[Item]) -> list[Item]:
    """Return the same items, with neighbours of one group exchanged for others where that is possible."""
    spread: list[Item] = []
    waiting: list[Item] = []
    for item in ordered:
        waiting.append(item)
        while (
            waiting
            and (chosen := next((n for n, other in enumerate(waiting) if not spread or spread[-1].group != other.group), None)) is not None
        ):
            spread.append(waiting.pop(chosen))
    for item in waiting:  # all of one group: insert them where they fit
        position = next((n for n in range(len(spread) + 1) if _fits(item, spread[max(n - 1, 0) : n + 1], n)), len(spread))
        spread.insert(position, item)
    return spread


def _fits(item: Item, neighbours: Sequence[Item], position: int) -> bool:
    neighbour = neighbours if position else neighbours[:1]
    return all(other.group != item.group for other in neighbour)


def parts(items: Sequence[Item], most: int = MOST_ON_A_PAGE) -> list[list[Item]]:
    """Return the items in as few parts of nearly equal size as hold at most `most` each.

    >>> [len(part) for part in parts([Item(str(n), "en", "t") for n in range(1100)])]
    [367, 367, 366]
    """
    count = max(1, -(-len(items) // most))
    size, larger = divmod(len(items), count)
    ends = [number * size + min(number, larger) for number in range(count + 1)]
    return [list(items[start:end]) for start, end in pairwise(ends)]
