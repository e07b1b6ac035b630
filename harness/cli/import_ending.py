"""How an import ends: refusals and notes on stderr; the folder, or one JSON object, on stdout."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from harness.tables import to_json
from harness.text import terminal_safe

_SHOWN = 20  # refusals on the screen; the file lists all of them


class _Refusal(Protocol):
    @property
    def place(self) -> str: ...

    @property
    def reason(self) -> str: ...


class _Summary(Protocol):
    @property
    def folder(self) -> Path: ...

    @property
    def written(self) -> bool: ...

    @property
    def refused(self) -> Sequence[_Refusal]: ...


def print_refusals(refused: Sequence[_Refusal], notes: Iterable[str]) -> None:
    """Print the first refusals, how many more there are, and the notes."""
    lines = [f"{refusal.place}: {refusal.reason}" for refusal in refused[:_SHOWN]]
    lines += [f"… and {len(refused) - _SHOWN} more"] if len(refused) > _SHOWN else []
    for line in (*lines, *notes):
        print(terminal_safe(line), file=sys.stderr)


def ended(imported: _Summary, facts: Callable[[], Mapping[str, Any]] | None) -> int:
    """Print the folder if something was written, or with `facts` one JSON object; the exit code is 1 if anything was refused."""
    if facts:
        sys.stdout.write(to_json(facts()))
    elif imported.written:
        print(terminal_safe(str(imported.folder)))
    return 1 if imported.refused else 0
