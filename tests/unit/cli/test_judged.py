"""What names the judgments that a command uses."""

from __future__ import annotations

import pytest

from harness.cli.judged import key_and_value, restrictions
from harness.errors import UsageError


def test_restrictions_of_one_name_are_alternatives() -> None:
    assert restrictions(["a=1,2", "b=x=y", "a=3"]) == {"a": ("1", "2", "3"), "b": ("x=y",)}
    assert key_and_value("judge=openai/a=b", "") == ("judge", "openai/a=b")
    with pytest.raises(UsageError, match="such as an example"):
        key_and_value("judge", "an example")
