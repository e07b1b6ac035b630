"""Choices between two texts: wins in the item's own order, what changes with the order, and pairs of equal texts."""

from __future__ import annotations

from typing import Any

import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.measure.options import MeasureOptions
from harness.model import Failure, Item, Judgment, Scale
from harness.reports.sections.pairs import summarise_pairs
from tests.unit.made_judgments import made_judgment

SCALE = Scale(kind="nominal", classes=("A", "B", "tie"), swap={"A": "B", "B": "A"})
SAME = {"language": "en", "task": "compare_responses", "metric": "preference", "judge": "j", "variant": "single", "temperature": 0.0}


def item(name: str, **fields: Any) -> Item:
    texts = {"output_a": f"{name} one", "output_b": f"{name} two", "system_a": "ann", "system_b": "bob"}
    return Item(name, "en", "compare_responses", group=name, fields=texts | fields)


def judged(name: str, choice: str | None, order: Any = "forward", repeat: int = 0, share_a: float | None = None) -> Judgment:
    failure = Failure.REFUSED if choice is None else None
    rest = {"raw_choice": None, "justification": None, "call_id": "c", "repeat": repeat}
    return made_judgment(item_id=name, score=choice, failure=failure, order=order, share_a=share_a, **SAME, **rest)  # type: ignore[arg-type]


def section(items: list[Item], judgments: list[Judgment]) -> dict[str, Any]:
    data = Dataset("made", tuple(items), Labels.from_rows([]), {"preference": SCALE})
    found = summarise_pairs(data, Judgments.from_rows(judgments), MeasureOptions())
    assert found is not None
    return found


def test_choices_count_for_their_system_and_ties_half() -> None:
    found = section([item("p"), item("q"), item("r")], [judged("p", "A"), judged("q", "B"), judged("r", "tie")])
    wins = {row["system"]: row["win_rate"] for row in found["systems"] if row["language"] == "en"}
    assert wins == {"ann": pytest.approx(0.5), "bob": pytest.approx(0.5)}


def test_a_judge_that_follows_the_place_is_ambiguous_everywhere() -> None:
    items = [item(str(n)) for n in range(10)]
    answers = [judged(str(n), choice, order) for n in range(10) for order, choice in (("forward", "A"), ("swapped", "B"))]
    row = section(items, answers)["rows"][0]
    assert (row["first_position"], row["ambiguous"], row["n"], row["pairs"]) == (1.0, 1.0, 20, 10)
    assert row["undefined"]["position"].startswith("separation")


def test_a_judge_that_follows_the_text_is_not() -> None:
    items = [item(str(n)) for n in range(10)]
    answers = [judged(str(n), "A", order) for n in range(10) for order in ("forward", "swapped")]
    row = section(items, answers)["rows"][0]
    assert (row["first_position"], row["ambiguous"]) == (0.5, 0.0)


def test_a_failure_is_counted_and_no_choice() -> None:
    row = section([item("p"), item("q")], [judged("p", None), judged("p", "A", "swapped"), judged("q", "A")])["rows"][0]
    assert (row["unreadable"], row["ambiguous"], row["undefined"]["ambiguous"]) == (1, None, "no pair was asked in both orders")


def test_equal_texts_are_named_and_count_nowhere_else() -> None:
    found = section([item("p"), item("same", output_b="same one")], [judged("p", "A"), judged("same", "A")])
    assert found["identical"] == ["same"] and (found["rows"][0]["n"], found["rows"][0]["identical"]) == (1, 1)


def test_confidence_is_the_mean_of_both_orders() -> None:
    answers = [judged("p", "A", share_a=0.9), judged("p", "B", "swapped", share_a=0.3), judged("p", "B", "swapped", 1, share_a=0.1)]
    rows = {row["system"]: row for row in section([item("p")], answers)["systems"] if row["language"] == "en"}
    assert rows["ann"]["confidence"] == pytest.approx(0.55) and rows["bob"]["confidence"] == pytest.approx(0.45)
    assert rows["ann"]["confidence_from"] == "token probabilities"


def test_repeats_that_agree_are_the_same_choice() -> None:
    answers = [judged("p", "A"), judged("p", "A", repeat=1), judged("q", "A"), judged("q", "B", repeat=1), judged("q", "B", "swapped")]
    assert section([item("p"), item("q")], answers)["rows"][0]["same_choice"] == 0.5


def test_items_that_name_no_systems_still_show_the_place() -> None:
    found = section([item("p", system_a=None, system_b=None)], [judged("p", "A")])
    assert found["systems"] == [] and found["rows"][0]["first_position"] == 1.0
    assert found["unnamed"] == ["p"]


def test_pairs_without_systems_are_named_beside_those_with_systems() -> None:
    items = [item("p"), item("half", system_b=""), item("same", output_b="same one", system_a=None)]
    found = section(items, [judged(one.item_id, "A") for one in items])
    assert (found["unnamed"], found["identical"]) == (["half"], ["same"]), "an equal pair compares no systems anyway"
    assert {row["system"]: row["n"] for row in found["systems"] if row["language"] == "en"} == {"ann": 1, "bob": 1}


def test_other_scales_have_no_pairs(make_item: Any, make_data: Any) -> None:
    data = make_data([make_item("i")], {"i": 1})
    one = made_judgment("i", "en", "open_prompt", "m", "j", "single", 0.0, 0, 1, None, None, None, "c")
    assert summarise_pairs(data, Judgments.from_rows([one]), MeasureOptions()) is None
