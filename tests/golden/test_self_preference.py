"""Self-recognition and self-preference of recorded judges: the numbers of Panickssery, Bowman & Feng (2024), arXiv 2404.13076.

GPT-4 and GPT-3.5: recorded output of the authors' notebook (`expected.json`). Llama 2 has no recorded output there: pandas computes its
numbers from the released confidences.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytestmark = pytest.mark.needs("shared data")


@pytest.fixture(scope="module")
def study(shared_data: Path) -> Callable[[], dict[str, Any]]:
    @cache
    def found() -> dict[str, Any]:
        from harness import load
        from harness.studies.self_preference.analysis import self_preference_of

        folder = shared_data / "self_recognition"
        return self_preference_of(folder, load(folder)).as_json()

    return found


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((shared_data / "self_recognition" / "expected.json").read_text("utf-8"))
    return read


def rows(found: dict[str, Any], table: str, judge: str, dataset: str) -> list[dict[str, Any]]:
    return [row for row in found[table] if (row["judge"], row["dataset"], row["source"]) == (judge, dataset, "*")]


@pytest.mark.parametrize("judge", ["gpt4", "gpt35"])
@pytest.mark.parametrize("dataset", ["xsum", "cnn"])
def test_means_flips_and_taus_are_the_published_ones(study: Any, expected: dict[str, Any], judge: str, dataset: str) -> None:
    by_question = {row["question"]: row for row in rows(study(), "pairwise", judge, dataset)}
    published = dict(zip(expected["columns"], expected["results"][judge], strict=True))
    for question in ("recognition", "preference"):
        assert round(by_question[question]["confidence"], 3) == published[f"{dataset} self_{question}"]
    assert by_question["preference"]["ambiguous"] == pytest.approx(expected["order_flip"][dataset][judge], abs=1e-9)
    [tau] = rows(study(), "kendall_tau", judge, dataset)
    # The released confidences have 12 decimals, which joins a few near ties: SciPy's tau of them differs in the sixth decimal, too.
    assert tau["tau"] == pytest.approx(expected["kendall_tau_recognition_vs_preference"][judge][dataset], abs=3e-6)


def test_the_third_judge_has_the_means_that_pandas_computes(study: Any, shared_data: Path) -> None:
    raw = pd.read_json(shared_data / "self_recognition" / "judgments.jsonl.gz", lines=True, dtype={"forward": str, "backward": str})
    raw = raw[(raw.judge == "llama") & (raw.variant == "pairwise")]
    raw["dataset"], raw["source"] = raw.item_id.str.split("/").str[0], raw.other_item_id.str.split("/").str[2]
    raw["flips"] = raw.forward == raw.backward
    means = raw.groupby(["dataset", "source", "metric"])[["score", "flips"]].mean()
    found = {(row["dataset"], row["source"], f"self_{row['question']}"): row for row in study()["pairwise"] if row["judge"] == "llama"}
    for key, mean in means.iterrows():
        assert (found[key]["confidence"], found[key]["ambiguous"]) == pytest.approx((mean.score, mean.flips), abs=1e-9)


def test_the_command_prints_the_same(cli: Any, study: Any, shared_data: Path) -> None:
    done = cli("study", "self-preference", "--data", shared_data / "self_recognition", "--judge", "gpt4", "--json")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    assert rows(printed, "pairwise", "gpt4", "cnn") == json.loads(json.dumps(rows(study(), "pairwise", "gpt4", "cnn")))
    assert {row["judge"] for row in printed["pairwise"]} == {"gpt4"}
