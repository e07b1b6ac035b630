"""The texts that a certificate was made from. They set the production level, so as new texts they would show that nothing has changed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from harness.correct.certificate import CertifiedJudge
from harness.correct.one_condition import judged_rows
from harness.data.dataset import Dataset
from harness.errors import ContentError, UsageError
from harness.measure.compare import Recording
from harness.model import Item
from harness.watch.watch_plan import CERTIFIED, WatchedCell, WatchPlan, certified_hash


def certified_texts(source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell]) -> tuple[str, ...]:
    """Short hashes that know the judged texts of the certified cells again, in order."""
    items = {item.item_id: item for item, _ in _judged(source, judge, cells)}
    return tuple(sorted({key for item in items.values() for key in (_hash([item.item_id]), _key(source.data, item))}))


def without_certified(source: Recording, plan: WatchPlan, certified: Collection[str]) -> tuple[Recording, Counter[str]]:
    """New scores without those of certified texts, and how many were left out in each cell (by its name).

    A text is known by its id and its outputs, or by its id alone where the new scores come without texts. Outputs alone say too little:
    short ones are often the same. Raises UsageError where no other text is left.
    """
    left_out, kept, known = Counter[str](), 0, dict[str, bool]()
    for item, cell in _judged(source, plan.judge, plan.cells):
        if item.item_id not in known:
            known[item.item_id] = _key(source.data, item) in certified
        left_out[cell.name] += known[item.item_id]
        kept += not known[item.item_id]
    if not any(known.values()):
        return source, left_out
    if not kept:
        raise UsageError(
            f"all {len(known):,} texts of {source.name} are those that the certificate was made from; name texts that came later"
        )
    new = (item.item_id for item in source.data.items if not known.get(item.item_id))
    return msgspec.structs.replace(source, judgments=source.judgments.for_items(new)), left_out


def read_certified(home: Path, plan: WatchPlan) -> frozenset[str]:
    """What `certified_texts` gave when the watch began; empty of a watch that does not know. Raises ContentError for a changed file."""
    if not plan.certified:
        return frozenset()
    path = home / CERTIFIED
    keys = tuple(path.read_text("ascii", "replace").split()) if path.is_file() else ()
    if certified_hash(keys) != plan.certified:
        raise ContentError("these are not the certified texts that the watch began with; restore the file, or begin another watch", path)
    return frozenset(keys)


def _judged(source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell]) -> Iterator[tuple[Item, WatchedCell]]:
    """Each text that the judge scored, once in each of the cells."""
    rows, items = judged_rows(source, judge.condition), source.data.by_id
    by_place = {(cell.language, cell.metric): cell for cell in cells}
    for item_id, metric in dict.fromkeys(zip(rows.item, rows.metric, strict=True)):
        cell = by_place.get((items[item_id].language, metric))
        if cell is not None:
            yield items[item_id], cell


def _key(data: Dataset, item: Item) -> str:
    outputs = [item.fields.get(name) for name in data.outputs_of(item)]
    return _hash([item.item_id, *outputs] if any(outputs) else [item.item_id])


def _hash(parts: list[object]) -> str:
    return hashlib.sha256(msgspec.json.encode(parts, enc_hook=str)).hexdigest()[:16]
