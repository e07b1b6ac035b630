"""The page of a run in a real browser: it opens, filters, sorts, keeps to itself, fits a phone, and keeps nobody out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import harness
from tests.conftest import write_rows
from tests.e2e.conftest import MODEL, Endpoint, Request
from tests.e2e.pages import chromium, opened

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]

FAILS = "Ani tak, ani tak."  # no JSON


@pytest.fixture(scope="module")
def browser(page: Path) -> Iterator[Any]:
    """Started after the run, as its driver keeps this thread's event loop to itself."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A results folder with one run: three languages, two variants, a judge that gives reasons and sometimes fails, two baselines."""
    out = tmp_path_factory.mktemp("pages") / "results"
    served = Endpoint()

    def script(request: Request) -> Any:
        number = int(request.key, 16)
        if number % 5 == 0:
            return served.saying(FAILS, model=request.body["model"])
        reason = ("Text drží pohromadě.", "文は自然です。", "The text is fluent.")[number % 3]
        return served.saying({"justification": reason, "score": number % 2}, model=request.body["model"])

    served.script = script
    try:
        harness.run(
            harness.RunSpec(
                languages=("cs", "ja", "en"),
                judges=(f"openai/{MODEL}", "baseline/majority", "baseline/length"),
                base_url=served.url,
                variants=("single", "single+detailed"),
                limit=3,
            ),
            out,
        )
    finally:
        served.close()
    yield out


@pytest.fixture(scope="module")
def result(folder: Path) -> harness.RunResult:
    from harness.runs import reopen

    return reopen("controls", folder)


@pytest.fixture(scope="module")
def page(result: harness.RunResult) -> Path:
    return harness.write_page(result)


def every(result: harness.RunResult) -> list[dict[str, Any]]:
    """The run's judgments as its own file has them, which the page is not made by."""
    import pyarrow.parquet as pq

    return list(pq.read_table(result.folder / "judgments.parquet").to_pylist())


def outcome(row: dict[str, Any], labels: dict[tuple[str, str], Any]) -> str:
    return "failed" if row["score"] is None else "right" if row["score"] == str(labels[row["item_id"], row["metric"]]) else "wrong"


def test_it_opens_without_a_complaint_and_asks_for_nothing(browser: Any, page: Path) -> None:
    with opened(browser, page) as shown:
        assert shown.said == [] and shown.elsewhere == []
        assert shown.page.title().startswith("Control items")


def test_a_page_that_tries_to_leave_is_held_back(browser: Any, page: Path) -> None:
    with opened(browser, page) as shown:
        shown.page.evaluate("fetch('https://example.org/').catch(() => 0)")
        shown.page.evaluate("document.body.append(Object.assign(new Image(), {src: 'https://example.org/x.png'}))")
        shown.page.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))")
        assert len([text for text in shown.said if "Content Security Policy" in text]) >= 3 and shown.page.evaluate("window.ran") is None


def test_filters_agree_with_the_judgments(browser: Any, page: Path, result: harness.RunResult) -> None:
    rows = every(result)
    labels = {(label.item_id, label.metric): label.score for label in result.prepared.data.labels}
    expected = {
        "all": rows,
        "cs": [row for row in rows if row["language"] == "cs"],
        "failed": [row for row in rows if outcome(row, labels) == "failed"],
        "wrong": [
            row for row in rows if outcome(row, labels) == "wrong" and row["judge"].startswith("openai/") and "detailed" in row["variant"]
        ],
        "task": [row for row in rows if row["task"] == "summarize" and row["metric"] == "linguistic_acceptability"],
    }
    assert all(expected.values())
    with opened(browser, page) as shown:
        assert shown.found == counts(expected["all"])
        shown.choose(language="Czech")
        assert shown.found == counts(expected["cs"])
        shown.page.click("button[type=reset]")
        shown.choose(outcome="no readable score")
        assert shown.found == counts(expected["failed"])
        shown.choose(outcome="wrong", judge=f"openai/{MODEL}", variant="single+detailed")
        assert shown.found == counts(expected["wrong"])
        assert f"{len(expected['wrong']):,} judgment" in shown.page.inner_text("[role=status]")
        shown.page.click("button[type=reset]")
        shown.choose(task="summarize", metric="Linguistic acceptability")
        assert shown.found == counts(expected["task"])
        assert shown.said == []


def counts(rows: list[dict[str, Any]]) -> tuple[int, int]:
    return len(rows), len({(row["item_id"], row["metric"]) for row in rows})


