"""Length of the text: what a judge makes of it beyond the label, beside what people make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.model import Judgment, Scale

Find = Callable[..., dict[str, Any]]
Said = Callable[..., Judgment]
TheRow = Callable[..., dict[str, Any]]
IDS = [f"i{n}" for n in range(40)]
PLACES = {name: {"output": "x" * (10 + n)} for n, name in enumerate(IDS)}


def test_a_judge_that_counts_characters(find: Find, the_row: TheRow, said: Said) -> None:
    """The longer texts of each label class get 2; people see no length."""
    labels = {name: n % 2 for n, name in enumerate(IDS)}
    row = the_row(find([said(name, 2 * (n >= 21)) for n, name in enumerate(IDS)], labels, places=PLACES)["length"]["rows"])
    # 20 items a class, 190 pairs of different lengths; 11 low and 9 high scores in one, 10 and 10 in the other, all concordant.
    assert row["tau_given_label"] == pytest.approx((99 / (190 * 99) ** 0.5 + 100 / (190 * 100) ** 0.5) / 2)
    assert row["tau_given_label_ci"][0] > 0.6
    assert row["tau"] > 0.6 and abs(row["human_tau"]) < 0.1


def test_a_judge_that_says_what_people_say(find: Find, the_row: TheRow, said: Said) -> None:
    """People like long texts; the judge repeats the label, so that nothing is left given the label."""
    labels = {name: int(n >= 20) for n, name in enumerate(IDS)}
    row = the_row(find([said(name, labels[name]) for name in IDS], labels, places=PLACES)["length"]["rows"])
    assert row["tau"] == row["human_tau"] > 0.6
    assert row["tau_given_label"] is None and row["undefined"]["tau_given_label"] == "constant scores"


def test_longer_is_worse_where_low_is_best(find: Find, the_row: TheRow, said: Said) -> None:
    scales = {"m": Scale(kind="ordinal", classes=(0, 1, 2), best=0)}
    labels = dict.fromkeys(IDS, 1)
    row = the_row(find([said(name, 2 * (n >= 20)) for n, name in enumerate(IDS)], labels, places=PLACES, scales=scales)["length"]["rows"])
    assert row["tau_given_label"] < -0.6


def test_tasks_are_not_compared_with_each_other(find: Find, the_row: TheRow, said: Said) -> None:
    """Long texts of one task, short ones of the other, and a judge that likes the former task: no correlation within either."""
    places = {name: {"output": "x" * (10 + n), "task": "summarize" if n >= 20 else "open_prompt"} for n, name in enumerate(IDS)}
    row = the_row(find([said(name, 2 * (n >= 20)) for n, name in enumerate(IDS)], dict.fromkeys(IDS, 1), places=places)["length"]["rows"])
    assert row["tau"] is None and row["undefined"]["tau"] == "constant scores"


def test_repeats_do_not_make_more_people(find: Find, the_row: TheRow, said: Said) -> None:
    labels = {name: int(n >= 20) for n, name in enumerate(IDS)}
    rows = [
        find([said(name, 1, repeat=n) for name in IDS for n in range(count)], labels, places=PLACES)["length"]["rows"] for count in (1, 3)
    ]
    assert the_row(rows[0])["human_tau"] == the_row(rows[1])["human_tau"] and the_row(rows[1])["human_tau_n"] == 40


@pytest.mark.parametrize("output", ["", None, 3], ids=["empty", "none", "a number"])
def test_without_outputs_there_is_no_length(find: Find, said: Said, output: Any) -> None:
    assert "length" not in find([said("a", 1)], {"a": 1}, places={"a": {"output": output}})


def test_without_labels_there_is_no_length(find: Find, said: Said) -> None:
    assert "length" not in find([said("a", 1)])
