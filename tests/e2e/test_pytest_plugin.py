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


@pytest.mark.parametrize(("bar", "passed"), [pytest.param("'.8'", 1, marks=pytest.mark.slow), (0.97, 0)])
def test_a_table_is_held_to_a_bar_in_a_test(pytester: pytest.Pytester, bar: object, passed: int) -> None:
    write("t.csv", pass_fail())
    pytester.makepyfile(TEST.format(bar=bar))
    done = pytester.runpytest_subprocess("-p", "harness.pytest_plugin")
    done.assert_outcomes(passed=passed, failed=1 - passed)
    if not passed:
        done.stdout.fnmatch_lines(["assert_judge_usable: 0 of 1 verdicts are 'use'*", "*English: it is unknown whether judge may be used*"])
        assert "--all" not in done.stdout.str()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("assert_judge_usable(judge_table('t.csv'), metric='tone')", "no metric 'tone'."),
        ("assert_judge_usable(judge_table('t.csv'), bar=2)", "*should lie between 0 and 1*"),
        ("judge_table('other.csv')", "*other.csv does not exist; judge_table opens a table beside the test"),
        ("judge_table('people.csv')", "no column with a judge's scores was found*"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(pytester: pytest.Pytester, call: str, said: str) -> None:
    write("t.csv", pass_fail())
    write("people.csv", [{name: cell for name, cell in row.items() if name != "judge"} for row in pass_fail()])
    pytester.makepyfile(f"from harness.pytest_plugin import assert_judge_usable\n\ndef test_judge(judge_table):\n    {call}\n")
    done = pytester.runpytest_subprocess("-p", "harness.pytest_plugin")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([said])
    assert "Traceback" not in done.stdout.str() and "another exception" not in done.stdout.str()
