"""A comparison of translations in a real browser: errors of people and judges in the text, distances instead of right and wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.pages import Opened, chromium, opened
from tests.translation_folder import translation_items, write_translations

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]

TEXT = "Dům <b>číslo</b> 🏠 má zelené dveře."  # the sign takes two UTF-16 units


def place(words: str) -> dict[str, int]:
    return {"start": TEXT.index(words), "end": TEXT.index(words) + len(words)}


PEOPLE = [{"severity": "major", **place("zelené dveře")}, {"severity": "minor", "missing": True}]
JUDGE = [
    {"severity": "minor", "text": "dveře", "reason": "case", **place("dveře")},
    {"severity": "minor", "text": "okna", "unplaced": True, "reason": "<i>no</i>"},
]
AGAIN = [{"severity": "minor", **place("Dům")}]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """The page of a folder whose first text was marked by a person, a judge, and another person in a second round; that text is open."""
    from harness.cli import main

    folder = write_translations(tmp_path_factory.mktemp("marks"), translation_items(output=TEXT))
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]
    judgments = [{"item_id": row["item_id"], "judge": "j", "metric": row["metric"], "score": row["score"] - 2.5} for row in labels]
    judgments[1] |= {"score": None, "failure": "refused"}
    labels[0]["spans"], judgments[0]["spans"] = PEOPLE, JUDGE
    who = {"item_id": "0-long", "annotator_id": "iva"}
    tables: dict[str, list[dict[str, Any]]] = {"labels": labels, "judgments": judgments, "second_spans": [who | {"spans": AGAIN}]}
    tables["second_ratings"] = [who | {"annotator_id": "ota", "metric": "translation_quality", "score": 12}]
    for name, rows in tables.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert main(["compare", str(folder), "--html", str(folder / "page.html")]) == 0
    with chromium() as browser, opened(browser, folder / "page.html") as page:
        page.page.evaluate("location.hash = '#items?item=0-long'")
        page.page.wait_for_selector(".opened:not([hidden]) .judged-side")
        yield page


def test_errors_of_people_and_judges_are_marked_in_the_text(shown: Opened) -> None:
    """Each mark says who and how severe, by its line and in words; marks that overlap are one piece of both kinds."""
    text = shown.page.locator('.opened:not([hidden]) [data-field="output"]')
    assert text.inner_text() == TEXT and text.get_attribute("lang") == "cs"
    marks = text.locator("mark").evaluate_all("all => all.map(m => [m.textContent, m.className, m.title])")
    assert marks == [
        ["Dům", "error minor people", "iva: minor"],
        ["zelené ", "error major people", "eva: major"],
        ["dveře", "error major people judge", "eva: major, j: minor"],
    ]
    lines = text.locator("mark").evaluate_all(
        "all => all.map(m => [getComputedStyle(m).textDecorationStyle, getComputedStyle(m).textDecorationThickness])"
    )
    assert lines == [["solid", "1px"], ["solid", "3px"], ["solid", "3px"]]
    assert "solid line: people, dashed line: judges, thick: major" in shown.page.inner_text(".opened:not([hidden]) .item-side")


def test_the_same_errors_stand_in_words_beside_the_scores(shown: Opened) -> None:
    side = shown.page.inner_text(".opened:not([hidden]) .judged-side")
    assert "something is left out" in side and "(no such place in the text) <i>no</i>" in side
    assert side.index("People\n") < side.index("People, second round") < side.index("Judges")
    again = side[side.index("People, second round") : side.index("Judges")]
    assert "ota: 12" in again and "iva" in again and "Dům" in again and "no reference of a judge" in again


def test_the_source_is_in_its_own_language(shown: Opened) -> None:
    source = shown.page.locator('.opened:not([hidden]) [data-field="source"]')
    assert (source.get_attribute("lang"), source.get_attribute("dir")) == ("en", "auto")


def test_numbers_have_a_distance_and_are_neither_right_nor_wrong(shown: Opened) -> None:
    assert "−2.5 from people’s score" in shown.page.inner_text(".opened:not([hidden]) .card")
    assert "One person scored this text" in shown.page.inner_text(".opened:not([hidden]) .judged-side")
    rows = shown.page.inner_text("#browser")
    assert "(−2.5)" in rows and "✗" not in rows and "✓" not in rows and "! refused" in rows
    assert "Why no answer" in shown.page.inner_text("main")
    assert shown.said == [] and shown.elsewhere == []


@pytest.mark.needs("axe-core")
def test_axe_finds_nothing_serious(shown: Opened, axe_core: str) -> None:
    assert shown.serious(axe_core) == []
