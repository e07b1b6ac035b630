"""Marked errors on the page: places in the text as it is shown, and the language of each text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.content import Library
from harness.data.columns import CodedColumn
from harness.data.dataset import load_folder
from harness.measure.compare import Recording, table_of_all
from harness.measure.options import MeasureOptions
from harness.model import ErrorSpan
from harness.render.html.browser import BrowserSource, items_json, shown_errors
from tests.unit.data.test_labels import with_errors


def shown(text: str, *errors: ErrorSpan) -> list[list[object]]:
    column = shown_errors(CodedColumn.from_values([errors]), [text])
    assert column["c"] == [0]
    return list(column["v"][0])


def test_places_count_as_the_script_of_the_page_reads_them() -> None:
    text = "a\x00😀b\u202ecd"  # the page shows ␀ for the first sign and ⟨U+202E⟩ for the other
    [[_, start, end, words, _]] = shown(text, ErrorSpan("minor", 3, 6))
    page = "a␀😀b⟨U+202E⟩cd".encode("utf-16-le")
    assert page[2 * start : 2 * end].decode("utf-16-le") == words == "b⟨U+202E⟩c"


def test_errors_without_a_place_keep_their_words() -> None:
    given = [ErrorSpan("minor", text="dog\x07"), ErrorSpan("major", missing=True), ErrorSpan("minor", 2, 99), ErrorSpan(text="?")]
    assert shown("cat", *given) == [
        ["minor", None, None, "dog␇", ""],
        ["major", None, None, "", ""],
        ["minor", None, None, "outside the text", ""],
        ["unreadable", None, None, "?", ""],
    ]


def test_rows_with_the_same_errors_of_one_text_share_them() -> None:
    mark = (ErrorSpan("minor", 0, 1),)
    column = shown_errors(CodedColumn.from_values([mark, None, (), mark, mark]), ["ab", "ab", "ab", "ab", "\x00b"])
    assert column["c"] == [0, -1, 1, 0, 2] and column["v"][1] == []
    assert shown_errors(CodedColumn.empty(3), ["", "", ""]) == {"v": [], "c": -1}


def test_the_browser_has_the_errors_of_people_and_judges_and_the_language_of_each_text(tmp_path: Path) -> None:
    quoted = {"severity": "major", "text": "okna", "reason": "wrong case"}
    data = load_folder(with_errors(tmp_path, {"severity": "minor", "start": 0, "end": 3}, judged=[quoted]), Library(), with_judgments=True)
    assert data.judgments is not None
    found = table_of_all(Recording("r", data, data.judgments), MeasureOptions())
    shown = items_json([BrowserSource("r", found, np.arange(len(found)))])
    assert shown["labels"]["errors"]["v"] == [[["minor", 0, 3, "Dům", ""]]] and shown["labels"]["errors"]["c"][:2] == [0, -1]
    assert shown["rows"]["errors"]["v"] == [[["major", None, None, "okna", "wrong case"]]]
    names = shown["items"]["fields"]
    texts = {names[field]: language for field, _, *language in shown["items"]["texts"][0]}
    assert texts["source"] == ["en"] and texts["output"] == []
