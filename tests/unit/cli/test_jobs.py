"""A pairwise task of one's own takes content only: the files that docs/studies.md shows, and a data folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.runs import RunSpec, prepare
from tests.conftest import write_rows

Cli = Callable[..., Any]
DOCUMENT = Path(__file__).parents[3] / "docs" / "studies.md"
SINGLE = """id = "write_headline"
version = "1.0.0"
title = "Headline"
source = "The wording is our own."
outputs = ["output"]
metrics = ["Fluency"]
instruction = "The writer was given an article and asked to write its headline."
[fields.article]
title = "Article"
role = "input"
optional = false
[fields.output]
title = "Headline to be judged"
role = "output"
optional = false
"""


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """The task and the rubric of the document, and the task of single headlines that they need."""
    section = DOCUMENT.read_text("utf-8").partition("### A pairwise task of your own")[2].partition("\n## ")[0]
    names = re.findall(r"`((?:tasks|rubrics)/[\w/]+\.toml)`:", section)
    blocks = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    assert names == ["tasks/compare_headlines/task.toml", "rubrics/headline_choice.toml"]
    for name, text in [*zip(names, blocks, strict=True), ("tasks/write_headline/task.toml", SINGLE)]:
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / name).write_text(text, "utf-8")
    return tmp_path / "mine"


@pytest.fixture
def headlines(tmp_path: Path) -> Path:
    """Four articles in three languages; the headlines of `long` are longer than those of `short`, by more in each article."""
    write_rows(
        tmp_path / "single" / "items.jsonl",
        (
            {
                "item_id": f"{language}{n}{system}",
                "language": language,
                "task": "write_headline",
                "group": f"{language}{n}",
                "split": "test",
            }
            | {"system": system, "article": f"{word} {n}.", "output": word if system == "short" else " ".join([word] * (n + 2))}
            for language, word in (("en", "News"), ("cs", "Zprávy"), ("ja", "ニュース"))
            for n in range(4)
            for system in ("short", "long")
        ),
    )
    return tmp_path / "single"


def test_a_task_of_ones_own_takes_content_only(cli: Cli, content: Path, headlines: Path, tmp_path: Path) -> None:
    made = cli("pairs", headlines, "--content", content, "--out", tmp_path / "pairs")
    assert made.code == 0 and "12 pairs, 4 in cs, 4 in en, 4 in ja" in made.out
    assert f"harness run --content {content} --data {tmp_path / 'pairs'}" in made.out
    asked = ("--unlabelled", "--order", "both", "--judge", "baseline/length", "--out", tmp_path / "results", "--json")
    done = cli("run", "--content", content, "--data", tmp_path / "pairs", *asked)
    assert done.code == 0, done.err
    section = json.loads(done.out)["ablations"]["pairs"]
    by_language = {row["language"]: row for row in section["rows"] if row["task"] == "*"}
    assert {language: (row["n"], row["unreadable"]) for language, row in by_language.items() if language != "*"} == dict.fromkeys(
        ("en", "cs", "ja"), (8, 0)
    )
    wins = {(row["language"], row["system"]): row["win_rate"] for row in section["systems"] if row["task"] == "*"}
    assert all(wins[language, "long"] > 0.5 > wins[language, "short"] for language in ("en", "cs", "ja")), wins


def test_the_study_of_self_preference_asks_about_a_task_of_ones_own(content: Path, headlines: Path) -> None:
    prepared = prepare(RunSpec(study="self-preference", data=headlines, content=(content,), languages=("en", "ja")))
    asked: dict[tuple[str, str], set[str]] = {}
    for query in prepared.plan(None).queries():
        asked.setdefault((query.item.language, query.item.task), set()).update(query.metrics)
    assert asked["ja", "compare_headlines"] == {"authorship", "forced_preference", "longer"}
    assert asked["en", "compare_headlines"] >= {"authorship", "forced_preference", "longer", "more_vowels"}
    assert asked["ja", "write_headline"] == asked["en", "write_headline"] == {"overall_quality", "own_text"}


def test_an_unknown_single_task_is_refused(cli: Cli, content: Path, headlines: Path, tmp_path: Path) -> None:
    (content / "tasks" / "compare_headlines" / "task.toml").unlink()
    done = cli("pairs", headlines, "--content", content, "--out", tmp_path / "pairs")
    assert done.code != 0 and "no pairwise task has pairs_of = 'write_headline'" in done.err and not (tmp_path / "pairs").exists()


def test_outputs_in_one_style(cli: Any, tmp_path: Path) -> None:
    """What tells writers apart by style alone is written alike, and the folder says so."""
    texts = {"a": "a  short\nsummary", "b": "A short summary."}
    rows = [
        {
            "item_id": f"{system}{n}",
            "language": "en",
            "task": "summarize",
            "group": str(n),
            "system": system,
            "passage": "P.",
            "output": text,
        }
        for n in range(2)
        for system, text in texts.items()
    ]
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    done = cli("pairs", tmp_path / "made", "--one-style", "--out", tmp_path / "pairs")
    assert done.code == 0, done.err
    assert "2 of 4 texts changed" in done.out and "2 of 4 texts changed" in (tmp_path / "pairs" / "data.toml").read_text("utf-8")
    made = [json.loads(line) for line in (tmp_path / "pairs" / "items.jsonl").read_text("utf-8").splitlines()]
    assert {row[name] for row in made for name in ("output_a", "output_b")} == {"A short summary."}
