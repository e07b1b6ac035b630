"""The first screen of every kind of page: its title, its cards and what to do next are seen at once, on a phone and on a desk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED_DATA
from tests.e2e.pages import chromium, opened
from tests.e2e.screens import PAGES, compared

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]
PUBLISHED = {"alttest", "hanna", "pariksha", "wmt24_esa"}
SCREENS = ((390, 844), (820, 900), (1440, 900))
FIRST = "h1, .answers:not([hidden] *, details *), .view:not([hidden]) > .next"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every page that the screenshots show, of published data as far as they are here."""
    made = {}
    for name, page in PAGES.items():
        if name in PUBLISHED or name == "rtp_lx":
            if not (SHARED_DATA / name).is_dir():
                continue
            page = compared(str(SHARED_DATA / name))
        made[name] = page(tmp_path_factory.mktemp(name))
    return made


@pytest.fixture(scope="module")
def browser(pages: dict[str, Path]) -> Iterator[Any]:
    """Started after the pages are made, as its driver keeps this thread's event loop to itself."""
    with chromium() as found:
        yield found


@pytest.mark.parametrize("name", PAGES)
def test_title_cards_and_next_step_are_within_the_first_screen(browser: Any, pages: dict[str, Path], name: str) -> None:
    if name not in pages:
        pytest.skip(f"needs the published set {name}")
    for width, height in SCREENS:
        with opened(browser, pages[name], width=width, height=height) as shown:
            bottom = "all => Math.max(...all.map(e => e.getBoundingClientRect().bottom))"
            assert shown.page.eval_on_selector_all(FIRST, bottom) <= height, (name, width)
            assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
            assert shown.said == []
