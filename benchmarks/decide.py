"""What verdicts cost beside a comparison, on a million labels: `make bench`.

135 cells (27 languages, five metrics) of 2,470 items with three annotators, and one judge. Prints CPU seconds, and never asserts.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from harness.content.specs import DatasetCard
from harness.correction.correction_options import ProbabilityOptions
from harness.correction.probabilities import probabilities_of_table
from harness.data import Dataset
from harness.data.columns import CodedColumn
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.decide.language_comparisons import language_comparisons
from harness.decide.more_labels import labels_needed
from harness.decide.options import DecisionOptions
from harness.decide.verdicts import tests_of_tables, verdicts_of_tests
from harness.measure.compare import JudgedTables, Recording, align, compare_tables
from harness.measure.options import MeasureOptions
from harness.model import Item, Scale

LANGUAGES = (
    *("ar", "bn", "bg", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "gu", "he", "hi", "hu", "id", "it", "ja", "ko", "nl", "pl"),
    *("pt", "sv", "ta", "tr", "zh"),
)
METRICS = ("linguistic_acceptability", "output_content_quality", "task_quality", "problematic_content", "hallucination")
ITEMS, RATERS, FEW_ITEMS, TEXT = 2470, 3, 150, 3


def recording(items: int) -> Recording:
    """So many items of each language; texts of three items each. The judge is about as good as people."""
    rng = np.random.default_rng(0)
    every = [Item(f"{tag}{n}", tag, "chat", group=f"{tag}{n // TEXT}") for tag in LANGUAGES for n in range(items)]
    ids, count = tuple(item.item_id for item in every), len(every)
    true = rng.choice(3, (len(METRICS), count), p=[0.15, 0.25, 0.6])
    labels = np.where(rng.random((RATERS, *true.shape)) < 0.7, true, rng.choice(3, (RATERS, *true.shape), p=[0.15, 0.25, 0.6]))
    judged = np.where(rng.random(true.shape) < 0.7, true, rng.choice(3, true.shape, p=[0.15, 0.25, 0.6]))
    item, metric = np.tile(np.arange(count), len(METRICS)), np.repeat(np.arange(len(METRICS)), count)
    held = Labels(
        CodedColumn(ids, np.tile(item, RATERS)),
        CodedColumn(tuple(f"a{who}" for who in range(RATERS)), np.repeat(np.arange(RATERS), len(item))),
        CodedColumn(METRICS, np.tile(metric, RATERS)),
        CodedColumn((0, 1, 2), labels.ravel()),
        CodedColumn.constant("native", RATERS * len(item)),
    )
    judgments = Judgments(
        item=CodedColumn(ids, item),
        metric=CodedColumn(METRICS, metric),
        judge=CodedColumn.constant("one", len(item)),
        variant=CodedColumn.constant("v", len(item)),
        temperature=CodedColumn.constant(0.0, len(item)),
        repeat=CodedColumn.constant(0, len(item)),
        score=CodedColumn((0, 1, 2), judged.ravel()),
        confidence=CodedColumn(tuple(np.linspace(0.34, 1, 200).tolist()), rng.integers(0, 200, len(item))),
    )
    scale = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
    about = DatasetCard(id="made", annotators="persistent")
    return Recording("made", Dataset("made", tuple(every), held, dict.fromkeys(METRICS, scale), about=about), judgments)


def timed(what: str, run: Callable[[], object], limit: float | None = None) -> object:
    """Print the CPU seconds of a call, and return what it returned."""
    begin = time.process_time()
    found = run()
    said = f"   limit {limit:g} s" if limit else ""
    print(f"  {what:<48}{time.process_time() - begin:9.2f} s CPU{said}", flush=True)
    return found


def of_a_million() -> None:
    options, decision = MeasureOptions(), DecisionOptions()
    made = recording(ITEMS)
    print(f"{len(made.data.labels):,} labels, {len(made.judgments):,} judgments, {len(LANGUAGES) * len(METRICS)} cells")
    aligned = align([made], options)
    timed("the comparison itself", lambda: compare_tables(aligned, options))
    begin = time.process_time()
    tests = tests_of_tables(aligned, decision)
    verdicts_of_tests(tests, decision)
    print(f"  {'verdicts':<48}{time.process_time() - begin:9.2f} s CPU   limit 3 s", flush=True)
    timed("languages side by side", lambda: language_comparisons(aligned, tests, options, decision))
    timed("probabilities", lambda: [probabilities_of_table(judged, ProbabilityOptions()) for judged in aligned.tables])


def of_further_labels() -> None:
    options, decision = MeasureOptions(), DecisionOptions()
    aligned: JudgedTables = align([recording(FEW_ITEMS)], options)
    tests = tests_of_tables(aligned, decision)
    print(f"about how many more labels, {len(tests)} cells of {FEW_ITEMS} items")
    level = decision.alpha / len(tests)
    timed("k", lambda: labels_needed([(one, level) for one in tests], decision), 5)


def imports() -> None:
    print("importing, in a process of its own")
    for module in ("harness", "harness.decide"):
        code = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
        seconds = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3))
        print(f"  {module:<48}{seconds:9.3f} s CPU")
    code = "import sys, harness.decide; print(*[m for m in ('statsmodels', 'pandas', 'scipy.stats') if m in sys.modules])"
    heavy = subprocess.check_output([sys.executable, "-c", code], text=True).strip()
    print(f"  {'heavy packages that harness.decide imports':<48}{heavy or 'none'}")


def main() -> None:
    import scipy.special  # noqa: F401 (late everywhere: not what is timed)

    of_a_million()
    of_further_labels()
    imports()


if __name__ == "__main__":
    main()
