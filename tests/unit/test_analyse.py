"""The analysis: references, cells and verdicts; what is undefined is null with a reason, and never a number."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import pytest

from harness import analyse
from harness.analyse import ALL_TASKS, Cell, Report, join, make_cells, references, verdicts
from harness.content import Dataset
from harness.model import Condition, Failure, Item, JudgeIdentity, Judgment, Label, Scale, Score
from harness.protocol import RunProtocol
from harness.signature import Signature
from harness.tables import to_json

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]
Answers = Mapping[str, Score | Failure]

THREE = Scale(kind="ordinal", classes=(0, 1, 2), best=2)
SCALES = {"m": THREE, "n": THREE}


def judged(item: Item, answer: Score | Failure, metric: str = "m", judge: str = "openai/one", **other: Any) -> Judgment:
    failed = isinstance(answer, Failure)
    fields = {"variant": "single", "temperature": 0.0, "repeat": 0, "raw_choice": None, "justification": None, "call_id": "c"} | other
    score, failure = (None, answer) if failed else (answer, None)
    return Judgment(item.item_id, item.language, item.task, metric, judge, score=score, failure=failure, **fields)


@pytest.fixture
def world(make_item: MakeItem, make_data: MakeData) -> Callable[..., tuple[Dataset, list[Judgment]]]:
    """A data set with labels `{item: score}`, and a judge's answers to it; items of one letter share a group."""

    def make(labels: Mapping[str, Score], answers: Answers, *, dev: Sequence[Score] = (1,), **item: Any) -> tuple[Dataset, list[Judgment]]:
        items = [make_item(name, group=name[0] if len(name) > 1 else name, **item) for name in labels]
        learnt = [make_item(f"dev {number}", split="dev", **item) for number in range(len(dev))]
        data = make_data([*items, *learnt], dict(labels) | {i.item_id: score for i, score in zip(learnt, dev, strict=True)}, SCALES)
        return data, [judged(data.by_id[name], answer) for name, answer in answers.items()]

    return make


def cells_of(data: Dataset, judgments: Sequence[Judgment], **how: Any) -> tuple[Cell, ...]:
    return make_cells(join(judgments, data, data), data.scales, **how)


def the_cell(data: Dataset, judgments: Sequence[Judgment]) -> Cell:
    [cell] = cells_of(data, judgments)
    return cell


def letters(count: int) -> list[str]:
    return [chr(ord("a") + number) for number in range(count)]


# References


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
        ([0], 0),
        ([0, 0, 0, 1, 1], 0),
    ],
    ids=str,
)
def test_the_reference_is_the_unique_mode(scores: list[int], reference: int | None) -> None:
    labels = [Label("i", f"annotator {number}", "m", score) for number, score in enumerate(scores)]
    assert references(labels) == ({} if reference is None else {("i", "m"): reference})
    assert references(reversed(labels)) == references(labels)


def test_references_are_kept_apart_by_item_and_metric() -> None:
    labels = [Label("i", "a", "m", 0), Label("i", "a", "n", 1), Label("j", "a", "m", 2)]
    assert references(labels) == {("i", "m"): 0, ("i", "n"): 1, ("j", "m"): 2}


def test_judgments_without_a_reference_are_left_out(make_item: MakeItem, make_data: MakeData) -> None:
    items = [make_item(name) for name in ("agreed", "tied", "unlabelled")]
    data = make_data(items, {("agreed", "m"): [1, 1, 0], ("tied", "m"): [1, 0]})
    rows = join([judged(item, 1) for item in items], data, data)
    assert [(row.judgment.item_id, row.reference) for row in rows] == [("agreed", 1)]


def test_each_row_has_what_the_majority_baseline_says_without_its_group(world: Callable[..., Any]) -> None:
    data, judgments = world({"a1": 0, "a2": 0, "b": 2}, {"a1": 0, "b": 2}, dev=())
    rows = join(judgments, data, data)
    assert [(row.group, row.baseline) for row in rows] == [("a", 2), ("b", 0)]


# Cells


def test_failures_are_counted_and_pa_is_over_what_was_read(world: Callable[..., Any]) -> None:
    answers = {"a": 2, "b": 2, "c": 1, "d": Failure.REFUSED, "e": Failure.NOT_JSON}
    cell = the_cell(*world({"a": 2, "b": 2, "c": 0, "d": 2, "e": 1}, answers))
    assert (cell.n_ref, cell.n, cell.coverage) == (5, 3, 0.6)
    assert cell.pa == pytest.approx(2 / 3) and cell.pa_failed_wrong == pytest.approx(2 / 5)
    assert cell.failures == {"not_json": 1, "refused": 1}
    assert cell.distribution_labels == {"0": 1, "1": 1, "2": 3}
    assert cell.distribution_judge == {"0": 0, "1": 1, "2": 2}


