"""The command line: parse the arguments, call the functions that notebooks call, render the result, exit."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from harness.cli.app import read
from harness.cli.streams import checked_output, guarded_log, interrupted_once, print_message
from harness.errors import INTERRUPTED, HarnessError, explained_system_errors

if TYPE_CHECKING:
    from harness.cli.command import Command

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
