"""Answers under another condition: what no other section has a number of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.model import Failure, Judgment, Scale

Find = Callable[..., dict[str, Any]]
Said = Callable[..., Judgment]
TheRow = Callable[..., dict[str, Any]]
CHOICE = Scale(kind="nominal", classes=("A", "B"), swap={"A": "B", "B": "A"})


def test_names_in_the_headings_move_scores(find: Find, the_row: TheRow, said: Said) -> None:
    judgments = [said(f"i{n}", n % 2) for n in range(20)] + [said(f"i{n}", n % 2 + (n < 10), shown_source="correct") for n in range(20)]
    row = the_row(find(judgments)["answer_changes"]["rows"], axis="shown_source")
    assert (row["changed_to"], row["changed_from"]) == ("names of the systems", "no names")
    assert (row["n"], row["moved"], row["changed"]) == (20, 0.5, 0.5) and row["moved_q"] < 0.05


def test_choices_between_changed_texts_have_no_best_and_are_counted(find: Find, the_row: TheRow, said: Said) -> None:
    judgments = [said(f"i{n}", "A") for n in range(12)] + [said(f"i{n}", "AB"[n % 3 == 0], perturbation="typos:0.1") for n in range(12)]
    row = the_row(find(judgments, scales={"m": CHOICE})["answer_changes"]["rows"], axis="perturbation")
    assert (row["changed_to"], row["n"], row["moved"]) == ("typos:0.1", 12, None)
    assert row["changed"] == pytest.approx(4 / 12) and row["undefined"]["moved"] == "the scale has no best end"


def test_scores_of_changed_texts_stand_in_the_section_on_perturbations(find: Find, said: Said) -> None:
    judgments = [said(f"i{n}", 1) for n in range(12)] + [said(f"i{n}", 0, perturbation="typos:0.1") for n in range(12)]
    found = find(judgments)
    assert "perturbations" in found and "answer_changes" not in found


@pytest.mark.parametrize(
    ("condition", "words"),
    [({"temperature": 0.7}, "temperature 0.7"), ({"top_p": 0.9}, "top-p 0.9"), ({"variant": "joint"}, "joint")],
    ids=["temperature", "top-p", "variant"],
)
def test_without_labels_every_condition_has_a_number(find: Find, the_row: TheRow, said: Said, condition: Any, words: str) -> None:
    judgments = [said(f"i{n}", 1) for n in range(10)] + [said(f"i{n}", 2 if n else Failure.REFUSED, **condition) for n in range(10)]
    row = the_row(find(judgments)["answer_changes"]["rows"], changed_to=words)
    assert (row["n"], row["unreadable"], row["moved"], row["changed"]) == (9, 1, 1.0, 1.0)


def test_with_labels_the_sections_on_agreement_have_them(find: Find, said: Said) -> None:
    judgments = [said(f"i{n}", 1, temperature=t) for n in range(10) for t in (0.0, 1.0)]
    assert "answer_changes" not in find(judgments, {f"i{n}": 1 for n in range(10)})


def test_one_condition_has_no_change(find: Find, said: Said) -> None:
    assert "answer_changes" not in find([said(f"i{n}", 1) for n in range(10)])
