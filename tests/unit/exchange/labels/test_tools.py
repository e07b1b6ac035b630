"""Exports of annotation tools, in the shapes that their documentation and source describe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ContentError, UsageError
from harness.exchange.labels.choose_reader import read_source
from harness.exchange.labels.table_options import SourceOptions

Written = Callable[..., Path]


def task(number: int, *annotations: Any, **data: Any) -> dict[str, Any]:
    return {"id": number, "data": data, "annotations": list(annotations), "predictions": [{"result": [choice("tone", "2")]}]}


def annotation(who: Any, *result: Any, cancelled: bool = False) -> dict[str, Any]:
    return {"id": 1, "completed_by": who, "was_cancelled": cancelled, "result": list(result)}


def choice(name: str, *choices: str) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": list(choices)}}


# Label Studio


def test_choices_ratings_and_numbers_of_every_annotator_are_read(written: Written, into: Any) -> None:
    rating = {"from_name": "tone", "type": "rating", "value": {"rating": 1}}
    number = {"from_name": "tone", "type": "number", "value": {"number": 0}}
    tasks = [
        task(1, annotation(5, choice("tone", "2")), annotation({"id": 6, "email": "who@example.org"}, rating), item_id="a", output="Hi"),
        task(2, annotation(5, number), item_id="b", output="Ho"),
    ]
    done = into(written("export.json", tasks))
    assert into.labels == [("a", "5", "tone", 2), ("a", "6", "tone", 1), ("b", "5", "tone", 0)]
    assert into.data.about.annotators == "persistent" and done.left_out == 0


def test_what_is_skipped_or_no_score_is_counted(written: Written, into: Any) -> None:
    comment = {"from_name": "why", "type": "textarea", "value": {"text": ["because"]}}
    tasks = [task(1, annotation(5, choice("tone", "2"), comment), annotation(6, choice("tone", "1"), cancelled=True), item_id="a")]
    done = into(written("export.json", tasks))
    assert (done.rows, done.labels, done.left_out) == (1, 1, 2)
    assert "1 annotations that were skipped: left out" in done.hints


def test_several_choices_are_refused_at_their_record(written: Written, into: Any) -> None:
    tasks = [task(7, annotation(5, choice("tone", "1", "2")), item_id="a"), task(8, annotation(5, choice("tone", "2")), item_id="b")]
    into(written("export.json", tasks))
    [refused] = into.refused
    assert (refused["place"], refused["reason"]) == ("export.json:record 1 (id 7)", "a list of 2 where one score should be")


def test_items_without_an_id_of_ours_are_called_by_the_tasks_number(written: Written, into: Any) -> None:
    done = into(written("export.json", [task(7, annotation(5, choice("tone", "2")), text="Hi")]), {"texts": {"output": "text"}})
    assert into.data.items[0].item_id == "7" and into.data.items[0].fields == {"output": "Hi"}
    assert "the tasks' data have no item_id: items are named by Label Studio's task ids" in done.hints


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ([task(1, item_id="a")], "no task has a finished annotation with a score in it"),
        ([task(1), {"id": 2}], r"record 2: not a task of Label Studio's full JSON export"),
        ([task(1, {"result": [{"type": "choices", "value": 3}]})], r"record 1 \(id 1\): its annotations do not have Label Studio's form"),
        ([task(1, {"result": 3})], r"record 1 \(id 1\): its annotations do not have Label Studio's form"),
    ],
)
def test_what_is_no_full_export_is_refused(written: Written, tasks: Any, words: str) -> None:
    with pytest.raises(ContentError, match=words):
        read_source(str(written("export.json", tasks)))


# Argilla

NESTED = [
    {
        "id": "a",
        "fields": {"output": "Hi"},
        "metadata": {"lang": "ja"},
        "suggestions": {"tone": {"value": 1, "score": None, "agent": "m"}},
        "responses": {"tone": [{"value": "2", "user_id": "u1"}, {"value": ["1"], "user_id": "u2"}]},
        "vectors": {},
        "_server_id": "s",
    },
    {"id": "b", "fields": {"output": "Ho"}, "metadata": {}, "suggestions": {}, "responses": {}, "vectors": {}, "_server_id": "t"},
]
FLAT = [
    {
        "id": "a",
        "_server_id": "s",
        "output": "Hi",
        "tone.responses": ["2", "1", "0"],
        "tone.responses.users": ["u1", "u2", "u3"],
        "tone.responses.status": ["submitted", "submitted", "draft"],
        "tone.suggestion": "0",
        "tone.suggestion.score": None,
    },
    {"id": "b", "_server_id": "t", "output": "Ho", "tone.responses": None, "tone.responses.users": None, "tone.responses.status": None},
]
SERVER = {
    "items": [
        {
            "id": "s",
            "external_id": "a",
            "fields": {"output": "Hi"},
            "metadata": None,
            "responses": [
                {"user_id": "u1", "status": "submitted", "values": {"tone": {"value": 2}}},
                {"user_id": "u2", "status": "submitted", "values": {"tone": {"value": 1}}},
                {"user_id": "u3", "status": "discarded", "values": {"tone": {"value": 0}}},
            ],
        }
    ]
}


@pytest.mark.parametrize(("content", "left_out"), [(NESTED, 0), (FLAT, 1), (SERVER, 1)], ids=["nested", "flat", "server"])
def test_responses_of_every_user_are_read(written: Written, into: Any, content: Any, left_out: int) -> None:
    path = written("records.json", content)
    assert read_source(str(path)).kind == "argilla"
    done = into(path)
    assert into.labels == [("a", "u1", "tone", 2), ("a", "u2", "tone", 1)] and done.left_out == left_out
    assert into.data.items[0].fields == {"output": "Hi"} and into.data.about.annotators == "persistent"


def test_an_export_that_does_not_tell_drafts_apart_says_so(written: Written, into: Any) -> None:
    done = into(written("records.json", NESTED))
    assert any(note.startswith("2 responses may be drafts or discarded") for note in done.hints)


def test_metadata_are_columns(written: Written, into: Any) -> None:
    into(written("records.json", NESTED), {"language": None})
    assert into.data.items[0].language == "ja"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([NESTED[1]], "no record has a submitted response"),
        ([NESTED[0], {"id": "b"}], "record 2: not an Argilla record"),
        ([NESTED[0] | {"responses": {"tone": [3]}}], r"record 1 \(id a\): its responses do not have Argilla's form"),
        ([FLAT[0] | {"tone.responses.users": ["u1"]}], r"record 1 \(id a\): its responses do not have Argilla's form"),
    ],
)
def test_what_is_no_argilla_export_is_refused(written: Written, content: Any, words: str) -> None:
    with pytest.raises(ContentError, match=words):
        read_source(str(written("records.json", content)))


# Hugging Face datasets, saved in a folder


def _saved(path: Path, *, splits: bool) -> Path:
    import datasets

    rows = datasets.Dataset.from_list(
        [{"item_id": "a", "who": "x", "answer": {"tone": 2}}, {"item_id": "b", "who": "x", "answer": {"tone": 9}}]
    )
    saved = datasets.DatasetDict({"train": rows.select([1]), "test": rows}) if splits else rows
    saved.save_to_disk(str(path))
    return path


def test_a_saved_data_set_is_read_row_by_row(into: Any, tmp_path: Path) -> None:
    done = into(_saved(tmp_path / "saved", splits=False), {"columns": {"score": "answer.tone", "annotator_id": "who"}, "metric": "tone"})
    assert into.labels == [("a", "x", "tone", 2)] and done.rows == 2
    assert into.refused[0]["place"] == "saved:2"


def test_of_several_splits_one_is_named(tmp_path: Path) -> None:
    path = _saved(tmp_path / "saved", splits=True)
    with pytest.raises(UsageError, match="has the splits train, test; pick one with --split"):
        read_source(str(path))
    with pytest.raises(UsageError, match=r"--split dev: .* has train, test"):
        read_source(str(path), SourceOptions(split="dev"))
    assert len(read_source(str(path), SourceOptions(split="test")).records) == 2


def test_a_damaged_data_set_is_refused(tmp_path: Path) -> None:
    path = _saved(tmp_path / "saved", splits=False)
    next(path.glob("*.arrow")).write_bytes(b"nothing")
    with pytest.raises(ContentError, match="not a complete data set of save_to_disk"):
        read_source(str(path))


@pytest.mark.parametrize(
    ("source", "revision", "words"),
    [
        ("hf:owner/name", None, "hf:owner/name needs --revision: a branch, a tag or, best, a commit"),
        ("hf:../../etc", "main", "'hf:../../etc' is not hf:owner/name"),
    ],
)
def test_the_hub_is_asked_only_for_a_revision_of_a_name(source: str, revision: str | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_source(source, SourceOptions(revision=revision))


def test_a_hub_that_is_out_of_reach_is_said_plainly() -> None:
    with pytest.raises(ContentError, match=r"hf:owner/name: cannot be fetched at revision 'main' \("):
        read_source("hf:owner/name", SourceOptions(revision="main"))
