"""The error tree: every error that a person may cause, and the exit code it ends the command with.

    HarnessError            1
    ├── UsageError          2   a flag, a name or a combination that cannot be
    │   └── MissingData     2   a board's data, or the key of its labels, have to be given
    ├── ContentError        3   a content or data file with something wrong in it (carries path and line)
    ├── JudgeError          4   a judge that cannot be reached, used or trusted
    │   └── FatalReply      4   an answer that would be the same for every call (401, unknown model, ...)
    ├── StoreError          5   the results folder: held by another run, full, read-only, damaged
    └── IncompleteRun       6   the run ended, but some calls have no answer

Messages finish the sentence: what was wrong, where, what would be right.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

INTERRUPTED = 130  # Ctrl-C, as shells count it


class HarnessError(Exception):
    """Base of all errors that are shown as one sentence, without a traceback."""

    exit_code = 1


class UsageError(HarnessError):
    """What was asked for on the command line (or in a call of the API) cannot be."""

    exit_code = 2


class MissingData(UsageError):
    """A board's data, or the key of its sealed labels, are not part of this program and have to be given."""


class ContentError(HarnessError):
    """A content or data file is wrong; the message begins with `file:line`."""

    exit_code = 3

    def __init__(self, message: str, path: Path | str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {message}")


class JudgeError(HarnessError):
    """A judge cannot be reached, used or trusted."""

    exit_code = 4


class FatalReply(JudgeError):
    """The endpoint's answer would be the same for every call, so the run stops on the first."""


class StoreError(HarnessError):
    """The results folder cannot be used."""

    exit_code = 5


class IncompleteRun(HarnessError):
    """The run ended before every call had an answer; the same command goes on from there. `result` is the run as it stands."""

    exit_code = 6

    def __init__(self, message: str, result: Any = None, *, interrupted: bool = False) -> None:
        super().__init__(message)
        self.result = result
        if interrupted:
            self.exit_code = INTERRUPTED
