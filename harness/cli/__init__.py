"""The command line: a thin skin. Parse, call what a notebook would call, render, exit."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from harness.cli.parser import build_parser
from harness.errors import INTERRUPTED, HarnessError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. HarnessError is the only exception that is caught: anything else is a bug."""
    verbose = False
    try:
        arguments = build_parser().parse_args(argv)
        verbose = arguments.verbose
        code: int = arguments.command(arguments)
        sys.stdout.flush()  # here, where a reader that has gone is no error, and not at exit
    except HarnessError as err:
        if verbose:
            traceback.print_exc()
        print(f"harness: {_plain(str(err))}", file=sys.stderr)
        return err.exit_code
    except KeyboardInterrupt:
        print("harness: interrupted; what a run was answered is kept, and the same command goes on from there", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _plain(text: str) -> str:
    from harness.text import plain

    return plain(text)
