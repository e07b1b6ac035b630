"""Intervals of any statistic in many cells, from one set of resamples a cell.

Resampling groups is weighting their sums. Where every group is single, a resample of the n items is a multinomial draw
of the distinct rows' weights (the same distribution, a hundredth of the work); otherwise it draws groups.
Coefficients get the bias-corrected accelerated interval (BCa) with its levels widened from the normal to Student's t,
because a bootstrap over G groups is too narrow by about sqrt(1 - 1/G) and knows nothing of few degrees of freedom:
G - 1 of single items, fewer of texts that differ in weight (`degrees_of_freedom`). Both were chosen by simulation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from harness.stats.arrays import Floats
from harness.stats.intervals import (
    MIN_GROUPS,
    Interval,
    degrees_of_freedom,
    distinct_sums,
    mean_of_sums,
    no_interval,
    share_of_sums,
    t_quantile,
)
from harness.stats.rows import Rows
from harness.stats.statistic import Features, Statistic, distinctly_named

_SINGLE = 1 << 18  # multiplications that OpenBLAS does in one thread
_CHUNK = 1 << 22  # numbers of a resampling matrix held at a time
_PATTERNS = 1 << 13  # more patterns than this are not searched for equal features
_DEFINED = 0.9  # share of resamples that must have a value


class _Cell(NamedTuple):
    """Of one cell: feature sums of its units (U, M), how many such units there are (U,), whether units are groups."""

    sums: Floats
    times: Floats
    clustered: bool
    items: Floats  # features (I, M) of the distinct items, for the design effect
    weight: Floats  # how many of each (I,)


def intervals(
    statistics: Iterable[Statistic],
    rows: Rows,
    *,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = 1000,
) -> dict[str, tuple[Interval, ...]]:
    """Cluster-aware intervals of many statistics in many cells.

    Args:
        statistics: what to compute, as in `estimate`.
        rows: from `tabulate`, with `group` where items share texts.
        level: confidence in (0, 1).
        seed: of the resampling. A cell's interval does not depend on which other cells there are.
        resamples: of each cell.

    Returns:
        By name, one `Interval` a cell.

    Raises:
        ValueError: for a level outside (0, 1), fewer than 100 resamples, or two statistics of one name.

    Reference: Efron (1987), BCa; Hesterberg (2015), expanded levels; Field & Welsh (2007), resampling clusters.
    """
    if not 0 < level < 1 or resamples < 100:
        raise ValueError(f"level must be in (0, 1) and resamples at least 100; got {level} and {resamples}")
    chosen = distinctly_named(statistics)
    place: dict[Features, slice] = {}
    columns: list[Floats] = []
    width = 0
    for statistic in chosen:
        if statistic.features not in place:
            columns.append(statistic.features(rows))
            place[statistic.features] = slice(width, width + columns[-1].shape[1])
            width += columns[-1].shape[1]
    features = np.concatenate(columns, axis=1) if columns else np.empty((len(rows.counts), 0))
    found: list[list[Interval]] = [[] for _ in chosen]
    draws = _Draws(seed, resamples)
    for cell in _cells(rows, features):
        values = _replicate(cell, chosen, place, draws)
        for column, (statistic, replicates) in enumerate(zip(chosen, values, strict=True)):
            interval = _ratio if statistic.kind in ("share", "mean") else _coefficient
            found[column].append(interval(statistic, cell, place[statistic.features], replicates, level))
    return {statistic.name: tuple(per_cell) for statistic, per_cell in zip(chosen, found, strict=True)}


def bca(
    value: float,
    replicates: Floats,
    left_out: Floats,
    times: Floats,
    freedom: float | None = None,
    *,
    level: float = 0.95,
) -> tuple[float, float]:
    """BCa interval with levels widened to Student's t.

    z0 = bias correction, a = acceleration from the values without one unit; the levels are
    Phi(z0 + (z0 + q) / (1 - a (z0 + q))) at q = ± sqrt(G / (G - 1)) t.

    Args:
        value: the statistic.
        replicates: (R,) its values in the resamples.
        left_out: (U,) its values without one unit of each kind.
        times: (U,) how many units of each kind there are; G in all.
        freedom: of Student's t; default G - 1.
        level: confidence in (0, 1).

    >>> draws = np.random.default_rng(0).normal(0, 1, 4000)
    >>> lo, hi = bca(0.0, draws, np.array([-0.1, 0.1]), np.array([50.0, 50.0]))
    >>> round(lo, 1), round(hi, 1)
    (-1.9, 2.1)
    """
    groups = float(times.sum())
    influence = float(times @ left_out) / groups - left_out
    spread = float(times @ influence**2)
    if not spread > 0:
        return math.nan, math.nan
    acceleration = float(times @ influence**3) / (6 * spread**1.5)
    below = ((replicates < value).sum() + 0.5 * (replicates == value).sum()) / len(replicates)
    from scipy.special import ndtr, ndtri

    bias = ndtri(np.clip(below, 1 / (len(replicates) + 1), len(replicates) / (len(replicates) + 1)))
    reach = math.sqrt(groups / (groups - 1)) * t_quantile(level, groups - 1 if freedom is None else freedom)
    moved = bias + np.array([-reach, reach])
    lo, hi = np.quantile(replicates, ndtr(bias + moved / np.maximum(1 - acceleration * moved, 1e-6)))
    return float(lo), float(hi)


def _cells(rows: Rows, features: Floats) -> Iterable[_Cell]:
    ends = rows.ends()
    same = np.arange(len(features))  # patterns that these features do not tell apart are one
    if len(features) <= _PATTERNS:
        features, same = np.unique(features, axis=0, return_inverse=True)
    for cell, clustered in enumerate(rows.clustered):
        at = slice(ends[cell], ends[cell + 1])
        kinds, kind = np.unique(same[rows.pattern[at]], return_inverse=True)
        items, weight = features[kinds], np.asarray(np.bincount(kind, rows.weight[at]), np.float64)
        if not clustered:
            yield _Cell(items, weight, False, items, weight)
            continue
        begins = np.flatnonzero(np.r_[True, np.diff(rows.group[at]) != 0])
        sums = np.add.reduceat(items[kind] * rows.weight[at][:, None], begins)
        yield _Cell(sums, np.ones(len(begins)), True, items, weight)


class _Draws:
    """Resampling weights in chunks; those of groups depend on their number only and are kept for the next cell."""

    def __init__(self, seed: int, resamples: int) -> None:
        self.seed, self.resamples = seed, resamples
        self._groups = -1
        self._kept: list[Floats] = []

    def of(self, cell: _Cell) -> Iterable[Floats]:
        units = round(cell.times.sum())
        if not cell.clustered:
            rng = np.random.default_rng(self.seed)
            for count in self._chunks(len(cell.times)):
                yield rng.multinomial(units, cell.times / units, count).astype(np.float64)
        elif units == self._groups:
            yield from self._kept
        else:
            self._groups, self._kept = -1, []
            small = units * self.resamples <= _CHUNK
            for drawn in self._of_groups(units):
                if small:
                    self._kept.append(drawn)
                yield drawn
            self._groups = units if small else -1

    def _of_groups(self, groups: int) -> Iterable[Floats]:
        rng = np.random.default_rng(self.seed)
        for count in self._chunks(groups):
            chosen = rng.integers(0, groups, (count, groups)) + np.arange(count)[:, None] * groups
            yield np.bincount(chosen.ravel(), minlength=count * groups).reshape(count, groups).astype(np.float64)

    def _chunks(self, width: int) -> Sequence[int]:
        step = max(1, min(self.resamples, _CHUNK // max(width, 1)))
        return [min(step, self.resamples - done) for done in range(0, self.resamples, step)]


def _replicate(
    cell: _Cell, statistics: Sequence[Statistic], place: dict[Features, slice], draws: _Draws
) -> list[Floats]:
    """Values (R,) of each statistic in the resamples of one cell."""
    if cell.times.sum() < MIN_GROUPS:
        return [np.empty(0) for _ in statistics]
    parts: list[list[Floats]] = [[] for _ in statistics]
    for weights in draws.of(cell):
        sums = _product(weights, cell.sums)
        for part, statistic in zip(parts, statistics, strict=True):
            part.append(statistic.value(sums[:, place[statistic.features]]))
    return [np.concatenate(part) for part in parts]


def _product(weights: Floats, sums: Floats) -> Floats:
    """weights @ sums, in pieces too small for a threaded BLAS to wake its threads: that costs 100 times the product."""
    step = _SINGLE // max(sums.size, 1)
    if step < 4:
        return weights @ sums
    out = np.empty((len(weights), sums.shape[1]))
    for at in range(0, len(weights), step):
        np.matmul(weights[at : at + step], sums, out=out[at : at + step])
    return out


def _ratio(statistic: Statistic, cell: _Cell, at: slice, replicates: Floats, level: float) -> Interval:
    """Shares and means: only groups' sums of y and of units used matter."""
    sums = distinct_sums(cell.sums[:, at.start + 1], cell.sums[:, at.start], cell.times)
    n, y = cell.items[:, at.start], cell.items[:, at.start + 1]
    squares = cell.items[:, at.start + 2] if at.stop - at.start > 2 else y**2
    units = max(float(cell.weight @ n), 1.0)
    scatter = float(cell.weight @ squares) / units - (float(cell.weight @ y) / units) ** 2
    if statistic.kind == "share":
        return share_of_sums(sums, scatter, lambda: replicates, level=level)
    return mean_of_sums(sums, scatter, statistic.bounds, lambda: replicates, level=level)


