"""The site of the atlas: every link leads somewhere, nothing is markup, and the search knows names in many languages."""

from __future__ import annotations

import json
import posixpath
import re
from datetime import timedelta

import msgspec
import pytest

from harness.judge_atlas.atlas import Atlas, AtlasJudge, BestOfLanguage, SetRanking
from harness.render.html import atlas_site as site
from harness.render.html.atlas_site import atlas_site, names_of
from tests.unit.judge_atlas.atlases import TODAY, about, atlas, row
from tests.unit.render.test_board_site import Elements
from tests.unit.render.test_standings import EVIL


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "_share_picture", lambda told: b"png")


def small() -> Atlas:
    rows = (row(), row(judge="a/B:c", verdict="do not use"), row(judge="a-b c"), row(language="pt-BR", verdict="not shown"))
    return atlas(*rows, sets={"two": about(languages=("ca",))})


def pages_of(made: Atlas, url: str = "") -> dict[str, str]:
    return {name: page for name, page in atlas_site(made, TODAY, url).items() if isinstance(page, str)}


def test_there_is_a_page_for_each_language_and_judge_and_every_link_leads_to_one() -> None:
    pages = pages_of(small())
    assert {name for name in pages if not name.startswith("judges/")} == {
        "index.html",
        *(f"{tag}/index.html" for tag in ("ca", "ja", "pt-BR", "rankings", "wanted")),
    }
    assert {name for name in pages if name.startswith("judges/")} == {f"judges/{slug}/index.html" for slug in ("a-b-c", "a-b-c-2", "gpt")}
    for name, page in pages.items():
        elements = Elements(page)
        places = {attributes["id"] for _, attributes in elements.tags if "id" in attributes}
        for link in elements.of("a"):
            target = link["href"].removesuffix("#search")
            assert (
                target[1:] in places
                if target.startswith("#")
                else posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) in pages
            )


def test_nothing_from_the_file_is_markup_or_a_path() -> None:
    evil = atlas(
        row(judge=EVIL, metric=EVIL, set=EVIL), judges={EVIL: AtlasJudge(source=EVIL)}, sets={EVIL: about(title=EVIL, licence=EVIL)}
    )
    best = (BestOfLanguage("ja", EVIL, 0.9, 0.95, 100), BestOfLanguage("ca", "gpt", 0.9, 0.95, 100))
    ranking = SetRanking(set=EVIL, quality=EVIL, metric=EVIL, judges=(EVIL, "gpt"), best=best, reversed=((EVIL, "gpt", "ja", "ca"),))
    pages = pages_of(msgspec.structs.replace(evil, rankings=(ranking,)))
    assert all(re.fullmatch(r"[\w./-]+", name) and ".." not in name for name in pages)
    for page in pages.values():
        elements = Elements(page)
        assert not elements.of("img", "b") or all("x.y" not in str(each) for each in elements.of("img"))
        assert "alert(1)" not in "".join(re.findall(r"<script>(.*?)</script>", page, re.DOTALL))
        assert "\x1b" not in page and "\u202e" not in page and "\x00" not in page


def test_pages_say_where_rankings_change_and_which_languages_are_wanted() -> None:
    best = (BestOfLanguage("ja", "new", 0.9, 0.95, 100), BestOfLanguage("ca", "old", 0.7, 0.6, 90))
    ranking = SetRanking(
        set="one", quality="harm", metric="insult", judges=("new", "old"), best=best, reversed=(("new", "old", "ja", "ca"),)
    )
    judges = {"new": AtlasJudge(released=TODAY - timedelta(days=100)), "old": AtlasJudge(released=TODAY - timedelta(days=1000))}
    made = atlas(row(judge="new"), row(judge="old", language="ca"), judges=judges, sets={"two": about(languages=("pt-BR",))})
    pages = pages_of(msgspec.structs.replace(made, rankings=(ranking,)))
    shown = " ".join(re.sub(r"<[^>]+>", "", pages["rankings/index.html"]).split())
    assert "In 1 of 1 ranking of judges on the same sets" in shown
    assert "new is shown better than old in Japanese and worse in Catalan: the ranking changes" in shown
    assert "Best: new in 1 of 2 languages (probability 95 %), old in 1 of 2 languages (probability 60 %)." in shown
    wanted = " ".join(re.sub(r"<[^>]+>", "", pages["wanted/index.html"]).split())
    assert "Catalan" in wanted and "the newest judge is of" in wanted and "no judge was asked yet" in wanted and "Japanese" not in wanted
    assert "harness labels import" in wanted


def test_a_page_keeps_to_itself_and_names_its_picture_only_where_it_has_an_address() -> None:
    for page in pages_of(small()).values():
        metas = {meta.get("property") or meta.get("http-equiv"): meta.get("content") for meta in Elements(page).of("meta")}
        assert metas["Content-Security-Policy"].startswith("default-src 'none'") and metas["og:title"] and "og:image" not in metas
    page = pages_of(small(), "https://example.org/atlas/")["ja/index.html"]
    [image] = [meta["content"] for meta in Elements(page).of("meta") if meta.get("property") == "og:image"]
    assert image == "https://example.org/atlas/ja/share.png" and b"png" in atlas_site(small(), TODAY).values()


