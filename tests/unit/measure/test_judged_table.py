"""Judgments laid beside labels: classes of a scale, votes of items, and items that a judge has no row for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.content.specs import Asked
from harness.data.judgments import Judgments
from harness.errors import UsageError
from harness.measure.compare import Recording
from harness.measure.judged_table import JudgedTable, item_key, with_missing
from harness.measure.label_counts import MAX_VALUES, classes_of, continuous_metrics, count_labels
from harness.measure.options import Annotators
from harness.model import Failure, Judgment, Scale, Score

MakeRecording = Callable[..., Recording]
Judged = Callable[..., Judgment]
ONE, TWO = Annotators(1), Annotators(2)


@pytest.mark.parametrize(
    ("scale", "scores", "values", "direction"),
    [
        (Scale(kind="ordinal", classes=(0, 1, 2), best=2), (0, 1, 2), (0, 1, 2), 1),
        (Scale(kind="ordinal", classes=(0, 1), best=0), (0, 1), (0, 1), -1),
        (Scale(kind="ordinal", classes=(1, 2, 3), best=2), (1, 2, 3), (1, 2, 3), None),
        (Scale(kind="ordinal", classes=(1, 2, 5)), (1, 2, 5), (1, 2, 5), None),
        (Scale(kind="ordinal", classes=("low", "high"), best="high"), ("low", "high"), None, 1),
        (Scale(kind="ordinal", classes=(3, 2, 1), best=1), (3, 2, 1), None, 1),
        (Scale(kind="nominal", classes=("A", "B", "tie")), ("A", "B", "tie"), None, None),
        (Scale(kind="nominal", classes=(0, 1), best=1), (0, 1), None, 1),
        (Scale(kind="interval", min=0, max=10, best=10), (1.5, 7.0), (1.5, 7.0), 1),
        (Scale(kind="interval", min=0, max=10, best=0), (1.5, 7.0), (1.5, 7.0), -1),
        (Scale(kind="interval"), (1.5, 7.0), (1.5, 7.0), None),
    ],
    ids=lambda value: value.kind if isinstance(value, Scale) else None,
)
def test_a_scale_becomes_classes_with_their_numbers_and_its_direction(
    scale: Scale, scores: tuple[Score, ...], values: tuple[float, ...] | None, direction: int | None
) -> None:
    classes = classes_of(scale, [7, 1.5, 7.0])
    assert (classes.scores, classes.values, classes.direction, classes.kind) == (scores, values, direction, scale.kind)


def test_an_interval_scale_with_many_different_scores_is_continuous() -> None:
    scale = Scale(kind="interval", min=0, max=1000, best=1000)
    few, many = classes_of(scale, range(MAX_VALUES)), classes_of(scale, range(MAX_VALUES + 1))
    assert len(few.scores) == MAX_VALUES == 64 and not few.continuous
    assert many.continuous and len(many.scores) == 1 and many.reach == 1000 and many.direction == 1
    assert set(many.index().values()) == {0} and len(many.index()) == 65


def test_metrics_with_one_scale_are_continuous_together(make_recording: MakeRecording) -> None:
    scales = {"many": Scale(kind="interval", min=0, max=99), "few": Scale(kind="interval", min=0, max=99), "own": Scale(kind="interval")}
    labels: dict[Any, Any] = {(f"i{number}", "many"): [number] for number in range(65)}
    labels |= {("i0", "few"): [1], ("i1", "few"): [2], ("i0", "own"): [1]}
    made = make_recording(labels, {}, scales=scales)
    assert continuous_metrics(made.data, made.judgments) == {"many", "few"}
    counted = count_labels(made.data, made.judgments, ONE, "drop")
    assert {metric for metric, of in counted.items() if of.classes.continuous} == {"many", "few"}
    assert counted["few"].counts.sum() == 2 and counted["few"].scores is not None


def test_votes_count_annotators_by_class(make_recording: MakeRecording) -> None:
    made = make_recording({"a": [2, 2, 0], "b": [1], ("b", "n"): [0, 1]}, {}, scales={m: THREE for m in "mn"}, more_items=["c"])
    counted = count_labels(made.data, made.judgments, ONE, "drop")
    assert counted["m"].counts.tolist() == [[1, 0, 2], [0, 1, 0], [0, 0, 0]]
    assert counted["n"].counts.tolist() == [[0, 0, 0], [1, 1, 0], [0, 0, 0]]


THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)


@pytest.mark.parametrize(
    ("needed", "kept"),
    [(Annotators(1), "abcd"), (TWO, "bcd"), (Annotators(2, True), "b"), (Annotators(3, True), "c")],
    ids=str,
)
def test_items_with_another_number_of_annotators_have_no_votes(make_recording: MakeRecording, needed: Annotators, kept: str) -> None:
    made = make_recording({"a": [2], "b": [2, 2], "c": [2, 2, 2], "d": [2, 2, 2, 2]}, {})
    counts = count_labels(made.data, made.judgments, needed, "drop")["m"].counts
    assert "".join(item.item_id for item, n in zip(made.data.items, counts.sum(axis=1), strict=True) if n) == kept


@pytest.mark.parametrize(
    ("needed", "words"), [(Annotators(5), "5 or more annotators"), (Annotators(3, True), "exactly 3 annotators")], ids=["more", "exactly"]
)
def test_a_number_of_annotators_that_no_item_has_is_refused(make_recording: MakeRecording, needed: Annotators, words: str) -> None:
    made = make_recording({"a": [2], "b": [2, 2, 2, 2]}, {})
    with pytest.raises(UsageError, match=f"no item has {words} on a metric; the largest number is 4"):
        count_labels(made.data, made.judgments, needed, "drop")


def test_the_judges_scores_are_classes_of_an_interval_scale_too(make_recording: MakeRecording) -> None:
    made = make_recording({"a": [1.0, 2.0], "b": [2.0, 2.0]}, {"a": 1.5, "b": 2.0}, scales={"m": Scale(kind="interval", min=0, max=3)})
    assert count_labels(made.data, made.judgments, ONE, "drop")["m"].classes.scores == (1.0, 1.5, 2.0)


def test_metrics_are_counted_together_only_on_one_scale(make_recording: MakeRecording) -> None:
    scales = {"m": THREE, "n": THREE, "o": Scale(kind="ordinal", classes=(0, 1, 2), best=0), "p": Scale(kind="nominal", classes=(0, 1, 2))}
    made = make_recording({("a", metric): [1] for metric in scales}, {}, scales=scales)
    keys = {metric: of.classes.key for metric, of in count_labels(made.data, made.judgments, ONE, "drop").items()}
    assert keys["m"] == keys["n"] and len(set(keys.values())) == 3


def rows(table: JudgedTable) -> list[tuple[int, str, str, Score | None, str | None]]:
    j = table.judgments
    return list(zip(table.item.tolist(), j.judge, j.metric, j.score, j.failure, strict=True))


def completed(made: Recording, needed: Annotators = ONE) -> list[tuple[int, str, str, Score | None, str | None]]:
    counted = count_labels(made.data, made.judgments, needed, "drop")
    return rows(with_missing(JudgedTable.align(made.data, made.judgments, counted), made.asked, made.judgments))


def test_labelled_items_without_a_row_become_failures(make_recording: MakeRecording) -> None:
    made = make_recording({"a": 1, "b": 1, "c": 1}, {"b": 2}, more_items=["unlabelled"])
    assert completed(made) == [(1, "j", "m", 2, None), (0, "j", "m", None, Failure.MISSING), (2, "j", "m", None, Failure.MISSING)]


def test_nothing_is_added_where_everything_was_judged(make_recording: MakeRecording) -> None:
    made = make_recording({"a": 1}, {"a": Failure.REFUSED, "unlabelled": 1})
    assert completed(made) == [(0, "j", "m", None, Failure.REFUSED), (1, "j", "m", 1, None)]


def test_what_is_missing_is_told_by_judge_variant_temperature_metric_language_and_task(
    make_recording: MakeRecording, judged: Judged
) -> None:
    """A judge that was never asked in a language, or about a metric, misses nothing there."""
    places = {"ja": {"language": "ja"}, "sum": {"task": "summarize"}}
    labels = {(name, metric): 1 for name in ("a", "b", "ja", "sum") for metric in "mn"}
    given = [
        judged("a", 1),
        judged("b", 1),
        judged("a", 1, judge="k"),
        judged("b", 1, variant="joint"),
        judged("a", 1, temperature=0.7),
        judged("ja", 1, judge="k", metric="n"),
    ]
    made = make_recording(labels, given, scales={"m": THREE, "n": THREE}, places=places)
    counted = count_labels(made.data, made.judgments, ONE, "drop")
    table = with_missing(JudgedTable.align(made.data, made.judgments, counted), Asked("all"), made.judgments)
    added = table.judgments.take(np.arange(len(given), len(table)))
    assert table.unasked is not None and len(table.unasked) == 0
    assert sorted(zip(added.item, added.judge, added.variant, added.temperature, added.metric, strict=True)) == [
        ("a", "j", "joint", 0.0, "m"),
        ("b", "j", "single", 0.7, "m"),
        ("b", "k", "single", 0.0, "m"),
    ]


def test_items_that_too_few_annotators_labelled_are_not_missed(make_recording: MakeRecording) -> None:
    made = make_recording({"a": [1, 1], "b": [1]}, {"a": 1})
    assert completed(made, TWO) == [(0, "j", "m", 1, None)]


def of_rule(made: Recording, asked: Asked | None) -> tuple[set[tuple[str, str, str]], set[tuple[str, str, str]]]:
    """`(judge, metric, item)` of what was asked and has no judgment, and of what was not asked."""
    given = JudgedTable.align(made.data, made.judgments, count_labels(made.data, made.judgments, ONE, "drop"))
    table = with_missing(given, asked, made.judgments)
    unasked = table.unasked.judgments if table.unasked else Judgments.from_rows(())
    assert not any(unasked.failure) and not any(unasked.score)
    both = (table.judgments.take(np.arange(len(given), len(table))), unasked)
    missing, left = (set(zip(j.judge, j.metric, j.item, strict=True)) for j in both)
    return missing, left


def test_what_counts_as_asked_is_as_the_data_say(make_recording: MakeRecording, judged: Judged) -> None:
    """Of a judge that has rows on two metrics: on `m` of a and b, on `n` of c; d is on nobody's list, e on the judge's."""
    places = {"a": {"seen": True}, "b": {"seen": False}, "d": {"seen": ["another"]}, "e": {"seen": ["another", "j"]}}
    labels = {(name, metric): 1 for name in "abcde" for metric in "mn"}
    given = [judged("a", 1), judged("b", 1), judged("c", 1, metric="n"), judged("e", 1, metric="n", variant="joint")]
    made = make_recording(labels, given, scales={"m": THREE, "n": THREE}, places=places)
    every = {("j", metric, name) for metric in "mn" for name in "abcde"} - {("j", "m", "a"), ("j", "m", "b"), ("j", "n", "c")}
    of_w = {("j", "n", name) for name in "abcd"}
    assert of_rule(made, None) == (set(), set())
    assert of_rule(made, Asked("rows")) == (set(), every | of_w)
    assert of_rule(made, Asked("all")) == (every | of_w, set())
    missing, left = of_rule(made, Asked("any-row"))  # of single: a, b and c on both metrics; of joint: e, which has its row
    assert missing == {("j", "m", "c"), ("j", "n", "a"), ("j", "n", "b")}
    assert left == {("j", "m", "d"), ("j", "m", "e"), ("j", "n", "d"), ("j", "n", "e")} | of_w
    missing, left = of_rule(made, Asked("column", "seen"))
    assert missing == {("j", "m", "e"), ("j", "n", "a"), ("j", "n", "e")}
    assert ("j", "n", "b") in left and ("j", "m", "d") in left and ("j", "m", "c") in left


def test_what_is_missing_has_nothing_of_the_judgment_that_it_is_like(make_recording: MakeRecording, judged: Judged) -> None:
    given = msgspec.structs.replace(judged("a", 1, expected=0.5, entropy=0.1, detected_language="en"), justification="so")
    made = make_recording({"a": 1, "b": 1}, [given])
    given = JudgedTable.align(made.data, made.judgments, count_labels(made.data, made.judgments, ONE, "drop"))
    table = with_missing(given, Asked("all"), made.judgments)
    assert table.row.tolist() == [0, -1]
    missing = {name: list(column)[1] for name, column in table.judgments.columns.items()}
    assert [missing[name] for name in ("item", "judge", "variant", "failure")] == ["b", "j", "single", Failure.MISSING]
    assert {missing[name] for name in ("score", *Judgments.OPTIONAL)} == {None}


def test_tables_are_joined_with_their_sources(make_recording: MakeRecording) -> None:
    one, other = (make_recording({"a": 1, "b": 2}, answers) for answers in ({"a": 1}, {"b": 0}))
    both = JudgedTable.concatenate([JudgedTable.align(made.data, made.judgments, {}, name) for made, name in ((one, "x"), (other, "y"))])
    assert rows(both) == [(0, "j", "m", 1, None), (1, "j", "m", 0, None)] and list(both.source) == ["x", "y"]


def test_an_items_keys_are_its_own_and_any_field_that_holds_texts_or_numbers(make_recording: MakeRecording) -> None:
    places = {"a": {"system": "s", "round": 1, "tags": ["x"]}, "b": {"language": "ja", "round": 2.5}}
    data = make_recording({"a": 1, "b": 1}, {}, places=places).data
    found = {name: list(item_key(data, name)) for name in ("language", "task", "system", "group", "round")}
    assert found == {
        "language": ["en", "ja"],
        "task": ["open_prompt"] * 2,
        "system": ["s", None],
        "group": ["a", "b"],
        "round": [1, 2.5],
    }
    for absent in ("tags", "colour"):
        with pytest.raises(
            UsageError,
            match=rf"no item has '{absent}'\.(?: Did you mean 'task'\?)?\n +choose from: language, task, .*, output, prompt, round$",
        ):
            item_key(data, absent)
    with pytest.raises(UsageError, match=r"no item has 'rond'\. Did you mean 'round'\?"):
        item_key(data, "rond")


def test_continuous_scores_have_no_level_of_agreement(make_recording: MakeRecording) -> None:
    scores = {f"i{number}": [float(number), float(number)] for number in range(MAX_VALUES + 1)}
    made = make_recording(scores, {"i0": 0.0}, scales={"m": Scale(kind="interval", min=0, max=99)})
    table = JudgedTable.align(made.data, made.judgments, count_labels(made.data, made.judgments, ONE, "drop"))
    assert list(table.agreement) == [None] and list(table.reference) == [0.0] and list(table.outcome) == ["number"]


def test_labels_say_nothing_about_changed_texts(make_recording: MakeRecording, judged: Judged) -> None:
    made = make_recording({"a": [1, 1]}, [judged("a", 1), judged("a", 1, perturbation="truncate:0.5")])
    table = JudgedTable.align(made.data, made.judgments, count_labels(made.data, made.judgments, ONE, "drop"))
    assert list(table.outcome) == ["right", "changed text"] and table.counted.tolist() == [True, False]
    assert table.hit[0] == 1 and np.isnan(table.hit[1])
