"""The site of the boards: pages that keep to themselves, and in which nothing from a submission is markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from harness.boards.probes import Finding
from harness.render.html.boards import board_pages
from tests.unit.render.test_standings import EVIL, judge, made

FOUND = [Finding("twins", "openai/one", EVIL, {}, True)]


class Elements(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def of(self, *names: str) -> list[dict[str, Any]]:
        return [attributes for tag, attributes in self.tags if tag in names]


def test_there_is_an_index_and_a_page_for_each_board() -> None:
    pages = board_pages([(made(), FOUND), (made(board="other@2.0.0"), ())])
    assert list(pages) == ["index.html", "mini.html", "other.html"]
    assert [a["href"] for a in Elements(pages["index.html"]).of("a") if a["href"] != "#main"] == ["mini.html", "other.html"]


def test_a_page_has_a_policy_and_wants_nothing_from_elsewhere() -> None:
    for page in board_pages([(made(), ())]).values():
        elements = Elements(page)
        [policy] = [meta["content"] for meta in elements.of("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert not elements.of("img", "iframe", "object", "form")
        assert all(not link["href"].startswith(("http", "//")) for link in elements.of("a", "link"))


def test_every_language_has_its_place_and_every_table_can_be_sorted() -> None:
    page = board_pages([(made(), FOUND)])["mini.html"]
    elements = Elements(page)
    assert {h["id"] for h in elements.of("h2")} == {"all", "ja", "cs", "probes", "notes"}
    assert {a["href"][1:] for a in elements.of("a") if a["href"].startswith("#")} >= {"all", "ja", "cs", "probes", "notes"}
    assert len([t for t in elements.of("table") if "data-sort" in t]) == 3  # that of all languages has two rows
    assert 'data-value="0.8421"' in page
    assert '<span lang="ja">日本語</span>' in page


def test_nothing_from_a_submission_is_markup() -> None:
    clean = board_pages([(made(), [Finding("twins", "openai/one", "x", {}, True)])])["mini.html"]
    found = made(title=EVIL, description=EVIL, judges=(judge("openai/one", title=EVIL, status=EVIL), *made().judges[1:]))
    page = board_pages([(found, FOUND)])["mini.html"]
    assert [tag for tag, _ in Elements(page).tags] == [tag for tag, _ in Elements(clean).tags]
    assert not set(page) & set("\x1b\u202e\x00")
    assert len(re.findall("&lt;script&gt;", page)) >= 4


def test_pages_are_deterministic() -> None:
    assert board_pages([(made(), FOUND)]) == board_pages([(made(), FOUND)])