def test_the_search_looks_into_texts_and_justifications(browser: Any, page: Path, result: harness.RunResult) -> None:
    said = [row for row in every(result) if "drží POHROMADĚ".lower() in (row["justification"] or "").lower()]
    one = result.prepared.data.items[0]
    with opened(browser, page) as shown:
        for text, rows in (("drží POHROMADĚ", said), (one.item_id, [row for row in every(result) if row["item_id"] == one.item_id])):
            shown.page.fill("input[type=search]", text)
            shown.wait_for(len(rows))
        shown.page.fill("input[type=search]", "nothing has this in it")
        shown.wait_for(0)
        assert "remove a filter" in shown.page.inner_text("[role=status]")


def test_an_opened_text_shows_labels_scores_reasons_and_raw_replies_side_by_side(browser: Any, page: Path) -> None:
    with opened(browser, page) as shown:
        shown.choose(judge=f"openai/{MODEL}", outcome="no readable score", language="Japanese")
        shown.page.click(".case .opener")
        text = shown.page.wait_for_selector(".case .text")
        assert text.get_attribute("lang") == "ja" and text.get_attribute("dir") == "auto"
        cards = shown.page.query_selector_all(".case .card")
        assert len(cards) == 6  # three judges, two variants
        assert any("no score: not json" in card.inner_text() for card in cards)
        shown.page.click(".case .card.failed details summary")
        assert FAILS in shown.page.wait_for_selector(".case .card.failed pre").inner_text()
        assert shown.page.inner_text(".judgments thead").split()[:2] == ["text", "label"], "constructed labels are nobody's"
        assert "people" not in shown.page.inner_text(".judgments").lower()
        assert "Distance from the label" in shown.page.inner_text("form.filters")


