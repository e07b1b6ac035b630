"""How many labels are missing: for a half-width by hand, for a verdict as the verdict says."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest

from harness.correction.correction_options import LabelBudgetOptions, SampleOptions
from harness.correction.labels_budget import (
    NO_AGREEMENT,
    NO_NUMBER,
    SHOWN,
    LabelBudget,
    design_effect_of_share,
    draw_label_sample,
    label_budget,
)
from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.errors import UsageError
from harness.measure import compare as measured
from harness.measure.compare import Recording
from harness.measure.options import MeasureOptions
from harness.model import Item, Judgment, Label, Scale
from harness.reports.comparison import compare
from harness.stats import wilson
from harness.stats.intervals.cluster_mean import cluster_mean
from tests.conftest import write_rows
from tests.unit.made_judgments import made_judgment

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


CLASSES = (0, 1, 2)


def judgment(score: int, item_id: str, probability: float) -> Judgment:
    probs = {str(score): probability}
    return made_judgment(item_id, "cs", "t", "m", "j", "single", 0.0, 0, score, None, None, None, item_id, probs=probs)


@pytest.fixture
def recording(make_data: Any) -> Recording:
    """200 texts without a label; the judge gives class n % 3, surely if n is even."""
    items = [Item(f"i{n}", "cs", "t", group=f"g{n}") for n in range(200)]
    rows = [judgment(n % 3, f"i{n}", 0.95 if n % 2 == 0 else 0.6) for n in range(200)]
    return Recording("r", make_data(items, {}), Judgments.from_rows(rows))


def test_every_stratum_is_drawn_in_proportion_with_its_probability(recording: Recording) -> None:
    sample = draw_label_sample(recording, SampleOptions(budget=60))
    assert [stratum.name for stratum in sample.strata] == [f"score {c}, {sure}" for c in CLASSES for sure in ("sure", "unsure")]
    assert len(sample.items) == 60 and {stratum.drawn for stratum in sample.strata} == {10}
    sizes = {stratum.name: stratum.texts for stratum in sample.strata}
    assert all(item.inclusion_probability == 10 / sizes[item.stratum] for item in sample.items)
    assert sample == draw_label_sample(recording, SampleOptions(budget=60))
    assert sample.items != draw_label_sample(recording, SampleOptions(budget=60, seed=1)).items


def test_the_first_texts_of_a_plan_come_from_all_strata(recording: Recording) -> None:
    sample = draw_label_sample(recording, SampleOptions(budget=180))
    first = Counter(item.stratum for item in sample.items[:60])
    assert len(first) == 6 and min(first.values()) >= 4
    assert [item.item_id for item in sample.items] != sorted((item.item_id for item in sample.items), key=lambda name: int(name[1:]))


def test_neyman_draws_more_where_the_judge_is_unsure(recording: Recording) -> None:
    drawn: Counter[str] = Counter()
    for stratum in draw_label_sample(recording, SampleOptions(budget=60, allocation="neyman")).strata:
        drawn[stratum.name.split(", ")[1]] += stratum.drawn
    assert drawn["unsure"] > 1.8 * drawn["sure"]


def test_every_class_of_scores_has_its_least(make_data: Any) -> None:
    """Class 2 is rare: 6 of 200 texts, 4 of them unsure."""
    items = [Item(f"i{n}", "cs", "t", group=f"g{n}") for n in range(200)]
    rows = [judgment(2 if n < 6 else n % 2, f"i{n}", 0.6 if n < 4 or n % 3 == 0 else 0.95) for n in range(200)]
    rare = Recording("r", make_data(items, {}), Judgments.from_rows(rows))

    def drawn(least: int) -> dict[str, int]:
        sample = draw_label_sample(rare, SampleOptions(budget=40, least=1, least_per_class=least))
        by_class: Counter[str] = Counter()
        for stratum in sample.strata:
            by_class[stratum.name.split(",")[0]] += stratum.drawn
        assert sum(by_class.values()) == 40 and sum(1 / item.inclusion_probability for item in sample.items) == pytest.approx(200)
        return by_class

    assert drawn(0)["score 2"] == 2 and drawn(5)["score 2"] == 5 and drawn(10)["score 2"] == 6
    assert min(drawn(10)["score 0"], drawn(10)["score 1"]) >= 10
    with pytest.raises(UsageError, match=r"strata need 46 texts \(--least 1, --least-per-class 20\); draw more, or lower these"):
        draw_label_sample(rare, SampleOptions(budget=45, least=1, least_per_class=20))


def test_few_versions_of_one_text_are_drawn_and_labelled_texts_are_left_out(make_data: Any) -> None:
    items = [Item(f"i{n}", "cs", "t", group=f"g{n // 4}") for n in range(41)]
    data = make_data(items, {"i40": 1})
    for seed in range(20):
        sample = draw_label_sample(Recording("r", data, Judgments.from_rows([])), SampleOptions(budget=10, seed=seed))
        assert sample.texts == 40 and "i40" not in {item.item_id for item in sample.items}
        assert len({data.by_id[item.item_id].group for item in sample.items}) == 10
        assert {item.inclusion_probability for item in sample.items} == {0.25}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "too many": ({"budget": 201}, "200 texts without a person's label are there"),
    "too few for the strata": ({"budget": 5}, "6 strata need 12 texts"),
    "no such judge": ({"budget": 9, "judge": "gpt"}, "no judgment is by the judge 'gpt'"),
    "no such language": ({"budget": 9, "language": "sw"}, "there is no item in 'sw'"),
}


@pytest.mark.parametrize(("options", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_drawn_is_a_sentence(recording: Recording, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        draw_label_sample(recording, SampleOptions(**options))


@pytest.mark.slow
def test_weighted_means_are_unbiased_and_their_intervals_hold(recording: Recording) -> None:
    """400 draws of 60 texts. The share of equal labels is 0.9 where the judge is sure and 0.5 where it is not."""
    from harness.stats import prediction_powered_weighted

    rng = np.random.default_rng(0)
    truth = {f"i{n}": float(rng.random() < (0.9 if n % 2 == 0 else 0.5)) for n in range(200)}
    mean = float(np.mean(list(truth.values())))
    weighted, simple, covered = [], [], []
    for seed in range(400):
        sample = draw_label_sample(recording, SampleOptions(budget=60, seed=seed))
        y = np.array([truth[item.item_id] for item in sample.items])
        w = np.array([1 / item.inclusion_probability for item in sample.items])
        found = prediction_powered_weighted(y, np.zeros(60), w, np.arange(60), lam=0.0)
        weighted.append(float((y * w).sum() / w.sum()))
        covered.append(found.interval.lo <= mean <= found.interval.hi)
        simple.append(float(np.mean([truth[f"i{n}"] for n in np.random.default_rng(seed).choice(200, 60, replace=False)])))
    error = float(np.std(weighted)) / 20
    print(f"gain over a simple random sample: {np.var(simple) / np.var(weighted):.2f}")
    assert abs(float(np.mean(weighted)) - mean) < 4 * error
    assert np.mean(covered) >= 0.93
    assert np.var(weighted) < np.var(simple)


# Weighted agreement in `compare`, by simulation

PLANS = ("proportional", "neyman", "simple")
RIGHT = {True: 0.95, False: 0.55}
"""How often people give the judge's class, where it is sure (three texts of four) and where it is not."""
TRUTH = 0.75 * RIGHT[True] + 0.25 * RIGHT[False]


