"""Five readers in a real browser read minimal pairs without knowing which text is flawed; the import says which pairs are kept."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.annotate.blind_pairs import blind_pairs, differing_places, load_pack
from harness.annotate.page_results import PageRecord, read_record
from harness.content import Library
from harness.model import Item
from tests.e2e.labelling import data_of, open_page, save, visitor
from tests.e2e.pages import chromium

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]

Command = Callable[..., Any]
LIBRARY = Library()
LAST = "ja-models-2-replaced-constraint-subtle"
PAIRS = [
    "ja-models-1-counter-plain",
    "ja-models-1-counter-subtle",
    "ja-models-2-agreement-subtle",
    "ja-models-2-replaced-constraint-subtle",
]
DIGIT = {"A": "1", "B": "2", "tie": "3"}
MARK = """([field, start, end]) => { const text = document.querySelector(`.text.output[data-field=${field}]`).firstChild;
    const range = document.createRange(); range.setStart(text, start); range.setEnd(text, end);
    getSelection().removeAllRanges(); getSelection().addRange(range) }"""


def answer_of(reader: int, pair: Item) -> str:
    """Four of five see every flaw but the last one, which three of them take for as good."""
    if pair.item_id == LAST and reader < 3:
        return "tie"
    return str(pair.fields["better"]) if reader else {"A": "B", "B": "A"}[pair.fields["better"]]


def read(page: Any, record: PageRecord, reader: int, pairs: dict[str, Item]) -> None:
    names = {entry.key: entry.item_id for own in record.pages for entry in own.items}
    page.click("button.main")
    for item in data_of(page)["items"]:
        pair = pairs[names[item["key"]]]
        answer = answer_of(reader, pair)
        if answer == pair.fields["better"]:
            flawless, flawed = ("output_a", "output_b") if answer == "A" else ("output_b", "output_a")
            start, end = differing_places(item["texts"][flawless], item["texts"][flawed])[0]
            page.evaluate(MARK, [flawed, start, max(end, start + 1)])
            page.keyboard.press("m")
            assert page.locator("ul.marks li").count() == 1
        page.keyboard.press(DIGIT[answer])
        page.keyboard.press("Enter")
    page.wait_for_selector("h1")


def test_pages_five_readers_and_the_pairs_that_are_kept(command: Command, tmp_path: Path) -> None:
    listed = tmp_path / "pairs.txt"
    listed.write_text("\n".join(PAIRS), "utf-8")
    folder = tmp_path / "pages"
    made = command("labels", "page", "bundled", "--pack", "models", "--blind-pairs", "--lang", "ja", "--items", listed, "--out", folder)
    assert made.returncode == 0 and "4 items for 5 annotators" in made.stderr, made.stderr
    record, pairs = read_record(folder / "pages.json"), blind_pairs(load_pack(LIBRARY, "models"), LIBRARY).by_id
    results = []
    with chromium() as browser:
        for reader, own in enumerate(record.pages):
            with visitor(browser) as context:
                page = open_page(context, (folder / own.file).as_uri())
                read(page, record, reader, dict(pairs))
                assert page.said == []
                results.append(save(page, folder / "results"))

    def imported(results: list[Path]) -> Any:
        files = ("--pages", folder, "--to", tmp_path / "data", "--append", "--salt-file", tmp_path / "salt")
        done = command("labels", "import", *results, *files)
        assert done.returncode == 0, done.stderr
        return done

    first = imported(results[:3])
    assert "pairs kept (4 of 5 readers agree with what is constructed): 0 of 0; 4 have fewer than 5 readers" in first.stderr
    done = imported(results[3:])
    assert "pairs kept (4 of 5 readers agree with what is constructed): 3 of 4" in done.stderr, done.stderr
    rows = {row["item_id"]: row for row in csv.DictReader((tmp_path / "data" / "pairs_kept.csv").read_text("utf-8").splitlines())}
    assert {name: row["kept"] for name, row in rows.items()} == dict.fromkeys(PAIRS[:3], "yes") | {LAST: "no"}
    assert [rows[LAST][name] for name in ("readers", "agree", "equal", "other", "found")] == ["5", "2", "3", "0", "2"]
    assert [rows[PAIRS[0]][name] for name in ("readers", "agree", "equal", "other", "found")] == ["5", "4", "0", "1", "4"]
    reviewed = tomllib.loads((tmp_path / "data" / "reviewed_by.toml").read_text("utf-8"))["reviewed_by"]
    version = LIBRARY.further_pack_files["ja/models"].read_text("utf-8").split('version = "')[1].split('"')[0]
    said = f"4 minimal pairs of packs/models {version}, without knowing which text is flawed"
    assert [set(row) for row in reviewed] == [{"who", "when", "read"}] * 5 and {row["read"] for row in reviewed} == {said}
    labels = [json.loads(line) for line in (tmp_path / "data" / "labels.jsonl").read_text("utf-8").splitlines()]
    assert len(labels) == 20 and {label["annotator_id"] for label in labels} == {row["who"] for row in reviewed}
