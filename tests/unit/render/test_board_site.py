"""The site of the boards: pages that keep to themselves, and in which nothing from a submission is markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import msgspec

from harness.boards.probes import Finding
from harness.measure.board_ranking_by_scores import AnnotatorFigures
from harness.render.html.boards import board_pages, rank_track, verdict_grid
from tests.unit.render.test_standings import EVIL, ROWS, judge, made, table

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
    assert list(pages) == ["index.html", *(f"{name}{tag}.html" for name in ("mini", "other") for tag in ("", "-ja", "-cs"))]
    links = {a["href"] for a in Elements(pages["index.html"]).of("a") if not a["href"].startswith("#")}
    assert links == {"index.html", "mini.html", "other.html"}  # the header's, and those of the boards
    for name in ("mini", "other"):
        links = {a["href"] for a in Elements(pages[f"{name}.html"]).of("a")}
        assert {f"{name}-ja.html", f"{name}-cs.html", "index.html"} <= links


def test_the_index_says_where_numbers_come_from() -> None:
    """Scores of recorded judges have no replies that could be read again."""
    said = "Every number is computed again from raw replies, which are in the repository"
    assert f"{said}." in board_pages([(made(), ())])["index.html"]
    judges = (judge("openai/one", status="recorded"), *made().judges[1:])
    assert (
        f"{said}, or from published scores of 1 submission that was asked elsewhere."
        in board_pages([(made(judges=judges), ())])["index.html"]
    )


def test_people_come_first_and_boards_without_a_submission_are_only_named() -> None:
    """Constructed labels say nothing of people: their boards are checks behind the others, and an empty board has no place of its own."""
    people, empty = made(board="people@1.0.0", constructed=False), made(board="empty@1.0.0", judges=(), tables=(), overall=())
    index = board_pages([(made(), ()), (empty, ()), (people, ())])["index.html"]
    assert index.index("On people") < index.index('id="people"') < index.index("Sanity checks") < index.index('id="mini"')
    assert 'id="empty"' not in index and index.index("Without a submission yet") < index.index('href="empty.html"')


def test_verdicts_have_signs_and_the_number_that_decided(make_verdict: Any) -> None:
    odd = {"verdict": "do not use", "obstacles": ("base_worse",), "gap": 0.11, "base_diff": -0.12}
    verdicts = (
        make_verdict(language="ja", judge="openai/one", metric="style", verdict="use", obstacles=(), gap=0.02),
        make_verdict(language="cs", judge="openai/one", metric="style", **odd),
    )
    shown = dict(verdict_grid(made(constructed=False, verdicts=verdicts)))
    assert [(cell.style, cell.parts, cell.words) for [cell] in shown.values() if cell] == [
        ("good", (("good", "✓ +2"),), "use"),
        ("bad", (("bad", "✗ −12"),), "below a constant answer"),
    ]
    assert verdict_grid(made(constructed=True, verdicts=verdicts)) == [], "nobody may be used by constructed labels"


def test_a_page_has_a_policy_and_wants_nothing_from_elsewhere() -> None:
    for page in board_pages([(made(), ())]).values():
        elements = Elements(page)
        [policy] = [meta["content"] for meta in elements.of("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert not elements.of("img", "iframe", "object", "form")
        assert all(not link["href"].startswith(("http", "//")) for link in elements.of("a", "link"))


def test_every_link_leads_to_a_page_or_a_place() -> None:
    pages = board_pages([(made(), FOUND), (made(board="other@2.0.0"), ())])
    for page in pages.values():
        elements = Elements(page)
        places = {attributes["id"] for _, attributes in elements.tags if "id" in attributes}
        for link in elements.of("a"):
            assert link["href"].removeprefix("#") in places if link["href"].startswith("#") else link["href"] in pages


def test_every_language_has_a_page_with_tables_that_can_be_sorted() -> None:
    page = board_pages([(made(), FOUND)])["mini-ja.html"]
    elements = Elements(page)
    assert all("data-sort" in table for table in elements.of("table"))
    assert 'data-value="0.8421"' in page and '<span lang="ja">日本語</span>' in page
    assert [a["href"] for a in elements.of("a") if a["href"].startswith("mini-")] == ["mini-cs.html"]
    assert "<h1>openai/one is shown to beat a constant answer in Japanese</h1>" in page


def test_a_board_opens_with_its_answer_and_a_matrix_with_baselines_as_lines() -> None:
    page = board_pages([(made(), ())])["mini.html"]
    head, _, rest = page.partition('<main id="main">')
    assert "<h1>openai/one is shown to beat a constant answer in two of two languages</h1>" in head
    assert "openai/two is not shown to beat a constant answer in any of two languages." in head
    matrix = rest[: rest.index("</table>")]
    assert matrix.index("openai/one") < matrix.index("openai/two") < matrix.index("<bdi>constant answer")
    assert "baseline/majority" not in matrix and matrix.count("reference") == 1
    assert "▲</span> better" in matrix and "○</span> unknown" in matrix


def test_ranks_and_costs_are_drawn_and_said_in_words() -> None:
    page = board_pages([(made(), ())])["mini.html"]
    assert "<title>place 1 of 2 in Japanese, between 1 and 2</title>" in page
    people = AnnotatorFigures(0.74, (0.7, 0.78), 50)
    both = tuple(table(tag, people=people) for tag in ("ja", "cs"))
    overall = tuple(msgspec.structs.replace(each, mean=0.7) for each in made().overall)
    cost = board_pages([(made(tables=both, overall=overall, constructed=False), ())])["mini.html"]
    assert (
        "openai/one: 70 %, 840 s for 1,000 judgments" in cost and ">60 % constant answer</text>" in cost and ">74 % people</text>" in cost
    )
    assert "people, leave-one-out" in cost


def test_with_more_languages_than_judges_they_are_the_rows_of_every_table() -> None:
    """Columns of 28 languages are wider than any window; the numbers stay the same."""
    tags = ("ja", "cs", "de", "fr")
    overall = tuple(msgspec.structs.replace(row, by_language=dict.fromkeys(tags, 0.71)) for row in made().overall)
    page = board_pages([(made(languages=tags, tables=tuple(map(table, tags)), overall=overall), ())])["mini.html"]
    for name in ("Ranks by judge and language", "Language by language"):
        drawn = page[page.index(f'<caption class="hidden">{name}') :]
        drawn = drawn[: drawn.index("</table>")]
        heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', drawn)
        assert "language" in heads[0] and "openai/one" in heads[1] and "openai/two" in heads[2], heads
        assert re.findall(r'<th scope="row">(?:<bdi>)?(\w+)', drawn) == ["Japanese", "Czech", "German", "French"]
    assert page.count(">71 %<") == len(tags) * len(overall)


def test_a_judge_without_a_cost_is_named_below_the_plot() -> None:
    judges = (judge("openai/one"), judge("baseline/majority"), judge("openai/two", spending={}))
    page = board_pages([(made(judges=judges), ())])["mini.html"]
    assert "openai/two: no mean over all languages" in page


def test_a_board_with_baselines_only_says_that_no_judge_was_submitted() -> None:
    rows = tuple(row for row in ROWS if row.judge.startswith("baseline/"))
    page = board_pages([(made(judges=(judge("baseline/majority"),), tables=(table(rows=rows),), overall=()), ())])["mini.html"]
    assert "<h1>No judge has been submitted yet</h1>" in page


def test_nothing_from_a_submission_is_markup() -> None:
    clean = board_pages([(made(), [Finding("twins", "openai/one", "x", {}, True)])])
    found = made(title=EVIL, description=EVIL, judges=(judge("openai/one", title=EVIL, status=EVIL), *made().judges[1:]))
    pages = board_pages([(found, FOUND)])
    assert list(pages) == list(clean)
    for name, page in pages.items():
        assert [tag for tag, _ in Elements(page).tags] == [tag for tag, _ in Elements(clean[name]).tags], name
        assert not set(page) & set("\x1b\u202e\x00")
        assert len(re.findall("&lt;script&gt;", page)) >= 2, name


def test_pages_are_deterministic() -> None:
    assert board_pages([(made(), FOUND)]) == board_pages([(made(), FOUND)])


def test_every_page_links_to_the_other_parts_of_the_site() -> None:
    pages = board_pages([(made(), FOUND)], {"Atlas": "../index.html"})
    for page in pages.values():
        assert '<a href="../index.html">Atlas</a>' in page and '<a href="index.html" aria-current="true">Boards</a>' in page


def test_the_picture_of_a_rank_does_not_grow_with_the_number_of_judges() -> None:
    """A page has one such picture for each judge: with a tick for each place it would grow with the square of the judges."""
    few, many, most = (len(rank_track(2, (1, 3), judges, "place 2")) for judges in (20, 200, 2000))
    assert many <= few and most <= few
    every = rank_track(2, (1, 3), 20, "place 2")
    assert every.count('y1="32%"') == 20


def test_the_table_of_a_language_has_few_columns_and_the_others_are_folded() -> None:
    """A row with everything about a judge was twice as wide as a window; what its card says is the same for all metrics."""
    page = board_pages([(made(), FOUND)])["mini-ja.html"]
    pooled, _, by_metric = page.partition('id="metrics"')
    opened, _, folded = pooled.partition('<details class="more">')
    assert len(Elements(opened[opened.index('id="all"') :]).of("th")) <= 6 + len(ROWS)
    assert "open weights" not in opened and "open weights" in folded and "open weights" not in by_metric.partition("How to read this")[0]
    assert "▲ better" in opened and "does not beat" not in page