def test_every_square_and_mark_leads_to_as_many_judgments_as_it_says(browser: Any, page: Path, result: harness.RunResult) -> None:
    with opened(browser, page) as shown:
        for link in shown.page.locator(".heat a[data-show]").all()[:8]:
            n = int(link.get_attribute("title").partition(", n ")[2].partition(";")[0].replace(",", ""))
            link.evaluate("a => a.click()")
            shown.wait_for(n)
            assert shown.page.evaluate("location.hash").startswith("#items?")
        wanted = json.loads(shown.page.locator(".matrix a[data-show]").first.get_attribute("data-show"))
        shown.page.locator(".matrix a[data-show]").first.evaluate("a => a.dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        names = ("judge", "variant", "language", "metric")
        rows = [row for row in every(result) if all(row[name] == wanted[name] for name in names) and row["score"] == str(wanted["score"])]
        labels = {(label.item_id, label.metric): label.score for label in result.prepared.data.labels}
        shown.wait_for(sum(labels[row["item_id"], row["metric"]] == wanted["reference"] for row in rows))


@pytest.mark.needs("shared data")
def test_a_click_on_a_case_opens_everything_about_it_in_one_place_and_takes_the_focus_along(browser: Any, pariksha: Path) -> None:
    with opened(browser, pariksha, width=1440, height=900) as shown:
        assert not shown.page.evaluate("document.getElementById('cases').open")
        row = shown.page.locator(".view:not([hidden]) .rows th a", has_text="Bangla · Task quality")
        row.focus()
        shown.page.keyboard.press("Enter")
        shown.page.wait_for_selector("#cases .about[open]")
        [case] = [each for each in shown.page.locator("#cases .about").all() if each.is_visible()]
        assert [text.split()[0] for text in case.locator("h3").all_inner_texts()] == ["Label", "Score", "Class"]
        assert "Do not use gpt-4-32k for task quality in Bangla" in case.inner_text()
        assert 0 <= case.evaluate("e => e.getBoundingClientRect().top") < 900
        shown.page.keyboard.press("Enter")  # the focus is on the first text
        assert shown.page.locator(".opened:not([hidden]) .text").count() and shown.said == []
        shown.page.click("button[type=reset]")
        shown.page.wait_for_selector("#cases:not([open])", state="attached")


def test_minimal_pairs_open_the_flawed_text_beside_its_twin(browser: Any, tmp_path: Path, axe_core: str) -> None:
    spec = harness.RunSpec(board="controls-hard", languages=("cs",), judges=("baseline/random",))
    made = harness.write_page(harness.run(spec, tmp_path))
    with opened(browser, made) as shown:
        links = shown.page.locator("details:has(> summary #minimal_pairs) figure a[data-show]", has_text="·")
        wanted = json.loads(links.first.get_attribute("data-show"))
        links.first.evaluate("a => a.click()")
        shown.page.wait_for_selector("#browser .case")
        shown.page.locator(".opener[aria-expanded=false]").evaluate_all("all => all.forEach(each => each.click())")
        names = set(shown.page.locator("#browser .ids").all_text_contents())
        assert names and all(name.partition(" · ")[0].endswith(wanted["construction"]) for name in names)
        shown.page.wait_for_selector("#browser .pair mark.differs")
        assert "flawless text, baseline/random:" in shown.page.inner_text("#browser .item-side")
        assert shown.said == []
        assert shown.serious(axe_core) == []


def test_tables_are_sorted_by_their_headings(browser: Any, page: Path) -> None:
    column = "t => [...t.tBodies[0].rows].map(r => r.cells[2].textContent)"
    with opened(browser, page) as shown:
        table = shown.page.locator("details:has(> summary #cost) table[data-sort]").first
        shown.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        button = table.locator("thead button").nth(2)
        for falling in (False, True):
            button.press("Enter")
            numbers = [int(text.replace(",", "")) for text in table.evaluate(column)]
            assert numbers == sorted(numbers, reverse=falling)
            assert table.locator("thead th").nth(2).get_attribute("aria-sort") == ("descending" if falling else "ascending")


def test_numbers_with_intervals_are_sorted_by_size_and_gaps_come_last(browser: Any, page: Path) -> None:
    sorted_texts = ["−3 [−4 to −2]", "<.001", "9 % [1–20]", "12 %", "1,000", "–"]
    column = "t => [...t.tBodies[0].rows].map(r => r.cells[2])"
    with opened(browser, page) as shown:
        table = shown.page.locator("details:has(> summary #cost) table[data-sort]").first
        shown.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        table.evaluate(f"(t, texts) => texts.forEach((x, i) => {{ ({column})(t)[i].textContent = x }})", sorted_texts[::-1])
        table.locator("thead button").nth(2).click()
        texts = table.evaluate(f"t => ({column})(t).map(cell => cell.textContent)")
        assert [text for text in texts if text in sorted_texts] == sorted_texts


def test_pages_turn_and_rows_are_made_when_they_are_looked_at(browser: Any, page: Path) -> None:
    with opened(browser, page) as shown:
        first = shown.page.inner_text(".judgments")
        assert len(shown.page.query_selector_all(".case")) == 25 and not shown.page.query_selector_all(".case .card")
        shown.page.locator(".pager .on").first.click()
        assert shown.page.inner_text(".judgments") != first and "Page 2 of" in shown.page.inner_text(".pager .where")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1024, 1600])
def test_the_page_never_scrolls_sideways(browser: Any, page: Path, width: int, scheme: str) -> None:
    with opened(browser, page, width=width, scheme=scheme) as shown:
        shown.page.locator(".opener").first.click()
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
        cut = "all => all.filter(e => e.scrollWidth > e.clientWidth && e.tabIndex < 0).length"
        assert shown.page.eval_on_selector_all(".scroll", cut) == 0, "what scrolls can be reached by the keyboard"


def test_the_first_key_skips_to_the_content_and_headings_stand_in_order(browser: Any, page: Path) -> None:
    with opened(browser, page) as shown:
        shown.page.keyboard.press("Tab")
        assert shown.page.evaluate("document.activeElement.textContent") == "Skip to the content"
        levels = shown.page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(h => Number(h.tagName[1]))")
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.needs("axe-core")
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1024, "light"), (1024, "dark")])
def test_axe_finds_nothing_serious(browser: Any, page: Path, axe_core: str, width: int, scheme: str) -> None:
    with opened(browser, page, width=width, scheme=scheme) as shown:
        assert shown.serious(axe_core) == []


@pytest.mark.needs("axe-core")
def test_a_comparison_of_runs_has_the_same_page_with_differences(
    browser: Any, folder: Path, result: harness.RunResult, tmp_path: Path, cli: Callable[..., Any], axe_core: str
) -> None:
    made = cli("compare", result.folder, "--versus", "judge=baseline/majority", "--html", tmp_path / "both.html")
    assert made.code == 0 and made.out.strip() == str(tmp_path / "both.html")
    with opened(browser, tmp_path / "both.html") as shown:
        assert shown.said == [] and shown.elsewhere == []
        assert shown.found == counts(every(result))
        assert shown.page.query_selector("#sides") and "▼" in shown.page.text_content("main")
        assert shown.serious(axe_core) == []


