"""How much code a command runs: the different functions of the harness that it calls, and the files that they are in.

`python -m tests.trace compare DATA` runs `harness compare DATA` in this process and prints the numbers to stderr. They are for the reader
of docs/architecture.md; nothing holds them.
"""

from __future__ import annotations

import inspect
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import harness

ROOT = str(Path(harness.__file__).parent)


class Traced(NamedTuple):
    """What a command ran: functions and the files that they are in, and apart from them comprehensions, lambdas and bodies of classes."""

    functions: int
    files: int
    comprehensions: int
    classes: int


def trace_command(words: list[str]) -> Traced:
    """Run a command of the harness and return how many of its functions ran, and in how many files.

    To Python 3.11 comprehensions, lambdas and the bodies of classes, which run when their module is imported, are functions too.
    """
    from harness.cli import main

    functions: set[tuple[str, str, int]] = set()
    comprehensions: set[tuple[str, str, int]] = set()
    classes: set[tuple[str, str, int]] = set()

    def kind_of(code: CodeType) -> set[tuple[str, str, int]]:
        if code.co_name.startswith("<"):
            return comprehensions
        return functions if code.co_flags & inspect.CO_OPTIMIZED else classes

    def note_call(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT) and code.co_name != "<module>":
            kind_of(code).add((code.co_filename, code.co_qualname, code.co_firstlineno))

    threading.setprofile(note_call)
    sys.setprofile(note_call)
    try:
        main(words)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return Traced(len(functions), len({file for file, _, _ in functions}), len(comprehensions), len(classes))


if __name__ == "__main__":
    traced = trace_command(sys.argv[1:])
    further = f"beside them {traced.comprehensions} comprehensions and lambdas, and {traced.classes} bodies of classes"
    print(f"{traced.functions} functions in {traced.files} files; {further}", file=sys.stderr)
