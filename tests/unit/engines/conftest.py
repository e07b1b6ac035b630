"""Calls of a plan, and the work that they are, without a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.engines import JudgeWork
from harness.judges import Judge
from harness.model import Call, JudgeIdentity


class SomeCalls:
    """A few calls that are held, where a plan makes them anew each time."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._calls = list(calls)

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls)

    def ids(self) -> Iterator[str]:
        return (call.call_id for call in self._calls)

    def without(self, answered: Sequence[bool]) -> SomeCalls:
        return SomeCalls([call for call, done in zip(self._calls, answered, strict=True) if not done])


@pytest.fixture
def some_calls(make_call: Callable[..., Call]) -> Callable[..., SomeCalls]:
    """Calls by their ids: `some_calls("a", "b")`."""
    return lambda *ids: SomeCalls([make_call(one, prompt_id=f"prompt {one}") for one in ids])


@pytest.fixture
def make_work(some_calls: Callable[..., SomeCalls]) -> Callable[..., JudgeWork]:
    """The work of some calls for a judge that nobody asks: `make_work("a", "b", cost=…)`."""
    judge = SimpleNamespace(identity=JudgeIdentity("openai", "m"))

    def make(*ids: str, **given: Any) -> JudgeWork:
        return JudgeWork(cast(Judge, judge), some_calls(*ids), **given)

    return make
