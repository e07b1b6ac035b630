"""What the engine costs beside what the endpoint takes: `make bench`.

The real command judges 2,000 and 20,000 judgments (1.5 KB prompts, one metric a call) on a loopback endpoint of its own process that
answers after 50 ms, with 64 calls in flight; store, parsing and report are on. Ideal is the time in which the endpoint could have answered
all: calls / 64 × 50 ms. CPU is the command's own, its start included once; marginal is the difference of the two runs. Prints ratios to the
ideal, asserts nothing.
"""

from __future__ import annotations

import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from loopback import endpoint
from phases import SCRIPT, Phase, environment, phases_in

ROOT = Path(__file__).resolve().parents[1]
METRICS = ("linguistic_acceptability", "output_content_quality", "task_quality", "problematic_content", "hallucination")
LATENCY, IN_FLIGHT = 0.05, 64
SIZES = (2_000, 20_000)
WORDS = (ROOT / "languages/en/texts/summarize.toml").read_text("utf-8").split()


class Run(msgspec.Struct):
    """Seconds of the whole process and of its network phase, its CPU seconds, its peak in MB."""

    wall: float
    network: float
    cpu: float
    peak: float
    phases: list[Phase]


def make_folder(folder: Path, judgments: int) -> None:
    """A data folder of English summaries with one label for each of five metrics."""
    rng = random.Random(0)
    folder.mkdir()
    with (folder / "items.jsonl").open("w") as items, (folder / "labels.jsonl").open("w") as labels:
        for n in range(judgments // len(METRICS)):
            passage, output = (" ".join(rng.choices(WORDS, k=k)).capitalize() + "." for k in (120, 30))
            item = {"item_id": f"i{n}", "language": "en", "task": "summarize", "group": f"g{n // 3}", "passage": passage, "output": output}
            items.write(json.dumps(item) + "\n")
            for metric in METRICS:
                labels.write(json.dumps({"item_id": f"i{n}", "annotator_id": "a", "metric": metric, "score": rng.randrange(2)}) + "\n")


def command(data: Path, out: Path, url: str) -> Run:
    """One run of the command."""
    arguments = ["run", "--data", data, "--judge", "openai/m", "--base-url", url, "--concurrency", IN_FLIGHT, "--out", out]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], env=environment(), capture_output=True, text=True, cwd=ROOT)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    [record] = (out / "runs").glob("*/run.json")
    seconds = json.loads(record.read_bytes())["sessions"][0]["judges"][0]["seconds"]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall, seconds, cpu, after.ru_maxrss / 1024, [*phases_in(done.stderr), Phase("written", wall, 0)])


def main() -> None:
    asked, again = {}, {}
    with tempfile.TemporaryDirectory() as name, endpoint(LATENCY) as url:
        folder = Path(name)
        make_folder(folder / "warm", 10)
        command(folder / "warm", folder / "warm-out", url)
        for size in SIZES:
            make_folder(folder / f"d{size}", size)
            asked[size] = command(folder / f"d{size}", folder / f"o{size}", url)
            again[size] = command(folder / f"d{size}", folder / f"o{size}", url)
    print(f"judging at a loopback endpoint, {LATENCY * 1000:.0f} ms, {IN_FLIGHT} in flight, on {os.cpu_count()} cores")
    for size, limit in zip(SIZES, (2.0, 1.15), strict=True):
        ideal, run = math.ceil(size / IN_FLIGHT) * LATENCY, asked[size]
        print(f"  {f'{size:,} judgments, ideal':<42}{ideal:9.2f} s")
        print(f"  {'  network phase':<42}{run.network:9.2f} s    {run.network / ideal:9.2f} ×   limit 1.10 ×")
        print(f"  {'  whole process':<42}{run.wall:9.2f} s    {run.wall / ideal:9.2f} ×   limit {limit:.2f} ×")
        print(f"  {'  again, all stored':<42}{again[size].wall:9.2f} s                limit {1.0 if size == SIZES[0] else 2.0:.1f} s")
    small, large = (asked[size] for size in SIZES)
    print(f"  {'CPU a judgment, marginal, all in':<42}{(large.cpu - small.cpu) / (SIZES[1] - SIZES[0]) * 1000:9.3f} ms   limit 0.500 ms")
    print(f"  {'peak memory':<42}{large.peak:9.0f} MB")
    print(f"  where the {SIZES[1]:,} go, until")
    for phase, before in zip(large.phases, [0.0, *(phase.end for phase in large.phases)], strict=False):
        print(f"  {f'  {phase.name}':<42}{phase.end - before:9.2f} s")


if __name__ == "__main__":
    main()