class Planned(NamedTuple):
    """Estimates of the judge's agreement from many samples; `variance` is about the mean of the 400 texts, `gain` what `compare` says."""

    bias: float
    error: float
    coverage: float
    variance: float
    gain: float
    unweighted: float


@cache
def planned_sample(plan: str, draws: int) -> Planned:
    """Samples of 80 of 400 texts in 100 groups; every draw has texts, answers and labels of its own."""
    found, plain, covered, gains, off = [], [], [], [], []
    for seed in range(draws):
        rng = np.random.default_rng([seed, 5])
        sure, given = rng.random(400) < 0.75, rng.integers(0, 3, 400)
        right = rng.random(400) < np.where(sure, RIGHT[True], RIGHT[False])
        labels = np.where(right, given, (given + 1) % 3)
        items = [Item(f"i{n}", "cs", "t", group=f"g{n // 4}") for n in range(400)]
        rows = [judgment(int(given[n]), f"i{n}", 0.95 if sure[n] else 0.55) for n in range(400)]
        scales = {"m": Scale(kind="ordinal", classes=CLASSES, best=2)}
        whole = Dataset("world", tuple(items), Labels.from_rows([]), scales)
        judged = Judgments.from_rows([] if plan == "simple" else rows)
        sample = draw_label_sample(
            Recording("r", whole, judged), SampleOptions(budget=80, seed=seed, allocation="neyman" if plan == "neyman" else "proportional")
        )
        drawn = {one.item_id: msgspec.structs.asdict(one) for one in sample.items}
        texts = tuple(msgspec.structs.replace(item, fields=drawn[item.item_id]) for item in items if item.item_id in drawn)
        given_labels = Labels.from_rows([Label(item.item_id, "a", "m", int(labels[int(item.item_id[1:])])) for item in texts])
        about = msgspec.structs.replace(whole.about, sampling="random")
        data = Dataset("drawn", texts, given_labels, scales, about=about)
        own = Judgments.from_rows([row for row in rows if row.item_id in drawn])
        [cell] = measured.compare([Recording("r", data, own)], MeasureOptions(resamples=200)).cells
        low, high = cell["pa_ci"]
        found.append(float(cell["pa"]))
        off.append(found[-1] - float(right.mean()))
        covered.append(low <= TRUTH <= high)
        gains.append(cell.sample_gain or 1.0)
        plain.append(float(np.mean([right[int(name[1:])] for name in drawn])))
    return Planned(
        float(np.mean(found)) - TRUTH,
        float(np.std(found)) / draws**0.5,
        float(np.mean(covered)),
        float(np.var(off)),
        float(np.median(gains)),
        float(np.mean(plain)) - TRUTH,
    )


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS[:2])
def test_weighted_agreement_is_unbiased_and_its_intervals_hold(plan: str) -> None:
    found = planned_sample(plan, 120)
    assert abs(found.bias) < 4 * found.error
    assert found.coverage >= 0.92
    if plan == "neyman":
        assert found.unweighted < -0.03  # each text counted once: hard texts are too many


def planned_table() -> Iterator[str]:
    draws = 1000
    simple = planned_sample("simple", draws).variance
    yield "| 80 of 400 texts | bias, points | each text once | intervals that hold, % | gain, true | gain, as `compare` says |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for plan in PLANS:
        one = planned_sample(plan, draws)
        numbers = (
            f"{100 * one.bias:+.1f} | {100 * one.unweighted:+.1f} | {100 * one.coverage:.1f} | {simple / one.variance:.2f} | {one.gain:.2f}"
        )
        yield f"| {plan} | {numbers} |"


if __name__ == "__main__":
    print(*planned_table(), sep="\n")
