"""Code of other people inside this program: functions, modules and plug-ins. Whatever they raise has to become a sentence."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from types import FrameType

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
