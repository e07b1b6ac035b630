"""What stands in a cell becomes the score that it plainly means, or is refused with a reason."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.exchange.labels.cell_scores import Unreadable, UnreadableScore, cell_score, id_text, require_flippable, reverse_score
from harness.exchange.labels.table_columns import read_score
from harness.model import Scale

ORDINAL = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
WORDS = Scale(kind="nominal", classes=("Good", "Bad"))
DIGITS = Scale(kind="ordinal", classes=("1", "2"))
INTERVAL = Scale(kind="interval", min=1, max=5, best=5)
OPEN = Scale(kind="interval")


@pytest.mark.parametrize(
    ("cell", "scale", "score"),
    [
        (2, ORDINAL, 2),
        (2.0, ORDINAL, 2),
        ("2", ORDINAL, 2),
        ("2.0", ORDINAL, 2),
        (" 2\u00a0", ORDINAL, 2),
        ("２", ORDINAL, 2),
        ("٢", ORDINAL, 2),
        ("+1", ORDINAL, 1),
        ("Good", WORDS, "Good"),
        (" Bad ", WORDS, "Bad"),
        (1, DIGITS, "1"),
        (2.0, DIGITS, "2"),
        ("2.0", DIGITS, "2"),
        ("2,5", INTERVAL, 2.5),
        ("2.5", INTERVAL, 2.5),
        ("3", INTERVAL, 3),
        ("2,500", INTERVAL, 2.5),
        (-1.5, OPEN, -1.5),
    ],
)
def test_a_cell_is_read_as_the_point_that_it_means(cell: Any, scale: Scale, score: Any) -> None:
    found = read_score(cell, scale)
    assert found == score and type(found) is type(score)


@pytest.mark.parametrize(
    ("cell", "scale", "score"),
    [
        ("good", WORDS, "Good"),
        ("2 – good", ORDINAL, 2),
        ("1/2", ORDINAL, 1),
        ("★★☆", ORDINAL, 2),
        ("2点", ORDINAL, 2),
        ("1 point", ORDINAL, 1),
    ],
)
def test_a_point_is_read_in_the_forms_of_a_judged_table(cell: str, scale: Scale, score: object) -> None:
    assert read_score(cell, scale) == score


@pytest.mark.parametrize(
    ("cell", "scale", "words"),
    [
        (3, ORDINAL, "'3' is not on the scale (0, 1, 2)"),
        ("1.5", ORDINAL, "'1.5' is not on the scale"),
        ("two", ORDINAL, "'two' is not on the scale"),
        ("1e0", ORDINAL, "not on the scale"),
        ("nan", INTERVAL, "not on the scale"),
        (float("nan"), INTERVAL, "not on the scale"),
        (float("inf"), OPEN, "not on the scale"),
        ("", ORDINAL, "the score is empty"),
        (None, ORDINAL, "the score is empty"),
        ("4/5", ORDINAL, "'4/5' is not on the scale"),
        ("2/5", ORDINAL, "'2/5' is not on the scale"),  # 2 of 5 is not the highest of 0 to 2
        (True, ORDINAL, "the truth value TRUE where a score should be"),
        ([1, 2], ORDINAL, "a list of 2 where one score should be"),
        ({"a": 1}, ORDINAL, "an object where one score should be"),
        (datetime.datetime(2024, 5, 1), ORDINAL, "Excel turned it into the date 2024-05-01; format the column as text"),
        (datetime.time(1, 30), ORDINAL, "Excel turned it into the time 01:30:00"),
        ("1-May", ORDINAL, "it looks like a date made by a spreadsheet program"),
        ("1,234", OPEN, "'1,234' may mean 1.234 or 1234; write it with a decimal point"),
        (Unreadable("the cell is merged"), ORDINAL, "the cell is merged"),
        ("x" * 1000, ORDINAL, "…' is not on the scale"),
        ("²", ORDINAL, "'²' is not on the scale (0, 1, 2)"),
        ("₂", ORDINAL, "is not on the scale"),
        ("①", ORDINAL, "is not on the scale"),
        ("1²", OPEN, "is not on the scale"),
        ("1½", OPEN, "is not on the scale"),
        ("9" * 400, OPEN, "…' is not on the scale"),
        ("9" * 400 + "/5", INTERVAL, "…' is not on the scale"),
        ("4/" + "9" * 400, INTERVAL, "…' is not on the scale"),
    ],
    ids=lambda value: str(value)[:20] if not isinstance(value, Scale) else value.kind,
)
def test_what_means_no_point_is_refused_with_the_reason(cell: Any, scale: Scale, words: str) -> None:
    with pytest.raises(UnreadableScore) as caught:
        read_score(cell, scale)
    assert words in str(caught.value) and len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("cell", "score"), [("Yes", 1), (" Yes ", 1), (True, 1), ("no", 0), (False, 0), (7, 2), (7.0, 2), ("2", 2)], ids=repr
)
def test_categories_come_first_and_know_truth_values(cell: Any, score: Any) -> None:
    assert read_score(cell, ORDINAL, {"Yes": 1, "no": 0, "true": 1, "FALSE": 0, "7": 2}) == score


@pytest.mark.parametrize(
    "cell", ["9" * 400, "-" + "9" * 400, "9" * 400 + ",5", "9" * 400 + " points", 10**400, 1e16, float("inf")], ids=repr
)
def test_a_number_that_is_too_large_for_a_score_is_none(cell: Any) -> None:
    assert isinstance(cell_score(cell), str)


@given(st.integers(0, 2))
def test_flipping_twice_changes_nothing_and_once_mirrors(score: int) -> None:
    assert reverse_score(reverse_score(score, ORDINAL), ORDINAL) == score
    assert reverse_score(score, ORDINAL) == 2 - score


def test_an_interval_is_flipped_around_its_middle() -> None:
    assert reverse_score(2, INTERVAL) == 4 and isinstance(reverse_score(2, INTERVAL), int)
    assert reverse_score(1.5, INTERVAL) == 4.5


@pytest.mark.parametrize(
    ("scale", "words"),
    [(Scale(kind="interval", max=5), "has no min"), (Scale(kind="nominal", classes=("a", "b", "c")), "3 classes have no order")],
)
def test_what_has_no_reverse_is_not_flipped(scale: Scale, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        require_flippable("m", scale)


@pytest.mark.parametrize(("cell", "text"), [("a ", "a"), (7, "7"), (7.0, "7"), (7.5, "7.5"), ("007", "007")], ids=repr)
def test_an_id_is_text_as_it_was_written(cell: Any, text: str) -> None:
    assert id_text(cell, "item id") == text


@pytest.mark.parametrize(
    "cell", [None, " ", True, ["a"], datetime.date(2024, 5, 1), Unreadable("merged"), float("nan")], ids=lambda cell: type(cell).__name__
)
def test_what_can_be_no_id_is_refused(cell: Any) -> None:
    with pytest.raises(UnreadableScore):
        id_text(cell, "item id")