def test_refusing_what_is_hard_does_not_pay(world: Callable[..., Any]) -> None:
    labels = {name: 2 for name in letters(10)}
    honest = the_cell(*world(labels, {name: 2 if name < "f" else 0 for name in labels}))
    sly = the_cell(*world(labels, {name: 2 if name < "f" else Failure.REFUSED for name in labels}))
    assert sly.pa == 1 and honest.pa == 0.5
    assert sly.pa_failed_wrong == honest.pa_failed_wrong == 0.5
    assert sly.vs_baseline["diff"] == honest.vs_baseline["diff"]


def test_without_any_readable_answer_pa_is_null_and_not_zero(world: Callable[..., Any]) -> None:
    labels = {name: 1 for name in letters(9)}
    cell = the_cell(*world(labels, dict.fromkeys(labels, Failure.NOT_JSON)))
    assert (cell.pa, cell.pa_ci, cell.n, cell.coverage) == (None, None, 0, 0.0)
    assert cell.pa_failed_wrong == 0.0 and cell.pa_failed_wrong_ci is not None
    assert cell.undefined["pa"] == "no answer could be read" and cell.undefined["pa_ci"]


@pytest.mark.parametrize(("groups", "there"), [(7, False), (8, True)])
def test_fewer_than_eight_groups_have_no_interval_and_say_so(world: Callable[..., Any], groups: int, there: bool) -> None:
    labels = {f"{letter}{number}": 1 for letter in letters(groups) for number in range(3)}
    cell = the_cell(*world(labels, {name: int(name[1]) % 2 for name in labels}))
    assert cell.groups == groups and cell.n_ref == 3 * groups
    for interval in (cell.pa_ci, cell.pa_failed_wrong_ci, cell.vs_baseline["ci"]):
        assert (interval is not None) is there
    assert set(cell.undefined.values()) == (set() if there else {"too few independent texts"})


def test_an_interval_holds_its_estimate(world: Callable[..., Any]) -> None:
    labels = dict.fromkeys(letters(20), 1)
    cell = the_cell(*world(labels, {name: 1 if name < "n" else 0 for name in labels}))
    assert cell.pa_ci and cell.pa and 0 < cell.pa_ci[0] < cell.pa < cell.pa_ci[1] < 1
    lo, hi = cell.vs_baseline["ci"]
    assert -1 <= lo < cell.vs_baseline["diff"] < hi <= 1


def test_the_difference_is_the_judge_minus_the_majority(world: Callable[..., Any]) -> None:
    labels = {"a": 1, "b": 1, "c": 0, "d": 2}
    cell = the_cell(*world(labels, {"a": 1, "b": 0, "c": 0, "d": 2}, dev=(1, 1, 0)))
    assert cell.vs_baseline["baseline"] == "majority"
    assert (cell.pa, cell.vs_baseline["pa"], cell.vs_baseline["diff"]) == (0.75, 0.5, 0.25)


def test_cells_are_told_apart_by_everything_and_come_sorted(make_item: MakeItem, make_data: MakeData) -> None:
    items = [make_item(f"{tag} {task}", language=tag, task=task) for tag in ("ja", "cs") for task in ("summarize", "open_prompt")]
    data = make_data(items, {(item.item_id, metric): [1] for item in items for metric in SCALES}, SCALES)
    judgments = [
        judged(item, 1, metric, judge, variant=variant, temperature=temperature)
        for item in items
        for metric in SCALES
        for judge in ("openai/two", "openai/one")
        for variant in ("single", "joint")
        for temperature in (0.7, 0.0)
    ]
    cells = cells_of(data, judgments)
    keys = [(c.language, c.task, c.metric, c.judge, c.variant, c.temperature) for c in cells]
    assert len(keys) == len(judgments) and keys == sorted(keys) and all(c.n_ref == 1 for c in cells)
    pooled = cells_of(data, judgments, pool_tasks=True)
    assert len(pooled) == len(cells) / 2 and all(c.task == ALL_TASKS and c.n_ref == 2 for c in pooled)


def test_the_order_of_judgments_does_not_matter(world: Callable[..., Any]) -> None:
    labels = {f"{letter}{number}": number for letter in letters(9) for number in range(3)}
    data, judgments = world(labels, {name: int(name[1]) % 2 for name in labels})
    assert cells_of(data, judgments) == cells_of(data, judgments[::-1])


def test_rare_classes_are_marked(world: Callable[..., Any]) -> None:
    enough = {f"{letter}{number}": number % 3 for letter in letters(15) for number in range(3)}
    assert not the_cell(*world(enough, enough)).few_rare_cases
    enough.pop("a2")
    assert the_cell(*world(enough, enough)).few_rare_cases


def test_an_interval_scale_is_counted_by_value(make_item: MakeItem, make_data: MakeData) -> None:
    scores = [10, 2.5, 2.5, 2, 66.6666661, 66.6666662]
    items = [make_item(name) for name in letters(len(scores))]
    data = make_data(
        items, {item.item_id: score for item, score in zip(items, scores, strict=True)}, {"m": Scale(kind="interval", min=0, max=100)}
    )
    cell = the_cell(data, [judged(item, 2.0) for item in items])
    assert list(cell.distribution_labels.items()) == [("2", 1), ("2.5", 2), ("10", 1), ("66.6667", 2)]
    assert cell.distribution_judge == {"2": 6} and cell.pa == pytest.approx(1 / 6)
    assert not cell.few_rare_cases  # there are no classes that could be rare


