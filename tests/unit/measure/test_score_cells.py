"""Cells of interval scales as numbers: source texts, severity of annotators, second ratings, and what is said of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import api
from harness.decide.options import CompareOptions
from harness.errors import ContentError, UsageError
from harness.reports.comparison import DecidedComparison
from harness.signature import ComparisonSignature
from harness.stats.agreement.variance_components import one_way_icc

CARD = """
id = "made"
version = "1.0.0"
source = "native"
annotators = "{annotators}"
group = "group"
{segment}
[metrics.quality]
kind = "interval"
min = 0
max = 100
best = 100
"""
Labels = Mapping[str, Mapping[str, float]]
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a data folder: items are named `TEXT-SYSTEM`, labels `{item: {annotator: score}}`, judgments `{judge: {item: score}}`."""

    def made(
        labels: Labels, judged: Mapping[str, Mapping[str, float | None]], second: Labels | None = None, annotators: str = "persistent"
    ) -> Path:
        def rows(name: str, lines: list[dict[str, Any]]) -> None:
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

        places = {item: item.split("-") for item in labels}
        rows(
            "items",
            [
                {"item_id": item, "language": "cs", "task": "translation", "text": text, "system": system, "group": text}
                for item, (text, system) in places.items()
            ],
        )
        for name, of in (("labels", labels), ("second_ratings", second)):
            if of:
                every = [(item, who, score) for item, scores in of.items() for who, score in scores.items()]
                rows(name, [{"item_id": i, "annotator_id": who, "metric": "quality", "score": score} for i, who, score in every])
        answers = [(judge, item, score) for judge, of in judged.items() for item, score in of.items()]
        keys = ({"failure": "refused"} if score is None else {"score": score} for _, _, score in answers)
        rows(
            "judgments",
            [{"item_id": item, "judge": j, "metric": "quality", **key} for (j, item, _), key in zip(answers, keys, strict=True)],
        )
        (tmp_path / "data.toml").write_text(CARD.format(annotators=annotators, segment='segment = "text"'), "utf-8")
        return tmp_path

    return made


def scores(texts: int = 30, systems: int = 4, seed: int = 0) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Two people's scores of every system's output for every text, and a judge's."""
    rng = np.random.default_rng(seed)
    labels: dict[str, dict[str, float]] = {}
    judge: dict[str, float] = {}
    for text in range(texts):
        for system in range(systems):
            true = 50 + 8 * system + rng.normal(0, 8)
            labels[f"t{text}-s{system}"] = {who: float(np.clip(round(true + rng.normal(0, 8)), 0, 100)) for who in ("a", "b")}
            judge[f"t{text}-s{system}"] = float(np.clip(round(true + rng.normal(0, 8), 1), 0, 100))
    return labels, judge


def compared(folder: Path, **options: Any) -> DecidedComparison:
    return api.compare(folder, CompareOptions(**options))


def test_a_cell_has_reliability_error_and_order_within_source_texts(write: Write) -> None:
    labels, judge = scores()
    [cell] = compared(write(labels, {"j": judge})).cells
    means, given = np.array([np.mean([*labels[item].values()]) for item in judge]), np.array([*judge.values()])
    assert cell["mae"] == pytest.approx(np.abs(means - given).mean())
    assert cell["rmse"] == pytest.approx(np.sqrt(((means - given) ** 2).mean()))
    assert cell["leniency"] == pytest.approx((given - means).mean())
    table = np.array([[*one.values()] for one in labels.values()])
    assert cell["icc"] == pytest.approx(one_way_icc(table).single.value)
    assert cell["icc_crossed"] == pytest.approx(0.7, abs=0.15) and cell["icc_crossed_ci"] is None
    taus = [np.sign(np.subtract.outer(means[i : i + 4], means[i : i + 4])) for i in range(0, 120, 4)]
    judged = [np.sign(np.subtract.outer(given[i : i + 4], given[i : i + 4])) for i in range(0, 120, 4)]
    by_hand = [(x * y).sum() / np.sqrt((x**2).sum() * (y**2).sum()) for x, y in zip(taus, judged, strict=True)]
    assert cell["kendall_tau_within"] == pytest.approx(np.mean(by_hand))
    assert cell.score_counts == {"segments": 30, "segments_undefined": 0, "segments_single": 0}
    for name in ("pearson", "kendall_tau", "spearman", "pearson_within", "acc_eq", "rmse", "mae", "icc", "mean_labels", "sd_judge"):
        low, high = cell[f"{name}_ci"]
        assert low < cell[name] < high, name


