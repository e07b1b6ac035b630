"""Label sets with a known truth, and the coverage of intervals on them.

Items have a true class; each annotator, and the judge, reports it with a probability, else draws from the margins.
With `concentration`, texts differ in their class shares and in how well they are read: items of a text go together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.stats import Rows, Statistic, cell_statistics, count_classes, estimate, intervals, tabulate
from harness.stats.core.arrays import Floats
from harness.stats.core.statistic import Features


@dataclass(frozen=True)
class Setting:
    """One population and one design: `texts` groups of about `size` items (from 1 to 2 size - 1, unless it is 1)."""

    name: str
    texts: int
    size: int = 1
    margins: tuple[float, ...] = (0.15, 0.25, 0.6)
    human: float = 0.7
    judge: float = 0.6
    concentration: float | None = None
    exchangeable: bool = False
    missing: float = 0.0
    raters: int = 3
    failures: float = 0.0


def draw(setting: Setting, sets: int, seed: int) -> tuple[NDArray[np.int64], ...]:
    """Labels (items, raters), judge (items,), group (items,) and set number (items,) of independent label sets."""
    rng = np.random.default_rng(seed)
    k, texts = len(setting.margins), setting.texts * sets
    sizes = rng.integers(1, 2 * setting.size, texts) if setting.size > 1 else np.ones(texts, np.int64)
    group = np.repeat(np.arange(texts), sizes)
    items = len(group)
    if setting.concentration is None:
        shares = np.tile(setting.margins, (texts, 1))
        human, judge = np.full(texts, setting.human), np.full(texts, setting.judge)
    else:
        c = setting.concentration
        shares = rng.dirichlet(np.asarray(setting.margins) * c, texts)
        human, judge = (rng.beta(p * c, (1 - p) * c, texts) for p in (setting.human, setting.judge))
    if setting.exchangeable:
        judge = human
    true = np.minimum((rng.random(items)[:, None] > np.cumsum(shares, axis=1)[group]).sum(axis=1), k - 1)

    def read(skill: NDArray[np.float64]) -> NDArray[np.int64]:
        guess = rng.choice(k, items, p=setting.margins)
        return np.where(rng.random(items) < skill[group], true, guess)

    labels = np.stack([read(human) for _ in range(setting.raters)], axis=1)
    if setting.missing:
        labels[rng.random(labels.shape) < setting.missing] = -1
    scores = read(judge)
    if setting.failures:
        scores[rng.random(items) < setting.failures] = -1
    return labels, scores, group, group // setting.texts


def coverage(setting: Setting, sets: int = 1000, seed: int = 1, least: float = 0.95) -> dict[str, float]:
    """Share of the 95 % intervals that hold the truth, by statistic; NaN where fewer than `least` of the sets have one."""
    k = len(setting.margins)
    statistics = cell_statistics(k, "interval")
    population = 2_000_000 // (setting.texts * setting.size)
    labels, judge, _, _ = draw(setting, population, seed + 1)
    truth = estimate(statistics, tabulate(count_classes(labels, k), judge))
    labels, judge, group, cell = draw(setting, sets, seed)
    found = intervals(statistics, tabulate(count_classes(labels, k), judge, cell=cell, group=group))
    out = {}
    for s in statistics:
        value, bounds = truth[s.name].value[0], np.array([(i.lo, i.hi) for i in found[s.name]])
        there = ~np.isnan(bounds[:, 0])
        held = (bounds[there, 0] <= value) & (value <= bounds[there, 1])
        out[s.name] = float(held.mean()) if there.mean() > least else float("nan")
    return out


@dataclass(frozen=True)
class Both:
    """The features of two statistics side by side, on the items that both use."""

    first: Features
    second: Features

    def __call__(self, rows: Rows, /) -> Floats:
        a, b = self.first(rows), self.second(rows)
        used = (a[:, :1] > 0) & (b[:, :1] > 0)
        return np.concatenate([np.where(used, a, 0), np.where(used, b, 0)], axis=1)


def difference(first: Statistic, second: Statistic, name: str) -> Statistic:
    """First minus second as a statistic, on the same items in the same resamples."""

    def value(sums: Floats) -> Floats:
        half = sums.shape[-1] // 2
        return first.value(sums[..., :half]) - second.value(sums[..., half:])

    return Statistic(name, Both(first.features, second.features), value, "coefficient", (-2.0, 2.0))
