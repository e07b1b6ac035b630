"""Opening judges by name: `<kind>/<name>`. Kinds are entry points of the group `harness.judges`, ours and those of other packages.

Whatever the code of another package does, a run gets a reply, a reason to try again, or a sentence.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from harness.content.tags import choose_from
from harness.errors import FatalReply, HarnessError, JudgeError, UsageError
from harness.judges.judge_protocol import Judge, JudgeOptions, NoReply
from harness.model import Call, JudgeIdentity, Reply
from harness.plugins import describe_failure, registered, registered_twice, task_is_cancelled, watch_interrupt

if TYPE_CHECKING:
    from harness.judges.batches import Batches

T = TypeVar("T")

GROUP = "harness.judges"
_PYTHON = EntryPoint("python", "harness.judges.python_function:open_judge", GROUP)  # its names are `python:<module>:<function>`
_PANEL = EntryPoint("panel", "harness.judges.panel:open_judge", GROUP)  # is computed, never asked
_NAME_FORMS = {
    "panel": (("panel/<file.toml>", "several judges as one: their majority, median or mean"),),
    "python": (("python:<module>:<function>", "a Python function of your own"),),
    "openai": (("openai/<model>", "a model at any OpenAI-compatible endpoint, Azure and your own server too (--base-url)"),),
    "decisions": (("decisions/<model>", "a decision model at an endpoint: typed questions, a probability of each answer"),),
    "systemone": (("systemone/<model>", "a decision model in the form of System One"),),
    "decider": (("decider/<model or .sparrow>", "an open decision model on this machine, without key and network"),),
    "local": (("local/<model or .gguf>", "a small open model on this machine, by llama.cpp"),),
    "replay": (("replay/<store export>", "the answers of an earlier run, from a file: nothing is asked"),),
}
_BASELINES = {
    "constant-best": "gives every text the best score",
    "majority": "gives every text people's commonest score",
    "random": "draws scores as often as people give them",
    "length": "gives longer texts better scores",
    "length-ratio": "scores by the length of the output beside that of its source",
}
_MEMBERS = ("identity", "endpoint", "concurrency", "start", "answer", "stop")


def kinds() -> dict[str, EntryPoint]:
    """Return the entry point of each kind; no module is imported. Raises UsageError when two packages register the same kind."""
    points = registered(GROUP, "judge kind")
    for bundled in (_PYTHON, _PANEL):
        if bundled.name in points:
            raise registered_twice("judge kind", bundled.name, bundled.value, points[bundled.name].value)
    return {_PYTHON.name: _PYTHON, _PANEL.name: _PANEL, **points}


def name_forms() -> Iterator[tuple[str, str, str]]:
    """Yield the forms of judges' names by kind, what each judge is, and its code."""
    forms = _NAME_FORMS | {"baseline": tuple((f"baseline/{name}", f"no model: {what}") for name, what in _BASELINES.items())}
    for kind, point in sorted(kinds().items()):
        for form, what in forms.get(kind, ((f"{kind}/…", "a judge of another package"),)):
            yield form, what, point.value


def open_judge(name: str, options: JudgeOptions) -> Judge:
    """Open the judge called `name`. Raises UsageError for an unknown kind or name, JudgeError for a judge that cannot be used."""
    kind, slash, rest = name.replace(":", "/", 1).partition("/") if name.startswith(f"{_PYTHON.name}:") else name.partition("/")
    points = kinds()
    if not slash or not rest:
        raise UsageError(f"judge '{name}' has no kind; write <kind>/<name>, for example openai/gpt-4o-2024-08-06 or baseline/majority")
    if kind not in points:
        raise UsageError(f"no judge kind '{kind}' (in '{name}').{choose_from(sorted(points), kind)}")
    # Open the judge `<kind>/<name>` of an entry point. The judge of another package is guarded. Raises JudgeError if its code fails or
    # opens no judge, and any HarnessError of its own.
    point = points[kind]
    factory = _call_safely(point.load, f"judge kind '{point.name}' is registered by {point.value}, but cannot be loaded")
    if point.value.startswith("harness."):  # any error of ours is a bug
        bundled: Judge = factory(rest, options)
        return bundled
    description = f"judge '{point.name}/{rest}' of {point.value}"
    judge: Judge = _call_safely(lambda: factory(rest, options), f"{description} cannot be opened")
    return _call_safely(lambda: _guard_judge(judge, description), f"{description} cannot be used")


def _guard_judge(judge: Judge, description: str) -> PlugIn:
    lacking = [member for member in _MEMBERS if not hasattr(judge, member)]
    if lacking:
        raise JudgeError(f"{description} is a {type(judge).__name__} without '{lacking[0]}'; it should be a harness.judges.Judge")
    if not isinstance(judge.identity, JudgeIdentity):
        raise JudgeError(f"{description} has a {type(judge.identity).__name__} as its identity; it should be a harness.model.JudgeIdentity")
    return (_BatchingPlugIn if hasattr(judge, "batches") else PlugIn)(judge)


class PlugIn:
    """The judge of another package. Asking it raises only what the Judge protocol allows, and what cancels the run."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.identity, self.endpoint, self.concurrency = judge.identity, judge.endpoint, judge.concurrency

    def __getattr__(self, name: str) -> Any:
        """Optional members of judges are those of the plug-in."""
        return getattr(self._judge, name)

    async def start(self, calls: Iterable[Call]) -> None:
        await self._awaited("start", lambda: self._judge.start(calls))

    async def answer(self, call: Call) -> Reply:
        reply: Any = await self._awaited("answer", lambda: self._judge.answer(call))
        if not isinstance(reply, Reply):
            raise self._make_error("answer", f"returned {type(reply).__name__}; it should return a harness.model.Reply")
        try:
            msgspec.json.decode(msgspec.json.encode(reply), type=Reply)
        except Exception as err:  # its members may be of any type
            raise self._make_error("answer", f"returned a reply that cannot be stored: {err}") from err
        return reply

    async def stop(self) -> None:
        await self._awaited("stop", self._judge.stop)

    async def _awaited(self, method: str, begin: Callable[[], Awaitable[T]]) -> T:
        try:
            return await begin()
        except (NoReply, HarnessError):
            raise
        except BaseException as err:  # code of another package may raise anything
            if task_is_cancelled():
                raise
            raise self._make_error(method, f"{describe_failure(err)}; only NoReply and JudgeError are expected") from err

    def _make_error(self, method: str, problem: str) -> FatalReply:
        return FatalReply(f"{self.identity.name}: the '{method}' of its {type(self._judge).__qualname__} {problem}")


class _BatchingPlugIn(PlugIn):
    def batches(self) -> Batches:
        batches: Batches = self._judge.batches()  # type: ignore[attr-defined]  # looked for when it was opened
        return batches


@contextmanager
def raising(error: Callable[[BaseException], HarnessError]) -> Iterator[None]:
    """Run code of other people within the block: whatever it raises becomes an `error`. HarnessErrors and Ctrl-C pass."""
    try:
        with watch_interrupt() as pressed:
            yield
    except HarnessError:
        raise
    except BaseException as err:  # code of other people may raise anything
        if isinstance(err, KeyboardInterrupt) and pressed():
            raise
        raise error(err) from err


def _call_safely(action: Callable[[], T], problem: str) -> T:
    with raising(lambda err: JudgeError(f"{problem}: it {describe_failure(err)}")):
        return action()
