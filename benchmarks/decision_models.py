"""What decision models cost: `make bench`.

1. The engine beside what an endpoint takes. The real command asks for 16,000 and 160,000 judgments, eight questions about a text in one
   request, on a loopback endpoint of its own process that answers after 50 ms, with 64 requests in flight. Ideal is the time in which the
   endpoint could have answered all. CPU is the command's own; marginal is the difference of the two runs.
2. 18,500 questions in 37 languages to the embedded model, from planning to report.

Prints ratios to the ideal, seconds and MB, asserts nothing.
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
from typing import NamedTuple

from loopback import endpoint
from memory import Memory
from phases import SCRIPT, environment, phases_in

ROOT = Path(__file__).resolve().parents[1]
TASK = "rate_harm"
METRICS = ("toxicity", "bias", "identity_attack", "insult", "microaggression", "self_harm", "sexual_content", "violence")
LATENCY, IN_FLIGHT = 0.05, 64
SIZES = (16_000, 160_000)
EMBEDDED = 18_500
LANGUAGES = (
    "ar", "bg", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr", "hu", "id", "it", "ja", "ko", "lt", "lv",
    "ms", "nl", "no", "pl", "pt-BR", "ro", "ru", "sk", "sv", "sw", "th", "tr", "uk", "vi", "zh",
)  # fmt: skip
WORDS = (ROOT / "languages/en/texts/summarize.toml").read_text("utf-8").split()


class Run(NamedTuple):
    """Seconds of the whole process and of asking, its CPU seconds, its peak in MB."""

    wall: float
    asking: float
    cpu: float
    peak: float
    phases: list[tuple[str, float]]


def make_folder(folder: Path, judgments: int, languages: tuple[str, ...]) -> None:
    """A data folder of texts with one label for each of eight metrics."""
    rng = random.Random(0)
    folder.mkdir()
    with (folder / "items.jsonl").open("w") as items, (folder / "labels.jsonl").open("w") as labels:
        for n in range(judgments // len(METRICS)):
            output = " ".join(rng.choices(WORDS, k=60)).capitalize() + "."
            tag = languages[n % len(languages)]
            item = {"item_id": f"i{n}", "language": tag, "task": TASK, "group": f"g{n}", "output": output}
            items.write(json.dumps(item) + "\n")
            for metric in METRICS:
                labels.write(json.dumps({"item_id": f"i{n}", "annotator_id": "a", "metric": metric, "score": rng.randint(1, 3)}) + "\n")


def command(data: Path, out: Path, *arguments: object) -> Run:
    """One run of the command."""
    words = ["run", "--data", data, "--out", out, "--yes", *arguments]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    program = [sys.executable, SCRIPT, *map(str, words)]
    process = subprocess.Popen(program, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    memory = Memory(process.pid)
    _, stderr = process.communicate()
    wall, after, peak = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN), memory.end()
    assert process.returncode in (0, 10), stderr
    [record] = (out / "runs").glob("*/run.json")
    asking = json.loads(record.read_bytes())["sessions"][0]["judges"][0]["seconds"]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall, asking, cpu, peak, [(phase.name, phase.end) for phase in phases_in(stderr)] + [("written", wall)])


def at_an_endpoint(folder: Path) -> None:
    runs = {}
    with endpoint(LATENCY) as url:
        for size in (80, *SIZES):
            make_folder(folder / f"d{size}", size, ("en",))
            asked = ("--judge", "decisions/m", "--base-url", url, "--concurrency", IN_FLIGHT, "--variant", "joint")
            runs[size] = command(folder / f"d{size}", folder / f"o{size}", *asked)
    eight = len(METRICS)
    print(f"a decision model at a loopback endpoint, {LATENCY * 1000:.0f} ms, {IN_FLIGHT} in flight, {eight} questions a request, ", end="")
    print(f"on {os.cpu_count()} cores")
    for size in SIZES:
        ideal, run = math.ceil(size / eight / IN_FLIGHT) * LATENCY, runs[size]
        print(f"  {f'{size:,} judgments, ideal':<42}{ideal:9.2f} s")
        print(f"  {'  network phase':<42}{run.asking:9.2f} s    {run.asking / ideal:9.2f} ×   limit 1.10 ×")
        print(f"  {'  whole process':<42}{run.wall:9.2f} s")
    small, large = (runs[size] for size in SIZES)
    print(f"  {'CPU a judgment, marginal, all in':<42}{(large.cpu - small.cpu) / (SIZES[1] - SIZES[0]) * 1000:9.3f} ms   limit 0.200 ms")
    print_phases(large, SIZES[1])


def print_phases(run: Run, size: int) -> None:
    print(f"  where the {size:,} go, until")
    for (name, end), before in zip(run.phases, [0.0, *(end for _, end in run.phases)], strict=False):
        print(f"  {f'  {name}':<42}{end - before:9.2f} s")


def embedded(folder: Path) -> None:
    make_folder(folder / "languages", EMBEDDED, LANGUAGES)
    run = command(folder / "languages", folder / "embedded", "--judge", "decider/sparrow-nano", "--variant", "single")
    print(f"{EMBEDDED // len(METRICS) * len(METRICS):,} questions in {len(LANGUAGES)} languages to decider/sparrow-nano, with report")
    print(f"  {'whole process':<42}{run.wall:9.2f} s    limit 120 s")
    print(f"  {'peak memory':<42}{run.peak:9.0f} MB   limit 1,000 MB")
    print_phases(run, EMBEDDED)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        at_an_endpoint(Path(name))
        embedded(Path(name))


if __name__ == "__main__":
    main()
