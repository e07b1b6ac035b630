"""Answers in the judge's own words: refusals, and answers with more than one score, by metric."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.measure.options import MeasureOptions
from harness.model import Failure, Item, Judgment
from harness.reports.sections.free_text import summarise_free_text
from tests.unit.made_judgments import made_judgment

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]


def said(
    item: str, score: int | None, further: str | None = None, *, metric: str = "m", variant: str = "single+text", **rest: Any
) -> Judgment:
    failure = rest.pop("failure", None if score is not None else Failure.REFUSED)
    own = {"repeat": 0, "raw_choice": None, "justification": None, "call_id": "c"} | rest
    same = {"language": "en", "task": "open_prompt", "judge": "j", "temperature": 0.0}
    return made_judgment(item_id=item, metric=metric, variant=variant, score=score, failure=failure, further_numbers=further, **same, **own)  # type: ignore[arg-type]


@pytest.fixture
def data(make_item: MakeItem, make_data: MakeData) -> Dataset:
    return make_data([make_item(name) for name in "abcd"], {})


def section(data: Dataset, *judgments: Judgment) -> dict[str, Any]:
    found = summarise_free_text(data, Judgments.from_rows(judgments), MeasureOptions())
    assert found is not None
    return found


def test_several_scores_and_refusals_are_counted_by_metric(data: Dataset) -> None:
    style = [said("a", None, metric="style"), said("b", None, metric="style", failure=Failure.MISSING)]
    found = section(data, said("a", 1), said("b", 2, "1 0"), said("c", 0, "2"), said("d", None), *style)
    rows = {row["metric"]: row for row in found["rows"] if (row["language"], row["task"]) == ("en", "*")}
    assert (rows["m"]["n"], rows["m"]["several_n"], rows["m"]["unreadable"]) == (4, 2, 1)
    assert (rows["m"]["several"], rows["m"]["refused"]) == (pytest.approx(2 / 3), 0.25)
    assert (rows["style"]["several"], rows["style"]["refused"], rows["style"]["unreadable"]) == (None, 0.5, 2)
    assert rows["style"]["undefined"]["several"] == "no answer has a score"


def test_answers_with_several_scores_are_shown_once_for_each_item(data: Dataset) -> None:
    found = section(data, said("c", 0, "2"), said("b", 2, "1 0"), said("b", 2, "1 0", repeat=1), said("a", 1))
    assert found["several"] == 3
    first = {"item": "b", "metric": "m", "judge": "j", "score": 2, "further_numbers": "1 0"}
    assert found["examples"] == [first, first | {"item": "c", "score": 0, "further_numbers": "2"}]


def test_other_variants_and_changed_texts_do_not_count(data: Dataset) -> None:
    others = [said("a", 1, variant="single"), said("b", 1, "2", perturbation="shuffle-words:0.1")]
    assert section(data, said("c", 1), *others)["rows"][0]["n"] == 1
    assert summarise_free_text(data, Judgments.from_rows(others), MeasureOptions()) is None
