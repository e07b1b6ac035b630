"""The error tree: every error that a user can cause, and the exit code of the command.

    HarnessError            1
    ├── UsageError          2   an invalid flag, name or combination
    │   ├── MissingData     2   the user has to provide a board's data or the key of its sealed labels
    │   └── CertificateError 2   a certificate does not allow what is asked of it
    │       ├── StaleCertificate 2   judge, prompt, rubric, language or scale are not those of the certificate
    │       └── UseForbidden 2   the certificate's verdict forbids this use, or the certificate has no numbers for it
    ├── ContentError        3   a content or data file is wrong (has path and line)
    │   └── UnreadableFile  5   the system does not let a file be read
    ├── JudgeError          4   a judge cannot be reached, used or trusted, or most of its answers cannot be read
    │   └── FatalReply      4   an error that every call would get (401, unknown model, ...)
    │       └── EndpointRefusal 4   a refusal that is not about the item (a firewall's 403, a redirect, ...)
    ├── DataFetchError      4   published data cannot be fetched from their origin
    │   └── AbsentRawFile   4   the origin has no such file
    ├── StoreError          5   the results folder is in use by another run, full, read-only or damaged
    │   └── AccessError     5   the system refuses a file or a folder: its rights, a full disk, no locks, no current folder
    ├── OutputError         5   standard output is closed, full, or cannot encode the results
    └── IncompleteRun       6   the run ended, but some calls have no reply

Commands that end without an error have exit codes too. A message says what is wrong, where, and what would be right."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

OTHER_ERROR = 1
GATE_FAILED, GATE_INCONCLUSIVE = 1, 7
STALE, NOTHING_ALLOWED, UNCONFIRMED = 1, 1, 7  # of a certificate; unconfirmed: not all of it could be made again
USAGE = 2
CONTENT = 3
JUDGE, FETCH = 4, 4
STORE, OUTPUT = 5, 5
INCOMPLETE, UNCHECKED = 6, 6  # unchecked: a board whose data are not here
INTERRUPTED = 130  # Ctrl-C; the shells' convention


_MOST_FAULTS = 6  # of a file, in one message
_LONGEST_NAME = 200  # of a file, in a message: longer ones are cut
_NO_FOLDER = "the current folder no longer exists, or cannot be entered; change to another folder"
_NO_FILE = (errno.ENOENT, errno.EISDIR, errno.ENOTDIR)  # the name is wrong; whatever else fails, the system refuses
_ADVICE = {
    errno.EACCES: "check the rights of the file and of the folders above it, or choose another",
    errno.EPERM: "check the rights of the file and of the folders above it, or choose another",
    errno.EROFS: "choose a folder that can be written",
    errno.ENOSPC: "make room, then run the same command again",
    errno.EDQUOT: "make room, then run the same command again",
    errno.EIO: "is the disk healthy?",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ELOOP: "its links point to each other; name the file itself",
    errno.ENOLCK: "choose a folder on a disk that can lock files",
    errno.ENOSYS: "choose a folder on a disk that can lock files",
    errno.ENOTSUP: "choose a folder on a disk that can lock files",
    errno.EMFILE: "too many files are open; raise the limit with 'ulimit -n'",
    errno.ENOTEMPTY: "another program writes there; end it first",
    errno.EEXIST: "choose another name, or remove it first",
    errno.ENOENT: "check the name",
    errno.EISDIR: "name a file",
    errno.ENOTDIR: "name a folder",
}


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


class UnreadableFile(ContentError):
    """The system does not let a file be read."""

    exit_code = STORE


def unreadable(err: OSError, path: Path | str, what: str = "") -> ContentError:
    """Return the error of a file that cannot be read: one of the name where no file has it, else one of access. `what` says what it is."""
    kind = ContentError if err.errno in _NO_FILE else UnreadableFile
    return kind(f"{what} cannot be read: {err.strerror or err}".lstrip(), path)


def refuse_pipe(path: Path) -> None:
    """Raise ContentError for a pipe or a device: reading it might never end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ContentError("a pipe or a device; save its content as a file first", path)


def refuse_faults(faults: Iterable[tuple[int, str]], path: Path | str) -> None:
    """Raise one ContentError for all `(line, message)` of a file: the first lines are shown. Does nothing without a fault."""
    first_faults = sorted(islice(faults, _MOST_FAULTS + 1))
    if not first_faults:
        return
    (line, message), *other_faults = first_faults[:_MOST_FAULTS]
    lines = [f"line {number}: {text}" for number, text in other_faults] + (["… and more"] if len(first_faults) > _MOST_FAULTS else [])
    raise ContentError("\n         ".join((message, *lines)), path, line)


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


class AccessError(StoreError):
    """The system refuses a file or a folder."""


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


def explain_system_error(err: BaseException) -> HarnessError | None:
    """Return an error of the system as a sentence: of files, connections, SQLite, and texts that cannot be written; None for any other.

    Code that can say more (which flag chooses another folder, what is kept) raises an error of its own. This is for all the rest.
    """
    if isinstance(err, ConnectionError):
        return JudgeError(f"a connection failed ({err.strerror or err}); run the same command again")
    if isinstance(err, UnicodeEncodeError) and "surrogates" in err.reason:
        code = ord(err.object[err.start])
        return UsageError(f"a name or a text holds U+{code:04X}, which is half of a character (a lone surrogate); write whole characters")
    sqlite3 = sys.modules.get("sqlite3")  # importing it would cost every command time
    if sqlite3 is not None and isinstance(err, sqlite3.Error):
        return StoreError(f"a store cannot be used ({err}); is the disk full or read-only, or is the file no store of this program?")
    if isinstance(err, RuntimeError) and str(err).startswith("Symlink loop"):  # of pathlib, before Python 3.13
        return AccessError(f"{str(err).removeprefix('Symlink loop from ')} cannot be used; {_ADVICE[errno.ELOOP]}")
    if not isinstance(err, OSError):
        return None
    if not _in_a_folder():
        return AccessError(_NO_FOLDER)
    name = os.fsdecode(err.filename) if isinstance(err.filename, (str, bytes, os.PathLike)) else "a file"
    name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME // 2]}…{name[-_LONGEST_NAME // 2 :]}"
    message = f"cannot be used ({err.strerror or err}); {_ADVICE.get(err.errno or 0, 'try again, or choose another')}"
    return ContentError(message, name) if err.errno in _NO_FILE else AccessError(f"{name} {message}")


def _in_a_folder() -> bool:
    """Return False where the current folder was removed, so that no relative path leads anywhere."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True


@contextmanager
def explained_system_errors() -> Iterator[None]:
    """Let errors of the system leave the block as sentences. A closed pipe is no error: its reader has seen enough."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (UsageError, ContentError, StoreError) as err:
        if _in_a_folder():
            raise
        # A wrong name is wrong in every folder, and a file is absent because of this one: both are said, the nearer one first.
        sentences = f"{err}\n         Also, {_NO_FOLDER}" if isinstance(err, UsageError) else f"{_NO_FOLDER} ({err})"
        raise AccessError(sentences) from err
    except HarnessError:
        raise
    except Exception as err:
        sentence = explain_system_error(err)
        if sentence is None:
            raise
        raise sentence from err
