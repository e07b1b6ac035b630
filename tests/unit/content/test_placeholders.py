"""Values stand where their names are, and are never read as templates themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.content.placeholders import fill_placeholders


def test_a_value_stands_where_its_name_is() -> None:
    assert fill_placeholders("{first}, then {second}", first="a", second="b") == "a, then b"
    assert fill_placeholders("{second}{first}{second}", first="a", second="b") == "bab"
    assert fill_placeholders("nothing", first="a") == "nothing"


@pytest.mark.parametrize("template", ["{", "}", "{}", "{ first }", "{First}", "{first!r}", "{first", "{{other}}", "{0}", '{"score": 1}'])
def test_what_stands_in_braces_and_is_no_value_stays(template: str) -> None:
    assert fill_placeholders(template, first="a") == template


@pytest.mark.parametrize("value", ["{second}", "{first}", "{", "}", "{}", "%s", "\\1", "{first.__class__}"])
def test_values_are_never_read_as_templates(value: str) -> None:
    assert fill_placeholders("<{first}|{second}>", first=value, second="b") == f"<{value}|b>"


@given(st.text("{}ab"), st.text("{}ab"), st.text("{}ab"))
def test_putting_a_value_in_changes_nothing_else(before: str, value: str, after: str) -> None:
    assert fill_placeholders(f"{before}\0{{x}}\0{after}".replace("{a}", "").replace("{b}", ""), x=value).count("\0") == 2
    assert fill_placeholders(before + after, x=value) == before + after
