"""`harness compare TABLE` from the first byte to the answer: CPU and memory on 200 and on 100,000 rows (`make bench`).

The table has a text, a person's and a judge's verdict a row; with and without a column of languages, as identifying them loads a model.
"""

from __future__ import annotations

import csv
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS = (200, 100_000)


def write_table(path: Path, rows: int, *, language: bool) -> None:
    """Write verdicts of a person and of a judge that differs in 5 % of the texts."""
    draw = random.Random(7)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *(["language"] if language else []), "answer", "human", "judge"])
        for number in range(rows):
            label = draw.choice(("pass", "fail"))
            judged = label if draw.random() < 0.95 else {"pass": "fail", "fail": "pass"}[label]
            tag = [("en", "cs")[number % 2]] if language else []
            writer.writerow([number, *tag, f"The kettle boils slowly near the window of house {number}.", label, judged])


def measured(table: Path) -> tuple[float, float]:
    """Return the CPU in seconds and the memory in MB of one comparison."""
    with subprocess.Popen(
        [sys.executable, "-m", "harness", "compare", table.name], cwd=table.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"harness compare {table.name} ended with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for rows in ROWS:
            for language in (True, False):
                table = Path(folder) / "t.csv"
                write_table(table, rows, language=language)
                cpu, memory = min(measured(table) for _ in range(3))
                what = "a column of languages" if language else "languages seen in the texts"
                print(f"{rows:>7,} rows, {what:<28}{cpu:7.2f} s CPU{memory:7.0f} MB")


if __name__ == "__main__":
    main()
