"""Reports in Markdown: names and sentences are text, whatever they hold."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measure.cells import Cell
from harness.render.markdown import escape, report_markdown
from harness.reports.run_report import Report

MakeCell = Callable[..., Cell]
MakeReport = Callable[..., Report]


@given(st.text(st.sampled_from("\\`*_[]<>|~$&#+=-1.) ab\n\r\x1b\u202e")))
def test_no_text_is_markup(text: str) -> None:
    shown = escape(text)
    bare = re.sub(r"\\.", "", shown)
    assert "\n" not in shown and not set("`*_[]<>|~$") & set(bare) and not re.match(r"[#+=-]|\d+[.)]", shown)


@pytest.mark.parametrize("text", ["http://x.y", "see www.x.y", "a@b.c"])
def test_nothing_becomes_a_link(text: str) -> None:
    assert not re.search(r"://|www\.|@", escape(text))


def test_every_row_of_a_table_has_its_columns(make_cell: MakeCell, make_report: MakeReport) -> None:
    cells = (make_cell(judge="a|b"), make_cell(judge="a|b", undefined=True, metric="x|y"))
    table = [line for line in report_markdown(make_report(*cells)).splitlines() if line.startswith("|")]
    assert len(table) == 4 and len({len(re.sub(r"\\.", "", line).split("|")) for line in table}) == 1
    assert "x\\|y" in table[-1] and "33 % \\[14–61\\]" in table[2]


def test_the_answer_stands_first_and_the_signature_last(make_report: MakeReport) -> None:
    text = report_markdown(make_report(unreviewed=("cs",)))
    assert text.index("Do not use") < text.index("| metric") < text.index("## Notes") < text.index("    judge:openai/one|data:d")
    assert "No native reader has reviewed these texts." in text and text.endswith("\n") and not text.endswith("\n\n")
