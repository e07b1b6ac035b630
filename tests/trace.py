"""How much code a command runs: the different functions of the harness that it calls, and the files that they are in.

`python -m tests.trace compare DATA` runs `harness compare DATA` in this process and prints both numbers to stderr. They are for the reader
of docs/architecture.md; nothing holds them.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import harness

ROOT = str(Path(harness.__file__).parent)


def trace_command(words: list[str]) -> tuple[int, int]:
    """Run a command of the harness and return how many of its functions ran, and in how many files."""
    from harness.cli import main

    functions: set[tuple[str, str, int]] = set()

    def note_call(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT) and code.co_name != "<module>":
            functions.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    threading.setprofile(note_call)
    sys.setprofile(note_call)
    try:
        main(words)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len(functions), len({file for file, _, _ in functions})


if __name__ == "__main__":
    called, files = trace_command(sys.argv[1:])
    print(f"{called} functions in {files} files", file=sys.stderr)