def test_source_texts_that_one_judge_cannot_order_count_for_no_judge(write: Write) -> None:
    """But a judge that is constant everywhere leaves nothing out."""
    labels, judge = scores()
    flat = judge | {f"t0-s{system}": 50.0 for system in range(4)}
    cells = {
        cell["judge"]: cell for cell in compared(write(labels, {"j": judge, "flat": flat, "constant": dict.fromkeys(judge, 5.5)})).cells
    }
    assert [cells[name].score_counts["segments"] for name in ("j", "flat", "constant")] == [29, 29, 0]
    assert [cells[name].score_counts["segments_undefined"] for name in ("j", "flat", "constant")] == [1, 1, 30]
    assert cells["constant"].undefined["kendall_tau"] == "constant raters"
    assert cells["constant"].undefined["kendall_tau_within"] == "no source text has two scored outputs that differ"


def test_failures_are_counted_and_change_no_correlation_of_the_others(write: Write) -> None:
    labels, judge = scores()
    [cell] = compared(write(labels, {"j": judge | {"t0-s0": None}})).cells
    assert (cell.n_ref, cell.n, cell.failures) == (120, 119, {"refused": 1})
    assert cell.coverage == pytest.approx(119 / 120)


def test_a_source_text_with_one_output_is_counted_and_said(write: Write) -> None:
    labels, judge = scores()
    labels |= {"alone-s0": {"a": 10.0, "b": 12.0}}
    found = compared(write(labels, {"j": judge | {"alone-s0": 11.0}}))
    assert found.cells[0].score_counts["segments_single"] == 1
    assert "1 source texts have one output with a label (quality, cs); within a source text they say nothing." in found.notes


def test_standardised_scores_take_out_how_strict_people_are(write: Write) -> None:
    """One person an item; b is 40 points stricter than a. Raw correlation is spoilt, the standardised one is not; errors stay raw."""
    labels, judge = scores()
    one = {item: {"a": both["a"]} if number % 2 else {"b": max(0.0, both["b"] - 40)} for number, (item, both) in enumerate(labels.items())}
    folder = write(one, {"j": judge})
    raw, fair = compared(folder), compared(folder, standardise="annotator")
    assert fair.cells[0]["pearson"] > raw.cells[0]["pearson"] + 0.1
    for name in ("mae", "rmse", "leniency", "acc_eq", "mean_labels"):
        assert fair.cells[0][name] == raw.cells[0][name], name
    assert "standardise" not in raw.signature
    assert ComparisonSignature.parse(fair.signature).standardise == "annotator"
    assert any(note.startswith("Correlations use people's scores standardised within annotator") for note in fair.notes)


def test_standardising_needs_persons_with_two_labels(write: Write) -> None:
    labels, judge = scores()
    folder = write(labels, {"j": judge}, annotators="positional")
    with pytest.raises(UsageError, match="annotators are positional: nobody can be followed from item to item"):
        compared(folder, standardise="annotator")
    folder = write(labels | {"t0-s0": {"c": 5.0, "a": 2.0}}, {"j": judge})
    with pytest.raises(UsageError, match="annotator 'c' has a single label on 'quality' in a language"):
        compared(folder, standardise="annotator")


def test_second_ratings_give_the_ceiling(write: Write) -> None:
    """Ratings by another person count, those of the same person do not; they are no reference of the judge."""
    labels, judge = scores()
    one = {item: {"a": both["a"]} for item, both in labels.items()}
    second = {item: {"b" if number < 60 else "a": both["b"]} for number, (item, both) in enumerate(labels.items())}
    found = compared(write(one, {"j": judge}, second))
    [cell] = found.cells
    first, again = (np.array([labels[item][who] for item in [*labels][:60]]) for who in ("a", "b"))
    assert cell["human_second_pearson"] == pytest.approx(np.corrcoef(first, again)[0, 1])
    assert cell["judge_second_pearson"] == pytest.approx(np.corrcoef(first, [judge[item] for item in [*labels][:60]])[0, 1])
    assert cell.score_counts["second_ratings"] == cell.score_counts["second_ratings_judged"] == 60
    assert any("Another person scored 60 texts a second time" in note for note in found.notes)
    assert any("One person scored each text (quality, cs), so there is no ceiling" in note for note in found.notes)
    [check] = api.labels_check(write(one, {"j": judge}, second)).cells
    assert check["second_ratings"]["same_person"]["n"] == 60
    assert check["variance_shares"]["annotator"] == pytest.approx(0, abs=1e-12)  # one person
    assert check["variance_shares"]["system"] > 0.1


def test_a_score_off_the_scale_is_refused_with_its_place(write: Write) -> None:
    labels, judge = scores()
    folder = write(labels, {"j": judge}, {"t0-s0": {"c": 101.0}})
    with pytest.raises(ContentError, match=r"score 101.0 is outside the scale of 'quality' \(0 to 100\)"):
        compared(folder)


