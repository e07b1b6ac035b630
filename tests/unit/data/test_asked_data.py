"""Data under our names: tasks and metrics that a card says are ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.content.library import Library
from harness.content.specs import read_spec
from harness.data.asked_data import renaming_problem, with_our_names
from harness.data.dataset import load_folder
from harness.errors import UsageError

LIBRARY = Library()
SCALE = """
[metrics.factuality]
kind = "nominal"
classes = ["Not Supported", "Challenging to determine", "Supported"]
best = "Supported"

[metrics.tone]
kind = "ordinal"
classes = [0, 1]
"""


def folder(path: Path, names: str) -> Path:
    texts = {"query": "Wer?", "context": "Eine Stelle.", "output": "Jemand."}
    item = {"item_id": "a", "language": "de", "task": "theirs", **texts}
    labels = [{"item_id": "a", "annotator_id": who, "metric": "factuality", "score": "Supported"} for who in "xy"]
    labels.append({"item_id": "a", "annotator_id": "x", "metric": "tone", "score": 1})
    (path / "items.jsonl").write_text(json.dumps(item) + "\n")
    (path / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    (path / "data.toml").write_text(f'id = "mine"\n[tasks]\ntheirs = "answer_from_passages"\n[rubrics]\n{names}{SCALE}')
    return path


def test_labels_on_their_metric_are_labels_on_ours(tmp_path: Path) -> None:
    data = load_folder(folder(tmp_path, 'factuality = "faithfulness"\n'), LIBRARY)
    ours = with_our_names(data, LIBRARY)
    assert [(label.metric, label.score) for label in ours.labels] == [("faithfulness", "Supported")] * 2 + [("tone", 1)]
    assert ours.items[0].task == "answer_from_passages" and ours.labelled_metrics == {"a": {"faithfulness", "tone"}}
    assert ours.scales["faithfulness"] == data.scales["factuality"] and "factuality" not in ours.scales
    assert [label.metric for label in data.labels] == ["factuality", "factuality", "tone"]  # the data themselves stay as they are


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ('factuality = "faithfulnes"\n', "is the metric 'faithfulnes', which has no rubric. Did you mean 'faithfulness'"),
        ('tone = "faithfulness"\n', "the scale of 'tone' is ordinal 0, 1, best 1?.* but its rubric 'faithfulness' is nominal"),
        ('politeness = "faithfulness"\n', "'politeness', which is no metric of the card; they are factuality, tone"),
        ('factuality = "faithfulness"\ntone = "faithfulness"\n', "gives two metrics the name 'faithfulness'"),
    ],
)
def test_a_name_that_cannot_be_is_one_sentence(tmp_path: Path, names: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        with_our_names(load_folder(folder(tmp_path, names), LIBRARY), LIBRARY)


def test_a_metric_does_not_take_the_name_of_another_one(tmp_path: Path) -> None:
    path = folder(tmp_path, 'factuality = "faithfulness"\n') / "data.toml"
    path.write_text(path.read_text().replace("[metrics.tone]", "[metrics.faithfulness]"))
    problem = renaming_problem(read_spec(path, type(LIBRARY.dataset_card("hanna"))), "factuality", LIBRARY.rubric("faithfulness"))
    assert problem == "[rubrics] gives two metrics the name 'faithfulness'"


@pytest.mark.parametrize("labelled", [False, True])
def test_nobody_is_asked_about_a_published_text_that_is_empty(tmp_path: Path, labelled: bool) -> None:
    path = folder(tmp_path, "")
    item = {"item_id": "b", "language": "de", "task": "theirs", "query": "Wer?", "context": "Eine Stelle.", "output": ""}
    with (path / "items.jsonl").open("a") as file:
        file.write(json.dumps(item) + "\n")
    if labelled:
        with (path / "labels.jsonl").open("a") as file:
            file.write(json.dumps({"item_id": "b", "annotator_id": "x", "metric": "tone", "score": 1}) + "\n")
    data = load_folder(path, LIBRARY)
    if labelled:
        with pytest.raises(UsageError, match=r"'mine': item 'b' has no 'output'.* and people labelled it"):
            with_our_names(data, LIBRARY)
    else:
        assert [item.task for item in with_our_names(data, LIBRARY).items] == ["answer_from_passages", "theirs"]
