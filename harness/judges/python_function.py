"""`python:<module>:<function>`: a judge that is one Python function of the user."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import copy_context
from numbers import Real
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import msgspec

from harness.errors import FatalReply, JudgeError, UsageError
from harness.judges.judge_protocol import JudgeOptions, NoReply, answer_object
from harness.judges.registry import raising
from harness.model import Call, JudgeIdentity, Reply
from harness.parse.probabilities import CLASSES
from harness.plugins import describe_failure, message_of, task_is_cancelled
from harness.row_files import sha256_of

_ARGUMENTS: dict[str, Callable[[Call], Any]] = {
    "messages": lambda call: [{"role": message.role, "content": message.content} for message in call.prompt.messages],
    # its keys and its texts, without its labels
    "item": lambda call: (
        {name: value for name, value in msgspec.to_builtins(call.query.item).items() if name != "fields"}
        | msgspec.to_builtins(call.query.item.fields)
    ),
    "metric": lambda call: call.query.metrics[0],
    "metrics": lambda call: list(call.query.metrics),
    "schema": lambda call: call.prompt.schema,
    "temperature": lambda call: call.temperature,
    "seed": lambda call: call.seed,
    "repeat": lambda call: call.query.repeat,
}
ARGUMENTS = tuple(_ARGUMENTS)
"""What a function may ask for by the names of its parameters."""


TIMEOUT_SECONDS = 1800.0  # of one call; a function may ask a large model on a slow machine
_THREADS = min(32, (os.cpu_count() or 1) + 4)  # functions that run at the same time
_RIGHT = (
    "a text, a score, None, or for several metrics a dict with a score for each of {metrics}; in the place of a score may stand "
    '{{"probs": {{"0": 0.1, "1": 0.9}}}} with a probability for each class'
)
_PROBS = "probs"
_ENDING = (SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration, StopAsyncIteration, asyncio.CancelledError)

_Outcome = tuple[Any, BaseException | None]  # what a function returned, or what it raised


class PythonJudge:
    """Calls a function with what its parameters name; what it returns is the reply.

    A text is a reply that is read like any other; a number is a score; a dict has a score for each metric; None is an empty reply. In the
    place of a score may stand the probabilities of the classes: `{"probs": {"0": 0.1, "1": 0.9}}`.
    """

    concurrency = None
    endpoint = None

    def __init__(self, name: str, function: Callable[..., Any], identity: JudgeIdentity, file: str | None, timeout: float | None) -> None:
        """`file` holds the function, `timeout` limits one call in seconds (default: `TIMEOUT_SECONDS`)."""
        self.identity = identity
        self._name, self._function, self._file = name, function, file
        self._timeout = timeout or TIMEOUT_SECONDS
        try:
            parameters = inspect.signature(function).parameters.values()
        except Exception:  # a signature may be the user's too
            raise UsageError(f"judge '{name}' cannot be called; it should be a function") from None
        unknown = [
            p.name
            for p in parameters
            if p.name not in ARGUMENTS and p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        ]
        if unknown:
            raise UsageError(f"judge '{name}' has the parameter '{unknown[0]}'; a function may ask for {', '.join(ARGUMENTS)}")
        self._wanted = tuple(p.name for p in parameters if p.name in ARGUMENTS)
        self._free_threads = asyncio.Semaphore(_THREADS)

    async def start(self, calls: Iterable[Call]) -> None:
        """Count threads anew: a semaphore belongs to the event loop in which somebody first waited for it."""
        self._free_threads = asyncio.Semaphore(_THREADS)

    async def answer(self, call: Call) -> Reply:
        arguments = {name: _ARGUMENTS[name](call) for name in self._wanted}
        try:
            if inspect.iscoroutinefunction(self._function):
                async with asyncio.timeout(self._timeout):
                    returned, raised = await _awaited(self._function(**arguments))
            else:
                async with self._free_threads, asyncio.timeout(self._timeout):
                    returned, raised = await _in_thread(self._function, arguments)
                    if inspect.isawaitable(returned):
                        returned, raised = await _awaited(returned)
        except TimeoutError:
            raise NoReply(f"{self._name} did not return within {self._timeout:g} s", down=True) from None
        if isinstance(raised, (ConnectionError, TimeoutError)):
            raise NoReply(f"{self._name} could not reach its model ({message_of(raised)})", down=True) from raised
        if raised is not None:
            right = f"it should return {self._describe_right(call)}" if isinstance(raised, _ENDING) else "mend the function"
            raise FatalReply(f"{self._name} {describe_failure(raised, self._file)}; {right}") from raised
        if (probs := _read_probabilities(returned, call)) is not None:
            return Reply(text=json.dumps(probs, default=str), model=self.identity.model, form=CLASSES)
        return Reply(text=self._write_reply(returned, call), model=self.identity.model)

    async def stop(self) -> None:
        """Nothing to stop."""

    def _write_reply(self, returned: Any, call: Call) -> str:
        """Return the reply's text. Raises FatalReply for what is no answer, or cannot be written down."""
        metrics, joint = call.query.metrics, call.query.condition.variant.call == "joint"
        is_number = isinstance(returned, Real) and not isinstance(returned, bool)
        scores = {metrics[0]: returned} if is_number and len(metrics) == 1 else returned
        text = None
        try:
            if returned is None or isinstance(returned, str):
                text = str(returned or "")
            elif isinstance(scores, dict) and set(scores) == set(metrics):
                text = json.dumps(answer_object(scores, None, joint), ensure_ascii=False, default=str)
            if text is not None:
                text.encode()
                return text
            problem = f"returned {type(returned).__name__}"
        except UnicodeEncodeError as err:
            problem = f"returned half of a character (U+{ord(err.object[err.start]):04X}), which no file can hold"
        except Exception as err:  # numbers and objects of the user may fail in any way when they are written
            problem = f"returned {type(returned).__name__}, which cannot be written down ({type(err).__name__}: {message_of(err)})"
        raise FatalReply(f"{self._name} {problem}; it should return {self._describe_right(call)}")

    @staticmethod
    def _describe_right(call: Call) -> str:
        return _RIGHT.format(metrics=", ".join(call.query.metrics))


