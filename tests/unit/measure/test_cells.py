"""Cells: every count by hand, every statistic as the one-cell functions give it, and a reason for whatever is undefined."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import stats
from harness.measure.cells import Cell, sort_key
from harness.measure.compare import Recording, compare
from harness.measure.options import Annotators, MeasureOptions
from harness.model import Failure, Judgment, Scale, Score
from harness.row_files import to_json
from tests.unit.made_judgments import letters

MakeRecording = Callable[..., Recording]
Judged = Callable[..., Judgment]

THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
ANY = Annotators(1)


def words(text: str) -> set[str]:
    return set(text.split())


# What other programs read: these names stay.
DOCUMENTED = words("""
n_asked not_asked
language task metric judge variant n_ref n coverage failures pa pa_failed_wrong pa_pairwise human_pa judge_loo human_loo human_all_agree
human_fleiss human_alpha_nominal human_alpha_ordinal weighted_f1 cohen_kappa quadratic_kappa alpha_nominal alpha_ordinal ac1 ac2 leniency
fleiss_with_aggregate human_weighted_f1
kendall_tau spearman vs_baseline distribution_labels distribution_judge distribution_by_agreement undefined
""")
FURTHER = words("""
temperature groups design_effect few_rare_cases pairwise_gap loo_gap linear_kappa alpha_interval human_alpha_interval human_ac1 human_ac2
pearson mean_labels sd_labels mean_judge sd_judge
pearson_within kendall_tau_within spearman_within acc_eq acc_eq_epsilon spa rmse mae icc icc_mean icc_crossed icc_crossed_mean score_counts
human_second_pearson human_second_kendall_tau judge_second_pearson judge_second_kendall_tau
""")


def cells_of(made: Recording, **options: Any) -> tuple[Cell, ...]:
    return compare([made], MeasureOptions(**options)).cells


def the_cell(made: Recording, **options: Any) -> Cell:
    [cell] = cells_of(made, **options)
    return cell


# Counts, by hand: three annotators and what a judge makes of it. `f` has no row, `g` too few annotators.
LABELS = {"a": [2, 2, 2], "b": [2, 2, 1], "c": [0, 0, 1], "d": [0, 1, 2], "e": [1, 1, 1], "f": [0, 0, 0], "g": [1], "h": [0, 2]}
ANSWERS: Mapping[str, Score | Failure] = {"a": 2, "b": 2, "c": 1, "d": 1, "e": Failure.REFUSED, "g": 1, "h": 2}
BY_HAND: dict[str, dict[str, Any]] = {
    # References of a b c e f (d and h have none): 2 2 0 1 0; the judge says 2 2 1 - -.
    "drop": {"n_ref": 5, "n": 3, "pa": 2 / 3, "pa_failed_wrong": 2 / 5, "weighted_f1": 2 / 3, "cohen_kappa": 0.4},
    # d becomes 1, h the lower of two, 0: references 2 2 0 1 1 0 0 for the judge's 2 2 1 1 - - 2.
    "median": {"n_ref": 7, "n": 5, "pa": 3 / 5, "pa_failed_wrong": 3 / 7},
    # d and h count as disagreement, in the shares of hits only.
    "strict": {"n_ref": 7, "n": 5, "pa": 2 / 5, "pa_failed_wrong": 2 / 7, "weighted_f1": 2 / 3, "cohen_kappa": 0.4},
}
WHATEVER_THE_RULE = {
    "pa_pairwise": (1 + 2 / 3 + 1 / 3 + 1 / 3 + 1 / 2) / 5,  # a b c d h
    "human_pa": (1 + 1 / 3 + 1 / 3 + 0 + 0) / 5,
    "judge_loo": (1 + 2 / 3 + 1 / 3 + 1 / 3 + 1 / 2) / 5,
    "human_loo": (1 + 1 / 3 + 1 / 3 + 0 + 0) / 5,
    "human_all_agree": 3 / 7,  # a e f of a b c d e f h
    "human_fleiss": (11 / 21 - 134 / 400) / (1 - 134 / 400),
    "leniency": (0 + 1 / 3 + 2 / 3 + 0 + 1) / 5,
    "mean_judge": 8 / 5,
    "mean_labels": 1.0,
}


@pytest.mark.parametrize("rule", BY_HAND)
def test_a_small_case_by_hand(make_recording: MakeRecording, rule: str) -> None:
    cell = the_cell(make_recording(LABELS, ANSWERS), majority=rule)
    expected = BY_HAND[rule] | WHATEVER_THE_RULE
    assert {name: cell[name] for name in expected} == pytest.approx(expected)
    assert cell.coverage == cell.n / cell.n_ref
    assert cell.failures == {"missing": 1, "refused": 1}
    assert cell.distribution_labels == pytest.approx({"0": 7 / 20, "1": 6 / 20, "2": 7 / 20})
    assert cell.distribution_judge == pytest.approx({"0": 0, "1": 2 / 5, "2": 3 / 5})


def test_class_shares_by_agreement_by_hand(make_recording: MakeRecording) -> None:
    """Of items with exactly three annotators: h with its two is not among them."""
    thirds = {"0": 1 / 3, "1": 1 / 3, "2": 1 / 3}
    found = the_cell(make_recording(LABELS, ANSWERS)).distribution_by_agreement
    assert found and {level: of["items"] for level, of in found.items()} == {"full": 3, "partial": 2, "none": 1}
    assert all(of["labels"] == pytest.approx(thirds) for of in found.values())
    assert found["full"]["judge"] == {"0": 0, "1": 0, "2": 1}
    assert found["partial"]["judge"] == {"0": 0, "1": 0.5, "2": 0.5}
    assert found["none"]["judge"] == {"0": 0, "1": 1, "2": 0}


def test_a_level_of_agreement_without_items_has_no_shares(make_recording: MakeRecording) -> None:
    found = the_cell(make_recording({"a": [1, 1, 1]}, {"a": 1})).distribution_by_agreement
    assert found and found["none"] == {"items": 0, "labels": None, "judge": None}


@pytest.mark.parametrize("labels", [{"a": [1, 1], "b": [0, 0, 0, 0]}, {"a": 1}], ids=["two and four", "one"])
def test_without_three_annotators_there_are_no_shares_by_agreement(make_recording: MakeRecording, labels: Any) -> None:
    cell = the_cell(make_recording(labels, {"a": 1}), annotators=ANY)
    assert cell.distribution_by_agreement is None
    assert cell.undefined["distribution_by_agreement"] == "no item with three annotators"


def test_the_baseline_by_hand(make_recording: MakeRecording) -> None:
    """Of references 2 2 0 1 0 the commonest is 0, the lower of two: right twice in five, as the judge is."""
    versus = the_cell(make_recording(LABELS, ANSWERS)).vs_baseline
    assert (versus["baseline"], versus["pa"], versus["diff"], versus["n"]) == ("majority", 0.4, 0.0, 5)
    assert (versus["ci"], versus["p"], versus["q"]) == (None, None, None) and versus["reason"] == "too few independent texts"
    assert "majority baseline" in versus["hypothesis"] and "Benjamini-Yekutieli" in versus["hypothesis"]


@pytest.mark.parametrize(("rule", "count"), [("drop", 1), ("median", 2), ("strict", 2)])
def test_failures_are_those_of_items_that_have_a_reference(make_recording: MakeRecording, rule: str, count: int) -> None:
    labels = {"majority": [1, 1], "none": [0, 1], "too few": [1]}
    cell = the_cell(make_recording(labels, dict.fromkeys(labels, Failure.REFUSED)), majority=rule)
    assert (cell.n_ref, cell.failures) == (count, {"refused": count})


def test_a_run_says_itself_what_it_asked(make_recording: MakeRecording) -> None:
    """Items without a row are no failures there: they were not asked."""
    cell = the_cell(make_recording(LABELS, ANSWERS, asked=None))
    assert (cell.n_ref, cell.failures) == (4, {"refused": 1})


@pytest.mark.parametrize(
    ("scores", "reference"),
    [
        ([2], 2),
        ([2, 2, 0], 2),
        ([0, 1, 2, 1], 1),
        ([0, 1], None),
        ([0, 0, 2, 2], None),
        ([0, 1, 2], None),
        ([2, 2, 2], 2),
        ([0, 0, 0, 1, 1], 0),
    ],
    ids=str,
)
def test_the_reference_is_the_unique_mode(make_recording: MakeRecording, scores: list[int], reference: int | None) -> None:
    for order in (scores, scores[::-1]):
        hit = [the_cell(make_recording({"i": order}, {"i": answer}), annotators=ANY)["pa"] for answer in (0, 1, 2)]
        assert hit == ([None] * 3 if reference is None else [float(answer == reference) for answer in (0, 1, 2)])


@pytest.mark.parametrize(
    ("scores", "middle"), [([2], 2), ([0, 2], 0), ([1, 2], 1), ([0, 1, 2], 1), ([0, 0, 2, 2], 0), ([0, 2, 2, 2], 2)], ids=str
)
def test_the_median_is_the_lower_one_and_always_there(make_recording: MakeRecording, scores: list[int], middle: int) -> None:
    assert the_cell(make_recording({"i": scores}, {"i": middle}), annotators=ANY, majority="median")["pa"] == 1


def test_metrics_have_references_of_their_own(make_recording: MakeRecording, judged: Judged) -> None:
    labels = {("i", "m"): [0, 0], ("i", "n"): [1, 1], ("j", "m"): [2, 2]}
    given = [judged("i", 0), judged("i", 0, metric="n"), judged("j", 2)]
    found = {cell["metric"]: (cell.n_ref, cell["pa"]) for cell in cells_of(make_recording(labels, given, scales={"m": THREE, "n": THREE}))}
    assert found == {"m": (2, 1.0), "n": (1, 0.0)}


def test_refusing_what_is_hard_does_not_pay(make_recording: MakeRecording) -> None:
    labels = dict.fromkeys(letters(10), 2)
    kinds: dict[str, Mapping[str, Any]] = {
        "honest": {name: 2 if name < "f" else 0 for name in labels},
        "refusing": {name: 2 if name < "f" else Failure.REFUSED for name in labels},
        "leaving out": {name: 2 for name in labels if name < "f"},
    }
    found = {kind: the_cell(make_recording(labels, answers)) for kind, answers in kinds.items()}
    assert [found[kind]["pa"] for kind in kinds] == [0.5, 1, 1]
    assert len({(cell["pa_failed_wrong"], cell.vs_baseline["diff"], cell.n_ref) for cell in found.values()}) == 1


def test_without_any_readable_answer_shares_are_null_and_not_zero(make_recording: MakeRecording) -> None:
    labels = {name: [1, 1] for name in letters(9)}
    cell = the_cell(make_recording(labels, dict.fromkeys(labels, Failure.NOT_JSON)))
    assert (cell["pa"], cell["pa_ci"], cell.n, cell.coverage, cell.distribution_judge) == (None, None, 0, 0.0, None)
    assert cell["pa_failed_wrong"] == 0.0 and cell["pa_failed_wrong_ci"] is not None
    assert cell.undefined["pa"] == "no overlap" and cell.undefined["distribution_judge"] == "no readable score"


def test_labels_and_judgments_that_do_not_meet_are_said(make_recording: MakeRecording) -> None:
    cell = the_cell(make_recording({"a": [1, 1]}, {"b": 1}, asked=None))
    assert (cell.n_ref, cell.n, cell.coverage, cell.distribution_labels) == (0, 0, None, None)
    assert (cell.undefined["coverage"], cell.undefined["distribution_labels"]) == ("no reference", "no label")
    assert cell.vs_baseline["reason"] == "no overlap" and cell.failures == {}


# Each statistic is what the function of its name gives


def table(count: int = 60) -> tuple[dict[str, list[int]], dict[str, int | Failure], Any, Any, list[str]]:
    """Three annotators (gaps among them) and a judge on three classes, as tables and as arrays."""
    rng = np.random.default_rng(7)
    labels = np.where(rng.random((count, 3)) < 0.15, -1, rng.integers(0, 3, (count, 3)))
    labels[:, 0] = rng.integers(0, 3, count)
    judge = np.where(rng.random(count) < 0.1, -1, np.where(rng.random(count) < 0.6, labels[:, 0], rng.integers(0, 3, count)))
    names = [f"i{number}" for number in range(count)]
    people = {name: [int(score) for score in row if score >= 0] for name, row in zip(names, labels, strict=True)}
    answers = {name: int(score) if score >= 0 else Failure.REFUSED for name, score in zip(names, judge, strict=True)}
    return people, answers, labels, judge, names


def one_cell(labels: Any, judge: Any, kind: str, direction: Any) -> dict[str, stats.Estimate]:
    reference = stats.aggregate(labels, 3)
    pair = (np.where(reference < 0, -1, reference), judge)
    both = np.stack([np.where(judge >= 0, pair[0], -1), np.where(pair[0] >= 0, judge, -1)], axis=1)
    found = {
        "pa": stats.pa(judge, labels, 3),
        "pa_failed_wrong": stats.pa_failed_wrong(judge, labels, 3),
        "pa_pairwise": stats.pa_pairwise(judge, labels, 3),
        "judge_loo": stats.judge_loo(judge, labels, 3),
        "human_all_agree": stats.human_all_agree(labels, 3),
        "human_fleiss": stats.fleiss_kappa(labels, 3),
        "human_alpha_nominal": stats.krippendorff_alpha(labels, 3, "nominal"),
        "human_ac1": stats.gwet_ac(labels, 3),
        "cohen_kappa": stats.cohen_kappa(*pair, 3),
        "weighted_f1": stats.weighted_f1(judge, labels, 3),
        "ac1": stats.gwet_ac(both, 3),
    }
    if kind == "nominal":
        return found
    values = np.where(labels >= 0, labels, np.nan)
    mean = np.nanmean(values, axis=1)
    score = np.where(judge >= 0, judge, np.nan)
    return found | {
        "quadratic_kappa": stats.cohen_kappa(*pair, 3, "quadratic"),
        "human_alpha_ordinal": stats.krippendorff_alpha(labels, 3, "ordinal"),
        "human_ac2": stats.gwet_ac(labels, 3, "quadratic"),
        "kendall_tau": stats.kendall_tau(mean, score),
        "spearman": stats.spearman(mean, score),
        "pearson": stats.pearson(mean, score),
        "leniency": stats.leniency(judge, labels, 3, direction),
    }


@pytest.mark.parametrize(
    ("scale", "direction"),
    [
        (THREE, 1),
        (Scale(kind="ordinal", classes=(0, 1, 2), best=0), -1),
        (Scale(kind="nominal", classes=(0, 1, 2)), None),
        (Scale(kind="interval", min=0, max=2, best=2), 1),
    ],
    ids=["best last", "best first", "nominal", "interval"],
)
def test_a_cell_has_what_the_functions_of_one_cell_give(make_recording: MakeRecording, scale: Scale, direction: Any) -> None:
    people, answers, labels, judge, _ = table()
    cell = the_cell(make_recording(people, answers, scales={"m": scale}), annotators=ANY)
    expected = one_cell(labels, judge, scale.kind, direction)
    assert {name: cell[name] for name in expected} == pytest.approx({name: one.value for name, one in expected.items()})
    assert (cell.n, cell.few_rare_cases) == (expected["pa"].n, False)


def test_an_interval_is_the_one_that_the_statistics_make_of_the_groups(make_recording: MakeRecording) -> None:
    """Items of one group are not independent; the same seed is the same interval."""
    people, answers, labels, judge, names = table()
    groups = {name: {"group": f"g{number // 4}"} for number, name in enumerate(names)}
    alone = the_cell(make_recording(people, answers), annotators=ANY)
    together = the_cell(make_recording(people, answers, places=groups), annotators=ANY)
    assert (alone.groups, together.groups) == (int(alone.n_ref), 15)
    rows = stats.tabulate(stats.count_classes(labels, 3), judge, group=np.arange(60) // 4)
    expected = stats.intervals(stats.cell_statistics(3, "ordinal", (0.0, 1.0, 2.0)), rows)
    for name, interval in together.intervals.items():
        if name == "human_weighted_f1":
            continue  # it has none
        assert interval == pytest.approx((expected[name][0].lo, expected[name][0].hi)), name
    assert together.intervals["pa"] != alone.intervals["pa"] and together.values == alone.values


@pytest.mark.parametrize(("groups", "there"), [(7, False), (8, True)])
def test_fewer_than_eight_groups_have_no_interval_and_say_so(make_recording: MakeRecording, groups: int, there: bool) -> None:
    labels = {f"{letter}{number}": 1 for letter in letters(groups) for number in range(3)}
    made = make_recording(labels, {name: int(name[1]) % 2 for name in labels}, places={name: {"group": name[0]} for name in labels})
    cell = the_cell(made)
    assert cell.groups == groups and cell.n_ref == 3 * groups
    for name in ("pa", "pa_failed_wrong"):
        assert (cell[f"{name}_ci"] is not None) is there
        assert cell.undefined.get(f"{name}_ci") == (None if there else "too few independent texts")
    assert (cell.vs_baseline["ci"] is not None) is there


def test_the_difference_is_the_judge_minus_the_majority(make_recording: MakeRecording) -> None:
    learnt = {(name, "m"): 1 for name in "abcd"}
    cell = the_cell(make_recording({"a": 1, "b": 1, "c": 0, "d": 2}, {"a": 1, "b": 0, "c": 0, "d": 2}, baseline=learnt))
    assert (cell["pa"], cell.vs_baseline["pa"], cell.vs_baseline["diff"]) == (0.75, 0.5, 0.25)


def test_the_majority_is_what_was_learnt_and_where_nothing_was_the_commonest_of_the_cell(make_recording: MakeRecording) -> None:
    labels = {"a": 0, "b": 0, "c": 2, "d": 2, "e": 2}
    shares = [
        the_cell(make_recording(labels, labels, baseline=baseline)).vs_baseline["pa"]
        for baseline in (None, {}, {("a", "m"): 0}, {("c", "m"): 1}, {(name, "m"): 0 for name in labels})
    ]
    assert shares == [0.6, 0.6, 0.8, 0.4, 0.4]


@pytest.mark.parametrize("score", [0, 1, 2])
def test_a_judge_that_says_one_thing_is_never_better_than_the_best_constant(make_recording: MakeRecording, score: int) -> None:
    labels = {f"i{number}": number % 2 for number in range(40)}
    versus = the_cell(make_recording(labels, dict.fromkeys(labels, score))).vs_baseline
    assert versus["diff"] <= 0 and versus["ci"][0] <= 0


def test_knowing_the_language_is_no_gain_where_languages_are_pooled(make_recording: MakeRecording) -> None:
    """The best constant of each language that is pooled, not one for all of them."""
    labels = {f"{tag}{number}": score for tag, score in (("en", 0), ("ja", 2)) for number in range(20)}
    places = {name: {"language": name[:2]} for name in labels}
    pooled = the_cell(make_recording(labels, labels, places=places), by=("metric", "judge"))
    assert pooled["pa"] == 1.0 and (pooled.vs_baseline["pa"], pooled.vs_baseline["diff"]) == (1.0, 0.0)


STRATA = [(language, task, metric) for language in ("en", "ja") for task in ("t", "u") for metric in ("m", "n")]


@pytest.mark.slow
@pytest.mark.parametrize("majority", ["drop", "strict", "median"])
@pytest.mark.parametrize(
    "by",
    [
        ("language", "metric", "judge"),
        ("metric", "judge"),
        ("task", "judge"),
        ("judge",),
        ("judge", "agreement"),
        ("judge", "group"),
        ("judge", "system", "metric"),
    ],
    ids=",".join,
)
@settings(max_examples=12)
@given(seed=st.integers(0, 10_000))
def test_a_judge_that_is_constant_in_every_stratum_is_above_no_pooled_baseline(
    make_recording: MakeRecording, judged: Judged, majority: str, by: tuple[str, ...], seed: int
) -> None:
    chance = random.Random(seed)
    constant = {stratum: chance.choice((0, 1, 2)) for stratum in STRATA}
    labels: dict[Any, list[int]] = {}
    places: dict[str, Any] = {}
    answers: list[Judgment] = []
    for language, task in dict.fromkeys((language, task) for language, task, _ in STRATA):
        usual = chance.choice((0, 1, 2))
        for number in range(chance.randrange(1, 7)):
            name = f"{language}{task}{number}"
            places[name] = {"language": language, "task": task, "group": chance.choice("gh"), "system": chance.choice("xy")}
            for metric in "mn":
                labels[name, metric] = [chance.choice((usual, 0, 1, 2)) for _ in range(3)]
                answer = constant[language, task, metric] if chance.random() < 0.9 else Failure.REFUSED
                answers += [judged(name, answer, metric=metric, repeat=repeat) for repeat in range(2)]
    made = make_recording(labels, answers, scales={"m": THREE, "n": THREE}, places=places)
    for cell in cells_of(made, by=by, majority=majority, resamples=100):
        assert cell.vs_baseline["diff"] is None or cell.vs_baseline["diff"] <= 0, cell.key


def test_q_is_the_p_of_all_cells_corrected_together(make_recording: MakeRecording, judged: Judged) -> None:
    names = [f"i{number}" for number in range(40)]
    labels = {name: [number % 2, number % 2] for number, name in enumerate(names)}
    given = [
        judged(name, (number + (number % every == 0)) % 2, judge=str(every)) for every in (2, 3, 4, 5) for number, name in enumerate(names)
    ]
    cells = cells_of(make_recording(labels, given))
    p, q = ([cell.vs_baseline[name] for cell in cells] for name in ("p", "q"))
    assert q == pytest.approx(stats.benjamini_yekutieli(p).tolist()) and p != q and None not in p
    [alone] = cells_of(make_recording(labels, [j for j in given if j.judge == "4"]))
    assert alone.vs_baseline["q"] == alone.vs_baseline["p"] == cells[2].vs_baseline["p"]


# Keys


@pytest.fixture
def grid(make_recording: MakeRecording, judged: Judged) -> Recording:
    """Two languages and tasks, two metrics, judges, variants and temperatures: every combination once."""
    places = {f"{tag} {task}": {"language": tag, "task": task} for tag in ("ja", "cs") for task in ("summarize", "open_prompt")}
    given = [
        judged(name, 1, metric=metric, judge=judge, variant=variant, temperature=temperature)
        for name in places
        for metric in "mn"
        for judge in ("two", "one")
        for variant in ("single", "joint")
        for temperature in (0.7, 0.0)
    ]
    return make_recording(
        {(name, metric): [1] for name in places for metric in "mn"}, given, scales=dict.fromkeys("mn", THREE), places=places
    )


def test_cells_are_told_apart_by_everything_and_come_sorted(grid: Recording) -> None:
    cells = cells_of(grid)
    keys = [tuple(cell.key.values()) for cell in cells]
    assert list(cells[0].key) == ["language", "task", "metric", "judge", "variant", "temperature"]
    assert len(keys) == len(grid.judgments) == 64 and keys == sorted(keys) and all(cell.n_ref == 1 for cell in cells)


@pytest.mark.parametrize(
    ("by", "count"),
    [
        (("metric",), 2),
        (("language", "metric", "judge", "variant", "temperature"), 32),
        (("language", "task"), 4),
        ((), 1),
        (("temperature", "judge"), 4),
        (("repeat",), 1),
    ],
    ids=str,
)
def test_what_cells_are_not_told_apart_by_is_pooled_and_starred(grid: Recording, by: tuple[str, ...], count: int) -> None:
    cells = cells_of(grid, by=by)
    assert len(cells) == count and all(cell.n_ref == 64 / count for cell in cells)
    for cell in cells:
        assert list(cell.key) == ["language", "task", "metric", "judge", "variant", *(n for n in by if n in ("temperature", "repeat"))]
        assert {name for name, value in cell.key.items() if value == "*"} == {"language", "task", "metric", "judge", "variant"} - set(by)


def test_metrics_on_different_scales_are_not_pooled(make_recording: MakeRecording, judged: Judged) -> None:
    scales = {"m": THREE, "n": Scale(kind="ordinal", classes=(0, 1), best=0)}
    made = make_recording({("a", "m"): 1, ("a", "n"): 1}, [judged("a", 1), judged("a", 1, metric="n")], scales=scales)
    pooled = compare([made], MeasureOptions(by=("judge",)))
    assert [(cell["metric"], cell["judge"]) for cell in pooled.cells] == [("m", pooled.cells[0]["judge"]), ("n", pooled.cells[0]["judge"])]
    assert pooled.notes[0] == "Metrics on different scales are not pooled: each has rows of its own."
    only_m = compare([made], MeasureOptions(by=("judge",), where={"metric": ("m",)}))
    assert [cell["metric"] for cell in only_m.cells] == ["*"] and not any("different scales" in note for note in only_m.notes)
    assert [cell["metric"] for cell in cells_of(made)] == ["m", "n"]


def test_by_system_group_or_any_key_of_the_items(make_recording: MakeRecording) -> None:
    places = {"a": {"system": "s", "group": "g", "round": 10}, "b": {"system": "t", "group": "g", "round": 9}, "c": {"round": 9}}
    made = make_recording({"a": 1, "b": 1, "c": 0}, {"a": 1, "b": 0, "c": 0}, places=places)
    found = {by: [(cell[by], cell["pa"]) for cell in cells_of(made, by=(by,))] for by in ("group", "round", "language")}
    assert found == {"group": [("c", 1.0), ("g", 0.5)], "round": [(9, 0.5), (10, 1.0)], "language": [("en", 2 / 3)]}
    by_system = {cell["system"]: cell["pa"] for cell in cells_of(made, by=("system",))}
    assert by_system == {"s": 1.0, "t": 0.0, None: 1.0}


def test_by_agreement_any_number_of_annotators_of_two_and_more_counts(make_recording: MakeRecording) -> None:
    labels = {"a": [1, 1], "b": [1, 1, 0], "c": [0, 1, 2], "d": [0, 0, 0, 0], "e": [1]}
    found = cells_of(make_recording(labels, dict.fromkeys(labels, 1)), by=("agreement",), annotators=ANY)
    assert {cell["agreement"]: (cell.n_ref, cell["pa"]) for cell in found} == {
        "full": (2, 0.5),
        "partial": (1, 1.0),
        "none": (0, None),
        None: (1, 1.0),
    }


def test_repeats_are_units_of_one_cell_and_can_be_told_apart(make_recording: MakeRecording, judged: Judged) -> None:
    made = make_recording({"a": 1, "b": 1}, [judged(name, score, repeat=score) for name in "ab" for score in (0, 1)])
    cell = the_cell(made)
    assert (cell.n_ref, cell["pa"], cell.groups) == (4, 0.5, 2)
    assert [(cell["repeat"], cell["pa"]) for cell in cells_of(made, by=("repeat",))] == [(0, 0.0), (1, 1.0)]


def test_keys_sort_numbers_by_size_and_gaps_last() -> None:
    values: list[Any] = ["b", None, 10, 9.5, "a"]
    assert sorted(values, key=lambda value: sort_key({"key": value})) == [9.5, 10, None, "a", "b"]


# What a cell holds


@pytest.mark.parametrize(
    "scale",
    [
        THREE,
        Scale(kind="ordinal", classes=(0, 1, 2), best=1),
        Scale(kind="nominal", classes=(0, 1, 2)),
        Scale(kind="interval", min=0, max=2),
    ],
    ids=["ordinal", "best in the middle", "nominal", "interval"],
)
@pytest.mark.parametrize("level", ["item", "system"])
@pytest.mark.parametrize("answers", [ANSWERS, dict.fromkeys(LABELS, Failure.REFUSED)], ids=["some", "none"])
def test_every_cell_has_the_same_names(make_recording: MakeRecording, scale: Scale, level: Any, answers: Any) -> None:
    places = {name: {"system": "st"[number % 2]} for number, name in enumerate(LABELS)}
    cell = the_cell(make_recording(LABELS, answers, scales={"m": scale}, places=places), level=level)
    flat = cell.flat()
    assert {name for name in flat if not name.endswith("_ci")} == {*DOCUMENTED, *FURTHER, *(["systems"] if level == "system" else [])}
    assert sorted(cell.vs_baseline) == ["baseline", "ci", "diff", "hypothesis", "n", "p", "pa", "q", "reason"]
    assert all(cell[name] == value or value is None for name, value in flat.items())


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "interval"])
def test_what_the_scale_does_not_have_is_null_with_its_reason(make_recording: MakeRecording, kind: Any) -> None:
    scale = Scale(kind=kind, min=0, max=2) if kind == "interval" else Scale(kind=kind, classes=(0, 1, 2))
    cell = the_cell(make_recording(LABELS, ANSWERS, scales={"m": scale}))
    absent = stats.undefined_by_scale(kind, None)
    assert absent and {name: cell.undefined[name] for name in absent} == absent
    assert all(cell[name] is None and cell[f"{name}_ci"] is None for name in absent)


def test_rare_classes_are_marked(make_recording: MakeRecording) -> None:
    enough = {f"{letter}{number}": number % 3 for letter in letters(15) for number in range(3)}
    assert not the_cell(make_recording(enough, enough)).few_rare_cases
    enough.pop("a2")
    assert the_cell(make_recording(enough, enough)).few_rare_cases


def test_an_interval_scale_is_counted_by_value(make_recording: MakeRecording) -> None:
    labels = dict(zip(letters(6), [10, 2.5, 2.5, 2, 66.6666661, 66.6666662], strict=True))
    cell = the_cell(make_recording(labels, dict.fromkeys(labels, 2.0), scales={"m": Scale(kind="interval", min=0, max=100)}))
    assert cell.distribution_labels and list(cell.distribution_labels)[:3] == ["2", "2.5", "10"]
    assert cell.distribution_judge == {"2": 1} and cell["pa"] == pytest.approx(1 / 6)
    assert not cell.few_rare_cases  # there are no classes that could be rare


def test_shares_of_an_interval_scale_sum_to_one_however_near_its_scores_are(make_recording: MakeRecording) -> None:
    labels = dict(zip(letters(4), [1.0, 66.6666661, 66.6666662, 66.6666662], strict=True))
    cell = the_cell(make_recording(labels, labels, scales={"m": Scale(kind="interval", min=0, max=100)}))
    assert cell.distribution_labels and sum(cell.distribution_labels.values()) == pytest.approx(1)


def test_many_different_scores_are_numbers(make_recording: MakeRecording) -> None:
    """Equality says nothing of them, and correlation does."""
    labels = {f"i{number}": number / 100 for number in range(65)}
    judged = {name: min(1, score + 0.1) for name, score in labels.items()}
    cell = the_cell(make_recording(labels, judged, scales={"m": Scale(kind="interval", min=0, max=1, best=1)}))
    assert (cell.n_ref, cell.n, cell.coverage) == (65, 65, 1.0)
    assert cell["pa"] is cell["cohen_kappa"] is cell.vs_baseline["p"] is cell.distribution_labels is None
    assert cell.undefined["pa"] == cell.vs_baseline["reason"] == "continuous scores: equality says little"
    assert cell["pearson"] == pytest.approx(1) and cell["mae"] == pytest.approx(0.1) == cell["leniency"]
    assert cell["mean_labels"] == pytest.approx(0.32)
    assert cell.undefined["pearson_within"] == "the dataset card names no segment (the key of the source text)"


def test_nothing_in_a_cell_is_nan(make_recording: MakeRecording) -> None:
    def finite(value: Any) -> bool:
        if isinstance(value, dict | list | tuple):
            return all(map(finite, value.values() if isinstance(value, dict) else value))
        return not isinstance(value, float) or math.isfinite(value)

    for answers in (ANSWERS, {}, dict.fromkeys(LABELS, 1)):
        found = compare([make_recording(LABELS, answers or {"a": Failure.MISSING})], MeasureOptions())
        assert finite(found.as_json()) and "NaN" not in to_json(found.as_json())


def test_the_f1_of_people_is_by_persons_and_only_where_they_can_be_followed(make_recording: MakeRecording) -> None:
    labels = {"a": [0, 0, 1], "b": [1, 1, 1], "c": [2, 1, 2], "d": [0, 2, 2]}
    recording = make_recording(labels, dict.fromkeys(labels, 1))
    of_nobody = the_cell(recording)
    assert of_nobody["human_weighted_f1"] is None and of_nobody.undefined["human_weighted_f1"] == "annotators are aggregate"
    about = msgspec.structs.replace(recording.data.about, annotators="persistent")
    followed = msgspec.structs.replace(recording, data=msgspec.structs.replace(recording.data, about=about))
    cell = the_cell(followed)
    assert cell["human_weighted_f1"] == pytest.approx((2 / 4 + 2 / 4 + 2 / 4) / 3)
    assert cell.flat()["human_weighted_f1_ci"] is None and cell.undefined["human_weighted_f1_ci"] == "no interval is computed"
