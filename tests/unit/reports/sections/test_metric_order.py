"""Joint calls in both orders: how far scores move, and whether the metric named first drags the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.data.judgments import Judgments
from harness.model import Judgment, Scale
from harness.reports.sections.metric_order import order_of_calls

Find = Callable[..., dict[str, Any]]
Said = Callable[..., Judgment]
TheRow = Callable[..., dict[str, Any]]
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
