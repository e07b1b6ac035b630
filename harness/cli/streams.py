"""The process around a command: signals, and standard streams that may be closed, full or limited to few characters."""

from __future__ import annotations

import codecs
import io
import os
import re
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TextIO, cast

from harness.errors import OutputError
from harness.text import INKLESS, terminal_safe, without_log_commands

_WIDEST = 2  # places in a line that a character takes
_LONG_WORD = re.compile(r"[^\s'\"]{300,}")  # longer than any path or name that people write
_LEFT_OF_LONG_WORD = 60


@contextmanager
def checked_output() -> Iterator[None]:
    """In the block, and when standard output is flushed at its end, a failed write raises OutputError.

    A closed pipe still raises BrokenPipeError. If standard output is closed from the start, raises OutputError at once, because all
    results would be lost.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        # The file numbers of closed streams are occupied: otherwise the next file opened would get one, and messages would go into it.
        while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(number)
        if sys.stderr is None:
            sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # stays open until the process ends
    if sys.stdout is None:
        raise OutputError("standard output is closed, so results would be lost; redirect it to a file, or to /dev/null")
    original = sys.stdout
    if isinstance(original, io.TextIOWrapper) and not original.isatty() and not codecs.lookup(original.encoding).name.startswith("utf"):
        original.reconfigure(encoding="utf-8")  # files and pipes of Windows are cp1252, in which most languages cannot be written
    sys.stdout = cast("TextIO", _CheckedStream(original))
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except (BrokenPipeError, OutputError):
        # what could not be written is discarded: otherwise the interpreter tries again when it exits, and complains.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), original.fileno())
        raise
    finally:
        sys.stdout = original


def known_width(stream: TextIO | None = None) -> int | None:
    """Return the characters in a line of the terminal, or in COLUMNS; None for a pipe without it, whose lines are never broken.

    `stream` is where the lines go: standard output, if it is not named.
    """
    has_width = (stream or sys.stdout).isatty() or os.environ.get("COLUMNS", "").isdigit()
    return shutil.get_terminal_size().columns if has_width else None


def print_message(text: str) -> None:
    """Print to standard error. Of a word that nobody could read to its end, the beginning is printed.

    Where the width is known, a long line goes on below, further in; a quoted command is never broken.
    """
    width, lines = known_width(sys.stderr), _LONG_WORD.sub(_shorten_word, terminal_safe(text)).split("\n")
    if width is None or max(map(len, lines)) * _WIDEST <= width:
        print("\n".join(lines), file=sys.stderr)
        return
    from rich.cells import cell_len  # late: most messages are short

    unbroken = r"(?:^harness: )?(?:'harness [^'\n]*'\S*|\S+(?: %\S*)?)"
    further_in = min((len(line) - len(line.lstrip()) for line in lines if line[:1] == " "), default=2)
    for line in lines:
        if cell_len(line) <= width:
            print(line, file=sys.stderr)
            continue
        start = line[: len(line) - len(line.lstrip())]
        indent = " " * max(len(start), further_in)
        print("\n".join(joined_in_lines(re.findall(unbroken, line), width, start, indent)), file=sys.stderr)


def _shorten_word(word: re.Match[str]) -> str:
    return f"{word[0][:_LEFT_OF_LONG_WORD]}… ({len(word[0]):,} characters)"


def in_lines(text: str, width: int | None) -> Iterator[str]:
    """Yield a sentence in lines of a width, broken between words; no width is no break."""
    return joined_in_lines(re.split(" (?!%)", text), width)


def joined_in_lines(words: Iterable[str], width: int | None, start: str = "", indent: str = "") -> Iterator[str]:
    """Yield words joined by blanks in lines of a width: the first line begins with `start`, all others with `indent`."""
    from rich.cells import cell_len

    line = start
    for word in words:
        if width and line.strip() and cell_len(f"{line} {word}") > width:
            yield line
            line = indent
        line += f" {word}" if line.strip() else word
    yield line


def print_json(data: Any) -> int:
    """Print a result for programs, and return the exit code of success."""
    from harness.row_files import to_json  # late: with msgspec

    sys.stdout.write(to_json(data))
    return 0


@contextmanager
def told_warnings() -> Iterator[None]:
    """Warnings of the block go to standard error as notes, each once."""
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in recorded):
        print_message(f"note: {text}")


@contextmanager
def guarded_log() -> Iterator[None]:
    """In the block, and in a job of GitHub, texts of both streams cannot give commands to the workflow: others wrote them."""
    if not os.environ.get("GITHUB_ACTIONS"):
        yield
        return
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", _LogStream(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _LogStream:
    """A stream of a job's log. What was written before counts: a line may arrive in parts."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = "\n"  # what a command may have begun with

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        line = self._begun + text
        self._stream.write(without_log_commands(line)[len(self._begun) :])
        tail = re.search(rf"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]{INKLESS}(:?)\Z|(##?)\Z", line)
        self._begun = "." if tail is None else tail[2] or f"\n{tail[1]}"  # a dot: in the middle of a line
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))


class _CheckedStream:
    """A stream whose write errors are OutputErrors."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._explain_errors():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._explain_errors():
            self._stream.flush()

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except UnicodeEncodeError as err:
            code = ord(err.object[err.start])
            if 0xDC80 <= code <= 0xDCFF:  # how Python holds a byte of a path that is not UTF-8
                raise OutputError(
                    f"a file name with the byte {code - 0xDC00:#x}, which is not UTF-8, cannot be printed; rename it"
                ) from None
            raise OutputError(
                f"standard output accepts {self._stream.encoding} only, but the results hold the character "
                f"U+{code:04X}; set PYTHONIOENCODING=utf-8"
            ) from None
        except OSError as err:
            raise OutputError(f"standard output cannot be written ({err.strerror or err}); make room, or redirect it elsewhere") from None


@contextmanager
def interrupted_once() -> Iterator[None]:
    """In the block, SIGTERM works like Ctrl-C. Only the first signal counts, so that the program can clean up undisturbed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
