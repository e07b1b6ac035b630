"""Writes docs/cli.md from the parser: `python docs/make_cli.py`. A test holds the two equal."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from harness.cli.parser import build_parser

# The order of the contents: what newcomers need first. Commands that are not listed come last.
_FIRST = ("doctor", "list", "run", "report", "compare", "labels", "runs", "batch", "submit", "board", "check", "new", "models", "store")


def page() -> str:
    """The whole command line as Markdown."""
    os.environ["COLUMNS"] = "110"  # argparse wraps to the terminal
    parser = build_parser()
    parts = ["# The command line", "", _contents(parser), "", "Generated from `--help`; do not edit."]
    parts += ["", "```", parser.format_help().rstrip(), "```"]
    for name, command in _commands(parser):
        parts += ["", f"## harness {name}", "", "```", command.format_help().rstrip(), "```"]
        for below, nested in _commands(command):
            parts += ["", f"### harness {name} {below}", "", "```", nested.format_help().rstrip(), "```"]
    return "\n".join(parts) + "\n"


def _contents(parser: argparse.ArgumentParser) -> str:
    """A line of links to the sections of all commands."""
    names = sorted((name for name, _ in _commands(parser)), key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    return "Contents: " + " · ".join(f"[harness {name}](#harness-{name})" for name in names)


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(page(), encoding="utf-8")
