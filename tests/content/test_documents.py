"""Documents that are generated are current, and every document speaks of files that exist."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def test_the_pages_of_the_command_line_are_current() -> None:
    pages = runpy.run_path(str(ROOT / "docs" / "make_cli.py"))["pages"]()
    docs = ROOT / "docs"
    written = {str(path.relative_to(docs)): path.read_text(encoding="utf-8") for path in (docs / "cli.md", *docs.glob("cli/*.md"))}
    assert written == pages, "run: python docs/make_cli.py"


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="signatures are written differently in every version")
def test_the_page_of_the_api_is_current_and_has_every_public_name() -> None:
    module = runpy.run_path(str(ROOT / "docs" / "make_api.py"))
    assert sorted(module["ORDER"]) == harness.__all__
    assert (ROOT / "docs" / "api.md").read_text(encoding="utf-8") == module["page"](), "run: python docs/make_api.py"


def test_the_page_of_columns_is_current() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "make_columns.py"))["page"]
    assert (ROOT / "docs" / "columns.md").read_text(encoding="utf-8") == page(), "run: python docs/make_columns.py"


def test_the_table_of_the_boards_page_has_what_the_boards_have() -> None:
    table = runpy.run_path(str(ROOT / "docs" / "make_boards.py"))["table"]()
    assert table in (ROOT / "docs" / "leaderboards.md").read_text(encoding="utf-8"), "run: python docs/make_boards.py"
    assert {row.count("|") for row in table.splitlines()} == {5} and "%" in table


def test_the_summary_of_error_rates_is_that_of_its_tables() -> None:
    page = (ROOT / "docs" / "error-rates.md").read_text(encoding="utf-8")
    table = runpy.run_path(str(ROOT / "docs" / "make_error_summary.py"))["table"](page)
    assert table in page, "run: python docs/make_error_summary.py"


def test_the_readme_opens_with_what_the_atlas_has() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    made = runpy.run_path(str(ROOT / "docs" / "make_atlas.py"))
    table = made["table"]()
    assert f"{made['counts']()}\n{table}" in readme, "run: python docs/make_atlas.py"
    assert len({row.count("|") for row in table.splitlines()}) == 1 and "✓ 2 ○ 1 comet-22" in table
    assert made["digest"]().encode() in (ROOT / "docs" / "figures" / "atlas.png").read_bytes(), "run: python docs/make_atlas.py"


def test_the_page_of_the_atlas_says_how_many_wrong_uses_to_expect_as_the_command_prints(cli: Callable[..., Any]) -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make_atlas.py"))
    assert made["languages"]() in (ROOT / "docs" / "atlas.md").read_text(encoding="utf-8"), "run: python docs/make_atlas.py"
    wrong = runpy.run_path(str(ROOT / "docs" / "make_atlas.py"))["wrong_use"]()
    assert wrong in (ROOT / "docs" / "atlas.md").read_text(encoding="utf-8"), "run: python docs/make_atlas.py"
    assert wrong.removeprefix("> ") in cli("atlas").out and "expected to have one" in wrong


def test_the_readme_shows_the_first_six_lines_of_what_other_pages_show_whole() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command, page, start in (
        (
            "make run",
            "getting-started.md",
            "without sending a text anywhere. It prints:\n\n```\n",
        ),
        ("harness compare pariksha", "decisions.md", "$ harness compare pariksha\n"),
    ):
        [shown] = re.findall(rf"```console\n\$ {command}\n(.*?)…\n```", readme, re.DOTALL)
        whole = (ROOT / "docs" / page).read_text(encoding="utf-8").partition(start)[2]
        assert shown.splitlines() == whole.splitlines()[:6]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("document", sorted({*ROOT.glob("docs/*.md")} - {ROOT / "docs" / "index.md"}), ids=lambda path: path.name)
def test_the_contents_of_a_page_lead_to_each_section_once(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    contents = text.splitlines()[2]
    assert contents.startswith("Contents: "), "the third line links to all sections, in the order in which a newcomer needs them"
    sections = re.findall(r"^## (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    assert sorted(re.findall(r"\[([^]]+)\]\(#([^)]+)\)", contents)) == sorted((title, anchor_of(title)) for title in sections)


def anchor_of(title: str) -> str:
    """The anchor that Git hosts give to a heading.

    >>> anchor_of("What can be proven, and what cannot")
    'what-can-be-proven-and-what-cannot'
    """
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_document_carries_a_path_of_somebodys_machine(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|work|tmp)/\w", text)
    assert f"{ROOT}/" not in text
