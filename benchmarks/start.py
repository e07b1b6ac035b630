"""How much CPU a command takes to start, as ratios to a bare interpreter: `make bench`.

Each command runs once to warm the byte code (and to make the run that is re-read), and then several times. The median of user + system time
of the child process is printed.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile

RUNS = 7
HARNESS = [sys.executable, "-m", "harness"]
RUN = [*HARNESS, "run", "--board", "controls-full", "--judge", "baseline/random"]


def commands(out: str) -> dict[str, list[str]]:
    """What is measured, by name; `out` is the folder for results."""
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "harness --help": [*HARNESS, "--help"],
        "harness compare --help": [*HARNESS, "compare", "--help"],
        "harness run --help": [*HARNESS, "run", "--help"],
        "harness list languages": [*HARNESS, "list", "languages"],
        "harness check": [*HARNESS, "check"],
        "re-read 2 languages": [*RUN, "--langs", "ja,cs", "--out", f"{out}/two"],
        "re-read 9 languages": [*RUN, "--out", f"{out}/nine"],
    }


def cpu_seconds(command: list[str]) -> float:
    """CPU time of one run, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    medians = {}
    with tempfile.TemporaryDirectory() as out:
        for name, command in commands(out).items():
            cpu_seconds(command)
            medians[name] = statistics.median(cpu_seconds(command) for _ in range(RUNS))
    bare = medians["python -c pass"]
    for name, seconds in medians.items():
        print(f"{name:<24}{seconds:6.3f} s CPU{seconds / bare:8.1f} × a bare interpreter")


if __name__ == "__main__":
    main()
