"""Standings by the command: baselines and scripted judges are run, submitted, ranked, and written down."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.content.library import bundled_root
from harness.content.specs import Board, read_spec
from tests.e2e.conftest import Endpoint, Request
from tests.e2e.pages import chromium, opened

OK, USAGE, CONTENT = 0, 2, 3
Cli = Callable[..., Any]
BASELINES = ("baseline/majority", "baseline/length", "baseline/constant-best")
METRICS = ("linguistic_acceptability", "task_quality")
REASON = "The text was read from its beginning to its end"

BOARD = """id = "small"
version = "1.0.0"
title = "Small"
description = "Two languages, two metrics."
data = "bundled"
variants = ["single"]
temperature = 0
repeats = 2
majority = "drop"
annotators = ""
statistics = ["pa_failed_wrong", "cohen_kappa", "alpha_nominal", "alpha_ordinal", "leniency"]
rank_by = "pa_failed_wrong"
[tasks]
open_prompt = "1.0.0"
continue_writing = "1.0.0"
summarize = "1.0.0"
[rubrics]
linguistic_acceptability = "1.0.1"
task_quality = "1.0.1"
"""


class Judges:
    """Scripted models: `knowing` gives the label, `moody` too but not twice the same, `copying` one reason for all, scores by chance."""

    def __init__(self, served: Endpoint) -> None:
        from harness.boards.board import whole_board

        prepared = whole_board("controls")
        self._served = served
        texts = tuple(name for task in prepared.protocol.wording.tasks for name in prepared.library.task(task).fields)
        self._items = {item.item_id: [str(item.fields[name]) for name in texts if item.fields.get(name)] for item in prepared.data.items}
        self._labels = {(label.item_id, label.metric): label.score for label in prepared.data.labels}
        self._asked = {metric: prepared.library.rubric(metric).simple.instruction for metric in METRICS}

    def __call__(self, request: Request) -> Any:
        model = request.body["model"]
        number = int(hashlib.sha256(json.dumps(request.body["messages"]).encode()).hexdigest(), 16)  # not of the seed, as `request.key` is
        score = number % 2 if model.startswith("copying") else self._right(request)
        reason = f"{REASON}." if model.startswith("copying") else f"{REASON}: it is '{number:x}'."
        if model.startswith("moody"):
            reason += f" Seen as number {len(self._served.requests)}."
        return self._served.saying({"justification": reason, "score": score}, model=model)

    def _right(self, request: Request) -> Any:
        said = "\n".join(str(message["content"]) for message in request.body["messages"])
        [item] = [name for name, texts in self._items.items() if all(text in said for text in texts)]
        metric = max(METRICS, key=lambda metric: said.rfind(self._asked[metric]))
        return self._labels[item, metric]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A content folder with a board of the control items in two languages, and the submissions of six judges."""
    folder = tmp_path_factory.mktemp("standings")
    board = folder / "content" / "leaderboards" / "small"
    board.mkdir(parents=True)
    controls = read_spec(bundled_root() / "leaderboards" / "controls" / "board.toml", Board)
    of_language = {"languages": controls.languages, "items": controls.items}
    tables = [f"[{key}]\n" + "".join(f"{tag} = {json.dumps(table[tag])}\n" for tag in ("cs", "en")) for key, table in of_language.items()]
    (board / "board.toml").write_text(BOARD + "".join(tables), encoding="utf-8")
    (board / "CARD.md").write_text("Small.\n", encoding="utf-8")
    served = Endpoint()
    served.script = Judges(served)
    models = ("openai/knowing-2024-01-01", "openai/copying-2024-01-01", "openai/moody-2024-01-01")
    named = [word for judge in (*models, *BASELINES) for word in ("--judge", judge)]
    place = ["--content", str(folder / "content"), "--out", str(folder / "results")]
    try:
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("OPENAI_API_KEY", "sk-test")
            assert main(["run", "--board", "small", "--base-url", served.url, *named, *place]) == OK
    finally:
        served.close()
    assert main(["submit", "small", "--board", "small", "--out", str(folder / "results")]) == OK
    yield folder / "content"


@pytest.fixture
def own(content: Path, tmp_path: Path) -> Path:
    """The same content, for a test to spoil."""
    return Path(shutil.copytree(content, tmp_path / "content"))


@pytest.mark.slow
def test_who_knows_the_labels_stands_first_in_every_language(cli: Cli, content: Path) -> None:
    found = cli("board", "show", "small", "--json", "--content", content)
    assert found.code == OK
    said = json.loads(found.out)
    for table in said["tables"]:
        assert table["rows"][0]["judge"] in ("openai/knowing-2024-01-01", "openai/moody-2024-01-01")
        assert table["rows"][0]["value"] == 1 and table["rows"][0]["rank"] == table["rows"][1]["rank"] == 1
    pooled = {
        row["judge"]: row for table in said["tables"] if table["language"] == "cs" and table["metric"] == "*" for row in table["rows"]
    }
    assert set(pooled) == {f"openai/{name}-2024-01-01" for name in ("knowing", "copying", "moody")} | set(BASELINES)
    knowing, copying = (pooled[f"openai/{name}-2024-01-01"] for name in ("knowing", "copying"))
    assert knowing["beats_baseline"] and not copying["beats_baseline"]
    assert knowing["rank_ci"] == [1, 2] and not set(knowing["group"]) & set(copying["group"])
    assert knowing["consistency"] == 1 and knowing["coverage"] == 1