@pytest.mark.needs("axe-core")
def test_parallel_texts_and_runs_over_time_keep_nobody_out(browser: Any, tmp_path: Path, cli: Callable[..., Any], axe_core: str) -> None:
    """The study of languages, whose texts are parallel, and two runs of one name in two folders."""
    judges, few = ("baseline/random",), 12
    study = harness.RunSpec(study="languages", languages=("cs",), judges=judges, allow_unreviewed=True, limit=few)
    plain = harness.RunSpec(board="controls-parallel", languages=("cs", "en"), judges=judges, limit=few)
    with opened(browser, harness.write_page(harness.run(study, tmp_path / "study"))) as shown:
        assert shown.page.query_selector("#same_texts") and "rubric × item" in shown.page.text_content("main")
        assert shown.said == [] and shown.serious(axe_core) == []
    first, again = (harness.run(plain, tmp_path / name) for name in ("first", "again"))
    made = cli("compare", again.folder, "--versus", f"source={first.folder}", "--html", tmp_path / "both.html")
    assert made.code == 0
    with opened(browser, tmp_path / "both.html") as shown:
        assert len(shown.page.query_selector_all("table.runs svg.panel")) > 5
        assert shown.page.inner_text("#run_shares") == "Class shares: no proof of agreement"
        assert shown.page.query_selector("#same_texts") and shown.page.query_selector("#minimal_pairs")
        assert shown.said == [] and shown.serious(axe_core) == []


def test_a_page_of_several_conditions_is_six_screens_before_its_judgments(browser: Any, page: Path) -> None:
    with opened(browser, page, width=1440, height=900) as shown:
        assert shown.page.eval_on_selector("#items", "e => e.getBoundingClientRect().top + scrollY") <= 6 * 900
        bottom = "all => Math.max(...all.map(e => e.getBoundingClientRect().bottom))"
        assert shown.page.eval_on_selector_all("h1, .view:not([hidden]) > .answers, .view:not([hidden]) > .next", bottom) <= 900


