"""Heat maps: colour never says anything alone, and a click shows as many judgments as the number rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from harness.decide.verdicts import Verdict
from harness.measure.cells import Cell
from harness.measure.score_cells import NOT_CLASSES
from harness.measure.summaries import LanguageSummary
from harness.render.html.answer import JudgedCells
from harness.render.html.heat_map import judge_language_map, language_metric_maps

MakeCell = Callable[..., Cell]
MakeVerdict = Callable[..., Verdict]
OTHERWISE: dict[str, Any] = {"variant": "single", "temperature": 0.0, "n_ref": 36, "n": 13, "pa_failed_wrong": 0.25, "baseline": 0.5}
OTHERWISE |= {"diff": -0.25, "ci": (-0.4, -0.1)}


@pytest.mark.parametrize(
    ("diff", "shown", "sign", "word", "colour"),
    [
        (0.4, "above", "▲", "above", "above"),
        (0.06, "not shown", "○", "not shown", ""),
        (0.0, "not shown", "○", "not shown", ""),
        (-0.2, "below", "▼", "below", "below"),
        (-0.5, None, "·", "not tested", ""),
        (None, None, "·", "not tested", ""),
    ],
)
def test_squares(
    make_cell: MakeCell, make_verdict: MakeVerdict, diff: float | None, shown: str | None, sign: str, word: str, colour: str
) -> None:
    cell = make_cell()
    cells = [make_cell(vs_baseline=cell.vs_baseline | {"diff": diff})]
    [drawn] = language_metric_maps(cells, [make_verdict(beside_baseline=shown)])
    [(language, [square])] = drawn.rows
    assert square and (language, square.sign, square.word, square.colour) == ("cs", sign, word, colour)
    assert "n 18; baseline 67 %" in square.title


def test_a_click_shows_only_what_is_counted(make_cell: MakeCell) -> None:
    [drawn] = language_metric_maps([make_cell()], [])
    [(_, [square])] = drawn.rows
    assert square and square.show == {
        "judge": "openai/one", "variant": "single", "temperature": 0.0, "language": "cs", "metric": "task_quality", "compared": True,
    }  # fmt: skip


def test_a_metric_that_a_language_lacks_is_blank_and_metrics_have_their_titles(make_cell: MakeCell) -> None:
    [drawn] = language_metric_maps([make_cell(), make_cell(language="ja", metric="5W1H")], [])
    assert [[square is None for square in squares] for _, squares in drawn.rows] == [[False, True], [True, False]]
    assert drawn.columns == ("Task quality", "Who, what, when, where, why, how")


def test_judges_come_before_baselines(make_cell: MakeCell) -> None:
    drawn = language_metric_maps([make_cell(judge="baseline/majority"), make_cell()], [])
    assert [each.name for each in drawn] == ["openai/one", "baseline/majority"]


def test_several_judges_stand_beside_languages(make_cell: MakeCell, make_verdict: MakeVerdict) -> None:
    def judged(judge: str, language: str) -> JudgedCells:
        summary = LanguageSummary(language=language, judge=judge, **OTHERWISE)
        verdict = make_verdict(judge=judge, language=language, beside_baseline="below")
        return JudgedCells(summary, (verdict,), (make_cell(judge=judge, language=language),), judge)

    assert judge_language_map([judged("a", "cs"), judged("a", "ja")]) is None
    drawn = judge_language_map([judged("a", "cs"), judged("a", "ja"), judged("b", "ja")])
    assert drawn and drawn.columns == ("cs", "ja")
    assert [(name, [square and square.number for square in row]) for name, row in drawn.rows] == [
        ("a", ["25 %", "25 %"]),
        ("b", [None, "25 %"]),
    ]
    square = drawn.rows[0][1][0]
    assert square and (square.sign, square.colour, square.show["judge"]) == ("▼", "below", "a") and "metric" not in square.show


def test_numbers_equal_no_label_and_have_no_square(make_cell: MakeCell) -> None:
    cells = [make_cell(), msgspec.structs.replace(make_cell(metric="quality"), undefined={"pa": NOT_CLASSES})]
    [drawn] = language_metric_maps(cells, [])
    assert drawn.columns == ("Task quality",) and not language_metric_maps(cells[1:], [])


def test_an_interval_below_0_is_no_mark_where_the_corrected_verdict_shows_nothing(make_cell: MakeCell, make_verdict: MakeVerdict) -> None:
    cell = make_cell()
    assert cell.vs_baseline["ci"][1] < 0
    [drawn] = language_metric_maps([cell], [make_verdict(beside_baseline="not shown")])
    [(_, [square])] = drawn.rows
    assert square and (square.sign, square.word) == ("○", "not shown") and "after correction" in square.title


def test_a_verdict_of_another_condition_is_no_mark(make_cell: MakeCell, make_verdict: MakeVerdict) -> None:
    [drawn] = language_metric_maps([make_cell()], [make_verdict(beside_baseline="below", temperature=0.7)])
    [(_, [square])] = drawn.rows
    assert square and square.sign == "·"


@pytest.mark.parametrize(
    ("shown", "sign", "word"),
    [
        (("below", "below"), "▼", "below"),
        (("below", "not shown", None), "▼", "below on 1 of 3"),
        (("below", "above", "above"), "▲▼", "above on 2, below on 1 of 3"),
        (("not shown", None), "○", "not shown"),
        ((), "·", "not tested"),
    ],
)
def test_several_metrics_are_counted(make_cell: MakeCell, make_verdict: MakeVerdict, shown: tuple[str, ...], sign: str, word: str) -> None:
    def judged(judge: str) -> JudgedCells:
        summary = LanguageSummary(language="cs", judge=judge, **OTHERWISE)
        verdicts = tuple(make_verdict(judge=judge, metric=f"m{number}", beside_baseline=one) for number, one in enumerate(shown))
        return JudgedCells(summary, verdicts, (make_cell(judge=judge),), judge)

    drawn = judge_language_map([judged("a"), judged("b")])
    square = drawn and drawn.rows[0][1][0]
    assert square and (square.sign, square.word) == (sign, word)
