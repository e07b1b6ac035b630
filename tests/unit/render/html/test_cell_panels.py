"""What is drawn of a case: links that show what they count, people above judge, the worst class first."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape

import numpy as np

from harness.measure.cells import Cell
from harness.measure.compare import table_of_all
from harness.measure.judged_table import JudgedTable
from harness.measure.options import MeasureOptions
from harness.render.html.browser import BrowserSource, items_json
from harness.render.html.cell_panels import CasePicture, _class_shares, pictures_of_cases
from tests.unit.measure.test_outcomes import judged, recorded

MakeCell = Callable[..., Cell]
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