def test_a_language_is_listed_without_a_script_and_found_by_its_names() -> None:
    page = pages_of(small())["index.html"]
    groups = re.findall(r'<h2>([^<]+)</h2>\s*<ul class="by-language">(.*?)</ul>', page, re.DOTALL)
    listed = {title: re.findall(r'<li data-tag="([^"]+)"><a href="([^"]+)"', group) for title, group in groups}
    assert listed == {
        "A judge that is served today may be used": [("ja", "ja/index.html")],
        "No judge is shown fit": [("pt-BR", "pt-BR/index.html")],
        "People's labels wait for a judge".replace("'", "&#39;"): [("ca", "ca/index.html")],
    }
    [names] = re.findall(r'<script type="application/json" id="language-names">(.*?)</script>', page)
    assert {"japanese", "日本語", "japonština", "japonais", "японский"} <= {*json.loads(names)["ja"]}
    assert len(names_of(small(), "ja")) > 50


def test_the_front_page_counts_judges_that_are_served_today_apart() -> None:
    gone = AtlasJudge(served_until=TODAY.replace(year=2025))
    every = atlas(row(), row(language="pt-BR", judge="old"), judges={"old": gone})
    page = pages_of(every)["index.html"]
    assert "In 1 of 2 languages a judge served today may be used for one metric or more." in page
    assert "In 1 more, only judges that are no longer served may be." in page
    assert re.findall(r'class="chip (\w+)"', page) == ["good", "gone"]
    page = pages_of(atlas(row(judge="old"), judges={"old": gone}))["index.html"]
    assert "In none of 1 language may a judge be used that is served today." in page


def test_a_language_without_a_verdict_has_no_empty_cards_and_a_judge_that_is_gone_is_marked_in_every_row() -> None:
    gone = {"old": AtlasJudge(served_until=TODAY.replace(year=2025))}
    pages = pages_of(atlas(row(judge="old"), row(language="pt-BR"), judges=gone))
    assert "Nothing." in pages["ja/index.html"] and "Nothing." not in pages_of(small())["ca/index.html"]
    assert "<bdi>no longer served</bdi>" in pages["ja/index.html"] and "<bdi>no longer served</bdi>" not in pages["pt-BR/index.html"]


def test_a_judge_that_is_gone_has_no_full_sign_on_any_page() -> None:
    rows = [row(judge="old"), row(judge="old", language="pt-BR"), row(judge="old", metric="bias", verdict="do not use", gap=-0.3)]
    gone = {"old": AtlasJudge(served_until=TODAY.replace(year=2025))}
    pages = pages_of(atlas(*rows, judges=gone))
    page = pages["judges/old/index.html"]
    assert "old is no longer served; it may be used for 2 of 3 questions, not for 1" in page
    assert page.count('<b class="gone">(✓)') == 2 and '<b class="good">' not in page and "use, no longer served" in page
    for name in ("judges/old/index.html", "ja/index.html"):
        assert not re.search(r"(?<!\()✓", str(pages[name]).partition("<main")[2].partition("</main>")[0]), name
    assert '<h2 class="plain">Use, no longer served</h2>' in pages["ja/index.html"]


def test_what_may_be_used_stands_first_in_the_row_of_a_language() -> None:
    rows = [row(verdict="not shown"), row(quality="", metric="tone")]
    page = pages_of(atlas(*rows))["index.html"]
    assert re.findall(r'class="chip (\w+)"', page) == ["good", "open"]


def test_how_a_judge_was_asked_stands_where_it_was_asked_in_several_ways() -> None:
    one = row(condition="released")
    page = pages_of(atlas(one, row(metric="bias", condition="released")))["ja/index.html"]
    assert "released</bdi>" not in page and "<bdi>gpt</bdi>" in page
    page = pages_of(atlas(one, row(condition="few-shot")))["ja/index.html"]
    assert "<bdi>gpt, as released</bdi>" in page and "<bdi>gpt, few-shot</bdi>" in page


def test_the_judge_stands_behind_the_metrics_that_it_may_be_used_for() -> None:
    page = pages_of(atlas(row(), row(metric="bias", verdict="do not use", gap=-0.3, obstacles="worse people")))["index.html"]
    [chip] = re.findall(r'<span class="chip split".*', page)
    words = " ".join(re.sub("<[^>]*>", "", chip).split())
    assert words.index("✓ 1") < words.index(row().judge) < words.index("✗ 1"), words


def test_what_is_against_some_metrics_stands_under_do_not_use() -> None:
    rows = [row(), row(metric="bias", verdict="do not use", gap=-0.3, obstacles="worse people"), row(metric="noise", verdict="not shown")]
    page = pages_of(atlas(*rows))["ja/index.html"]
    cards = dict(re.findall(r'<div class="(\w+)">\s*<h2 class="plain">[^<]+</h2>(.*?)</div>', page, re.DOTALL))
    assert "1 of 3 metrics" in cards["good"] and "use gpt for insult" in cards["good"]
    assert "do not use gpt for bias" in cards["bad"] and "Bias 30 points below people" in cards["bad"] and "Nothing" not in cards["bad"]
    assert "unknown whether gpt may be used for noise" in cards["open"] and "More labels will not help" in cards["open"]


def test_an_answer_stands_in_three_cards_and_equal_atlases_give_equal_pages() -> None:
    page = pages_of(small())["ja/index.html"]
    assert re.findall(r'<div class="(\w+)">\s*<h2 class="plain">([^<]+)', page) == [
        ("good", "Use"),
        ("bad", "Do not use"),
        ("open", "Unknown"),
    ]
    assert "2 verdicts" not in page and page == pages_of(small())["ja/index.html"]
