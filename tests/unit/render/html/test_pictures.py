"""Pictures on pages: heat maps, and what is drawn of one case."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.decide.verdicts import Verdict
from harness.measure.cells import Cell
from harness.measure.compare import table_of_all
from harness.measure.judged_table import JudgedTable
from harness.measure.options import MeasureOptions
from harness.measure.score_cells import NOT_CLASSES
from harness.measure.summaries import LanguageSummary
from harness.render.html.answer import JudgedCells
from harness.render.html.browser import BrowserSource, items_json
from harness.render.html.pictures import CasePicture, _class_shares, judge_language_map, language_metric_maps, pictures_of_cases
from tests.unit.measure.test_outcomes import judged, recorded

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
    assert "n 18; a constant answer 67 %" in square.title


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


LABELS = {"a": [1, 1, 1], "b": [0, 0, 2], "c": [0, 1, 2], "d": [2, 2, 2]}
JUDGED = [judged("b", 1), judged("a", 1), judged("c", 2), judged("d", None)]


def pictures(found: JudgedTable, *cells: Cell) -> dict[str, CasePicture]:
    """The pictures of the only case, by title."""
    [case] = pictures_of_cases([(None, found)], cells, ())
    return {picture.title: picture for picture in case.pictures}


def test_a_square_of_a_confusion_matrix_shows_as_many_judgments_as_it_counts() -> None:
    found = table_of_all(recorded(LABELS, JUDGED), MeasureOptions())
    drawn = pictures(found)["Label by score"].drawn
    links = re.findall(r'data-show="([^"]*)"><title>([^<]*)</title>', str(drawn))
    rows = items_json([BrowserSource("r", found, np.arange(len(found)))])["rows"]
    values = {name: [None if c < 0 else rows[name]["v"][c] for c in np.broadcast_to(rows[name]["c"], 4)] for name in rows if name != "item"}
    shown = {}
    for filters, title in links:
        wanted = {name: value for name, value in json.loads(unescape(filters)).items() if name in values}
        shown[unescape(title)] = sum(all(values[name][n] == value for name, value in wanted.items()) for n in range(4))
    assert shown == {
        "label 0, score 1: 1 of 1 (100 %)": 1,
        "label 1, score 1: 1 of 1 (100 %)": 1,
        "label 2, no readable score: 1 of 1 (100 %)": 1,
    }


def test_a_nasty_class_is_text() -> None:
    from harness.render.html.marks import confusion_matrix

    drawn = str(confusion_matrix(["<b>", '"x'], [[1, 0, 0], [0, 1, 0]], {"judge": "<i>'\""}, "</title>"))
    assert "<b>" not in drawn and "<i>" not in drawn and '""x' not in drawn and drawn.count("<title>") == 2


def test_scores_along_the_mean_and_confidences_are_points() -> None:
    sure = [judged(name, 1, probs={"0": 0.2, "1": 0.8}) for name in "abcd"]
    found = pictures(table_of_all(recorded(LABELS, sure), MeasureOptions()))
    assert "mean label 1: mean score 1, quartiles 1 to 1, n 2" in str(found["Score against the mean label"].drawn)
    assert "confidence 80 %: 33 % right, n 3" in str(found["Confidence and right answers"].drawn)
    assert "Confidence and right answers" not in pictures(table_of_all(recorded(LABELS, JUDGED), MeasureOptions()))


def test_people_stand_above_the_judge_and_the_worst_class_first(make_cell: MakeCell) -> None:
    levels = {
        "full": {"items": 9, "labels": {"0": 1.0, "1": 0.0}, "judge": {"0": 0.5, "1": 0.5}},
        "partial": {"items": 3, "labels": {"0": 0.6, "1": 0.4}, "judge": None},
        "none": {"items": 0, "labels": None, "judge": None},
    }
    cell = make_cell(distribution_by_agreement=levels, task="*")
    text = str(_class_shares(cell, False, "people").drawn)
    assert re.findall(r"<small>(.*?)</small>", text) == ["all agree, n 9", "two agree, n 3"]
    assert re.findall(r'class="hidden">(\w+):', text) == ["people", "judge", "people"]
    assert "people: 0: 60 %, 1: 40 %" in text
    assert re.findall(r'rect class="([a-z]+)', text) == ["people", "s", "s", "people", "people"], "people are ink, the judge blue"
    turned = str(_class_shares(cell, True, "people").drawn)
    assert "people: 1: 40 %, 0: 60 %" in turned


def test_many_languages_are_columns() -> None:
    from harness.render.html.ablations import grid_of_places

    drawn = [(tag, "task_quality", None) for tag in ("cs", "ja")]
    assert grid_of_places("j", drawn).rows_are == "metric" and grid_of_places("j", drawn, across=False).rows_are == "language"
    assert grid_of_places("j", drawn).columns == ("Czech", "Japanese")
