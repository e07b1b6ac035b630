"""What a million judgments take in memory: `make bench`.

A data folder of nine languages, three tasks and 2,470 items each, five metrics, three repeats, judged by `baseline/random`: 1,000,350 calls
are planned, asked, stored, read and reported by the real command. Prints the process's peak after each phase, asserts nothing.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from phases import SCRIPT, environment, phases_in

ITEMS = 2_470  # of each language and task
LANGUAGES = ("en", "fr", "de", "es", "zh", "ja", "it", "pt-BR", "cs")
TASKS = ("open_prompt", "summarize", "continue_writing")
METRICS = ("linguistic_acceptability", "output_content_quality", "task_quality", "problematic_content", "hallucination")
LIMIT = 400  # MB


def make_folder(folder: Path) -> None:
    rng = random.Random(0)
    with (folder / "items.jsonl").open("w") as items, (folder / "labels.jsonl").open("w") as labels:
        for tag in LANGUAGES:
            for task in TASKS:
                for n in range(ITEMS):
                    item_id, given = f"{tag}-{task}-{n}", f"Text {n}. " * 15
                    texts = {"prompt": given, "passage": given, "left": given, "output": f"Answer {n}. " * 20}
                    row = {"item_id": item_id, "language": tag, "task": task, "group": f"{tag}-{task}-{n // 3}", **texts}
                    items.write(json.dumps(row) + "\n")
                    for metric in METRICS:
                        labels.write(
                            json.dumps({"item_id": item_id, "annotator_id": "a", "metric": metric, "score": rng.randrange(2)}) + "\n"
                        )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_folder(folder)
        arguments = ["run", "--data", name, "--judge", "baseline/random", "--repeats", "3", "--out", str(folder / "results")]
        begin = time.perf_counter()
        command = [sys.executable, SCRIPT, *arguments]
        done = subprocess.run(command, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        taken = time.perf_counter() - begin
    phases = phases_in(done.stderr)
    assert done.returncode == 0 and phases, done.stderr
    judgments = len(LANGUAGES) * len(TASKS) * ITEMS * len(METRICS) * 3
    print(f"{judgments:,} judgments of baseline/random, from planning to report: {taken:.0f} s")
    for phase in phases:
        print(f"  {'peak once ' + phase.name:<42}{phase.peak:>9} MB")
    print(f"  {'limit':<42}{LIMIT:>9} MB")


if __name__ == "__main__":
    main()
