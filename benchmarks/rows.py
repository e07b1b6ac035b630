"""What millions of label rows cost: `make bench`, or `python benchmarks/rows.py 1 5 25` for other millions.

Nine languages and three tasks, five metrics, three annotators, one judge: 135 cells, whose items grow with the rows. Labels and judgments
are Parquet files, in which ids are dictionaries. Runs `harness compare --json` in a process of its own and prints CPU, seconds by the
clock, the peak of memory, and both for each row beyond the first size; asserts nothing.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cells import Used, run

LANGUAGES = ("en", "fr", "de", "es", "zh", "ja", "it", "pt-BR", "cs")
TASKS = ("rewrite", "shorten", "caption")
METRICS = ("fluency", "accuracy", "style", "order", "tone")
ANNOTATORS, TEXT = 3, 3  # annotators of an item, items of a text
MILLIONS = (1, 5)
SECONDS, MEGABYTES, BYTES = 300, 6000, 250  # limits: of 25 million rows; of each row
_SCALE = 'kind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n'


def write_folder(folder: Path, rows: int) -> int:
    """A data folder of about so many label rows; returns how many."""
    items = rows // (len(LANGUAGES) * len(TASKS) * len(METRICS) * ANNOTATORS)
    rng = np.random.default_rng(0)
    scales = "".join(f"[metrics.{metric}]\n{_SCALE}" for metric in METRICS)
    (folder / "data.toml").write_text(f'id = "rows"\nannotators = "persistent"\n{scales}')
    with (folder / "items.jsonl").open("w") as file:
        for tag, task, number in _places(items):
            name = f"{tag}-{task}-"
            file.writelines(
                f'{{"item_id":"{name}{n}","language":"{tag}","task":"{task}","group":"{name}{n // TEXT}"}}\n' for n in range(number)
            )
    labels = _Table(folder / "labels.parquet", ("item_id", "annotator_id", "metric"))
    judgments = _Table(folder / "judgments.parquet", ("item_id", "judge", "metric"))
    for tag, task, number in _places(items):
        ids, each = [f"{tag}-{task}-{n}" for n in range(number)], np.arange(number)
        for metric in range(len(METRICS)):
            true = rng.choice(3, number, p=[0.1, 0.2, 0.7])
            seen = np.where(rng.random((number, ANNOTATORS + 1)) < 0.7, true[:, None], rng.integers(0, 3, (number, ANNOTATORS + 1)))
            who = [f"{tag}-{one}" for one in range(ANNOTATORS)]
            labels.add((ids, np.repeat(each, ANNOTATORS)), (who, np.tile(np.arange(ANNOTATORS), number)), metric, seen[:, 1:].ravel())
            judgments.add((ids, each), (["one"], np.zeros(number, int)), metric, seen[:, 0])
    judgments.close()
    return labels.close()


def _places(items: int) -> Iterator[tuple[str, str, int]]:
    return ((tag, task, items) for tag in LANGUAGES for task in TASKS)


class _Table:
    """Writes a Parquet file, one part of it after the other."""

    def __init__(self, path: Path, texts: tuple[str, ...]) -> None:
        kind = pa.dictionary(pa.int32(), pa.string())
        self._schema = pa.schema([*((name, kind) for name in texts), ("score", pa.int64())])
        self._writer = pq.ParquetWriter(path, self._schema)
        self._rows = 0

    def add(self, item: tuple[list[str], np.ndarray], who: tuple[list[str], np.ndarray], metric: int, score: np.ndarray) -> None:
        rows = len(score)
        texts = (item, who, (list(METRICS), np.full(rows, metric)))
        columns = [pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values)) for values, codes in texts]
        self._writer.write_batch(pa.record_batch([*columns, pa.array(score)], schema=self._schema))
        self._rows += rows

    def close(self) -> int:
        self._writer.close()
        return self._rows


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    first: tuple[int, Used] | None = None
    for millions in map(float, sys.argv[1:] or MILLIONS):
        with tempfile.TemporaryDirectory() as name:
            rows = write_folder(Path(name), int(millions * 1e6))
            used = run("compare", name, "--json")
        print(f"harness compare, {rows:,} label rows and {rows // ANNOTATORS:,} judgments, 135 cells")
        print(f"  {used.cpu:.1f} s CPU, {used.clock:.1f} s, {used.memory:,.0f} MB", flush=True)
        if first:
            more = rows - first[0]
            each = 1e6 * (used.cpu - first[1].cpu) / more, (used.memory - first[1].memory) * (1 << 20) / more
            print(f"  each further row {each[0]:.1f} µs CPU, {each[1]:.0f} bytes (limit {BYTES})", flush=True)
        first = first or (rows, used)
    print(f"  limits of 25 million rows: {SECONDS} s, {MEGABYTES:,} MB")


if __name__ == "__main__":
    main()
