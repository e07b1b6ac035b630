"""The scale of a metric: what people's and a judge's numbers show, and what they do not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.errors import UsageError
from harness.exchange.labels.table import SourceColumn
from harness.exchange.one_table.scales import read_scale

PEOPLE = [1, 2, 3, 4, 5] * 6


def read(people: Sequence[Sequence[float]], judges: Sequence[Sequence[float]]) -> str:
    of_people, of_judges = (
        [SourceColumn(f"{side}{k}", list(cells)) for k, cells in enumerate(of_side)] for side, of_side in (("p", people), ("j", judges))
    )
    return read_scale("m", of_people, of_judges, None, pair=False).described


@pytest.mark.parametrize(
    ("people", "judges", "words"),
    [
        ([PEOPLE], [[score - 1 for score in PEOPLE]], "people 1 to 5, the judge 0 to 4 .* --recode 'j0:0..4=1..5' if .* 'j0:0..4=5..1' if"),
        ([PEOPLE], [PEOPLE, [(score - 1) / 4 for score in PEOPLE]], "the judge 0 to 1 .'j1'"),
        (
            [PEOPLE, [(score - 1) / 4 for score in PEOPLE]],
            [PEOPLE],
            "different scales of 'm': 'p1' 0 to 1, the others 1 to 5",
        ),
        ([[9, *PEOPLE]], [PEOPLE], "9 may mean that there is no answer"),
        ([[-1, 0, 1, 1, 0]], [[0, 1, 1, 1, 0]], "-1 may mean that there is no answer"),
        ([[0, *PEOPLE]], [PEOPLE], "0 may mean that there is no answer .*1 cell of 'm'.*: empty these cells; .* --scale m=0..5"),
        ([PEOPLE], [[0, *PEOPLE[1:]]], "0 may mean that there is no answer"),
    ],
)
def test_numbers_of_other_scales_and_codes_are_asked_about(
    people: Sequence[Sequence[float]], judges: Sequence[Sequence[float]], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        read(people, judges)


def test_numbers_of_one_scale_are_read() -> None:
    assert read([[-1, 0, 1, 1, 0]], [[0, -1, 1, 1, 0]]) == "-1 to 1"
    assert read([[7, 8, 9] * 5], [[7, 9, 8] * 5]) == "7 to 9"
    assert read([PEOPLE, [5] * 30], [[5] * 29 + [4]]) == "1 to 5"
    assert read([[0, *PEOPLE]], [[0, *PEOPLE]]) == "0 to 5"
    assert read([[0] * 5 + PEOPLE], [PEOPLE]) == "0 to 5"
    assert read([[0, *[1, 2, 3, 4] * 9]], [[1, 2, 3, 4, 3]]) == "0 to 4"


def test_a_word_that_may_be_a_class_or_no_answer_is_asked_about() -> None:
    cells = ["none", "minor", "major"] * 10
    with pytest.raises(UsageError, match="'none' on 'm' may be a class"):
        read_scale("m", [SourceColumn("p", cells)], [SourceColumn("j", cells[::-1])], None, pair=False)
    assert read_scale("m", [SourceColumn("p", cells)], [SourceColumn("j", cells[1:3] * 15)], None, pair=False).described == "major, minor"
