"""The error tree: every error that a user can cause, and the exit code of the command.

    HarnessError            1
    ├── UsageError          2   an invalid flag, name or combination
    │   ├── MissingData     2   the user has to provide a board's data or the key of its sealed labels
    │   └── CertificateError 2   a certificate does not allow what is asked of it
    │       ├── StaleCertificate 2   judge, prompt, rubric, language or scale are not those of the certificate
    │       └── UseForbidden 2   the certificate's verdict forbids this use, or the certificate has no numbers for it
    ├── ContentError        3   a content or data file is wrong (has path and line)
    ├── JudgeError          4   a judge cannot be reached, used or trusted
    │   └── FatalReply      4   an error that every call would get (401, unknown model, ...)
    │       └── EndpointRefusal 4   a refusal that is not about the item (a firewall's 403, a redirect, ...)
    ├── DataFetchError      4   published data cannot be fetched from their origin
    │   └── AbsentRawFile   4   the origin has no such file
    ├── StoreError          5   the results folder is in use by another run, full, read-only or damaged
    ├── OutputError         5   standard output is closed, full, or cannot encode the results
    └── IncompleteRun       6   the run ended, but some calls have no reply

Commands that end without an error have exit codes too (`harness.exit_codes`). A message says what is wrong, where, and what would be right.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from harness.exit_codes import CONTENT, FETCH, INCOMPLETE, INTERRUPTED, JUDGE, OTHER_ERROR, OUTPUT, STORE, USAGE

_MOST_FAULTS = 6  # of a file, in one message


class HarnessError(Exception):
    """Base of all errors that users see as one sentence without a traceback."""

    exit_code = OTHER_ERROR


class UsageError(HarnessError):
    """Invalid arguments on the command line or in a call of the API."""

    exit_code = USAGE


class MissingData(UsageError):
    """A board's data or the key of its sealed labels are not part of the project; the user has to provide them."""


class CertificateError(UsageError):
    """A certificate does not allow what is asked of it."""


class StaleCertificate(CertificateError):
    """Judge, prompt, rubric, language or scale are not those that the certificate was made for."""


class UseForbidden(CertificateError):
    """The certificate's verdict forbids this use, or the certificate has no numbers for it."""


class ContentError(HarnessError):
    """A content or data file is wrong; the message begins with `file:line`."""

    exit_code = CONTENT

    def __init__(self, message: str, path: Path | str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        where = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{where}: {message}")


def refuse_faults(faults: Iterable[tuple[int, str]], path: Path | str) -> None:
    """Raise one ContentError for all `(line, message)` of a file: the first lines are shown. Does nothing without a fault."""
    found = sorted(islice(faults, _MOST_FAULTS + 1))
    if not found:
        return
    (line, message), *others = found[:_MOST_FAULTS]
    shown = [f"line {number}: {text}" for number, text in others] + (["… and more"] if len(found) > _MOST_FAULTS else [])
    raise ContentError("\n         ".join((message, *shown)), path, line)


class JudgeError(HarnessError):
    """A judge cannot be reached, used or trusted."""

    exit_code = JUDGE


class FatalReply(JudgeError):
    """Every call would get this error from the endpoint, so the run stops at the first."""


class EndpointRefusal(FatalReply):
    """The endpoint, or something on the way to it, refused a call for a reason that is not the item's.

    `reason` says what came back, `advice` what to do about it. Where the judge has answered before, the call is only lost; when refusals
    repeat, the judge is stopped.
    """

    def __init__(self, reason: str, advice: str) -> None:
        super().__init__(f"{reason}. {advice}")
        self.reason = reason
        self.advice = advice

    def __reduce__(self) -> tuple[type[EndpointRefusal], tuple[str, str]]:  # workers of a cluster send it
        return type(self), (self.reason, self.advice)


class DataFetchError(HarnessError):
    """The raw files of published data cannot be fetched, or are not those that the dataset card names."""

    exit_code = FETCH


class AbsentRawFile(DataFetchError):
    """The origin has no such file: a mirror may hold a part of a set."""


class StoreError(HarnessError):
    """The results folder cannot be used."""

    exit_code = STORE


class OutputError(HarnessError):
    """The results cannot be written to standard output."""

    exit_code = OUTPUT


class IncompleteRun(HarnessError):
    """The run ended before every call had a reply; the same command resumes it. `result` is the run so far."""

    exit_code = INCOMPLETE

    def __init__(self, message: str, result: Any = None, *, interrupted: bool = False) -> None:
        super().__init__(message)
        self.result = result
        if interrupted:
            self.exit_code = INTERRUPTED
