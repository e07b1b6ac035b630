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
from harness.data.dataset import Dataset, load_folder
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
