"""Recorded judgments as columns: repeats, lists of scores, failures, and scores that are on their scale or become failures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.content import Library
from harness.data import Dataset, load_folder
from harness.data.judgments import Judgments, checked_judgments, read_judgment_rows
from harness.errors import ContentError
from harness.model import Failure, Scale
from tests.unit.made_judgments import changed_judgment, made_judgment

SCALES = {
    "tone": Scale(kind="ordinal", classes=(0, 1, 2), best=2),
    "choice": Scale(kind="nominal", classes=("A", "B")),
    "length": Scale(kind="interval", min=0, max=10),
}
ITEMS = dict.fromkeys("abc")
ROW = {"item_id": "a", "judge": "j", "metric": "tone", "score": 1}
NO_SCORE = {name: value for name, value in ROW.items() if name != "score"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "judgments.jsonl"


def read(path: Path, *rows: dict[str, Any], **other: Any) -> Judgments:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return checked_judgments(read_judgment_rows(path), path, SCALES, ITEMS, **other)


def refused(path: Path, *rows: dict[str, Any], **other: Any) -> str:
    with pytest.raises(ContentError) as caught:
        read(path, *rows, **other)
    return str(caught.value).removeprefix(str(path.parent)).removeprefix("/")


def columns(judgments: Judgments, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(getattr(judgments, name) for name in names), strict=True))


def test_rows_become_judgments_with_what_they_do_not_say_left_open(path: Path) -> None:
    rows = [ROW, ROW | {"item_id": "b", "variant": "joint", "temperature": 0.7, "repeat": 2, "justification": "passed over"}]
    assert columns(read(path, *rows), "item", "metric", "judge", "variant", "temperature", "repeat", "score", "failure") == [
        ("a", "tone", "j", "default", None, 0, 1, None),
        ("b", "tone", "j", "joint", 0.7, 2, 1, None),
    ]


# Scores and failures


@pytest.mark.parametrize(
    ("row", "score", "failure"),
    [
        ({"score": 2}, 2, None),
        ({"score": 2.0}, 2, None),
        ({"score": "2"}, 2, None),
        ({"score": 3}, None, Failure.OFF_SCALE),
        ({"score": "3"}, None, Failure.OFF_SCALE),
        ({"score": "2.0"}, None, Failure.OFF_SCALE),
        ({"score": 1.5}, None, Failure.OFF_SCALE),
        ({"score": ""}, None, Failure.OFF_SCALE),
        ({"score": None}, None, Failure.MISSING),
        ({"score": None, "failure": "refused"}, None, Failure.REFUSED),
        ({"failure": "not_json", "score": None}, None, Failure.NOT_JSON),
        ({"score": 9, "failure": "truncated"}, None, Failure.TRUNCATED),
        ({"metric": "choice", "score": "A"}, "A", None),
        ({"metric": "choice", "score": "a"}, None, Failure.OFF_SCALE),
        ({"metric": "choice", "score": 0}, None, Failure.OFF_SCALE),
        ({"metric": "length", "score": 2.5}, 2.5, None),
        ({"metric": "length", "score": 10.5}, None, Failure.OFF_SCALE),
        ({"metric": "length", "score": "long"}, None, Failure.OFF_SCALE),
    ],
    ids=str,
)
def test_a_score_is_on_its_scale_or_a_failure_with_a_name(path: Path, row: dict[str, Any], score: Any, failure: Failure | None) -> None:
    [found] = columns(read(path, ROW | row), "score", "failure")
    assert found == (score, failure)


def test_without_a_score_it_is_missing(path: Path) -> None:
    assert columns(read(path, NO_SCORE, ROW | {"item_id": "b"}), "score", "failure") == [(None, Failure.MISSING), (1, None)]


def test_metrics_of_different_scales_keep_their_scores(path: Path) -> None:
    rows = [
        ROW,
        ROW | {"metric": "choice", "score": "B"},
        ROW | {"metric": "choice", "score": 1, "item_id": "b"},
        ROW | {"metric": "length"},
    ]
    assert columns(read(path, *rows), "metric", "score", "failure") == [
        ("tone", 1, None),
        ("choice", "B", None),
        ("choice", None, Failure.OFF_SCALE),
        ("length", 1, None),
    ]


# Perturbed texts

PERTURBED = [
    ROW | {"temperature": 0.0, "expected": 1.25, "entropy": 0.5},
    ROW | {"temperature": 0.0, "perturbation": "truncate:0.5", "score": 0},
    ROW | {"temperature": 0.0, "perturbation": "inject", "score": 2},
    ROW | {"temperature": 0.0, "top_p": 0.9},
    ROW | {"temperature": 0.0, "perturbation": "", "item_id": "b", "score": 2},
]


def test_a_perturbed_text_is_judged_beside_the_text_as_it_is(path: Path) -> None:
    found = read(path, *PERTURBED)
    assert columns(found, "item", "perturbation", "top_p", "score", "expected", "entropy") == [
        ("a", None, None, 1, 1.25, 0.5),
        ("a", "truncate:0.5", None, 0, None, None),
        ("a", "inject", None, 2, None, None),
        ("a", None, 0.9, 1, None, None),
        ("b", None, None, 2, None, None),  # an empty name is none
    ]


def test_clean_judgments_are_those_of_texts_as_they_are(path: Path) -> None:
    found = read(path, *PERTURBED)
    assert columns(found.clean, "item", "top_p", "score") == [("a", None, 1), ("a", 0.9, 1), ("b", None, 2)]
    unperturbed = read(path, ROW)
    assert unperturbed.clean is unperturbed
    assert found.sha256 != found.clean.sha256 == found.clean.clean.sha256


def test_a_text_that_is_judged_twice_under_one_perturbation_is_refused(path: Path) -> None:
    assert "judgments.jsonl:2: 'j' has already judged 'tone' of 'a' in line 1" in refused(path, PERTURBED[1], PERTURBED[1])
    assert "judgments.jsonl:2: 'j' has already judged" in refused(path, PERTURBED[3], PERTURBED[3])
    assert "judgments.jsonl:2: 'j' has already judged" in refused(path, ROW, ROW | {"perturbation": ""})


def test_repeats_are_counted_within_a_perturbation(path: Path) -> None:
    rows = [ROW, ROW | {"perturbation": "inject"}, ROW | {"score": 2}, ROW | {"perturbation": "inject"}, ROW | {"perturbation": "inject"}]
    assert columns(read(path, *rows, number_rows=True), "perturbation", "repeat") == [
        (None, 0),
        ("inject", 0),
        (None, 1),
        ("inject", 1),
        ("inject", 2),
    ]


def test_a_runs_judgments_say_what_was_done_to_the_text() -> None:
    one = made_judgment("a", "en", "t", "tone", "j", "single", 0.0, 0, 1, None, "1", "Fine.", "c")
    other = changed_judgment(one, perturbation="inject", top_p=0.5, expected=1.5, entropy=0.25, asked_language="ja")
    found = Judgments.from_rows([one, other])
    names = ("perturbation", "top_p", "expected", "entropy", "justification", "asked_language")
    assert columns(found, *names) == [(None, None, None, None, "Fine.", "en"), ("inject", 0.5, 1.5, 0.25, "Fine.", "ja")]
    assert columns(found.clean, *names) == columns(found, *names)[:1]
    assert columns(Judgments.concatenate([found.clean, found]), "perturbation") == [(None,), (None,), ("inject",)]


# Repeats


def test_a_list_of_scores_is_one_row_a_repeat(path: Path) -> None:
    found = read(path, NO_SCORE | {"scores": [2, None, 7]}, ROW | {"item_id": "b"}, NO_SCORE | {"item_id": "c", "scores": []})
    assert columns(found, "item", "repeat", "score", "failure") == [
        ("a", 0, 2, None),
        ("a", 1, None, Failure.MISSING),
        ("a", 2, None, Failure.OFF_SCALE),
        ("b", 0, 1, None),
    ]


def test_rows_are_numbered_where_the_folder_says_that_they_are_repeats(path: Path) -> None:
    rows = [ROW, ROW | {"judge": "k"}, ROW | {"score": 2}, ROW | {"item_id": "b"}, ROW | {"variant": "w"}, ROW | {"score": 0}]
    assert columns(read(path, *rows, number_rows=True), "item", "judge", "variant", "repeat", "score") == [
        ("a", "j", "default", 0, 1),
        ("a", "k", "default", 0, 1),
        ("a", "j", "default", 1, 2),
        ("b", "j", "default", 0, 1),
        ("a", "j", "w", 0, 1),
        ("a", "j", "default", 2, 0),
    ]


def test_repeats_that_say_their_number_keep_it(path: Path) -> None:
    assert columns(read(path, ROW | {"repeat": 3}, ROW | {"repeat": 1}), "repeat") == [(3,), (1,)]


@pytest.mark.parametrize(
    "other", [{"metric": "length"}, {"judge": "k"}, {"variant": "w"}, {"temperature": 0.7}, {"repeat": 1}, {"item_id": "b"}], ids=str
)
def test_rows_that_differ_in_anything_are_no_repeats(path: Path, other: dict[str, Any]) -> None:
    assert len(read(path, ROW, ROW | other)) == 2


@pytest.mark.parametrize("again", [{}, {"score": 2}, {"repeat": 0}, {"variant": "default"}, {"score": None}], ids=str)
def test_a_second_row_is_refused_with_the_first_and_what_to_do(path: Path, again: dict[str, Any]) -> None:
    assert refused(path, ROW | {"item_id": "b"}, ROW, ROW | again) == (
        "judgments.jsonl:3: 'j' has already judged 'tone' of 'a' in line 2; "
        "give repeats a 'repeat' number, or write repeats = \"rows\" in data.toml"
    )


# What is refused


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"item_id": "z"}, "a judgment of item 'z', which is not among the items"),
        (
            {"metric": "charm"},
            "metric 'charm' has no scale; add [metrics.charm] to data.toml or a rubric. Choose from: tone, choice, length",
        ),
        ({"failure": "bored"}, "not a judgment (Invalid enum value 'bored'"),
        ({"judge": None}, "not a judgment (Expected `str`, got `null`"),
        ({"temperature": "hot"}, "not a judgment (Expected `float | null`, got `str`"),
        ({"repeat": 1.5}, "not a judgment (Expected `int | null`, got `float`"),
        ({"scores": 3}, "not a judgment (Expected `array | null`, got `int`"),
        ({"scores": [[1]]}, "not a judgment (Expected `int | float | str | null`, got `array`"),
    ],
    ids=str,
)
def test_a_row_that_is_no_judgment_is_named_with_its_line(path: Path, change: dict[str, Any], words: str) -> None:
    assert refused(path, ROW, ROW | {"item_id": "b"}, ROW | {"item_id": "c"} | change).startswith(f"judgments.jsonl:3: {words}")


# Columns


def some() -> Judgments:
    rows = [("a", 1, None), ("b", None, Failure.REFUSED), ("c", 2, None)]
    same: dict[str, Any] = {
        "language": "en",
        "task": "t",
        "metric": "m",
        "judge": "j",
        "variant": "single",
        "temperature": 0.0,
        "repeat": 0,
    }
    same |= {"raw_choice": None, "justification": None, "call_id": ""}
    return Judgments.from_rows([made_judgment(item_id=item, score=score, failure=failure, **same) for item, score, failure in rows])


def test_judgments_of_some_items_and_one_after_the_other() -> None:
    assert list(some().for_items(["c", "a"]).item) == ["a", "c"]
    both = Judgments.concatenate([some().take(np.array([1])), some()])
    assert columns(both, "item", "score", "failure") == [("b", None, Failure.REFUSED), *columns(some(), "item", "score", "failure")]
    assert len(Judgments.from_rows([])) == 0 and len(Judgments.concatenate([Judgments.from_rows([]), some()])) == 3


@pytest.mark.parametrize("name", Judgments.COLUMNS)
def test_the_hash_is_of_everything_in_them(name: str) -> None:
    other = some()
    column = getattr(other, name)
    setattr(other, name, type(column).from_values([*list(column)[:-1], "something else"]))
    assert some().sha256 == some().sha256 != other.sha256


# In a data folder


TOML = 'id = "mine"\n[metrics.tone]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n'


@pytest.fixture
def folder(tmp_path: Path, library: Library) -> Callable[..., Dataset]:
    def load(toml: str = "", items: Any = ({"item_id": "a"},), labels: Any = (), judgments: Any = ()) -> Dataset:
        tables = {"items": [{"language": "en", "task": "t"} | row for row in items], "labels": labels, "judgments": judgments}
        for name, rows in tables.items():
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / "data.toml").write_text(toml + TOML)
        return load_folder(tmp_path, library, with_judgments=True)

    return load


LABEL = {"item_id": "p", "annotator_id": "x", "metric": "tone", "score": 1}


def test_rows_with_a_language_bring_their_items(folder: Callable[..., Dataset]) -> None:
    """A label's or a judgment's row stands for an item that is not among the items; the task is the folder's."""
    rows = {"labels": [LABEL | {"language": "ja"}], "judgments": [ROW | {"item_id": "q", "language": "cs"}, ROW]}
    data = folder('task = "pairs"\n', **rows)
    assert [(item.item_id, item.language, item.task, item.group) for item in data.items] == [
        ("a", "en", "t", "a"),
        ("p", "ja", "pairs", "p"),
        ("q", "cs", "pairs", "q"),
    ]
    assert data.judgments is not None and len(data.judgments) == 2 and len(data.labels) == 1


