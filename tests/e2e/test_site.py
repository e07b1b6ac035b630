"""The site as `make site` builds it: documentation, atlas and boards lead to each other, fit a phone and a desk, and keep nobody out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.e2e.pages import chromium, opened

pytestmark = pytest.mark.slow

DOCUMENTATION = [f"docs/docs/{name}.html" for name in ("index", "ten-minutes", "decisions", "cli", "labels", "statistics", "atlas")]
PAGES = [*DOCUMENTATION, "index.html", "ja/index.html", "boards/index.html", "boards/controls.html", "boards/controls-ja.html"]


def build(goal: str, site: Path, doctrees: Path) -> str:
    """Make the goal in a folder of its own, and return what the link check says of it."""
    where = [f"BIN={Path(sys.executable).parent}", f"SITE={site}", f"DOCTREES={doctrees}"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # the tests may run below a make
    done = subprocess.run(["make", "--old-file=setup", goal, *where], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return checked(site).stdout


def checked(site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(ROOT / ".ci" / "site-check"), str(site)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def doctrees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("doctrees")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, doctrees: Path) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert " 0 dead" in build("site", folder, doctrees)
    return folder


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Any]:
    with chromium() as found:
        yield found


def test_the_documentation_alone_names_no_other_half(site: Path, doctrees: Path, tmp_path: Path) -> None:
    assert " 0 dead" in build("docs", tmp_path / "site", doctrees)
    shutil.copytree(site / "docs", tmp_path / "half" / "docs")
    done = checked(tmp_path / "half")
    assert done.returncode == 1 and "docs/docs/cli.html: ../../boards/index.html" in done.stdout  # of the whole site


def test_every_document_is_in_a_part_of_the_contents(site: Path) -> None:
    contents = (site / "docs" / "docs" / "index.html").read_text("utf-8")
    names = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert {name for name in names if f'href="{name}.html"' not in contents} == set()


@pytest.mark.needs("chromium")
def test_the_halves_lead_to_each_other(browser: Any, site: Path) -> None:
    with opened(browser, site / "docs" / "docs" / "cli.html", width=1440) as shown:
        for link, page in (("Atlas", "index.html"), ("Boards", "boards/index.html"), ("Docs", "docs/docs/index.html")):
            shown.page.get_by_role("link", name=link, exact=True).first.click()
            shown.page.wait_for_url((site / page).as_uri())
        assert shown.said == []


@pytest.mark.needs("chromium")
@pytest.mark.needs("axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", PAGES)
def test_pages_keep_nobody_out(browser: Any, site: Path, axe_core: str, name: str, width: int, scheme: str) -> None:
    with opened(browser, site / name, width=width, scheme=scheme) as shown:
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.said == [] and all(address.startswith(("file:", "data:")) for address in shown.asked)
        assert shown.serious(axe_core) == []  # axe itself asks for style sheets, which a page of a file may not read


@pytest.mark.needs("chromium")
def test_no_block_of_a_document_is_wider_than_its_column(browser: Any, site: Path) -> None:
    wide = "all => all.filter(block => block.scrollWidth > block.clientWidth + 1).length"
    for name in DOCUMENTATION:
        with opened(browser, site / name, width=1440) as shown:
            assert shown.page.eval_on_selector_all("article pre", wide) == 0, name


def test_a_document_has_no_line_of_contents_and_says_whose_it_is(site: Path) -> None:
    for name in DOCUMENTATION:
        page = (site / name).read_text("utf-8")
        assert "<p>Contents: " not in page and "contributors of harness" in page, name
        assert page.count('<nav class="site"') == 1
