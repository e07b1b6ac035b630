"""What the browser of items is given: every judgment with its labels, each text once, and no more than a page can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.data.columns import CodedColumn
from harness.measure.compare import table_of_all
from harness.measure.judged_table import JudgedTable
from harness.measure.options import MeasureOptions
from harness.render.html import browser
from harness.render.html.browser import BrowserSource, chosen, items_json
from harness.runs import Evidence, JudgeWords
from tests.unit.measure.test_outcomes import judged, recorded

LABELS = {"a": [1, 1, 1], "b": [0, 0, 2], "c": [0, 1, 2]}


def some() -> JudgedTable:
    return table_of_all(
        recorded(LABELS, [judged("b", 1), judged("a", 1), judged("a", 2, variant="joint"), judged("c", None)]), MeasureOptions()
    )


def shown(found: JudgedTable, **other: Any) -> dict[str, Any]:
    return items_json([BrowserSource("r", found, np.arange(len(found)), **other)])


def column(rows: dict[str, Any], name: str, many: int) -> list[Any]:
    codes = rows[name]["c"]
    return [None if code < 0 else rows[name]["v"][code] for code in ([codes] * many if isinstance(codes, int) else codes)]


def test_rows_stand_by_item_and_refer_to_it() -> None:
    data = shown(some())
    assert data["items"]["id"] == ["a", "b", "c"] and data["rows"]["item"] == [0, 0, 1, 2]
    assert column(data["rows"], "variant", 4) == ["single", "joint", "single", "single"]
    assert column(data["rows"], "outcome", 4) == ["right", "wrong", "wrong", "failed"]
    assert data["rows"]["judge"] == {"v": ["j"], "c": 0}, "a column of one value is one code"


def test_every_label_is_there_once() -> None:
    labels = shown(some())["labels"]
    given = list(zip(labels["item"], column(labels, "annotator", 9), column(labels, "score", 9), strict=True))
    assert sorted(given) == sorted((n, f"a{m}", score) for n, scores in enumerate(LABELS.values()) for m, score in enumerate(scores))


def test_evidence_goes_with_its_judgment() -> None:
    said = Evidence(
        CodedColumn.from_values(["B", "A", None, None]),
        CodedColumn((), np.full(4, -1, np.int32)),
        CodedColumn.from_values([JudgeWords("b"), JudgeWords("a"), JudgeWords("a"), JudgeWords("c", "cut")]),
    )
    rows = shown(some(), evidence=said)["rows"]
    assert column(rows, "justification", 4) == ["A", None, "B", None]
    assert column(rows, "reply", 4) == [["a", ""], ["a", ""], ["b", ""], ["c", "cut"]]


def test_two_sources_on_the_same_data_share_items_and_labels() -> None:
    one, other = some(), some()
    data = items_json([BrowserSource(name, each, np.arange(4)) for name, each in (("one", one), ("other", other))])
    assert data["items"]["id"] == ["a", "b", "c"] and len(data["labels"]["item"]) == 9 and len(data["rows"]["item"]) == 8
    assert sorted(column(data["rows"], "source", 8)) == ["one"] * 4 + ["other"] * 4


def test_long_texts_are_cut_and_say_so() -> None:
    reply = CodedColumn.from_values([JudgeWords("x" * 100_000)] * 4)
    empty = CodedColumn.empty(4)
    [[text, _]] = shown(some(), evidence=Evidence(empty, empty, reply))["rows"]["reply"]["v"]
    assert len(text) < 5_000 and text.endswith("(and 96,000 more characters)")


def test_texts_and_replies_that_do_not_fit_are_all_cut_at_one_length_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def made() -> dict[str, Any]:
        source = recorded(LABELS, [judged("a", 1), judged("b", 1)])
        for item in source.data.items:
            item.fields["output"] = "あ" * 1_000
        reply = CodedColumn((JudgeWords("b" * 1_500, ""),), np.zeros(2, np.int32))
        return shown(table_of_all(source, MeasureOptions()), evidence=Evidence(CodedColumn.empty(2), CodedColumn.empty(2), reply))

    whole = made()
    assert whole["shortened"] is None and whole["items"]["texts"][0][0][1] == "あ" * 1_000
    monkeypatch.setattr(browser, "_MOST_BYTES", 2 * 3 * 500 + 500)
    cut = made()
    assert cut["shortened"] == 500 and cut["items"]["texts"][0][0][1] == "あ" * 500 + " … (and 500 more characters)"
    assert cut["rows"]["reply"]["v"][0][0].endswith("(and 1,000 more characters)")


@pytest.mark.parametrize("most", [1, 2, 3, 4, 100])
def test_what_does_not_fit_is_left_out_by_whole_items_and_counted(most: int) -> None:
    found = some()
    [kept] = chosen([found], most)
    assert len(kept) <= most
    items = found.item
    assert all((items[kept] == item).sum() in (0, (items == item).sum()) for item in range(3))
    assert items_json([BrowserSource("r", found, kept)])["left"] == 4 - len(kept)
    assert kept.tolist() == chosen([some()], most)[0].tolist(), "the same ones each time"


def test_what_no_task_calls_a_text_is_about_the_item() -> None:
    source = recorded({"a": [1, 1]}, [judged("a", 1)])
    source.data.items[0].fields.update({"output": "Text.", "note": "About it.", "empty": " ", "number": 3})
    data = items_json([BrowserSource("r", table_of_all(source, MeasureOptions()), np.arange(1))], frozenset({"output"}))
    assert data["items"]["fields"] == ["output", "note"] and data["items"]["about"] == [0, 1]
    assert data["items"]["texts"] == [[[0, "Text."], [1, "About it."]]]


def test_the_judgments_that_numbers_rest_on_are_marked() -> None:
    source = recorded(LABELS | {"d": [1]}, [judged("a", 1), judged("b", 1), judged("c", 1), judged("d", 1)])
    data = shown(table_of_all(source, MeasureOptions()))
    assert column(data["rows"], "compared", 4) == [True, True, False, False], "no commonest class, one annotator"


def test_scales_say_where_scores_lie() -> None:
    assert shown(some())["scales"] == {"m": {"kind": "ordinal", "classes": [0, 1, 2], "positions": False, "low": 0.0, "high": 2.0}}
    assert shown(some())["titles"] == {"m": "m"}


def test_cards_tell_the_order_of_a_pair_and_the_other_numbers_of_a_text() -> None:
    asked = [judged("a", 1), judged("a", 2, order="swapped", further_numbers="1 3")]
    data = shown(table_of_all(recorded({"a": [1, 1]}, asked), MeasureOptions()))
    assert column(data["rows"], "order", 2) == [None, "swapped"]
    assert column(data["rows"], "further_numbers", 2) == [None, "1 3"]


def test_judges_of_the_first_screen_come_first_and_plain_conditions_before_others() -> None:
    given = [judged("a", 1, judge=name, variant=variant) for name, variant in (("x", "joint"), ("x", "single"), ("y", "single"))]
    found = table_of_all(recorded(LABELS, given), MeasureOptions())
    data = items_json([BrowserSource("r", found, np.arange(3))], judges=[(None, "y"), (None, "x")])
    assert [(own[1], own[-1]) for own in data["sides"]] == [
        ("y", "one metric a call"),
        ("x", "one metric a call"),
        ("x", "all metrics in one call"),
    ]
