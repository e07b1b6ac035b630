"""A cell with one row an item: repeats of an item together, beside its labels; and what a gate measures of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from harness.decide.gate_measurements import agreement_by_item, drop, is_evenly_asked
from harness.measure.compare import Recording, judged_tables
from harness.measure.item_table import ItemTable, item_tables
from harness.measure.options import MeasureOptions
from harness.model import Failure, Judgment, Scale

MakeRecording = Callable[..., Recording]
Judged = Callable[..., Judgment]


def cell_of(made: Recording, **options: Any) -> ItemTable:
    [judged] = judged_tables([made], MeasureOptions(**options))
    [cell] = item_tables(judged)
    return cell


@pytest.fixture
def repeated(make_recording: MakeRecording, judged: Judged) -> Recording:
    """`a` was asked three times, `b` once and `c`, whose annotators disagree, once."""
    answers = [judged("a", 1), judged("a", 1, repeat=1), judged("a", Failure.REFUSED, repeat=2), judged("b", 0), judged("c", 1)]
    return make_recording({"a": [1, 1], "b": [2, 2], "c": [0, 2]}, answers)


def test_the_repeats_of_an_item_are_one_row(repeated: Recording) -> None:
    cell = cell_of(repeated)
    assert cell.item_ids == ("a", "b", "c") and cell.asked.tolist() == [3, 1, 1]
    assert cell.answers.tolist() == [[0, 2, 0], [1, 0, 0], [0, 1, 0]]
    np.testing.assert_allclose(cell.hits, [2 / 3, 0, np.nan])
    np.testing.assert_allclose(cell.unread, [1 / 3, 0, 0])
    assert cell.right.tolist() == [True, False, False]


def test_under_strict_an_item_without_a_commonest_label_is_a_miss(repeated: Recording) -> None:
    np.testing.assert_allclose(cell_of(repeated, majority="strict").hits, [2 / 3, 0, 0])


def test_hits_are_those_of_the_table(repeated: Recording) -> None:
    [table] = judged_tables([repeated], MeasureOptions())
    for cell in item_tables(table):
        own = [table.hit[table.item == item] for item in cell.item.tolist()]
        np.testing.assert_allclose(cell.hits, [values.mean() for values in own])


def test_continuous_scores_have_no_hits(make_recording: MakeRecording) -> None:
    scores = {f"i{number}": [float(number), float(number)] for number in range(65)}
    scale = {"m": Scale(kind="interval", min=0, max=99)}
    cell = cell_of(make_recording(scores, {"i0": 0.0, "i1": 2.0}, scales=scale, asked=None))
    assert np.isnan(cell.hits).all() and cell.numbers is not None and cell.numbers[1].tolist() == [0.0, 2.0]


def test_an_item_weighs_the_same_however_often_it_was_asked(repeated: Recording) -> None:
    cell = cell_of(repeated)
    assert not is_evenly_asked(cell) and is_evenly_asked(cell.take(np.array([1, 2])))
    share = agreement_by_item(cell)
    assert (share.value, share.n) == (pytest.approx(1 / 3), 2)


def test_a_drop_is_measured_on_the_items_that_both_runs_have(make_recording: MakeRecording) -> None:
    labels = {name: [1, 1] for name in "abcd"}
    old = cell_of(make_recording(labels, {"a": 1, "b": 1, "c": 1}, asked=None))
    new = cell_of(make_recording(labels, {"b": 1, "c": 0, "d": 0}, asked=None))
    assert (drop(new, old).value, drop(new, old).n) == (0.5, 2)
