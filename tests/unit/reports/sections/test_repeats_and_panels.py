"""Repeats of one judge, several runs, and panels beside their members, against counts by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.judges import Panel
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.model import Failure, Item, Judgment
from harness.render.html.ablations import run_grids
from harness.reports import comparison
from harness.reports.sections.section_registry import comparison_sections, shown_sections

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


PANELS = {"panel/p": Panel(("a", "b", "c"))}
Right = Callable[[int], bool]


@pytest.fixture
def gains(make_data: Callable[..., Dataset], said: Callable[..., Judgment]) -> Callable[..., list[dict[str, Any]]]:
    """The rows of judges that are right where `right[judge](number)` says so, of 20 texts; the first ones are development items."""

    def run(right: Mapping[str, Right], development: int = 0) -> list[dict[str, Any]]:
        items = [
            Item(f"i{n}", "en", "open_prompt", "dev" if n < development else "test", f"g{n}", fields={"prompt": "p", "output": f"o {n}"})
            for n in range(20)
        ]
        data = make_data(items, {(item.item_id, "m"): [1] for item in items})
        given = [said(f"i{n}", 1 if fine(n) else 0, judge=judge) for judge, fine in right.items() for n in range(20)]
        found = comparison_sections(Recording("data", data, Judgments.from_rows(given), panels=PANELS), MeasureOptions(resamples=50))
        rows: list[dict[str, Any]] = found.get("panels", {}).get("rows", [])
        return rows

    return run


def test_the_best_member_is_chosen_on_development_items(gains: Callable[..., list[dict[str, Any]]]) -> None:
    """`a` is the best on the four development items and right on 8 of the other 16; the panel is right on all of these."""
    right: dict[str, Right] = {"a": lambda n: n < 12, "b": lambda n: n >= 4, "c": lambda n: n >= 4, "panel/p": lambda n: n >= 4}
    rows = gains(right, development=4)
    assert {row["metric"] for row in rows} == {"m", "*"} and {row["judge"] for row in rows} == {"panel/p"}
    for row in rows:
        assert (row["n"], row["groups"], row["best"], row["chosen_on"]) == (16, 16, "a", "development items")
        assert (row["panel_agreement"], row["best_agreement"], row["diff"]) == (1.0, 0.5, 0.5)
        assert row["diff_ci"][0] > 0 and row["diff_p"] < 0.05 and row["diff_q"] is not None


def test_without_development_items_it_is_chosen_on_the_other_texts(gains: Callable[..., list[dict[str, Any]]]) -> None:
    right: dict[str, Right] = {"a": lambda n: True, "b": lambda n: n % 2 == 0, "c": lambda n: n % 4 == 0, "panel/p": lambda n: n % 2 == 0}
    row = gains(right)[0]
    assert (row["n"], row["best"], row["chosen_on"]) == (20, "a", "other texts")
    assert (row["panel_agreement"], row["best_agreement"], row["diff"]) == (0.5, 1.0, -0.5)


def test_choosing_on_the_same_texts_would_flatter(gains: Callable[..., list[dict[str, Any]]]) -> None:
    """Each member is right on a third of the texts. None is better than another, but on all texts together one looks best by one text."""
    right: dict[str, Right] = {
        "a": lambda n: n % 3 == 0,
        "b": lambda n: n % 3 == 1,
        "c": lambda n: n % 3 == 2,
        "panel/p": lambda n: n % 3 == 0,
    }
    row = gains(right)[0]
    assert row["best_agreement"] < 7 / 20 == row["panel_agreement"]


def test_no_section_without_the_members(gains: Callable[..., list[dict[str, Any]]]) -> None:
    assert gains({"a": lambda n: True, "panel/p": lambda n: True}) == []


def test_undefined_where_no_text_was_judged_by_all(make_data: Callable[..., Dataset], said: Callable[..., Judgment]) -> None:
    item = Item("i", "en", "open_prompt", group="g", fields={"prompt": "p", "output": "o"})
    other = Item("k", "en", "open_prompt", group="h", fields={"prompt": "p", "output": "o"})
    data = make_data([item, other], {("i", "m"): [1], ("k", "m"): [1]})
    given = [said("i", 1, judge=judge) for judge in ("a", "b", "panel/p")] + [said("k", Failure.REFUSED, judge="c")]
    [row, _] = comparison_sections(Recording("data", data, Judgments.from_rows(given), panels=PANELS), MeasureOptions(resamples=50))[
        "panels"
    ]["rows"]
    assert row["n"] == 0 and row["best"] is None
    assert row["undefined"]["diff"] == row["undefined"]["panel_agreement"] == "no text that the panel and all members judged"
