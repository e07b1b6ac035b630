"""The verdicts of a run's first language, as soon as all its calls are answered and while the others are still asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile

import msgspec

from harness.errors import HarnessError
from harness.runs.plan import Plan
from harness.runs.preparation import Prepared
from harness.store import Store

_MOST_CALLS = 2_000  # of a run: looking at more of them would delay replies
_SECONDS = 5.0  # a run that is done sooner shows everything at once
_SECONDS_BETWEEN_LOOKS = 0.5


class FirstLanguage:
    """Looks, after each reply, whether the first language is answered, and gives its part of the run to `tell`, once."""

    def __init__(self, prepared: Prepared, plan: Plan, store: Store, tell: Callable[[Prepared], None]) -> None:
        self._prepared, self._store, self._tell = prepared, store, tell
        self._language = prepared.protocol.texts.languages[0]
        self._next_look = time.monotonic() + _SECONDS
        small = len(plan) * len(prepared.protocol.judges.identities) <= _MOST_CALLS
        self._calls = self._own_calls(plan) if small and len(prepared.protocol.texts.languages) > 1 else []
        self._told = not self._calls or self._answered()

    def _own_calls(self, plan: Plan) -> list[str]:
        """The ids of its calls, to all judges. Queries of a language stand together, and those of the first language come first."""
        found = []
        for identity in self._prepared.protocol.judges.identities:
            asked = zip(plan.queries(), plan.calls(identity).all_call_ids(), strict=True)
            found += [call_id for _, call_id in takewhile(lambda each: each[0].item.language == self._language, asked)]
        return found

    def _answered(self) -> bool:
        return all(number is not None for number in self._store.last_attempts(self._calls))

    def look(self) -> None:
        """Called after every reply. What cannot be told now is told with the whole run."""
        if self._told or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _SECONDS_BETWEEN_LOOKS
        if self._answered():
            self._told = True
            with suppress(HarnessError):
                self._tell(self._part())

    def _part(self) -> Prepared:
        own = self._prepared.data.only(item for item in self._prepared.data.items if item.language == self._language)
        protocol = self._prepared.protocol.with_fields(languages=(self._language,))
        return msgspec.structs.replace(self._prepared, data=own, protocol=protocol)