def test_verdicts_measure_distance_on_the_scale(write: Write) -> None:
    """By hand: mean distance of two people less the judge's from each, and of a constant from the mean less the judge's."""
    labels, judge = scores()
    [verdict] = compared(write(labels, {"j": judge})).verdicts
    people = np.array([[*one.values()] for one in labels.values()])
    given = np.array([*judge.values()])
    gap = (np.abs(people[:, 0] - people[:, 1]) - np.abs(people - given[:, None]).mean(axis=1)) / 100
    assert verdict.agreement.gap == pytest.approx(gap.mean()) and verdict.texts.n == 120
    mean = people.mean(axis=1)
    text = np.repeat(np.arange(30), 4)
    constant = np.array([np.median(mean[text != one]) for one in text])
    against = (np.abs(constant - mean) - np.abs(given - mean)) / 100
    assert verdict.baseline.diff == pytest.approx(against.mean())
    assert verdict.decision.verdict == "use" and "points closer to people's mean than a constant score" in verdict.words.sentence


def test_a_failure_is_as_far_off_as_the_scale_is_long(write: Write) -> None:
    labels, judge = scores()
    [whole] = compared(write(labels, {"j": judge})).verdicts
    [failed] = compared(write(labels, {"j": judge | {"t0-s0": None}})).verdicts
    own = np.abs(np.array([*labels["t0-s0"].values()]) - judge["t0-s0"]).mean() / 100
    assert failed.agreement.gap == pytest.approx(whole.agreement.gap - (1 - own) / 120)


def test_a_constant_judge_is_not_used(write: Write) -> None:
    labels, judge = scores()
    [verdict] = compared(write(labels, {"j": dict.fromkeys(judge, 61.0)})).verdicts
    assert verdict.decision.verdict == "do not use" and verdict.words.obstacles == ("constant",)


def test_with_one_person_an_item_there_is_nobody_to_compare_with(write: Write) -> None:
    labels, judge = scores()
    [verdict] = compared(write({item: {"a": both["a"]} for item, both in labels.items()}, {"j": judge})).verdicts
    assert (verdict.decision.verdict, verdict.decision.reason, verdict.answer, verdict.texts.n) == (
        "no verdict",
        "nobody to compare with",
        "no verdict",
        0,
    )
    assert verdict.words.sentence.startswith("Unknown, j for quality in Czech: nobody to compare with; one person scored each text.")
    further = "Next ('harness labels page' with --second): a second person's scores of 30 texts or more, 20 of them independent"
    assert further in verdict.words.sentence


def test_a_further_person_of_the_second_round_is_an_annotator_and_an_own_repeat_is_none(write: Write) -> None:
    labels, judge = scores()
    one = {item: {"a": both["a"]} for item, both in labels.items()}
    second = {item: {"b" if number < 60 else "a": both["b"]} for number, (item, both) in enumerate(labels.items())}
    folder = write(one, {"j": judge}, second)
    [verdict], [cell] = compared(folder).verdicts, compared(folder).cells
    pairs = [both for item, both in labels.items() if item in [*labels][:60]]
    assert verdict.texts.n == 60 and verdict.agreement.people == pytest.approx(1 - np.mean([abs(p["a"] - p["b"]) for p in pairs]) / 100)
    assert cell["n"] == 120, "statistics rest on the first round"
    few = {item: who for number, (item, who) in enumerate(second.items()) if number < 29 or number >= 60}
    [verdict] = compared(write(one, {"j": judge}, few)).verdicts
    assert (verdict.texts.n, verdict.decision.reason) == (0, "nobody to compare with")
    card = folder / "data.toml"
    write(one, {"j": judge}, second)
    card.write_text(card.read_text("utf-8").replace('id = "made"', 'id = "made"\nsecond_ratings_by = "unknown"'), "utf-8")
    assert compared(folder).verdicts[0].texts.n == 0


@pytest.mark.parametrize("annotators", ["persistent", "aggregate"])
def test_a_judge_below_a_constant_needs_no_second_person(write: Write, annotators: str) -> None:
    labels, judge = scores()
    one = {item: {"a": both["a"]} for item, both in labels.items()}
    wrong = {item: 100 - score for item, score in judge.items()}
    found = compared(write(one, {"bad": wrong, "good": judge}, annotators=annotators))
    answers = {verdict["judge"]: (verdict.answer, verdict.decision.reason, verdict.texts.n) for verdict in found.verdicts}
    assert answers == {"bad": ("do not use", "shown worse than the baseline", 0), "good": ("no verdict", "nobody to compare with", 0)}
    who = "Each text has one released score" if annotators == "aggregate" else "One person scored each text"
    assert any(note.startswith(who) for note in found.notes)
