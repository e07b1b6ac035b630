"""The afternoon of docs/labels.md, run as it is written. A script plays the three people; its answers are simulated.

HARNESS_PICTURES=docs/figures writes the pictures of the document.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.content import Library
from harness.data import load_folder
from tests.e2e.labelling import data_of, open_page, save, visitor
from tests.e2e.pages import chromium

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "labels.md"
SECTION = re.search(r"^## An afternoon\n(.*?)^## ", DOCUMENT.read_text("utf-8"), re.DOTALL | re.MULTILINE)
COMMANDS = re.findall(r"^harness (.+)$", SECTION[1] if SECTION else "", re.MULTILINE)


def run(command: str, capsys: pytest.CaptureFixture[str], run_names: dict[str, str]) -> str:
    """Run one command in the present folder, with files for patterns; return what it prints."""
    words = [run_names.get(word, word) for word in shlex.split(command)]
    words = [name for word in words for name in (sorted(glob.glob(word)) if "*" in word else [word])]
    code = main(words)
    printed = capsys.readouterr()
    assert code == 0, f"{command}: {printed.err}"
    return printed.out + printed.err


def annotate(browser: Any, path: Path, answer: str, pictures: Path | None) -> None:
    """One person's way through a page: start, practise, label every text, save."""

    def picture(name: str) -> None:
        if pictures:
            page.wait_for_timeout(300)
            page.screenshot(path=pictures / f"labelling-{name}.png")

    with visitor(browser, width=1100) as context:
        page = open_page(context, path.resolve().as_uri())
        page.set_viewport_size({"width": 1100, "height": 640})
        picture("start")
        page.click("button.main")
        for number, _ in enumerate(data_of(page)["practice"]):
            page.keyboard.press("1")
            page.keyboard.press("Enter")
            page.wait_for_selector(".verdict")
            if number == 0:
                picture("practice")
            page.keyboard.press("Enter")
        for number, item in enumerate(data_of(page)["items"]):
            page.keyboard.press(answer if int(item["key"], 16) % 3 else "1")
            if number == 1:
                picture("text")
            page.keyboard.press("Enter")
        page.wait_for_selector("h1")
        save(page, path.parent / "results")
        assert page.said == []


def test_the_afternoon_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    folder = os.environ.get("HARNESS_PICTURES")
    pictures = Path(folder).resolve() if folder else None
    monkeypatch.chdir(tmp_path)
    assert [" ".join(command.split()[:2]) for command in COMMANDS][:3] == ["run --board", "labels plan", "labels page"]
    names: dict[str, str] = {}
    text = DOCUMENT.read_text("utf-8")
    for command in COMMANDS:
        if command.startswith("labels import"):
            with chromium() as browser:
                for who, answer in (("hana", "2"), ("taro", "2"), ("jiro", "0")):
                    annotate(browser, tmp_path / "pages" / f"{who}.html", answer, pictures if who == "hana" else None)
        printed = run(command, capsys, names)
        if command.startswith("compare"):
            assert "Japanese" in printed and "baseline/length" in printed
        if command.startswith("labels plan"):
            assert all(line in text for line in printed.splitlines())
        if command.startswith("run "):
            names["RUN"] = max((tmp_path / "results" / "runs").iterdir(), key=lambda path: path.stat().st_mtime).name
    data = load_folder(tmp_path / "labels-ja", Library())
    assert len(data.labels) == 90 and len(data.items) == 30 and data.about.sampling == "random"
    assert all(0 < item.fields["inclusion_probability"] <= 1 for item in data.items)
