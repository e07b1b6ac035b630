"""A straight line through points that are means over source texts, with intervals by resampling these texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.stats.core.arrays import Floats
from harness.stats.intervals.intervals import MIN_GROUPS, Interval, no_interval

_MOST_UNDEFINED = 0.1  # share of the resamples in which the line may be undefined


@dataclass(frozen=True)
class Line:
    """y = intercept + slope x by ordinary least squares over `points` points; NaN where all points have one x."""

    slope: float
    intercept: float
    slope_interval: Interval
    points: int


def least_squares(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Slopes and intercepts (...) of ordinary least squares over the last axis of x and y (..., points); NaN where x is constant.

    >>> [round(float(value), 12) for value in least_squares(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))]
    [2.0, 1.0]
    """
    dx = x - x.mean(axis=-1, keepdims=True)
    dy = y - y.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (dx * dy).sum(axis=-1) / (dx * dx).sum(axis=-1)
    slope = np.where(np.ptp(x, axis=-1) > 0, slope, math.nan)
    return slope, y.mean(axis=-1) - slope * x.mean(axis=-1)


def fit_line(
    points: Sequence[Mapping[str, Floats]], strata: Sequence[str], *, seed: int = 0, resamples: int = 1999, level: float = 0.95
) -> Line:
    """Fit a line through points, and again in resamples of the source texts, because points that share texts are dependent.

    Args:
        points: for each point `{source text: (sum of x, count of x, sum of y, count of y)}`; a coordinate is the ratio of its sums.
        strata: for each point the set of texts that it rests on: points of one stratum are resampled together.

    Returns:
        The line with the percentile interval of its slope; no interval if a stratum has fewer than 8 texts.

    Reference: the line is that of Panickssery, Bowman & Feng (2024), figure 1; Davison & Hinkley (1997), resampling of clusters.

    >>> texts = {f"t{n}": np.array([0.1 * (n % 3), 1.0, 0.2 * (n % 3), 1.0]) for n in range(9)}
    >>> moved = [{text: sums + (add, 0, 2 * add, 0) for text, sums in texts.items()} for add in (0.0, 0.3, 0.5)]
    >>> line = fit_line(moved, ["en"] * 3)
    >>> round(line.slope, 6), round(abs(line.intercept), 6), line.points
    (2.0, 0.0, 3)
    """
    whole = np.array([np.sum(list(point.values()), axis=0) for point in points])
    slope, intercept = least_squares(*_coordinates(whole))
    texts = {
        name: sorted({text for point, stratum in zip(points, strata, strict=True) if stratum == name for text in point}) for name in strata
    }
    fewest = min(map(len, texts.values()))
    interval = no_interval(fewest) if fewest < MIN_GROUPS else _interval(points, strata, texts, seed, resamples, level)
    return Line(float(slope), float(intercept), interval, len(points))


def _interval(
    points: Sequence[Mapping[str, Floats]],
    strata: Sequence[str],
    texts: Mapping[str, Sequence[str]],
    seed: int,
    resamples: int,
    level: float,
) -> Interval:
    rng = np.random.default_rng(seed)
    times = {name: rng.multinomial(len(own), np.full(len(own), 1 / len(own)), resamples) for name, own in texts.items()}
    sums = [
        times[name] @ np.array([point.get(text, np.zeros(4)) for text in texts[name]]) for point, name in zip(points, strata, strict=True)
    ]
    slopes, _ = least_squares(*_coordinates(np.stack(sums, axis=1)))
    known = slopes[np.isfinite(slopes)]
    groups = min(map(len, texts.values()))
    if len(known) < (1 - _MOST_UNDEFINED) * resamples:
        return no_interval(groups, "undefined in many resamples")
    lo, hi = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(lo), float(hi), "cluster bootstrap (percentile)", groups, None, None)


def _coordinates(sums: Floats) -> tuple[Floats, Floats]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums[..., 0] / sums[..., 1], sums[..., 2] / sums[..., 3]
