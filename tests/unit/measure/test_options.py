"""What a comparison may be asked for, and how many annotators an item needs when nobody says."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.measure.options import ALWAYS, Annotators, MeasureOptions, annotators_needed


@pytest.mark.parametrize(("text", "least", "exactly"), [("3", 3, True), ("2+", 2, False), ("1+", 1, False), ("12", 12, True)])
def test_numbers_of_annotators_are_read_and_written(text: str, least: int, exactly: bool) -> None:
    assert Annotators.parse(text) == Annotators(least, exactly)
    assert str(Annotators(least, exactly)) == text


@pytest.mark.parametrize("text", ["", "0", "0+", "+", "-1", "2-", "two", "3 ", "2++", "1.5", "٣", "99999", "3\n"])
def test_anything_else_is_refused_with_what_would_be_right(text: str) -> None:
    with pytest.raises(UsageError, match="write 3 for exactly three, 2\\+ for two or more"):
        Annotators.parse(text)


@pytest.mark.parametrize(
    ("options", "most", "needed"),
    [
        (MeasureOptions(), 3, "2+"),
        (MeasureOptions(), 2, "2+"),
        (MeasureOptions(), 1, "1+"),
        (MeasureOptions(), 0, "1+"),
        (MeasureOptions(level="system"), 3, "1+"),
        (MeasureOptions(annotators=Annotators(3, True)), 5, "3"),
        (MeasureOptions(annotators=Annotators(2), level="system"), 1, "2+"),
    ],
    ids=lambda value: str(value) if not isinstance(value, MeasureOptions) else value.level,
)
def test_two_annotators_are_needed_unless_no_item_has_two_or_means_are_compared(options: MeasureOptions, most: int, needed: str) -> None:
    assert str(annotators_needed(options, most)) == needed


def test_cells_are_told_apart_by_what_they_always_name_and_the_temperature() -> None:
    assert MeasureOptions().by == (*ALWAYS, "temperature") == ("language", "task", "metric", "judge", "variant", "temperature")
    assert (MeasureOptions().majority, MeasureOptions().level, MeasureOptions().annotators) == ("drop", "item", None)
