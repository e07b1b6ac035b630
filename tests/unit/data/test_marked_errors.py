"""Errors that people and recorded judges marked: read with labels and judgments, checked, counted where they have no place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import api
from harness.content import Library
from harness.data.dataset import Dataset, load_folder
from harness.errors import ContentError
from harness.model import ErrorSpan
from harness.row_files import write_parquet
from tests.translation_folder import write_translations

LIBRARY = Library()


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]


def write_rows(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def with_errors(folder: Path, *errors: Any, judged: Any = ()) -> Path:
    """The folder of translations whose first label has the errors, and one recorded judge."""
    write_translations(folder)
    labels = rows_of(folder, "labels")
    labels[0]["spans"] = list(errors)
    labels[1]["spans"] = None
    write_rows(folder, "labels", labels)
    judgments = [{"item_id": row["item_id"], "judge": "j", "metric": row["metric"], "score": number} for number, row in enumerate(labels)]
    judgments[0]["spans"] = list(judged)
    write_rows(folder, "judgments", judgments)
    return folder


def load(folder: Path) -> Dataset:
    return load_folder(folder, LIBRARY, with_judgments=True)


def test_errors_stand_beside_labels_and_judgments(tmp_path: Path) -> None:
    quoted = {"severity": "major", "text": "okna", "start": None, "unplaced": True, "reason": "wrong case"}
    folder = with_errors(tmp_path, {"severity": "minor", "start": 0, "end": 3}, {"severity": "major", "missing": True}, judged=[quoted])
    data = load(folder)
    assert list(data.labels.spans)[:3] == [(ErrorSpan("minor", 0, 3), ErrorSpan("major", missing=True)), None, None]
    assert data.judgments is not None
    assert next(iter(data.judgments.spans)) == (ErrorSpan("major", text="okna", reason="wrong case"),)
    assert data.judgments.for_items(["1-long"]).spans.used == [] and len(data.labels.for_items(["0-long"]).spans) == 1


def test_errors_move_no_number_and_no_hash(tmp_path: Path) -> None:
    (tmp_path / "with").mkdir(), (tmp_path / "without").mkdir()
    mark = {"severity": "minor", "start": 0, "end": 3}
    marked, plain = (load(with_errors(tmp_path / name, *of, judged=of)) for name, of in (("with", [mark]), ("without", [])))
    assert marked.sha256 == plain.sha256
    assert marked.judgments is not None and plain.judgments is not None and marked.judgments.sha256 == plain.judgments.sha256


@pytest.mark.parametrize(
    "errors",
    ['"all"', '[{"severity": "minor", "start": "1", "end": 2}]', "[[1, 2]]", '{"start": 1}'],
    ids=("text", "place", "list", "object"),
)
def test_what_is_no_list_of_errors_is_named_with_its_line(tmp_path: Path, errors: str) -> None:
    folder = write_translations(tmp_path)
    lines = (folder / "labels.jsonl").read_text("utf-8").splitlines()
    lines[2] = lines[2][:-1] + f', "spans": {errors}}}'
    (folder / "labels.jsonl").write_text("\n".join(lines), "utf-8")
    with pytest.raises(ContentError, match=r"labels\.jsonl:3: 'spans' should be a list of errors"):
        load(folder)


def test_errors_without_a_place_are_counted_and_said(tmp_path: Path) -> None:
    outside = [{"severity": "minor", "start": start, "end": end} for start, end in ((5, 999), (-1, 2), (4, 4), (9, 3), (0, 2))]
    quoted = [{"severity": "minor", "text": "no such words"}, {"severity": "minor", "missing": True}]
    comparison = api.compare(with_errors(tmp_path, *outside, judged=quoted))
    assert any(note.startswith("Errors that people marked: 5; with an empty place: 1; outside their text: 3.") for note in comparison.notes)
    assert any(note.startswith("Errors that judges marked: 2; with words that are not in it: 1.") for note in comparison.notes)
    assert not any("marked:" in note for note in api.compare(with_errors(tmp_path)).notes)


def test_parquet_holds_errors_as_json_or_as_lists(tmp_path: Path) -> None:
    folder = write_translations(tmp_path)
    rows = [row | {"spans": '[{"severity": "minor", "start": 0, "end": 3}]'} for row in rows_of(folder, "labels")]
    (folder / "labels.jsonl").unlink()
    names = {"item_id": "string", "annotator_id": "string", "metric": "string", "score": "int64", "spans": "string"}
    write_parquet(folder / "labels.parquet", rows, names)
    assert load(folder).labels.spans.used == [(ErrorSpan("minor", 0, 3),)]


@pytest.mark.parametrize("text", ["\\ud83d", "a\\ude00", "\\ud83d\\u0041"])
def test_half_a_surrogate_is_named(tmp_path: Path, text: str) -> None:
    folder = write_translations(tmp_path)
    lines = (folder / "items.jsonl").read_text("utf-8").splitlines()
    lines[1] = lines[1].replace("The house", text)
    (folder / "items.jsonl").write_text("\n".join(lines), "utf-8")
    with pytest.raises(ContentError, match=r"items\.jsonl:2: \\u\w+ is half of a character \(a lone surrogate\); write whole characters"):
        load(folder)


@pytest.mark.parametrize("score", [101, -1, 1e9])
def test_a_label_outside_0_to_100_is_named_and_a_judges_score_is_a_failure(tmp_path: Path, score: float) -> None:
    folder = with_errors(tmp_path)
    judgments = rows_of(folder, "judgments")
    judgments[3]["score"] = score
    write_rows(folder, "judgments", judgments)
    [cell] = api.compare(folder).cells
    assert cell.failures == {"off_scale": 1}
    labels = rows_of(folder, "labels")
    labels[3]["score"] = score
    write_rows(folder, "labels", labels)
    with pytest.raises(ContentError, match=r"labels\.jsonl:4: score .* is outside the scale of 'translation_quality' \(0 to 100\)"):
        load(folder)
