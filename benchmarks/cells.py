"""What a wide grid costs: many judges, many languages, few items in each: `make bench`.

60 items of three annotators in each of 50 languages, scored by 50 judges: 2,500 cells. `harness compare --json` in processes of its own:
texts of one item and of three, scores that are classes and scores that are numbers. Prints CPU of all processes, CPU a cell beyond what
the same command costs for one judge, seconds by the clock, and the most memory held at once; asserts nothing. `python
benchmarks/cells.py N` takes N judges.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from memory import Memory

from harness.row_files import to_jsonl

ITEMS, JUDGES, ANNOTATORS = 60, 50, 3
TAGS = [
    "af",
    "am",
    "ar",
    "az",
    "be",
    "bg",
    "bn",
    "ca",
    "cs",
    "cy",
    "da",
    "de",
    "el",
    "en",
    "es",
    "et",
    "eu",
    "fa",
    "fi",
    "fr",
    "ga",
    "gl",
    "gu",
    "he",
    "hi",
    "hr",
    "hu",
    "hy",
    "id",
    "is",
    "it",
    "ja",
    "ka",
    "kk",
    "km",
    "kn",
    "ko",
    "lt",
    "lv",
    "mk",
    "ml",
    "mn",
    "mr",
    "ms",
    "my",
    "ne",
    "nl",
    "pa",
    "pl",
    "pt",
]
LIMIT = 8.0  # milliseconds of CPU a cell
SCALES = {
    "classes": 'kind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n',
    "numbers": 'kind = "interval"\nmin = 0\nmax = 2\nbest = 2\n',
}


class Used(NamedTuple):
    """What a command took: CPU of all its processes and seconds by the clock, memory in MB; and what it printed."""

    cpu: float
    clock: float
    memory: float
    printed: str


def write_folder(folder: Path, judges: int, scale: str, text: int) -> None:
    """A data folder in which a text has `text` items."""
    rng = random.Random(0)
    items = [
        {"item_id": f"{tag}-{n}", "language": tag, "task": "rewrite", "group": f"{tag}-{n // text}"} for tag in TAGS for n in range(ITEMS)
    ]
    true = [rng.choices((0, 1, 2), (1, 2, 7))[0] for _ in items]

    def seen(row: int, sure: float) -> int:
        return true[row] if rng.random() < sure else rng.randrange(3)

    labels = [
        {"item_id": item["item_id"], "annotator_id": f"{item['language']}-{who}", "metric": "fluency", "score": seen(row, 0.7)}
        for row, item in enumerate(items)
        for who in range(ANNOTATORS)
    ]
    judged = [
        {"item_id": item["item_id"], "judge": f"judge-{judge}", "metric": "fluency", "score": seen(row, 0.3 + 0.6 * judge / judges)}
        for judge in range(judges)
        for row, item in enumerate(items)
    ]
    for name, rows in (("items", items), ("labels", labels), ("judgments", judged)):
        (folder / f"{name}.jsonl").write_bytes(to_jsonl(rows))
    (folder / "data.toml").write_text(f'id = "wide"\nannotators = "persistent"\n[metrics.fluency]\n{SCALES[scale]}')


def run(*words: str) -> Used:
    """`harness` with some arguments, in a process of its own."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "harness", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    memory = Memory(process.pid)
    printed, told = process.communicate()
    clock, most, after = time.perf_counter() - begin, memory.end(), resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == 0, told
    return Used(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock, most, printed)


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    judges = int(sys.argv[1]) if len(sys.argv) > 1 else JUDGES
    for scale in SCALES:
        for text in (1, 3):
            with tempfile.TemporaryDirectory() as name:
                write_folder(Path(name), judges, scale, text)
                one = run("compare", name, "--json", "--judge", "judge-0")
                every = run("compare", name, "--json")
            cells = len(json.loads(every.printed)["cells"])
            each = 1000 * (every.cpu - one.cpu) / max(cells - len(TAGS), 1)
            print(f"harness compare, {cells:,} cells of {ITEMS} items, {scale}, texts of {text}")
            print(
                f"  {every.cpu:.1f} s CPU, {each:.1f} ms a cell (limit {LIMIT:.0f}), {every.clock:.1f} s, {every.memory:.0f} MB", flush=True
            )


if __name__ == "__main__":
    main()
