"""What calibrated scores cost: `harness calibrate` of 135 cells with a million labels, and a million scores applied: `make bench`.

15 languages, 9 metrics on a scale of five, groups of two texts, two labels a text: 1,000,080 labels. Prints seconds by the clock and of
CPU, without reading files, and fails where CPU is above the limits. `python benchmarks/calibrate.py N` takes a share 1/N of the texts.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from harness.correction.calibrate import calibrate_metric
from harness.correction.certified_cell import CertifiedMap, apply_map
from harness.correction.correction_options import CalibrateOptions
from harness.correction.score_maps import map_inputs
from harness.measure.item_table import AnswerCounts, ItemTable
from harness.measure.label_counts import Classes, LabelCounts

LANGUAGES, METRICS, TEXTS, LABELS, CLASSES = 15, 9, 3704, 2, 5
SECONDS, APPLY_SECONDS, SCORES = 20.0, 1.0, 1_000_000


def cell(language: int, metric: int, texts: int, rng: np.random.Generator) -> ItemTable:
    """A cell in which the judge knows something of what people mean."""
    quality = rng.normal(size=texts)
    judged, said = (np.digitize(quality[:, None] + rng.normal(size=(texts, n)) * 0.8, [-1.5, -0.5, 0.5, 1.5]) for n in (1, LABELS))
    counted = [np.eye(CLASSES, dtype=np.int64)[each].sum(axis=1) for each in (said, judged)]
    return ItemTable(
        key={"language": f"l{language:02d}", "metric": f"m{metric}", "judge": "j", "variant": "v", "temperature": None, "top_p": None},
        people=LabelCounts(Classes(tuple(range(CLASSES)), "ordinal", tuple(map(float, range(CLASSES))), 1), counted[0], "drop"),
        item=np.arange(texts),
        group=np.arange(texts) // 2 + language * texts,
        answers=counted[1],
        numbers=None,
        asked=np.ones(texts, np.int64),
        counts=AnswerCounts(texts, {}),
        probability=np.full(texts, np.nan),
        expected=np.full(texts, np.nan),
        inclusion=None,
        stratum=None,
    )


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(begin: tuple[float, float]) -> tuple[float, float]:
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


def main() -> None:
    texts = TEXTS // (int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    rng = np.random.default_rng(0)
    cells = [cell(language, metric, texts, rng) for metric in range(METRICS) for language in range(LANGUAGES)]
    begin = _now()
    found = [calibrate_metric(given, CalibrateOptions()) for given in map_inputs(cells)]
    took = _since(begin)
    labels = sum(one.overall.labels for one in found)
    print(f"calibrate: {len(cells)} cells, {labels:,} labels: {took[0]:.1f} s, {took[1]:.1f} s CPU (limit {SECONDS:.0f})")
    first = found[0].cells[0]
    assert first.curve is not None and first.sets is not None
    held = CertifiedMap("score", first.curve, True, first.advice, first.n, first.groups, first.sets)
    scores = rng.integers(0, CLASSES, SCORES).astype(np.float64)
    begin = _now()
    apply_map(held, scores, range(CLASSES), np.arange(CLASSES, dtype=np.float64), (0.0, CLASSES - 1.0))
    applied = _since(begin)
    print(f"apply: {SCORES:,} scores: {applied[0]:.2f} s, {applied[1]:.2f} s CPU (limit {APPLY_SECONDS:.0f})")
    assert took[1] <= SECONDS and applied[1] <= APPLY_SECONDS


if __name__ == "__main__":
    main()
