"""What headers say of how much is left and how long to wait."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from harness.judges.rate_limit_headers import (
    LONGEST_WAIT_SECONDS,
    RateLimitStatus,
    read_rate_limit_status,
    read_span,
    retry_after,
    seconds_to_wait,
    wait_in_text,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20ms", 0.02),
        ("1s", 1),
        ("1.5s", 1.5),
        ("6m0s", 360),
        ("1h2m3s", 3723),
        ("2d", 172800),
        ("7", 7),
        ("0.25", 0.25),
        ("", None),
        ("soon", None),
        ("-3", None),
        ("inf", None),
        ("nan", None),
        ("3 apples 4s", None),
    ],
)
def test_spans_of_time(text: str, value: float | None) -> None:
    assert read_span(text) == (None if value is None else pytest.approx(value))


def test_what_is_left_and_when_it_is_renewed() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "50ms",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "6m0s",
    }
    assert read_rate_limit_status(headers) == RateLimitStatus(0, 149984, 0.05, 360)
    assert read_rate_limit_status({"x-ratelimit-remaining-tokens": "5"}) == RateLimitStatus(None, 5, 0, 0)


@pytest.mark.parametrize("said", [{}, {"x-ratelimit-remaining-requests": "many"}, {"x-ratelimit-reset-requests": "1s"}])
def test_who_says_nothing_has_no_status(said: dict[str, str]) -> None:
    assert read_rate_limit_status(said) is None


def test_the_wait_that_is_asked_for() -> None:
    assert retry_after({"retry-after": "1.5"}) == 1.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)}) == pytest.approx(100, abs=2)
    assert retry_after({"retry-after": formatdate(0, usegmt=True)}) == 0
    assert retry_after({}) is retry_after({"retry-after": "later"}) is retry_after({"retry-after": "-1"}) is None


NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (str(int(NOW) + 30), 30),
        (str((int(NOW) + 30) * 1000), 30),
        (f"{NOW + 0.5}", 0.5),
        (str(int(NOW) - 30), 0),
        ("2027-01-15T08:00:30Z", 30),
        ("2027-01-15T08:00:30+00:00", 30),
        ("Fri, 15 Jan 2027 08:00:30 GMT", 30),
        ("999999999", 999999999),  # below that, a number is a span
        ("never", None),
    ],
)
def test_times_are_understood_where_spans_are_expected(text: str, value: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)
    assert seconds_to_wait(text) == (None if value is None else pytest.approx(value))
    assert retry_after({"retry-after": text}) == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize("reset", ["99999", "2000h0m0s", "9" * 12, "2999-01-01T00:00:00Z", "4102444800000"])
def test_no_reset_is_later_than_in_an_hour(reset: str) -> None:
    said = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": reset}
    assert read_rate_limit_status(said) == RateLimitStatus(None, 0, 0, LONGEST_WAIT_SECONDS)


@pytest.mark.parametrize("value", ["9" * 4300, "1" * 100_000, "1" * 100_000 + "s", "1s" * 50_000, "٣" * 5000, "1e400s", "1e999"])
def test_values_that_no_header_has_are_not_read(value: str) -> None:
    assert read_span(value) is None and seconds_to_wait(value) is None
    names = (
        "retry-after",
        "retry-after-ms",
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
        "x-ratelimit-remaining-tokens",
    )
    said = dict.fromkeys(names, value)
    assert retry_after(said) is None and read_rate_limit_status(said) is None


def test_a_wait_in_words_is_as_long_as_it_says() -> None:
    """Who is asked to wait for a day gives up, instead of trying again every hour."""
    assert wait_in_text("Please try again in 24h0m0s.") == 86400.0
