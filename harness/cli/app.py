"""The command line: which command the words name, its help, and the sentence about a command that does not exist."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from harness.cli.command import Command, examples_of
from harness.cli.commands import commands, known_commands, leaves, name_of
from harness.cli.help import help_of, settings_help

if TYPE_CHECKING:
    from cyclopts import App


_FIRST_STEPS = """\
What do you want to do?

  which judge may be used in a language   harness atlas --lang ja
  begin with a spreadsheet of scores      harness start ratings.xlsx
  try a judge on the control items        harness run --langs ja,cs
  compare published judges with people    harness data list

'harness help' lists all commands, 'harness help COMMAND' the flags of one."""


def read(words: Sequence[str], lines: Mapping[str, str] = {}) -> Command:
    """Return the command that the words of a command line are. Raises SystemExit after a help, and for what cannot be read.

    Args:
        lines: where a specification file has a flag: its name, and `file:line`.
    """
    if words[:1] == ["help"]:
        return read([*words[1:], "--help"])
    available = known_commands(words)
    name = name_of(words)
    is_leaf = bool(name and available[name][0])
    rest = list(words[len(name.split()) :])
    flags = rest[: rest.index("--")] if "--" in rest else rest
    width = min(shutil.get_terminal_size().columns, 110)
    if {"--help", "-h"} & set(flags):
        if not is_leaf and flags[0][:1] != "-":  # words that name no command
            _refuse_command(name, rest)
        print(help_of(name, width))
        raise SystemExit(0)
    asks_settings = is_leaf and {"--help-settings", "--help-thresholds"} & set(flags)
    if asks_settings and (text := settings_help(name, width, only_thresholds="--help-thresholds" in flags)):
        print(text)
        raise SystemExit(0)
    if is_leaf:
        from harness.cli.flags import read_flags

        return read_flags(name, rest, lines)
    if not name and flags[:1] == ["--version"]:
        from importlib.metadata import version

        print(f"harness {version('judge-harness')}")
        raise SystemExit(0)
    if not name and flags[:1] == ["--install-completion"]:
        _install_completion(flags[1:])
    if not words:
        print(_FIRST_STEPS)
        raise SystemExit(0)
    _refuse_command(name, rest)


def _refuse_command(name: str, rest: Sequence[str]) -> NoReturn:
    """Refuse words that name no command, or only a group of commands."""
    from harness.cli.flags import refuse
    from harness.content.tags import suggest

    names = [leaf.split()[1] for leaf in leaves([name])] if name else [word for word in commands() if " " not in word]
    listed = f"'harness help{f' {name}' if name else ''}' lists all commands"
    if not rest:
        example = examples_of(f"{name} {names[0]}")[0]
        refuse(name, f"COMMAND (one of {', '.join(names)}) is missing; for example: {example}")
    word = rest[0]
    if word.startswith("-"):
        flags = ["--help", *([] if name else ["--version", "--install-completion"])]
        refuse(name, f"unrecognized arguments: {word}.{suggest(word, flags)} '{f'harness {name}'.strip()} --help' lists all commands")
    elsewhere = [f"harness {leaf}" for leaf in commands() if leaf.endswith(f" {word}")]  # `harness get`, as of `data get`
    hint = suggest(word, names if name else [*names, "help"]) or (f" Did you mean '{elsewhere[0]}'?" if elsewhere else "")
    refuse(name, f"no command '{word}'.{hint} {listed}" + ("" if hint or not name else f" ({', '.join(names)})"))


# ---- completion


def whole_app() -> App:
    """Return all commands as one app, from which shells learn to complete them."""
    from cyclopts import App

    from harness.cli.flags import app_of

    app = App(name="harness", version_flags=["--version"])
    groups = {"": app}
    for name, (target, text) in commands().items():
        group, _, word = name.rpartition(" ")
        part = groups[name] = app_of(name, explained=True) if target else App(name=word)
        part.help = text
        groups[group].command(part)
    return app


def _install_completion(words: Sequence[str]) -> NoReturn:
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    from harness.cli.flags import refuse

    name = words[1] if len(words) == 2 and words[0] == "--shell" else "".join(words).removeprefix("--shell=")
    try:
        name = name or detect_shell()
    except ShellDetectionError:
        name = "unknown"
    shells: dict[str, Literal["bash", "zsh", "fish"]] = {"bash": "bash", "zsh": "zsh", "fish": "fish"}
    if name not in shells:
        refuse("", "argument --shell: should be bash, zsh or fish; for example: harness --install-completion --shell bash")
    path = whole_app().install_completion(shell=shells[name])
    print(f"{path}: completion for {name}; it works in the next shell that you open", file=sys.stderr)
    if name == "zsh":
        settings = Path(os.environ.get("ZDOTDIR") or Path.home()) / ".zshrc"
        if not settings.is_file() or "compinit" not in settings.read_text("utf-8", "replace"):
            print("zsh completes nothing before its completion is on; add to .zshrc: autoload -Uz compinit && compinit", file=sys.stderr)
    raise SystemExit(0)
