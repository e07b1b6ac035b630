"""What is put into a page stays text, shows what hides in it, and cannot end its element."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.html_pages import asset, embedded, policy, visible


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


def test_a_page_may_ask_the_one_place_that_its_policy_names() -> None:
    assert "connect-src" not in policy([], [])
    assert "; connect-src 'self'; " in policy([], [], connect="'self'")


def test_an_asset_that_could_end_its_element_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("x = '</script>'")
    with pytest.raises(ValueError, match=r"a\.js holds '</'"):
        asset(tmp_path / "a.js")
