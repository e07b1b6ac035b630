"""The bytes that commands write, as hashes: what a change of the code's structure must leave alone.

`python -m tests.outputs DATA FOLDER > before.json` runs the commands of `COMMANDS` in FOLDER, which must not exist, and prints the hash of
each of their outputs: what they print, their exit codes, and the files that they write. DATA is a folder with the published data sets.
Remove FOLDER, change the code, and run it again with the same FOLDER, because specifications name it.
`python -m tests.outputs --compare before.json after.json` names the outputs that differ, and ends with 1 if there are any.

Left out is what no second run repeats: clocks, hosts, costs and speeds, which only `run.json`, the store and messages hold. Of the store,
the schema and all ids of calls and prompts are hashed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.judged_folder import judged_folder

BASELINES = " ".join(f"--judge baseline/{name}" for name in ("constant-best", "length", "majority", "random"))
PANEL = 'members = ["baseline/constant-best", "baseline/length", "baseline/random"]\nrule = "majority"\nties = "first"\n'
POLICY = 'version = 1\nalpha = 0.05\n[[rule]]\nlanguage = "ja"\nmetric = ["tone", "errors"]\nat_least = 0.7\nbeats_baseline = true\n'

COMMANDS = {
    # runs: plain, ablated, as a panel, as a study, of pairs
    "run": f"run --langs ja,cs {BASELINES} --out plain",
    "run-json": f"run --langs ja,cs {BASELINES} --out plain --json",
    "run-full": f"run --board controls-full --langs de {BASELINES} --out full",
    "run-ablations": "run --langs ja,cs --judge baseline/length --judge baseline/random --variant single --variant joint --variant detailed"
    " --variant few-shot --temperature 0,0.7 --top-p 0.9 --repeats 2 --perturb shuffle-words:0.1,0.5 --perturb truncate --out ablations",
    "run-panel": "run --langs en --judge panel/panel.toml --metrics problematic_content --judge baseline/length --out panel",
    "run-hard": f"run --board controls-hard --langs fr {BASELINES} --out hard",
    "run-dry": "run --langs ja,cs --judge baseline/length --variant joint --dry-run --verbose --out dry",
    "pairs": "pairs summaries --out pairs",
    "run-pairs": "run --data pairs --unlabelled --order both --limit 20 --judge baseline/length --judge baseline/random --out of-pairs",
    "report": "report --html plain.html --out plain",
    "report-csv": "report --csv --out plain",
    "report-ablations": "report --html ablations.html --out ablations",
    "report-ablations-csv": "report --csv --out ablations",
    "report-panel": "report --html panel.html --out panel",
    "report-panel-csv": "report --csv --out panel",
    # comparisons: ordinal, continuous, pairs, studies
    "compare-pariksha": "compare pariksha --html pariksha.html",
    "compare-pariksha-json": "compare pariksha --json",
    "compare-alttest": "compare alttest --html alttest.html",
    "compare-alttest-json": "compare alttest --json",
    "compare-csv": "compare pariksha --csv",
    "compare-md": "compare hanna --md",
    "compare-latex": "compare hanna --latex",
    "compare-basse": "compare basse --json",
    "compare-hanna": "compare hanna --html hanna.html",
    "compare-wmt": "compare wmt24_esa --html wmt.html",
    "compare-wmt-json": "compare wmt23_esa_de --json",
    "compare-pairs": "compare pariksha_pairwise --html pairs.html",
    "compare-by": "compare hanna --by metric,system --json",
    "study-self": "study self-preference --data self_recognition",
    "study-chiang-lee": "study chiang-lee --data chiang_lee_closer_look",
    # labels, corrections, certificates, policies
    "labels-check": "labels check hanna --json",
    "labels-needed": "labels needed hanna --json",
    "accept": "accept made --json",
    "correct": "correct made --json",
    "certify": "certify made --to certificate.json",
    "gate": "gate --policy policy.toml made --json gate.json",
    "gate-junit": "gate --policy policy.toml made --junit junit.xml --summary gate.md",
    "new-gate": "new gate made --into policies",
    # boards
    "board-show": "board show controls",
    "board-show-lang": "board show controls --lang ja",
    "board-build": "board build controls --site site",
    "board-check": "board check controls",
    # mistakes, and what is listed
    "unknown-language": "run --langs cz",
    "unknown-flag": "compare pariksha --jason",
    "no-folder": "compare nowhere",
    "list-judges": "list judges",
    "list-datasets": "list datasets",
    "help": "--help",
}
_CLOCKS = re.compile(r"\d+(\.\d+)? (s|ms|seconds|minutes|KB|MB)\b|\bin \d+:\d\d\b|\d+(\.\d+)?s\b")


def outputs(data: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Names and hashes of everything that the commands print and write."""
    write_inputs(data, folder)
    for name, command in COMMANDS.items():
        print(name, file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "harness", *shlex.split(command)],
            cwd=folder,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120"},
            capture_output=True,
        )
        (folder / f"{name}.stdout").write_bytes(done.stdout)
        (folder / f"{name}.stderr").write_bytes(done.stderr)
        yield f"{name}: exit code", str(done.returncode)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.resolve().is_relative_to(data.resolve()):
            yield str(path.relative_to(folder)), hashlib.sha256(stable(path)).hexdigest()


def write_inputs(data: Path, folder: Path) -> None:
    """What the commands read: the published data, and two made folders, a panel and a policy."""
    folder.mkdir(parents=True)
    for path in data.resolve().iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "panel.toml").write_text(PANEL)
    (folder / "policy.toml").write_text(POLICY)
    judged_folder(folder / "made", probabilities=True, repeats=2)
    judged_folder(folder / "summaries", prompts=12)
    items = folder / "summaries" / "items.jsonl"
    items.write_text(items.read_text("utf-8").replace('"chat"', '"summarize", "passage": "文章。"'), "utf-8")


def stable(path: Path) -> bytes:
    """The content of a file without what no second run repeats."""
    if path.suffix == ".sqlite":
        with sqlite3.connect(path) as store:
            schema = store.execute("select sql from sqlite_master where sql is not null order by name").fetchall()
            ids = [store.execute(f"select {column} from {column[:-3]}s order by 1").fetchall() for column in ("call_id", "prompt_id")]
        return repr((schema, ids)).encode()
    if path.name == "run.json":
        return json.dumps(sorted(json.loads(path.read_bytes()))).encode()
    if path.name == "answers.json":  # a hash of the code among them
        kept = json.loads(path.read_bytes())
        return json.dumps({**kept, "made_of": None, "report": kept.get("report") and {**kept["report"], "made_of": None}}).encode()
    if path.suffix in (".stdout", ".stderr"):
        return _CLOCKS.sub("", path.read_text("utf-8")).encode()
    return path.read_bytes()


def differences(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The outputs that are not the same in both."""
    return [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--compare", type=Path, nargs=2)
    flags = parser.parse_args()
    if flags.compare:
        moved = differences(*(json.loads(path.read_text("utf-8")) for path in flags.compare))
        print("\n".join(moved) or "no output differs")
        return bool(moved)
    print(json.dumps(dict(outputs(flags.data, flags.folder)), indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
