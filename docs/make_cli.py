"""Writes docs/cli.md from the app: `python docs/make_cli.py`. A test holds the two equal."""

from __future__ import annotations

from pathlib import Path

from harness.cli.app import help_of
from harness.cli.commands import commands


def page() -> str:
    """Return the whole command line as Markdown."""
    names = list(commands())
    links = " · ".join(f"[harness {name}](#harness-{name})" for name in names if " " not in name)
    parts = ["# The command line", "", f"Contents: {links}", "", "Generated from `--help`; do not edit.", "", "```", help_of(""), "```"]
    for name in names:
        parts += ["", f"{'###' if ' ' in name else '##'} harness {name}", "", "```", help_of(name), "```"]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(page(), encoding="utf-8")
