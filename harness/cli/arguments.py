"""What parsers of commands share: subcommands whose modules are imported when they run, and the kinds of values that flags take."""

from __future__ import annotations

import argparse
import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any


def command(commands: Any, name: str, target: str, text: str) -> argparse.ArgumentParser:
    """A subcommand whose function is `module:function` below harness.cli, imported when it is called."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(command=_later(target))
    parser.add_argument("-v", "--verbose", action="store_true", help="show tracebacks of errors")
    return parser


def group(commands: Any, name: str, text: str) -> Any:
    """A command that only holds others; returns what they are added to."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def _later(target: str) -> Callable[[argparse.Namespace], int]:
    def call(arguments: argparse.Namespace) -> int:
        module, _, function = target.partition(":")
        code: int = getattr(importlib.import_module(f"harness.cli.{module}"), function)(arguments)
        return code

    return call


def names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def temperatures(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = (math.nan,)
    if any(not math.isfinite(value) or value < 0 for value in values):
        raise argparse.ArgumentTypeError(f"temperatures are numbers of 0 or more, separated by commas; got '{text}'")
    return values


def shares(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = (math.nan,)
    if not all(0 < value <= 1 for value in values):
        raise argparse.ArgumentTypeError(f"top-p is above 0 and at most 1, several are separated by commas; got '{text}'")
    return values


def one_share(text: str) -> float:
    value = above_zero(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"a share above 0 and at most 1 is needed; got '{text}'")
    return value


def above_zero(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"a number above 0 is needed; got '{text}'")
    return value


def for_judge(of: Callable[[str], Any]) -> Callable[[str], tuple[str, Any]]:
    """`N` for every judge, `JUDGE=N` for one."""

    def read(text: str) -> tuple[str, Any]:
        judge, _, value = text.rpartition("=")
        return judge, of(value)

    return read


def positive(text: str) -> int:
    return _whole(text, 1)


def seed(text: str) -> int:
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):  # what every store and endpoint can hold
        raise argparse.ArgumentTypeError(f"a whole number of {least} or more, in at most nine digits, is needed; got '{text}'")
    return int(text)


def out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="results folder (default: results/)")


def content(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--content", type=Path, action="append", default=[], metavar="DIR", help="a further folder with tasks/, languages/, rubrics/"
    )


def tries(parser: Any) -> None:
    parser.add_argument("--attempts", type=positive, metavar="N", help="tries of one call before it is given up (default: 8)")
    parser.add_argument("--timeout", type=above_zero, metavar="SECONDS", help="for one try (default: 120)")


def prices(parser: Any) -> None:
    parser.add_argument("--prices", type=Path, metavar="FILE", help="your own prices (TOML), which go before the known ones")


def json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for programs, unrounded")
