"""Errors: the tree that the module draws is the tree there is, and its exit codes are those that `--help` promises."""

from __future__ import annotations

import re

import pytest

from harness import errors
from harness.cli.help import help_of
from harness.errors import GATE_INCONCLUSIVE, INTERRUPTED, ContentError, HarnessError, IncompleteRun


def every_error(kind: type[HarnessError] = HarnessError) -> dict[str, type[HarnessError]]:
    found = {kind.__name__: kind}
    for child in kind.__subclasses__():
        if child.__module__ == "harness.errors":
            found |= every_error(child)
    return found


def drawn() -> list[tuple[int, str, int]]:
    """(depth, name, exit code) of every line of the module's drawing."""
    lines = re.findall(r"^    ([│├└─ ]*)(\w+) +(\d+)", errors.__doc__ or "", re.MULTILINE)
    return [(len(branch) // 4, name, int(code)) for branch, name, code in lines]


def test_the_drawing_is_the_tree() -> None:
    known = every_error()
    assert {name for _, name, _ in drawn()} == set(known)
    path: list[type[HarnessError]] = []
    for depth, name, _ in drawn():
        path[depth:] = [known[name]]
        assert known[name].__base__ is (path[depth - 1] if depth else Exception)


@pytest.mark.parametrize(("name", "code"), [(name, code) for _, name, code in drawn()])
def test_exit_codes_are_as_drawn(name: str, code: int) -> None:
    assert every_error()[name].exit_code == code


def test_help_explains_every_exit_code() -> None:
    explained = {int(code) for code in re.findall(r"^  (\d+) ", help_of(""), re.MULTILINE)}
    assert explained == {0, GATE_INCONCLUSIVE, INTERRUPTED} | {kind.exit_code for kind in every_error().values()}


@pytest.mark.parametrize(("line", "begins"), [(7, "items.jsonl:7: "), (None, "items.jsonl: ")])
def test_content_errors_begin_with_the_place(line: int | None, begins: str) -> None:
    error = ContentError("a text is missing", "items.jsonl", line)
    assert str(error) == begins + "a text is missing"
    assert (error.path.name, error.line) == ("items.jsonl", line)


def test_an_interrupted_run_ends_as_shells_count_it_and_others_do_not() -> None:
    assert IncompleteRun("stopped", interrupted=True).exit_code == INTERRUPTED == 130
    assert IncompleteRun("calls left").exit_code == 6


def test_an_incomplete_run_carries_what_there_is() -> None:
    assert IncompleteRun("calls left", result="the run").result == "the run"
