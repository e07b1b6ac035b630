"""Reading rate limits and waits from response headers. Headers are untrusted: long ones are ignored."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

import msgspec

LONGEST_WAIT_SECONDS = 3600.0  # even if an endpoint asks for more
_LONGEST_VALUE = 64  # characters of a header that are read
_MOST_DIGITS = 15
_EPOCH_SECONDS = 1e9  # a larger number is a time since 1970; as a span it would be 31 years
_EPOCH_MILLISECONDS = 1e12
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# How the body of a refusal asks for a wait.
_SPAN = r"\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)(?![a-z])"
_ASKED_WAIT = re.compile(
    rf"(?:try again|retry)(?: \w+)? (?:in|after) (?:about )?((?:{_SPAN} ?){{1,4}})|retry_?(?:delay|after)\W{{1,4}}({_SPAN})"
)
_SPAN_PART = re.compile(r"(\d+(?:\.\d+)?) ?(ms|milli|[smh])")


class RateLimitStatus(msgspec.Struct, frozen=True):
    """The requests and tokens that remain, and the seconds until each is renewed. None: the endpoint does not report it."""

    requests: int | None = None
    tokens: int | None = None
    requests_reset_in: float = 0.0
    tokens_reset_in: float = 0.0


def read_rate_limit_status(headers: Mapping[str, str]) -> RateLimitStatus | None:
    """Return the status in `x-ratelimit-remaining-*` and `x-ratelimit-reset-*`; None without them. No wait is longer than an hour.

    >>> read_rate_limit_status({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s"}).requests_reset_in
    90.0
    """
    texts = [headers.get(f"x-ratelimit-remaining-{what}", "") for what in ("requests", "tokens")]
    requests, tokens = (int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None for text in texts)
    if requests is None and tokens is None:
        return None
    waits = [seconds_to_wait(headers.get(f"x-ratelimit-reset-{what}", "")) or 0.0 for what in ("requests", "tokens")]
    return RateLimitStatus(requests, tokens, *(min(reset, LONGEST_WAIT_SECONDS) for reset in waits))


def read_span(text: str) -> float | None:
    """Return the seconds of a span such as `20ms`, `1.5s`, `6m0s` or a plain number; None for anything else."""
    text = text.strip()
    if len(text) > _LONGEST_VALUE:
        return None
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        value = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    else:
        try:
            value = float(text)
        except ValueError:
            return None
    return value if math.isfinite(value) and value >= 0 else None


def seconds_to_wait(text: str) -> float | None:
    """Return the seconds from now until a span ends, or until a time since 1970 (in seconds or milliseconds) or a date; else None.

    A time in the past gives 0.
    """
    value = read_span(text)
    if value is None:
        date = _read_date(text)
        return None if date is None else max(0.0, date - time.time())
    if value < _EPOCH_SECONDS:
        return value
    return max(0.0, (value / 1000 if value >= _EPOCH_MILLISECONDS else value) - time.time())


def _read_date(text: str) -> float | None:
    """Return a date in the format of HTTP or ISO 8601, in seconds since 1970."""
    text = text.strip()
    if not text or len(text) > _LONGEST_VALUE:
        return None
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            return read(text).timestamp()
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait in seconds from `retry-after-ms`, or from `retry-after` as a span, a time or a date; None without them.

    It may be longer than `LONGEST_WAIT_SECONDS`: the caller shortens it or gives up.
    """
    milliseconds = read_span(headers.get("retry-after-ms", ""))
    if milliseconds is not None and milliseconds < _EPOCH_MILLISECONDS:
        return milliseconds / 1000
    return seconds_to_wait(headers.get("retry-after", ""))


def wait_in_text(text: str) -> float | None:
    """Return the wait in seconds that the text of a refusal asks for; None if it names none. As with `retry_after` it may be long.

    >>> [wait_in_text(text) for text in ("Please retry in 1.2s.", "try again in 7m12s", "retryDelay: 35s", "Retry later")]
    [1.2, 432.0, 35.0, None]
    """
    match = _ASKED_WAIT.search(text.lower())
    if match is None:
        return None
    parts = _SPAN_PART.findall(match[1] or match[2])
    return sum(float(number[:_MOST_DIGITS]) * (_SECONDS["ms"] if unit in ("ms", "milli") else _SECONDS[unit]) for number, unit in parts)
