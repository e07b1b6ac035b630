"""One judge in several runs: agreement over runs, and class shares apart from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.model import Failure, Judgment
from harness.render.html.ablations import run_grids
from harness.reports import comparison
from harness.reports.shown_sections import shown_sections

MakeRecording = Callable[..., Recording]
Judged = Callable[..., Judgment]
TRUTH = {f"i{number}": number % 3 for number in range(30)}
Sections = dict[str, Any]


@pytest.fixture
def sections(make_recording: MakeRecording, judged: Judged) -> Callable[..., Sections]:
    """The sections of runs by name: of each run what the judge says of number and label, or the answers of several judges by name."""

    def make(runs: dict[str, Any], **options: Any) -> Sections:
        labels = {item: [score, score] for item, score in TRUTH.items()}
        sources = []
        for name, answers in runs.items():
            by_judge = answers if isinstance(answers, dict) else {"j": answers}
            given = [
                judged(item, say(int(item[1:]), label), judge=judge) for judge, say in by_judge.items() for item, label in TRUTH.items()
            ]
            sources.append(make_recording(labels, given, name=name))
        found: Sections = dict(comparison.compare(sources, MeasureOptions(**{"resamples": 100, **options})).sections)
        return found

    return make


def right(number: int, label: int) -> int:
    return label


def turned(number: int, label: int) -> int:
    """The classes as often as before, but never the right one."""
    return (label + 1) % 3


def kind(number: int, label: int) -> Any:
    return 2 if number % 2 else label


def test_agreement_falls_and_the_class_shares_stay(sections: Callable[..., Sections]) -> None:
    found = sections({"old": right, "new": turned})
    rows = {row["source"]: row for row in found["runs"]["rows"]}
    assert (rows["old"]["agreement"], rows["new"]["agreement"], rows["new"]["diff"]) == (1.0, 0.0, -1.0)
    assert rows["new"]["diff_q"] is None or rows["new"]["diff_q"] < 0.05
    assert rows["old"]["diff"] is None and rows["old"]["undefined"]["diff"] == "the run that the others are compared with"
    shares = {row["source"]: row for row in found["run_shares"]["rows"]}
    for each in shares.values():
        assert list(each["shares"].values()) == pytest.approx([1 / 3] * 3)
    assert shares["new"]["margins_p"] > 0.9
    assert found["run_shares"]["title"] == "Class shares: no proof of agreement"


def test_the_run_that_versus_names_is_the_first(sections: Callable[..., Sections]) -> None:
    """`harness compare NEW --versus source=OLD` gives the sources in the order NEW, OLD."""
    found = sections({"new": kind, "old": right}, versus=("source", "old"))
    assert [row["source"] for row in found["runs"]["rows"]] == ["old", "new"]
    assert found["runs"]["rows"][1]["diff"] == pytest.approx(-1 / 3)
    assert found["run_shares"]["rows"][1]["margins_q"] < 0.05, "more of the best class"
    shown = {one.name: one for one in shown_sections(found)}
    assert "worse in 1 of 1" in shown["runs"].text and "a change in 1 of 1 tests" in shown["run_shares"].text
    [grid] = run_grids(shown["runs"])
    drawn = str(grid.rows[0][1][0])
    assert drawn.index("old: agreement 100 %") < drawn.index("new: agreement 67 %") and drawn.count('class="judge whisker"') == 2
    assert run_grids(shown["run_shares"]) == []


def test_only_judges_that_stand_in_several_runs(sections: Callable[..., Sections]) -> None:
    assert sections({"one": {"a": right}, "two": {"b": right}}) == {}
    found = sections({"one": {"a": right, "b": kind}, "two": {"a": kind}, "three": {"a": right}})
    assert [(row["judge"], row["source"]) for row in found["runs"]["rows"]] == [("a", "one"), ("a", "two"), ("a", "three")]


def test_unread_answers_count_as_wrong(sections: Callable[..., Sections]) -> None:
    found = sections({"one": right, "two": lambda number, label: Failure.REFUSED if number < 15 else label})
    row, share = found["runs"]["rows"][1], found["run_shares"]["rows"][1]
    assert (row["n"], row["agreement"], share["n"]) == (30, 0.5, 15)
