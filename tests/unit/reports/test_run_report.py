"""A run's report: cells, summaries and verdicts; deterministic and without NaN."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from harness.data import Dataset
from harness.data.judgments import Judgments
from harness.measure import compare
from harness.model import Failure, Item, Judgment, Score
from harness.reports import run_report
from harness.reports.run_report import AboutRun, Report
from harness.row_files import to_json
from harness.runs import RunAnswers
from tests.protocols import PROTOCOL
from tests.unit.made_judgments import letters
from tests.unit.recordings import World

MakeItem = Callable[..., Item]
MakeData = Callable[..., Dataset]
Judged = Callable[..., Judgment]
Answers = Mapping[str, Score | Failure]

JUDGE = "openai/one"


def made(data: Dataset, judgments: Judgments | Sequence[Judgment]) -> Report:
    columns = judgments if isinstance(judgments, Judgments) else Judgments.from_rows(judgments)
    return run_report.report("run", PROTOCOL, columns, data, data, AboutRun(RunAnswers(missing={"openai/one": 0}), unreviewed=["en"]))


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
    assert len(report.cells) == len(report.by_metric) == len(report.summaries) == len(report.verdicts) == bool(answers)
    for cell in report.cells:
        for name in ("pa", "pa_failed_wrong"):
            assert (cell[name] is None) == (name in cell.undefined)
            assert (cell[f"{name}_ci"] is None) == bool({name, f"{name}_ci"} & set(cell.undefined))
        assert (cell.vs_baseline["ci"] is None) == bool(cell.vs_baseline["reason"])


def test_equal_judgments_make_equal_reports(world: World) -> None:
    labels = {f"{letter}{n}": n for letter in letters(9) for n in (0, 1, 2)}
    data, judgments = world(labels, {name: int(name[1]) % 2 for name in labels})
    both = [made(data, rows) for rows in (judgments, judgments.take(np.arange(len(judgments))[::-1]))]
    one, other = (re.sub(r"judgments:\w+", "", to_json(report.as_json())) for report in both)  # the hash is of the rows in their order
    assert one == other


def test_cells_are_by_task_and_pooled_over_tasks(make_item: MakeItem, make_data: MakeData, judged: Judged) -> None:
    items = [make_item(task, task=task) for task in ("summarize", "open_prompt")]
    report = made(make_data(items, {"summarize": 1, "open_prompt": 1}), [judged(item.item_id, 1) for item in items])
    assert [cell["task"] for cell in report.cells] == ["open_prompt", "summarize"]
    assert [(cell["task"], cell.n_ref) for cell in report.by_metric] == [("*", 2)]
    assert report.ci_method == compare.CI_METHOD


@pytest.mark.parametrize("majority", ["drop", "median", "strict"])
@pytest.mark.parametrize("annotators", ["", "3", "1+"])
def test_ablations_and_cells_of_a_report_follow_one_rule(
    make_item: MakeItem, make_data: MakeData, judged: Judged, majority: Any, annotators: str
) -> None:
    labels = {f"i{n}": [n % 3, (n // 3) % 3, (n // 9) % 3][: n % 4 or 2] for n in range(40)}
    data = make_data([make_item(name) for name in labels], labels)
    judgments = Judgments.from_rows(
        [judged(name, (n + v) % 3, variant=v_) for n, name in enumerate(labels) for v, v_ in enumerate(("single", "joint"))]
    )
    protocol = PROTOCOL.with_fields(majority=majority, annotators=annotators)
    report = run_report.report("run", protocol, judgments, data, data)
    rows = {row["variant"]: row for row in report.ablations["variants"]["rows"] if row["task"] != "*"}
    assert len(rows) == len(report.cells) == 2
    for cell in report.cells:
        row = rows[cell["variant"]]
        assert (row["n_ref"], row["pa"]) == (cell.n_ref, pytest.approx(cell["pa"]))


def test_a_report_as_json_has_flat_cells_and_says_who_answered(world: World) -> None:
    data, judgments = world({"a": 1}, {"a": 1})
    answers = RunAnswers(answered_by={"openai/one": {"one-2025-01-01": 3, "": 1}, "local/two": {"x": 1}})
    report = run_report.report("run", PROTOCOL, judgments, data, data, AboutRun(answers))
    json = report.as_json()
    assert json["cells"][0]["pa"] == 1 and json["cells"][0]["language"] == "en" and json["schema_version"] == 3
    assert report.moved_aliases == {"openai/one": ["one-2025-01-01"]}


def test_every_language_judge_and_condition_has_verdicts_of_its_own(make_item: MakeItem, make_data: MakeData, judged: Judged) -> None:
    data = make_data([make_item(tag, language=tag) for tag in ("ja", "cs")], {"ja": 1, "cs": 1})
    judgments = [judged(tag, 1, judge=judge, temperature=t) for tag in ("ja", "cs") for judge in ("b", "a") for t in (0.7, 0.0)]
    report = made(data, judgments)
    found = [(v.language, v.judge, v.temperature, v.n_ref) for v in report.summaries]
    assert found == [(v["language"], v["judge"], v["temperature"], 1) for v in report.verdicts]
    assert found == [(tag, judge, t, 1) for tag in ("cs", "ja") for judge in ("a", "b") for t in (0.0, 0.7)]


def test_labels_that_nobody_native_gave_and_texts_that_nobody_read_are_in_the_report(world: World) -> None:
    report = made(*world({"a": 1}, {"a": 1}))
    assert report.constructed_labels and report.unreviewed == ("en",)
