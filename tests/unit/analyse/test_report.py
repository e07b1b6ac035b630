"""A run's report: what the baseline has learnt, verdicts in words, signatures; deterministic and without NaN."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from harness import analyse
from harness.analyse import Cell, CompareOptions, Report, Verdict, compare, recording
from harness.analyse.pooled import pooled_differences
from harness.analyse.report import verdicts
from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.data.labels import Labels
from harness.model import Condition, Failure, Item, JudgeIdentity, Judgment, Label, Scale, Score
from harness.runs import RunProtocol
from harness.signature import Signature
from harness.stats import Difference, Interval
from harness.tables import to_json

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]
Judged = Callable[..., Judgment]
Answers = Mapping[str, Score | Failure]
World = Callable[..., tuple[Dataset, list[Judgment]]]

THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
JUDGE = "openai/one"


def letters(count: int) -> list[str]:
    return [chr(ord("a") + number) for number in range(count)]


@pytest.fixture
def world(make_item: MakeItem, make_data: MakeData, judged: Judged) -> World:
    """A data set with labels `{item: score}`, and a judge's answers to it; items of one letter share a group."""

    def make(labels: Mapping[str, Score], answers: Answers, *, dev: Sequence[Score] = (1,), **item: Any) -> tuple[Dataset, Judgments]:
        items = [make_item(name, group=name[0] if len(name) > 1 else name, **item) for name in labels]
        learnt = [make_item(f"dev {number}", split="dev", **item) for number in range(len(dev))]
        data = make_data([*items, *learnt], dict(labels) | {i.item_id: score for i, score in zip(learnt, dev, strict=True)})
        judgments = [judged(name, answer, judge=JUDGE, language=items[0].language) for name, answer in answers.items()]
        return data, Judgments.from_rows(judgments)

    return make


# Recordings of runs


def test_the_baseline_is_the_commonest_label_of_the_development_items(world: World) -> None:
    data, judgments = world({"a": 0, "b": 2}, {"a": 0, "b": 2}, dev=(1, 1, 0))
    made = recording(judgments, data, data, "name")
    assert made.baseline == {("a", "m"): 1, ("b", "m"): 1}
    assert (made.name, made.asked, len(made.judgments)) == ("name", None, 2)


def test_without_development_items_it_is_the_commonest_reference_of_the_cell(world: World) -> None:
    data, judgments = world({"a1": 0, "a2": 0, "b": 2}, {"a1": 0, "a2": 0, "b": 2}, dev=())
    made = recording(judgments, data, data)
    assert made.baseline == {}
    [cell] = compare([made], CompareOptions()).cells
    assert cell.vs_baseline["pa"] == pytest.approx(2 / 3)


# Verdicts


BETTER, WORSE, UNCLEAR = (0.1, 0.5), (-0.5, -0.1), (-0.1, 0.5)


def beaten(metric: str, interval: tuple[float, float] | None, *, judge: str = JUDGE, **other: Any) -> Cell:
    """A cell whose judge differs from the baseline by something in `interval`."""
    fields: dict[str, Any] = dict.fromkeys(Cell.__struct_fields__)
    key = {"language": "cs", "task": "*", "metric": metric, "judge": judge, "variant": "single", "temperature": 0.0}
    own = {"key": key, "n_ref": 2, "n": 1, "values": {"pa_failed_wrong": 0.5}, "vs_baseline": {"ci": interval, "pa": 0.25}}
    return Cell(**(fields | own | other))


def verdict(*cells: Cell, constructed: bool = False) -> Verdict:
    [found] = verdicts(cells, constructed)
    return found


def test_metrics_are_sorted_by_what_their_intervals_say() -> None:
    found = verdict(beaten("p", BETTER), beaten("q", WORSE), beaten("r", UNCLEAR), beaten("s", None), beaten("t", (0.0, 0.5)))
    assert (found.beats, found.below, found.open) == (("p",), ("q",), ("r", "s", "t"))
    assert (found.language, found.n_ref, found.n, found.pa_failed_wrong, found.baseline) == ("cs", 10, 5, 0.5, 0.25)


