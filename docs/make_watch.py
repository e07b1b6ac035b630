"""Runs every command of the run-through in docs/production.md again and writes what it prints: `python docs/make_watch.py DATA`.

DATA is a folder that holds the published set `alttest`. The run-through needs labels and recorded scores of one judge, and scores of days
on which the judge has changed. All are real: gpt-4o's scores of the quality of prompts, with people's labels; and the change is that
another judge of the set, gemini_flash, answers under gpt-4o's name from the eighth day on, as if an endpoint served another model. What is
made is only which texts are labelled and on which day a text comes.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("production.md")
BLOCK = re.compile(r"```shell-session\n\$ (.+)\n((?:.*\n)*?)```")
METRIC, JUDGE, OTHER = "prompt_quality", "gpt-4o", "gemini_flash"
CERTIFIED, PROBES, PER_DAY, DAYS, CHANGES_ON = 700, {"march": 120, "spring": 350}, 32, 20, 8
CARD = """id = "{name}"
annotators = "persistent"
sampling = "random"

[metrics.prompt_quality]
kind = "ordinal"
classes = [1, 2, 3, 4, 5]
best = 5
"""
Rows = Sequence[dict[str, Any]]


def simulate(folder: Path, data: Path) -> None:
    """Write `prompts` (certified), two probes of other texts that people labelled, and for each day `day-NN` and `answers-NN`."""
    items, labels, judgments = (_rows(data / "alttest" / f"{name}.jsonl.gz") for name in ("items", "labels", "judgments"))
    own = [item for item in items if item["task"] == METRIC]
    random.Random(7).shuffle(own)
    certified, others = own[:CERTIFIED], own[CERTIFIED:]
    rest = others[max(PROBES.values()) :]
    by_judge = {judge: [row for row in judgments if row["judge"] == judge] for judge in (JUDGE, OTHER)}
    _write(folder / "prompts", certified, labels, by_judge[JUDGE])
    for name, texts in PROBES.items():
        _write(folder / name, others[:texts], labels, by_judge[JUDGE])
    for day in range(1, DAYS + 1):
        said = [{**row, "judge": JUDGE} for row in by_judge[OTHER if day >= CHANGES_ON else JUDGE]]
        _write(folder / f"day-{day:02}", rest[PER_DAY * (day - 1) : PER_DAY * day], [], said)
        _write(folder / f"answers-{day:02}", certified, [], said)


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _write(folder: Path, items: Rows, labels: Rows, judgments: Rows) -> None:
    ids = {item["item_id"] for item in items}
    folder.mkdir(parents=True)
    for table, rows in (("items", items), ("labels", labels), ("judgments", judgments)):
        kept = [row for row in rows if row["item_id"] in ids]
        (folder / f"{table}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept), encoding="utf-8")
    (folder / "data.toml").write_text(CARD.format(name=folder.name), encoding="utf-8")


def printed(command: str, folder: Path) -> str:
    """What a line of shell prints in a folder, without blanks at line ends; and the exit code, where it is not 0."""
    programs = str(Path(sys.executable).parent)
    environment = {**os.environ, "NO_COLOR": "1", "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    lines = [*done.stdout.strip("\n").splitlines(), *([f"exit code {done.returncode}"] if done.returncode else [])]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def main() -> None:
    text = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        simulate(folder, Path(sys.argv[1]))
        text = BLOCK.sub(lambda block: f"```shell-session\n$ {block[1]}\n{printed(block[1], folder)}```", text)
        shutil.copy(folder / "watch.svg", PAGE.parent / "figures" / "watch.svg")
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
