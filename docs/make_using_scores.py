"""Runs every command that uses scores in docs/using-scores.md again and writes what it prints: `python docs/make_using_scores.py`.

The commands read the data folder `answers`, which this script simulates: labels are drawn at random, and the judge is lenient.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).with_name("using-scores.md")
PART = re.compile(r"<!-- python docs/make_using_scores\.py -->\n.*?<!-- end -->", re.DOTALL)
BLOCK = re.compile(r"```console\n\$ harness (.+)\n((?:.*\n)*?)```")
CARD = """id = "answers"
annotators = "persistent"
sampling = "random"

[metrics.fluency]
kind = "ordinal"
classes = [0, 1, 2]
best = 2
"""


def simulate(folder: Path) -> None:
    """Write the data folder: 300 prompts, two systems, the answers to 100 random prompts labelled by three people, a judge of all."""
    rng = random.Random(7)
    labelled = set(rng.sample(range(300), 100))
    items, labels, judgments = [], [], []
    for prompt in range(300):
        for system, good in (("base", 0.4), ("tuned", 0.62)):
            name, truth = f"{system}-{prompt}", sum(rng.random() < good for _ in range(2))
            items.append({"item_id": name, "language": "cs", "task": "chat", "system": system, "group": f"prompt-{prompt}", "output": "…"})
            for person in ("p1", "p2", "p3") if prompt in labelled else ():
                score = truth if rng.random() < 0.92 else rng.randrange(3)
                labels.append({"item_id": name, "annotator_id": person, "metric": "fluency", "score": score})
            right = rng.random() < 0.75
            score, sure = (truth, rng.uniform(0.75, 1)) if right else (min(truth + 1, 2), rng.uniform(0.4, 0.85))
            probs = {str(score): sure, str((score + 1) % 3): 1 - sure}
            judgments.append({"item_id": name, "judge": "openai/judge-1", "metric": "fluency", "score": score, "probs": probs})
    folder.mkdir()
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        (folder / f"{table}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    (folder / "data.toml").write_text(CARD, encoding="utf-8")


def printed(command: str, folder: Path) -> str:
    """What a command prints in a folder, without blanks at line ends."""
    done = subprocess.run(
        [sys.executable, "-m", "harness", *shlex.split(command)],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "88"},
        capture_output=True,
        text=True,
        check=True,
    )
    for figure in folder.glob("*.svg"):
        (PAGE.parent / "figures" / figure.name).write_bytes(figure.read_bytes())
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip("\n").splitlines())


def _again(block: re.Match[str], folder: Path) -> str:
    """A block with what its command prints now."""
    return f"```console\n$ harness {block[1]}\n{printed(block[1], folder)}```"


def main() -> None:
    text = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory() as name:
        simulate(Path(name) / "answers")
        text = PART.sub(lambda part: BLOCK.sub(lambda block: _again(block, Path(name)), part[0]), text)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
