"""docs/statistics.md describes every statistic and its examples run; the coverage table of docs/coverage.md is of today's settings."""

from __future__ import annotations

import doctest
import re

import pytest

from harness.stats import cell_statistics

from .test_coverage import OUTSIDE, SETTINGS, printed_rows
from .test_coverage import PAGE as RATES

PAGE = RATES.with_name("statistics.md")
TEXT = PAGE.read_text(encoding="utf-8")
STATISTICS = [s.name for s in cell_statistics(3, "interval")]
OTHERS = [
    *("language", "task", "metric", "judge", "variant", "temperature", "n_ref", "n", "coverage", "failures", "groups"),
    *("design_effect", "few_rare_cases", "X_ci", "undefined", "vs_baseline"),
    *("distribution_labels", "distribution_judge", "distribution_by_agreement"),
]


def described() -> set[str]:
    """Names in the first cells of the rows of "Names of a cell"."""
    section = TEXT.split("\n## Names of a cell\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| ([^|]+) \|", section, re.M)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize("name", [*STATISTICS, *OTHERS])
def test_every_name_of_a_cell_is_described(name: str) -> None:
    assert name in described()


def test_examples_run() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.failed == 0 and found.attempted > 5


def test_the_coverage_table_is_of_these_settings_and_statistics() -> None:
    """Numbers come from `python -m tests.unit.stats.test_coverage`; test_coverage.py computes them again."""
    assert re.findall(r"^\| [A-Z] \| (.+?) \|", RATES.read_text(encoding="utf-8"), re.M) == [s.name for s in [*SETTINGS, *OUTSIDE]]
    assert sorted(printed_rows()) == sorted(STATISTICS)
