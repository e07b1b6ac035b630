"""Labels as columns: what is read, what is refused with `file:line`, and what can be asked of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import api
from harness.content import Library
from harness.data.columns import CodedColumn
from harness.data.dataset import Dataset, load_folder
from harness.data.labels import Labels, pairs_of, read_labels
from harness.errors import ContentError
from harness.model import ErrorSpan, Label, Scale
from harness.row_files import write_parquet
from tests.translation_folder import write_translations

SCALES = {
    "tone": Scale(kind="ordinal", classes=(0, 1, 2), best=2),
    "choice": Scale(kind="nominal", classes=("A", "B")),
    "length": Scale(kind="interval", min=0, max=10),
}
ITEMS = dict.fromkeys("abc")
ROW = {"item_id": "a", "annotator_id": "x", "metric": "tone", "score": 1}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "labels.jsonl"


def read(path: Path, *rows: dict[str, Any], **other: Any) -> Labels:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_labels(path, SCALES, ITEMS, **other)


def refused(path: Path, *rows: dict[str, Any]) -> str:
    with pytest.raises(ContentError) as caught:
        read(path, *rows)
    return str(caught.value).removeprefix(str(path.parent)).removeprefix("/")


def test_rows_become_labels_in_their_order(path: Path) -> None:
    labels = read(path, ROW, ROW | {"item_id": "b", "metric": "choice", "score": "B", "source": "model", "comment": "passed over"})
    assert list(labels) == [Label("a", "x", "tone", 1), Label("b", "x", "choice", "B", "model")] and len(labels) == 2
    assert labels == Labels.from_rows(list(labels)) and labels != Labels.from_rows(list(labels)[:1]) and labels != list(labels)


_TEXTS = st.text(st.characters(codec="utf-8"), max_size=4)
_SCORES = st.integers(-3, 3) | st.sampled_from([0.5, 1.0, -2.5, 1e-7]) | _TEXTS


@given(st.lists(st.builds(Label, _TEXTS, _TEXTS, _TEXTS, _SCORES, st.sampled_from(["native", "people", "model"])), max_size=9))
def test_labels_become_the_json_of_each_of_them(rows: list[Label]) -> None:
    labels = Labels.from_rows(rows)  # equal scores are one value, 1 and 1.0 too
    encoder = msgspec.json.Encoder(order="sorted")
    assert b"".join(labels.json_lines()) == b"".join(encoder.encode(label) + b"\n" for label in labels)


@pytest.mark.parametrize("source", ["native", "constructed", "model"])
def test_rows_that_do_not_say_their_source_have_the_one_of_their_folder(path: Path, source: Any) -> None:
    labels = read(path, ROW, ROW | {"annotator_id": "y", "source": "native"}, source=source)
    assert [label.source for label in labels] == [source, "native"]


def test_all_faults_of_a_file_are_shown_with_their_lines(path: Path) -> None:
    said = refused(path, ROW, ROW | {"score": 9}, ROW | {"metric": "charm"}, ROW | {"item_id": "nobody"}, ROW | {"score": 9})
    first, *others = said.splitlines()
    assert first.startswith("labels.jsonl:2: score 9 is outside the scale of 'tone'")
    assert [line.strip().partition(": ")[0] for line in others] == ["line 3", "line 4"] and "item 'nobody'" in others[1]
    said = refused(path, *(ROW | {"item_id": f"x{n}"} for n in range(9)))
    assert len(said.splitlines()) == 7 and said.endswith("… and more")


def test_labels_in_sight_of_a_judges_score_are_counted(path: Path) -> None:
    rows = [ROW | {"annotator_id": who, "blind": blind} for who, blind in (("x", False), ("y", True), ("z", None), ("w", False))]
    labels = read(path, *rows, ROW | {"annotator_id": "v"})
    [note] = labels.sighted_notes()
    assert note.startswith("2 labels were given in sight of a judge's score")
    assert [*labels.for_items(["b"]).sighted_notes()] == [] == [*read(path, ROW).sighted_notes()]


def test_no_rows_are_no_labels(path: Path) -> None:
    labels = read(path)
    assert len(labels) == labels.max_annotators == 0 and list(labels) == [] and labels == Labels.from_rows([])


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown item": ({"item_id": "z"}, "a label of item 'z', which is not among the items"),
    "unknown metric": (
        {"metric": "charm"},
        "metric 'charm' has no scale; add [metrics.charm] to data.toml or a rubric. Choose from: tone, choice",
    ),
    "off the scale": ({"score": 3}, "score 3 is outside the scale of 'tone' (0, 1, 2)"),
    "half a class": ({"score": 0.5}, "score 0.5 is outside the scale of 'tone' (0, 1, 2)"),
    "text for a number": ({"score": "1"}, "score '1' is outside the scale of 'tone'"),
    "number for a name": ({"metric": "choice", "score": 1}, "score 1 is outside the scale of 'choice' (A, B)"),
    "beyond an end": ({"metric": "length", "score": 10.5}, "score 10.5 is outside the scale of 'length' (0 to 10)"),
    "another scale's class": ({"metric": "choice", "score": "tie"}, "score 'tie' is outside the scale of 'choice'"),
}


@pytest.mark.parametrize(("change", "words"), BAD.values(), ids=BAD.keys())
def test_a_label_that_cannot_be_is_named_with_its_line(path: Path, change: dict[str, Any], words: str) -> None:
    good = [ROW, ROW | {"metric": "length", "score": 2.5}]
    bad = ROW | {"annotator_id": "y"} | change
    assert refused(path, *good, bad, ROW | {"item_id": "b"}, bad | {"annotator_id": "z"}).startswith(f"labels.jsonl:3: {words}")


def test_a_second_label_of_an_annotator_is_named_with_the_first(path: Path) -> None:
    others = [ROW | {"item_id": "b"}, ROW | {"annotator_id": "y"}, ROW | {"metric": "length"}]
    assert len(read(path, ROW, *others)) == 4
    said = refused(path, others[0], ROW, *others[1:], ROW | {"score": 2})
    assert said == "labels.jsonl:5: annotator 'x' has already scored 'tone' of 'a' in line 2"


def test_the_first_of_several_second_labels_is_named(path: Path) -> None:
    other = ROW | {"item_id": "b"}
    assert refused(path, ROW, other, other, ROW).startswith("labels.jsonl:3: ")


def test_lines_of_the_file_are_named_and_not_rows(path: Path) -> None:
    path.write_text("\n" + json.dumps(ROW) + "\n\n" + json.dumps(ROW | {"score": 9}))
    with pytest.raises(ContentError, match=r"labels\.jsonl:4: score 9 is outside"):
        read_labels(path, SCALES, ITEMS)


def test_whole_numbers_written_as_fractions_are_classes(path: Path) -> None:
    assert [label.score for label in read(path, ROW | {"score": 1.0}, ROW | {"annotator_id": "y", "score": 1})] == [1, 1]


# What can be asked


def made(*rows: tuple[str, str, str]) -> Labels:
    return Labels.from_rows(Label(item, who, metric, 1) for item, who, metric in rows)


@pytest.mark.parametrize(
    ("rows", "most"),
    [
        ([], 0),
        ([("a", "x", "m")], 1),
        ([("a", "x", "m"), ("b", "x", "m"), ("a", "x", "n")], 1),
        ([("a", "x", "m"), ("a", "y", "m"), ("b", "x", "n")], 2),
    ],
    ids=["none", "one", "one each", "two"],
)
def test_the_most_annotators_that_an_item_has_on_one_metric(rows: list[tuple[str, str, str]], most: int) -> None:
    assert made(*rows).max_annotators == most


def test_the_labels_of_some_items(path: Path) -> None:
    labels = made(("a", "x", "m"), ("b", "x", "m"), ("c", "x", "m"))
    assert [label.item_id for label in labels.for_items(["c", "a", "never"])] == ["a", "c"]
    assert [label.item_id for label in labels.take(np.array([2, 0]))] == ["c", "a"]


PAIRS = st.lists(st.tuples(st.sampled_from("mn"), st.none() | st.sampled_from([0, 1, "A"])), max_size=12)


@given(PAIRS)
def test_every_metric_with_every_score_that_it_has(rows: list[tuple[str, Any]]) -> None:
    pairs, which = pairs_of(CodedColumn.from_values(metric for metric, _ in rows), CodedColumn.from_values(score for _, score in rows))
    assert sorted(pairs, key=str) == sorted({row for row in rows if row[1] is not None}, key=str)
    assert [pairs[number] if number >= 0 else None for number in which.tolist()] == [row if row[1] is not None else None for row in rows]


# Errors that people and recorded judges marked: read with labels and judgments, checked, counted where they have no place.


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
