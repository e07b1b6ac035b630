"""Verdicts on small worlds: families, failures, constructed labels, and how many more labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.data.labels import Labels
from harness.decide.cell_tests import cell_tests
from harness.decide.options import DecisionOptions
from harness.decide.verdicts import Verdict, verdicts
from harness.measure.compare import Recording, align
from harness.measure.options import MeasureOptions
from harness.model import Failure, Scale, Score
from harness.reports.comparison import compare
from harness.row_files import to_json

MakeRecording = Callable[..., Recording]
DEFAULT = DecisionOptions()
OWN = DecisionOptions(equal_scores="own")  # judges here give people's commonest label, and are no copies


def labels_of(rng: np.random.Generator, n: int, people: float = 0.9) -> dict[str, list[int]]:
    """Labels of three annotators who give an item's class with probability `people`."""
    truth = rng.integers(0, 3, n)
    drawn = rng.integers(0, 3, (n, 3))
    kept = rng.random((n, 3)) < people
    return {f"i{item}": np.where(kept[item], truth[item], drawn[item]).tolist() for item in range(n)}


def decided(make: MakeRecording, labels: Mapping[str, Sequence[int]], answers: Mapping[str, Score | Failure], **other: Any) -> Verdict:
    [verdict] = verdicts([make(labels, answers, **other)], MeasureOptions(), OWN)
    return verdict


