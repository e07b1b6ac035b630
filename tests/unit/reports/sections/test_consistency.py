"""Repeats: the same score, the same words, and the entropy of what differs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from harness.model import Failure, Judgment

Find = Callable[..., dict[str, Any]]
Said = Callable[..., Judgment]
TheRow = Callable[..., dict[str, Any]]


def asked(said: Said, item: str, *answers: Any, words: Any = (), **other: Any) -> list[Judgment]:
    reasons = words or [None] * len(answers)
    return [said(item, answer, repeat=n, justification=reasons[n], **other) for n, answer in enumerate(answers)]


def test_by_hand(find: Find, the_row: TheRow, said: Said) -> None:
    """a: always 1; b: 0 0 1 1, one bit; c: a failure is an answer of its own; d: asked once."""
    judgments = [
        *asked(said, "a", 1, 1, 1, 1, words=["so", "so", "so", "so"]),
        *asked(said, "b", 0, 0, 1, 1, words=["so", "so", "so", "no"]),
        *asked(said, "c", 1, 1, 1, Failure.REFUSED, words=["so", "so", "so", None]),
        *asked(said, "d", 1),
    ]
    row = the_row(find(judgments)["consistency"]["rows"])
    of_c = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    assert (row["n"], row["repeats"], row["incomplete"]) == (3, 4, 1)
    assert row["same_score"] == pytest.approx(1 / 3) and row["same_justification"] == pytest.approx(1 / 3)
    assert row["entropy_bits"] == pytest.approx((0 + 1 + of_c) / 3)
    assert row["undefined"] == {f"{name}_ci": "too few independent texts" for name in ("same_score", "same_justification", "entropy_bits")}


@pytest.mark.parametrize("answers", [(1, 1), (Failure.REFUSED, Failure.REFUSED)], ids=["scores", "failures"])
def test_a_constant_judge_is_consistent(find: Find, the_row: TheRow, said: Said, answers: Any) -> None:
    judgments = [one for n in range(30) for one in asked(said, f"i{n}", *answers)]
    row = the_row(find(judgments)["consistency"]["rows"])
    assert (row["same_score"], row["entropy_bits"]) == (1.0, 0.0) and row["same_score_ci"][0] > 0.8


def test_two_kinds_of_failure_are_two_answers(find: Find, the_row: TheRow, said: Said) -> None:
    row = the_row(find(asked(said, "a", Failure.REFUSED, Failure.NOT_JSON))["consistency"]["rows"])
    assert row["same_score"] == 0.0


def test_without_words_only_scores_are_compared(find: Find, the_row: TheRow, said: Said) -> None:
    row = the_row(find(asked(said, "a", 1, 1))["consistency"]["rows"])
    assert row["same_justification"] is None and row["undefined"]["same_justification"] == "no justifications"


def test_metrics_of_one_language_are_pooled_beside_each_alone(find: Find, the_row: TheRow, said: Said, three: Any) -> None:
    judgments = [*asked(said, "a", 1, 1), *asked(said, "a", 0, 1, metric="o")]
    rows = find(judgments, scales={"m": three, "o": three})["consistency"]["rows"]
    assert the_row(rows, metric="*")["same_score"] == 0.5 and the_row(rows, metric="o")["same_score"] == 0.0


def test_temperatures_are_told_apart(find: Find, the_row: TheRow, said: Said) -> None:
    rows = find([*asked(said, "a", 1, 1), *asked(said, "a", 0, 1, temperature=1.0)])["consistency"]["rows"]
    assert (the_row(rows, temperature=0.0)["same_score"], the_row(rows, temperature=1.0)["same_score"]) == (1.0, 0.0)


def test_asked_once_there_is_no_consistency(find: Find, said: Said) -> None:
    assert "consistency" not in find([said("a", 1), said("a", 1, perturbation="truncate:0.1", repeat=1)])
