"""Differences of recognition and preference between languages, and before and after tuning, worked out by hand."""

from __future__ import annotations

import pytest

from harness.data import Dataset
from harness.data.labels import Labels
from harness.model import Item
from harness.studies.self_preference.analysis import OwnComparison
from harness.studies.self_preference.judge_answers import language_differences, tuning_differences


def compared(judge: str, language: str, confidences: list[float], other: str = "b") -> list[OwnComparison]:
    return [
        OwnComparison(judge, language, "", f"{language}{n}", "a", other, "preference", confidence)
        for n, confidence in enumerate(confidences)
    ]


def dataset(parallel: bool) -> Dataset:
    fields = [{"parallel_source": f"p{n}"} if parallel else {} for n in range(40)]
    items = tuple(Item(f"{tag}{n}", tag, "summarize", group=f"{tag}{n}", fields=fields[n]) for tag in ("cs", "ja") for n in range(40))
    return Dataset("d", items, Labels.from_rows(()), {})


def test_languages_are_compared_over_source_texts_that_both_have() -> None:
    rows = compared("a", "cs", [0.7, 0.9] * 20) + compared("a", "ja", [0.3, 0.4] * 20)
    [row] = language_differences(rows, dataset(parallel=True))
    assert row["languages"] == "cs - ja" and row["welch"] == pytest.approx(0.45) == row["paired"] and row["paired_n"] == 40
    assert row["paired_ci"][0] > 0 and row["paired_q"] < 0.05


def test_without_common_source_texts_there_is_no_paired_difference_and_a_reason() -> None:
    [row] = language_differences(compared("a", "cs", [0.7, 0.9] * 20) + compared("a", "ja", [0.3, 0.4] * 20), dataset(parallel=False))
    assert row["welch"] == pytest.approx(0.45) and row["paired"] is None and "parallel_source" in row["undefined"]["paired"]


def test_a_tuned_judge_is_compared_with_the_judge_before_on_the_same_pairs() -> None:
    rows = compared("new", "cs", [0.9] * 20 + [0.7] * 20) + compared("old", "cs", [0.5] * 39)
    [row] = tuning_differences(rows, {"new": "old"})
    assert (row["before_judge"], row["paired_n"]) == ("old", 39)
    assert row["before"] == pytest.approx(0.5) and row["after"] == pytest.approx((20 * 0.9 + 19 * 0.7) / 39)
    assert row["paired"] == pytest.approx(row["after"] - row["before"]) and row["paired_ci"][0] > 0


def test_a_tuned_judge_of_another_system_has_no_pair_in_common() -> None:
    [row] = tuning_differences(compared("new", "cs", [0.9] * 9) + compared("old", "cs", [0.5] * 9, other="c"), {"new": "old"})
    assert row["paired"] is None is row["before"] and "no pair" in row["undefined"]["paired"]


def test_a_tuned_judge_with_texts_of_its_own_stands_against_others_and_against_its_earlier_self() -> None:
    """Reverse causation: the new texts of the tuned judge beside those of the judge before, and both beside a third system."""

    def answers(judge: str, own: str, other: str, confidence: float) -> list[OwnComparison]:
        confidences = [confidence + (n % 3) / 100 for n in range(12)]
        return [OwnComparison(judge, "cs", "", f"cs{n}", own, other, "preference", value) for n, value in enumerate(confidences)]

    rows = [*answers("new", "new", "c", 0.8), *answers("new", "new", "old", 0.7), *answers("old", "old", "c", 0.5)]
    rows += answers("old", "old", "new", 0.4)
    by_against = {row["against"]: row for row in tuning_differences(rows, {"new": "old"})}
    assert by_against.keys() == {"other systems", "each other"}
    assert by_against["other systems"]["paired"] == pytest.approx(0.3) == by_against["each other"]["paired"]
    assert (by_against["each other"]["before"], by_against["each other"]["after"]) == (pytest.approx(0.41), pytest.approx(0.71))
    assert {row["paired_n"] for row in by_against.values()} == {12}
