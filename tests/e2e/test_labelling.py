"""The labelling page in a real browser: 30 texts in three languages, a reload in the middle, and every score is found after the import."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.annotate.labelling_options import PageImportOptions, PageOptions
from harness.annotate.page_import import import_page_results
from harness.annotate.page_results import ReviewedJudge, ReviewedScore, read_record
from harness.annotate.pages_for_annotators import PagesSummary, make_pages
from harness.annotate.reviews import read_reviews
from harness.authoring.scaffold import new_interface
from harness.content import Library
from harness.data import load_bundled, load_folder
from harness.errors import ContentError, UsageError
from harness.exchange.labels.table_options import ImportOptions
from tests.conftest import HANG_SECONDS
from tests.e2e.labelling import data_of, label, open_page, practise, save, visitor
from tests.e2e.pages import chromium

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]

LIBRARY = Library()
KEEP = ImportOptions(keep_annotators=True)
ARABIC = "كتب الطالب هذا النص القصير عن رحلته إلى البحر مع أصدقائه في يوم مشمس. رقم {}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def arabic(folder: Path) -> Path:
    """A data folder in Arabic, whose task has no description: 30 texts, an ordinal metric and an interval one."""
    rows = [
        {"item_id": f"ar-{n}", "language": "ar", "task": "diary", "group": f"g{n // 2}", "system": f"s{n % 2}", "text": ARABIC.format(n)}
        for n in range(30)
    ]
    folder.mkdir(parents=True)
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "data.toml").write_text(
        'id = "arabic"\n[metrics.fluency]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n'
        '[metrics.warmth]\nkind = "interval"\nmin = 0\nmax = 100\nbest = 100\n',
        "utf-8",
    )
    return folder


def made(source: str, folder: Path, options: PageOptions) -> PagesSummary:
    data = load_bundled(LIBRARY, LIBRARY.tags_with_items()) if source == "bundled" else load_folder(Path(source), LIBRARY)
    return make_pages(data, source, folder, LIBRARY, options)


def digit(item: dict[str, Any], metric: str) -> str:
    """An answer that depends on the text, so that a mix-up shows: 0 or 1, which all scales of the control items have."""
    return str(int(item["key"], 16) % 2)


@pytest.mark.parametrize("language", ["ja", "cs"])
def test_thirty_texts_a_reload_and_every_score_is_found(browser: Any, tmp_path: Path, language: str) -> None:
    options = PageOptions(
        language=language, tasks=("open_prompt",), metrics=("linguistic_acceptability", "task_quality"), annotators=("hana",)
    )
    pages = made("bundled", tmp_path / "pages", options)
    with visitor(browser) as context:
        page = open_page(context, pages.files[0].as_uri())
        assert page.get_attribute("html", "lang") in (language, "en")
        practise(page)
        said = label(page, digit, 14)
        page.keyboard.press(digit(data_of(page)["items"][14], ""))  # an answer to one of two questions is kept too
        page.wait_for_timeout(100)
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert page.locator(".note").first.inner_text() != ""
        page.click("button.main")
        assert page.locator("[aria-pressed=true]").count() == 1
        said |= label(page, digit, 16, start=14)
        assert page.said == [] and [url for url in page.asked if not url.startswith(("file:", "data:", "blob:"))] == []
        result = save(page, tmp_path / "pages" / "results")
        page.close()
    imported = import_page_results([result], tmp_path / "data", options=KEEP)
    assert imported.labels == 60 and not imported.refused
    record = read_record(pages.record)
    names = {entry.key: entry.item_id for entry in record.pages[0].items}
    expected = {(names[key], metric): int(score) for key, scores in said.items() for metric, score in scores.items()}
    labels = load_folder(tmp_path / "data", LIBRARY).labels
    assert {(one.item_id, one.metric): one.score for one in labels} == expected
    before = {path.name: path.read_bytes() for path in (tmp_path / "data").iterdir()}
    again = import_page_results([result], tmp_path / "data", options=KEEP)
    assert (again.labels, again.known) == (0, 60)
    assert {path.name: path.read_bytes() for path in (tmp_path / "data").iterdir()} == before


def test_arabic_with_a_slider_runs_from_right_to_left(browser: Any, tmp_path: Path) -> None:
    folder = arabic(tmp_path / "arabic")
    pages = made(str(folder), tmp_path / "pages", PageOptions(fields=("text",), metrics=("fluency", "warmth"), annotators=("ali",)))
    with visitor(browser) as context:
        page = open_page(context, pages.files[0].as_uri())
        page.click("button.main")
        text = page.locator(".text.output")
        assert text.get_attribute("lang") == "ar" and text.evaluate("e => getComputedStyle(e).direction") == "rtl"
        for item in data_of(page)["items"]:
            page.keyboard.press(digit(item, ""))
            page.locator("input[type=number]").fill(str(int(item["key"], 16) % 101))
            page.keyboard.press("Enter")
        page.wait_for_selector("h1")
        result = save(page, tmp_path / "pages" / "results")
        assert page.said == []
    imported = import_page_results([result], options=KEEP)
    assert (imported.labels, imported.refused, imported.folder) == (60, (), folder)
    names = {entry.key: entry.item_id for entry in read_record(pages.record).pages[0].items}
    scores = {(one.item_id, one.metric): one.score for one in load_folder(folder, LIBRARY).labels}
    assert scores == {(name, "warmth"): int(key, 16) % 101 for key, name in names.items()} | {
        (name, "fluency"): int(key, 16) % 2 for key, name in names.items()
    }


@pytest.mark.needs("axe-core")
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_on_any_screen(browser: Any, tmp_path: Path, axe_core: str, width: int) -> None:
    (tmp_path / "about.txt").write_text("Who asks.\n\nWhat is kept.", "utf-8")
    options = PageOptions(language="ja", tasks=("summarize",), annotators=1, mark_errors=True, about=tmp_path / "about.txt")
    pages = made("bundled", tmp_path / "pages", options)
    with visitor(browser, width=width) as context:
        page = open_page(context, pages.files[0].as_uri())

        def violations() -> list[str]:
            page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
            page.evaluate(axe_core)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.locator("h1").count() == 1
            return [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]

        assert page.locator("button.main").is_disabled()
        assert violations() == []
        page.check("#consent")
        practise(page)
        assert violations() == []
        page.keyboard.press("s")
        assert violations() == []
        page.keyboard.press("2")
        page.keyboard.press("p")
        assert violations() == []
        page.click("button.main")
        page.evaluate("sitting.place = page.items.length; sitting.visit()")
        assert violations() == []


@pytest.mark.slow
@pytest.mark.needs("axe-core")
def test_the_last_questions_are_asked_once_and_come_back(browser: Any, tmp_path: Path, axe_core: str) -> None:
    items = [
        {"item_id": f"t{n}", "language": "en", "task": "rate_altered_text", "original": f"A film {n}.", "output": f"A movie {n}."}
        for n in range(2)
    ]
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    (folder / "labels.jsonl").write_text("", "utf-8")
    (folder / "data.toml").write_text('id = "d"\n', "utf-8")
    pages = made(str(folder), tmp_path / "pages", PageOptions(annotators=("eva",), highlight_changes=True))
    with visitor(browser, width=390) as context:
        page = open_page(context, pages.files[0].as_uri())
        practise(page)
        assert page.inner_text("mark.changed") == "movie"
        label(page, lambda item, metric: "4", 2)
        page.click('.question [data-value="2"]')
        page.fill("textarea", "Both were clear.")
        page.evaluate(axe_core)
        assert page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"] == []
        page.click("button.main")
        saved = save(page, tmp_path / "results")
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert page.evaluate("sitting.answers.kept.exit") == {"difficulty": 2, "remarks": "Both were clear."}
        assert page.said == []
    import_page_results([saved], options=KEEP, page_options=PageImportOptions(pages=pages.record))
    rows = [json.loads(line) for line in (folder / "exit_answers.jsonl").read_text("utf-8").splitlines()]
    assert {row["question"]: row["answer"] for row in rows} == {"difficulty": 2, "remarks": "Both were clear."}


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1440, 900)])
@pytest.mark.parametrize("language", ["cs", "ja"])
def test_a_message_never_covers_the_button_that_goes_on(browser: Any, tmp_path: Path, language: str, width: int, height: int) -> None:
    options = PageOptions(language=language, tasks=("summarize",), annotators=1, practice=0)
    pages = made("bundled", tmp_path / "pages", options)
    with visitor(browser, width=width, height=height) as context:
        page = open_page(context, pages.files[0].as_uri())
        page.click("button.main")
        going_on = page.locator("nav .main")
        going_on.click()
        assert page.locator("#status").inner_text() == page.evaluate("word('answer_first')")
        for _ in range(2):  # with this message, and with that about the last answer
            going_on.scroll_into_view_if_needed()
            box, status = going_on.bounding_box(), page.locator("#status").bounding_box()
            assert status["y"] + status["height"] <= box["y"] or box["y"] + box["height"] <= status["y"]
            assert box["y"] + box["height"] <= height, "it is in sight"
            for metric in data_of(page)["items"][0]["questions"]:
                page.keyboard.press(digit(data_of(page)["items"][0], metric))
            page.wait_for_timeout(100)


def test_on_a_phone_one_question_is_open_and_none_is_answered_off_the_screen(browser: Any, tmp_path: Path) -> None:
    """By keyboard at 390 px, as at 400 % zoom: the first key brings the question to the screen, later ones answer what is seen."""
    options = PageOptions(language="cs", tasks=("summarize",), metrics=("task_quality", "hallucination"), annotators=1, practice=0)
    pages = made("bundled", tmp_path / "pages", options)
    with visitor(browser, width=390, height=844) as context:
        page = open_page(context, pages.files[0].as_uri())
        page.keyboard.press("Enter")  # starts
        page.wait_for_selector(".question.current")
        scores = "sitting.answers.of(sitting.item.key).scores"
        opened = page.locator(".question .classes:visible")
        assert opened.count() == 1 and page.locator("kbd:visible").count() == 0
        assert page.locator(".actions nav").bounding_box()["height"] < 70 and not page.locator("details.small .row").is_visible()
        page.keyboard.press("1")
        assert page.evaluate(scores) == {} and page.evaluate("scrollY") > 0
        page.keyboard.press("1")
        assert page.evaluate(scores) == {"task_quality": 1} and opened.count() == 1
        box = page.locator(".question.current").bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 844, "the question that is asked is on the screen"
        page.keyboard.press("y")
        assert page.evaluate(scores) == {"task_quality": 1, "hallucination": 0}, "0 says that something is invented"
        page.locator(".question .open").first.click()
        assert page.locator(".question.current").get_attribute("data-metric") == "task_quality"
        heights = "all => all.filter(b => b.offsetParent).map(b => b.getBoundingClientRect().height)"
        page.locator("details.small > summary").first.click()
        assert min(page.eval_on_selector_all("button", heights)) >= 44, "a finger meets every button"


def test_practice_says_the_expected_answer_in_words_and_why_of_this_text(browser: Any, tmp_path: Path) -> None:
    options = PageOptions(language="cs", tasks=("summarize",), metrics=("hallucination",), annotators=1)
    with visitor(browser) as context:
        page = open_page(context, made("bundled", tmp_path / "pages", options).files[0].as_uri())
        page.keyboard.press("Enter")
        page.wait_for_selector(".question.current")
        [item, *_] = data_of(page)["practice"]
        expected, strings = item["expected"]["hallucination"], data_of(page)["strings"]
        page.keyboard.press("n" if expected == 0 else "y")  # the other answer
        page.keyboard.press("Enter")
        words = strings["yes"] if expected == 0 else strings["no"]
        assert page.locator(".verdict").inner_text() == strings["practice_other"].replace("{answer}", words)
        assert page.locator(".answers > .why").inner_text() == f"{strings['practice_why']} {strings[item['why']]}"
        assert "reason" not in item and all("why" not in other for other in data_of(page)["items"])


def test_the_words_of_the_page_come_from_a_file_in_any_language(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [path] = new_interface("tr", tmp_path)
    path.write_text(re.sub("^start = .*", 'start = "Başla"', path.read_text("utf-8"), flags=re.M), "utf-8")
    with pytest.raises(UsageError, match="exists"):
        new_interface("tr", tmp_path)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "items.jsonl").write_text('{"item_id": "a", "language": "tr", "task": "t", "output": "Bir metin."}\n', "utf-8")
    (folder / "data.toml").write_text("id = 'mine'\n[metrics.tone]\nkind = 'ordinal'\nclasses = [0, 1]\nbest = 1\n", "utf-8")
    options = PageOptions(fields=("output",), annotators=1, metrics=("tone",))
    assert any("harness new interface tr" in note for note in made(str(folder), tmp_path / "english", options).notes)
    pages = made(str(folder), tmp_path / "pages", replace(options, interface=path))
    with visitor(browser) as context:
        page = open_page(context, pages.files[0].as_uri())
        assert page.inner_text("button.main") == "Başla" and page.get_attribute("html", "lang") == "tr"
    path.write_text(path.read_text("utf-8").replace("{done}", "{finished}"), "utf-8")
    with pytest.raises(ContentError, match="should contain"):
        made(str(folder), tmp_path / "wrong", replace(options, interface=path))


def test_numbers_are_written_as_the_language_does(browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "czech"
    folder.mkdir()
    row = {"item_id": "a", "language": "cs", "task": "diary", "text": "Dnes jsem psal deník."}
    (folder / "items.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    (folder / "data.toml").write_text('id = "czech"\n[metrics.warmth]\nkind = "interval"\nmin = 0.5\nmax = 2.5\nbest = 2.5\n', "utf-8")
    pages = made(str(folder), tmp_path / "pages", PageOptions(fields=("text",), annotators=1))
    with visitor(browser) as context:
        page = open_page(context, pages.files[0].as_uri())
        page.click("button.main")
        shown = page.locator(".number").inner_text()
        assert "0,5" in shown and "2,5" in shown and "2.5" not in shown


def test_skip_comment_undo_marks_and_a_saved_file(browser: Any, tmp_path: Path) -> None:
    options = PageOptions(
        language="cs", tasks=("open_prompt",), metrics=("task_quality",), annotators=("eva",), practice=0, mark_errors=True, checks=2
    )
    pages = made("bundled", tmp_path / "pages", options)
    with visitor(browser) as context:
        page = open_page(context, pages.files[0].as_uri())
        page.click("button.main")
        items = data_of(page)["items"]
        page.keyboard.press("Enter")
        assert page.inner_text("#status") == data_of(page)["strings"]["answer_first"]
        message, buttons = (page.locator(one).bounding_box() for one in ("#status", ".actions nav"))
        assert message["y"] + message["height"] <= buttons["y"], "a message covers no button"
        assert page.locator("h1").count() == 1 and page.evaluate("shownNumber(2.5)") == "2,5"
        assert page.inner_text("details.about > summary") == data_of(page)["strings"]["writers_were_asked"]
        page.keyboard.press("s")
        page.keyboard.press("3")
        page.keyboard.press("c")
        page.fill("textarea", "Poznámka <b>tučně</b>")
        page.click("dialog button.main")
        page.evaluate("""() => { const text = document.querySelector('.text.output').firstChild; const range = document.createRange();
            range.setStart(text, 2); range.setEnd(text, 7); getSelection().removeAllRanges(); getSelection().addRange(range) }""")
        page.keyboard.press("m")
        assert page.locator("mark.major").count() == 2  # in the text and in the list
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        page.keyboard.press("1")
        page.keyboard.press("u")
        assert page.locator("[aria-pressed=true]").count() == 0
        result = save(page, tmp_path / "pages" / "results")
        page.evaluate("indexedDB.deleteDatabase('judge-harness labelling')")
    with visitor(browser) as other:  # another device: go on from the file
        page = open_page(other, pages.files[0].as_uri())
        page.set_input_files("input[type=file]", result)
        page.wait_for_selector(".note")
        page.click("button.main")
        assert page.evaluate("sitting.place") == 2
    import_page_results([result], tmp_path / "data", options=KEEP)
    [row] = [json.loads(line) for line in (tmp_path / "data" / "labels.jsonl").read_text("utf-8").splitlines()]
    names = {entry.key: entry.item_id for entry in read_record(pages.record).pages[0].items}
    output = items[1]["texts"]["output"]
    assert row["item_id"] == names[items[1]["key"]] and row["score"] == 2
    assert row["spans"] == [{"field": "output", "start": 2, "end": 7, "severity": "major"}] and len(output) > 7
    [comment] = [json.loads(line) for line in (tmp_path / "data" / "comments.jsonl").read_text("utf-8").splitlines()]
    assert comment == {"item_id": row["item_id"], "annotator_id": "eva", "comment": "Poznámka <b>tučně</b>"}
    seen = [json.loads(line) for line in (tmp_path / "data" / "seen.jsonl").read_text("utf-8").splitlines()]
    assert seen[0]["skip"] == "offensive" and all(one["seconds"] >= 0 for one in seen)


def test_the_time_of_a_text_is_its_own(browser: Any, tmp_path: Path) -> None:
    """The clock is moved by hand: 3 seconds in front of the first text, 5 of the second, 8 of the last."""
    options = PageOptions(language="cs", tasks=("open_prompt",), metrics=("task_quality",), annotators=("eva",), practice=0, next_items=3)
    pages = made("bundled", tmp_path / "pages", options)
    with visitor(browser) as context:
        page = open_page(context, pages.files[0].as_uri())
        page.evaluate("() => { window.now = 0; performance.now = () => window.now; }")
        page.click("button.main")
        for seconds in (3, 5, 8):
            page.evaluate("ms => { window.now += ms; }", 1000 * seconds)
            page.keyboard.press("1")
            page.keyboard.press("Enter")
        page.wait_for_timeout(50)
        result = json.loads(save(page, tmp_path / "results").read_text("utf-8"))
    assert {one["place"]: one["ms"] for one in result["answers"]} == {1: 3000, 2: 5000, 3: 8000}


def test_a_browser_that_keeps_nothing_says_so(browser: Any, tmp_path: Path) -> None:
    options = PageOptions(language="cs", tasks=("open_prompt",), metrics=("task_quality",), annotators=1, practice=0)
    pages = made("bundled", tmp_path / "pages", options)
    with visitor(browser) as context:
        context.add_init_script("Object.defineProperty(window, 'indexedDB', { get() { throw new Error('refused') } })")
        page = open_page(context, pages.files[0].as_uri())
        strings = data_of(page)["strings"]
        assert page.inner_text(".warning") == strings["storage_refused"]
        page.click("button.main")
        label(page, digit, 10)
        assert strings["time_to_save"] in page.inner_text("dialog")


def test_a_storage_that_takes_nothing_is_noticed_on_the_first_screen(browser: Any, tmp_path: Path) -> None:
    options = PageOptions(language="cs", tasks=("open_prompt",), metrics=("task_quality",), annotators=1, practice=0)
    pages = made("bundled", tmp_path / "pages", options)
    with visitor(browser) as context:
        context.add_init_script("IDBObjectStore.prototype.put = () => { throw new Error('full') }")
        page = open_page(context, pages.files[0].as_uri())
        page.wait_for_selector(".warning")
        assert page.inner_text(".warning") == data_of(page)["strings"]["storage_refused"]


HOSTILE = "</script><script>window.ran=1</script><img src=x onerror='window.ran=1'>\u202e{{7*7}}\x00=cmd"


def test_hostile_texts_stay_texts(browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    row = {"item_id": HOSTILE, "language": "en", "task": "t" + HOSTILE, "group": HOSTILE, "output": HOSTILE, "prompt": HOSTILE}
    (folder / "items.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    (folder / "data.toml").write_text(
        f'id = "x"\n[metrics."{HOSTILE.encode("unicode_escape").decode()[:40].replace(chr(34), "")}"]\nkind = "nominal"\n'
        "classes = ['<b>A</b>', '</script>', 'c']\n".replace("\\", "\\\\"),
        "utf-8",
    )
    (tmp_path / "about.txt").write_text(HOSTILE, "utf-8")
    pages = made(str(folder), tmp_path / "pages", PageOptions(fields=("prompt", "output"), annotators=1, about=tmp_path / "about.txt"))
    with visitor(browser) as context:
        page = open_page(context, pages.files[0].as_uri())
        page.check("#consent")
        page.click("button.main")
        page.keyboard.press("2")
        shown = page.inner_text(".text.output")
        assert "<script>" in shown and "⟨U+202E⟩" in shown and "{{7*7}}" in shown
        assert page.evaluate("window.ran") is None and page.said == []
        assert page.evaluate("Object.values(sitting.answers.kept.items)[0].scores") == {
            page.evaluate("page.items[0].questions[0]"): "</script>"
        }
        page.evaluate("fetch('https://example.org/').catch(() => 0)")
        page.wait_for_timeout(50)
        assert any("Content Security Policy" in text for text in page.said)


@pytest.mark.needs("axe-core")
def test_people_answer_to_reasons_and_learn_at_the_end_whose_they_are(browser: Any, tmp_path: Path, axe_core: str) -> None:
    """Four Czech texts with hostile reasons: by keys and by mouse, a reload in the middle, and every answer is found after the import."""
    data = load_bundled(LIBRARY, ["cs"])
    chosen = [item.item_id for item in data.items if item.task == "open_prompt" and item.split == "test"][:4]
    metrics = ("linguistic_acceptability", "task_quality")
    reviewed = {name: {metric: ReviewedScore(2, f"{name} {HOSTILE}") for metric in metrics} for name in chosen}
    pages = made(
        "bundled",
        tmp_path / "pages",
        PageOptions(
            language="cs", tasks=("open_prompt",), annotators=("eva",), review=(ReviewedJudge("secret/judge", "r", "single", 0.0), reviewed)
        ),
    )
    with visitor(browser, width=390) as context:
        page = open_page(context, pages.files[0].as_uri())
        machine = page.evaluate("page.strings.rater_was_machine")
        page.click("button.main")
        assert page.locator(".question").count() == 2 and "<script>" in page.inner_text(".review blockquote >> nth=0")
        page.evaluate("sitting.reveal()")  # as a reader scrolls to the question
        page.keyboard.press("1")  # agree: on to the second question
        page.keyboard.press("3")
        page.click("[data-value=wrong_fact]")
        page.click("[data-value=too_strict]")
        page.click("[data-value=too_strict]")
        assert page.locator("[data-value=wrong_fact]").get_attribute("aria-pressed") == "true"
        page.locator("textarea").nth(1).fill("s")
        page.locator("textarea").nth(1).press("c")  # typed: here it is no key of the page
        page.evaluate(axe_core)
        found = page.evaluate(
            "axe.run().then(all => all.violations.filter(one => ['serious', 'critical'].includes(one.impact)).map(one => one.id))"
        )
        assert found == []
        page.reload()
        page.wait_for_selector("body[data-ready]")
        page.click("button.main")
        for number in range(3):
            assert machine not in page.inner_text("body")
            page.evaluate("sitting.reveal()")
            page.keyboard.press("2")
            page.keyboard.press("Enter")
            page.keyboard.press("1")
            if number == 2:
                assert machine not in page.inner_text("body")
            page.keyboard.press("Enter")
        page.wait_for_selector("h1")
        assert machine in page.inner_text("main") and page.evaluate("window.ran") is None
        said = [text for text in page.said if "Content Security Policy" not in text]
        result = save(page, tmp_path / "pages" / "results")
        assert said == []
    imported = import_page_results([result], tmp_path / "data", options=KEEP)
    assert (imported.reviews, imported.labels, imported.refused) == (8, 0, ())
    reviews = read_reviews(tmp_path / "data")
    assert sorted(one.agreement for one in reviews) == ["agree"] * 4 + ["disagree"] + ["partly"] * 3
    [disagreed] = [one for one in reviews if one.agreement == "disagree"]
    assert (disagreed.reasons, disagreed.words, disagreed.judge) == (("wrong_fact",), "sc", "secret/judge")
    assert disagreed.justification == f"{disagreed.item_id} {HOSTILE}"


@pytest.mark.skipif("HARNESS_PICTURES" not in os.environ, reason="HARNESS_PICTURES names no folder for the picture of docs/labels.md")
def test_picture_of_a_review(browser: Any, tmp_path: Path) -> None:
    """The reason is an example; no judge gave it."""
    reviewed = {
        "ja-op-1-partly-on-task": {"task_quality": ReviewedScore(2, "助言が三つあり、理由も書かれています。最後の一文も親しみがあります。")}
    }
    review = (ReviewedJudge("example", "example", "single"), reviewed)
    pages = made("bundled", tmp_path / "pages", PageOptions(language="ja", annotators=("hana",), review=review))
    with visitor(browser, width=1100) as context:
        page = open_page(context, pages.files[0].as_uri())
        page.set_viewport_size({"width": 1100, "height": 860})
        page.click("button.main")
        page.keyboard.press("2")
        page.click("[data-value=too_lenient]")
        page.mouse.move(0, 0)
        page.wait_for_timeout(300)
        page.screenshot(path=Path(os.environ["HARNESS_PICTURES"]) / "labelling-review.png")


def test_five_hundred_long_items_are_a_small_page_whose_texts_are_there_once_they_are_wanted(browser: Any, tmp_path: Path) -> None:
    """benchmarks/labelling.py prints how quick it is."""
    data = load_bundled(LIBRARY, ["cs"])
    folder = tmp_path / "many"
    folder.mkdir()
    item = next(one for one in data.items if one.task == "summarize")
    rows = [{"item_id": f"i{n}", "language": "cs", "task": "summarize", **item.fields} for n in range(500)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    pages = made(str(folder), tmp_path / "pages", PageOptions(annotators=1))
    assert pages.files[0].stat().st_size < 3_000_000
    with visitor(browser) as context:
        page = open_page(context, pages.files[0].as_uri())
        page.evaluate("sitting.answers.kept.practised = page.practice.length")
        page.click("button.main")
        assert str(item.fields["passage"])[:20] in page.inner_text("article.texts")
        assert page.evaluate("page.items.length === 500 && page.items.every((item) => item.texts.passage)")


def test_a_page_that_was_cut_on_its_way_offers_no_button(browser: Any, tmp_path: Path) -> None:
    [path] = made("bundled", tmp_path / "pages", PageOptions(tasks=("summarize",), language="cs", annotators=1)).files
    cut = tmp_path / "cut.html"
    cut.write_text(path.read_text("utf-8")[:-2000], "utf-8")
    with visitor(browser) as context:
        page = open_page(context, cut.as_uri())
        wait_until(page, "!document.querySelector('button.main')")
        assert page.inner_text("main") == page.evaluate("page.strings.no_scripts")


def wait_until(page: Any, expression: str) -> None:
    """Ask again and again: the policy of these pages forbids the function that waits."""
    deadline = time.monotonic() + HANG_SECONDS
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(20)


def test_a_served_page_keeps_its_answers_on_the_server(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs the extra serve")
    import threading

    import uvicorn

    from harness.annotate.serve import application, served_pages

    options = PageOptions(language="cs", tasks=("open_prompt",), metrics=("task_quality",), annotators=("eva",), practice=0)
    made("bundled", tmp_path / "pages", options)
    [served] = served_pages(tmp_path / "pages")
    server = uvicorn.Server(uvicorn.Config(application(tmp_path / "pages", [served]), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    [[port]] = [[each.getsockname()[1] for each in one.sockets] for one in server.servers]
    try:
        with visitor(browser) as context:  # its dead proxy is not for addresses of this machine
            page = open_page(context, f"http://127.0.0.1:{port}/{served.token}/")
            page.click("button.main")
            page.route("**/answers", lambda route: route.abort())
            label(page, digit, 3)
            page.keyboard.press("p")
            wait_until(page, "sitting.kept === page.strings.server_lost")
            page.unroute("**/answers")
            wait_until(page, "sitting.kept === page.strings.saved_server")
            assert all("ERR_FAILED" in said for said in page.said)  # what the browser says of the requests that failed
    finally:
        server.should_exit = True
        thread.join()
    [result] = (tmp_path / "pages" / "results").glob("*.json")
    assert import_page_results([result], tmp_path / "data", options=KEEP).labels == 3
