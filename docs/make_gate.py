"""Runs every command of the gate in docs/gate.md again and writes what it prints: `python docs/make_gate.py`.

The commands read three data folders that this script simulates: the same labelled answers with a judge, with a much worse one, and with
one that is a little worse.
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

PAGE = Path(__file__).with_name("gate.md")
PART = re.compile(r"<!-- python docs/make_gate\.py -->\n.*?<!-- end -->", re.DOTALL)
BLOCK = re.compile(r"```console\n\$ (harness|cat) (.+)\n((?:.*\n)*?)```")
CARD = """id = "{name}"
annotators = "persistent"

[metrics.fluency]
kind = "ordinal"
classes = [0, 1, 2]
best = 2
"""


def simulate(folder: Path) -> None:
    """Write the folders `answers`, `answers-worse` and `answers-unsure`: answers to prompts, three people's labels, a judge's scores."""
    _write(folder / "answers", right=0.9)
    _write(folder / "answers-worse", right=0.7)
    _write(folder / "answers-unsure", right=0.85)


def _write(folder: Path, *, right: float) -> None:
    labels_of, judge_of = random.Random(7), random.Random(11)
    items, labels, judgments = [], [], []
    for prompt in range(160):
        truth, name = labels_of.choice((0, 1, 2, 2)), f"answer-{prompt}"
        items.append({"item_id": name, "language": "cs", "task": "chat", "output": "…"})
        for person in ("p1", "p2", "p3"):
            score = truth if labels_of.random() < 0.9 else labels_of.randrange(3)
            labels.append({"item_id": name, "annotator_id": person, "metric": "fluency", "score": score})
        score = truth if judge_of.random() < right else min(truth + 1, 2)
        judgments.append({"item_id": name, "judge": "openai/judge-1", "metric": "fluency", "score": score})
    folder.mkdir(parents=True)
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        (folder / f"{table}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    (folder / "data.toml").write_text(CARD.format(name="answers"), encoding="utf-8")


def printed(program: str, arguments: str, folder: Path) -> str:
    """What a command prints in a folder, without blanks at line ends; and the exit code, where it is not 0."""
    if program == "cat":
        return (folder / arguments).read_text("utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "harness", *shlex.split(arguments)],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "88"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip("\n").splitlines())


def _again(block: re.Match[str], folder: Path) -> str:
    """A block with what its command prints now."""
    return f"```console\n$ {block[1]} {block[2]}\n{printed(block[1], block[2], folder)}```"


def main() -> None:
    text = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory() as name:
        simulate(Path(name))
        text = PART.sub(lambda part: BLOCK.sub(lambda block: _again(block, Path(name)), part[0]), text)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
