"""Terminal tables in any width: no word is broken, no column is lost, wide letters count twice."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from harness.render.fitted_table import FittedTable
from harness.reports.tables.text_table import Heading, TextTable

HEADINGS = (
    Heading("metric", "metric", key=True),
    Heading("n", "n", number=True),
    *(Heading(f"c{number}", f"chance-corrected agreement {number} [95 %]") for number in range(6)),
    Heading("pairs", "person–person pairs", number=True),
)
NAMES = ("hallucinations", "linguistic acceptability", "流暢さ")


def drawn(names: tuple[str, ...] = NAMES, width: int = 80) -> str:
    rows = tuple((name, "1,240", *(["+10 [−6 to +14] ‡"] * 6), "62 %") for name in names)
    console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None)
    console.print(FittedTable(TextTable(HEADINGS, rows)))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_no_word_is_broken_and_no_column_is_lost(width: int) -> None:
    text = drawn(width=width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    for word in ("hallucinations", "linguistic", "acceptability", "流暢さ", "chance-corrected", "1,240", "person", "62 %"):
        assert word in text, word
    assert text.count("[−6 to +14] ‡") == 6 * len(NAMES)


def test_columns_without_room_go_on_below_with_the_names_of_the_rows() -> None:
    assert drawn(width=80).count("hallucinations") > 1
    assert drawn(width=250).count("hallucinations") == 1


def test_only_a_word_that_fits_nowhere_is_broken() -> None:
    text = drawn(("x" * 100, "物" * 60))
    assert "".join(text.split()).count("x") >= 100 and text.count("物") >= 60
    assert all(cell_len(line) <= 80 for line in text.splitlines())


def test_a_table_without_rows_shows_its_headings() -> None:
    assert "metric" in drawn(())


@pytest.mark.parametrize("width", [80, 100, 170])
def test_sentences_have_lines_of_several_words(width: int) -> None:
    sentence = "4 labelled texts, and 30 are needed: labels alone"
    headings = (Heading("system", "system", key=True), *HEADINGS[2:6], Heading("reason", "why not"))
    rows = tuple((f"model-{number}", *(["+10 [−6 to +14] ‡"] * 4), sentence) for number in range(12))
    console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None)
    console.print(FittedTable(TextTable(headings, rows), sentences=("reason",)))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert text.count("4 labelled texts, and 30") == len(rows) and text.count("are needed: labels alone") == len(rows)
    assert all(cell_len(line) <= width for line in text.splitlines())
