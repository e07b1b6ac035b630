"""How many texts to label on the first day: from an assumption, and from labels alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_rows

Cli = Callable[..., Any]
NEEDED = ("labels", "needed", "--judge-as-good")


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """40 Czech texts that two people scored with 0 or 1; they agree on 32 of them."""
    folder = tmp_path / "data"
    items = [{"item_id": f"i{n}", "language": "cs", "task": "summarize", "passage": "a", "output": "b"} for n in range(40)]
    write_rows(folder / "items.jsonl", items)
    scores = {"ann": lambda n: n % 2, "eva": lambda n: n % 2 if n >= 8 else 1 - n % 2}
    labels = [
        {"item_id": f"i{n}", "annotator_id": who, "metric": "hallucination", "score": score(n)}
        for n in range(40)
        for who, score in scores.items()
    ]
    write_rows(folder / "labels.jsonl", labels)
    return folder


def planned(cli: Cli, *arguments: str | Path) -> list[dict[str, Any]]:
    done = cli(*NEEDED, *arguments, "--json")
    assert done.code == 0, done.err
    rows: list[dict[str, Any]] = json.loads(done.out)["planned"]
    return rows


def test_before_any_label_it_plans_for_several_agreements_and_says_what_it_assumes(cli: Cli) -> None:
    rows = planned(cli, "--metric", "task_quality")
    assert [row["agreement"] for row in rows] == [0.6, 0.7, 0.8, 0.9]
    assert [row["for_verdict"] for row in rows] == sorted((row["for_verdict"] for row in rows), reverse=True)
    shown = cli(*NEEDED, "--metric", "task_quality").out
    assert "Nobody labelled yet. Assumed: 0, 1, 2 are equally common" in shown and "--people-agree 0.7 takes one" in shown


def test_flags_say_what_people_are(cli: Cli) -> None:
    [row] = planned(cli, "--metric", "tone", "--shares", "10,30,60", "--people-agree", "0.7", "--people", "3", "--cells", "6")
    assert (row["shares"], row["agreement"], row["annotators"], row["texts"]) == ([10, 30, 60], 0.7, 3, None)
    [alone] = planned(cli, "--metric", "tone", "--shares", "10,30,60", "--people-agree", "0.7", "--people", "3")
    assert alone["for_verdict"] < row["for_verdict"] and alone["for_half_width"] == row["for_half_width"]


def test_labels_alone_say_how_far_people_agree(cli: Cli, labelled: Path) -> None:
    [row] = planned(cli, labelled)
    assert (row["language"], row["metric"], row["texts"], row["annotators"]) == ("cs", "hallucination", 40, 2)
    assert row["agreement"] == 0.8 and row["shares"] == [0.5, 0.5]
    assert "those of the labels" in cli(*NEEDED, labelled).out
    [other] = planned(cli, labelled, "--people-agree", "0.9")
    assert other["for_verdict"] < row["for_verdict"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("labels", "needed"), "harness labels needed --judge-as-good --metric task_quality"),
        ((*NEEDED,), "harness labels needed --judge-as-good --metric task_quality"),
        (("labels", "needed", "x", "--people-agree", "0.7"), "add --judge-as-good"),
        ((*NEEDED, "--metric", "tone"), "say how often people give each, such as --shares 0.2,0.3,0.5"),
        ((*NEEDED, "--metric", "task_quality", "--shares", "1,2"), "--shares has 2 numbers, and 'task_quality' has 3 classes"),
        ((*NEEDED, "--metric", "task_quality", "--people-agree", "0.2"), "people who guess with these shares reach 0.33"),
        ((*NEEDED, "--metric", "tone", "--shares", "1,99"), "--people-agree SHARE"),
        ((*NEEDED, "nowhere"), "nowhere"),
    ],
)
def test_errors_name_the_next_step(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    done = cli(*arguments)
    assert done.code == 2 and words in done.err, done.err


def test_labels_that_do_not_say_enough_are_refused(cli: Cli, labelled: Path) -> None:
    done = cli(*NEEDED, labelled, "--metric", "tone")
    assert done.code == 2 and "no label on 'tone' there; labelled metrics: hallucination" in done.err
    rows = [line for line in (labelled / "labels.jsonl").read_text("utf-8").splitlines() if '"ann"' in line]
    (labelled / "labels.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    done = cli(*NEEDED, labelled)
    assert done.code == 2 and "say what you expect, --people-agree 0.7" in done.err
    assert planned(cli, labelled, "--people-agree", "0.7")[0]["annotators"] == 2
