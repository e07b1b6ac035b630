"""What headers say of how much is left and how long to wait."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from harness.judges.allowance import Allowance, allowance, retry_after, seconds


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
    assert seconds(text) == (None if value is None else pytest.approx(value))


def test_what_is_left_and_when_it_is_renewed() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "50ms",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "6m0s",
    }
    assert allowance(headers) == Allowance(0, 149984, 0.05, 360)
    assert allowance({"x-ratelimit-remaining-tokens": "5"}) == Allowance(None, 5, 0, 0)


@pytest.mark.parametrize("said", [{}, {"x-ratelimit-remaining-requests": "many"}, {"x-ratelimit-reset-requests": "1s"}])
def test_who_says_nothing_has_no_allowance(said: dict[str, str]) -> None:
    assert allowance(said) is None


def test_the_wait_that_is_asked_for() -> None:
    assert retry_after({"retry-after": "1.5"}) == 1.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)}) == pytest.approx(100, abs=2)
    assert retry_after({"retry-after": formatdate(0, usegmt=True)}) == 0
    assert retry_after({}) is retry_after({"retry-after": "later"}) is retry_after({"retry-after": "-1"}) is None
