"""Other ways of asking: variants, conditions in general, temperature."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.content import Library
from harness.data.dataset import Dataset, load_folder
from harness.measure.compare import Recording, compare
from harness.measure.options import MeasureOptions
from harness.model import Failure, Judgment, Scale
from tests.translation_folder import CARD, translation_items, write_translations
from tests.unit.reports.sections.section_runs import ablations

Find = Callable[..., dict[str, Any]]
Said = Callable[..., Judgment]
TheRow = Callable[..., dict[str, Any]]

LABELS = {"a": [2, 2, 2], "b": [2, 2, 1], "c": [0, 0, 1], "d": [0, 1, 2]}  # references 2 2 0 and none
SINGLE = {"a": 2, "b": 1, "c": 0, "d": 1}
JOINT = {"a": 2, "b": 2, "c": Failure.REFUSED, "d": 2}


@pytest.fixture
def both(said: Said) -> list[Judgment]:
    return [said(name, answer, variant=variant) for variant, of in (("joint", JOINT), ("single", SINGLE)) for name, answer in of.items()]


def test_agreement_by_hand(find: Find, the_row: TheRow, both: list[Judgment]) -> None:
    rows = find(both, LABELS)["variants"]["rows"]
    single, joint = the_row(rows, variant="single"), the_row(rows, variant="joint")
    assert (single["n_ref"], single["n"], single["pa"], single["pa_failed_wrong"]) == (3, 3, 2 / 3, 2 / 3)
    assert (joint["n_ref"], joint["n"], joint["pa"], joint["pa_failed_wrong"]) == (3, 2, 1.0, 2 / 3)
    assert single["pa_pairwise"] == pytest.approx((1 + 1 / 3 + 2 / 3 + 1 / 3) / 4)
    assert single["human_pa"] == pytest.approx((1 + 1 / 3 + 1 / 3 + 0) / 4)
    assert joint["human_pa"] == pytest.approx((1 + 1 / 3 + 0) / 3)  # without c, which it did not score
    assert single["pairwise_gap"] == pytest.approx(single["pa_pairwise"] - single["human_pa"])


def test_the_difference_is_from_the_plainest_variant(find: Find, the_row: TheRow, both: list[Judgment]) -> None:
    section = find(both, LABELS)["variants"]
    single, joint = the_row(section["rows"], variant="single"), the_row(section["rows"], variant="joint")
    assert (joint["versus"], joint["diff"], joint["diff_n"]) == ("single", 0.0, 3)  # a 0, b +1, c -1
    assert (single["versus"], single["diff"]) == (None, None) and single["undefined"]["diff"] == "what the others are compared with"
    assert "'single'" in section["hypothesis"] and "Benjamini-Yekutieli" in section["hypothesis"]


def test_a_clear_difference_has_an_interval_p_and_q(find: Find, the_row: TheRow, said: Said) -> None:
    """40 texts: always right against right on every other one."""
    labels = {f"i{n}": 1 for n in range(40)}
    judgments = [said(name, 1, variant="joint") for name in labels] + [said(name, n % 2) for n, name in enumerate(labels)]
    joint = the_row(find(judgments, labels)["variants"]["rows"], variant="joint")
    assert joint["diff"] == 0.5 and joint["diff_ci"][0] > 0.3 and joint["diff_p"] <= joint["diff_q"] < 0.001


def test_every_level_is_there_and_metrics_pool_as_shares(find: Find, the_row: TheRow, said: Said, three: Any) -> None:
    labels = {("a", "m"): [2, 2], ("a", "o"): [1, 1], ("b", "m"): [0, 0]}
    places = {"b": {"language": "ja", "task": "summarize"}}
    judgments = [said("a", 2), said("a", 0, metric="o"), said("b", 0)]
    rows = find(judgments, labels, scales={"m": three, "o": three}, places=places)["variants"]["rows"]
    assert the_row(rows, metric="*")["pa"] == 0.5
    assert the_row(rows, language="*")["n"] == 2
    assert the_row(rows, language="*", task="summarize", metric="*")["pa"] == 1.0
    assert the_row(rows, task="open_prompt")["pa"] == 1.0


def test_without_two_annotators_there_is_no_human_figure(find: Find, the_row: TheRow, said: Said) -> None:
    row = the_row(find([said("a", 2)], {"a": 2})["variants"]["rows"])
    assert row["human_pa"] is None and row["undefined"]["human_pa"] == "no item with two annotators and a readable score"


def test_without_labels_there_is_no_agreement(find: Find, said: Said) -> None:
    assert "variants" not in find([said("a", 2)])


def test_one_variant_is_compared_with_nothing(find: Find, said: Said) -> None:
    section = find([said("a", 2)], {"a": 2})["variants"]
    assert "hypothesis" not in section and "diff" not in section["rows"][0]


def test_changed_texts_do_not_meet_labels(find: Find, the_row: TheRow, said: Said) -> None:
    judgments = [said("a", 2), said("a", 0, perturbation="shuffle-words:0.1")]
    assert the_row(find(judgments, {"a": 2})["variants"]["rows"])["n_ref"] == 1


def test_examples_are_compared_with_the_fewest(find: Find, the_row: TheRow, said: Said) -> None:
    labels = {"a": 2, "b": 1}
    few = [said(name, labels[name], variant="single+fewshot:2") for name in labels]
    none = [said("a", 2), said("b", 0)]
    hot = [said("a", 0, temperature=1.0)]  # without examples only: nothing to compare with there
    rows = find([*few, *none, *hot], labels)["few_shot"]["rows"]
    assert the_row(rows, shots=0)["pa"] == 0.5
    assert (the_row(rows, shots=2)["pa"], the_row(rows, shots=2)["diff"], the_row(rows, shots=2)["versus"]) == (1.0, 0.5, "single")
    assert {row["temperature"] for row in rows} == {0.0}


def test_examples_with_another_difference_are_no_ladder(find: Find, said: Said) -> None:
    judgments = [said("a", 2), said("a", 2, variant="joint+fewshot:2")]
    assert "few_shot" not in find(judgments, {"a": 2})


def test_the_position_of_the_score(find: Find, the_row: TheRow, said: Said) -> None:
    """Two of three scores move, by +1 and +2: one toward the label, one away from it."""
    before, after = {"a": 0, "b": 1, "c": 2}, {"a": 1, "b": 1, "c": Failure.REFUSED}
    judgments = [said(name, score) for name, score in before.items()]
    judgments += [said(name, score, variant="single+score-first") for name, score in after.items()]
    row = the_row(find(judgments, {"a": 1, "b": 1, "c": 2})["score_position"]["rows"])
    assert (row["variant"], row["versus"], row["n"], row["unreadable"]) == ("single+score-first", "single", 2, 1)
    assert (row["moved"], row["changed"], row["diff"]) == (0.5, 0.5, 0.0)
    assert row["undefined"]["moved_ci"] == "too few independent texts"


def test_scores_move_toward_the_best(find: Find, the_row: TheRow, said: Said) -> None:
    """On a scale where 0 is best, a lower number is a kinder score."""
    scale = {"m": {"kind": "ordinal", "classes": (0, 1, 2), "best": 0}}
    from harness.model import Scale

    judgments = [said("a", 2), said("a", 0, variant="single+score-first")]
    row = the_row(find(judgments, {"a": 1}, scales={"m": Scale(**scale["m"])})["score_position"]["rows"])
    assert row["moved"] == 2.0


def judged_translations(folder: Path, *, card: str = CARD, variants: tuple[str, ...] = ("single", "single+detailed")) -> Dataset:
    """Translations with a judge that orders them well under the second variant, badly under the first, and does not answer once."""
    write_translations(folder, translation_items(texts=20), card=card)
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]
    rng = np.random.default_rng(3)
    rows = [
        {"item_id": label["item_id"], "judge": "j", "metric": label["metric"], "variant": name}
        | ({"score": float(np.clip(label["score"] + rng.normal(0, spread), 0, 100))} if number else {"failure": "refused"})
        for name, spread in zip(variants, (40, 5), strict=False)
        for number, label in enumerate(labels)
    ]
    (folder / "judgments.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return load_folder(folder, Library(), with_judgments=True)


def correlations(data: Dataset) -> Any:
    assert data.judgments is not None
    return ablations(data, data.judgments, MeasureOptions(resamples=100)).get("correlations")


@pytest.mark.parametrize(("card", "tested"), [(CARD, "kendall_tau_within"), (CARD.replace('segment = "segment"\n', ""), "kendall_tau")])
def test_correlations_and_their_differences_are_those_of_a_comparison(tmp_path: Path, card: str, tested: str) -> None:
    data = judged_translations(tmp_path, card=card)
    assert data.judgments is not None
    options = MeasureOptions(resamples=100, versus=("variant", "single"))
    cells = compare([Recording("d", data, data.judgments)], options).cells
    plain, detailed = correlations(data)["rows"]
    for row, cell in zip((plain, detailed), cells, strict=True):
        assert row["n"] == cell.n == 39
        for name in ("kendall_tau", "kendall_tau_within"):
            assert row[name] == (None if cell[name] is None else pytest.approx(cell[name])), name
    assert plain["versus"] is None and plain["tau_diff"] is None and detailed["versus"] == "single"
    versus = cells[1].versus
    assert versus is not None and versus["statistic"] == tested
    assert detailed["tau_diff"] == pytest.approx(versus["diff"]) and detailed["tau_diff"] > 0
    assert detailed["tau_diff_p"] == pytest.approx(versus["p"]) and tuple(detailed["tau_diff_ci"]) == pytest.approx(versus["ci"])
    assert detailed["pearson_diff"] == pytest.approx(versus["differences"]["pearson"]["diff"])


def test_one_variant_has_no_correlations(tmp_path: Path) -> None:
    assert correlations(judged_translations(tmp_path, variants=("single",))) is None


CHOICE = Scale(kind="nominal", classes=("A", "B"), swap={"A": "B", "B": "A"})


def test_names_in_the_headings_move_scores(find: Find, the_row: TheRow, said: Said) -> None:
    judgments = [said(f"i{n}", n % 2) for n in range(20)] + [said(f"i{n}", n % 2 + (n < 10), shown_source="correct") for n in range(20)]
    row = the_row(find(judgments)["answer_changes"]["rows"], axis="shown_source")
    assert (row["changed_to"], row["changed_from"]) == ("names of the systems", "no names")
    assert (row["n"], row["moved"], row["changed"]) == (20, 0.5, 0.5) and row["moved_q"] < 0.05


def test_choices_between_changed_texts_have_no_best_and_are_counted(find: Find, the_row: TheRow, said: Said) -> None:
    judgments = [said(f"i{n}", "A") for n in range(12)] + [said(f"i{n}", "AB"[n % 3 == 0], perturbation="typos:0.1") for n in range(12)]
    row = the_row(find(judgments, scales={"m": CHOICE})["answer_changes"]["rows"], axis="perturbation")
    assert (row["changed_to"], row["n"], row["moved"]) == ("typos:0.1", 12, None)
    assert row["changed"] == pytest.approx(4 / 12) and row["undefined"]["moved"] == "the scale has no best end"


def test_scores_of_changed_texts_stand_in_the_section_on_perturbations(find: Find, said: Said) -> None:
    judgments = [said(f"i{n}", 1) for n in range(12)] + [said(f"i{n}", 0, perturbation="typos:0.1") for n in range(12)]
    found = find(judgments)
    assert "perturbations" in found and "answer_changes" not in found


@pytest.mark.parametrize(
    ("condition", "words"),
    [({"temperature": 0.7}, "temperature 0.7"), ({"top_p": 0.9}, "top-p 0.9"), ({"variant": "joint"}, "joint")],
    ids=["temperature", "top-p", "variant"],
)
def test_without_labels_every_condition_has_a_number(find: Find, the_row: TheRow, said: Said, condition: Any, words: str) -> None:
    judgments = [said(f"i{n}", 1) for n in range(10)] + [said(f"i{n}", 2 if n else Failure.REFUSED, **condition) for n in range(10)]
    row = the_row(find(judgments)["answer_changes"]["rows"], changed_to=words)
    assert (row["n"], row["unreadable"], row["moved"], row["changed"]) == (9, 1, 1.0, 1.0)


def test_with_labels_the_sections_on_agreement_have_them(find: Find, said: Said) -> None:
    judgments = [said(f"i{n}", 1, temperature=t) for n in range(10) for t in (0.0, 1.0)]
    assert "answer_changes" not in find(judgments, {f"i{n}": 1 for n in range(10)})


def test_with_labels_the_values_of_top_p_are_compared(find: Find, the_row: TheRow, said: Said) -> None:
    judgments = [said(f"i{n}", int(p > 0.5 and n < 4), top_p=p) for n in range(10) for p in (0.5, 0.9)]
    row = the_row(find(judgments, {f"i{n}": 1 for n in range(10)})["answer_changes"]["rows"], axis="top_p")
    assert (row["changed_to"], row["changed_from"], row["n"], row["moved"]) == ("top-p 0.9", "top-p 0.5", 10, 0.4)


def test_a_metric_without_labels_has_numbers_beside_one_that_has_them(find: Find, the_row: TheRow, said: Said) -> None:
    """The data hold labels of one metric alone: temperatures of the other one have no agreement, so their answers are compared."""
    scales = {name: Scale(kind="ordinal", classes=(0, 1, 2), best=2) for name in ("m", "unlabelled")}
    judgments = [said(f"i{n}", int(t), metric=metric, temperature=t) for n in range(10) for t in (0.0, 1.0) for metric in scales]
    found = find(judgments, {f"i{n}": 1 for n in range(10)}, scales=scales)
    row = the_row(found["answer_changes"]["rows"], metric="unlabelled")
    assert (row["axis"], row["n"], row["moved"]) == ("temperature", 10, 1.0)
    assert {row["metric"] for row in found["answer_changes"]["rows"]} == {"unlabelled"}
    assert {row["metric"] for row in found["temperature"]["rows"] if row["language"] != "*"} >= {"m"}


def test_names_in_headings_of_changed_texts_have_rows_of_their_own(find: Find, said: Said) -> None:
    """Names move the score of unchanged texts up by one and leave that of changed ones, which fall by one where names are shown."""
    scores = {(None, None): 0, ("correct", None): 1, (None, "typos:0.1"): 0, ("correct", "typos:0.1"): 0}
    judgments = [
        said(f"i{n}", score, shown_source=source, perturbation=perturbation)
        for n in range(10)
        for (source, perturbation), score in scores.items()
    ]
    rows = {(row["axis"], row["both_with"]): row for row in find(judgments)["answer_changes"]["rows"] if row["language"] != "*"}
    moved = {key: (row["n"], row["moved"]) for key, row in rows.items()}
    assert moved == {
        ("shown_source", "unchanged text"): (10, 1.0),
        ("shown_source", "typos:0.1"): (10, 0.0),
        ("perturbation", "names of the systems"): (10, -1.0),
    }


def test_one_condition_has_no_change(find: Find, said: Said) -> None:
    assert "answer_changes" not in find([said(f"i{n}", 1) for n in range(10)])


HEATS = (0.0, 0.5, 1.0)


def judged(said: Said, right: Callable[[int, int], bool], count: int = 40) -> list[Judgment]:
    """Labels are 1; the judge is right on item n at temperature step t where `right(n, t)`."""
    return [said(f"i{n}", int(right(n, step)), temperature=heat) for n in range(count) for step, heat in enumerate(HEATS)]


TEMPERATURE_LABELS = {f"i{n}": 1 for n in range(40)}


def test_a_judge_that_falls_by_half(find: Find, the_row: TheRow, said: Said) -> None:
    """Always right at 0, on three items of four at 0.5, on every other one at 1: a slope of -1/2."""
    section = find(judged(said, lambda n, step: n % 4 >= step), TEMPERATURE_LABELS)["temperature"]
    assert [the_row(section["rows"], temperature=heat)["pa"] for heat in HEATS] == [1.0, 0.75, 0.5]
    cold, hot = the_row(section["rows"], temperature=0.0), the_row(section["rows"], temperature=1.0)
    assert (hot["versus"], hot["diff"]) == (0.0, -0.5) and hot["diff_ci"][1] < 0 and hot["diff_q"] < 0.01
    assert cold["diff"] is None and cold["undefined"]["diff"] == "the lowest temperature"
    trend = the_row(section["trends"], temperature="*")
    assert trend["slope"] == pytest.approx(-0.5) and trend["slope_ci"][1] < 0 and trend["slope_n"] == 40
    assert trend["temperatures"] == [0.0, 0.5, 1.0] and trend["page_blocks"] == 20 and trend["page_p"] < 0.001
    assert "one-sided" in section["hypothesis"]


def test_a_judge_that_rises_does_not_fall(find: Find, the_row: TheRow, said: Said) -> None:
    trend = the_row(find(judged(said, lambda n, step: n % 4 < step + 1), TEMPERATURE_LABELS)["temperature"]["trends"])
    assert trend["slope"] > 0 and trend["page_p"] > 0.9


def test_a_judge_that_heeds_no_temperature(find: Find, the_row: TheRow, said: Said) -> None:
    section = find(judged(said, lambda n, step: n % 2 == 0), TEMPERATURE_LABELS)["temperature"]
    trend = the_row(section["trends"])
    assert trend["slope"] == pytest.approx(0) and trend["slope_p"] == 1.0
    assert trend["page_p"] is None and trend["undefined"]["page_p"] == "no variation between texts"
    assert the_row(section["rows"], temperature=1.0)["diff"] == 0.0


def test_two_temperatures_have_no_step_by_step(find: Find, the_row: TheRow, said: Said) -> None:
    judgments = [one for one in judged(said, lambda n, step: n % 4 >= step) if one.condition.temperature != 0.5]
    trend = the_row(find(judgments, TEMPERATURE_LABELS)["temperature"]["trends"])
    assert trend["undefined"]["page_l"] == "fewer than three temperatures" or trend["undefined"]["page_l"] == "fewer than three conditions"
    assert trend["slope"] == pytest.approx(-0.5)


def test_repeats_of_an_item_count_once(find: Find, the_row: TheRow, said: Said) -> None:
    """Five repeats at 1, one at 0: the difference is of means over items, not of answers."""
    judgments = [said("a", 1), said("b", 1)]
    judgments += [said("a", 1, temperature=1.0, repeat=n) for n in range(5)] + [said("b", 0, temperature=1.0)]
    row = the_row(find(judgments, {"a": 1, "b": 1})["temperature"]["rows"], temperature=1.0)
    assert (row["diff"], row["diff_n"], row["pa"]) == (-0.5, 2, pytest.approx(5 / 6))


def test_a_failure_counts_as_wrong(find: Find, the_row: TheRow, said: Said) -> None:
    row = the_row(find([said("a", 1), said("a", Failure.REFUSED, temperature=1.0)], {"a": 1})["temperature"]["rows"], temperature=1.0)
    assert (row["diff"], row["pa"], row["pa_failed_wrong"]) == (-1.0, None, 0.0)


def test_one_temperature_is_no_ablation(find: Find, said: Said) -> None:
    other_judge = said("a", 1, temperature=1.0, judge="k")  # another judge's temperature is no second one of this
    assert "temperature" not in find([said("a", 1), other_judge], {"a": 1})
