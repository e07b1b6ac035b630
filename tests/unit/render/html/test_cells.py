"""Cells on a page: a judge is set beside people only where both are measured alike, and colour never says anything alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.analyse import Cell
from harness.render.html.cells import answer_table, beside_people, grids, shares_by_side

MakeCell = Callable[..., Cell]
PAIRED = {"judge_loo": 0.6, "judge_loo_ci": (0.5, 0.7), "human_loo": 0.7, "human_loo_ci": (0.6, 0.8), "loo_gap": -0.1}


def test_with_constructed_labels_there_is_no_comparison_with_people_and_it_says_so(make_cell: MakeCell) -> None:
    words = beside_people([make_cell(**PAIRED)], True)
    assert "constructed" in words and "cannot be compared with people" in words


def test_agreement_of_pairs_alone_cannot_be_compared(make_cell: MakeCell) -> None:
    cell = make_cell(human_pa=0.6, pa_pairwise=0.4)
    assert "cannot be compared with people" in beside_people([cell], False) and "loo_gap" not in answer_table([cell]).figures


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((-0.2, -0.01), "less than a person does on task quality"),
        ((-0.2, 0.05), "not shown to differ from a person on task quality"),
        ((0.01, 0.2), "more than a person does on task quality"),
        (None, "too few independent texts to tell on task quality"),
    ],
)
def test_the_judge_beside_people_in_words(make_cell: MakeCell, interval: tuple[float, float] | None, words: str) -> None:
    assert words in beside_people([make_cell(**PAIRED, loo_gap_ci=interval)], False)


def test_the_two_matched_figures_are_drawn_together_and_the_baseline_apart(make_cell: MakeCell) -> None:
    lines = answer_table([make_cell(**PAIRED, loo_gap_ci=(-0.2, 0.0))])
    [baseline], [people] = (lines.figures[name].figures for name in ("pa_failed_wrong", "loo_gap"))
    assert people and "judge 60 % [50–70], people 70 % [60–80]" in people
    assert baseline and "people" not in baseline and "baseline 67 %" in baseline
    assert {*lines.figures} <= {heading.name for heading in lines.table.headings}


@pytest.mark.parametrize(
    ("diff", "ci", "sign", "colour"),
    [
        (0.4, (0.2, 0.6), "▲", "up3"),
        (0.06, (-0.1, 0.2), "○", "up1"),
        (0.0, (-0.1, 0.1), "○", ""),
        (-0.2, (-0.3, -0.1), "▼", "down2"),
        (-0.5, None, "·", "down3"),
        (None, None, "·", ""),
    ],
)
def test_squares(make_cell: MakeCell, diff: float | None, ci: tuple[float, float] | None, sign: str, colour: str) -> None:
    cell = make_cell()
    [grid] = grids([make_cell(vs_baseline=cell.vs_baseline | {"diff": diff, "ci": ci})])
    [(language, [square])] = grid.rows
    assert square and (language, square.sign, square.colour) == ("cs", sign, colour) and square.words


def test_a_metric_that_a_language_lacks_is_blank(make_cell: MakeCell) -> None:
    [grid] = grids([make_cell(), make_cell(language="ja", metric="hallucination")])
    assert [[square is None for square in squares] for _, squares in grid.rows] == [[False, True], [True, False]]


def test_judges_come_before_baselines(make_cell: MakeCell) -> None:
    assert [grid.name for grid in grids([make_cell(judge="baseline/majority"), make_cell()])] == ["openai/one", "baseline/majority"]


def test_classes_are_shown_by_agreement_where_there_are_three_annotators(make_cell: MakeCell) -> None:
    levels = {
        "full": {"items": 9, "labels": {"0": 1.0, "1": 0.0}, "judge": {"0": 0.5, "1": 0.5}},
        "partial": {"items": 3, "labels": {"0": 0.6, "1": 0.4}, "judge": None},
        "none": {"items": 0, "labels": None, "judge": None},
    }
    [(_, [block])] = shares_by_side([make_cell(distribution_by_agreement=levels)])
    assert [(bar.level, bar.who, bar.items) for bar in block.bars] == [
        ("all agree", "labels", 9),
        ("all agree", "judge", 9),
        ("two agree", "labels", 3),
    ]
    [(_, [plain])] = shares_by_side([make_cell()])
    assert [(bar.level, bar.who) for bar in plain.bars] == [("", "labels"), ("", "judge")]
