"""Three properties of the embedded model: `make bench`.

1. The shared prefix. Five metrics of one Japanese item beside one metric, score only, each time with a cold cache: calls that share an
   item follow each other, so the model reads the item once.
2. The number of threads. The same calls with 1, 2, 4 and 8 threads (as far as there are cores), on an idle machine and beside a process
   that keeps one core busy. Each time is also printed as a ratio to the best number of threads. `*` marks the number that the judge uses;
   its ratio should be at most 1.20 in both cases.
3. One model on all cores beside a model a core, each with one thread and half of the calls: seconds on the clock, and processor seconds,
   which mean something on a busy machine too.

Prints and asserts nothing. The numbers mean something only if nothing else runs on the machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from unittest import mock

import pyarrow.parquet as pq

import harness
from harness.judges import local
from harness.judges.local import find
from harness.model import Call
from harness.runs.preparation import prepare
from harness.runs.runner import open_judges, planned_calls
from harness.store import Store

METRICS = ("linguistic_acceptability", "output_content_quality", "task_quality", "problematic_content", "hallucination")
ROUNDS = 3
THREADS = (1, 2, 4, 8)
THREAD_ROUNDS = 2
CALLS = 8
THREAD_LIMIT = 1.2  # times the best number of threads


def make_folder(folder: Path) -> None:
    """A data folder of one item of the Japanese pack, labelled on all five metrics."""
    library = harness.Library()
    with library.item_files("ja")["summarize"].open(encoding="utf-8") as lines:
        item = json.loads(next(line for line in lines if '"split":"test"' in line.replace(" ", "")))
    (folder / "items.jsonl").write_text(json.dumps(item, ensure_ascii=False) + "\n", "utf-8")
    labels = [{"item_id": item["item_id"], "annotator_id": "a", "metric": metric, "score": 1} for metric in METRICS]
    (folder / "labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels), "utf-8")


def seconds(data: Path, metrics: tuple[str, ...]) -> float:
    """Time in the calls of one run with a model that was just loaded."""
    with tempfile.TemporaryDirectory() as out:
        result = harness.run(harness.RunSpec(data=data, metrics=metrics, variants=("single+score-only",)), out)
        with Store.reading(Path(out)) as store:
            replies = store.replies(set(pq.read_table(result.folder / "judgments.parquet", columns=["call_id"])["call_id"].to_pylist()))
            return sum(reply.seconds for reply in replies if reply is not None)


@contextmanager
def busy_neighbour() -> Iterator[None]:
    """Another process keeps one core busy within the block."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def seconds_by_threads(data: Path, counts: tuple[int, ...]) -> dict[int, float]:
    """The time of all metrics for each number of threads. The rounds alternate, so that a slow minute of the machine hurts all alike."""
    rounds: dict[int, list[float]] = {count: [] for count in counts}
    for _ in range(THREAD_ROUNDS):
        for count in counts:
            with mock.patch.object(local, "thread_count", lambda count=count: count):
                rounds[count].append(seconds(data, METRICS))
    return {count: min(times) for count, times in rounds.items()}


def used_by(groups: list[list[Call]], threads: int) -> tuple[float, float]:
    """Seconds on the clock and of processors for groups of calls that are asked at the same time, each of its own model."""

    async def ask(calls: list[Call]) -> None:
        judge = local.LocalJudge(find("smollm2-135m"))
        await judge.start(calls)
        for call in calls:
            await judge.answer(call)
        await judge.stop()

    async def ask_all() -> None:
        await asyncio.gather(*map(ask, groups))

    with mock.patch.object(local, "thread_count", lambda: threads):
        start, before = time.perf_counter(), os.times()
        asyncio.run(ask_all())
        after = os.times()
    return time.perf_counter() - start, after.user + after.system - before.user - before.system


def print_models_a_core() -> None:
    """The first calls of `make run`, asked of one model on all cores and of a model a core."""
    prepared = prepare(harness.RunSpec(languages=("ja",), metrics=METRICS[:1]))
    [planned] = planned_calls(prepared, open_judges(harness.RunSpec(), prepared)).values()
    calls, cores = list(islice(planned, CALLS)), local.thread_count()
    together, apart = used_by([calls], cores), used_by([calls[start::cores] for start in range(cores)], 1)
    for name, (seconds_here, processors) in {f"one model, {cores} threads": together, f"{cores} models, one thread each": apart}.items():
        print(f"  {name:<42}{seconds_here:9.2f} s    {processors:9.2f} processor seconds")
    print(f"  {'ratio':<42}{apart[0] / together[0]:9.2f} ×    {apart[1] / together[1]:9.2f} ×")


def print_threads(heading: str, times: dict[int, float], used: int) -> None:
    best = min(times.values())
    for count, took in times.items():
        limit = f"   limit {THREAD_LIMIT:.2f} ×" if count == used else ""
        name = f"{heading}, {count} thread{'s' if count > 1 else ''}{' *' if count == used else ''}"
        print(f"  {name:<42}{took:9.2f} s    {took / best:9.2f} ×{limit}")


def main() -> None:
    used = local.thread_count()
    counts = tuple(sorted({count for count in THREADS if count < used} | {used}))
    with tempfile.TemporaryDirectory() as name:
        data = Path(name)
        make_folder(data)
        one = min(seconds(data, METRICS[:1]) for _ in range(ROUNDS))
        five = min(seconds(data, METRICS) for _ in range(ROUNDS))
        idle = seconds_by_threads(data, counts)
        with busy_neighbour():
            busy = seconds_by_threads(data, counts)
    print("local/smollm2-135m, one Japanese item, score only, cold cache")
    print(f"  {'one metric':<42}{one:9.2f} s")
    print(f"  {'five metrics':<42}{five:9.2f} s    {five / one:9.2f} ×   limit 2.00 ×")
    print_threads("idle machine", idle, used)
    print_threads("one busy neighbour", busy, used)
    print_models_a_core()


if __name__ == "__main__":
    main()
