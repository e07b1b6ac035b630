"""Paired comparisons: who is paired with whom, and that the numbers are those of the statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from harness import stats
from harness.content.specs import Asked
from harness.errors import UsageError
from harness.measure.cells import Cell
from harness.measure.compare import Recording, compare
from harness.measure.options import MeasureOptions
from harness.model import Failure, Judgment, Scale

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
