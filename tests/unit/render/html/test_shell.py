"""A page holds everything that it needs and its policy forbids the rest; what is put into it stays text."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from harness.html_pages import asset, policy
from harness.render import html
from harness.render.html.shell import grouped_digits, render, shell

ASSETS = Path(html.__file__).parent / "assets"

SCRIPTS = ("tables.js", "items.js")


def hashed(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_policy_names_exactly_the_style_and_the_scripts_that_are_in_the_page() -> None:
    page = shell("A title", Markup("<main id=main></main>"), scripts=SCRIPTS, data={"some": {"a": 1}})
    said = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert said
    rules = dict(rule.split(" ", 1) for rule in said[1].replace("&#39;", "'").split("; "))
    styles, programs = re.findall(r"<style>(.*?)</style>", page, re.S), re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(styles) == 1 and len(programs) == 2
    assert rules["style-src"] == f"'sha256-{hashed(styles[0])}'"
    assert rules["script-src"] == " ".join(f"'sha256-{hashed(program)}'" for program in programs)
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'" and rules["img-src"] == "data:"


def test_a_page_without_scripts_allows_none() -> None:
    assert "script-src 'none'" in policy([asset(ASSETS / "style.css")], [])


def test_the_title_is_text() -> None:
    page = shell("</title><script>x</script>", Markup(""))
    assert "<script>" not in page and "&lt;/title&gt;" in page


@pytest.mark.parametrize("name", ["style.css", *SCRIPTS])
def test_no_asset_asks_for_anything_or_ends_its_element(name: str) -> None:
    assert not re.search(r"https?:|@import|url\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", asset(ASSETS / name))


def test_a_template_says_which_name_is_missing() -> None:
    with pytest.raises(UndefinedError, match="policy"):
        render("shell.html")


def test_thousands_are_told_apart() -> None:
    assert [grouped_digits(number) for number in (0, 999, 1000, 1234567)] == ["0", "999", "1,000", "1,234,567"]
