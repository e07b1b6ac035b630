"""Heat maps: colour never says anything alone, and a click shows as many judgments as the number rests on."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from harness.analyse import Cell, LanguageSummary
from harness.analyse.score_cells import NOT_CLASSES
from harness.render.html.answer import JudgedCells
from harness.render.html.heat_map import judge_language_map, language_metric_maps

MakeCell = Callable[..., Cell]


@pytest.mark.parametrize(
    ("diff", "ci", "sign", "word", "colour"),
    [
        (0.4, (0.2, 0.6), "▲", "above", "up3"),
        (0.06, (-0.1, 0.2), "○", "not shown", "up1"),
        (0.0, (-0.1, 0.1), "○", "not shown", ""),
        (-0.2, (-0.3, -0.1), "▼", "below", "down2"),
        (-0.5, None, "·", "too few", "down3"),
        (None, None, "·", "too few", ""),
    ],
)
def test_squares(make_cell: MakeCell, diff: float | None, ci: tuple[float, float] | None, sign: str, word: str, colour: str) -> None:
    cell = make_cell()
    [drawn] = language_metric_maps([make_cell(vs_baseline=cell.vs_baseline | {"diff": diff, "ci": ci})])
    [(language, [square])] = drawn.rows
    assert square and (language, square.sign, square.word, square.colour) == ("cs", sign, word, colour)
    assert "n 18; baseline 67 %" in square.title


def test_a_click_shows_only_what_is_counted(make_cell: MakeCell) -> None:
    [drawn] = language_metric_maps([make_cell()])
    [(_, [square])] = drawn.rows
    assert square and square.show == {
        "judge": "openai/one", "variant": "single", "temperature": 0.0, "language": "cs", "metric": "task_quality", "compared": True,
    }  # fmt: skip


def test_a_metric_that_a_language_lacks_is_blank_and_metrics_have_their_titles(make_cell: MakeCell) -> None:
    [drawn] = language_metric_maps([make_cell(), make_cell(language="ja", metric="5W1H")])
    assert [[square is None for square in squares] for _, squares in drawn.rows] == [[False, True], [True, False]]
    assert drawn.columns == ("Task quality", "Who, what, when, where, why, how")


def test_judges_come_before_baselines(make_cell: MakeCell) -> None:
    drawn = language_metric_maps([make_cell(judge="baseline/majority"), make_cell()])
    assert [each.name for each in drawn] == ["openai/one", "baseline/majority"]


def test_several_judges_stand_beside_languages(make_cell: MakeCell) -> None:
    def judged(judge: str, language: str) -> JudgedCells:
        summary = LanguageSummary(language, judge, "single", 0.0, 36, 13, 0.25, 0.5, diff=-0.25, ci=(-0.4, -0.1))
        return JudgedCells(summary, (), (make_cell(judge=judge, language=language),), judge)

    assert judge_language_map([judged("a", "cs"), judged("a", "ja")]) is None
    drawn = judge_language_map([judged("a", "cs"), judged("a", "ja"), judged("b", "ja")])
    assert drawn and drawn.columns == ("cs", "ja")
    assert [(name, [square and square.number for square in row]) for name, row in drawn.rows] == [
        ("a", ["25 %", "25 %"]),
        ("b", [None, "25 %"]),
    ]
    square = drawn.rows[0][1][0]
    assert square and (square.sign, square.colour, square.show["judge"]) == ("▼", "down2", "a") and "metric" not in square.show


def test_numbers_equal_no_label_and_have_no_square(make_cell: MakeCell) -> None:
    cells = [make_cell(), msgspec.structs.replace(make_cell(metric="quality"), undefined={"pa": NOT_CLASSES})]
    [drawn] = language_metric_maps(cells)
    assert drawn.columns == ("Task quality",) and not language_metric_maps(cells[1:])