def test_an_item_that_is_there_stays_as_it_is(folder: Callable[..., Dataset]) -> None:
    data = folder('task = "pairs"\n', judgments=[ROW | {"language": "ja"}])
    assert [(item.item_id, item.language, item.task) for item in data.items] == [("a", "en", "t")]


@pytest.mark.parametrize(
    ("toml", "row", "words"),
    [
        ("", {"language": "ja"}, "labels.jsonl:1: a label of item 'p', which is not among the items"),
        ('task = "pairs"\n', {}, "labels.jsonl:1: a label of item 'p', which is not among the items"),
        ('task = "pairs"\n', {"language": "pt_br"}, "labels.jsonl:1: language 'pt_br' is not canonical; write 'pt-BR'"),
        ('task = "pairs"\n', {"language": "日本"}, "labels.jsonl:1: '日本' cannot be a language tag"),
    ],
    ids=["no task", "no language", "not canonical", "no tag"],
)
def test_an_item_that_cannot_be_brought_is_refused(folder: Callable[..., Dataset], toml: str, row: dict[str, Any], words: str) -> None:
    with pytest.raises(ContentError) as caught:
        folder(toml, labels=[LABEL | row])
    assert words in str(caught.value)


def test_the_folder_says_whether_rows_are_repeats(folder: Callable[..., Dataset]) -> None:
    data = folder('repeats = "rows"\n', judgments=[ROW, ROW])
    assert data.judgments is not None and list(data.judgments.repeat) == [0, 1]
    with pytest.raises(ContentError, match=r"judgments\.jsonl:2: 'j' has already judged"):
        folder(judgments=[ROW, ROW])


