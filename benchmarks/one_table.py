"""`harness compare TABLE` from the first byte to the answer: CPU and memory on 200 and on 100,000 rows (`make bench`).

The table has a text, a person's and a judge's verdict a row; with and without a column of languages, as identifying them loads a model.
Beside it stands a yardstick, the import of pandas and scipy.stats, because the speed of machines differs.
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


def measured(arguments: list[str], folder: Path) -> tuple[float, float]:
    """Return the CPU in seconds and the memory in MB of Python with these arguments."""
    # an installed package has its bytecode; without this a checkout is compiled again in every run where the shell forbids to write it
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    with subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"python {' '.join(arguments)} ended with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        imports = ["-c", "import pandas, scipy.stats"]
        measured(imports, folder)  # writes the bytecode
        cpu, memory = min(measured(imports, folder) for _ in range(3))
        print(f"yardstick: {'import pandas, scipy.stats':<27}{cpu:7.2f} s CPU{memory:7.0f} MB")
        for rows in ROWS:
            for language in (True, False):
                table = folder / "t.csv"
                write_table(table, rows, language=language)
                command = ["-m", "harness", "compare", table.name]
                measured(command, folder)  # writes the bytecode
                cpu, memory = min(measured(command, folder) for _ in range(3))
                what = "a column of languages" if language else "languages seen in the texts"
                print(f"{rows:>7,} rows, {what:<28}{cpu:7.2f} s CPU{memory:7.0f} MB")


if __name__ == "__main__":
    main()
