"""The command line: find the command that the words name, parse its arguments, call its function, render the result, exit."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NoReturn

from harness.cli.command import Command, examples_of
from harness.cli.commands import commands, known_commands, leaves, name_of
from harness.cli.help import help_of, settings_help
from harness.cli.streams import checked_output, guarded_log, interrupted_once, print_message
from harness.errors import INTERRUPTED, HarnessError, explained_system_errors

if TYPE_CHECKING:
    from cyclopts import App

_ASKING = ("run", "generate", "improve", "batch", "study", "board")  # commands that ask judges


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    HarnessError is caught, and errors of the system are one by then; any other exception is a bug.
    """
    verbose = False
    if argv is None:
        sys.excepthook = _show_bug
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: threads of small products cost .2 s and gain nothing
    try:
        with explained_system_errors(), interrupted_once(), checked_output(), guarded_log():
            parts = parse(sys.argv[1:] if argv is None else argv)
            verbose = parts[0].verbose
            return max([_run(command) for command in parts])
    except HarnessError as err:
        if verbose:
            print(_clean("".join(traceback.format_exception(err))), end="", file=sys.stderr)
        print_message(f"harness: {_clean(str(err))}")
        return err.exit_code
    except KeyboardInterrupt:
        words = sys.argv[1:] if argv is None else argv
        advice = "; all answers are kept, and the same command continues the run" if words and words[0] in _ASKING else ""
        print_message(f"harness: interrupted{advice}")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has closed it
        return 0


def _run(command: Command) -> int:
    if command.argv[0] in ("check", "board"):
        from harness.cli.command import fields_of, value_of, with_value
        from harness.cli.content import content_here  # late: it reads content

        if any(field.name == "content" for field in fields_of(type(command))):
            command = with_value(command, "content", tuple(content_here(value_of(command, "content"))))
    return function_of(command)(command)


def function_of(command: Command) -> Callable[[Command], int]:
    """Return the function that runs a command. Those of other packages have the whole path of its module.

    What a first import makes stays until the process ends, so no collection of garbage, then or later, visits it.
    """
    module, _, name = command.target.partition(":")
    if type(command).__module__.startswith("harness.cli."):
        module = f"harness.cli.{module}"
    if module not in sys.modules:
        gc.disable()
        try:
            importlib.import_module(module)
        finally:
            gc.freeze()
            gc.enable()
    function: Callable[[Command], int] = getattr(sys.modules[module], name)
    return function


def parse(argv: Sequence[str]) -> list[Command]:
    """Return the command that a command line is, with its flags.

    They may come from a file too, which describes several runs where languages have flags of their own.
    """
    words = list(argv)
    if any(word.partition("=")[0] == "--spec" for word in words):  # otherwise its imports would cost time
        from harness.cli.spec_file import with_spec_file

        return [read(part.words, part.lines) for part in with_spec_file(words)]
    return [read(words)]


def _show_bug(kind: type[BaseException], err: BaseException, trace: TracebackType | None) -> None:
    """Print an unexpected error like Python does, but cleaned: it may quote an endpoint."""
    print(_clean("".join(traceback.format_exception(kind, err, trace))), end="", file=sys.stderr)


def _clean(text: str) -> str:
    """Text that is safe to print: without control characters and secrets."""
    from harness.redaction import Redactor, environment_secrets
    from harness.text import terminal_safe, without_log_commands

    cleaned = Redactor(environment_secrets(os.environ))(terminal_safe(text))
    return without_log_commands(cleaned) if os.environ.get("GITHUB_ACTIONS") else cleaned


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
