"""Ablations drawn: what is shown is coloured, and a condition that failed says so instead of an empty line."""

from __future__ import annotations

from typing import Any

from harness.render.html.ablation_figures import ablation_figures
from harness.reports.shown_sections import ShownSection


def drawn(*rows: dict[str, Any]) -> dict[str, Any]:
    [figures] = ablation_figures(ShownSection("T", "", (), (rows,)))
    return figures


def test_a_failed_variant_is_words_and_no_empty_figure() -> None:
    rows = ({"n": 9, "diff": None}, {"n": 9, "diff": -0.2, "diff_ci": (-0.3, -0.1)}, {"n": 0, "diff": None})
    column = drawn(*rows)["diff"]
    plainest, worse, failed = column.figures
    assert plainest is None and "no readable score" in str(failed) and "svg" not in str(failed)
    assert 'class="gap bad"' in str(worse) and "−20 [−30 to −10] points" in str(worse)
    assert column.ends == ("−40", "0", "+40")


def test_a_difference_that_is_not_shown_is_hollow() -> None:
    [one, other] = drawn({"n": 9, "diff": 0.1, "diff_ci": (-0.1, 0.3)}, {"n": 9, "diff": 0.1, "diff_ci": None})["diff"].figures
    assert 'class="gap open"' in str(one) and 'class="gap open"' in str(other)


def test_sensitivity_stands_beside_one_half() -> None:
    column = drawn({"n": 9, "sensitivity": 0.75, "sensitivity_ci": (0.6, 0.9)}, {"n": 0, "sensitivity": None})["sensitivity"]
    assert 'class="base"' in str(column.figures[0]) and "75 % [60–90]" in str(column.figures[0])
    assert "no readable score" in str(column.figures[1]) and column.ends[1] == "½: not seen"


def test_a_section_without_such_numbers_has_no_figures() -> None:
    assert drawn({"n": 3, "tau": 0.2}) == {}
