"""Attention checks: read from a data folder, counted for people, asked of judges as a perturbation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import api
from harness.content import Library
from harness.data import load_folder
from harness.errors import ContentError
from harness.runs import RunSpec

Rows = list[dict[str, Any]]


def write(folder: Path, name: str, rows: Rows) -> None:
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten Danish answers of two people; four of them have a damaged version, of which one was scored higher and one the same."""
    names = [f"i{n}" for n in range(10)]
    write(
        tmp_path,
        "items",
        [{"item_id": i, "language": "da", "task": "open_prompt", "prompt": "Hvad?", "output": f"Et svar {i}."} for i in names],
    )
    write(
        tmp_path, "labels", [{"item_id": i, "annotator_id": "ab"[n % 2], "metric": "task_quality", "score": 1} for n, i in enumerate(names)]
    )
    scores = {"i0": 0, "i1": 2, "i2": 1, "i3": 0}
    check = [
        {
            "item_id": f"{i}-bad",
            "original_item_id": i,
            "output": f"svar svar {i}",
            "annotator_id": "ab"[n % 2],
            "score": s,
            "score_of_original": 1,
        }
        for n, (i, s) in enumerate(scores.items())
    ]
    write(tmp_path, "attention_checks", check)
    return tmp_path


def test_people_are_counted_with_ties_apart(folder: Path) -> None:
    found = api.labels_check(folder)
    rows = {row["annotator"]: row for row in found.attention_checks}
    assert {name: (row["n"], row["below"], row["equal"], row["above"]) for name, row in rows.items()} == {
        "*": (4, 0.5, 0.25, 0.25),
        "a": (2, 0.5, 0.5, 0.0),
        "b": (2, 0.5, 0.0, 0.5),
    }
    assert rows["*"]["below_ci"] is None or rows["*"]["below_ci"][0] < 0.5
    assert any("people scored 50 %" in note and "25 % got the same score" in note for note in found.notes)


def test_a_judge_is_asked_about_the_damaged_text_of_the_items_that_have_one(folder: Path, tmp_path: Path) -> None:
    spec = RunSpec(data=folder, judges=("baseline/length",), perturbations=("attention-check",))
    result = api.run(spec, tmp_path / "results")
    section = api.report(result).ablations["perturbations"]
    row = next(row for row in section["rows"] if row["metric"] == "task_quality" and row["language"] == "da")
    assert (row["n"], row["not_applied"], row["should"]) == (4, 6, None)
    assert row["fell"] + row["stayed"] + row["rose"] == pytest.approx(1)
    changed = {item for item, condition in zip(result.judgments.item, result.judgments.perturbation, strict=True) if condition}
    assert changed == {"i0", "i1", "i2", "i3"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"original_item_id": "i99"}, "an attention check of item 'i99', which is not among the items"),
        ({"metric": "beauty"}, "metric 'beauty' has no scale"),
        ({"score": None}, "score and score_of_original go together"),
        ({"output": 3}, "not an attention check"),
    ],
)
def test_wrong_rows_are_named(folder: Path, change: dict[str, Any], message: str) -> None:
    path = folder / "attention_checks.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    write(folder, "attention_checks", [rows[0], rows[1] | change])
    with pytest.raises(ContentError, match=message) as error:
        load_folder(folder, Library())
    assert error.value.line == 2
