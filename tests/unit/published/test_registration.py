"""Every card with raw files has a converter, which pyproject.toml registers, and no converter is without a card."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import harness
from harness.content.library import Library
from harness.errors import ContentError
from tests.unit.published.releases import Release

ROOT = Path(harness.__file__).parent.parent
REGISTERED: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["harness.published"]


def test_cards_and_converters_belong_together() -> None:
    library = Library()
    cards = [library.dataset_card(name) for name in library.dataset_card_files]
    assert set(REGISTERED) == {card.id for card in cards if card.sources and card.mapping is None}
    assert any(card.mapping for card in cards)


@pytest.mark.parametrize("name", REGISTERED)
def test_a_converter_is_where_it_is_registered(name: str) -> None:
    assert REGISTERED[name] == f"harness.published.{name}:convert"
    assert callable(import_module(f"harness.published.{name}").convert)


def test_lines_are_split_at_line_feeds_only_and_keep_a_mark_at_the_start(release: Release) -> None:
    release.text("a.txt", "\ufeffone\u2028still one\x85\ntwo\n\n")
    assert release.raw().lines("a.txt") == ["\ufeffone\u2028still one\x85", "two", ""]
    assert release.raw().text("a.txt").startswith("one")


def test_lines_that_are_not_utf_8_are_named(release: Release, tmp_path: Path) -> None:
    release.text("a.txt", "")
    (tmp_path / "release" / "people+labels" / "a.txt").write_bytes(b"ab\xff")
    with pytest.raises(ContentError, match="not UTF-8 at byte 2"):
        release.raw().lines("a.txt")
