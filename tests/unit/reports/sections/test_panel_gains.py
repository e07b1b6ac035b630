"""A panel beside the best of its members, which is chosen on other texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.judges import Panel
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.model import Failure, Item, Judgment
from harness.reports.sections.section_registry import comparison_sections

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
