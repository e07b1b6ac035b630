"""The budget of a command: calls, money and minutes."""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.asking_options import Limits, Settings

_MINUTES = "--max-minutes"


def ends_waits(exhausted: str) -> bool:
    """Return True if a used-up budget also ends calls that wait for their next attempt: minutes do, calls and money do not."""
    return exhausted.startswith(_MINUTES)


class Budget:
    """The budget that all judges of a command share. A call's estimated cost is reserved when it goes out, its real cost booked later."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._start = clock()
        self._calls = 0
        self.spent = 0.0  # US dollars so far
        self._reserved = 0.0
        self.exhausted = ""

    def take(self, cost: float) -> bool:
        """Count a new call of about that cost, if it may go out. Returns whether it may; once a call may not, no later call may."""
        if self.exhausted:
            return False
        limits = self._limits
        if limits.max_calls is not None and self._calls >= limits.max_calls:
            self.exhausted = f"--max-calls {limits.max_calls} is used up"
        elif limits.max_cost is not None and self.spent + self._reserved + cost > limits.max_cost:
            self.exhausted = f"--max-cost {limits.max_cost:g} is used up (${self.spent:.4f} spent)"
        elif self.late:
            pass
        else:
            self._calls += 1
            self._reserved += cost
            return True
        return False

    def hold(self, cost: float) -> None:
        """Count a call that went out before this command began. It costs money whatever the limits are."""
        self._calls += 1
        self._reserved += cost

    @property
    def late(self) -> bool:
        """Return True once the budget is exhausted."""
        return self.out_of_time or bool(self.exhausted)

    @property
    def out_of_time(self) -> bool:
        """Return True once the minutes are over."""
        if self._limits.max_minutes is not None and self._clock() - self._start >= 60 * self._limits.max_minutes:
            self.exhausted = f"{_MINUTES} {self._limits.max_minutes:g} are over"
            return True
        return False

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the minutes are over; None without such a limit."""
        minutes = self._limits.max_minutes
        return None if minutes is None else max(0.0, self._start + 60 * minutes - self._clock())

    def settle(self, reserved: float, cost: float) -> None:
        """Book the real cost of a call in place of what was reserved."""
        self._reserved -= reserved
        self.spent += cost


def budget_of(settings: Settings) -> Budget:
    """Return the budget of a run: what several runs of one command share, or its own."""
    return settings.shared_budget or Budget(settings)
