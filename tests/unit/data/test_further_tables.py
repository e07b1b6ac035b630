"""Errors that people marked in a second round: read and checked, shown beside the first, and compared with them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness import api
from harness.content import Library
from harness.data import load_folder
from harness.data.dataset import Dataset
from harness.errors import ContentError
from harness.measure.compare import Recording, table_of_all
from harness.measure.options import MeasureOptions
from harness.model import ErrorSpan
from harness.render.comparison import render_label_check
from harness.render.html.browser import BrowserSource, chosen, items_json
from tests.translation_folder import write_translations

LIBRARY = Library()
MARK = {"severity": "minor", "start": 0, "end": 3}


def write(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """Translations of which the first four have marks of the first round: two with an error; and `rows` of the second."""
    write_translations(folder)
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]
    for number, label in enumerate(labels[:4]):
        label["spans"] = [MARK] if number < 2 else []
    judgments = [{"item_id": row["item_id"], "judge": "j", "metric": row["metric"], "score": row["score"]} for row in labels]
    for name, table in (("labels", labels), ("judgments", judgments), ("second_spans", rows)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table), "utf-8")
    return folder


def second(*marks: list[Any], items: tuple[str, ...] = ("0-long", "0-short", "1-long", "1-short")) -> list[dict[str, Any]]:
    return [{"item_id": item, "annotator_id": "iva", "spans": errors} for item, errors in zip(items, marks, strict=False)]


def load(folder: Path) -> Dataset:
    return load_folder(folder, LIBRARY, with_judgments=True)


def test_they_move_no_number_and_no_hash(tmp_path: Path) -> None:
    data = load(write(tmp_path, second([MARK], [])))
    assert data.second_spans is not None and list(data.second_spans.spans) == [(ErrorSpan("minor", 0, 3),), ()]
    (tmp_path / "second_spans.jsonl").unlink()
    assert load(tmp_path).second_spans is None and load(tmp_path).sha256 == data.sha256
    only = data.only(item for item in data.items if item.item_id == "0-short")
    assert only.second_spans is not None and list(only.second_spans.item) == ["0-short"]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"item_id": "x", "spans": []}, "a row of marked errors of item 'x', which is not among the items"),
        ({"item_id": "0-long"}, "no 'spans'; write [] if the person marked no error"),
        ({"item_id": "0-long", "spans": "minor"}, "'spans' should be a list of errors"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, row: dict[str, Any], words: str) -> None:
    with pytest.raises(ContentError, match=words.replace("[", r"\[")) as caught:
        load(write(tmp_path, [*second([MARK]), row | {"annotator_id": "iva"}]))
    assert caught.value.line == 2


def test_two_people_on_whether_a_text_has_an_error(tmp_path: Path) -> None:
    """First round: error, error, none, none; second: error, none, none, error. A fifth text was marked once."""
    rows = second([MARK], [], [], [MARK]) + second([MARK], items=("2-long",))
    check = api.labels_check(write(tmp_path, rows))
    [cell] = check.cells
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(render_label_check(check))
    text = console.export_text()
    assert ".00 (n 4)" in text and "second spans" not in text
    assert cell["second_spans"] == {"n": 4, "agreement": 0.5, "kappa": 0.0}
    (tmp_path / "second_spans.jsonl").unlink()
    [cell] = api.labels_check(tmp_path).cells
    assert cell["second_spans"] is None and cell["undefined"]["second_spans"] == "no second ratings by other people"


def test_pages_have_them_beside_second_ratings(tmp_path: Path) -> None:
    folder = write(tmp_path, second([MARK]))
    rating = {"item_id": "0-long", "annotator_id": "ota", "metric": "translation_quality", "score": 55}
    (folder / "second_ratings.jsonl").write_text(json.dumps(rating) + "\n", "utf-8")
    data = load(folder)
    assert data.judgments is not None
    judged = table_of_all(Recording("d", data, data.judgments), MeasureOptions())
    found = items_json([BrowserSource("d", judged, chosen([judged])[0])])["second"]
    assert found["item"] == [0, 0] and found["annotator"]["v"] == ["ota", "iva"]
    assert found["score"] == {"v": [55.0], "c": [0, -1]} and found["metric"]["c"] == [0, -1]
    assert found["errors"] == {"v": [[["minor", 0, 3, "Dům", ""]]], "c": [-1, 0]}


# Marked errors as labels: the errors of two people and of judges become scores on a metric of their own.


CARD = """id = "made"
version = "1.0.0"
source = "native"
annotators = "persistent"
[metrics.quality]
kind = "interval"
min = 0
max = 100
best = 100
[metrics.penalty]
kind = "interval"
min = 0
max = 25
best = 0
[penalties.penalty]
of = "quality"
weights = { minor = 1, major = 5 }
"""


def errors(*severities: str | None) -> list[dict[str, Any]]:
    return [{"severity": severity} if severity else {} for severity in severities]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tables: dict[str, list[dict[str, Any]]] = {
        "items": [{"item_id": name, "language": "cs", "task": "translation"} for name in "xyz"],
        "labels": [
            {"item_id": "x", "annotator_id": "a", "metric": "quality", "score": 80, "spans": errors("minor", "major")},
            {"item_id": "y", "annotator_id": "a", "metric": "quality", "score": 100, "spans": []},
            {"item_id": "z", "annotator_id": "a", "metric": "quality", "score": 50},
        ],
        "second_spans": [{"item_id": "x", "annotator_id": "b", "spans": errors(*["major"] * 6)}],
        "judgments": [
            {"item_id": "x", "judge": "j", "metric": "quality", "score": 96, "spans": errors("minor")},
            {"item_id": "y", "judge": "j", "metric": "quality", "score": 96, "spans": errors("minor", None)},
        ],
    }
    for name, rows in tables.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (tmp_path / "data.toml").write_text(CARD, "utf-8")
    return tmp_path


def test_errors_of_people_and_judges_are_scores(folder: Path) -> None:
    data = load_folder(folder, Library(), with_judgments=True)
    made = [(label.item_id, label.annotator_id, label.score, label.source) for label in data.labels if label.metric == "penalty"]
    assert made == [("x", "a", 6, "native"), ("y", "a", 0, "native"), ("x", "b", 25, "native")]
    judged = data.judgments
    assert judged is not None
    rows = zip(judged.metric, judged.item, judged.score, judged.failure, strict=True)
    assert [row[1:] for row in rows if row[0] == "penalty"] == [("x", 1, None), ("y", None, "off_scale")]
    assert (data.most_annotators, data.labels.max_annotators) == (1, 2), "the scores have one person each, whatever errors have"
    assert {label.metric for label in load_folder(folder, Library()).labels} == {"quality"}, "nobody is asked about errors"
    assert (data.about.annotators_of("penalty"), data.about.annotators_of("quality")) == ("positional", "persistent")


def test_a_metric_that_the_card_lacks_is_refused(folder: Path) -> None:
    (folder / "data.toml").write_text(CARD.replace('of = "quality"', 'of = "style"'), "utf-8")
    with pytest.raises(ContentError, match="penalties names 'style', which is no metric of this card"):
        load_folder(folder, Library(), with_judgments=True)
