"""A page holds everything that it needs and its policy forbids the rest; what is put into it stays text."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markupsafe import Markup

from harness.render.html.shell import asset, embedded, policy, shell
from harness.render.html.templates import grouped_digits, render, visible

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
    assert "script-src 'none'" in policy([asset("style.css")], [])


def test_the_title_is_text() -> None:
    page = shell("</title><script>x</script>", Markup(""))
    assert "<script>" not in page and "&lt;/title&gt;" in page


@pytest.mark.parametrize("name", ["style.css", *SCRIPTS])
def test_no_asset_asks_for_anything_or_ends_its_element(name: str) -> None:
    assert not re.search(r"https?:|@import|url\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", asset(name))


@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_embedded_json_reads_back_and_holds_no_markup(value: object) -> None:
    text = str(embedded({"value": value}))
    assert json.loads(text) == {"value": value} and not set("<>&") & set(text)


@given(st.text())
def test_nothing_in_a_visible_text_hides(text: str) -> None:
    shown = visible(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\u2028\u2029]", shown)
    assert visible(shown) == shown


@pytest.mark.parametrize("text", ["日本語、文", "שלום\u200f", "نص\u061c", "नी\u200dत\u200cि", "a\tb\nc", "👍🏽🇨🇿"])
def test_what_scripts_need_is_kept(text: str) -> None:
    assert visible(text) == text


def test_a_template_says_which_name_is_missing() -> None:
    with pytest.raises(UndefinedError, match="policy"):
        render("shell.html")


def test_thousands_are_told_apart() -> None:
    assert [grouped_digits(number) for number in (0, 999, 1000, 1234567)] == ["0", "999", "1\u202f000", "1\u202f234\u202f567"]
