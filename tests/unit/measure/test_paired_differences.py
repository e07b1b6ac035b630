"""Paired comparisons: who is paired with whom, and that the numbers are those of the statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from harness import stats
from harness.content.specs import Asked
from harness.errors import UsageError
from harness.measure.cells import Cell
from harness.measure.compare import Recording, compare
from harness.measure.options import Annotators, MeasureOptions
from harness.measure.paired_differences import NOT_HERE
from harness.model import Failure, Judgment, Scale
from harness.stats.agreement.correlation import NAMES as CORRELATIONS

MakeRecording = Callable[..., Recording]
Judged = Callable[..., Judgment]

THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
ITEMS = [f"i{number}" for number in range(40)]
TRUTH = {name: number % 3 for number, name in enumerate(ITEMS)}
GOOD = {name: score if number % 5 else (score + 1) % 3 for number, (name, score) in enumerate(TRUTH.items())}
POOR = {name: score if number % 2 else 2 for number, (name, score) in enumerate(TRUTH.items())}


def cells_of(*recordings: Recording, **options: Any) -> tuple[Cell, ...]:
    return compare(recordings, MeasureOptions(**options)).cells


def arrays(*answers: Mapping[str, Any]) -> list[Any]:
    return [np.array([of[name] if not isinstance(of[name], Failure) else -1 for name in ITEMS]) for of in answers]


@pytest.fixture
def two(make_recording: MakeRecording, judged: Judged) -> Callable[..., Recording]:
    """The good and the poor answers, told apart by one key."""

    def make(key: str = "judge", names: Sequence[Any] = ("good", "poor"), good: Any = GOOD, poor: Any = POOR, **other: Any) -> Recording:
        given = [judged(item, score, **{key: name}) for name, of in zip(names, (good, poor), strict=True) for item, score in of.items()]
        return make_recording({item: [score, score] for item, score in TRUTH.items()}, given, **other)

    return make


@pytest.mark.parametrize(
    ("key", "names", "wanted"),
    [("judge", ("good", "poor"), "poor"), ("variant", ("joint", "single"), "single"), ("temperature", (0.0, 0.7), "0.7")],
    ids=["judge", "variant", "temperature"],
)
def test_a_pair_has_the_numbers_of_the_statistics(two: Callable[..., Recording], key: str, names: Any, wanted: str) -> None:
    """By hand: the good one is right 32 times in 40, the poor one 27 times."""
    ours, theirs = cells_of(two(key, names), versus=(key, wanted))
    assert theirs.versus is None and ours.versus is not None and ours.versus["with"] == wanted
    good, poor, truth = arrays(GOOD, POOR, TRUTH)
    expected = stats.paired_difference(good == truth, poor == truth, np.arange(40))
    assert ours.versus["diff"] == pytest.approx(ours["pa_failed_wrong"] - theirs["pa_failed_wrong"])
    assert ours.versus["diff"] == expected.diff == pytest.approx((32 - 27) / 40)
    assert (ours.versus["p"], ours.versus["n"], ours.versus["reason"]) == (expected.p, 40, None)
    assert ours.versus["ci"] == (expected.interval.lo, expected.interval.hi)
    margins = stats.stuart_maxwell(good, poor, 3)
    assert ours.versus["margins"] == {"statistic": margins.statistic, "df": margins.df, "p": margins.p, "n": 40, "reason": None}
    assert "failures counted as wrong" in ours.versus["hypothesis"]


def test_a_temperature_is_named_as_people_write_it(two: Callable[..., Recording]) -> None:
    ours = cells_of(two("temperature", (0.7, 0.0)), versus=("temperature", "0"))[1]
    assert ours["temperature"] == 0.7 and ours.versus is not None and ours.versus["n"] == 40


def test_runs_on_the_same_data_are_paired_by_source(make_recording: MakeRecording) -> None:
    labels = {item: [score, score] for item, score in TRUTH.items()}
    good, poor = (make_recording(labels, answers, name=name) for name, answers in (("good", GOOD), ("poor", POOR)))
    ours, theirs = cells_of(good, poor, by=("source", *MeasureOptions().by), versus=("source", "poor"))
    assert theirs.versus is None and ours.versus is not None and (ours.versus["diff"], ours.versus["n"]) == (pytest.approx(5 / 40), 40)


def test_judges_of_different_runs_on_the_same_data_are_paired(make_recording: MakeRecording, judged: Judged) -> None:
    labels = {item: [score, score] for item, score in TRUTH.items()}
    made = [
        make_recording(labels, [judged(item, score, judge=name) for item, score in answers.items()], name=f"run of {name}")
        for name, answers in (("good", GOOD), ("poor", POOR))
    ]
    ours = next(cell for cell in cells_of(*made, versus=("judge", "poor")) if cell["judge"] == "good")
    assert ours.versus is not None and (ours.versus["diff"], ours.versus["n"]) == (pytest.approx(5 / 40), 40)


def test_a_partner_of_the_same_run_comes_first(make_recording: MakeRecording, judged: Judged) -> None:
    """Two runs of the same two judges: each good one is compared with the base of its own run."""
    labels = {item: [score, score] for item, score in TRUTH.items()}
    made = []
    for name, base in (("run 1", POOR), ("run 2", TRUTH)):
        given = [judged(item, score, judge=judge) for judge, of in (("good", GOOD), ("base", base)) for item, score in of.items()]
        made.append(make_recording(labels, given, name=name))
    for sources in (made, made[::-1]):
        found = {cell["source"]: cell.versus for cell in cells_of(*sources, versus=("judge", "base")) if cell["judge"] == "good"}
        assert {source: versus and versus["diff"] for source, versus in found.items()} == pytest.approx({"run 1": 5 / 40, "run 2": -8 / 40})


def test_failures_are_wrong_and_no_choice_of_a_class(two: Callable[..., Recording]) -> None:
    refusing = {name: Failure.REFUSED if number < 10 else score for number, (name, score) in enumerate(GOOD.items())}
    ours, theirs = cells_of(two(good=refusing), versus=("judge", "poor"))
    assert ours.versus is not None and (ours.versus["n"], ours.versus["margins"]["n"]) == (40, 30)
    assert ours.versus["diff"] == pytest.approx(ours["pa_failed_wrong"] - theirs["pa_failed_wrong"])


def test_an_item_that_one_of_them_was_not_asked_is_left_out(two: Callable[..., Recording]) -> None:
    """Where all items count as asked, one without a row is a failure."""
    part = dict(list(POOR.items())[:30])
    rules = (Asked("all"), Asked("rows"), None)
    counted = {asked: cells_of(two(poor=part, asked=asked), versus=("judge", "poor"))[0].versus for asked in rules}
    assert [versus and versus["n"] for versus in counted.values()] == [40, 30, 30]


def test_without_partners_the_difference_is_undefined_with_its_reason(make_recording: MakeRecording, judged: Judged) -> None:
    places = {name: {"language": "ja" if number < 20 else "en"} for number, name in enumerate(ITEMS)}
    given = [judged(item, score, judge="everywhere") for item, score in GOOD.items()]
    given += [judged(item, POOR[item], judge="in Japanese") for item in ITEMS[:20]]
    made = make_recording({item: [score, score] for item, score in TRUTH.items()}, given, places=places)
    found = {cell["language"]: cell.versus for cell in cells_of(made, versus=("judge", "in Japanese")) if cell["judge"] == "everywhere"}
    assert found["ja"] and found["ja"]["n"] == 20
    assert found["en"] and {name: found["en"][name] for name in ("n", "diff", "ci", "p", "q", "reason")} == {
        "n": 0,
        "diff": None,
        "ci": None,
        "p": None,
        "q": None,
        "reason": "no overlap",
    }
    assert found["en"]["margins"] == {"statistic": None, "df": 0, "p": None, "n": 0, "reason": "no overlap"}


def test_repeats_metrics_and_conditions_are_never_mixed(make_recording: MakeRecording, judged: Judged) -> None:
    """Each row has the partner of its own repeat, metric, variant and temperature."""
    given = [
        judged(item, score if repeat else (score + 1) % 3, judge=judge, repeat=repeat, variant=variant, metric=metric)
        for judge in ("one", "other")
        for repeat in (0, 1)
        for variant in ("joint", "single")
        for metric in "mn"
        for item, score in TRUTH.items()
    ]
    labels = {(item, metric): [score, score] for item, score in TRUTH.items() for metric in "mn"}
    cells = cells_of(make_recording(labels, given, scales=dict.fromkeys("mn", THREE)), versus=("judge", "other"))
    for cell in cells:
        if cell["judge"] == "one":
            assert cell.versus is not None and (cell.versus["diff"], cell.versus["n"]) == (0, 80)
            assert cell.versus["margins"]["reason"] == "no discordant units"


def test_groups_are_the_independent_units_of_a_pair(two: Callable[..., Recording]) -> None:
    groups = np.arange(40) // 4
    places = {name: {"group": f"g{group}"} for name, group in zip(ITEMS, groups, strict=True)}
    [ours, _] = cells_of(two(places=places), versus=("judge", "poor"))
    good, poor, truth = arrays(GOOD, POOR, TRUTH)
    expected = stats.paired_difference(good == truth, poor == truth, groups)
    assert ours.versus is not None and ours.versus["p"] == pytest.approx(expected.p) and expected.interval.groups == 10
    assert ours.versus["margins"]["p"] == pytest.approx(stats.stuart_maxwell(good, poor, 3, groups).p)


def test_q_is_corrected_over_all_pairs(make_recording: MakeRecording, judged: Judged) -> None:
    answers = {"a": GOOD, "b": POOR, "c": dict.fromkeys(ITEMS, 1), "base": TRUTH}
    given = [judged(item, score, judge=judge) for judge, of in answers.items() for item, score in of.items()]
    cells = cells_of(make_recording({item: [score, score] for item, score in TRUTH.items()}, given), versus=("judge", "base"))
    pairs = [cell.versus for cell in cells if cell.versus]
    assert len(pairs) == 3
    assert [pair["q"] for pair in pairs] == pytest.approx(stats.benjamini_yekutieli([pair["p"] for pair in pairs]).tolist())


def test_pairs_can_pool_metrics_of_one_scale(make_recording: MakeRecording, judged: Judged) -> None:
    given = [judged(i, s, judge=j, metric=m) for j, of in (("good", GOOD), ("poor", POOR)) for i, s in of.items() for m in "mn"]
    labels = {(item, metric): [score, score] for item, score in TRUTH.items() for metric in "mn"}
    ours = cells_of(make_recording(labels, given, scales=dict.fromkeys("mn", THREE)), by=("judge",), versus=("judge", "poor"))[0]
    assert ours["metric"] == "*" and ours.versus is not None and (ours.versus["diff"], ours.versus["n"]) == (pytest.approx(5 / 40), 80)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"versus": ("judge", "por")}, r"no judge 'por'\. Did you mean 'poor'\?\n +choose from: good, poor"),
        (
            {"versus": ("metric", "m")},
            "judgments are paired by judge, variant, temperature, source, if it is one of the keys in --by; got 'metric'",
        ),
        ({"versus": ("judge", "poor"), "by": ("metric",)}, "if it is one of the keys in --by; got 'judge'"),
        ({"versus": ("source", "made")}, "if it is one of the keys in --by; got 'source'"),
    ],
    ids=["name", "key", "pooled", "one source"],
)
def test_what_cannot_be_paired_is_refused(two: Callable[..., Recording], options: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        cells_of(two(), **options)


FIVE = Scale(kind="ordinal", classes=(1, 2, 3, 4, 5), best=5)


def the_cell(made: Recording, **options: Any) -> Cell:
    [cell] = compare([made], MeasureOptions(level="system", **options)).cells
    return cell


@pytest.fixture
def graded(make_recording: MakeRecording) -> tuple[Recording, Any, Any, Any, Any]:
    """Twelve documents by five systems, two annotators, a judge that fails now and then; and the same as arrays."""
    rng = np.random.default_rng(3)
    system, document = np.tile(np.arange(5), 12), np.repeat(np.arange(12), 5)
    labels = np.clip(system[:, None] + rng.integers(0, 3, (60, 2)), 1, 5)
    judge = np.clip(system + rng.integers(-1, 3, 60), 1, 5)
    failed = rng.random(60) < 0.1
    places = {f"i{n}": {"system": f"s{system[n]}", "group": f"d{document[n]}"} for n in range(60)}
    answers = {f"i{n}": Failure.REFUSED if failed[n] else int(judge[n]) for n in range(60)}
    made = make_recording({f"i{n}": labels[n].tolist() for n in range(60)}, answers, scales={"m": FIVE}, places=places)
    return made, np.where(failed, np.nan, judge), labels.mean(axis=1), system, document


def test_the_correlations_are_those_of_the_statistics(graded: Any) -> None:
    made, judge, human, system, document = graded
    cell, expected = the_cell(made), stats.system_correlation(judge, human, system, document, paired=False)
    for name in CORRELATIONS.values():
        assert cell[name] == expected.estimate[name].value and name not in cell.undefined
        assert cell[f"{name}_ci"] == (expected.interval[name].lo, expected.interval[name].hi)
    assert (cell.n_ref, cell.n, cell.coverage, cell.groups) == (5, 5, 1.0, 12)
    assert cell.failures == {"refused": int(np.isnan(judge).sum())}


def test_systems_come_best_first_with_both_means(graded: Any) -> None:
    made, judge, human, system, _ = graded
    read = ~np.isnan(judge)
    expected = {f"s{s}": (human[system == s].mean(), judge[read & (system == s)].mean()) for s in range(5)}
    found = the_cell(made).systems
    assert found and [row["system"] for row in found] == sorted(expected, key=lambda name: -expected[name][0])
    for row in found:
        assert (row["human"], row["judge"]) == pytest.approx(expected[row["system"]])
        assert (row["human_items"], row["judge_items"]) == (12, int(read[system == int(row["system"][1:])].sum()))


def test_peoples_means_are_over_what_the_judge_was_asked_and_it_is_said_where_it_could_not_be_read(
    make_recording: MakeRecording, judged: Judged
) -> None:
    """A refused item counts for people and not for the judge; an item that was not asked about counts for nobody."""
    labels = {"a1": 1, "a2": 3, "a3": 5, "b1": 2, "b2": 4, "b3": 2}
    answers = [judged("a1", 1), judged("a2", Failure.REFUSED), judged("b1", 4), judged("b2", 4)]
    made = make_recording(labels, answers, scales={"m": FIVE}, places={name: {"system": name[0]} for name in labels}, asked=Asked("rows"))
    found = compare([made], MeasureOptions(level="system"))
    [cell] = found.cells
    assert cell.systems == [
        {"system": "b", "human": 3.0, "judge": 4.0, "human_items": 2, "judge_items": 2},
        {"system": "a", "human": 2.0, "judge": 1.0, "human_items": 2, "judge_items": 1},
    ]
    assert (cell.n_asked, cell.not_asked, cell.failures) == (4, 2, {"refused": 1})
    assert found.notes == (
        "Not asked, so neither right nor wrong (labelled items times metrics): j 2 of 6 in en.",
        "People's means rest on items without a readable score of j too (items times metrics): 1 of 4 in en.",
    )
    [everything] = compare([msgspec.structs.replace(made, asked=Asked("all"))], MeasureOptions(level="system")).cells
    assert everything.systems and [row["human_items"] for row in everything.systems] == [3, 3]
    assert (everything.n_asked, everything.not_asked, everything.failures) == (6, 0, {"missing": 2, "refused": 1})


def test_every_other_name_is_null_and_says_why(graded: Any) -> None:
    cell = the_cell(graded[0])
    others = {name for name in cell.values if name not in (*CORRELATIONS.values(), "spa")}
    for name in others | {"distribution_labels", "distribution_judge", "distribution_by_agreement"}:
        assert cell[name] is None and cell.undefined[name] == NOT_HERE
    assert cell.undefined["vs_baseline"] == cell.vs_baseline["reason"] == NOT_HERE
    assert {cell.vs_baseline[name] for name in cell.vs_baseline if name != "reason"} == {None}


def test_one_annotator_is_enough_for_a_mean(make_recording: MakeRecording) -> None:
    places = {name: {"system": name} for name in "abc"}
    made = make_recording({"a": [1], "b": [2, 4], "c": [5]}, {"a": 1, "b": 2, "c": 3}, scales={"m": FIVE}, places=places)
    assert the_cell(made)["pearson"] == pytest.approx(1) and the_cell(made).n_ref == 3
    assert the_cell(made, annotators=Annotators(2)).n_ref == 1


def test_by_hand_three_systems_of_which_two_change_places(make_recording: MakeRecording) -> None:
    places = {name: {"system": name} for name in "abc"}
    cell = the_cell(make_recording({"a": 1, "b": 3, "c": 5}, {"a": 2, "b": 1, "c": 5}, scales={"m": FIVE}, places=places))
    assert cell["kendall_tau"] == pytest.approx(1 / 3) and cell["spearman"] == pytest.approx(0.5)
    assert cell.undefined["kendall_tau_ci"] == "too few independent texts"


@pytest.mark.parametrize(
    ("labels", "answers", "reason", "n"),
    [
        ({"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 2, "c": 2}, "constant raters", 3),
        ({"a": 1}, {"a": 2}, "fewer than two systems", 1),
        ({"a": 1, "b": 2}, {"a": 2, "b": Failure.REFUSED}, "fewer than two systems", 1),
        ({"a": 1, "b": 2}, {"a": Failure.REFUSED, "b": Failure.REFUSED}, "fewer than two systems", 0),
    ],
    ids=["one score", "one system", "one read", "none read"],
)
def test_without_an_order_of_systems_there_is_a_reason(
    make_recording: MakeRecording, labels: Any, answers: Any, reason: str, n: int
) -> None:
    cell = the_cell(make_recording(labels, answers, scales={"m": FIVE}, places={name: {"system": name} for name in labels}))
    assert (cell.n_ref, cell.n, cell.coverage) == (len(labels), n, n / len(labels))
    assert {cell[name] for name in CORRELATIONS.values()} == {None} and {cell.undefined[name] for name in CORRELATIONS.values()} == {reason}


def test_names_have_no_means(make_recording: MakeRecording) -> None:
    places = {name: {"system": name} for name in "ab"}
    cell = the_cell(
        make_recording({"a": "A", "b": "B"}, {"a": "A"}, scales={"m": Scale(kind="nominal", classes=("A", "B"))}, places=places)
    )
    assert {cell.undefined[name] for name in CORRELATIONS.values()} == {"the scale has no order"} and cell["spearman_ci"] is None
    assert (cell.n_ref, cell.failures) == (2, {"missing": 1})


def test_classes_without_numbers_count_by_their_place(make_recording: MakeRecording) -> None:
    scale = Scale(kind="ordinal", classes=("bad", "fair", "good"), best="good")
    places = {name: {"system": name} for name in "abc"}
    cell = the_cell(
        make_recording({"a": "bad", "b": "fair", "c": "good"}, {"a": "bad", "b": "fair", "c": "good"}, scales={"m": scale}, places=places)
    )
    assert cell.systems and [row["human"] for row in cell.systems] == [2, 1, 0] and cell["pearson"] == pytest.approx(1)


def test_items_without_a_system_are_left_out(make_recording: MakeRecording) -> None:
    places = {"a": {"system": "s"}, "b": {"system": "t"}}
    assert the_cell(make_recording({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3}, scales={"m": FIVE}, places=places)).n_ref == 2


def test_cells_are_told_apart_as_at_the_level_of_items(make_recording: MakeRecording, judged: Judged) -> None:
    scores = {"a": 1, "b": 3, "c": 5}
    given = [judged(name, score if judge == "k" else 6 - score, judge=judge) for judge in "kj" for name, score in scores.items()]
    made = make_recording(scores, given, scales={"m": FIVE}, places={name: {"system": name} for name in scores})
    found = {cell["judge"]: cell["kendall_tau"] for cell in compare([made], MeasureOptions(level="system")).cells}
    assert found == {"j": -1, "k": 1} and list(found) == ["j", "k"]


@pytest.mark.parametrize(
    ("options", "places", "words"),
    [
        ({}, {}, "no item names a system; give items a 'system', or compare at the level of items"),
        ({"by": ("metric", "system")}, {"a": {"system": "s"}}, "a cell holds them all; leave system out of --by"),
        ({"by": ("language",)}, {"a": {"system": "s"}}, "at the level of systems metrics cannot be pooled; keep metric in --by"),
    ],
    ids=["no systems", "by system", "metrics pooled"],
)
def test_what_cannot_be_is_refused(make_recording: MakeRecording, options: Any, places: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        the_cell(make_recording({"a": 1}, {"a": 1}, places=places), **options)
