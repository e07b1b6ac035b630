"""What an endpoint's headers say of how much it still takes, and of how long to wait."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import msgspec

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Allowance(msgspec.Struct, frozen=True):
    """What is left until `resets_in` seconds from when it was said; None where the endpoint does not say."""

    requests: int | None = None
    tokens: int | None = None
    requests_reset_in: float = 0.0
    tokens_reset_in: float = 0.0


def allowance(headers: Mapping[str, str]) -> Allowance | None:
    """What `x-ratelimit-remaining-*` and `x-ratelimit-reset-*` say; None without them.

    >>> allowance({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s"}).requests_reset_in
    90.0
    """
    requests, tokens = (_whole(headers.get(f"x-ratelimit-remaining-{what}")) for what in ("requests", "tokens"))
    if requests is None and tokens is None:
        return None
    resets = [seconds(headers.get(f"x-ratelimit-reset-{what}", "")) or 0.0 for what in ("requests", "tokens")]
    return Allowance(requests, tokens, *resets)


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None


def seconds(text: str) -> float | None:
    """A span such as `20ms`, `1.5s`, `6m0s` or a bare number of seconds; None for anything else."""
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text.strip():
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the endpoint asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date; None if it does not say."""
    milliseconds = seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "")
    if (span := seconds(said)) is not None:
        return span
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