def majority(labels: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    return {item: max(set(row), key=row.count) for item, row in labels.items()}


def test_a_judge_that_answers_as_people_do_may_be_used(make_recording: MakeRecording) -> None:
    labels = labels_of(np.random.default_rng(1), 200)
    verdict = decided(make_recording, labels, majority(labels))
    assert (verdict.decision.verdict, verdict.decision.reason, verdict["k"], verdict.words.obstacles, verdict.answer) == (
        "use",
        "",
        None,
        (),
        "use",
    )
    assert verdict.texts.n == verdict.texts.groups == verdict.texts.labelled == 200
    assert verdict.agreement.gap is not None and verdict.agreement.judge is not None and verdict.agreement.people is not None
    assert verdict.agreement.gap == pytest.approx(verdict.agreement.judge - verdict.agreement.people) and verdict.agreement.gap > 0
    assert verdict.bounds.gap is not None and verdict.bounds.gap > -DEFAULT.margin
    assert verdict.words.sentence.startswith("Use j for m in English: its agreement with native speakers is")
    assert "other annotators than these" in verdict.words.not_for


def test_a_row_of_json_gives_the_verdict_back(make_recording: MakeRecording) -> None:
    labels = labels_of(np.random.default_rng(7), 60, people=0.8)
    for answers in (majority(labels), dict.fromkeys(labels, 1), {}):
        verdict = decided(make_recording, labels, {**dict.fromkeys(labels, Failure.REFUSED), **answers})
        row = verdict.flat()
        assert Verdict.from_flat(json.loads(to_json(row))) == verdict and {name: verdict[name] for name in row if name != "answer"} == {
            name: value for name, value in row.items() if name != "answer"
        }
    assert [*row][:2] == ["language", "metric"] and [*row][-2:] == ["settings", "gap_error"]


def test_labels_of_people_who_may_not_be_native_speakers_give_the_same_verdict_in_other_words(make_recording: MakeRecording) -> None:
    labels = labels_of(np.random.default_rng(1), 200)
    native = decided(make_recording, labels, majority(labels))

    def by_people(*arguments: Any) -> Recording:
        made = make_recording(*arguments)
        rows = [msgspec.structs.replace(label, source="people") for label in made.data.labels]
        data = msgspec.structs.replace(made.data, labels=Labels.from_rows(rows))
        return msgspec.structs.replace(made, data=data)

    people = decided(by_people, labels, majority(labels))
    assert (people.decision.verdict, people.agreement.gap, people["k"], people.controls) == (
        native.decision.verdict,
        native.agreement.gap,
        native["k"],
        None,
    )
    assert people.words.sentence == native.words.sentence.replace("native speakers", "people")


@pytest.mark.parametrize(("third", "labels"), [("native", "people"), ("people", "people"), ("constructed", "mixed")])
def test_native_speakers_among_other_people_are_people(make_recording: MakeRecording, third: str, labels: str) -> None:
    given = labels_of(np.random.default_rng(1), 200)
    native = decided(make_recording, given, majority(given))

    def by_several(*arguments: Any) -> Recording:
        made = make_recording(*arguments)
        last = max(label.annotator_id for label in made.data.labels)
        sources = {last: third}
        rows = [msgspec.structs.replace(label, source=sources.get(label.annotator_id, "people")) for label in made.data.labels]
        return msgspec.structs.replace(made, data=msgspec.structs.replace(made.data, labels=Labels.from_rows(rows)))

    several = decided(by_several, given, majority(given))
    assert several.texts.labels == labels
    assert ((several.decision.verdict, several.agreement.gap) == (native.decision.verdict, native.agreement.gap)) == (labels == "people")


def test_a_constant_judge_does_not_vary(make_recording: MakeRecording) -> None:
    labels = labels_of(np.random.default_rng(2), 100)
    verdict = decided(make_recording, labels, dict.fromkeys(labels, 1))
    assert (verdict.decision.verdict, verdict.decision.reason, verdict.words.obstacles) == (
        "do not use",
        "one class for everything",
        ("constant",),
    )
    assert "it gives '1' to 100 of 100 texts" in verdict.words.sentence
    assert verdict.corrected.one_class is not None and verdict.corrected.one_class < 1e-6


def test_a_judge_without_a_rare_answer_may_be_like_people(make_recording: MakeRecording) -> None:
    """Thirty texts, two of them with a rare label of one person of three: no rare answer is what a person would give too."""
    labels = {item: [1, 1, 1] for item in labels_of(np.random.default_rng(2), 30)}
    for item in list(labels)[:3]:
        labels[item] = [1, 1, 2]
    for item in list(labels)[3:5]:
        labels[item] = [2, 1, 2]
    verdict = decided(make_recording, labels, dict.fromkeys(labels, 1))
    assert (
        verdict.decision.reason != "one class for everything"
        and verdict.corrected.one_class is not None
        and verdict.corrected.one_class > 0.05
    )
    constant = decided(make_recording, labels_of(np.random.default_rng(2), 30), dict.fromkeys(labels, 1))
    assert "it gives '1' to 30 of 30 texts" in constant.words.sentence and "of 90 labels" in constant.words.sentence


def test_a_judge_that_refuses_fails_too_often(make_recording: MakeRecording) -> None:
    labels = labels_of(np.random.default_rng(3), 100)
    answers = {item: Failure.REFUSED if number % 2 else score for number, (item, score) in enumerate(majority(labels).items())}
    verdict = decided(make_recording, labels, answers)
    assert (verdict.decision.verdict, verdict.words.obstacles, verdict.coverage) == ("do not use", ("failures",), 0.5)
    assert "no readable score for 50 of 100 texts (refused 50)" in verdict.words.sentence


def test_a_judge_that_answers_the_opposite_is_worse_than_people(make_recording: MakeRecording) -> None:
    labels = labels_of(np.random.default_rng(4), 120)
    answers = {item: (score + 1) % 3 for item, score in majority(labels).items()}
    verdict = decided(make_recording, labels, answers)
    assert (verdict.decision.verdict, verdict.words.obstacles, verdict["k"]) == ("do not use", ("worse",), None)


@pytest.mark.parametrize(("n", "reason"), [(12, "fewer than 30 items with two annotators"), (60, "fewer than 20 independent texts")])
def test_few_texts_are_said_with_a_number_that_would_do(make_recording: MakeRecording, n: int, reason: str) -> None:
    labels = labels_of(np.random.default_rng(5), n)
    places = {item: {"group": f"g{number % 5}"} for number, item in enumerate(labels)}
    verdict = decided(make_recording, labels, majority(labels), places=places)
    assert (verdict.decision.verdict, verdict.decision.reason, verdict.words.obstacles) == ("too few labels", reason, ("labels",))
    assert verdict.needed and verdict.needed.texts >= 10 and verdict.needed.texts % 10 == 0
    assert f"Label {verdict.needed} more" in verdict.words.sentence and str(verdict.needed).startswith("about")
    assert verdict.corrected.use is None


def test_without_a_second_annotator_there_is_nobody_to_compare_with(make_recording: MakeRecording) -> None:
    labels = {item: row[:1] for item, row in labels_of(np.random.default_rng(6), 60).items()}
    recording = make_recording(labels, majority(labels))
    about = msgspec.structs.replace(recording.data.about, annotators="persistent")
    one_person = msgspec.structs.replace(recording, data=msgspec.structs.replace(recording.data, about=about))
    [verdict] = verdicts([one_person], MeasureOptions(), OWN)
    assert (verdict.decision.verdict, verdict.texts.n, verdict.agreement.gap, verdict.agreement.people) == ("too few labels", 0, None, None)
    assert verdict.words.obstacles == ("annotators",)
    assert "no text has two annotators" in verdict.words.sentence
    assert recording.data.about.annotators == "aggregate"  # a released score of several people is no person's
    [verdict] = verdicts([recording], MeasureOptions(), OWN)
    assert (verdict.decision.verdict, verdict.decision.reason, verdict.words.obstacles) == (
        "no verdict",
        "nobody to compare with",
        ("annotators",),
    )
    assert (
        "one released score a text" in verdict.words.sentence and "Missing: the scores of two annotators or more" in verdict.words.sentence
    )


def test_a_middling_judge_needs_more_labels_and_a_poor_one_is_not_helped(make_recording: MakeRecording) -> None:
    labels = labels_of(np.random.default_rng(7), 60, people=0.8)
    answers = majority(labels)
    fair = answers | {item: (score + 1) % 3 for number, (item, score) in enumerate(answers.items()) if number % 6 == 0}
    verdict = decided(make_recording, labels, fair)
    assert verdict.decision.verdict == "too few labels" and verdict["k"] and verdict.answer == "too few labels"
    poor = answers | {item: (score + 1) % 3 for number, (item, score) in enumerate(answers.items()) if number % 3 == 0}
    verdict = decided(make_recording, labels, poor)
    assert verdict.agreement.gap is not None and verdict.agreement.gap < -DEFAULT.margin
    assert (verdict["k"], verdict.answer) == (None, "do not use" if verdict.decision.verdict == "do not use" else "not shown")


def test_a_further_judge_changes_nobodys_verdict_unless_all_are_one_family(
    make_recording: MakeRecording, judged: Callable[..., Any]
) -> None:
    labels = labels_of(np.random.default_rng(8), 90)
    answers = [judged(item, score) for item, score in majority(labels).items()]
    others = [judged(item, row[0], judge=f"k{number}") for number in range(30) for item, row in labels.items()]
    alone = verdicts([make_recording(labels, answers)], MeasureOptions())
    beside = verdicts([make_recording(labels, [*answers, *others])], MeasureOptions())
    assert [one for one in beside if one["judge"] == "j"] == list(alone)
    together = verdicts([make_recording(labels, [*answers, *others])], MeasureOptions(), DecisionOptions(family="all"))
    [own] = [one for one in together if one["judge"] == "j"]
    assert (
        own.corrected.family == 31
        and own.corrected.use is not None
        and alone[0].corrected.use is not None
        and own.corrected.use > alone[0].corrected.use
    )


def test_the_bound_is_above_the_margin_exactly_where_the_gap_is_shown(make_recording: MakeRecording, judged: Callable[..., Any]) -> None:
    rng = np.random.default_rng(9)
    labels = labels_of(rng, 120)
    answers = [
        judged(item, int((score + (rng.random() < wrong)) % 3), temperature=wrong)
        for wrong in (0.0, 0.1, 0.2, 0.3)
        for item, score in majority(labels).items()
    ]
    for verdict in verdicts([make_recording(labels, answers)], MeasureOptions(), DecisionOptions(family="all")):
        assert (
            verdict.bounds.gap is not None
            and verdict.corrected.use is not None
            and verdict.p.gap is not None
            and verdict.p.base is not None
        )
        if verdict.p.base <= verdict.p.gap:
            assert (verdict.bounds.gap > -verdict.margin) == (verdict.corrected.use <= 0.05)


def test_with_few_texts_not_even_a_judge_that_agrees_as_people_do_is_shown(
    make_recording: MakeRecording, judged: Callable[..., Any]
) -> None:
    bounds = []
    for n in (30, 45, 120):
        labels = labels_of(np.random.default_rng(9), n)
        verdict = decided(make_recording, labels, majority(labels))
        assert verdict.bounds.perfect is not None
        bounds.append(verdict.bounds.perfect)
    assert bounds[0] < -0.1 < bounds[2] < 0 and bounds == sorted(bounds)


def test_repeats_are_one_text(make_recording: MakeRecording, judged: Callable[..., Any]) -> None:
    labels = labels_of(np.random.default_rng(10), 40)
    once = verdicts([make_recording(labels, [judged(item, score) for item, score in majority(labels).items()])], MeasureOptions())
    twice = [judged(item, score, repeat=repeat) for item, score in majority(labels).items() for repeat in (0, 1)]
    repeated = verdicts([make_recording(labels, twice)], MeasureOptions())
    assert [verdict.answers.asked for verdict in (*once, *repeated)] == [40, 80]
    assert tuple(msgspec.structs.replace(verdict, answers=once[0].answers) for verdict in repeated) == once


def test_distance_agreement_forgives_near_misses(make_recording: MakeRecording) -> None:
    labels = labels_of(np.random.default_rng(11), 80)
    near = {item: min(2, score + 1) if score == 0 else score for item, score in majority(labels).items()}
    recording = make_recording(labels, near)
    [exact], [distance] = (verdicts([recording], MeasureOptions(), DecisionOptions(agreement=kind)) for kind in ("exact", "distance"))
    assert exact.agreement.gap is not None and distance.agreement.gap is not None and distance.agreement.gap > exact.agreement.gap


def test_a_comparison_has_its_verdicts_in_json_and_signature(make_recording: MakeRecording) -> None:
    labels = labels_of(np.random.default_rng(12), 50)
    made = compare([make_recording(labels, majority(labels))], MeasureOptions(), DecisionOptions(margin=0.07))
    [verdict] = json.loads(to_json(made.as_json()))["verdicts"]
    assert verdict["language"] == "en" and verdict["metric"] == "m" and verdict["margin"] == 0.07
    assert {"verdict", "sentence", "k", "q_use", "p_gap", "p_base", "gap", "guarded_bound", "reasons", "not_for", "alt_test"} <= set(
        verdict
    )
    assert "decide:margin=0.07" in made.signature and verdict["settings"].startswith("margin=0.07")
    systems = {item: {"system": f"s{number % 3}"} for number, item in enumerate(labels)}
    system = compare([make_recording(labels, majority(labels), places=systems)], MeasureOptions(level="system"))
    assert system.verdicts == () and "decide" not in system.signature


def test_epsilon_comes_from_the_flag_then_the_card_then_the_default(make_recording: MakeRecording) -> None:
    labels = labels_of(np.random.default_rng(13), 60)
    recording = make_recording(labels, majority(labels))
    card = msgspec.structs.replace(recording.data.about, epsilon=0.2)
    carded = msgspec.structs.replace(recording, data=msgspec.structs.replace(recording.data, about=card))
    for source, options, epsilon in (
        (recording, DEFAULT, 0.15),
        (carded, DEFAULT, 0.2),
        (carded, DecisionOptions(epsilon=0.1), 0.1),
    ):
        [verdict] = verdicts([source], MeasureOptions(), options)
        assert verdict.alt_test is not None and verdict.alt_test["epsilon"] == epsilon
    tested = verdict.alt_test["per_annotator"]
    assert len(tested) == verdict.alt_test["annotators"] == 3 and {"annotator", "n", "mean", "p", "p_guarded", "rejected"} == set(tested[0])
    assert verdict.alt_test["omega"] == np.mean([one["rejected"] for one in tested])


@pytest.mark.parametrize(("sampling", "reason"), [("convenience", "not stated to be a random sample"), ("random", "no confidence")])
def test_a_full_comparison_says_what_can_be_accepted_or_why_nothing(make_recording: MakeRecording, sampling: str, reason: str) -> None:
    labels = labels_of(np.random.default_rng(14), 60)
    recording = make_recording(labels, majority(labels))
    card = msgspec.structs.replace(recording.data.about, sampling=sampling)
    source = msgspec.structs.replace(recording, data=msgspec.structs.replace(recording.data, about=card))
    made = json.loads(to_json(compare([source], MeasureOptions(), full=True).as_json()))
    [accepted] = made["acceptance"]
    assert accepted["threshold"] is None and reason in accepted["reason"] and accepted["language"] == "en"
    assert "acceptance" not in compare([source], MeasureOptions()).as_json()


def test_groups_of_different_sizes_count_as_fewer_equal_ones(make_recording: MakeRecording) -> None:
    labels = labels_of(np.random.default_rng(4), 260)
    group = np.r_[np.zeros(100, int), 1 + np.arange(160) // 4]
    places = {item: {"group": f"g{number}"} for item, number in zip(labels, group.tolist(), strict=True)}
    verdict = decided(make_recording, labels, majority(labels), places=places)
    assert verdict.texts.groups == 41 and verdict.effective_groups == pytest.approx(2.2073372112957657)
    assert verdict.cap == pytest.approx(14.386434589850431)
    assert "41 groups of different sizes and count as if in 2.2 equal groups" in verdict.words.sentence
    assert "none counts for more than 14.4 texts" in verdict.words.sentence


def test_a_large_group_alone_shows_nothing(make_recording: MakeRecording) -> None:
    """The judge is right in one group of 100 texts and wrong elsewhere, or the other way round: neither is shown of all texts."""
    labels = labels_of(np.random.default_rng(5), 260, people=0.97)
    group = np.r_[np.zeros(100, int), 1 + np.arange(160) // 4]
    places = {item: {"group": f"g{number}"} for item, number in zip(labels, group.tolist(), strict=True)}
    for right in (group == 0, group > 0):
        answers = {item: most if kept else (most + 1) % 3 for (item, most), kept in zip(majority(labels).items(), right, strict=True)}
        verdict = decided(make_recording, labels, answers, places=places)
        assert verdict.decision.verdict == "too few labels", verdict.words.sentence


def test_cells_that_are_too_small_for_tests_count_in_the_plan_of_further_texts(make_recording: MakeRecording) -> None:
    few = labels_of(np.random.default_rng(6), 28, people=0.8)
    tags = ("en", "de", "fr", "es", "it", "sw", "hi", "ta")
    every = {f"{tag}-{item}": row for tag in tags for item, row in few.items()}
    places = {item: {"language": item.split("-")[0]} for item in every}
    alone = decided(make_recording, few, majority(few))
    together = verdicts([make_recording(every, majority(every), places=places)], MeasureOptions())
    assert alone.decision.reason == "fewer than 30 items with two annotators" and alone.needed
    assert len(together) == len(tags) and all(one.needed and one.needed.texts > alone.needed.texts for one in together)


@pytest.mark.parametrize(("rare", "few"), [(9, True), (30, False)])
def test_few_cases_of_the_rarest_class_are_said_where_they_are_few(make_recording: MakeRecording, rare: int, few: bool) -> None:
    labels, two = {f"i{item}": [int(item < rare)] * 2 for item in range(90)}, {"m": Scale(kind="ordinal", classes=(0, 1), best=1)}
    [judged] = align([make_recording(labels, majority(labels), scales=two)], MeasureOptions()).tables
    [tests] = cell_tests(judged, False, DEFAULT)
    assert tests.few_rare_cases is few


def test_the_upper_bound_is_below_the_margin_exactly_where_a_judge_is_shown_to_be_worse(
    make_recording: MakeRecording, judged: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(9)
    labels = labels_of(rng, 120)
    answers = [
        judged(item, int((score + (rng.random() < wrong)) % 3), temperature=wrong)
        for wrong in (0.1, 0.2, 0.3, 0.5, 0.8)
        for item, score in majority(labels).items()
    ]
    found = verdicts([make_recording(labels, answers)], MeasureOptions(), DecisionOptions(family="all"))
    shown = [verdict["family_upper"] < -verdict.margin for verdict in found]
    assert shown == [verdict["q_worse"] <= 0.05 for verdict in found] and len(set(shown)) == 2
    assert all(verdict["family_bound"] < verdict["gap"] < verdict["family_upper"] for verdict in found)
