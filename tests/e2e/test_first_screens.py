"""The answer of every kind of page: seen at once on a phone and on a desk, alone on the first sheet of paper, a few keys from a text, and
there without JavaScript.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import RAW_DATA, SHARED_DATA
from tests.e2e.pages import chromium, opened
from tests.e2e.screens import PAGES, compared, harness
from tests.e2e.test_published_data import Origin

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]
PUBLISHED = {"alttest", "hanna", "pariksha", "wmt24_esa"}
FETCHED = "rtp_lx"  # of which only raw files are at hand
SCREENS = ((390, 844), (820, 900), (1440, 900))
WITH_TEXTS = [name for name in PAGES if name not in ("board", "atlas")]
FIRST = "h1, .answers:not([hidden] *, details *), .view:not([hidden]) > .next"


def needed(name: str) -> tuple[pytest.MarkDecorator, ...]:
    """What the page of this name needs."""
    what = "shared data" if name in PUBLISHED else "raw data" if name == FETCHED else None
    return (pytest.mark.needs(what),) if what else ()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every page that the screenshots show, of published data as far as they are here."""
    made = {}
    for name, page in PAGES.items():
        folder = tmp_path_factory.mktemp(name)
        if name == FETCHED and RAW_DATA.is_dir():
            with pytest.MonkeyPatch.context() as patch:
                fetch(patch, folder / "home")
                made[name] = page(folder)
        elif name in PUBLISHED and SHARED_DATA.is_dir():
            made[name] = compared(str(SHARED_DATA / name))(folder)
        elif name not in (FETCHED, *PUBLISHED):
            made[name] = page(folder)
    return made


def fetch(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Get the set from an origin on loopback, into a home that commands use from now on."""
    served = Origin(RAW_DATA)
    patch.setenv("HARNESS_DATA_MIRROR", served.url.removesuffix("/v1"))
    patch.setenv("HARNESS_DATA_HOME", str(home))
    try:
        harness("data", "get", FETCHED, "--yes")
    finally:
        served.close()


@pytest.fixture(scope="module")
def browser(pages: dict[str, Path]) -> Iterator[Any]:
    """Started after the pages are made, as its driver keeps this thread's event loop to itself."""
    with chromium() as found:
        yield found


def every(names: Iterable[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [pytest.param(name, marks=needed(name)) for name in names])


@every(PAGES)
def test_title_cards_and_next_step_are_within_the_first_screen(browser: Any, pages: dict[str, Path], name: str) -> None:
    for width, height in SCREENS:
        with opened(browser, pages[name], width=width, height=height) as shown:
            bottom = "all => Math.max(...all.map(e => e.getBoundingClientRect().bottom))"
            assert shown.page.eval_on_selector_all(FIRST, bottom) <= height, (name, width)
            assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
            assert shown.said == []


def printed(page: Any, to: Path) -> list[list[str]]:
    """The lines of each sheet of a page that is printed, without runs of blanks."""
    page.pdf(path=to, prefer_css_page_size=True)
    text = subprocess.run(["pdftotext", "-layout", str(to), "-"], capture_output=True, text=True, check=True).stdout
    return [[" ".join(line.split()) for line in sheet.splitlines() if line.strip()] for sheet in text.split("\f") if sheet.strip()]


@pytest.mark.needs("pdftotext")
@every(WITH_TEXTS)
def test_the_first_sheet_has_the_answer_alone_and_no_heading_ends_a_sheet(
    browser: Any, pages: dict[str, Path], name: str, tmp_path: Path
) -> None:
    rows = ".view :is(.verdicts, .rows) tbody:not(details *, [hidden] *) th"
    with opened(browser, pages[name]) as shown:
        title, about = (" ".join(shown.page.inner_text(part).split()) for part in ("h1", "details.part > summary > h2"))
        names = {text.split()[0] for text in shown.page.locator(f".answers b:not(details *, [hidden] *), {rows}").all_inner_texts()}
        headings = {" ".join(text.split()) for text in shown.page.locator("h2, h3, .field").all_text_contents()}
        first, second, *others = printed(shown.page, tmp_path / "page.pdf")
    on_first = " ".join(first)
    assert title in on_first and names and all(one in on_first for one in names)
    assert about.split(" · ")[0] in second[0], "what is no answer begins on the second sheet"
    assert "Language by language" not in on_first and "Every judgment" not in on_first
    assert [sheet[-1] for sheet in (first, second, *others) if sheet[-1].lstrip("▾▸ ") in headings] == []


@every(WITH_TEXTS)
def test_paper_has_one_size_of_type_below_its_headings(browser: Any, pages: dict[str, Path], name: str) -> None:
    sizes = """all => [...new Set(all.filter(e => e.checkVisibility() && !e.closest("svg, h1, h2, h3") && [...e.childNodes].some(
        node => node.nodeType === Node.TEXT_NODE && node.data.trim())).map(e => getComputedStyle(e).fontSize))]"""
    with opened(browser, pages[name]) as shown:
        shown.page.emulate_media(media="print")
        shown.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert len(shown.page.eval_on_selector_all("header *, main *", sizes)) == 1


@every(WITH_TEXTS)
def test_six_keys_lead_from_the_answer_to_a_text(browser: Any, pages: dict[str, Path], name: str) -> None:
    there = "document.activeElement.matches('.opener[aria-expanded=false], .veil:not([open]) > summary, .skip[href=\"#items\"]')"
    with opened(browser, pages[name]) as shown:
        text = shown.page.locator(".opened:not([hidden]) .item-side")
        pressed = []
        while len(pressed) < 6 and not text.count():
            pressed.append("Enter" if shown.page.evaluate(there) else "Tab")
            shown.page.keyboard.press(pressed[-1])
        text.wait_for(timeout=5000)  # a fold opens after the event of its key
        assert text.inner_text().strip(), pressed
        assert shown.said == []


@every(PAGES)
def test_without_javascript_only_the_texts_are_missing_and_no_control_is_dead(browser: Any, pages: dict[str, Path], name: str) -> None:
    controls = "button, input, select, textarea, a[href^='#lang='], .skip + .skip"
    with opened(browser, pages[name], scripts=False) as shown:
        assert shown.page.locator("h1").is_visible()
        assert [each for each in shown.page.locator(controls).all() if each.is_visible()] == []
        for part in shown.page.locator("details.part").all():
            if part.get_attribute("open") is None:
                part.locator("> summary").click()
        answer = shown.page.locator("main :is(table, .answers, .by-language):not([hidden] *, details:not(.part) *)").all()
        assert len(answer) > 1 and all(each.is_visible() for each in answer)