async def _awaited(coroutine: Any) -> _Outcome:
    try:
        return await coroutine, None
    except BaseException as err:  # the user's code may raise anything, and what ends a task must not leave it
        if task_is_cancelled():
            raise
        return None, err


async def _in_thread(function: Callable[..., Any], arguments: dict[str, Any]) -> _Outcome:
    """Call a function in a thread of its own.

    The thread keeps no program from ending, as those of asyncio would. No exception crosses from it, because some (StopIteration,
    SystemExit) do not arrive as what they are.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_Outcome] = loop.create_future()

    def end(outcome: _Outcome) -> None:
        if not done.done():  # otherwise nobody waits any more
            done.set_result(outcome)

    def work() -> None:
        try:
            outcome: _Outcome = function(**arguments), None
        except BaseException as err:  # the user's code may raise anything
            outcome = None, err
        with suppress(RuntimeError):  # the run was interrupted, and its loop is closed
            loop.call_soon_threadsafe(end, outcome)

    Thread(target=copy_context().run, args=(work,), name="judge", daemon=True).start()
    return await done


def _read_probabilities(returned: Any, call: Call) -> dict[str, Any] | None:
    """Return the probabilities of each metric's classes, where a function returned them for all of them; None for anything else."""
    metrics = call.query.metrics
    by_metric = {metrics[0]: returned} if isinstance(returned, dict) and set(returned) == {_PROBS} and len(metrics) == 1 else returned
    if not isinstance(by_metric, dict) or set(by_metric) != set(metrics):
        return None
    if not all(isinstance(answer, dict) and set(answer) == {_PROBS} and isinstance(answer[_PROBS], dict) for answer in by_metric.values()):
        return None
    return {
        metric: {  # numbers of any library become those of Python
            _PROBS: {str(score): float(p) if isinstance(p, Real) and not isinstance(p, bool) else p for score, p in answer[_PROBS].items()}
        }
        for metric, answer in by_metric.items()
    }


def open_judge(name: str, options: JudgeOptions) -> PythonJudge:
    """Return the judge `python:<module>:<function>`. The module is looked for in the working directory too.

    Its identity is the `version` that the function or its module states, else the SHA-256 of the module's file.
    Raises UsageError for a name without function and for one that does not exist, JudgeError for a module that cannot be imported.
    """
    module_name, _, function_name = name.partition(":")
    if not (module_name and function_name):
        raise UsageError(f"judge 'python:{name}' should be python:<module>:<function>, such as python:my_judge:score")
    judge_name = f"python:{name}"

    def not_imported(err: BaseException) -> JudgeError:
        did = describe_failure(err)
        reason = f"its module {did}; it should only define functions" if isinstance(err, _ENDING) else did.removeprefix("raised ")
        return JudgeError(f"judge '{judge_name}' cannot be imported: {reason}")

    with raising(not_imported):
        module = _import_module(module_name, judge_name)
        function = getattr(module, function_name, None)
        if not callable(function):
            functions = ", ".join(sorted(key for key, value in vars(module).items() if inspect.isfunction(value))) or "none"
            raise UsageError(f"module '{module_name}' has no function '{function_name}'; its functions: {functions}")
        stated = getattr(function, "version", None) or getattr(module, "version", None) or getattr(module, "__version__", None)
        file = getattr(module, "__file__", None)
        if isinstance(stated, (str, int, float)):
            settings = {"version": str(stated)}
        elif file and Path(file).is_file():
            settings = {"sha256": sha256_of(Path(file))}
        else:
            raise UsageError(f"module '{module.__name__}' has no file to identify it by; give it a 'version'")
        return PythonJudge(judge_name, function, JudgeIdentity("python", f"{module_name}:{function_name}", settings), file, options.timeout)


def _import_module(name: str, judge: str) -> ModuleType:
    working_directory = str(Path.cwd())
    if working_directory not in sys.path:  # a command does not look for modules in the working directory by itself
        sys.path.insert(0, working_directory)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as err:
        if err.name == name.partition(".")[0] or err.name == name:
            raise UsageError(f"judge '{judge}': there is no module '{name}' in the working directory or among the installed ones") from None
        raise JudgeError(f"judge '{judge}' cannot be imported: it needs the module '{err.name}'") from err