def test_what_probes_find_is_said_of_those_who_earn_it(cli: Cli, content: Path) -> None:
    said = json.loads(cli("board", "show", "small", "--json", "--content", content).out)
    flagged = {(finding["probe"], finding["judge"].split("/")[1].split("-")[0]) for finding in said["findings"] if finding["flagged"]}
    assert flagged >= {("justifications", "copying"), ("baselines", "copying"), ("repeats", "moody")}
    assert not flagged & {("justifications", "knowing"), ("repeats", "knowing"), ("twins", "knowing"), ("baselines", "knowing")}


def test_the_same_is_printed_for_people(cli: Cli, content: Path) -> None:
    assert "English · English (en)" not in cli("board", "show", "small", "--content", content).out
    every = cli("board", "show", "small", "--all", "--content", content)
    assert every.code == OK and "Small (constructed labels)" in every.out
    words = ("All languages", "Czech", "English", "does not beat a constant answer", "look closer", "passing is necessary, not sufficient")
    assert all(word in every.out for word in words)
    czech = cli("board", "show", "small", "--lang", "cs", "--content", content).out
    assert "task quality ·" in czech and "English · English (en)" not in czech
    only = json.loads(cli("board", "show", "small", "--lang", "cs", "--json", "--content", content).out)
    assert {table["language"] for table in only["tables"]} == {"cs"}


def test_the_table_is_written_the_same_every_time(cli: Cli, own: Path) -> None:
    assert cli("board", "build", "small", "--content", own).code == OK
    table = own / "leaderboards" / "small" / "TABLE.md"
    first = table.read_bytes()
    assert first.startswith(b"<!-- Generated by") and b"openai/knowing-2024-01-01" in first
    table.write_text("edited")
    assert cli("board", "build", "small", "--content", own).code == OK
    assert table.read_bytes() == first


def test_the_order_of_folders_moves_no_number(cli: Cli, own: Path) -> None:
    before = cli("board", "show", "small", "--json", "--content", own).out
    place = own / "leaderboards" / "small" / "submissions"
    (place / "openai-knowing-2024-01-01").rename(place / "zz")
    assert cli("board", "show", "small", "--json", "--content", own).out == before


def test_a_submission_that_was_edited_is_refused_and_nothing_is_written(cli: Cli, own: Path, refused: Callable[..., None]) -> None:
    card = own / "leaderboards" / "small" / "submissions" / "openai-knowing-2024-01-01" / "judge.toml"
    card.write_text(card.read_text().replace('replies_sha256 = "', 'replies_sha256 = "0')[:-1])
    before = sorted(own.rglob("*"))
    for command in (("show", "small"), ("build", "small", "--site", own / "site")):
        refused(cli("board", *command, "--content", own), CONTENT, "harness board check small")
    assert sorted(own.rglob("*")) == before


def test_names_that_are_not_there_are_explained(cli: Cli, content: Path, refused: Callable[..., None]) -> None:
    refused(cli("board", "show", "smal", "--content", content), USAGE, "no board 'smal'", "small")
    refused(cli("board", "show", "small", "--lang", "ja", "--content", content), USAGE, "ja", "cs, en")


def test_a_site_goes_into_a_folder(cli: Cli, own: Path, tmp_path: Path, refused: Callable[..., None]) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    refused(cli("board", "build", "small", "--content", own, "--site", file), USAGE, "name a folder")
    assert file.read_text() == "mine" and not (own / "leaderboards" / "small" / "TABLE.md").exists()


@pytest.mark.slow
@pytest.mark.needs("chromium")
@pytest.mark.needs("axe-core")
def test_a_site_opens_sorts_fits_a_phone_keeps_to_itself_and_keeps_nobody_out(cli: Cli, own: Path, tmp_path: Path, axe_core: str) -> None:
    assert cli("board", "build", "small", "--content", own, "--site", tmp_path / "site").code == OK
    with chromium() as browser:
        with opened(browser, tmp_path / "site" / "index.html") as shown:
            shown.page.click("h3 >> text=Small")
            shown.page.wait_for_selector(".answers")
            assert shown.page.url.endswith("small.html") and shown.said == []
            shown.page.click("nav >> text=Czech")
            shown.page.wait_for_selector("h2#metrics")
            assert shown.page.url.endswith("small-cs.html") and shown.said == []
        sizes = {"index": ((360, "dark"),), "small": ((360, "dark"), (1440, "light")), "small-cs": ((390, "light"), (1600, "dark"))}
        for name, width, scheme in ((name, *size) for name, every in sizes.items() for size in every):
            with opened(browser, tmp_path / "site" / f"{name}.html", width=width, scheme=scheme) as shown:
                assert shown.page.evaluate("document.documentElement.scrollWidth") == width
                assert shown.serious(axe_core) == [] and shown.said == [] and shown.elsewhere == []
                if name == "small-cs":
                    heading = shown.page.locator("h2#all ~ .scroll thead button", has_text="rank").first
                    heading.press("Enter")
                    heading.press("Enter")
                    first_cells = "t => [...t.tBodies[0].rows].map(r => r.cells[0].textContent)"
                    ranks = shown.page.eval_on_selector("h2#all ~ .scroll table", first_cells)
                    assert [text.split()[0] for text in ranks] == ["3", "1", "1", "–", "–", "–"]


def test_a_board_without_submissions_is_no_error(cli: Cli, own: Path) -> None:
    shutil.rmtree(own / "leaderboards" / "small" / "submissions")
    shown, built = (cli("board", *command, "small", "--content", own) for command in (("show",), ("build",)))
    assert shown.code == built.code == OK
    assert "No submissions yet" in shown.out and "no submissions yet" in built.err
    assert not (own / "leaderboards" / "small" / "TABLE.md").exists()
