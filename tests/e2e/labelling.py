"""People who label, played by a script: opens a page in the browser, answers its texts by the keyboard, and saves the result file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.annotate.page_content import data_of as read_page

Answer = Callable[[dict[str, Any], str], str]  # (item of the page, metric) -> the score to give


@contextmanager
def visitor(browser: Any, *, width: int = 1280, height: int = 900) -> Iterator[Any]:
    """A person's own browser: what it keeps stays between the pages that it opens."""
    context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, reduced_motion="reduce")
    try:
        yield context
    finally:
        context.close()


def open_page(context: Any, address: str) -> Any:
    """The page once it is ready; what it complains of is in `page.said`, what it asks for in `page.asked`."""
    page = context.new_page()
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    return page


def data_of(page: Any) -> dict[str, Any]:
    """The JSON that the page holds."""
    data = read_page(page.content())
    assert data
    return data


def press(page: Any, metric: str, score: Any) -> None:
    """Type the key of a score: its digit, or y and n where the classes are yes and no."""
    page.evaluate("sitting.reveal()")  # as a reader on a narrow screen scrolls to the question
    classes = data_of(page)["questions"].get(metric, {}).get("classes", ())
    page.keyboard.press(next((one["key"] for one in classes if str(one["value"]) == str(score) and "key" in one), str(score)))


def practise(page: Any) -> None:
    """Start or go on, and do all practice texts."""
    page.click("button.main")
    for item in data_of(page)["practice"]:
        for metric in item["questions"]:
            press(page, metric, item["expected"][metric])
        page.keyboard.press("Enter")
        page.wait_for_selector(".verdict")
        page.keyboard.press("Enter")


def label(page: Any, answer: Answer, texts: int, start: int = 0) -> dict[str, dict[str, Any]]:
    """Answer texts from `start` on; return `{key of the text: {metric: score}}`."""
    said: dict[str, dict[str, Any]] = {}
    for item in data_of(page)["items"][start : start + texts]:
        said[item["key"]] = {metric: answer(item, metric) for metric in item["questions"]}
        for metric, score in said[item["key"]].items():
            press(page, metric, score)
        page.keyboard.press("Enter")
    page.wait_for_timeout(50)
    return said


def save(page: Any, folder: Path) -> Path:
    """Save the result file from the last screen or the screen of a text."""
    with page.expect_download() as download:
        page.evaluate("sitting.save()")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / str(download.value.suggested_filename)
    download.value.save_as(path)
    return path
