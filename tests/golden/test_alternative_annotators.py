"""`harness compare alttest` gives the published alternative annotator tests, and for all six data sets those of the library on raw tables.

Calderon, Reichart & Dror (2025), The alternative annotator test for LLM-as-a-judge, ACL 2025: the recorded output of
`alt_test_example.ipynb` in their release (winning rate, advantage probability, passed) for WAX, MT-Bench and CEBaB stars.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.row_files import read_rows
from harness.stats.intervals.noninferiority import AnnotatorRule, LabelledByAnnotators, alternative_annotator_tests

pytestmark = [pytest.mark.slow, pytest.mark.needs("shared data")]

TASKS = {
    "mtbench": "pairwise_preference",
    "summeval": "summarization",
    "cebab_stars": "review_rating",
    "cebab_aspects": "aspect_sentiment",
    "wax": "word_association_relation",
    "10k_prompts": "prompt_quality",
}
EPSILON = {"mtbench": 0.2, "summeval": 0.2}  # of experts; elsewhere 0.1
BY_DISTANCE = ("summeval", "cebab_stars", "10k_prompts")
JUDGES = ("gemini_flash", "gemini_pro", "gpt-4o", "gpt-4o-mini", "llama-31", "mistral-v03")


@pytest.fixture(scope="module")
def rows(shared_data: Path) -> dict[str, list[dict[str, Any]]]:
    """Labels and judgments by data set."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in TASKS}
    for table in ("labels", "judgments"):
        for _, row in read_rows(shared_data / "alttest" / f"{table}.jsonl.gz"):
            found[row["item_id"].partition(":")[0]].append(row)
    return found


def pooled(cli: Callable[..., Any], shared_data: Path, name: str, *flags: str) -> dict[str, dict[str, Any]]:
    """What the command says of each judge on one data set."""
    done = cli(
        "compare", shared_data / "alttest", "--where", f"task={TASKS[name]}", "--set", f"epsilon={EPSILON.get(name, 0.1)}", "--json", *flags
    )
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert len(found["alternative_annotators"]) == len(JUDGES)
    return {row["judge"]: row for row in found["alternative_annotators"]}


@pytest.mark.parametrize("name", ["wax", "mtbench", "cebab_stars"])
def test_published_rows(cli: Callable[..., Any], shared_data: Path, name: str) -> None:
    found = pooled(cli, shared_data, name)
    expected = json.loads((shared_data / "alttest" / "expected.json").read_text("utf-8"))["results"]
    published = [row for row in expected if row["dataset"] == name]
    assert len(published) == len(JUDGES)
    for row in published:
        own = found[row["judge"]]
        assert own["scoring"] == row["scoring"] and own["epsilon"] == row["epsilon"]
        assert own["omega"] == pytest.approx(row["winning_rate"], abs=0.0051)
        assert own["rho"] == pytest.approx(row["advantage_probability"], abs=0.0051)
        assert own["passed"] is (row["result"] == "PASSED")


@pytest.mark.parametrize("name", TASKS)
def test_every_set_is_the_test_on_its_raw_table(
    cli: Callable[..., Any], shared_data: Path, rows: dict[str, list[dict[str, Any]]], name: str
) -> None:
    found, own = pooled(cli, shared_data, name), rows[name]
    labels = [row for row in own if "annotator_id" in row]
    scores = list(dict.fromkeys(row["score"] for row in labels))
    code = {score: float(score) if name in BY_DISTANCE else float(place) for place, score in enumerate(scores)}
    place = {key: n for n, key in enumerate(dict.fromkeys((row["item_id"], row["metric"]) for row in labels))}
    people = {who: n for n, who in enumerate(dict.fromkeys(row["annotator_id"] for row in labels))}
    table = np.full((len(place), len(people)), np.nan)
    for row in labels:
        table[place[row["item_id"], row["metric"]], people[row["annotator_id"]]] = code[row["score"]]
    scoring = "neg_rmse" if name in BY_DISTANCE else "accuracy"
    for judge in JUDGES:
        given = np.full(len(place), np.nan)
        for row in own:
            if row.get("judge") == judge and (row["item_id"], row["metric"]) in place:
                given[place[row["item_id"], row["metric"]]] = code.get(row["score"], np.nan if name in BY_DISTANCE else len(code))
        rule = AnnotatorRule(EPSILON.get(name, 0.1), failures_lose=False)
        [wanted] = alternative_annotator_tests([LabelledByAnnotators(table, given, scoring=scoring)], rule)
        shown = found[judge]
        assert (shown["scoring"], shown["passed"], shown["annotators"]) == (scoring, wanted.passed, wanted.tested)
        assert [shown["omega"], shown["rho"]] == pytest.approx([wanted.omega, wanted.rho], nan_ok=True)


def test_the_flag_wins_over_the_card_and_stands_in_the_signature(cli: Callable[..., Any], shared_data: Path) -> None:
    carded, flagged = (pooled(cli, shared_data, "cebab_stars", *flags) for flags in ((), ("--set", "alt_scoring=accuracy")))
    assert {row["scoring"] for row in carded.values()} == {"neg_rmse"} and {row["scoring"] for row in flagged.values()} == {"accuracy"}
    assert carded["gpt-4o"]["rho"] != flagged["gpt-4o"]["rho"]
    done = cli("compare", shared_data / "alttest", "--where", "task=review_rating", "--full", "--notes")
    assert "alt_scoring=neg_rmse" in done.out and "Alternative annotator test by task" in done.out
