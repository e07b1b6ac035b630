"""Marked errors as labels: the errors of two people and of judges become scores on a metric of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.content import Library
from harness.data import load_folder
from harness.errors import ContentError

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