def test_shares_are_over_all_references_and_a_cell_without_any_counts_nothing() -> None:
    empty = {"n_ref": 0, "n": 0, "values": {"pa_failed_wrong": None}, "vs_baseline": {"ci": None, "pa": None}}
    large = {"n_ref": 6, "values": {"pa_failed_wrong": 1.0}, "vs_baseline": {"ci": None, "pa": 0.75}}
    found = verdict(beaten("p", None), beaten("q", None, **empty), beaten("r", None, **large))
    assert (found.n_ref, found.pa_failed_wrong, found.baseline) == (8, (0.5 * 2 + 6) / 8, (0.25 * 2 + 0.75 * 6) / 8)
    assert verdict(beaten("q", None, **empty)).pa_failed_wrong == 0.0


@pytest.mark.parametrize(
    ("intervals", "constructed", "usable", "sentence"),
    [
        (
            [UNCLEAR, WORSE],
            True,
            False,
            "openai/one is not usable for Czech: on none of 2 metrics is it shown to beat a baseline that reads nothing.",
        ),
        ([BETTER, None], False, True, "openai/one is shown to beat the majority baseline in Czech on only 1 of 2 metrics: m0."),
        ([BETTER, BETTER], False, True, "openai/one is shown to beat the majority baseline in Czech on all of 2 metrics: m0, m1."),
        ([None, None], True, False, "Too few independent texts to tell whether openai/one judges Czech."),
        (
            [None, WORSE],
            True,
            False,
            "openai/one is not usable for Czech: on none of 2 metrics is it shown to beat a baseline that reads nothing.",
        ),
    ],
    ids=["none", "one", "all", "too few", "too few and worse"],
)
def test_the_sentence_says_what_was_shown(
    intervals: list[tuple[float, float] | None], constructed: bool, usable: bool, sentence: str
) -> None:
    found = verdict(*(beaten(f"m{number}", interval) for number, interval in enumerate(intervals)), constructed=constructed)
    assert (found.usable, found.sentence) == (usable, sentence)


def apart(ci: tuple[float, float]) -> dict[tuple[Any, ...], Difference]:
    """A difference over all metrics with this interval."""
    interval = Interval(*ci, "made up", 12, None, None)
    return {("cs", JUDGE, "single", 0.0, None): Difference(sum(ci) / 2, 24, interval, 0.01, "H0", None)}


@pytest.mark.parametrize(
    ("pooled", "cells", "usable", "sentence"),
    [
        (
            BETTER,
            [UNCLEAR, None],
            True,
            "is shown to beat the majority baseline in Czech over all metrics together, on none of them alone.",
        ),
        (BETTER, [None, None], True, "is shown to beat the majority baseline in Czech over all metrics together, on none of them alone."),
        (UNCLEAR, [BETTER, None], True, "is shown to beat the majority baseline in Czech on only 1 of 2 metrics: m0."),
        (WORSE, [None, None], False, "is not usable for Czech: on none of 2 metrics is it shown to beat a baseline that reads nothing."),
    ],
    ids=["together only", "too few in each", "one alone", "worse together"],
)
def test_metrics_count_together_too(
    pooled: tuple[float, float], cells: list[tuple[float, float] | None], usable: bool, sentence: str
) -> None:
    [found] = verdicts([beaten(f"m{number}", interval) for number, interval in enumerate(cells)], False, apart(pooled))
    assert (found.usable, found.sentence, found.ci) == (usable, f"openai/one {sentence}", pooled)
    assert (found.diff, found.p) == (sum(pooled) / 2, 0.01)


def test_a_text_that_several_metrics_ask_about_is_one_group(make_item: MakeItem, make_data: MakeData, judged: Judged) -> None:
    """Eight texts with two metrics each are eight groups; repeats of a question are averaged, and failures are wrong."""
    items = [make_item(name) for name in letters(8)]
    scores = {name: number % 3 for number, name in enumerate(letters(8))}
    data = msgspec.structs.replace(
        make_data(items, scores),
        labels=Labels.from_rows([Label(name, "x", metric, scores[name]) for name in scores for metric in ("m", "n")]),
    )
    data = msgspec.structs.replace(data, scales={"m": THREE, "n": THREE})
    answers = [judged(name, scores[name], judge=JUDGE, metric=metric, repeat=r) for name in scores for metric in "mn" for r in (0, 1)]
    answers[0] = judged("a", Failure.REFUSED, judge=JUDGE, metric="m", repeat=0)
    [found] = pooled_differences(recording(Judgments.from_rows(answers), data, data), CompareOptions()).values()
    assert (found.n, found.interval.groups) == (16, 8)
    assert found.diff == pytest.approx(1 - 0.5 / 16 - 3 / 8)


