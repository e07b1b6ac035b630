"""Numbers as text. Fractions become percent here and in the figures only."""

from __future__ import annotations

import math
from collections.abc import Mapping

from harness.text import terminal_safe

Interval = tuple[float, float]
UNDEFINED = "–"
_MINUS = str.maketrans("-", "−")


def percent(value: float | None, interval: Interval | None = None) -> str:
    """Return a fraction in percent: `71 % [50–86]`; a dash for an undefined one."""
    if value is None:
        return UNDEFINED
    text = f"{100 * value:.0f} %"
    return f"{text} [{100 * interval[0]:.0f}–{100 * interval[1]:.0f}]" if interval else text


def difference(value: float | None, interval: Interval | None = None) -> str:
    """Return a difference of fractions in percentage points: `+12 [−3 to +21]`; a dash for an undefined one."""
    if value is None:
        return UNDEFINED
    text = signed(100 * value)
    return f"{text} [{signed(100 * interval[0])} to {signed(100 * interval[1])}]" if interval else text


def points(value: float) -> str:
    """Return a distance of fractions in percentage points, without a sign.

    >>> points(0.25), points(0.01)
    ('25 points', '1 point')
    """
    return counted(round(100 * value), "point")


def whole_points(value: float) -> int:
    """Return a difference of fractions in whole percentage points."""
    return round(100 * value)


def signed(value: float, digits: int = 0) -> str:
    """Return a number with its sign, a true minus: `+3`, `−0.25`; zero has a plus.

    >>> signed(-3.2), signed(-0.2), signed(-0.25, 2)
    ('−3', '+0', '−0.25')
    """
    return f"{round(value, digits) + 0.0:+.{digits}f}".translate(_MINUS)  # + 0.0 turns -0 into 0


def counted(count: int, word: str = "") -> str:
    """Return a count with its thousands apart, and what is counted: `1,240 texts`, `1 text`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}" if word else f"{count:,}"


def probability_counts(counts: Mapping[str, int], what: str = "") -> str:
    """Return in how many places a judge's probabilities may be believed, by the names of the verdicts; empty for none.

    >>> probability_counts({"hold": 7, "hold after refit": 2, "do not hold": 1, "too few labels": 2}, "languages")
    'hold in 7 of 12 languages, after a refit in 2; do not hold in 1'
    """
    if not counts:
        return ""
    refitted = f", after a refit in {counts['hold after refit']}" if counts.get("hold after refit") else ""
    against = f"; do not hold in {counts['do not hold']}" if counts.get("do not hold") else ""
    return f"hold in {counts.get('hold', 0)} of {sum(counts.values())} {what}".rstrip() + refitted + against


def coefficient(value: float | None, interval: Interval | None = None) -> str:
    """Return a coefficient: `.35 [.21 .48]`; a dash for an undefined one."""
    if value is None:
        return UNDEFINED
    text = _two_decimals(value)
    return f"{text} [{_two_decimals(interval[0])} {_two_decimals(interval[1])}]" if interval else text


def _two_decimals(value: float) -> str:
    text = f"{round(value, 2) + 0.0:.2f}"  # + 0.0 turns -0 into 0
    short = text.replace("0.", ".", 1) if abs(value) < 1 and text not in ("1.00", "-1.00") else text
    return short.translate(_MINUS)


def probability(value: float | None) -> str:
    """Return a p-value or q-value: `.034`, `.21`, `<.001`; a dash for an undefined one."""
    if value is None:
        return UNDEFINED
    if value < 0.0005:
        return "<.001"
    if value < 0.0995:
        return f"{value:.3f}"[1:]
    return _two_decimals(value) if value < 0.995 else "1"


def two_digits(value: float) -> str:
    """Return a number to two significant digits, large ones as integers: `0.091`, `3.2`, `120`."""
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"


def rounded_up(value: float) -> str:
    """Return a number to three decimals, never below it: `0.684` for a certified confidence of 0.6834."""
    return f"{math.ceil(1000 * value - 1e-9) / 1000:g}"


def class_shares(distribution: Mapping[str, float] | None) -> str:
    """Return shares of the classes in percent: `0:12 1:88`; a dash where there are none."""
    return " ".join(f"{terminal_safe(score)}:{100 * share:.0f}" for score, share in distribution.items()) if distribution else UNDEFINED


def counts_by_name(counts: Mapping[str, int] | None) -> str:
    """Return counts with their names: `not json 3, truncated 2`; nothing where there are none."""
    return ", ".join(f"{terminal_safe(name.replace('_', ' '))} {count:,}" for name, count in (counts or {}).items())
