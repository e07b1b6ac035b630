"""Code of other people in this program: entry points found and loaded by name, and failures of foreign code put into a sentence."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from harness.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_LONGEST_MESSAGE = 300  # characters


def describe_failure(err: BaseException, file: str | None = None) -> str:
    """Return what code did that raised `err`, and where, as words that follow its name. `file` is the code's own file, if that is known.

    The place is the last line of that file that was running, else the last line of all.

    >>> describe_failure(ValueError("no such model")), describe_failure(SystemExit(0))
    ('raised ValueError: no such model (unknown place)', 'called sys.exit(0) (unknown place)')
    """
    if isinstance(err.__cause__, (StopIteration, StopAsyncIteration)) and isinstance(err, RuntimeError):
        err = err.__cause__  # a coroutine cannot raise it, so that Python puts another error in its place
    return f"{_failure_words(err)} ({_failing_line(err, file)})"


def message_of(err: BaseException) -> str:
    """Return the message of an exception as one line that can be printed. Its text may be anything, and making it may fail.

    >>> message_of(ValueError("two\\nlines"))
    'two lines'
    """
    try:
        text = str(err)
    except BaseException:  # the class of the exception is foreign code too
        return "a message that cannot be shown"
    return " ".join(text.encode("utf-8", "replace").decode().split())[:_LONGEST_MESSAGE]


def task_is_cancelled() -> bool:
    """Return True if somebody cancels the task that is running now. Otherwise a CancelledError comes from the code itself."""
    import asyncio  # late: most commands run no event loop

    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@contextmanager
def watch_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C was pressed within the block. Otherwise a KeyboardInterrupt comes from the code itself.

    Only the main thread receives Ctrl-C.
    """
    pressed = False
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: False
        return

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: pressed
    finally:
        if signal.getsignal(signal.SIGINT) is note:  # otherwise the code has set a handler of its own
            signal.signal(signal.SIGINT, before)


def _failure_words(err: BaseException) -> str:
    if isinstance(err, SystemExit):
        code = err.code if err.code is None or isinstance(err.code, int) else message_of(err)
        return f"called sys.exit({'' if code is None else code})"
    message = str(err.msg) if isinstance(err, SyntaxError) else message_of(err)
    return f"raised {type(err).__name__}" + (f": {message}" if message else "")


def _failing_line(err: BaseException, file: str | None) -> str:
    if isinstance(err, SyntaxError) and err.filename:
        return f"{Path(err.filename).name}:{err.lineno}"
    lines = [(frame.f_code.co_filename, number) for frame, number in walk_tb(err.__traceback__)]
    code_lines = [line for line in lines if line[0] == file] or [line for line in lines if not line[0].startswith("<frozen ")]
    return f"{Path(code_lines[-1][0]).name}:{code_lines[-1][1]}" if code_lines else "unknown place"


T = TypeVar("T")


@cache  # installed packages do not change during a command
def registered(group: str, what: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, `what` in sentences. Raises UsageError when two packages register the same name."""
    from importlib.metadata import entry_points  # late: it takes longer than many commands take to begin

    points: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        if point.name in points and points[point.name].value != point.value:
            raise registered_twice(what, point.name, points[point.name].value, point.value)
        points[point.name] = point
    return points


def registered_twice(what: str, name: str, first: str, other: str) -> UsageError:
    """Return the error about a name that two packages have."""
    return UsageError(f"{what} '{name}' is registered twice: by {first} and by {other}; uninstall one")


def load(point: EntryPoint, form: type[T], what: str) -> T:
    """Return what an entry point stands for. Raises UsageError if it cannot be loaded, is no `form`, or has another name."""
    try:
        with watch_interrupt() as pressed:
            plugin = point.load()
    except BaseException as err:  # a plug-in may fail in any way; only the command that uses it must fail
        if isinstance(err, KeyboardInterrupt) and pressed():
            raise
        raise UsageError(f"{what} '{point.name}' is registered by {point.value}, but cannot be loaded: it {describe_failure(err)}") from err
    if not isinstance(plugin, form) or getattr(plugin, "name", point.name) != point.name:
        actual = f"the {what} '{getattr(plugin, 'name', '')}'" if isinstance(plugin, form) else f"a {type(plugin).__name__}"
        expected = f"it should be a {form.__module__}.{form.__qualname__} of that name"
        raise UsageError(f"{what} '{point.name}' is registered by {point.value}, which is {actual}; {expected}")
    return plugin
