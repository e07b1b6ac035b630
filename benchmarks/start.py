"""How much CPU a command takes to start, as ratios to a bare interpreter: `make bench`.

Each command runs once to warm the byte code and then several times; the median of user + system time of the child is printed.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys

RUNS = 7
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "harness --help": [sys.executable, "-m", "harness", "--help"],
    "harness list languages": [sys.executable, "-m", "harness", "list", "languages"],
    "harness check": [sys.executable, "-m", "harness", "check"],
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
    for name, command in COMMANDS.items():
        cpu_seconds(command)
        medians[name] = statistics.median(cpu_seconds(command) for _ in range(RUNS))
    bare = medians["python -c pass"]
    for name, seconds in medians.items():
        print(f"{name:<24}{seconds:6.3f} s CPU{seconds / bare:8.1f} × a bare interpreter")


if __name__ == "__main__":
    main()
