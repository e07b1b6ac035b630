"""The pytest plug-in: a table with a judge in a test of somebody's own, with the answer as the message of a failure."""

from __future__ import annotations

import pytest

from tests.e2e.test_one_table import pass_fail, write

pytest_plugins = ["pytester"]

TEST = """
from harness.pytest_plugin import assert_judge_usable

def test_judge(judge_table):
    assert_judge_usable(judge_table("t.csv"), metric="rating", language="en", bar={bar})
"""


@pytest.mark.parametrize(("bar", "passed"), [("'.8'", 1), (0.97, 0)])
def test_a_table_is_held_to_a_bar_in_a_test(pytester: pytest.Pytester, bar: object, passed: int) -> None:
    write("t.csv", pass_fail())
    pytester.makepyfile(TEST.format(bar=bar))
    done = pytester.runpytest_subprocess("-p", "harness.pytest_plugin")
    done.assert_outcomes(passed=passed, failed=1 - passed)
    if not passed:
        done.stdout.fnmatch_lines(["*It is not shown to find 97 % of each class*"])