def test_the_group_is_under_the_key_that_the_folder_names(folder: Callable[..., Dataset]) -> None:
    data = folder('group = "doc"\n', items=[{"item_id": "a", "doc": "d", "group": "not this"}, {"item_id": "b"}])
    assert [item.group for item in data.items] == ["d", "b"]


def test_judgments_are_restricted_with_their_items(folder: Callable[..., Dataset]) -> None:
    data = folder(items=[{"item_id": "a"}, {"item_id": "b"}], judgments=[ROW, ROW | {"item_id": "b"}])
    part = data.only([data.by_id["b"]])
    assert part.judgments is not None and list(part.judgments.item) == ["b"]


@pytest.mark.parametrize(
    ("probs", "confidence"),
    [({"0": 0.1, "2": 0.9}, 0.9), ('{"0": 0.1, "2": 0.9}', 0.9), ({"0": 0.1, "1": 0.9}, 0.0), (None, None)],
)
def test_the_confidence_of_a_score_is_its_probability(path: Path, probs: Any, confidence: float | None) -> None:
    found = read(path, ROW | {"score": 2, "probs": probs}, ROW | {"item_id": "b", "score": None, "probs": probs})
    assert list(found.confidence) == [confidence, None]


@pytest.mark.parametrize("probs", [{"0": 1.5}, {"0": -0.1, "1": 1.1}, "nothing", '{"0": "x"}'])
def test_probabilities_that_are_none_are_refused(path: Path, probs: Any) -> None:
    assert "'probs' should hold" in refused(path, ROW | {"probs": probs})
