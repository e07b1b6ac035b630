"""Takes the pictures of docs/ten-minutes.md again: `python docs/make_pictures.py`. Needs Playwright and a Chromium.

Each is the first screen of a page that the commands of the tutorial write.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from make_start import prepare
from playwright.sync_api import sync_playwright

FIGURES = Path(__file__).with_name("figures")
RUN = "hodnoceni-cs-helpful-score"
STEPS = (  # a command, the page that it writes, the picture
    ("compare answers.csv --html table.html", "table.html", "tutorial-table.png"),
    ("start hodnoceni.csv --metric helpfulness --sampling random --yes", "", ""),
    (
        "labels page hodnoceni --metrics helpfulness --fields odpoved --next 5 --annotators 1 --out pages",
        "pages/cs-A1.html",
        "tutorial-label.png",
    ),
    ("run --data hodnoceni --prompt hodnoceni/ask-helpfulness.toml --judge python:helpful:score --unlabelled", "", ""),
    (f"compare {RUN} --html judge.html", "judge.html", "tutorial-judge.png"),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        prepare(folder)
        environment = {**os.environ, "PYTHONPATH": name}
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 640})
        for command, written, picture in STEPS:
            done = subprocess.run(
                [sys.executable, "-m", "harness", *command.split()], cwd=folder, env=environment, capture_output=True, text=True
            )
            if done.returncode:
                sys.exit(f"harness {command}: {done.stderr}")
            if picture:
                page.goto((folder / written).as_uri())
                if "labels" in command:
                    page.wait_for_selector("body[data-ready]")
                    page.click("button.main")
                    page.wait_for_selector(".item")
                page.screenshot(path=FIGURES / picture)
        browser.close()


if __name__ == "__main__":
    main()
