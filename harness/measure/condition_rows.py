"""The flat rows of a section: every number under its name, its interval under `<name>_ci`, and a reason for every null."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.data.columns import CodedColumn, rows_by_values
from harness.data.dataset import Dataset
from harness.measure.cells import bounds, number
from harness.measure.judged_table import KEYS, JudgedTable
from harness.measure.options import POOLED, Drawing
from harness.model import CONDITION
from harness.stats.agreement.agreement import NO_JUDGED_PAIR
from harness.stats.core.arrays import Floats, Ints
from harness.stats.core.statistic import Estimated
from harness.stats.intervals.intervals import Interval, mean_interval, proportion_interval
from harness.stats.intervals.multiplicity import benjamini_yekutieli
from harness.stats.intervals.paired import Difference, paired_difference

Row = dict[str, Any]
LEVELS = (("language", "metric"), ("language", "task", "metric"), ("language",), ("task",), ("metric",))
"""The keys to group by, from the finest level to the coarsest. Shares of agreement may pool metrics; scores may not."""
SCORE_LEVELS = (("language", "metric"), ("language", "task", "metric"), ("task", "metric"))
_NO_SHARE = {"pa": "no overlap", "pa_failed_wrong": "no reference", "pa_pairwise": NO_JUDGED_PAIR, "human_pa": NO_JUDGED_PAIR}


def new_row(key: Mapping[str, Any], **more: Any) -> Row:
    """Return a row with its key and without numbers yet."""
    return {**key, **more, "undefined": {}}


def put_number(row: Row, name: str, value: float | None, interval: Interval | None = None, *, why: str | None = None) -> None:
    """Write a number, and its interval if it has one. NaN becomes null with its reason."""
    row[name] = number(value)
    if row[name] is None:
        row["undefined"][name] = why or "undefined"
    if interval is None:
        return
    ends = bounds(interval) if row[name] is not None else None
    row[f"{name}_ci"] = list(ends) if ends else None
    if ends is None and row[name] is not None:
        row["undefined"][f"{name}_ci"] = interval.reason or "undefined"


def put_share(row: Row, name: str, credits: Floats, groups: Ints, drawing: Drawing, why: str) -> None:
    """Write the mean of credits in [0, 1] (NaN: does not count), with the interval of a share."""
    put_number(row, name, _mean(credits), proportion_interval(credits, groups, **drawing), why=why)


def put_mean(row: Row, name: str, values: Floats, groups: Ints, limits: tuple[float, float], why: str) -> None:
    """Write the mean of values between limits (NaN: does not count), with its interval."""
    put_number(row, name, _mean(values), mean_interval(values, groups, bounds=limits), why=why)


def _mean(values: Floats) -> float:
    counted = values[~np.isnan(values)]
    return float(counted.mean()) if len(counted) else math.nan


def put_difference(row: Row, name: str, difference: Difference | Estimated, *, why: str | None = None) -> None:
    """Write a difference (or another estimate that is tested): `name`, `name_ci`, `name_n`, `name_p`, and an empty `name_q`."""
    value = difference.diff if isinstance(difference, Difference) else difference.value
    reason = why or difference.reason
    put_number(row, name, value, difference.interval, why=reason)
    row[f"{name}_n"] = difference.n
    put_number(row, f"{name}_p", difference.p, why=reason or difference.interval.reason)
    row[f"{name}_q"] = None


def put_gap(row: Row, name: str, why: str) -> None:
    """Write that there is no difference, and why: other rows are compared with this one."""
    for column in (name, f"{name}_p"):
        put_number(row, column, None, why=why)
    row |= {f"{name}_ci": None, f"{name}_n": 0, f"{name}_q": None}


def put_agreement(row: Row, answers: JudgedTable, rows: Ints) -> None:
    """Write n_ref, n, groups, pa, pa_failed_wrong, and the comparable pair pa_pairwise and human_pa with their gap."""
    credits_of_rows = {name: credits[rows] for name, credits in answers.credits.items()}
    groups, drawing = answers.group[rows], answers.drawing
    referred = ~np.isnan(credits_of_rows["pa_failed_wrong"])
    row |= {"n_ref": int(referred.sum()), "n": int((~np.isnan(credits_of_rows["pa"])).sum()), "groups": len(np.unique(groups[referred]))}
    for name, why in _NO_SHARE.items():
        put_share(row, name, credits_of_rows[name], groups, drawing, why)
    put_mean(row, "pairwise_gap", credits_of_rows["pa_pairwise"] - credits_of_rows["human_pa"], groups, (-1.0, 1.0), NO_JUDGED_PAIR)


def versus(answers: JudgedTable, rows: Ints, partners: Ints) -> Difference:
    """Return the paired difference of pa_failed_wrong over the rows that have a partner (-1: none)."""
    rows, partners = rows[partners >= 0], partners[partners >= 0]
    hit = answers.hit
    return paired_difference(hit[rows], hit[partners], answers.group[rows])


def put_moved(row: Row, answers: JudgedTable, rows: Ints, partners: Ints) -> None:
    """Write, for rows and their partners (-1: none) on one scale, the mean score change (+: toward the best) and the share that changed."""
    rows, partners = rows[partners >= 0], partners[partners >= 0]
    groups, reach = answers.group[rows], answers.reach[answers.column("metric").at(int(rows[0]))] if len(rows) else 1.0
    readable = answers.readable[rows] & answers.readable[partners]
    row |= {"n": int(readable.sum()), "unreadable": int((~readable).sum())}
    limits = None if math.isnan(reach) else (-reach, reach)
    difference = paired_difference(answers.points[rows], answers.points[partners], groups, bounds=limits)
    put_difference(row, "moved", difference, why="the scale has no best end" if readable.any() and difference.n == 0 else None)
    score = answers.judgments.score.codes
    differs = np.where(readable, score[rows] != score[partners], np.nan)
    put_share(row, "changed", differs, groups, answers.drawing, "no overlap")


def with_q(rows: Sequence[Row], name: str, level: Callable[[Row], Any]) -> None:
    """Fill `name_q`: `name_p`, corrected over the rows of one level. Rows of two levels rest on the same answers."""
    families: dict[Any, list[Row]] = {}
    for row in rows:
        families.setdefault(level(row), []).append(row)
    for family in families.values():
        p = [math.nan if row.get(f"{name}_p") is None else row[f"{name}_p"] for row in family]
        for row, q in zip(family, benjamini_yekutieli(p).tolist(), strict=True):
            row[f"{name}_q"] = number(q)
            if row[f"{name}_q"] is None:
                row["undefined"][f"{name}_q"] = row["undefined"].get(f"{name}_p", "undefined")


def level_of(row: Row) -> tuple[bool, ...]:
    """Return the level of a row: which of language, task and metric it pools."""
    return tuple(row[name] == "*" for name in ("language", "task", "metric"))


def rows_by_level(columns: Mapping[str, CodedColumn], levels: Iterable[Sequence[str]]) -> Iterator[tuple[Row, Ints]]:
    """Yield `(key, rows)` of every cell of every level, in the order of first use.

    `columns` are all of `KEYS`; a key has `*` where it pools.
    """
    size = len(columns[KEYS[0]])
    for level in levels:
        for part, rows in rows_by_values({name: columns[name] for name in (*level, *CONDITION)}, size):
            yield dict.fromkeys(KEYS, POOLED) | part, rows


def section(title: str, rows: Iterable[Row], **more: Any) -> dict[str, Any] | None:
    """Return a section with its rows; None without rows."""
    listed = list(rows)
    return {"title": title, **more, "rows": listed} if listed else None


def parallel_numbers(data: Dataset) -> Ints:
    """Return the number of what each item is parallel to (task, system and `parallel_id`), or -1: (items,)."""
    numbers: dict[Any, int] = {}
    keys = [None if item.parallel_id is None else (item.task, item.system, item.parallel_id) for item in data.items]
    return np.array([-1 if key is None else numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def text_clusters(data: Dataset) -> Ints:
    """Return the number of each item's text together with all texts that are parallel to it, (items,). Without any it is its group."""
    group, parallel = data.clusters.codes.astype(np.int64), parallel_numbers(data)
    is_parallel = parallel >= 0
    if not is_parallel.any():
        return group
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    texts = int(group.max()) + 1
    size = texts + int(parallel.max()) + 1
    edges = (np.ones(int(is_parallel.sum())), (group[is_parallel], texts + parallel[is_parallel]))
    connected = connected_components(coo_array(edges, shape=(size, size)), directed=False)[1]
    return np.asarray(connected[group], np.int64)
