"""Texts that were drawn with different probabilities count by 1 / probability; all others count once, as ever."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.decide.options import DecisionOptions
from harness.decide.verdicts import verdicts
from harness.errors import UsageError
from harness.measure.cells import Cell
from harness.measure.compare import Comparison, Recording, compare
from harness.measure.label_counts import stated_probabilities
from harness.measure.options import MeasureOptions
from harness.model import Scale
from harness.signature import ComparisonSignature

MakeRecording = Callable[..., Recording]
COMPARED = MeasureOptions(resamples=200)


def drawn(make: MakeRecording, draw: Callable[[int], dict[str, Any]], sampling: str = "random") -> Recording:
    """40 texts, two of a group: the judge is wrong on every fourth text, and people disagree on every eighth."""
    labels = {f"i{n}": [n % 3, n % 3, n % 3 if n % 8 else 2] for n in range(40)}
    answers = {f"i{n}": n % 3 if n % 4 else (n + 1) % 3 for n in range(40)}
    places = {f"i{n}": {"group": f"g{n // 2}"} | draw(n) for n in range(40)}
    return sampled(make(labels, answers, places=places), sampling)


def sampled(recording: Recording, sampling: Any = "random") -> Recording:
    about = msgspec.structs.replace(recording.data.about, sampling=sampling, annotators="persistent")
    return msgspec.structs.replace(recording, data=msgspec.structs.replace(recording.data, about=about))


def unequal(n: int) -> dict[str, Any]:
    return {"inclusion_probability": 0.1 if n % 4 else 0.5, "stratum": "a" if n % 5 else "b"}


def only_cell(comparison: Comparison) -> Cell:
    [cell] = comparison.cells
    return cell


def test_a_text_counts_by_the_texts_that_it_stands_for(make_recording: MakeRecording) -> None:
    """30 texts that the judge has right stand for ten each, 10 that it has wrong for two each."""
    comparison = compare([drawn(make_recording, unequal)], COMPARED)
    cell = only_cell(comparison)
    assert cell["pa"] == pytest.approx(300 / 320) and cell["pa_failed_wrong"] == pytest.approx(300 / 320)
    assert (cell.n_ref, cell.n, cell.groups, cell.coverage) == (40, 40, 20, 1.0)
    agreed = np.array([1 / 3 if n % 8 == 0 and n % 3 != 2 else 1.0 for n in range(40)])
    weight = np.array([10.0 if n % 4 else 2.0 for n in range(40)])
    assert cell["human_pa"] == pytest.approx(np.average(agreed, weights=weight))
    assert cell["human_weighted_f1"] == pytest.approx(np.average(agreed, weights=weight))
    assert cell["pa_ci"][0] < 300 / 320 < cell["pa_ci"][1] and cell.vs_baseline["diff"] is not None
    assert ComparisonSignature.parse(comparison.signature).weights == "inclusion-probability"
    assert "probabilities from 0.1 to 0.5" in comparison.notes[-2]


def test_weights_equal_repeated_texts_in_every_value(make_recording: MakeRecording) -> None:
    """A text that was drawn with half the probability gives the values of two such texts; only intervals know that it is one."""
    weighted = drawn(make_recording, lambda n: {"inclusion_probability": 0.25 if n % 4 else 0.5})
    labels, answers, places = {}, {}, {}
    for n in range(40):
        for copy in "xy"[: 2 if n % 4 else 1]:
            labels[f"{n}{copy}"] = [n % 3, n % 3, n % 3 if n % 8 else 2]
            answers[f"{n}{copy}"] = n % 3 if n % 4 else (n + 1) % 3
            places[f"{n}{copy}"] = {"group": f"g{n // 2}"}
    repeated = sampled(make_recording(labels, answers, places=places))
    ours, theirs = (only_cell(compare([one], COMPARED)) for one in (weighted, repeated))
    n_dependent = {"sd_labels", "sd_judge"} | {name for name in ours.values if "alpha" in name}  # corrections for the number of texts
    for name, value in theirs.values.items():
        if name not in n_dependent:
            assert ours.values[name] == pytest.approx(value), name
    assert ours.vs_baseline["diff"] == pytest.approx(theirs.vs_baseline["diff"])
    assert ours.distribution_labels == pytest.approx(theirs.distribution_labels)


def test_equal_probabilities_change_nothing(make_recording: MakeRecording) -> None:
    plain = compare([drawn(make_recording, lambda _: {})], COMPARED)
    equal = compare([drawn(make_recording, lambda _: {"inclusion_probability": 0.3})], COMPARED)
    assert [cell.flat() for cell in equal.cells] == [cell.flat() for cell in plain.cells] and equal.notes == plain.notes
    assert "weights" not in equal.signature and "sample_gain" not in plain.cells[0].flat()


UNUSED: dict[str, tuple[Callable[[int], dict[str, Any]], str, str]] = {
    "some without": (lambda n: unequal(n) if n else {}, "random", "1 of 40 labelled texts state no inclusion_probability"),
    "no random sample": (unequal, "convenience", 'does not say sampling = "random"'),
}


@pytest.mark.parametrize(("draw", "sampling", "words"), UNUSED.values(), ids=UNUSED)
def test_what_cannot_be_weighted_counts_once_and_says_so(
    make_recording: MakeRecording, draw: Callable[[int], dict[str, Any]], sampling: str, words: str
) -> None:
    comparison = compare([drawn(make_recording, draw, sampling)], COMPARED)
    assert only_cell(comparison)["pa"] == 0.75 and words in " ".join(comparison.notes) and "weights" not in comparison.signature


def test_a_probability_that_is_none_is_a_sentence(make_recording: MakeRecording) -> None:
    wrong = drawn(make_recording, lambda n: {"inclusion_probability": 1.5 if n == 3 else 0.5})
    with pytest.raises(UsageError, match=re.escape("inclusion_probability of item 'i3' is 1.5")):
        stated_probabilities(wrong.data)


def test_no_gain_is_said_of_a_few_texts(make_recording: MakeRecording) -> None:
    """By parts of the 40 texts, each cell has 8."""
    comparison = compare([drawn(make_recording, lambda n: unequal(n) | {"part": f"p{n % 5}"})], replace(COMPARED, by=("metric", "part")))
    assert [cell.sample_gain for cell in comparison.cells] == [None] * 5 and comparison.notes[-1].startswith("No cell has 20 texts")


def test_verdicts_weight_the_gap_and_the_baseline(make_recording: MakeRecording) -> None:
    [verdict] = verdicts([drawn(make_recording, unequal)], COMPARED, DecisionOptions())
    assert verdict.baseline.right == pytest.approx(300 / 320)
    cell = only_cell(compare([drawn(make_recording, unequal)], COMPARED))
    assert verdict.agreement.judge == pytest.approx(cell["pa_pairwise"]) and verdict.agreement.people == pytest.approx(cell["human_pa"])


def test_scores_that_are_numbers_are_weighted_too(make_recording: MakeRecording) -> None:
    """Errors, leniency and correlations over texts are those of the texts that the labelled ones stand for."""
    n = np.arange(40)
    people, judge, weight = 37 * n % 101 + 0.0, 29 * n % 83 + 0.0, np.where(n % 4, 10.0, 2.0)
    made = make_recording(
        {f"i{i}": [float(people[i])] for i in n},
        {f"i{i}": float(judge[i]) for i in n},
        scales={"m": Scale(kind="interval", min=0.0, max=100.0, best=100.0)},
        places={f"i{i}": {"group": f"g{i // 2}"} | unequal(int(i)) for i in n},
    )
    comparison = compare([sampled(made)], COMPARED)
    cell = only_cell(comparison)
    apart = judge - people
    assert [cell[name] for name in ("mae", "rmse", "leniency")] == pytest.approx(
        [np.average(np.abs(apart), weights=weight), np.average(apart**2, weights=weight) ** 0.5, np.average(apart, weights=weight)]
    )
    moments = np.cov(people, judge, aweights=weight)
    assert cell["pearson"] == pytest.approx(moments[0, 1] / np.sqrt(moments[0, 0] * moments[1, 1]))
    assert any("Kendall's τ each pair" in note for note in comparison.notes)
