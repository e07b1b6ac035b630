"""One row of a table of promises, and how it is printed; a median with its limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A promise: `events` of `worlds` beside a limit in percent; coverage has to be at least the limit, an error rate at most."""

    promise: str
    before: str
    events: int
    worlds: int
    limit: float
    least: bool

    @property
    def percent(self) -> float:
        return 100 * self.events / self.worlds if self.worlds else math.nan

    @property
    def error(self) -> float:
        """One standard error, in points, if the limit were exactly kept."""
        return math.sqrt(self.limit * (100 - self.limit) / self.worlds) if self.worlds else math.nan

    @property
    def holds(self) -> bool:
        return self.percent >= self.limit - 2 * self.error if self.least else self.percent <= self.limit + 2 * self.error


def table(rows: Iterable[Row]) -> str:
    """Return the rows in Markdown."""
    lines = [
        "| promise | old worlds, % | new worlds, % | limit, % | R | one standard error | |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        if row.worlds:
            new = (f"{row.percent:.1f}", f"{row.limit:g}", str(row.worlds), f"{row.error:.1f}", "holds" if row.holds else "falls")
        else:
            new = ("–", f"{row.limit:g}", "0", "–", "nothing is stated")
        lines.append("| " + " | ".join((row.promise, row.before, *new)) + " |")
    return "\n".join(lines)


def median_with_limits(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the median, and the order statistics between which that of all worlds lies with 95 %; values may be infinite."""
    ordered, n = sorted(values), len(values)
    reach = math.ceil(0.98 * math.sqrt(n))
    middle = ordered[n // 2] if n % 2 else max(ordered[n // 2 - 1 : n // 2 + 1]) / 2 + min(ordered[n // 2 - 1 : n // 2 + 1]) / 2
    return middle, ordered[max(0, n // 2 - reach)], ordered[min(n - 1, (n - 1) // 2 + reach)]
