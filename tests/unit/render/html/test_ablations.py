"""Ablations drawn: beside their tables what is shown is coloured and what failed says so; above them conditions, and the dose."""

from __future__ import annotations

from typing import Any

from harness.render.html.ablations import ablation_figures, difference_grid, dose_grids
from harness.reports.sections.section_registry import ShownSection


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


KEY: dict[str, Any] = {"language": "cs", "task": "*", "metric": "*", "judge": "openai/one", "temperature": 0.0, "top_p": None, "n": 9}


def row(**own: Any) -> dict[str, Any]:
    return KEY | {"variant": "single", "diff": None, "diff_ci": None} | own


def dosed(**own: Any) -> dict[str, Any]:
    return KEY | {"variant": "single", "metric": "task_quality", "kind": "truncate", "segmenter": None, "sensitivity_ci": None} | own


def shown(*rows: dict[str, Any]) -> ShownSection:
    return ShownSection("T", "", (), (rows,))


def test_conditions_stand_by_language_from_the_plainest_on() -> None:
    broken = row(variant="joint", n=0)
    far = row(variant="single+detailed", diff=-0.2, diff_ci=(-0.3, -0.1))
    other = row(variant="single+detailed", language="ja", diff=0.1, diff_ci=(-0.1, 0.3))
    grid = difference_grid(shown(broken, far, other, row(), row(judge="baseline/majority", variant="joint", diff=0.0)))
    assert grid is not None and grid.rows_are == "condition" and grid.columns == ("Czech", "Japanese")
    assert grid.name == "difference in points, from −40 to +40"
    (first, (unreadable, none)), (second, (czech, japanese)) = grid.rows
    assert (first, second) == ("joint", "single+detailed")
    assert "no readable score" in str(unreadable) and none is None
    assert 'class="gap bad"' in str(czech) and "<b>−20</b>" in str(czech) and 'class="gap open"' in str(japanese)


def test_only_differences_over_all_metrics_are_drawn() -> None:
    assert difference_grid(shown(row(metric="a", diff=0.1), row(metric="b", diff=0.1))) is None
    assert difference_grid(shown(row())) is None and difference_grid(ShownSection("T", "", ())) is None
    one = difference_grid(shown(row(metric="a", variant="joint", diff=0.1), row(metric="*", variant="joint", diff=-0.1)))
    assert one is not None and "−10" in str(one.rows)


def test_sensitivity_is_drawn_along_the_dose() -> None:
    rows = [dosed(dose=dose, sensitivity=value) for dose, value in ((0.5, 0.9), (0.1, 0.5))]
    [grid] = dose_grids(shown(*rows, dosed(dose=None, kind="negate", sensitivity=0.7), dosed(dose=0.9, sensitivity=None)))
    assert grid.name == "truncate, dose 0.1 · 0.5"
    [(language, [panel])] = grid.rows
    assert language == "cs" and str(panel).count("<circle") == 2 and "Czech, task quality: sensitivity by dose" in str(panel)
    points = str(panel).partition('points="')[2].partition('"')[0].split(" ")
    assert [float(point.partition(",")[0]) for point in points] == [20.0, 68.0], "smaller doses stand left, in proportion"


def test_each_kind_segmenter_and_condition_has_its_own_grid() -> None:
    others = ({"segmenter": "whitespace"}, {"variant": "joint"})
    rows = [dosed(dose=0.5, sensitivity=0.9, **other) for other in ({}, *others)]
    assert [grid.name for grid in dose_grids(shown(*rows))] == [
        "truncate, dose 0.5 – single",
        "truncate (whitespace), dose 0.5 – single",
        "truncate, dose 0.5 – joint",
    ]
    assert dose_grids(ShownSection("T", "", ())) == []
