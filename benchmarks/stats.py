"""What a million labels cost, as ratios to other ways of computing the same: `make bench`.

Prints CPU seconds (all threads), the smallest of some rounds, beside the limits that we keep. Data: 135 cells x 2,470 items x 3
annotators on three classes, and one judge, as arrays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from harness.stats import cell_statistics, count_classes, count_long, estimate, fleiss_kappa, intervals, tabulate
from harness.stats.agreement.agreement import fleiss

CELLS, ITEMS, RATERS, CLASSES, RESAMPLES = 135, 2470, 3, 3, 1000
TEXT = 3  # items of a text, where there are clusters


class Timed(NamedTuple):
    """One way of computing something; the first of a section is ours, and the one that the others are ratios to."""

    what: str
    run: Callable[[], object]
    limit: float | None = None
    rounds: int = 3


class Data(NamedTuple):
    """Long arrays with a row a label, and the judge's class and the cell of every item."""

    item: np.ndarray
    code: np.ndarray
    judge: np.ndarray
    cell: np.ndarray

    @property
    def wide(self) -> np.ndarray:
        return self.code.reshape(-1, RATERS)


@cache
def data() -> Data:
    rng = np.random.default_rng(0)
    items = CELLS * ITEMS
    true = rng.choice(CLASSES, items, p=[0.1, 0.2, 0.7])
    labels = np.where(rng.random((items, RATERS)) < 0.6, true[:, None], rng.choice(CLASSES, (items, RATERS)))
    judge = np.where(rng.random(items) < 0.5, true, rng.choice(CLASSES, items))
    return Data(np.repeat(np.arange(items), RATERS), labels.ravel(), judge, np.repeat(np.arange(CELLS), ITEMS))


