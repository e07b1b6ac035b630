"""How many labels are missing: for a half-width by hand, for a verdict as the verdict says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.correction.labels_budget import NO_AGREEMENT, NO_NUMBER, SHOWN, LabelBudget, design_effect_of_share, label_budget
from harness.correction.options import LabelBudgetOptions
from harness.errors import UsageError
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.reports.comparison import compare
from harness.stats import wilson
from harness.stats.intervals.cluster_mean import cluster_mean
from tests.conftest import write_rows

MakeRecording = Callable[..., Recording]

Cli = Callable[..., Any]
NEEDED = ("labels", "needed", "--judge-as-good")


@pytest.fixture
def texts(make_recording: MakeRecording) -> Callable[..., Recording]:
    """`n` texts with three labels; the judge is right on the given share of them."""

    def make(n: int, right: float = 0.9, size: int = 1, **other: object) -> Recording:
        rng = np.random.default_rng(0)
        labels, answers = {}, {}
        for number, score in enumerate(rng.integers(0, 3, n).tolist()):
            labels[f"i{number}"] = [score, score, score if number % 3 else (score + 1) % 3]
            answers[f"i{number}"] = score if number < right * n else (score + 2) % 3
        places = {f"i{number}": {"group": f"g{number // size}"} for number in range(n)}
        return make_recording(labels, answers, places=places, **other)

    return make


def budget(recording: Recording, half_width: float = 0.05) -> LabelBudget:
    return label_budget([recording], LabelBudgetOptions(half_width=half_width))


def test_the_number_of_texts_reaches_the_half_width_and_one_less_does_not(texts: Callable[..., Recording]) -> None:
    [cell] = budget(texts(100, 0.9), 0.03).cells
    assert (cell.n, cell.agreement) == (100, 0.9) and cell.design_effect == pytest.approx(1.0)

    def half(n: int) -> float:
        lo, hi = wilson(0.9 * n, n)
        return (hi - lo) / 2

    assert cell.half_width == pytest.approx(half(100)) and cell.texts_for_half_width == 388
    assert half(388) <= 0.03 < half(387) and cell.more_for_half_width == 288


def test_texts_that_share_a_group_count_less(texts: Callable[..., Recording]) -> None:
    [alone], [together] = budget(texts(100, 0.5)).cells, budget(texts(100, 0.5, size=5)).cells
    assert together.design_effect == pytest.approx(5, rel=0.1) and alone.texts_for_half_width and together.texts_for_half_width
    assert together.texts_for_half_width > 4 * alone.texts_for_half_width


def test_what_is_enough_needs_nothing(texts: Callable[..., Recording]) -> None:
    [cell] = budget(texts(300, 0.95)).cells
    assert cell.more_for_half_width == 0 and cell.verdict == "use" and cell.reasons == {"more_for_verdict": SHOWN}


def test_further_texts_for_a_verdict_are_those_of_the_verdict(texts: Callable[..., Recording]) -> None:
    recording = texts(60, 0.9)
    [verdict] = compare([recording], MeasureOptions()).verdicts
    [cell] = budget(recording).cells
    assert (cell.verdict, cell.more_for_verdict, cell.more_than) == (verdict.decision.verdict, verdict["k"], verdict["more_than_k"])


def test_where_no_number_would_do_it_says_so(texts: Callable[..., Recording]) -> None:
    [cell] = budget(texts(60, 0.3)).cells
    assert cell.more_for_verdict is None and cell.reasons["more_for_verdict"] == NO_NUMBER


def test_without_an_aggregate_there_is_no_share(make_recording: MakeRecording) -> None:
    [cell] = budget(make_recording({"a": [0, 1], "b": [1, 2]}, {"a": 0, "b": 1})).cells
    assert cell.texts_for_half_width is None and cell.reasons["agreement"] == NO_AGREEMENT


@pytest.mark.parametrize("half_width", [0.0, -0.1, 0.5, float("nan")])
def test_a_half_width_is_a_share(texts: Callable[..., Recording], half_width: float) -> None:
    with pytest.raises(UsageError, match="half-width"):
        budget(texts(30), half_width)


def test_a_design_effect_is_at_least_one() -> None:
    assert design_effect_of_share(cluster_mean([1.0] * 10)) == 1.0
    assert design_effect_of_share(cluster_mean([1.0, 0.0] * 10, np.arange(20) // 2)) == 1.0
    assert np.isnan(design_effect_of_share(cluster_mean([])))


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
