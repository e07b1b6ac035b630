"""The command line: parse the arguments, call the functions that notebooks call, render the result, exit."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import NoReturn

from harness.cli.listing import first_words
from harness.cli.parser import LISTINGS, OPEN_GROUP, build_parser, command_parser
from harness.cli.streams import checked_output, guarded_log, interrupted_once
from harness.errors import HarnessError, explained_system_errors
from harness.exit_codes import INTERRUPTED

_ASKING = ("run", "generate", "improve", "batch", "study", "board")  # commands that ask judges


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    HarnessError is caught, and errors of the system are one by then; any other exception is a bug.
    """
    verbose = False
    if argv is None:
        sys.excepthook = _show_bug
    try:
        with explained_system_errors(), interrupted_once(), checked_output(), guarded_log():
            parts = parse(sys.argv[1:] if argv is None else argv)
            verbose = parts[0].verbose
            return max([_run(arguments) for arguments in parts])
    except HarnessError as err:
        if verbose:
            print(_clean("".join(traceback.format_exception(err))), end="", file=sys.stderr)
        print(f"harness: {_clean(str(err))}", file=sys.stderr)
        return err.exit_code
    except KeyboardInterrupt:
        words = sys.argv[1:] if argv is None else argv
        kept = "; all answers are kept, and the same command continues the run" if words and words[0] in _ASKING else ""
        print(f"harness: interrupted{kept}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has closed it
        return 0


def _run(arguments: argparse.Namespace) -> int:
    if arguments.in_checkout:
        from harness.cli.content import content_here  # late: it reads content

        arguments.content = content_here(arguments.content)
    code: int = arguments.command(arguments)
    return code


def parse(argv: Sequence[str]) -> list[argparse.Namespace]:
    """The parsed arguments of a command; `argv` keeps its words as they were parsed.

    Those of `harness run` may come from a file too, which describes several runs where languages have settings of their own.
    """
    words = list(argv)
    is_bundled = any(words[:1] == [name] for listing in LISTINGS.values() for name in first_words(listing) if name != OPEN_GROUP)
    parser = build_parser(plugins=not is_bundled)
    if words[:1] == ["run"] and any(word.partition("=")[0] == "--spec" for word in words):  # otherwise its imports would cost time
        from harness.cli.spec_file import with_spec_file

        return [_parsed(["run", *own], parser) for own in with_spec_file(words[1:], command_parser(parser, "run"))]
    return [_parsed(words, parser)]


def _parsed(words: list[str], parser: argparse.ArgumentParser) -> argparse.Namespace:
    known = argparse.Namespace(argv=words[1:], in_checkout=words[:1] in (["check"], ["board"]))
    arguments, unknown = parser.parse_known_args(words, known)
    if unknown:
        _refuse(unknown, command_parser(parser, *words))
    return arguments


def _refuse(unknown: Sequence[str], parser: argparse.ArgumentParser) -> NoReturn:
    """End like argparse, with the flag that was probably meant."""
    from harness.content.tags import suggest

    hint = suggest(unknown[0].partition("=")[0], parser._option_string_actions) if unknown[0].startswith("-") else ""
    parser.error(f"unrecognized arguments: {' '.join(unknown)}.{hint} '{parser.prog} --help' lists all flags")


def _show_bug(kind: type[BaseException], err: BaseException, trace: TracebackType | None) -> None:
    """Print an unexpected error like Python does, but cleaned: it may quote an endpoint."""
    print(_clean("".join(traceback.format_exception(kind, err, trace))), end="", file=sys.stderr)


def _clean(text: str) -> str:
    """Text that is safe to print: without control characters and secrets."""
    from harness.redaction import Redactor, environment_secrets
    from harness.text import terminal_safe, without_log_commands

    cleaned = Redactor(environment_secrets(os.environ))(terminal_safe(text))
    return without_log_commands(cleaned) if os.environ.get("GITHUB_ACTIONS") else cleaned
