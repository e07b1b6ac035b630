"""What a million labels cost to read and to compare: `make bench`.

Makes a data folder of 66,690 items in nine languages and three tasks, five metrics and three annotators each (135 cells), and one
judge; reads its labels as JSONL and as Parquet beside other readers, and runs `harness compare` on it in a process of its own. Prints
wall-clock seconds of the faster of two rounds, ratios to ours, and peak memory; asserts nothing.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from harness.content.specs import DatasetCard, read_spec
from harness.data.labels import read_labels
from harness.row_files import to_jsonl

LANGUAGES = ("en", "fr", "de", "es", "zh", "ja", "it", "pt-BR", "cs")
TASKS = ("rewrite", "shorten", "caption")
METRICS = ("fluency", "accuracy", "style", "order", "tone")
ITEMS = 2470  # of each language and task
TEXT = 3  # items of a text
LABELS = len(LANGUAGES) * len(TASKS) * ITEMS * len(METRICS) * 3

_PEAK = """
import runpy, sys
sys.argv = ["harness", "compare", sys.argv[1], "--json"]
try:
    runpy.run_module("harness", run_name="__main__")
except SystemExit:
    pass
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")), file=sys.stderr)
"""


def make_folder(folder: Path) -> None:
    """Write the data folder, labels both as JSONL and (in `parquet/`) as Parquet."""
    rng = random.Random(0)
    items = [
        {
            "item_id": f"{tag}-{task}-{n:05d}",
            "language": tag,
            "task": task,
            "group": f"{tag}-{task}-{n // TEXT}",
            "output": f"Text {n}. " * 20,
        }
        for tag in LANGUAGES
        for task in TASKS
        for n in range(ITEMS)
    ]
    (folder / "items.jsonl").write_bytes(to_jsonl(items))
    labels = [
        {"item_id": item["item_id"], "annotator_id": f"{item['language']}-{who}", "metric": metric, "score": score}
        for item in items
        for metric in METRICS
        for who, score in enumerate(_votes(rng))
    ]
    (folder / "labels.jsonl").write_bytes(to_jsonl(labels))
    (folder / "parquet").mkdir()
    pd.DataFrame(labels).to_parquet(folder / "parquet" / "labels.parquet")
    judged = ({"item_id": i["item_id"], "judge": "one", "metric": m, "score": _votes(rng)[0]} for i in items for m in METRICS)
    (folder / "judgments.jsonl").write_bytes(to_jsonl(judged))
    scales = "".join(f'[metrics.{m}]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n' for m in METRICS)
    (folder / "data.toml").write_text(f'id = "million"\nannotators = "persistent"\n{scales}')


def _votes(rng: random.Random) -> list[int]:
    true = rng.choices((0, 1, 2), (1, 2, 7))[0]
    return [true if rng.random() < 0.7 else rng.randrange(3) for _ in range(3)]


def seconds(run: Callable[[], object]) -> float:
    """Wall-clock time of the faster of two rounds."""

    def rounds() -> Iterator[float]:
        for _ in range(2):
            begin = time.perf_counter()
            run()
            yield time.perf_counter() - begin

    return min(rounds())


def reading(folder: Path) -> None:
    """Read a million labels, checked and on columns, beside readers that check nothing."""
    scales = read_spec(folder / "data.toml", DatasetCard).metrics
    items = dict.fromkeys(row["item_id"] for row in map(json.loads, (folder / "items.jsonl").open(encoding="utf-8")))
    jsonl, parquet = folder / "labels.jsonl", folder / "parquet" / "labels.parquet"

    def loop() -> list[Any]:
        with jsonl.open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    print(f"reading {LABELS:,} labels")
    _table(
        [
            ("JSONL, harness: checked, on columns", lambda: read_labels(jsonl, scales, items), 3.0),
            ("JSONL, json.loads in a loop", loop, None),
            ("JSONL, pandas.read_json", lambda: pd.read_json(jsonl, lines=True), None),
        ]
    )
    _table(
        [
            ("Parquet, harness: checked, on columns", lambda: read_labels(parquet, scales, items), 0.5),
            ("Parquet, pandas.read_parquet", lambda: pd.read_parquet(parquet), None),
        ]
    )


def _table(rows: list[tuple[str, Callable[[], object], float | None]]) -> None:
    ours = None
    for what, run, limit in rows:
        took = seconds(run)
        ours = ours or took
        print(f"  {what:<42}{took:9.3f} s    {took / ours:9.1f} ×" + (f"   limit {limit:.1f} s" if limit else ""), flush=True)


def comparing(folder: Path) -> None:
    """`harness compare` of everything, in a process of its own; its peak is the kernel's, since `ru_maxrss` begins with the parent's."""
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", _PEAK, str(folder)], capture_output=True, text=True, check=True)
    took = time.perf_counter() - begin
    cells = len(json.loads(done.stdout)["cells"])
    peak = int(done.stderr.split()[-1]) / 1024
    print(f"harness compare, {LABELS:,} labels and {LABELS // 3:,} judgments in {cells} cells, texts of {TEXT} items")
    print(f"  {'all statistics with intervals':<42}{took:9.1f} s    {peak:9.0f} MB   limit 600 MB")


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_folder(folder)
        reading(folder)
        comparing(folder)


if __name__ == "__main__":
    main()
