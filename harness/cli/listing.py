"""Reads the listings of commands and flags in `harness.cli.flags`, which look like the help that is made of them.

    harness gate (gate:gate): hold the limits of a policy against a run's numbers
        source RUN_OR_DIR: a data folder with judgments, or a run
        --policy FILE (Path): the limits
        [files to write]
        --junit FILE (Path): JUnit XML
        @json

The brackets of a command hold its function, `module:function` in harness.cli or with the whole path; without them, it is a group of the
commands that follow.
Those of an argument hold what reads its value (a function of `harness.cli.arguments`, or {choices}) and settings of `add_argument`, where
`default=` without a value is an empty text, tuple or list. A flag without a value is a switch, and `...` says that one can be repeated.
`[title]` begins a group of flags, which `[]` ends. Of the flags after `(one of)` one is possible. `@json` stands for lines of
`harness.cli.flags.shared`. What goes on in another line is indented by eight.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

from harness.cli import arguments
from harness.cli.flags.shared import LINES
from harness.exchange.scores.formats import SCORE_KINDS

_COMMAND = re.compile(r"harness (?P<words>[a-z -]+?)(?: \((?P<target>[\w.:]+)\))?: (?P<text>.*)")
_ARGUMENT = re.compile(r"(?P<usage>.+?)(?: \((?P<settings>[^()]*)\))?:(?: (?P<text>.*))?")
_KINDS: dict[str, Callable[[str], Any]] = {**vars(arguments), "int": int, "float": float}


def add_commands(commands: Any, listing: str) -> None:
    """Add the commands of a listing to the subparsers of a program."""
    below = commands
    for heading, lines in _blocks(listing, r"\n\n"):
        words, target, text = _matched(_COMMAND, heading)
        *group, name = words.split()
        settings = {"help": text, "description": f"{text[0].upper()}{text[1:]}."}
        if target is None:
            below = commands.add_parser(name, **settings).add_subparsers(title="commands", metavar="COMMAND", required=True)
            continue
        # a flag of another command would be taken for one that begins in the same way
        if group and below is commands:  # the group is of another listing
            [below] = (action for action in commands.choices[group[0]]._actions if isinstance(action, argparse._SubParsersAction))
        parser = (below if group else commands).add_parser(name, **settings, allow_abbrev=False)
        parser.set_defaults(command=_import_later(target))
        parser.add_argument("-v", "--verbose", action="store_true", help="show tracebacks of errors")
        _add_lines(parser, parser, lines)


def first_words(listing: str) -> list[str]:
    """The names of the commands and groups of a listing, in order."""
    return list(dict.fromkeys(heading.split()[1].rstrip(":") for heading, _ in _blocks(listing, r"\n\n")))


def _blocks(listing: str, between: str) -> Iterator[tuple[str, list[str]]]:
    """The first line of each block, and its other lines."""
    for block in re.split(between, re.sub(r"\n {8}", " ", listing).strip()):
        heading, *lines = block.split("\n")
        yield heading, [line.strip() for line in lines if line]


@cache
def _shared() -> dict[str, list[str]]:
    """The lines that each name such as `@json` stands for."""
    found = {}
    for heading, lines in _blocks(LINES, r"\n(?=@)"):
        name, _, line = heading.partition(" ")
        found[name] = [line, *lines] if line else lines
    return found


def _add_lines(parser: argparse.ArgumentParser, place: Any, lines: list[str]) -> None:
    """Add arguments to a parser; `place`, the parser itself or one of its groups, has those before the first title."""
    for line in lines:
        if line.startswith("@"):
            _add_lines(parser, place, _shared()[line])
        elif line == "(one of)":
            place = place.add_mutually_exclusive_group()
        elif line == "[]":
            place = parser
        elif line.startswith("["):
            known = (each for each in parser._action_groups if each.title == line[1:-1])
            place = next(known, None) or parser.add_argument_group(line[1:-1])
        else:
            _add_argument(place, line)


def _add_argument(place: Any, line: str) -> None:
    usage, settings, text = _matched(_ARGUMENT, line)
    words = usage.split()
    flags = [word.rstrip(",") for word in words if word.startswith("-")]
    value = words[len(flags) or 1 :]
    given = _given(settings or "", repeated=value[-1:] == ["..."])
    if value:
        given["metavar"] = value[0]
    elif flags and "choices" not in given:
        given["action"] = "store_true"
    place.add_argument(*(flags or words[:1]), help=argparse.SUPPRESS if text == "hidden" else text, **given)


def _given(settings: str, *, repeated: bool) -> dict[str, Any]:
    """The settings of an argument as `add_argument` takes them."""
    given: dict[str, Any] = {"action": "append"} if repeated else {}
    for word in settings.split():
        name, equals, value = word.partition("=")
        if equals:
            given[name] = value
        elif word.startswith("{"):
            given["choices"] = SCORE_KINDS if word == "{SCORE_KINDS}" else tuple(word[1:-1].split(","))
        elif word == "required":
            given["required"] = True
        else:
            given["type"] = _KINDS[word]
    kind = given.get("type")
    if given.get("default") == "":
        given["default"] = [] if repeated else () if kind else ""
    elif kind and "default" in given:
        given["default"] = kind(given["default"])
    return given


def _matched(pattern: re.Pattern[str], line: str) -> tuple[Any, ...]:
    found = pattern.fullmatch(line)
    assert found, f"not a line of a listing: {line}"
    return found.groups()


def _import_later(target: str) -> Callable[[argparse.Namespace], int]:
    def call(given: argparse.Namespace) -> int:
        module, _, function = target.partition(":")
        code: int = getattr(_imported(module if module.startswith("harness.") else f"harness.cli.{module}"), function)(given)
        return code

    return call


def _imported(name: str) -> ModuleType:
    """Import a module. What its first import makes stays until the process ends, so no collection of garbage, then or later, visits it."""
    if name in sys.modules:
        return sys.modules[name]
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        gc.enable()
