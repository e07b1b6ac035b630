"""Pairs from single outputs: the same source text, different systems, no system always first, and equal quality on request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.content import Library
from harness.data import Dataset, load_folder
from harness.errors import UsageError
from harness.exchange.labels.pairs_of_outputs import EqualScores, make_pairs, write_pairs
from harness.model import Item

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]


@pytest.fixture
def outputs(make_item: MakeItem, make_data: MakeData) -> Dataset:
    """Ten requests, each answered by three systems; scores of people by system."""
    items = [
        make_item(f"{n}-{system}", group=str(n), system=system, prompt=f"Say {n}.", output=f"{system} says {n if system != 'Human' else 0}")
        for n in range(10)
        for system in ("ann", "bob", "Human")
    ]
    scores = {item.item_id: {"ann": 2, "bob": 2, "Human": 0}[str(item.system)] for item in items if item.group != "9"}
    return make_data(items, scores)


def test_all_systems_are_paired_within_a_source_text(library: Library, outputs: Dataset) -> None:
    made = make_pairs(outputs, library)
    assert len(made.rows) == 30 and made.by_language == {"en": 30}
    assert all(row["task"] == "compare_responses" and row["system_a"] != row["system_b"] for row in made.rows)
    first = made.rows[0]
    assert first["prompt"] == "Say 0." and {first["item_a"], first["item_b"]} == {"0-ann", "0-bob"} and first["group"] == "0"


def test_no_system_stands_always_first(library: Library, outputs: Dataset) -> None:
    first = [row["system_a"] for row in make_pairs(outputs, library).rows if "Human" not in (row["system_a"], row["system_b"])]
    assert set(first) == {"ann", "bob"}


def test_each_pair_may_have_to_hold_one_system(library: Library, outputs: Dataset) -> None:
    for against in ("Human", "human"):
        rows = make_pairs(outputs, library, against).rows
        assert len(rows) == 20 and all("Human" in (row["system_a"], row["system_b"]) for row in rows)


def test_pairs_of_equal_quality_leave_out_the_others(library: Library, outputs: Dataset) -> None:
    made = make_pairs(outputs, library, equal=EqualScores("m", 0.5))
    assert (len(made.rows), made.not_equal, made.not_scored) == (9, 18, 3)
    assert made.notes == ("only pairs whose mean scores on m differ by 0.5 at most (labels: native)",)


def test_the_folder_can_be_judged(library: Library, outputs: Dataset, tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", make_pairs(outputs, library), outputs, library)
    loaded = load_folder(tmp_path / "pairs", library)
    assert len(loaded.items) == 30 and loaded.id == "made-pairs" and loaded.items[0].group == "0"
    with pytest.raises(UsageError, match="exists already"):
        write_pairs(tmp_path / "pairs", make_pairs(outputs, library), outputs, library)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"against": "carl"}, "no item has the system 'carl'"),
        ({"equal": EqualScores("style", 1)}, "no label is on the metric 'style'"),
    ],
)
def test_unknown_names_are_refused(library: Library, outputs: Dataset, call: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make_pairs(outputs, library, **call)


def test_a_task_without_pairs_and_items_without_systems_are_refused(library: Library, make_item: MakeItem, make_data: MakeData) -> None:
    with pytest.raises(UsageError, match="names its system"):
        make_pairs(make_data([make_item("i")], {}), library)
    with pytest.raises(UsageError, match="no pairwise task has pairs_of = 'chat'"):
        make_pairs(make_data([make_item("i", task="chat", system="ann")], {}), library)


@pytest.mark.parametrize("text", ["m", "m:", ":1", "m:-1", "m:inf"])
def test_equal_scores_need_a_metric_and_a_number(text: str) -> None:
    with pytest.raises(UsageError, match=r"such as Fluency:0\.5"):
        EqualScores.parse(text)


def test_control_questions_have_computed_labels(library: Library, outputs: Dataset, tmp_path: Path) -> None:
    made = make_pairs(outputs, library, controls=("longer", "more_vowels"))
    rows = {row["item_id"]: row for row in made.rows}
    assert {label["metric"] for label in made.labels} == {"more_vowels"}, "all outputs have three words"
    for label in made.labels:
        row = rows[label["item_id"]]
        a, b = (sum(letter in "aeiouy" for letter in row[f"output_{which}"].lower()) for which in "ab")
        assert label["score"] == ("A" if a > b else "B")
    write_pairs(tmp_path / "pairs", made, outputs, library)
    loaded = load_folder(tmp_path / "pairs", library)
    assert len(loaded.labels) == len(made.labels) and loaded.about.source == "constructed"


def test_an_unknown_control_question_is_refused(library: Library, outputs: Dataset) -> None:
    with pytest.raises(UsageError, match="not a control question; choose from longer"):
        make_pairs(outputs, library, controls=("nicer",))
