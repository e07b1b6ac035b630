"""Texts that a card calls offensive: nothing shows them unasked, and none comes into a repository. A canary word stands in every text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

import harness
from harness.boards import submit
from harness.boards.submission_options import SubmitterStatement
from harness.content import Library
from harness.data import load_folder
from harness.errors import UsageError
from harness.model import JudgeIdentity
from tests.e2e.pages import chromium

CANARY = "KANARIENWORT"
Cli = Callable[..., Any]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with people's labels and recorded judgments whose reasons quote the texts."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "rude"
    folder.mkdir()
    rows: dict[str, list[dict[str, Any]]] = {"items": [], "labels": [], "judgments": []}
    for n in range(40):
        item = {"item_id": f"r{n}", "language": "en", "system": "ab"[n % 2], "group": f"g{n // 2}"}
        rows["items"].append(item | {"task": "open_prompt", "prompt": f"{CANARY} {n // 2}?", "output": f"{CANARY} it is, {n}."})
        given = {"item_id": f"r{n}", "metric": "linguistic_acceptability"}
        rows["labels"] += [given | {"annotator_id": who, "score": (n + k) % 3} for k, who in enumerate("abc")]
        rows["judgments"].append(given | {"judge": "recorded", "score": n % 3, "justification": f"It says {CANARY}."})
    for name, own in rows.items():
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in own), "utf-8")
    (folder / "data.toml").write_text('id = "rude"\nannotators = "persistent"\noffensive = true\n', "utf-8")
    return folder


COMMANDS = {
    "compare": "compare rude --decide full",
    "compare, JSON": "compare rude --json",
    "compare, CSV": "compare rude --csv",
    "compare, Markdown": "compare rude --md",
    "compare, LaTeX": "compare rude --latex",
    "labels check": "labels check rude",
    "labels check, JSON": "labels check rude --json",
    "labels needed": "labels needed rude",
    "labels plan": "labels plan rude --budget 10 --to sample.jsonl",
    "labels page": "labels page rude --out pages --annotators 1",
    "correct": "correct rude",
    "accept": "accept rude",
    "pairs": "pairs rude --out pairs",
    "run": "run --data rude --judge baseline/majority --out results",
    "run, JSON": "run --data rude --judge baseline/majority --out results --json",
    "dry run": "run --data rude --judge openai/x --base-url http://127.0.0.1:9/v1 --dry-run",
    "dry run, whole prompts": "run --data rude --judge openai/x --base-url http://127.0.0.1:9/v1 --dry-run --verbose",
    "dry run, JSON": "run --data rude --judge openai/x --base-url http://127.0.0.1:9/v1 --dry-run --json",
    "dry run of writers": "generate --task open_prompt --data rude --by openai/x --base-url http://127.0.0.1:9/v1 --out written --dry-run",
    "a wrong restriction": "compare rude --where output=nothing",
    "a key that is a text": "compare rude --by language,output",
    "a key that is a text, labels": "labels check rude --by language,prompt",
    "two sides of a text": "compare rude --versus output=nothing",
    "a wrong metric": "run --data rude --metrics nothing --judge baseline/majority",
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.usefixtures("data")
def test_no_command_prints_a_text(cli: Cli, command: str) -> None:
    done = cli(*command.split())
    assert CANARY not in done.out + done.err
    assert done.out or done.err


@pytest.mark.parametrize("more", [[], ["--verbose"], ["--json"]])
@pytest.mark.usefixtures("data")
def test_a_flag_shows_prompts(cli: Cli, more: list[str]) -> None:
    done = cli(*COMMANDS["dry run"].split(), "--verbose", "--show-texts", *more)
    assert done.code == 0 and CANARY in done.out


def test_frames_and_reprs_have_no_texts(data: Path) -> None:
    loaded = load_folder(data, Library(), with_judgments=True)
    for table in ("items", "labels", "judgments"):
        assert CANARY not in harness.frame_of(loaded, table).to_csv()
    assert CANARY not in repr(loaded) + repr(loaded.items[0]) + repr(loaded.items)
    assert CANARY in harness.frame_of(loaded, "items", show_texts=True).to_csv()


def test_the_mark_goes_along(cli: Cli, data: Path) -> None:
    assert cli("pairs", "rude", "--out", "pairs").code == 0
    assert "offensive = true" in (data.parent / "pairs" / "data.toml").read_text("utf-8")
    assert cli("labels", "export", "rude", "--to", "labels.csv").code == 0
    done = cli("labels", "import", "labels.csv", "--items", "rude", "--to", "again")
    assert done.code == 0, done.err
    assert "offensive = true" in (data.parent / "again" / "data.toml").read_text("utf-8")


INTO = {
    "compare rude --html checkout/c.html": "checkout/c.html",
    "labels page rude --out checkout/pages --annotators 1": "checkout/pages",
    "labels export rude --to checkout/labels.csv": "checkout/labels.csv",
    "labels export rude --to checkout/sheet.xlsx": "checkout/sheet.xlsx",
    "pairs rude --out checkout/pairs": "checkout/pairs",
    "data get rtp_lx --to checkout/data --yes": "checkout/data",
    "labels import rude/labels.jsonl --items rude --to checkout/labels": "checkout/labels",
    "import rude/judgments.jsonl --items rude --judge again --to checkout/scores": "checkout/scores",
    "export hub rude --to checkout/hub": "checkout/hub",
    "export inspect-scores rude --judge recorded --metric linguistic_acceptability --to checkout/i.jsonl": "checkout/i.jsonl",
    "run --data rude --judge baseline/majority --out checkout/results": "checkout/results",
    "generate --task open_prompt --data rude --by openai/x --base-url http://127.0.0.1:9/v1 --out checkout/w --yes": "checkout/w",
}


@pytest.mark.parametrize(("command", "written"), INTO.items(), ids=INTO)
def test_nothing_is_written_into_a_repository(cli: Cli, data: Path, command: str, written: str) -> None:
    (data.parent / "checkout" / ".git").mkdir(parents=True)
    done = cli(*command.split())
    assert done.code == 2 and "stay out of repositories" in done.err and not (data.parent / written).exists()


@pytest.mark.parametrize("words", ["store export --out results --to checkout/r.jsonl", "store merge results --out checkout/merged"])
def test_replies_are_not_written_into_a_repository(cli: Cli, data: Path, words: str) -> None:
    (data.parent / "checkout" / ".git").mkdir(parents=True)
    assert cli(*["run", "--data", "rude", "--judge", "baseline/majority", "--out", "results"]).code == 0
    done = cli(*words.split())
    assert done.code == 2 and "stay out of repositories" in done.err and not list(data.parent.glob("checkout/[rm]*"))
    assert cli(*words.replace("checkout/", "outside-").split()).code == 0


QUOTED = {  # a wrong row whose message quotes it, and what the message still says
    "language": ("items", {"item_id": "x_1", "language": f"{CANARY} is rude", "task": "open_prompt"}, "cannot be a language tag"),
    "item": ("labels", {"item_id": f"{CANARY} it's rude", "metric": "linguistic_acceptability", "score": 1}, "a label of item "),
    "score": (
        "labels",
        {"item_id": "r0", "metric": "linguistic_acceptability", "score": CANARY},
        "outside the scale of 'linguistic_accept",
    ),
    "mark": ("labels", {"item_id": f"the dogs' bone {CANARY}", "metric": "linguistic_acceptability", "score": 1}, "a label of item "),
}


@pytest.mark.parametrize(("table", "row", "said"), QUOTED.values(), ids=QUOTED)
def test_no_error_quotes_a_text(cli: Cli, data: Path, table: str, row: dict[str, Any], said: str) -> None:
    with (data / f"{table}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"annotator_id": "q", "prompt": CANARY, "output": CANARY} | row) + "\n")
    for words in ("compare rude", "labels check rude", "run --data rude --judge baseline/majority", "export hub rude --to hub"):
        done = cli(*words.split())
        assert done.code == 3 and f"{table}.jsonl:" in done.err and said in done.err, done.err
        assert CANARY not in done.err and "(not shown" in done.err


def test_no_refused_row_is_quoted(cli: Cli, data: Path) -> None:
    given = f"item_id,metric,annotator_id,score\nr0,linguistic_acceptability,a,{CANARY}\n"
    (data.parent / "table.csv").write_text(given, "utf-8")
    (data.parent / "scores.csv").write_text(given.replace("r0", f"{CANARY} is rude").replace(f"a,{CANARY}", "a,1"), "utf-8")
    for words in ("labels import table.csv --items rude --to new", "import scores.csv --items rude --judge x --to new"):
        done = cli(*words.split())
        assert done.code and ".csv" in done.err and "(not shown" in done.err and CANARY not in done.err, (words, done.err)


def test_a_text_without_spaces_is_no_key(cli: Cli, data: Path) -> None:
    rows = [json.loads(line) | {"output": f"これは{CANARY}です"} for line in (data / "items.jsonl").read_text("utf-8").splitlines()]
    (data / "items.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    done = cli("compare", "rude", "--by", "language,output")
    assert done.code == 2 and CANARY not in done.out + done.err


def test_raw_replies_are_no_submission(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = SimpleNamespace(data=load_folder(Path("rude"), Library()), protocol=None)
    run: Any = SimpleNamespace(
        prepared=SimpleNamespace(library=SimpleNamespace(board=str)), protocol=SimpleNamespace(texts=SimpleNamespace(data=None, content=()))
    )
    writes, decides = JudgeIdentity("openai", "gpt", {}), JudgeIdentity("decider", "sparrow-nano", {})
    monkeypatch.setattr(submit, "whole_board", lambda *_: prepared)

    def refusal(*identities: JudgeIdentity) -> str:
        monkeypatch.setattr(submit, "_choose_judges", lambda *_: identities)
        monkeypatch.setattr(submit, "differences", mock.Mock(side_effect=UsageError("it was not refused for its texts")))
        with pytest.raises(UsageError) as refused:
            submit.submit(run, tmp_path / "out", "board", SubmitterStatement())
        return str(refused.value)

    assert "raw replies may quote them" in refusal(writes) and "raw replies may quote them" in refusal(decides, writes)
    assert refusal(decides) == "it was not refused for its texts"  # it writes no words


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


def seen(page: Any) -> str:
    return str(page.evaluate("document.body.innerText"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("compare rude --html page.html", "page.html"),
        ("run --data rude --judge baseline/majority --out results", ""),
    ],
)
def test_pages_show_texts_behind_a_click(cli: Cli, data: Path, browser: Any, command: str, file: str) -> None:
    assert cli(*command.split()).code == 0
    if not file:
        file = "report.html"
        assert cli("report", "--out", "results", "--html", file).code == 0
    page = browser.new_page()
    page.goto((data.parent / file).as_uri())
    page.wait_for_selector(".case")
    assert CANARY not in seen(page)
    page.locator(".opener").first.click()
    page.wait_for_selector(".veil > summary")
    assert "extremely offensive" in page.locator(".veil > summary").first.inner_text() and CANARY not in seen(page)
    page.locator(".veil > summary").first.click()
    page.wait_for_selector(".veil .texts")
    assert CANARY in seen(page)


@pytest.mark.slow
def test_labelling_pages_ask_before_the_first_text(cli: Cli, data: Path, browser: Any) -> None:
    assert cli("labels", "page", "rude", "--out", "pages", "--annotators", "1").code == 0
    page = browser.new_page()
    page.goto((data.parent / "pages" / "en-A1.html").as_uri())
    page.wait_for_selector("body[data-ready=true]")
    assert "extremely offensive" in seen(page) and CANARY not in seen(page)
    start = page.locator("button.main")
    assert start.is_disabled()
    page.check("#warned")
    start.click()
    page.wait_for_selector(".item")
    assert CANARY in seen(page)
