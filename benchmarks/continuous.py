"""A million labels of 101 different scores: statistics beside SciPy's, and the memory of a comparison: `make bench`.

Prints CPU seconds (all threads) and the peak of the command's memory, asserts nothing. Data: 135 cells × 2,470 items × 3 annotators, and
one judge.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from phases import SCRIPT, environment
from scipy import stats

from harness.stats import kendall_tau, krippendorff_alpha_interval, pearson, spearman
from harness.stats.agreement.correlation import segment_correlations
from harness.stats.agreement.variance_components import mean_of_items, one_way_features, single_of_sums

CELLS, ITEMS, RATERS, SYSTEMS = 135, 2470, 3, 10
LIMIT_SECONDS, LIMIT_MB = 0.5, 600
_ABOUT = 'id = "many"\nversion = "1.0.0"\nsource = "native"\nannotators = "positional"\nsegment = "text"\n'
_METRIC = '[metrics.m{}]\nkind = "interval"\nmin = 0\nmax = 100\nbest = 100\n'


def data() -> tuple[np.ndarray, np.ndarray]:
    """Labels (cells, items, annotators) and the judge's scores (cells, items)."""
    rng = np.random.default_rng(0)
    true = rng.normal(75, 15, (CELLS, ITEMS, 1))
    labels = np.clip(np.round(true + rng.normal(0, 15, (CELLS, ITEMS, RATERS))), 0, 100)
    return labels, np.clip(np.round(true[..., 0] + rng.normal(0, 15, (CELLS, ITEMS))), 0, 100)


def ours(labels: np.ndarray, judge: np.ndarray) -> None:
    """Pearson, Spearman and Kendall overall and within source texts, errors, leniency, means, alpha, ICC."""
    segment = np.arange(ITEMS) // SYSTEMS
    for people, y in zip(labels, judge, strict=True):
        x = people.mean(axis=1)
        for correlation in (pearson, spearman, kendall_tau):
            correlation(x, y)
        segment_correlations(x, y, segment)
        apart = y - x
        _ = np.abs(apart).mean(), np.sqrt((apart**2).mean()), apart.mean(), people.mean(), people.std(ddof=1), y.mean(), y.std(ddof=1)
        krippendorff_alpha_interval(people)
        n = np.full(ITEMS, float(RATERS))
        sums = one_way_features(n, people.sum(axis=1), (people**2).sum(axis=1)).sum(axis=0)
        _ = single_of_sums(sums), mean_of_items(sums)


def by_scipy(labels: np.ndarray, judge: np.ndarray) -> None:
    """The three correlations overall alone."""
    for people, y in zip(labels, judge, strict=True):
        x = people.mean(axis=1)
        _ = stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y)


def seconds(run: Callable[[], None]) -> float:
    def once() -> float:
        begin = time.process_time()
        run()
        return time.process_time() - begin

    return min(once() for _ in range(3))


def make_folder(folder: Path, labels: np.ndarray, judge: np.ndarray) -> None:
    """27 metrics on 12,350 items of five languages: one cell for each."""
    languages, metrics = ("cs", "ja", "de", "fr", "it"), CELLS // 5
    (folder / "data.toml").write_text(_ABOUT + "".join(_METRIC.format(m) for m in range(metrics)))
    with ExitStack() as stack:
        items, rows, judgments = (stack.enter_context((folder / f"{n}.jsonl").open("w")) for n in ("items", "labels", "judgments"))
        for place, tag in enumerate(languages):
            for n in range(ITEMS):
                name = f"{tag}{n}"
                text = f"{tag}{n // SYSTEMS}"
                about = {"item_id": name, "language": tag, "task": "t", "group": text, "text": text, "system": f"s{n % SYSTEMS}"}
                items.write(json.dumps(about) + "\n")
                for metric in range(metrics):
                    cell = place * metrics + metric
                    for who, score in enumerate(labels[cell, n].tolist()):
                        rows.write(json.dumps({"item_id": name, "annotator_id": str(who), "metric": f"m{metric}", "score": score}) + "\n")
                    judgments.write(json.dumps({"item_id": name, "judge": "j", "metric": f"m{metric}", "score": judge[cell, n]}) + "\n")


def main() -> None:
    labels, judge = data()
    ours(labels[:1], judge[:1])  # imports what is imported late
    print(f"{labels.size:,} labels of 101 scores in {CELLS} cells")
    taken = seconds(lambda: ours(labels, judge))
    print(f"  {'harness.stats, correlations to reliability':<46}{taken:9.3f} s CPU   limit {LIMIT_SECONDS} s")
    print(f"  {'SciPy, three correlations overall':<46}{seconds(lambda: by_scipy(labels, judge)):9.3f} s CPU")
    with tempfile.TemporaryDirectory() as name:
        make_folder(Path(name), labels, judge)
        process = subprocess.Popen([sys.executable, SCRIPT, "compare", name, "--json"], env=environment(), stdout=subprocess.DEVNULL)
        begin = time.perf_counter()
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0
        print(f"  {'harness compare, with intervals and verdicts':<46}{time.perf_counter() - begin:9.0f} s")
        print(f"  {'  peak of its memory':<46}{usage.ru_maxrss // 1024:9} MB      limit {LIMIT_MB} MB")


if __name__ == "__main__":
    main()
