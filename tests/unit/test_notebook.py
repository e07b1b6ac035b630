"""Reports and comparisons in a notebook: tables in which nothing from elsewhere is markup."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

import harness
from harness.decide.options import CompareOptions
from harness.decide.verdict_rule import Decision
from harness.notebook import NotebookComparison, comparison_html, report_html
from tests.judged_folder import judged_folder

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e&\"'"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> NotebookComparison:
    return harness.compare(judged_folder(tmp_path_factory.mktemp("data") / "made", labelled=0.9, noise=0.05))


def test_a_comparison_shows_verdicts_cells_notes_and_its_signature(compared: NotebookComparison) -> None:
    html = compared._repr_html_()
    assert html == comparison_html(compared) and html.count("<table>") == 3
    headings = re.findall(r"<p><b><bdi dir=.auto.>(.*?)</bdi></b></p>", html)
    assert headings == ["Japanese: model/one may be used for all 2 questions", "Verdicts", "Japanese · 日本語 (ja)"]
    assert "Signature: data:made@0" in html and html.count("<tr>") == html.count("</tr>") == 9
    assert '<th scope="col" style="text-align:right"><bdi dir="auto">texts</bdi>' in html


def test_verdicts_are_coloured_and_the_numbers_are_folded(compared: NotebookComparison) -> None:
    answer, folded = compared._repr_html_().split("<details><summary>All numbers</summary>")
    use = re.findall(r'<td style="text-align:left;background:([^"]+)"><bdi dir="auto">✓ use<', answer)
    assert len(use) == 2 and len(set(use)) == 1 and f"background:{use[0]};padding" in answer, "cells and the card have one colour"
    assert answer.count("<table>") == 1 and folded.count("<table>") == 2
    two = [
        msgspec.structs.replace(one, key=one.key | {"judge": "model/two"}, decision=Decision("do not use", "")) for one in compared.verdicts
    ]
    html = msgspec.structs.replace(compared, verdicts=(*compared.verdicts, *two))._repr_html_().split("<details>")[0]
    [matrix] = re.findall("<table>.*?</table>", html)
    shades = {sign: re.findall(rf';background:([^"]+)"><bdi dir="auto">{sign} ', matrix) for sign in "✓✗"}
    assert [len(found) for found in shades.values()] == [2, 2] and set(shades["✓"]).isdisjoint(shades["✗"])
    assert shades["✓"][0] == use[0] and "<p><small>" in html, "signs have a key"


def test_texts_from_elsewhere_are_escaped(compared: NotebookComparison) -> None:
    first, second = compared.cells[:2]
    other = tuple(msgspec.structs.replace(cell, key=cell.key | {"judge": name}) for cell, name in ((first, HOSTILE), (second, "plain")))
    html = msgspec.structs.replace(compared, cells=other, notes=(HOSTILE,), signature=HOSTILE)._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html and "<script" not in html
    assert "\x1b" not in html and "\u202e" not in html


def test_a_report_shows_its_verdicts_and_what_a_reader_must_know(tmp_path: Path) -> None:
    run = harness.run(harness.RunSpec(languages=("cs",), tasks=("summarize",), judges=("baseline/length",)), tmp_path)
    shown = harness.report(run)
    html = shown._repr_html_()
    assert html == report_html(shown) and "Control items (constructed labels)" in html and "No native reader has reviewed" in html
    assert "Signature of baseline/length: " in html and html.count("<table>") == 1
    assert harness.report(run) == shown  # the kept one is read into the same type
    hostile = msgspec.structs.replace(shown, title=HOSTILE, signatures={HOSTILE: HOSTILE})._repr_html_()
    assert "<script" not in hostile and hostile.count("&lt;script&gt;") == 3


def test_a_notebook_has_the_columns_that_people_use_and_all_on_request(compared: NotebookComparison) -> None:
    frame = compared.frame()
    assert list(frame["verdict"]) == ["use", "use"] and frame["texts"].gt(0).all() and len(frame.columns) < 20
    assert list(frame["agreement"]) == [cell["pa_failed_wrong"] for cell in compared.cells]
    assert len(compared.frame(full=True).columns) > 50
    assert compared.markdown().startswith("# ") and "\\toprule" in compared.latex()


def test_a_notebook_draws_the_answer(compared: NotebookComparison) -> None:
    pytest.importorskip("matplotlib")
    drawn = compared.figure()
    assert "model/one may be used for all 2 questions" in drawn._repr_svg_() and len(repr(drawn)) < 60
    with pytest.raises(harness.HarnessError, match="no verdict"):
        msgspec.structs.replace(compared, verdicts=()).figure()


def test_a_figure_is_saved_in_the_form_of_its_name(compared: NotebookComparison, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = compared.figure()
    assert figure.save(tmp_path / "answer.svg").read_text("utf-8") == figure.svg
    assert figure.save(str(tmp_path / "answer.pdf")).read_bytes().startswith(b"%PDF")
    with pytest.raises(harness.HarnessError, match="SVG, PDF or PNG"):
        figure.save(tmp_path / "answer.gif")


def test_one_key_to_group_by_may_be_a_text(tmp_path: Path, compared: NotebookComparison) -> None:
    where = {"metric": compared.cells[0]["metric"]}
    found = harness.compare(judged_folder(tmp_path / "made", labelled=0.9, noise=0.05), CompareOptions(by=("language",), where=where))
    assert [row["language"] for row in found.frame().to_dict("records")] == ["ja"]