@pytest.fixture(scope="module")
def queue(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of two judges with native labels of one, two or three annotators."""
    from harness.cli import main

    folder = tmp_path_factory.mktemp("queue") / "data"
    folder.mkdir()
    labels = {"near": [1, 1, 1], "far": [0, 0, 0], "split": [0, 1, 2], "alone": [2], "=pair": [2, 2]}
    given = {"one": [1, 2, 1, 2, 2], "two": [1, 0, 1, 0, 2]}
    items = [{"item_id": name, "language": "cs", "task": "open_prompt", "prompt": "P", "output": f"`{name}`"} for name in labels]
    rows: dict[str, list[dict[str, Any]]] = {"items": items, "labels": [], "judgments": []}
    for n, (name, scores) in enumerate(labels.items()):
        key = {"item_id": name, "metric": "task_quality"}
        rows["labels"] += [key | {"annotator_id": f"a{m}", "score": score} for m, score in enumerate(scores)]
        rows["judgments"] += [key | {"judge": judge, "score": scores[n]} for judge, scores in given.items()]
    for name, own in rows.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own), "utf-8")
    assert main(["compare", str(folder), "--html", str(folder / "page.html")]) == 0
    return folder / "page.html"


def test_what_people_and_judge_are_farthest_apart_on_comes_first(browser: Any, queue: Path) -> None:
    with opened(browser, queue) as shown:
        assert shown.page.inner_text(".judgments thead").split() == ["text", "people", "one", "two"]
        cells = [" ".join(text.split()) for text in shown.page.locator(".case").first.locator("td[data-label]").all_text_contents()]
        assert cells == ["no, nothing of it ×3", "✗ yes, all of it wrong", "✓ no, nothing of it right"]
        shown.choose(distance="half of it or more")
        assert shown.found == (2, 2)  # 2 for 0 0 0, 0 for 2
        shown.page.click("button[type=reset]")
        shown.page.click("form.filters > details > summary")
        shown.choose(a="one", b="two", differ="scores differ")
        assert shown.found == (4, 2) and shown.said == []


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("alone", "One annotator alone makes no aggregate."),
        ("split", "No class is the commonest, so there is no aggregate."),
        ("near", "Aggregate: 1. Annotators agree fully."),
    ],
)
def test_why_a_text_has_no_aggregate(browser: Any, queue: Path, item: str, words: str) -> None:
    with opened(browser, queue) as shown:
        shown.page.evaluate(f"location.hash = '#items?item={item}'")
        shown.page.wait_for_selector(".opened .judged-side")
        assert words in shown.page.inner_text(".opened:not([hidden]) .judged-side")


def test_keys_links_and_files(browser: Any, queue: Path) -> None:
    with opened(browser, queue) as shown:
        shown.page.keyboard.press("j")
        shown.page.keyboard.press("j")
        shown.page.keyboard.press("k")
        shown.page.wait_for_url(lambda url: "item=far" in url)
        assert len(shown.page.query_selector_all(".opened:not([hidden]) .inside")) == 1
        shown.page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
        shown.page.click(".opened:not([hidden]) button:has-text('Markdown')")
        assert "`` `far` ``" not in shown.page.evaluate("copied") and "```text cs\n`far`\n```" in shown.page.evaluate("copied")
        shown.page.keyboard.press("/")
        shown.page.keyboard.type("pair j?")
        assert shown.page.input_value("input[type=search]") == "pair j?"
        shown.page.fill("input[type=search]", "=pair")
        shown.wait_for(2)
        with shown.page.expect_download() as waiting:
            shown.page.click("button:has-text('CSV of these')")
        text = Path(waiting.value.path()).read_text("utf-8-sig")
        assert len(text.splitlines()) == 3 and "\n'=pair,cs," in text, "no cell is a formula"
        shown.page.locator("h1").click()
        shown.page.keyboard.press("?")
        assert shown.page.is_visible("dialog.keys") and shown.said == []


def test_paper_keeps_headings_and_columns(browser: Any, page: Path) -> None:
    with opened(browser, page) as shown:
        shown.page.locator("table[data-sort] th button").first.evaluate("b => b.click()")
        shown.page.emulate_media(media="print")
        shown.page.set_viewport_size({"width": 1046, "height": 700})
        shown.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        wide = "all => all.filter(t => t.getBoundingClientRect().right > 1048).map(t => t.outerHTML.slice(0, 200))"
        assert shown.page.eval_on_selector_all("table", wide) == []
        hidden = "all => all.filter(h => h.textContent.trim() && !h.closest('[hidden], .no-print') && !h.getClientRects().length).length"
        assert shown.page.eval_on_selector_all("thead th", hidden) == 0


def test_every_figure_can_be_saved_as_a_drawing_of_its_own(browser: Any, page: Path) -> None:
    with opened(browser, page) as shown:
        figures = shown.page.locator("figure[data-figure]")
        assert figures.count() == shown.page.locator("figure[data-figure] > button.save").count() > 3
        shown.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        answer = f"agreement cs openai/{MODEL}, single, temperature 0"
        figures_and_words = {
            "verdicts by condition and language": "Czech",
            "agreement-1": "Czech",
            "failures by condition": "not json",
            answer: "task quality",
        }
        for name, words in figures_and_words.items():
            with shown.page.expect_download() as waiting:
                shown.page.locator(f"figure[data-figure^='{name}'] > button.save").locator("visible=true").first.click()
            text = Path(waiting.value.path()).read_text("utf-8")
            drawing = ElementTree.fromstring(text)
            assert drawing.tag.endswith("}svg") and words in text and "var(" not in text and "data-show" not in text
            assert len(drawing.findall(".//{*}text")) > 5 and waiting.value.suggested_filename.endswith(".svg")
        assert shown.said == [] and shown.elsewhere == []


@pytest.fixture(scope="module")
def pariksha(browser: Any, shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a published study: ten languages, three metrics, one judge."""
    from harness.cli import main

    path = tmp_path_factory.mktemp("pariksha") / "page.html"
    assert main(["compare", str(shared_data / "pariksha"), "--html", str(path)]) == 0
    return path


@pytest.mark.needs("shared data")
def test_a_language_is_chosen_by_the_address_and_rewrites_the_first_screen(browser: Any, pariksha: Path) -> None:
    from playwright.sync_api import expect

    with opened(browser, pariksha) as shown:
        shown.page.click("text=Telugu")
        title = shown.page.locator("h1").first  # waited for without script in the page, which its policy forbids
        expect(title).to_have_text(re.compile("^Telugu: gpt-4-32k may be used"))
        assert shown.page.evaluate("location.hash") == "#lang=te"
        assert shown.page.eval_on_selector_all(".view", "all => all.filter(v => !v.hidden).map(v => v.dataset.view)") == ["te"]
        assert "over all 30 tests in all languages, of which 3 are shown" in shown.page.inner_text(".view:not([hidden])")
        assert shown.page.inner_text(".languages [aria-current]") == "Telugu"
        shown.page.go_back()
        shown.page.evaluate("location.hash = '#lang=all'")
        expect(title).to_have_text(re.compile("^gpt-4-32k"))
        shown.page.evaluate("location.hash = '#lang=nowhere'")
        assert shown.page.inner_text(".languages [aria-current]") == "All" and shown.said == []


@pytest.mark.needs("shared data")
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_first_screen_of_a_study_answers_for_every_language_and_the_page_is_short(
    browser: Any, pariksha: Path, width: int, height: int
) -> None:
    top = "e => e.getBoundingClientRect().top + scrollY"
    bottom = "all => Math.max(...all.map(e => e.getBoundingClientRect().bottom))"
    with opened(browser, pariksha, width=width, height=height) as shown:
        answers = " ".join(shown.page.inner_text(".answers").split())
        assert "Use it in" in answers and "Do not use it in" in answers and "Unknown" in answers
        assert "label about" in shown.page.inner_text(".next") and shown.page.locator(".view:not([hidden]) .next a[data-show]").count() == 2
        assert len(shown.page.query_selector_all(".view:not([hidden]) .rows tbody tr")) == 30
        assert shown.page.eval_on_selector_all("h1, .view:not([hidden]) > .answers, .view:not([hidden]) .next", bottom) <= height
        assert shown.page.eval_on_selector("#items", top) <= 6 * height
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width and shown.said == []
        folded = shown.page.locator("details.part")
        assert folded.evaluate_all("all => all.length > 2 && all.every(d => !d.open)")
        shown.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert folded.evaluate_all("all => all.every(d => d.open)")


def test_six_disagreements_that_tell_most_stand_before_the_table(browser: Any, pariksha: Path) -> None:
    """They are of several languages and metrics, say what people and judge gave in words, and open their text in the table."""
    with opened(browser, pariksha, width=1440, height=900) as shown:
        cards = shown.page.locator(".telling .card")
        assert cards.count() == 6 and "Six telling disagreements" in shown.page.inner_text(".telling")
        notes = [text.split(" · ") for text in shown.page.locator(".telling .card > .note").all_inner_texts()]
        assert len({language for language, _ in notes}) == 6 and len({metric for _, metric in notes}) == 3
        assert all("People: " in text and "gpt-4-32k: " in text for text in cards.all_inner_texts())
        cards.first.locator("button").click()
        assert shown.page.locator(".opened:not([hidden]) .text").count() and shown.said == []


def test_cases_of_one_text_follow_each_other(browser: Any, queue: Path) -> None:
    with opened(browser, queue) as shown:
        shown.page.evaluate("document.querySelectorAll('.case .opener').forEach(opener => opener.click())")
        ids = [text.split(" · ")[0] for text in shown.page.locator(".case .ids").all_inner_texts()]
        assert ids == sorted(ids, key=ids.index)


def test_disagreements_that_would_say_the_same_are_one_card(browser: Any, tmp_path: Path, cli: Callable[..., Any]) -> None:
    scores = {"a": (0, 2), "b": (0, 2), "c": (2, 0)}  # of people, of the judge
    key = {"language": "cs", "task": "open_prompt", "prompt": "P"}
    write_rows(tmp_path / "data" / "items.jsonl", [key | {"item_id": name, "output": f"Text {name}."} for name in scores])
    own = [{"item_id": name, "metric": "task_quality"} for name in scores]
    people = [row | {"annotator_id": who, "score": scores[row["item_id"]][0]} for row in own for who in ("p", "q")]
    write_rows(tmp_path / "data" / "labels.jsonl", people)
    write_rows(tmp_path / "data" / "judgments.jsonl", [row | {"judge": "j", "score": scores[row["item_id"]][1]} for row in own])
    assert cli("compare", tmp_path / "data", "--html", tmp_path / "page.html").code == 0
    with opened(browser, tmp_path / "page.html") as shown:
        said = shown.page.locator(".telling .card b").all_inner_texts()
        assert said == ["no, nothing of it (0)", "yes, all of it (2)", "yes, all of it (2)", "no, nothing of it (0)"]
