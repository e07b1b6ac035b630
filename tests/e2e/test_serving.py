"""From a served page to the comparison, with the real command and a real browser; tabs and devices of one person lose nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.annotate.page_results import read_record
from harness.content import Library
from harness.data import load_folder
from tests.conftest import HANG_SECONDS
from tests.e2e.labelling import data_of, label, open_page, practise, save, visitor
from tests.e2e.pages import chromium
from tests.e2e.test_labelling import digit, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]
pytest.importorskip("uvicorn", reason="needs the extra serve")

Command = Callable[..., subprocess.CompletedProcess[str]]
WITHOUT_LOCKS = "Object.defineProperty(navigator, 'locks', { value: undefined })"  # as on pages of a server that is not encrypted


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@contextmanager
def serving(folder: Path) -> Iterator[list[str]]:
    """`harness labels serve` on a free port; the links that it prints, in the order of the pages."""
    words = [sys.executable, "-m", "harness", "labels", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield [process.stdout.readline().split()[1] for _ in read_record(folder / "pages.json").pages]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(HANG_SECONDS)


def made(command: Command, to: Path, *options: str) -> Path:
    """Pages on Czech control items for one metric."""
    what = ("--lang", "cs", "--task", "open_prompt", "--metrics", "task_quality", "--annotators", "eva", *options)
    assert command("labels", "page", "bundled", *what, "--out", to).returncode == 0
    return to


def kept(folder: Path) -> dict[str, dict[str, Any]]:
    """Scores by text in the one result file of a folder."""
    [path] = (folder / "results").glob("*.json")
    return {one["key"]: one["scores"] for one in json.loads(path.read_text("utf-8"))["answers"] if one["scores"]}


def labels_of(data: Path, pages: Path) -> dict[str, dict[str, Any]]:
    """The labels of a data folder by the key that their texts have on the only page."""
    keys = {entry.item_id: entry.key for entry in read_record(pages / "pages.json").pages[0].items if entry.role == "label"}
    found: dict[str, dict[str, Any]] = {}
    for one in load_folder(data, Library()).labels:
        found.setdefault(keys[one.item_id], {})[one.metric] = one.score
    return found


def scores(said: dict[str, dict[str, str]]) -> dict[str, dict[str, int]]:
    return {key: {metric: int(pressed) for metric, pressed in own.items()} for key, own in said.items()}


def test_what_the_server_keeps_is_imported_and_compared(browser: Any, tmp_path: Path, command: Command) -> None:
    pages = made(command, tmp_path / "pages")
    with serving(pages) as [link], visitor(browser) as context:
        page = open_page(context, link)
        practise(page)
        said = label(page, digit, len(data_of(page)["items"]))
        wait_until(page, "sitting.kept === page.strings.saved_server")
        page.wait_for_selector("h1")
        assert page.said == []
    imported = command("labels", "import", *(pages / "results").glob("*.json"), "--to", tmp_path / "data")
    assert (imported.returncode, len(said)) == (0, len(labels_of(tmp_path / "data", pages))), imported.stderr
    assert labels_of(tmp_path / "data", pages) == scores(said)
    data = ("--data", tmp_path / "data", "--langs", "cs", "--metrics", "task_quality")
    run = command("run", *data, "--judge", "baseline/length", "--out", tmp_path / "results")
    assert run.returncode == 0, run.stderr
    [name] = [path.name for path in (tmp_path / "results" / "runs").iterdir()]
    compared = command("compare", name, "--out", tmp_path / "results")
    assert compared.returncode == 0 and "baseline/length" in compared.stdout


COMMENT = '\'=1+1; "věta"\nnová řádka, \u200b@konec 🙂'


def test_every_file_that_a_page_saves_is_imported_as_the_browser_wrote_it(browser: Any, tmp_path: Path, command: Command) -> None:
    """The result file and the table, with marked errors and a comment that CSV and spreadsheets stumble over."""
    pages = made(command, tmp_path / "pages", "--mark-errors", "--practice", "1", "--checks", "1")
    with visitor(browser) as context:
        page = open_page(context, (pages / "eva.html").as_uri())
        practise(page)
        page.keyboard.press("c")
        page.fill("textarea", COMMENT)
        page.click("dialog button.main")
        page.evaluate("""() => { const text = document.querySelector('.text.output').firstChild; const range = document.createRange();
            range.setStart(text, 2); range.setEnd(text, 7); getSelection().removeAllRanges(); getSelection().addRange(range) }""")
        page.keyboard.press("m")
        label(page, digit, 4)
        page.keyboard.press("s")
        page.keyboard.press("2")
        files = {".json": save(page, tmp_path / "sent")}
        with page.expect_download() as download:
            page.evaluate("saveTable(sitting.answers)")
        files[".csv"] = tmp_path / "sent" / str(download.value.suggested_filename)
        download.value.save_as(files[".csv"])
    folders = {}
    for ending, path in files.items():
        folders[ending] = tmp_path / f"data{ending}"
        imported = command("labels", "import", path, "--pages", pages, "--to", folders[ending], "--keep-annotators")
        assert imported.returncode == 0, imported.stderr
    one, other = (
        {name: (folder / f"{name}.jsonl").read_text("utf-8") for name in ("items", "labels", "comments")} for folder in folders.values()
    )
    assert one == other and COMMENT in [json.loads(line)["comment"] for line in one["comments"].splitlines()]
    assert '"severity":"major"' in one["labels"]
    both = command("labels", "import", *files.values(), "--pages", pages, "--to", tmp_path / "both", "--keep-annotators")
    assert both.returncode == 0 and (tmp_path / "both" / "labels.jsonl").read_text("utf-8") == one["labels"]
    text = files[".csv"].read_text("utf-8")
    files[".csv"].write_text(text.replace(",task_quality,0,", ",task_quality,1,", 1), "utf-8")
    assert command("labels", "import", files[".csv"], "--pages", pages, "--to", tmp_path / "edited").returncode == 3


@pytest.mark.parametrize("served", [False, True])
def test_a_second_tab_waits_until_it_is_asked_to_go_on(browser: Any, tmp_path: Path, command: Command, served: bool) -> None:
    pages = made(command, tmp_path / "pages", "--practice", "0")
    with serving(pages) as [link], visitor(browser) as context:
        address = link if served else (pages / "eva.html").as_uri()
        one = open_page(context, address)
        one.click("button.main")
        said = label(one, digit, 2)
        other = open_page(context, address)
        strings = data_of(other)["strings"]
        assert other.inner_text(".warning") == strings["open_elsewhere"]
        other.keyboard.press("1")
        said |= label(one, digit, 2, start=2)
        other.click("button.main")
        other.wait_for_selector(".note")
        assert one.inner_text(".warning") == strings["open_elsewhere"]
        one.keyboard.press("1")
        other.click("button.main")
        assert other.evaluate("sitting.place") == 4
        said |= label(other, digit, 2, start=4)
        assert {key: own["scores"] for key, own in other.evaluate("sitting.answers.kept.items").items() if own["scores"]} == scores(said)
        one.close()
        other.close()
        again = open_page(context, address)
        assert again.evaluate("sitting.answers.done") == 6 and (kept(pages) == scores(said) if served else True)


@pytest.mark.parametrize("served", [False, True])
def test_two_tabs_without_a_lock_lose_no_answer(browser: Any, tmp_path: Path, command: Command, served: bool) -> None:
    """The second tab begins with fewer answers than the first has in the end, and writes last."""
    pages = made(command, tmp_path / "pages", "--practice", "0")
    with serving(pages) as [link], visitor(browser) as context:
        context.add_init_script(WITHOUT_LOCKS)
        address = link if served else (pages / "eva.html").as_uri()
        one, other = open_page(context, address), open_page(context, address)
        one.click("button.main")
        said = label(one, digit, 5)
        other.click("button.main")
        said |= label(other, lambda item, metric: "2", 2)  # the first two texts again, later
        wait_until(other, "sitting.answers.done === 5")
        one.keyboard.press("p")  # the first tab writes once more what it knows
        one.wait_for_timeout(100)
        again = open_page(context, address)
        assert {key: own["scores"] for key, own in again.evaluate("sitting.answers.kept.items").items() if own["scores"]} == scores(said)
        result = save(again, tmp_path / "sent")
        if served:
            wait_until(again, "!sitting.server.sending")
    sources = [result, *(pages / "results").glob("*.json")]
    imported = command("labels", "import", *sources, "--pages", pages, "--to", tmp_path / "data", "--keep-annotators")
    assert imported.returncode == 0, imported.stderr
    assert labels_of(tmp_path / "data", pages) == scores(said)


def test_a_second_device_goes_on_and_an_old_state_takes_nothing_away(browser: Any, tmp_path: Path, command: Command) -> None:
    pages = made(command, tmp_path / "pages", "--practice", "0")
    with serving(pages) as [link]:
        with visitor(browser) as phone, visitor(browser) as laptop:
            one = open_page(phone, link)
            one.click("button.main")
            said = label(one, digit, 3)
            wait_until(one, "sitting.kept === page.strings.saved_server")
            old = one.evaluate("resultOf(sitting.answers)")
            other = open_page(laptop, link)
            assert "3" in other.inner_text(".note")
            other.click("button.main")
            said |= label(other, digit, 3, start=3)
            said |= label(one, lambda item, metric: "2", 1, start=3)  # both answered the fourth text; the phone was later
            wait_until(other, "sitting.kept === page.strings.saved_server && !sitting.server.sending")
            wait_until(one, "sitting.kept === page.strings.saved_server && !sitting.server.sending")
        assert kept(pages) == scores(said)
        as_json = {"content-type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(link + "answers", json.dumps(old).encode(), as_json)) as answer:
            assert len([one for one in json.load(answer)["answers"] if one["scores"]]) == 6
        assert kept(pages) == scores(said)


def test_an_answer_that_is_taken_back_is_taken_back_on_the_server(browser: Any, tmp_path: Path, command: Command) -> None:
    pages = made(command, tmp_path / "pages", "--practice", "0")
    with serving(pages) as [link], visitor(browser) as context:
        page = open_page(context, link)
        page.click("button.main")
        said = label(page, digit, 2)
        wait_until(page, "sitting.kept === page.strings.saved_server")
        page.keyboard.press("u")
        said.popitem()
        deadline = time.monotonic() + HANG_SECONDS
        while kept(pages) != scores(said):
            assert time.monotonic() < deadline
            page.wait_for_timeout(20)


def test_an_older_file_takes_no_answer_away(browser: Any, tmp_path: Path, command: Command) -> None:
    pages = made(command, tmp_path / "pages", "--practice", "0")
    with visitor(browser) as context:
        page = open_page(context, (pages / "eva.html").as_uri())
        page.click("button.main")
        label(page, digit, 2)
        old = save(page, tmp_path / "sent")
        label(page, digit, 3, start=2)
        page.reload()
        page.wait_for_selector("body[data-ready]")
        page.set_input_files("input[type=file]", old)
        wait_until(page, "document.getElementById('status').textContent !== ''")
        assert page.evaluate("sitting.answers.done") == 5
