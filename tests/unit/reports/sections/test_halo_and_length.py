"""What scores go with: the length of the text, and metrics asked about together or in another order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.data.judgments import Judgments
from harness.model import Judgment, Scale
from harness.reports.sections.halo_and_length import order_of_calls

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


METRICS = ("quality", "acceptability", "safety")


def calls(said: Said, scores: Callable[[int, str], tuple[int, int, int]], count: int = 40) -> list[Judgment]:
    """`scores(item, order)` in the order of `METRICS`."""
    return [
        said(f"i{n}", score, metric=metric, variant="joint" if order == "forward" else "joint+reversed")
        for n in range(count)
        for order in ("forward", "reversed")
        for metric, score in zip(METRICS, scores(n, order), strict=True)
    ]


@pytest.fixture
def scales(three: Scale) -> dict[str, Scale]:
    return dict.fromkeys(METRICS, three)


def test_a_judge_that_follows_what_is_named_first(find: Find, the_row: TheRow, said: Said, scales: Any) -> None:
    """Forward, acceptability copies quality; reversed, it goes its own way."""

    def scores(n: int, order: str) -> tuple[int, int, int]:
        quality, own = n % 3, (n // 3) % 3
        return quality, quality if order == "forward" else own, n % 2

    drag = find(calls(said, scores), scales=scales)["metric_order"]["drag"]
    row = the_row(drag, metric="acceptability", first="quality")
    assert row["r_named_first"] == pytest.approx(1.0) and abs(row["r_named_last"]) < 0.2
    assert row["drag"] == pytest.approx(row["r_named_first"] - row["r_named_last"]) and row["drag_ci"][0] > 0 and row["drag_q"] < 0.05
    assert {(row["first"], row["metric"]) for row in drag} == {
        ("quality", "acceptability"),
        ("quality", "safety"),
        ("safety", "acceptability"),
        ("safety", "quality"),
    }


def test_a_judge_that_heeds_no_order(find: Find, the_row: TheRow, said: Said, scales: Any) -> None:
    section = find(calls(said, lambda n, order: (n % 3, (n // 3) % 3, n % 2)), scales=scales)["metric_order"]
    row = the_row(section["drag"], metric="acceptability", first="quality")
    assert row["drag"] == pytest.approx(0) and row["drag_p"] == 1.0
    moved = the_row(section["rows"], metric="quality")
    assert (moved["moved"], moved["changed"], moved["variant"], moved["versus"]) == (0.0, 0.0, "joint+reversed", "joint")


def test_scores_that_move(find: Find, the_row: TheRow, said: Said, scales: Any) -> None:
    """Reversed, every second quality is one point higher."""
    section = find(calls(said, lambda n, order: (int(order == "reversed" and n % 2), 1, 1)), scales=scales)["metric_order"]
    row = the_row(section["rows"], metric="quality")
    assert (row["moved"], row["changed"], row["n"]) == (0.5, 0.5, 40) and row["moved_ci"][0] > 0


def test_a_constant_score_has_no_correlation(find: Find, the_row: TheRow, said: Said, scales: Any) -> None:
    section = find(calls(said, lambda n, order: (1, n % 3, n % 2)), scales=scales)["metric_order"]
    row = the_row(section["drag"], metric="acceptability", first="quality")
    assert row["drag"] is None and row["undefined"]["drag"] == row["undefined"]["r_named_first"] == "constant scores"


def test_the_order_is_that_of_the_longest_forward_call(said: Said) -> None:
    """An item without a label on a metric was not asked it; the reversed call may stand first."""
    asked = [("a", "joint+reversed", "zyx"), ("a", "joint", "xz"), ("b", "single", "z"), ("b", "joint", "xyz")]
    judgments = [said(item, 1, metric=metric, variant=variant) for item, variant, metrics in asked for metric in metrics]
    assert order_of_calls(Judgments.from_rows(judgments)) == ["x", "y", "z"]


def test_one_order_is_no_ablation(find: Find, said: Said, scales: Any) -> None:
    judgments = [one for one in calls(said, lambda n, order: (1, 1, 1)) if str(one.condition.variant) == "joint"]
    assert "metric_order" not in find(judgments, scales=scales)


# Calls of their own, one call, one conversation


def asked(said: Said, scores: Callable[[int, str], tuple[int, int, int]], *variants: str, count: int = 60) -> list[Judgment]:
    """`scores(item, variant)` in the order of `METRICS`."""
    return [
        said(f"i{n}", score, metric=metric, variant=variant)
        for n in range(count)
        for variant in variants
        for metric, score in zip(METRICS, scores(n, variant), strict=True)
    ]


def test_a_judge_whose_scores_are_alike_in_a_conversation(find: Find, the_row: TheRow, said: Said, scales: Any) -> None:
    """Asked singly, the three metrics go their own ways; in a conversation, all have the score of the first."""

    def scores(n: int, variant: str) -> tuple[int, int, int]:
        return (n % 3,) * 3 if variant == "conversation" else (n % 3, (n // 3) % 3, (n // 9) % 2)

    section = find(asked(said, scores, "single", "joint", "conversation"), scales=scales)["metric_order"]
    assert {(row["variant"], row["versus"]) for row in section["halo"]} == {
        ("joint", "single"),
        ("conversation", "single"),
        ("conversation", "joint"),
    }
    row = the_row(section["halo"], metric="*", variant="conversation", versus="single")
    assert row["r_together"] == pytest.approx(1.0) and abs(row["r_versus"]) < 0.2 and row["n"] == 3 * 60
    assert row["halo"] == pytest.approx(row["r_together"] - row["r_versus"]) and row["halo_ci"][0] > 0 and row["halo_q"] < 0.05
    same = the_row(section["halo"], metric="*", variant="joint", versus="single")
    assert same["halo"] == pytest.approx(0)
    moved = the_row(section["rows"], metric="quality", variant="conversation", versus="single")
    assert (moved["moved"], moved["changed"], moved["n"]) == (0.0, 0.0, 60)
    assert "drag" not in section


def test_a_conversation_in_both_orders(find: Find, said: Said, scales: Any) -> None:
    section = find(asked(said, lambda n, v: (n % 3, (n + 1) % 3, n % 2), "conversation", "conversation+reversed"), scales=scales)
    assert {(row["variant"], row["versus"]) for row in section["metric_order"]["drag"]} == {("conversation+reversed", "conversation")}


def test_constant_scores_have_no_halo(find: Find, the_row: TheRow, said: Said, scales: Any) -> None:
    section = find(asked(said, lambda n, v: (1, 1, 1), "single", "joint"), scales=scales)["metric_order"]
    row = the_row(section["halo"], metric="*")
    assert row["halo"] is None and row["undefined"]["halo"] == "constant scores"


def test_one_metric_is_asked_alike_every_way(find: Find, said: Said, scales: Any) -> None:
    judgments = [said(f"i{n}", n % 3, metric="quality", variant=variant) for n in range(20) for variant in ("single", "joint")]
    assert "metric_order" not in find(judgments, scales=scales)
