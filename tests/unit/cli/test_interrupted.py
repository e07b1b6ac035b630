"""Ctrl-C ends a command in a sentence that is true of it: only commands that ask judges have answers to keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness import sources
from harness.cli import run as run_command


def _interrupt(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("module", "name", "words", "said"),
    [
        (sources, "open_sources", ("compare", "x"), "harness: interrupted\n"),
        (run_command, "run", ("run",), "harness: interrupted; all answers are kept, and the same command continues the run\n"),
    ],
    ids=["compare", "run"],
)
def test_what_an_interrupted_command_says(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, module: Any, name: str, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(module, name, _interrupt)
    done = cli(*words)
    assert (done.code, done.err) == (130, said)