def _coefficient(statistic: Statistic, cell: _Cell, at: slice, replicates: Floats, level: float) -> Interval:
    """Coefficients: BCa, or why not."""
    drawn = len(replicates)
    sums = cell.sums[:, at]
    used = sums[:, 0] > 0
    groups = round(float(cell.times @ used))
    if groups < MIN_GROUPS:
        return no_interval(groups)
    total = cell.times @ sums
    value = float(statistic.value(total))
    if math.isnan(value):
        return no_interval(groups, statistic.constant)
    replicates = replicates[~np.isnan(replicates)]
    left_out = statistic.value(total - sums[used])
    known = ~np.isnan(left_out)
    if len(replicates) < _DEFINED * drawn:
        return no_interval(groups, "undefined in most resamples")
    times = cell.times[used][known]
    freedom = degrees_of_freedom(left_out[known] - value, times) if cell.clustered else groups - 1.0
    if statistic.kind == "spread":
        method = "cluster bootstrap (t of the logarithm)"
        lo, hi = _log_t(value, replicates, groups, freedom, level)
    else:
        method = "cluster bootstrap (bca)"
        lo, hi = bca(value, replicates, left_out[known], times, freedom, level=level)
    if not hi > lo:
        return no_interval(groups, "no variation between texts")
    effect = 1.0
    if cell.clustered:
        alone = _jackknife(statistic.value(total - cell.items[:, at]), cell.weight)
        effect = _jackknife(left_out[known], times) / alone if alone > 0 else math.nan
    return Interval(lo, hi, method, groups, effect if effect > 0 else None, None)


def _log_t(value: float, replicates: Floats, groups: int, freedom: float, level: float) -> tuple[float, float]:
    """Student's interval of the logarithm of something positive; NaN for 0."""
    if not (value > 0 and (replicates > 0).any()):
        return math.nan, math.nan
    error = float(np.std(np.log(replicates[replicates > 0]))) * math.sqrt(groups / (groups - 1))
    factor = math.exp(t_quantile(level, freedom) * error)
    return value / factor, value * factor


def _jackknife(left_out: Floats, times: Floats) -> float:
    """Delete-one variance."""
    known = ~np.isnan(left_out)
    left_out, times = left_out[known], times[known]
    n = float(times.sum())
    if n < 2:
        return math.nan
    return float(times @ (left_out - float(times @ left_out) / n) ** 2) * (n - 1) / n
