"""The level of systems: correlations of means as the statistics give them, and every other name null with its reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from harness import stats
from harness.content.specs import Asked
from harness.errors import UsageError
from harness.measure.cells import Cell
from harness.measure.compare import Recording, compare
from harness.measure.options import Annotators, MeasureOptions
from harness.measure.systems import CORRELATIONS, NOT_HERE
from harness.model import Failure, Judgment, Scale

MakeRecording = Callable[..., Recording]
Judged = Callable[..., Judgment]
FIVE = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)


def the_cell(made: Recording, **options: Any) -> Cell:
    [cell] = compare([made], MeasureOptions(level="system", **options)).cells
    return cell


@pytest.fixture
def graded(make_recording: MakeRecording) -> tuple[Recording, Any, Any, Any, Any]:
    """Twelve documents by five systems, two annotators, a judge that fails now and then; and the same as arrays."""
    rng = np.random.default_rng(3)
    system, document = np.tile(np.arange(5), 12), np.repeat(np.arange(12), 5)
    labels = np.clip(system[:, None] + rng.integers(0, 3, (60, 2)), 1, 5)
    judge = np.clip(system + rng.integers(-1, 3, 60), 1, 5)
    failed = rng.random(60) < 0.1
    places = {f"i{n}": {"system": f"s{system[n]}", "group": f"d{document[n]}"} for n in range(60)}
    answers = {f"i{n}": Failure.REFUSED if failed[n] else int(judge[n]) for n in range(60)}
    made = make_recording({f"i{n}": labels[n].tolist() for n in range(60)}, answers, scales={"m": FIVE}, places=places)
    return made, np.where(failed, np.nan, judge), labels.mean(axis=1), system, document


def test_the_correlations_are_those_of_the_statistics(graded: Any) -> None:
    made, judge, human, system, document = graded
    cell, expected = the_cell(made), stats.system_correlation(judge, human, system, document, paired=False)
    for name in CORRELATIONS:
        assert cell[name] == expected.estimate[name].value and name not in cell.undefined
        assert cell[f"{name}_ci"] == (expected.interval[name].lo, expected.interval[name].hi)
    assert (cell.n_ref, cell.n, cell.coverage, cell.groups) == (5, 5, 1.0, 12)
    assert cell.failures == {"refused": int(np.isnan(judge).sum())}


def test_systems_come_best_first_with_both_means(graded: Any) -> None:
    made, judge, human, system, _ = graded
    read = ~np.isnan(judge)
    expected = {f"s{s}": (human[system == s].mean(), judge[read & (system == s)].mean()) for s in range(5)}
    found = the_cell(made).systems
    assert found and [row["system"] for row in found] == sorted(expected, key=lambda name: -expected[name][0])
    for row in found:
        assert (row["human"], row["judge"]) == pytest.approx(expected[row["system"]])
        assert (row["human_items"], row["judge_items"]) == (12, int(read[system == int(row["system"][1:])].sum()))


def test_peoples_means_are_over_what_the_judge_was_asked_and_it_is_said_where_it_could_not_be_read(
    make_recording: MakeRecording, judged: Judged
) -> None:
    """A refused item counts for people and not for the judge; an item that was not asked about counts for nobody."""
    labels = {"a1": 1, "a2": 3, "a3": 5, "b1": 2, "b2": 4, "b3": 2}
    answers = [judged("a1", 1), judged("a2", Failure.REFUSED), judged("b1", 4), judged("b2", 4)]
    made = make_recording(labels, answers, scales={"m": FIVE}, places={name: {"system": name[0]} for name in labels}, asked=Asked("rows"))
    found = compare([made], MeasureOptions(level="system"))
    [cell] = found.cells
    assert cell.systems == [
        {"system": "b", "human": 3.0, "judge": 4.0, "human_items": 2, "judge_items": 2},
        {"system": "a", "human": 2.0, "judge": 1.0, "human_items": 2, "judge_items": 1},
    ]
    assert (cell.n_asked, cell.not_asked, cell.failures) == (4, 2, {"refused": 1})
    assert found.notes == (
        "Not asked, so neither right nor wrong (labelled items times metrics): j 2 of 6 in en.",
        "People's means rest on items without a readable score of j too (items times metrics): 1 of 4 in en.",
    )
    [everything] = compare([msgspec.structs.replace(made, asked=Asked("all"))], MeasureOptions(level="system")).cells
    assert everything.systems and [row["human_items"] for row in everything.systems] == [3, 3]
    assert (everything.n_asked, everything.not_asked, everything.failures) == (6, 0, {"missing": 2, "refused": 1})


def test_every_other_name_is_null_and_says_why(graded: Any) -> None:
    cell = the_cell(graded[0])
    others = {name for name in cell.values if name not in (*CORRELATIONS, "spa")}
    for name in others | {"distribution_labels", "distribution_judge", "distribution_by_agreement"}:
        assert cell[name] is None and cell.undefined[name] == NOT_HERE
    assert cell.undefined["vs_baseline"] == cell.vs_baseline["reason"] == NOT_HERE
    assert {cell.vs_baseline[name] for name in cell.vs_baseline if name != "reason"} == {None}


def test_one_annotator_is_enough_for_a_mean(make_recording: MakeRecording) -> None:
    places = {name: {"system": name} for name in "abc"}
    made = make_recording({"a": [1], "b": [2, 4], "c": [5]}, {"a": 1, "b": 2, "c": 3}, scales={"m": FIVE}, places=places)
    assert the_cell(made)["pearson"] == pytest.approx(1) and the_cell(made).n_ref == 3
    assert the_cell(made, annotators=Annotators(2)).n_ref == 1


def test_by_hand_three_systems_of_which_two_change_places(make_recording: MakeRecording) -> None:
    places = {name: {"system": name} for name in "abc"}
    cell = the_cell(make_recording({"a": 1, "b": 3, "c": 5}, {"a": 2, "b": 1, "c": 5}, scales={"m": FIVE}, places=places))
    assert cell["kendall_tau"] == pytest.approx(1 / 3) and cell["spearman"] == pytest.approx(0.5)
    assert cell.undefined["kendall_tau_ci"] == "too few independent texts"


@pytest.mark.parametrize(
    ("labels", "answers", "reason", "n"),
    [
        ({"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 2, "c": 2}, "constant raters", 3),
        ({"a": 1}, {"a": 2}, "fewer than two systems", 1),
        ({"a": 1, "b": 2}, {"a": 2, "b": Failure.REFUSED}, "fewer than two systems", 1),
        ({"a": 1, "b": 2}, {"a": Failure.REFUSED, "b": Failure.REFUSED}, "fewer than two systems", 0),
    ],
    ids=["one score", "one system", "one read", "none read"],
)
def test_without_an_order_of_systems_there_is_a_reason(
    make_recording: MakeRecording, labels: Any, answers: Any, reason: str, n: int
) -> None:
    cell = the_cell(make_recording(labels, answers, scales={"m": FIVE}, places={name: {"system": name} for name in labels}))
    assert (cell.n_ref, cell.n, cell.coverage) == (len(labels), n, n / len(labels))
    assert {cell[name] for name in CORRELATIONS} == {None} and {cell.undefined[name] for name in CORRELATIONS} == {reason}


def test_names_have_no_means(make_recording: MakeRecording) -> None:
    places = {name: {"system": name} for name in "ab"}
    cell = the_cell(
        make_recording({"a": "A", "b": "B"}, {"a": "A"}, scales={"m": Scale(kind="nominal", classes=("A", "B"))}, places=places)
    )
    assert {cell.undefined[name] for name in CORRELATIONS} == {"the scale has no order"} and cell["spearman_ci"] is None
    assert (cell.n_ref, cell.failures) == (2, {"missing": 1})


def test_classes_without_numbers_count_by_their_place(make_recording: MakeRecording) -> None:
    scale = Scale(kind="ordinal", classes=("bad", "fair", "good"), best="good")
    places = {name: {"system": name} for name in "abc"}
    cell = the_cell(
        make_recording({"a": "bad", "b": "fair", "c": "good"}, {"a": "bad", "b": "fair", "c": "good"}, scales={"m": scale}, places=places)
    )
    assert cell.systems and [row["human"] for row in cell.systems] == [2, 1, 0] and cell["pearson"] == pytest.approx(1)


def test_items_without_a_system_are_left_out(make_recording: MakeRecording) -> None:
    places = {"a": {"system": "s"}, "b": {"system": "t"}}
    assert the_cell(make_recording({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3}, scales={"m": FIVE}, places=places)).n_ref == 2


def test_cells_are_told_apart_as_at_the_level_of_items(make_recording: MakeRecording, judged: Judged) -> None:
    scores = {"a": 1, "b": 3, "c": 5}
    given = [judged(name, score if judge == "k" else 6 - score, judge=judge) for judge in "kj" for name, score in scores.items()]
    made = make_recording(scores, given, scales={"m": FIVE}, places={name: {"system": name} for name in scores})
    found = {cell["judge"]: cell["kendall_tau"] for cell in compare([made], MeasureOptions(level="system")).cells}
    assert found == {"j": -1, "k": 1} and list(found) == ["j", "k"]


@pytest.mark.parametrize(
    ("options", "places", "words"),
    [
        ({}, {}, "no item names a system; give items a 'system', or compare at the level of items"),
        ({"by": ("metric", "system")}, {"a": {"system": "s"}}, "a cell holds them all; leave system out of --by"),
        ({"by": ("language",)}, {"a": {"system": "s"}}, "at the level of systems metrics cannot be pooled; keep metric in --by"),
    ],
    ids=["no systems", "by system", "metrics pooled"],
)
def test_what_cannot_be_is_refused(make_recording: MakeRecording, options: Any, places: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        the_cell(make_recording({"a": 1}, {"a": 1}, places=places), **options)
