"""Production scores of one day: the judge's scores of new texts, with groups as units."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping

from harness.correct.certificate import CertifiedJudge
from harness.correct.one_condition import judged_rows
from harness.correct.stale_certificate import other_condition
from harness.errors import UsageError
from harness.measure.compare import Recording
from harness.watch.daily_log import Seen, SeenProduction
from harness.watch.watch_plan import WatchedCell


def group_key(cell: WatchedCell, group: str) -> str:
    """A short hash of a group in a cell, under which it is remembered."""
    return hashlib.sha256(f"{cell.name}\x1f{group}".encode()).hexdigest()[:16]


def see_production(
    source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell], known: Collection[str]
) -> tuple[dict[str, SeenProduction], list[str]]:
    """What one day's scores say in each cell, and the groups that came for the first time.

    A group enters as one value, the mean of its texts; one that an earlier day had does not enter again, as it says the same twice.

    Args:
        source: the scores.
        judge, cells: of the watch.
        known: groups of earlier days, as `group_key`.

    Raises:
        UsageError: for scores of another judge or condition, an empty day, and scores off the scale.
    """
    for problem in other_condition(judge, source):
        raise UsageError(f"{source.name} holds no scores to watch: {problem}")
    by_group = scores_by_group(source, judge, cells)
    if not any(by_group.values()):
        raise UsageError(
            f"{source.name} has no score of '{judge.name}' in {', '.join(cell.name for cell in cells)}; there is nothing to add"
        )
    seen, new = dict[str, SeenProduction](), list[str]()
    for cell in cells:
        groups = by_group[cell.name]
        first = {key: levels for group, levels in groups.items() if (key := group_key(cell, group)) not in known}
        read = {key: [level for level in levels if level is not None] for key, levels in first.items()}
        texts = sum(map(len, groups.values()))
        new += first
        if texts:
            seen[cell.name] = SeenProduction(
                texts=texts,
                unread=sum(level is None for levels in groups.values() for level in levels),
                known=texts - sum(map(len, first.values())),
                level=Seen.of(sum(levels) / len(levels) for levels in read.values() if levels),
            )
    return seen, new


def scores_by_group(
    source: Recording, judge: CertifiedJudge, cells: Collection[WatchedCell]
) -> Mapping[str, dict[str, list[float | None]]]:
    """`{cell: {group: levels of its answers}}`, None for an answer that cannot be read."""
    rows, items = judged_rows(source, judge.condition), source.data.by_id
    by_place = {(cell.language, cell.metric): cell for cell in cells}
    found: dict[str, dict[str, list[float | None]]] = {cell.name: {} for cell in cells}
    for item_id, metric, score in zip(rows.item, rows.metric, rows.score, strict=True):
        item = items[item_id]
        cell = by_place.get((item.language, metric))
        if cell is not None:
            level = None if score is None else cell.level(score)
            found[cell.name].setdefault(item.group or item_id, []).append(level)
    return found
