"""How fast a judge is asked: slots for calls in flight, fixed or found out, and what an endpoint allows a minute.

A slot is one attempt. Whoever wants one waits in line; a pause (Retry-After, a used-up allowance, an endpoint that is down) holds the line.
"""

from __future__ import annotations

import asyncio
from collections import deque
from statistics import median

from harness.judges.allowance import Allowance

FIRST_LIMIT = 8
MOST_IN_FLIGHT = 512
_SLOWER = 1.5  # times the best latency: more calls in flight only wait for each other
_SLACK_SECONDS = 0.01


class Adaptive:
    """A limit of calls in flight that grows while latency holds and halves when the endpoint says that it is too much.

    It doubles at first, and grows by a tenth once something has held it: a window is as many answers as the limit allows in flight.
    """

    def __init__(self, first: int = FIRST_LIMIT, most: int = MOST_IN_FLIGHT) -> None:
        self.limit = first
        self._most = most
        self._doubling = True
        self._window: list[float] = []
        self._best = float("inf")
        self._full = False
        self._era = 0

    @property
    def era(self) -> int:
        """Changes with each halving: what was under way before says nothing about the limit that holds now."""
        return self._era

    def answered(self, seconds: float, *, full: bool) -> None:
        """An answer came after `seconds`; `full`: all slots were taken when its call went out."""
        self._window.append(seconds)
        self._full |= full
        if len(self._window) < self.limit:
            return
        usual, self._window = median(self._window), []
        self._best = min(self._best, usual)
        used, self._full = self._full, False
        if usual > self._best * _SLOWER + _SLACK_SECONDS:
            self._doubling = False
            if usual > 2 * self._best * _SLOWER:
                self.limit = max(1, self.limit * 9 // 10)
        elif used:
            grown = 2 * self.limit if self._doubling else self.limit + max(1, self.limit // 10)
            self.limit = min(grown, self._most)

    def too_much(self, era: int) -> None:
        """The endpoint was busy for a call of that era."""
        if era == self._era:
            self.limit = max(1, self.limit // 2)
            self._era += 1
            self._doubling = False
            self._window = []


class Fixed:
    """A limit that was asked for and holds, whatever comes."""

    era = 0

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def answered(self, seconds: float, *, full: bool) -> None:
        """Changes nothing."""

    def too_much(self, era: int) -> None:
        """Changes nothing."""


class Slot:
    """One attempt under way. `full`: no slot was free once it was taken."""

    __slots__ = ("era", "full", "tokens")

    def __init__(self, era: int, tokens: int, full: bool) -> None:
        self.era, self.tokens, self.full = era, tokens, full


class Pace:
    """The line for slots of one judge.

    Args:
        concurrency: calls in flight; None: found out by `Adaptive`.
        rpm: attempts a minute, evenly spread; None: no limit.
        tpm: tokens a minute, prompt and answer, as estimated when a call goes out and corrected by what was counted.
    """

    def __init__(self, concurrency: int | None = None, rpm: float | None = None, tpm: float | None = None) -> None:
        self.limit = Fixed(concurrency) if concurrency else Adaptive()
        self._rpm, self._tpm = rpm, tpm
        self._in_flight = 0
        self._line: deque[tuple[int, asyncio.Future[Slot]]] = deque()
        self._next = 0.0  # loop time of the next attempt that rpm, tpm and pauses allow
        self._timer: asyncio.TimerHandle | None = None
        self._wakes = 0.0  # when the timer goes off
        self._probing = False
        self._heeded: Allowance | None = None

    @property
    def in_flight(self) -> int:
        return self._in_flight

    async def slot(self, tokens: int = 0) -> Slot:
        """Wait for a slot for a call of about that many tokens."""
        if not self._line and self._next <= asyncio.get_running_loop().time() and self._free():
            return self._give(tokens)
        future: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()
        self._line.append((tokens, future))
        self._serve()
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._in_flight -= 1
            raise

    def leave(self, slot: Slot, *, seconds: float | None = None, used: int | None = None, allowance: Allowance | None = None) -> None:
        """Give the slot back. `seconds` of an answer, the tokens that were `used`, what the endpoint still takes: as far as known."""
        self._in_flight -= 1
        if seconds is not None:
            self.limit.answered(seconds, full=slot.full)
        if used is not None and self._tpm:
            self._next += (used - slot.tokens) * 60 / self._tpm
        if allowance is not None and allowance is not self._heeded:
            self._heed(allowance, slot.tokens)
        self._serve()

    def _heed(self, left: Allowance, tokens: int) -> None:
        """Nothing goes out before an allowance that is used up is renewed. It counts from when it was said, so it is heeded once."""
        self._heeded = left
        if left.requests is not None and left.requests < 1:
            self.pause(left.requests_reset_in)
        if left.tokens is not None and left.tokens < tokens:
            self.pause(left.tokens_reset_in)

    def pause(self, seconds: float) -> None:
        """Let nothing out for so long."""
        self._next = max(self._next, asyncio.get_running_loop().time() + seconds)

    def probe(self, on: bool) -> None:
        """One call at a time, while it is open whether the endpoint is there at all."""
        self._probing = on
        self._serve()

    def _serve(self) -> None:
        """Give slots to the first in line while there are any."""
        loop = asyncio.get_running_loop()
        while self._line and self._free():
            tokens, future = self._line[0]
            if future.done():  # cancelled while it waited
                self._line.popleft()
                continue
            if self._next > loop.time():
                self._wake_at(self._next)
                return
            self._line.popleft()
            future.set_result(self._give(tokens))

    def _free(self) -> bool:
        return self._in_flight < (1 if self._probing else self.limit.limit)

    def _give(self, tokens: int) -> Slot:
        self._in_flight += 1
        if self._rpm or self._tpm:
            self._next = max(self._next, asyncio.get_running_loop().time()) + self._interval(tokens)
        return Slot(self.limit.era, tokens, self._in_flight >= self.limit.limit)

    def _interval(self, tokens: int) -> float:
        """Seconds to the next attempt."""
        return max(60 / self._rpm if self._rpm else 0.0, tokens * 60 / self._tpm if self._tpm else 0.0)

    def _wake_at(self, when: float) -> None:
        if self._wakes != when:
            if self._timer is not None:
                self._timer.cancel()
            self._wakes = when
            self._timer = asyncio.get_running_loop().call_at(when, self._woken)

    def _woken(self) -> None:
        self._wakes = 0.0
        self._serve()
