"""The first screen of every kind of page: its title, its cards and what to do next are seen at once, on a phone and on a desk."""

from __future__ import annotations

from collections.abc import Iterator
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


@pytest.mark.parametrize("name", [pytest.param(name, marks=needed(name)) for name in PAGES])
def test_title_cards_and_next_step_are_within_the_first_screen(browser: Any, pages: dict[str, Path], name: str) -> None:
    for width, height in SCREENS:
        with opened(browser, pages[name], width=width, height=height) as shown:
            bottom = "all => Math.max(...all.map(e => e.getBoundingClientRect().bottom))"
            assert shown.page.eval_on_selector_all(FIRST, bottom) <= height, (name, width)
            assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
            assert shown.said == []
