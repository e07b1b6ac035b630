"""Self-preference on hand-made comparisons whose numbers can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import ContentError
from harness.model import Item
from harness.studies.self_preference.analysis import OwnComparison, analyse_self_preference, read_own_comparisons

ITEMS = {
    name: Item(name, "cs", "summarize", group=group, system=system)
    for name, group, system in (
        ("t1/a", "t1", "a"), ("t1/b", "t1", "b"), ("t2/a", "t2", "a"), ("t2/b", "t2", "b"), ("t2/none", "t2", None), ("t1/a2", "t1", "a"),
    )
}  # fmt: skip


def compared(judge: str, other: str, question: str, confidences: list[float], flips: list[bool] | None = None) -> list[OwnComparison]:
    return [
        OwnComparison(judge, "cs", "", f"t{n}", judge, other, question, confidence, *((not flips[n], True) if flips else (None, None)))  # type: ignore[arg-type]
        for n, confidence in enumerate(confidences)
    ]


def test_means_flips_and_sums_are_those_of_the_rows() -> None:
    rows = [
        *compared("a", "b", "preference", [0.9, 0.7] * 5, flips=[True, False] * 5),
        *compared("b", "a", "preference", [0.6, 0.4] * 5),
        *compared("a", "b", "recognition", [0.8, 0.6] * 5),
    ]
    found = analyse_self_preference(rows)
    by_name = {(score["judge"], score["source"], score["question"]): score for score in found.pairwise}
    assert by_name["a", "*", "preference"]["confidence"] == pytest.approx(0.8)
    assert by_name["a", "b", "preference"]["ambiguous"] == 0.5 and by_name["a", "b", "preference"]["correct"] == 0.5
    assert by_name["b", "a", "preference"]["ambiguous"] is None, "the choices are not recorded"
    assert [(tau["judge"], tau["source"], tau["tau"]) for tau in found.kendall_tau] == [("a", "*", 1.0), ("a", "b", 1.0)]
    [mutual] = found.mutual
    assert mutual["judges"] == ("a", "b") and mutual["total"] == pytest.approx(0.8 + 0.5)
    assert found.line is None, "two points make no line"


def test_shares_of_single_scores_stand_beside_the_judges_own() -> None:
    rows = compared("a", "b", "preference", [0.5] * 8)
    single = [
        ("a", Item(f"t{n}/{s}", "cs", "summarize", group=f"t{n}", system=s), "quality", v)
        for n in range(8)
        for s, v in (("a", 3.0), ("b", 1.0))
    ]
    own, other = analyse_self_preference(rows, single).individual
    assert (own["source"], own["own"], own["share"]) == ("a", True, None)
    assert (other["source"], other["own"], other["share"], other["mean"]) == ("b", False, 0.75, 1.0)


def test_the_line_needs_three_points_and_has_an_interval_over_texts() -> None:
    rows = []
    for judge, shift in (("a", 0.0), ("b", 0.2), ("c", 0.4)):
        own = [0.3 + shift + 0.01 * (n % 4) for n in range(12)]
        rows += compared(judge, "human", "recognition", own) + compared(judge, "human", "preference", [2 * x - 0.4 for x in own])
    line = analyse_self_preference(rows).line
    assert line is not None and line.points == 3
    assert line.slope == pytest.approx(2) and line.slope_interval.lo == pytest.approx(2) == line.slope_interval.hi


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"item_id": "t1/a", "other_item_id": "t2/b"}, "different source texts"),
        ({"item_id": "t1/a", "other_item_id": "t1/a2"}, "both by 'a'"),
        ({"item_id": "t2/a", "other_item_id": "t2/none"}, "'t2/none' has no system"),
        ({"item_id": "t2/a", "other_item_id": "t9/b"}, "no item 't9/b'"),
        ({"score": 1.5}, "a probability from 0 to 1"),
        ({"forward": "3"}, "should be 1 (the first output) or 2"),
        ({"score": "high"}, "is 'high'; it should be a probability from 0 to 1"),
    ],
)
def test_a_row_that_compares_nothing_is_named_with_its_line(tmp_path: Path, row: dict[str, object], message: str) -> None:
    path = tmp_path / "judgments.jsonl"
    whole = {"item_id": "t1/a", "other_item_id": "t1/b", "judge": "a", "metric": "self_preference", "score": 0.5} | row
    path.write_text(json.dumps({"item_id": "t1/a", "judge": "a", "metric": "quality", "score": 3}) + "\n" + json.dumps(whole) + "\n")
    with pytest.raises(ContentError, match=r"judgments\.jsonl:2") as refused:
        list(read_own_comparisons(path, ITEMS))
    assert message in str(refused.value)


def test_an_undefined_tau_is_null_with_its_reason_and_shown_as_a_dash() -> None:
    from rich.console import Console

    from harness.studies.self_preference.commands import render_self_preference

    rows = compared("a", "b", "preference", [0.9, 0.7] * 5) + compared("a", "b", "recognition", [0.5] * 10)
    found = analyse_self_preference(rows)
    [overall, _] = found.as_json()["kendall_tau"]
    assert overall["tau"] is None and "the same for all pairs" in overall["undefined"]["tau"]
    console = Console(width=200)
    with console.capture() as captured:
        console.print(render_self_preference(found))
    assert "nan" not in captured.get() and "– tau of a, cs, *: one of the two confidences is the same for all pairs." in captured.get()


def test_a_line_through_points_of_one_recognition_is_undefined_with_its_reason() -> None:
    rows = [
        row
        for judge in "abc"
        for row in compared(judge, "human", "recognition", [0.5] * 9) + compared(judge, "human", "preference", [0.25] * 9)
    ]
    found = analyse_self_preference(rows).as_json()
    line = found["line"]
    assert [(point["judge"], point["recognition"], point["preference"]) for point in found["points"]] == [(j, 0.5, 0.25) for j in "abc"]
    assert line["slope"] is None is line["slope_ci"] and "same value" in line["reason"]


def test_intervals_of_probabilities_stay_between_nothing_and_all() -> None:
    [overall, _] = analyse_self_preference(compared("a", "b", "preference", [1.0] * 9 + [0.5])).pairwise
    low, high = overall["confidence_ci"]
    assert overall["source"] == "*" and high == 1.0 and low < 0.95
