"""A judge of another package: whatever its code does, a run gets a reply, a reason to try again, or a sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from harness.errors import FatalReply, HarnessError, JudgeError
from harness.foreign import ctrl_c, ends_the_task, what_it_did
from harness.judges.base import Judge, JudgeOptions, NoReply
from harness.model import Call, JudgeIdentity, Reply

if TYPE_CHECKING:
    from harness.judges.batches import Batches

T = TypeVar("T")
_MEMBERS = ("identity", "endpoint", "concurrency", "start", "answer", "stop")


def open_entry_point(point: EntryPoint, name: str, options: JudgeOptions) -> Judge:
    """Open the judge `<kind>/<name>` of an entry point.

    The judge of another package is guarded. Raises JudgeError if its code fails or opens no judge, and any HarnessError of its own.
    """
    factory = _called(point.load, f"judge kind '{point.name}' is registered by {point.value}, but cannot be loaded")
    if point.value.startswith("harness."):  # any error of ours is a bug
        ours: Judge = factory(name, options)
        return ours
    shown = f"judge '{point.name}/{name}' of {point.value}"
    judge: Judge = _called(lambda: factory(name, options), f"{shown} cannot be opened")
    return _called(lambda: _guarded(judge, shown), f"{shown} cannot be used")


def _guarded(judge: Judge, shown: str) -> PlugIn:
    lacking = [member for member in _MEMBERS if not hasattr(judge, member)]
    if lacking:
        raise JudgeError(f"{shown} is a {type(judge).__name__} without '{lacking[0]}'; it should be a harness.judges.Judge")
    if not isinstance(judge.identity, JudgeIdentity):
        raise JudgeError(f"{shown} has a {type(judge.identity).__name__} as its identity; it should be a harness.model.JudgeIdentity")
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
            raise self._error("answer", f"returned {type(reply).__name__}; it should return a harness.model.Reply")
        try:
            msgspec.json.decode(msgspec.json.encode(reply), type=Reply)
        except Exception as err:  # its members may be of any type
            raise self._error("answer", f"returned a reply that cannot be stored: {err}") from err
        return reply

    async def stop(self) -> None:
        await self._awaited("stop", self._judge.stop)

    async def _awaited(self, method: str, begin: Callable[[], Awaitable[T]]) -> T:
        try:
            return await begin()
        except (NoReply, HarnessError):
            raise
        except BaseException as err:  # code of another package may raise anything
            if ends_the_task():
                raise
            raise self._error(method, f"{what_it_did(err)}; only NoReply and JudgeError are expected") from err

    def _error(self, method: str, problem: str) -> FatalReply:
        return FatalReply(f"{self.identity.name}: the '{method}' of its {type(self._judge).__qualname__} {problem}")


class _BatchingPlugIn(PlugIn):
    def batches(self) -> Batches:
        batches: Batches = self._judge.batches()  # type: ignore[attr-defined]  # looked for when it was opened
        return batches


def _called(action: Callable[[], T], problem: str) -> T:
    try:
        with ctrl_c() as pressed:
            return action()
    except HarnessError:
        raise
    except BaseException as err:  # code of another package may raise anything
        if isinstance(err, KeyboardInterrupt) and pressed():
            raise
        raise JudgeError(f"{problem}: it {what_it_did(err)}") from err