# Verdicts


def beaten(metric: str, interval: tuple[float, float] | None, **other: Any) -> Cell:
    """A cell whose judge differs from the baseline by something in `interval`."""
    values: dict[str, Any] = dict.fromkeys(Cell.__struct_fields__)
    values |= {"language": "cs", "metric": metric, "judge": "openai/one", "variant": "single", "temperature": 0.0}
    return Cell(**(values | {"vs_baseline": {"ci": interval}} | other))


def verdict(world: Callable[..., Any], *cells: Cell, constructed: bool = False, judge: str = "openai/one") -> analyse.Verdict:
    data, judgments = world({"a": 1, "b": 2}, {"a": 1, "b": Failure.MISSING}, language="cs")
    rows = join([msgspec.structs.replace(judgment, judge=judge) for judgment in judgments], data, data)
    [found] = verdicts([msgspec.structs.replace(cell, judge=judge) for cell in cells], rows, constructed)
    return found


BETTER, WORSE, UNCLEAR = (0.1, 0.5), (-0.5, -0.1), (-0.1, 0.5)


def test_metrics_are_sorted_by_what_their_intervals_say(world: Callable[..., Any]) -> None:
    found = verdict(world, beaten("p", BETTER), beaten("q", WORSE), beaten("r", UNCLEAR), beaten("s", None), beaten("t", (0.0, 0.5)))
    assert (found.beats, found.below, found.open) == (("p",), ("q",), ("r", "s", "t"))
    assert (found.language, found.n_ref, found.n, found.pa_failed_wrong, found.baseline) == ("cs", 2, 1, 0.5, 0.5)


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
    world: Callable[..., Any], intervals: list[tuple[float, float] | None], constructed: bool, usable: bool, sentence: str
) -> None:
    cells = [beaten(f"m{number}", interval) for number, interval in enumerate(intervals)]
    found = verdict(world, *cells, constructed=constructed)
    assert (found.usable, found.sentence) == (usable, sentence)


def test_constructed_labels_are_never_called_sufficient(world: Callable[..., Any]) -> None:
    found = verdict(world, beaten("m", BETTER), constructed=True)
    assert found.sentence.endswith("That is necessary, not sufficient: the labels are constructed, not native.")


def test_a_baseline_is_called_one_whatever_its_numbers(world: Callable[..., Any]) -> None:
    found = verdict(world, beaten("m", BETTER), judge="baseline/length")
    assert found.sentence == "baseline/length is a baseline: it reads no Czech and is here to be beaten."


def test_every_language_judge_and_condition_has_a_verdict_of_its_own(make_item: MakeItem, make_data: MakeData) -> None:
    items = [make_item(tag, language=tag) for tag in ("ja", "cs")]
    data = make_data(items, {"ja": 1, "cs": 1})
    judgments = [judged(item, 1, judge=judge, temperature=t) for item in items for judge in ("b", "a") for t in (0.7, 0.0)]
    rows = join(judgments, data, data)
    found = [(v.language, v.judge, v.temperature, v.n_ref) for v in verdicts(make_cells(rows, data.scales, pool_tasks=True), rows, False)]
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


def made(data: Dataset, judgments: Sequence[Judgment]) -> Report:
    return analyse.report("run", PROTOCOL, judgments, data, data, ["en"], {"openai/one": 0})


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
def test_nan_is_never_in_a_report(world: Callable[..., Any], labels: Mapping[str, Score], answers: Answers) -> None:
    report = made(*world(labels, answers))
    assert no_float_is_undefined(msgspec.to_builtins(report))
    assert not re.search(r"\bnan\b|infinity", to_json(report), re.IGNORECASE)
    for cell in report.cells:
        for name in ("pa", "pa_ci", "pa_failed_wrong_ci"):
            assert (getattr(cell, name) is None) == (name in cell.undefined)
        assert (cell.vs_baseline["ci"] is None) == bool(cell.vs_baseline["reason"])


def test_equal_judgments_make_equal_reports(world: Callable[..., Any]) -> None:
    labels = {f"{letter}{n}": n for letter in letters(9) for n in (0, 1, 2)}
    data, judgments = world(labels, {name: int(name[1]) % 2 for name in labels})
    assert to_json(made(data, judgments)) == to_json(made(data, judgments[::-1]))


def test_a_report_is_read_back_from_its_file(world: Callable[..., Any]) -> None:
    labels = dict.fromkeys(letters(12), 2)
    text = to_json(made(*world(labels, {name: 2 if name < "d" else Failure.REFUSED for name in labels})))
    assert to_json(msgspec.json.decode(text, type=Report)) == text


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


def test_labels_that_nobody_native_gave_and_texts_that_nobody_read_are_in_the_report(world: Callable[..., Any]) -> None:
    report = made(*world({"a": 1}, {"a": 1}))
    assert report.constructed_labels and report.unreviewed == ("en",)