def coefficients() -> tuple[str, list[Timed]]:
    """All statistics of all cells, once."""
    d, chosen = data(), cell_statistics(CLASSES, "interval")
    frame = pd.DataFrame({"cell": d.cell[d.item], "item": d.item, "code": d.code})

    def ours() -> None:
        estimate(chosen, tabulate(count_long(d.item, d.code, len(d.judge), CLASSES), d.judge, cell=d.cell))

    def by_numpy() -> None:
        """Human agreement, Fleiss' kappa, the judge's agreement with the majority, Cohen's kappa: what one writes at first."""
        _, item = np.unique(d.item, return_inverse=True)
        counts = np.bincount(item * CLASSES + d.code, minlength=len(d.judge) * CLASSES).reshape(-1, CLASSES)
        pairs = (counts * (counts - 1)).sum(axis=1) / (RATERS * (RATERS - 1))
        agreed = np.bincount(d.cell, pairs) / ITEMS
        margins = np.stack([np.bincount(d.cell, c) for c in counts.T], axis=1) / (ITEMS * RATERS)
        _ = (agreed - (margins**2).sum(axis=1)) / (1 - (margins**2).sum(axis=1))
        majority, most = counts.argmax(axis=1), counts.max(axis=1) >= 2
        table = np.bincount((d.cell * CLASSES + majority)[most] * CLASSES + d.judge[most], minlength=CELLS * CLASSES**2)
        shares = table.reshape(CELLS, CLASSES, CLASSES) / np.bincount(d.cell, most)[:, None, None]
        hits, chance = np.trace(shares, axis1=1, axis2=2), (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
        _ = (hits - chance) / (1 - chance)

    def by_pandas() -> None:
        """Human agreement of each cell."""
        counts = frame.groupby(["cell", "item", "code"]).size().unstack(fill_value=0)
        pairs = (counts * (counts - 1)).sum(axis=1) / (RATERS * (RATERS - 1))
        pairs.groupby("cell").mean()

    def by_statsmodels() -> None:
        for _, rows in frame.groupby("cell"):
            fleiss_of_statsmodels(pd.crosstab(rows["item"], rows["code"]).to_numpy())

    def by_scikit_learn() -> None:
        one, other = d.wide[:, 0].reshape(CELLS, ITEMS), d.judge.reshape(CELLS, ITEMS)
        for a, b in zip(one, other, strict=True):
            cohen_kappa_score(a, b, labels=range(CLASSES))

    return f"coefficients of {len(d.code):,} labels in {CELLS} cells", [
        Timed(f"harness.stats, {len(chosen)} statistics", ours, 0.25, rounds=5),
        Timed("numpy by hand, 4 statistics", by_numpy),
        Timed("pandas groupby, pairwise agreement only", by_pandas, rounds=1),
        Timed("pandas and statsmodels, Fleiss only", by_statsmodels, rounds=1),
        Timed("scikit-learn, Cohen of one pair only", by_scikit_learn, rounds=1),
    ]


def bootstrap_of_a_cell() -> tuple[str, list[Timed]]:
    """1,000 resamples of Fleiss' kappa of items that are independent."""
    labels = data().wide[:ITEMS]
    counts, rng = count_classes(labels, CLASSES), np.random.default_rng(1)
    rows = tabulate(counts)

    def draw() -> np.ndarray:
        return rng.integers(0, ITEMS, ITEMS)

    return f"{RESAMPLES:,} resamples of Fleiss' kappa, one cell of {ITEMS:,} items", [
        Timed("harness.stats", lambda: intervals([fleiss()], rows), 0.003, rounds=20),
        Timed("statsmodels on counts, in a loop", lambda: [fleiss_of_statsmodels(counts[draw()]) for _ in range(RESAMPLES)], rounds=1),
        Timed("harness.stats on labels, in a loop", lambda: [fleiss_kappa(labels[draw()], CLASSES) for _ in range(RESAMPLES)], rounds=1),
    ]


def bootstrap_of_all_cells() -> tuple[str, list[Timed]]:
    """The same of every cell, and of every statistic that a cell has."""
    d = data()
    rows, chosen = tabulate(count_classes(d.wide, CLASSES), d.judge, cell=d.cell), cell_statistics(CLASSES, "interval")
    return f"{RESAMPLES:,} resamples of {CELLS} cells", [
        Timed("Fleiss' kappa", lambda: intervals([fleiss()], rows), 0.4),
        Timed(f"all {len(chosen)} statistics", lambda: intervals(chosen, rows), rounds=1),
    ]


def bootstrap_of_texts() -> tuple[str, list[Timed]]:
    """The same where items share texts, so that texts are drawn."""
    d = data()
    text = np.arange(len(d.judge)) // TEXT
    rows, chosen = tabulate(count_classes(d.wide, CLASSES), d.judge, cell=d.cell, group=text), cell_statistics(CLASSES, "interval")
    return f"{RESAMPLES:,} resamples of {CELLS} cells, texts of {TEXT} items", [
        Timed("Fleiss' kappa", lambda: intervals([fleiss()], rows), 5.0, rounds=1),
        Timed(f"all {len(chosen)} statistics", lambda: intervals(chosen, rows), rounds=1),
    ]


# Add a section here: a function that returns its title and what to time.
SECTIONS: tuple[Callable[[], tuple[str, list[Timed]]], ...] = (
    coefficients,
    bootstrap_of_a_cell,
    bootstrap_of_all_cells,
    bootstrap_of_texts,
)


def cpu_seconds(timed: Timed) -> float:
    """CPU time of the fastest round."""

    def rounds() -> Iterator[float]:
        for _ in range(timed.rounds):
            begin = time.process_time()
            timed.run()
            yield time.process_time() - begin

    return min(rounds())


def main() -> None:
    intervals([fleiss()], tabulate([[2, 1], [1, 2]] * 10))  # imports what is imported late
    for section in SECTIONS:
        title, every = section()
        print(title)
        reference = None
        for timed in every:
            seconds = cpu_seconds(timed)
            reference = reference or seconds
            limit = f"   limit {timed.limit:.3f} s" if timed.limit else ""
            print(f"  {timed.what:<42}{seconds:9.4f} s CPU{seconds / reference:9.1f} ×{limit}", flush=True)


if __name__ == "__main__":
    main()