def test_constructed_labels_are_never_called_sufficient() -> None:
    found = verdict(beaten("m", BETTER), constructed=True)
    assert found.sentence.endswith("That is necessary, not sufficient: the labels are constructed, not native.")


def test_a_baseline_is_called_one_whatever_its_numbers() -> None:
    found = verdict(beaten("m", BETTER, judge="baseline/length"))
    assert found.sentence == "baseline/length is a baseline: it reads no Czech and is here to be beaten."


def test_every_language_judge_and_condition_has_a_verdict_of_its_own(make_item: MakeItem, make_data: MakeData, judged: Judged) -> None:
    data = make_data([make_item(tag, language=tag) for tag in ("ja", "cs")], {"ja": 1, "cs": 1})
    judgments = [judged(tag, 1, judge=judge, temperature=t) for tag in ("ja", "cs") for judge in ("b", "a") for t in (0.7, 0.0)]
    found = [(v.language, v.judge, v.temperature, v.n_ref) for v in made(data, judgments).verdicts]
    assert found == [(tag, judge, t, 1) for tag in ("cs", "ja") for judge in ("a", "b") for t in (0.0, 0.7)]


# The report


PROTOCOL = RunProtocol(
    source="controls@1.0.0",
    title="A title",
    constructed=True,
    data=None,
    content=(),
    board="controls",
    languages=("en",),
    tasks={"open_prompt": "1.0.0"},
    rubrics={"m": "1.0.0"},
    metrics=("m",),
    conditions=(Condition(),),
    repeats=1,
    seed=0,
    limit=None,
    data_sha256="d" * 64,
    prompts="p" * 16,
    identities=(
        JudgeIdentity("openai", "one", {"endpoint": "a-very-long-name.of-a-host.example"}),
        JudgeIdentity("local", "two", {"sha256": "f" * 64}),
    ),
)


def made(data: Dataset, judgments: Judgments | Sequence[Judgment]) -> Report:
    columns = judgments if isinstance(judgments, Judgments) else Judgments.from_rows(judgments)
    return analyse.report("run", PROTOCOL, columns, data, data, unreviewed=["en"], missing={"openai/one": 0})


