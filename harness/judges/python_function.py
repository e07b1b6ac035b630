"""`python:<module>:<function>`: a judge that is one Python function of the user."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from harness.errors import FatalReply, JudgeError, UsageError
from harness.judges.base import JudgeOptions, NoReply, answer_object
from harness.model import Call, JudgeIdentity, Reply
from harness.tables import sha256_of

ARGUMENTS = ("messages", "item", "metric", "metrics", "schema", "temperature", "seed", "repeat")
"""What a function may ask for by the names of its parameters."""


class PythonJudge:
    """Calls a function with what its parameters name; what it returns is the reply.

    A text is a reply that is read like any other; a number is a score; a dict has a score for each metric; None is an empty reply.
    """

    concurrency = None
    endpoint = None

    def __init__(self, name: str, function: Callable[..., Any], identity: JudgeIdentity) -> None:
        self.identity = identity
        self._name, self._function = name, function
        self._wanted = _wanted_arguments(name, function)

    async def start(self, calls: Iterable[Call]) -> None:
        """Nothing to start."""

    async def answer(self, call: Call) -> Reply:
        given = {name: _ARGUMENTS[name](call) for name in self._wanted}
        try:
            if inspect.iscoroutinefunction(self._function):
                returned = await self._function(**given)
            else:
                returned = await asyncio.to_thread(self._function, **given)
        except (ConnectionError, TimeoutError) as err:
            raise NoReply(f"{self._name} could not reach its model ({err})", down=True) from err
        except Exception as err:  # the user's code may raise anything
            raise FatalReply(f"{self._name} raised {type(err).__name__}: {err} ({_place(err)}); mend the function") from err
        return Reply(text=self._text(returned, call), model=self.identity.model)

    async def stop(self) -> None:
        """Nothing to stop."""

    def _text(self, returned: Any, call: Call) -> str:
        metrics, joint = call.query.metrics, call.query.condition.variant.call == "joint"
        if returned is None or isinstance(returned, str):
            return returned or ""
        if isinstance(returned, (int, float)) and not isinstance(returned, bool) and len(metrics) == 1:
            returned = {metrics[0]: returned}
        if isinstance(returned, dict) and set(returned) == set(metrics):
            return json.dumps(answer_object(returned, None, joint), ensure_ascii=False, default=str)
        raise FatalReply(
            f"{self._name} returned {type(returned).__name__}; it should return a text, a score, or for several metrics a dict with a "
            f"score for each of {', '.join(metrics)}"
        )


_ARGUMENTS: dict[str, Callable[[Call], Any]] = {
    "messages": lambda call: [{"role": message.role, "content": message.content} for message in call.prompt.messages],
    "item": lambda call: _item(call),
    "metric": lambda call: call.query.metrics[0],
    "metrics": lambda call: list(call.query.metrics),
    "schema": lambda call: call.prompt.schema,
    "temperature": lambda call: call.temperature,
    "seed": lambda call: call.seed,
    "repeat": lambda call: call.query.repeat,
}


def _item(call: Call) -> dict[str, Any]:
    """The item as one dict: its keys and its texts, without its labels."""
    about: dict[str, Any] = msgspec.to_builtins(call.query.item)
    fields: dict[str, Any] = about.pop("fields")
    return about | fields


def _wanted_arguments(name: str, function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise UsageError(f"judge '{name}' cannot be called; it should be a function") from None
    unknown = [
        p.name for p in parameters if p.name not in ARGUMENTS and p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    if unknown:
        raise UsageError(f"judge '{name}' has the parameter '{unknown[0]}'; a function may ask for {', '.join(ARGUMENTS)}")
    return tuple(p.name for p in parameters if p.name in ARGUMENTS)


def _place(error: Exception) -> str:
    """The last line of the user's code, as `file:line`."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"


def open_judge(name: str, options: JudgeOptions) -> PythonJudge:
    """The judge `python:<module>:<function>`. The module is looked for in the working directory too.

    Its identity is the `version` that the function or its module states, else the SHA-256 of the module's file.
    Raises UsageError for a name without function and for one that does not exist, JudgeError for a module that cannot be imported.
    """
    module_name, _, function_name = name.partition(":")
    if not (module_name and function_name):
        raise UsageError(f"judge 'python:{name}' should be python:<module>:<function>, such as python:my_judge:score")
    shown = f"python:{name}"
    module = _imported(module_name, shown)
    function = getattr(module, function_name, None)
    if not callable(function):
        known = ", ".join(sorted(key for key, value in vars(module).items() if inspect.isfunction(value))) or "none"
        raise UsageError(f"module '{module_name}' has no function '{function_name}'; its functions: {known}")
    return PythonJudge(shown, function, JudgeIdentity("python", name, _version(module, function)))


def _imported(name: str, judge: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:  # a command does not look for modules in the working directory by itself
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as err:
        if err.name == name.partition(".")[0] or err.name == name:
            raise UsageError(f"judge '{judge}': there is no module '{name}' in the working directory or among the installed ones") from None
        raise JudgeError(f"judge '{judge}' cannot be imported: it needs the module '{err.name}'") from err
    except Exception as err:  # the user's code may raise anything
        raise JudgeError(f"judge '{judge}' cannot be imported: {type(err).__name__}: {err} ({_place(err)})") from err


def _version(module: ModuleType, function: Callable[..., Any]) -> dict[str, str]:
    stated = getattr(function, "version", None) or getattr(module, "version", None) or getattr(module, "__version__", None)
    if isinstance(stated, (str, int, float)):
        return {"version": str(stated)}
    file = getattr(module, "__file__", None)
    if not file or not Path(file).is_file():
        raise UsageError(f"module '{module.__name__}' has no file to identify it by; give it a 'version'")
    return {"sha256": sha256_of(Path(file))}
