"""The scale of a metric: what people's and a judge's numbers show, and what they do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.errors import UsageError
from harness.exchange.labels.table_columns import SourceColumn
from harness.exchange.one_table.scales import read_scale

PEOPLE = [1, 2, 3, 4, 5] * 6


def read(people: Sequence[Sequence[Any]], judges: Sequence[Sequence[Any]]) -> str:
    of_people, of_judges = (
        [SourceColumn(f"{side}{k}", list(cells)) for k, cells in enumerate(of_side)] for side, of_side in (("p", people), ("j", judges))
    )
    return read_scale("m", of_people, of_judges, None, pair=False).described


@pytest.mark.parametrize(
    ("people", "judges", "words"),
    [
        ([PEOPLE], [[score - 1 for score in PEOPLE]], "people 1 to 5, the judge 0 to 4 .* --recode 'j0:0..4=1..5' if .* 'j0:0..4=5..1' if"),
        ([PEOPLE], [PEOPLE, [(score - 1) / 4 for score in PEOPLE]], "the judge 0 to 1 .'j1'.*, or leave the column out: --drop 'j1'"),
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
    assert read_scale("m", [SourceColumn("p", cells)], [SourceColumn("j", cells[1:3] * 15)], None, pair=False).described == "minor < major"


@pytest.mark.parametrize(
    ("people", "judge", "classes", "best"),
    [
        (["Agree", "Neutral", "Strongly disagree"], ["agree", "neutral", "disagree"],
         ("Strongly disagree", "disagree", "Neutral", "Agree"), None),
        (["neg", "neu", "pos"], ["negative", "neutral", "positive"], ("neg", "neu", "pos"), "pos"),
        (["Good", "Excellent", "Poor"], ["good", "excellent", "poor"], ("Poor", "Good", "Excellent"), "Excellent"),
        (["no issue", "major", "minor"], ["no issue", "minor", "minor"], ("no issue", "minor", "major"), "no issue"),
        (["three", "one", "two"], ["one", "one", "three"], ("one", "two", "three"), "three"),
        (["high", "low", "low"], ["high", "low", "high"], ("low", "high"), None),
        (["良い", "普通", "悪い"], ["良い", "良い", "悪い"], ("悪い", "普通", "良い"), "良い"),
        (["rozhodně souhlasím", "spíše nesouhlasím"], ["spíše souhlasím", "spíše nesouhlasím"],
         ("spíše nesouhlasím", "spíše souhlasím", "rozhodně souhlasím"), None),
    ],
)  # fmt: skip
def test_words_of_a_known_scale_have_its_order(
    people: Sequence[str], judge: Sequence[str], classes: Sequence[str], best: str | None
) -> None:
    scale = read_scale("m", [SourceColumn("p", [*people] * 9)], [SourceColumn("j", [*judge] * 9)], None, pair=False).scale
    assert (scale.kind, scale.classes, scale.best) == ("ordinal", classes, best)


@pytest.mark.parametrize(
    "words",
    [
        ["red", "green", "blue"],
        ["agree", "neutral", "maybe"],  # a word of no known scale
        ["agree", "somewhat agree", "disagree"],  # two words of one step: which is the higher one?
        ["good", "sometimes", "agree"],  # words of several scales
    ],
)
def test_other_words_have_no_order(words: Sequence[str]) -> None:
    scale = read_scale("m", [SourceColumn("p", [*words] * 9)], [SourceColumn("j", [*words] * 9)], None, pair=False).scale
    assert (scale.kind, scale.best) == ("nominal", None)


def test_a_rare_other_word_of_the_judge_is_no_answer() -> None:
    people, judge = ["agree", "neutral", "disagree"] * 9, [*["agree", "neutral", "disagree"] * 9, "cannot say"]
    read_words = read_scale("m", [SourceColumn("p", people)], [SourceColumn("j", judge)], None, pair=False)
    assert read_words.scale.kind == "ordinal" and "cannot say" not in read_words.points