def no_float_is_undefined(value: Any) -> bool:
    if isinstance(value, dict | list | tuple):
        return all(map(no_float_is_undefined, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


@pytest.mark.parametrize(
    ("labels", "answers"),
    [
        ({"a": 1}, {"a": Failure.MISSING}),
        ({"a": 1}, {"a": 1}),
        ({"a": 1}, {}),
        (dict.fromkeys(letters(12), 2), dict.fromkeys(letters(12), Failure.REFUSED)),
        (dict.fromkeys(letters(12), 2), dict.fromkeys(letters(12), 2)),
        ({f"{letter}{n}": 0 for letter in letters(9) for n in (0, 1)}, {f"{letter}{n}": n for letter in letters(9) for n in (0, 1)}),
    ],
    ids=["one failed", "one read", "nothing", "all failed", "all the same", "groups"],
)
def test_nan_is_never_in_a_report(world: World, labels: Mapping[str, Score], answers: Answers) -> None:
    report = made(*world(labels, answers))
    assert no_float_is_undefined(msgspec.to_builtins(report))
    assert not re.search(r"\bnan\b|infinity", to_json(report.as_json()), re.IGNORECASE)
    assert len(report.cells) == len(report.by_metric) == len(report.verdicts) == bool(answers)
    for cell in report.cells:
        for name in ("pa", "pa_failed_wrong"):
            assert (cell[name] is None) == (name in cell.undefined)
            assert (cell[f"{name}_ci"] is None) == bool({name, f"{name}_ci"} & set(cell.undefined))
        assert (cell.vs_baseline["ci"] is None) == bool(cell.vs_baseline["reason"])


def test_equal_judgments_make_equal_reports(world: World) -> None:
    labels = {f"{letter}{n}": n for letter in letters(9) for n in (0, 1, 2)}
    data, judgments = world(labels, {name: int(name[1]) % 2 for name in labels})
    assert to_json(made(data, judgments).as_json()) == to_json(made(data, judgments.take(np.arange(len(judgments))[::-1])).as_json())


def test_cells_are_by_task_and_pooled_over_tasks(make_item: MakeItem, make_data: MakeData, judged: Judged) -> None:
    items = [make_item(task, task=task) for task in ("summarize", "open_prompt")]
    report = made(make_data(items, {"summarize": 1, "open_prompt": 1}), [judged(item.item_id, 1) for item in items])
    assert [cell["task"] for cell in report.cells] == ["open_prompt", "summarize"]
    assert [(cell["task"], cell.n_ref) for cell in report.by_metric] == [("*", 2)]
    assert report.ci_method == analyse.CI_METHOD


@pytest.mark.parametrize("majority", ["drop", "median", "strict"])
@pytest.mark.parametrize("annotators", ["", "3", "1+"])
def test_ablations_and_cells_of_a_report_follow_one_rule(
    make_item: MakeItem, make_data: MakeData, judged: Judged, majority: Any, annotators: str
) -> None:
    labels = {f"i{n}": [n % 3, (n // 3) % 3, (n // 9) % 3][: n % 4 or 2] for n in range(40)}
    data = make_data([make_item(name) for name in labels], labels)
    judgments = Judgments.from_rows(
        [judged(name, (n + v) % 3, variant=v_) for n, name in enumerate(labels) for v, v_ in enumerate(("v", "w"))]
    )
    protocol = msgspec.structs.replace(PROTOCOL, majority=majority, annotators=annotators)
    report = analyse.report("run", protocol, judgments, data, data)
    rows = {row["variant"]: row for row in report.ablations["variants"]["rows"] if row["task"] != "*"}
    assert len(rows) == len(report.cells) == 2
    for cell in report.cells:
        row = rows[cell["variant"]]
        assert (row["n_ref"], row["pa"]) == (cell.n_ref, pytest.approx(cell["pa"]))


def test_a_report_as_json_has_flat_cells_and_says_who_answered(world: World) -> None:
    data, judgments = world({"a": 1}, {"a": 1})
    report = analyse.report(
        "run", PROTOCOL, judgments, data, data, answered_by={"openai/one": {"one-2025-01-01": 3, "": 1}, "local/two": {"x": 1}}
    )
    json = report.as_json()
    assert json["cells"][0]["pa"] == 1 and json["cells"][0]["language"] == "en" and json["schema_version"] == 2
    assert report.moved_aliases == {"openai/one": ["one-2025-01-01"]}


# Signatures


def test_every_judge_has_a_signature_that_parses_and_tells_it_from_others() -> None:
    one, two = (analyse.signature(PROTOCOL, identity) for identity in PROTOCOL.identities)
    assert Signature.parse(str(one)) == one
    assert one.judge == "openai/one@endpoint=a-very-long-name.of-a-host.example"
    assert two.judge == "local/two@sha256=ffffffffffff"
    assert one.data == "controls@1.0.0+dddddddddddd"


@pytest.mark.parametrize(
    "change",
    [
        {"source": "controls@1.0.1"},
        {"data_sha256": "e" * 64},
        {"tasks": {"open_prompt": "1.0.1"}},
        {"rubrics": {"m": "1.0.1"}},
        {"languages": ("en", "ja")},
        {"conditions": (Condition(temperature=0.7),)},
        {"repeats": 5},
        {"seed": 1},
        {"prompts": "q" * 16},
        {"limit": 3},
        {"majority": "median"},
        {"annotators": "3"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_can_move_a_number_is_in_the_signature(change: dict[str, Any]) -> None:
    judge = PROTOCOL.identities[0]
    assert analyse.signature(msgspec.structs.replace(PROTOCOL, **change), judge) != analyse.signature(PROTOCOL, judge)


@pytest.mark.parametrize(
    "change", [{"title": "Another"}, {"data": "/somewhere"}, {"content": ("/elsewhere",)}], ids=lambda change: next(iter(change))
)
def test_nothing_else_is(change: dict[str, Any]) -> None:
    judge = PROTOCOL.identities[0]
    assert analyse.signature(msgspec.structs.replace(PROTOCOL, **change), judge) == analyse.signature(PROTOCOL, judge)


def test_labels_that_nobody_native_gave_and_texts_that_nobody_read_are_in_the_report(world: World) -> None:
    report = made(*world({"a": 1}, {"a": 1}))
    assert report.constructed_labels and report.unreviewed == ("en",)
