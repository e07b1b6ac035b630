"""How much code a command runs: the different functions of the harness that it calls, and the files that they are in.

`python -m tests.trace compare DATA` runs `harness compare DATA` in this process and prints the numbers to stderr. They are for the reader
of docs/architecture.md; nothing holds them. `python -m tests.trace --places compare DATA` prints each function too, by package and file.
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import harness

ROOT = str(Path(harness.__file__).parent)


class Traced(NamedTuple):
    """What a command ran: functions and the files that they are in, and apart from them comprehensions, lambdas and bodies of classes."""

    functions: set[tuple[str, int, str]]  # file below harness/, first line, qualified name
    comprehensions: int
    classes: int

    @property
    def files(self) -> set[str]:
        """Return the files that the functions are in."""
        return {file for file, _, _ in self.functions}


def trace_command(words: list[str]) -> Traced:
    """Run a command of the harness and return which of its functions ran.

    To Python 3.11 comprehensions, lambdas and the bodies of classes, which run when their module is imported, are functions too.
    """
    from harness.cli import main

    functions: set[tuple[str, int, str]] = set()
    comprehensions: set[tuple[str, int, str]] = set()
    classes: set[tuple[str, int, str]] = set()

    def kind_of(code: CodeType) -> set[tuple[str, int, str]]:
        if code.co_name.startswith("<"):
            return comprehensions
        return functions if code.co_flags & inspect.CO_OPTIMIZED else classes

    def note_call(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT) and code.co_name != "<module>":
            kind_of(code).add((code.co_filename.removeprefix(ROOT).lstrip(os.sep), code.co_firstlineno, code.co_qualname))

    threading.setprofile(note_call)
    sys.setprofile(note_call)
    try:
        main(words)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return Traced(functions, len(comprehensions), len(classes))


def print_places(traced: Traced) -> None:
    """Print to stderr the functions that ran, under the file and the package that they are in."""
    by_package: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
    for file, _, name in sorted(traced.functions):
        by_package[file.partition(os.sep)[0]].setdefault(file, []).append(name)
    for package, files in by_package.items():
        print(f"\n{package}: {sum(map(len, files.values()))} functions in {len(files)} files", file=sys.stderr)
        for file, names in files.items():
            print(f"  {file} ({len(names)}): {', '.join(names)}", file=sys.stderr)


if __name__ == "__main__":
    words = sys.argv[1:]
    with_places = words[:1] == ["--places"]
    traced = trace_command(words[1:] if with_places else words)
    if with_places:
        print_places(traced)
    further = f"beside them {traced.comprehensions} comprehensions and lambdas, and {traced.classes} bodies of classes"
    print(f"{len(traced.functions)} functions in {len(traced.files)} files; {further}", file=sys.stderr)
