"""Runs the real command, and says of each of its phases when it ended and what memory the process had needed by then.

`python benchmarks/phases.py run ...` prints on stderr, among what the command says, lines `PHASE <seconds since the process began>
<peak in MB> <name>`; `phases_in` reads them.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

SCRIPT = str(Path(__file__).resolve())
_BEGAN = "BENCHMARK_BEGAN"


class Phase(NamedTuple):
    """A phase that has ended: when, and the peak of memory until then."""

    name: str
    end: float
    peak: int


def environment() -> dict[str, str]:
    """What the process needs to know, from the moment at which it is started."""
    return os.environ | {"PYTHONDONTWRITEBYTECODE": "", _BEGAN: str(time.time())}


def phases_in(stderr: str) -> list[Phase]:
    """The phases that a process has told of."""
    said = (line.split(" ", 3) for line in stderr.splitlines() if line.startswith("PHASE "))
    return [Phase(name, float(end), int(peak)) for _, end, peak, name in said]


def main() -> None:
    from harness.cli import main as command
    from harness.cli import run
    from harness.runs import ask_judges, preparation, runner

    began = float(os.environ[_BEGAN])

    def watch(module: Any, name: str, what: str) -> None:
        original = getattr(module, name)

        def call(*arguments: Any, **named: Any) -> Any:
            found = original(*arguments, **named)
            print(f"PHASE {time.time() - began} {_peak()} {what}", file=sys.stderr)
            return found

        setattr(module, name, call)

    watch(runner, "prepare", "content loaded")
    watch(preparation, "make_plan", "planned")
    watch(ask_judges, "_ask_all", "asked and stored")
    watch(runner, "update_judgments", "replies read into judgments")
    watch(run, "make_report", "analysed")
    sys.exit(command(sys.argv[1:]))


def _peak() -> int:
    """Megabytes."""
    return next(int(line.split()[1]) // 1024 for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
