"""What a command may spend: money, calls, minutes. When it is spent, nothing more goes out; what is under way is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """US dollars, calls and minutes; None: no limit."""

    cost: float | None = None
    calls: int | None = None
    minutes: float | None = None


class Budget:
    """Shared by all judges of a command. A call's cost is reserved as estimated when it goes out, and becomes what was counted."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._began = clock()
        self._calls = 0
        self._spent = 0.0
        self._reserved = 0.0
        self.exhausted = ""

    @property
    def spent(self) -> float:
        """US dollars so far, as counted."""
        return self._spent

    def take(self, cost: float) -> bool:
        """Whether a new call of about that cost may go out; it is counted if so. Once it may not, none may."""
        if self.exhausted:
            return False
        limits = self._limits
        if limits.calls is not None and self._calls >= limits.calls:
            self.exhausted = f"--max-calls {limits.calls} is used up"
        elif limits.cost is not None and self._spent + self._reserved + cost > limits.cost:
            self.exhausted = f"--max-cost {limits.cost:g} is used up (${self._spent:.4f} spent)"
        elif self.late:
            pass
        else:
            self._calls += 1
            self._reserved += cost
            return True
        return False

    def hold(self, cost: float) -> None:
        """Count a call that went out before this command began: it is paid for whatever the limits say."""
        self._calls += 1
        self._reserved += cost

    @property
    def late(self) -> bool:
        """Whether nothing more may go out."""
        return self.out_of_time or bool(self.exhausted)

    @property
    def out_of_time(self) -> bool:
        """Whether the minutes are over."""
        if self._limits.minutes is not None and self._clock() - self._began >= 60 * self._limits.minutes:
            self.exhausted = f"--max-minutes {self._limits.minutes:g} are over"
            return True
        return False

    def settle(self, reserved: float, cost: float) -> None:
        """A call is over: it has cost that much instead of what was reserved."""
        self._reserved -= reserved
        self._spent += cost
