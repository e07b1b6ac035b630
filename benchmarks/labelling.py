"""How large a labelling page of 500 items with passages is, and how quickly it is ready and shows the next item: `make bench`.

Prints megabytes, and in headless Chromium the milliseconds until the page is ready (median and largest of 5): by the clock of the page,
from the start of its navigation, and as the program sees it that drives the browser. An empty page is opened in the same way, in turn with
the other: it shows the share of browser, driver and machine. Then the milliseconds from a key until the next item is drawn (of 50).
Asserts nothing.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.annotate.labelling_options import PageOptions
from harness.annotate.pages_for_annotators import make_pages
from harness.content import Library
from harness.data import load_folder

ITEMS, LETTERS, OPENINGS = 500, 900, 5
LIMITS = "limits: 3 MB; ready 500 ms, next item 50 ms"


def make_folder(folder: Path) -> None:
    """500 Czech summaries with passages of 900 letters."""
    chance = random.Random(0)
    library = Library()
    words = [word for item in json_rows(library.item_files("cs")["summarize"]) for word in item["passage"].split()]
    folder.mkdir()
    with (folder / "items.jsonl").open("w", encoding="utf-8") as file:
        for n in range(ITEMS):
            texts = {"passage": " ".join(chance.choices(words, k=200))[:LETTERS], "output": " ".join(chance.choices(words, k=50))[:200]}
            file.write(json.dumps({"item_id": f"i{n}", "language": "cs", "task": "summarize", **texts}, ensure_ascii=False) + "\n")


def json_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def opened(browser: Any, path: Path) -> tuple[Any, float]:
    """The page in a browser of its own, and the milliseconds until it is ready for the program that drives the browser."""
    page = browser.new_context().new_page()
    start = time.perf_counter()
    page.goto(path.as_uri(), wait_until="commit")
    page.wait_for_selector("body[data-ready]")
    return page, 1000 * (time.perf_counter() - start)


def measure(path: Path, empty: Path) -> tuple[list[float], list[float], list[float], list[float]]:
    """Milliseconds until the page is ready by its own clock, then for the driver, and an empty page; and for each of 50 next items."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        own, ready, nothing = [], [], []
        opened(browser, empty)
        for _ in range(OPENINGS):
            nothing.append(opened(browser, empty)[1])
            page, milliseconds = opened(browser, path)
            ready.append(milliseconds)
            own.append(page.evaluate("performance.getEntriesByName('ready')[0].startTime"))
        page.click("button.main")
        steps = page.evaluate(
            """async () => { const steps = [];
            for (let n = 0; n < 50; n += 1) {
              for (const _ of sitting.item.questions) sitting.digit("1");
              const start = performance.now();
              sitting.next();
              await new Promise(requestAnimationFrame);
              document.body.getBoundingClientRect();
              steps.push(performance.now() - start);
            }
            return steps }"""
        )
        browser.close()
    return own, ready, nothing, steps


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_folder(folder / "data")
        begin = time.perf_counter()
        [path] = make_pages(load_folder(folder / "data", Library()), "data", folder / "pages", Library(), PageOptions(annotators=1)).files
        print(f"a page of {ITEMS} items: {path.stat().st_size / 1e6:.2f} MB, written in {time.perf_counter() - begin:.1f} s  ({LIMITS})")
        if shutil.which("chromium") and find_spec("playwright"):
            empty = folder / "empty.html"
            empty.write_text("<!doctype html><title>empty</title><body data-ready=true>empty", encoding="utf-8")
            own, ready, nothing, steps = measure(path, empty)
            print(f"ready {statistics.median(own):.0f} ms by the clock of the page, largest {max(own):.0f} ms")
            print(f"as the driver sees it {statistics.median(ready):.0f} ms; an empty page {statistics.median(nothing):.0f} ms")
            print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
            print(f"next item {statistics.median(steps):.0f} ms, largest {max(steps):.0f} ms")


if __name__ == "__main__":
    main()
