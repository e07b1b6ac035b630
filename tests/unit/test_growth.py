"""The guard against quadratic steps finds one, and lets linear steps pass."""

from __future__ import annotations

import pytest

from tests.growth import assert_grows_linearly


def test_a_quadratic_step_is_found() -> None:
    def is_repeated(size: int) -> bool:
        text = "a" * size
        return any(text.count("b") for _ in text)

    with pytest.raises(AssertionError, match="16 times the size takes"):
        assert_grows_linearly(is_repeated, 30_000)


def test_linear_steps_pass() -> None:
    assert_grows_linearly(lambda size: sorted(range(size, 0, -1)), 400_000)
