"""Every card with raw files has a converter, the module with its name, and no converter is without a card."""

from __future__ import annotations

import csv
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from harness import plugins
from harness.content.library import Library
from harness.errors import ContentError, UsageError
from harness.published.fetch import GROUP, converters
from tests.unit.published.releases import Release

BUNDLED = {name: point for name, point in converters().items() if point.value.startswith("harness.")}


def test_cards_and_converters_belong_together() -> None:
    library = Library()
    cards = [library.dataset_card(name) for name in library.dataset_card_files]
    assert set(BUNDLED) == {card.id for card in cards if card.sources and card.mapping is None}
    assert any(card.mapping for card in cards)


@pytest.mark.parametrize("name", BUNDLED)
def test_a_converter_is_the_module_with_the_name_of_its_card(name: str) -> None:
    assert BUNDLED[name].value == f"harness.published.{name}:convert" and callable(BUNDLED[name].load())


def test_a_set_that_another_package_converts_too_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = EntryPoint("hanna", "theirs.hanna:convert", GROUP)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [theirs])
    plugins.registered.cache_clear()
    with pytest.raises(UsageError, match=r"'hanna' is registered twice: by harness\.published\.hanna:convert and by theirs\.hanna:convert"):
        converters()
    plugins.registered.cache_clear()


def test_lines_are_split_at_line_feeds_only_and_keep_a_mark_at_the_start(release: Release) -> None:
    release.text("a.txt", "\ufeffone\u2028still one\x85\ntwo\n\n")
    assert release.raw().lines("a.txt") == ["\ufeffone\u2028still one\x85", "two", ""]
    assert release.raw().text("a.txt").startswith("one")


def test_lines_that_are_not_utf_8_are_named(release: Release, tmp_path: Path) -> None:
    release.text("a.txt", "")
    (tmp_path / "release" / "people+labels" / "a.txt").write_bytes(b"ab\xff")
    with pytest.raises(ContentError, match="not UTF-8 at byte 2"):
        release.raw().lines("a.txt")


def test_a_cell_may_be_longer_than_csv_reads_unasked(release: Release) -> None:
    before = csv.field_size_limit()
    endless = "la " * before
    release.csv("a.csv", [["text", "score"], [endless, 1]])
    assert release.raw().table("a.csv") == [{"text": endless, "score": "1"}]
    assert csv.field_size_limit() == before
