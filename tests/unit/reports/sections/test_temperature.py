"""Agreement by temperature: one by one, against the lowest, and the trend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.model import Failure, Judgment

Find = Callable[..., dict[str, Any]]
Said = Callable[..., Judgment]
TheRow = Callable[..., dict[str, Any]]
HEATS = (0.0, 0.5, 1.0)


def judged(said: Said, right: Callable[[int, int], bool], count: int = 40) -> list[Judgment]:
    """Labels are 1; the judge is right on item n at temperature step t where `right(n, t)`."""
    return [said(f"i{n}", int(right(n, step)), temperature=heat) for n in range(count) for step, heat in enumerate(HEATS)]


LABELS = {f"i{n}": 1 for n in range(40)}


def test_a_judge_that_falls_by_half(find: Find, the_row: TheRow, said: Said) -> None:
    """Always right at 0, on three items of four at 0.5, on every other one at 1: a slope of -1/2."""
    section = find(judged(said, lambda n, step: n % 4 >= step), LABELS)["temperature"]
    assert [the_row(section["rows"], temperature=heat)["pa"] for heat in HEATS] == [1.0, 0.75, 0.5]
    cold, hot = the_row(section["rows"], temperature=0.0), the_row(section["rows"], temperature=1.0)
    assert (hot["versus"], hot["diff"]) == (0.0, -0.5) and hot["diff_ci"][1] < 0 and hot["diff_q"] < 0.01
    assert cold["diff"] is None and cold["undefined"]["diff"] == "the lowest temperature"
    trend = the_row(section["trends"], temperature="*")
    assert trend["slope"] == pytest.approx(-0.5) and trend["slope_ci"][1] < 0 and trend["slope_n"] == 40
    assert trend["temperatures"] == [0.0, 0.5, 1.0] and trend["page_blocks"] == 20 and trend["page_p"] < 0.001
    assert "one-sided" in section["hypothesis"]


def test_a_judge_that_rises_does_not_fall(find: Find, the_row: TheRow, said: Said) -> None:
    trend = the_row(find(judged(said, lambda n, step: n % 4 < step + 1), LABELS)["temperature"]["trends"])
    assert trend["slope"] > 0 and trend["page_p"] > 0.9


def test_a_judge_that_heeds_no_temperature(find: Find, the_row: TheRow, said: Said) -> None:
    section = find(judged(said, lambda n, step: n % 2 == 0), LABELS)["temperature"]
    trend = the_row(section["trends"])
    assert trend["slope"] == pytest.approx(0) and trend["slope_p"] == 1.0
    assert trend["page_p"] is None and trend["undefined"]["page_p"] == "no variation between texts"
    assert the_row(section["rows"], temperature=1.0)["diff"] == 0.0


def test_two_temperatures_have_no_step_by_step(find: Find, the_row: TheRow, said: Said) -> None:
    judgments = [one for one in judged(said, lambda n, step: n % 4 >= step) if one.condition.temperature != 0.5]
    trend = the_row(find(judgments, LABELS)["temperature"]["trends"])
    assert trend["undefined"]["page_l"] == "fewer than three temperatures" or trend["undefined"]["page_l"] == "fewer than three conditions"
    assert trend["slope"] == pytest.approx(-0.5)


def test_repeats_of_an_item_count_once(find: Find, the_row: TheRow, said: Said) -> None:
    """Five repeats at 1, one at 0: the difference is of means over items, not of answers."""
    judgments = [said("a", 1), said("b", 1)]
    judgments += [said("a", 1, temperature=1.0, repeat=n) for n in range(5)] + [said("b", 0, temperature=1.0)]
    row = the_row(find(judgments, {"a": 1, "b": 1})["temperature"]["rows"], temperature=1.0)
    assert (row["diff"], row["diff_n"], row["pa"]) == (-0.5, 2, pytest.approx(5 / 6))


def test_a_failure_counts_as_wrong(find: Find, the_row: TheRow, said: Said) -> None:
    row = the_row(find([said("a", 1), said("a", Failure.REFUSED, temperature=1.0)], {"a": 1})["temperature"]["rows"], temperature=1.0)
    assert (row["diff"], row["pa"], row["pa_failed_wrong"]) == (-1.0, None, 0.0)


def test_one_temperature_is_no_ablation(find: Find, said: Said) -> None:
    other_judge = said("a", 1, temperature=1.0, judge="k")  # another judge's temperature is no second one of this
    assert "temperature" not in find([said("a", 1), other_judge], {"a": 1})
