"""A run's report is computed once, and again only when something that it depends on has changed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

import harness
from harness import api
from harness.annotate.labelling_options import LabelCheckOptions
from harness.decide.options import CompareOptions, DecisionOptions
from harness.reports.run_report import Report
from harness.row_files import to_json, to_jsonl

ITEMS = [
    {"item_id": f"i{n}", "language": "en", "task": "open_prompt", "prompt": "Say.", "output": f"This is text {n}.", "group": f"g{n}"}
    for n in range(12)
]
LABELS: list[dict[str, Any]] = [
    {"item_id": f"i{n}", "annotator_id": who, "metric": "task_quality", "score": (n + shift) % 3}
    for n in range(12)
    for who, shift in (("x", 0), ("y", n % 2), ("z", 0))
]


class Folder:
    """A data folder and its run by a random judge; `computed` counts the reports that were not read from the run's folder."""

    def __init__(self, root: Path) -> None:
        self.root, self.computed = root, 0
        self.label(LABELS)
        (root / "data" / "items.jsonl").write_bytes(to_jsonl(ITEMS))

    def label(self, rows: list[dict[str, Any]]) -> None:
        (self.root / "data").mkdir(exist_ok=True)
        (self.root / "data" / "labels.jsonl").write_bytes(to_jsonl(rows))

    def run(self, **fields: Any) -> harness.RunResult:
        spec = harness.RunSpec(data=self.root / "data", judges=("baseline/random",), **fields)
        result: harness.RunResult = harness.run(spec, self.root / "out")
        return result


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    made = Folder(tmp_path)
    compute = api._compute_report

    def count(result: harness.RunResult, decision: DecisionOptions) -> Report:
        made.computed += 1
        return compute(result, decision)

    monkeypatch.setattr(api, "_compute_report", count)
    return made


@pytest.mark.parametrize("fields", [{}, {"temperatures": (0.0, 1.0), "variants": ("single", "detailed"), "perturbations": ("truncate",)}])
def test_a_report_that_is_read_again_is_the_one_that_was_computed(folder: Folder, fields: dict[str, Any]) -> None:
    first, second = (api.report(folder.run(**fields)) for _ in range(2))
    assert folder.computed == 1
    assert to_json(first.as_json()) == to_json(second.as_json())


def test_other_labels_make_another_report(folder: Folder) -> None:
    api.report(folder.run())
    folder.label([row | {"score": 2 - row["score"]} for row in LABELS])
    api.report(folder.run())
    assert folder.computed == 2


def test_other_code_makes_another_report(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    api.report(folder.run())
    monkeypatch.setattr(api, "_code_hash", lambda: "changed")
    api.report(folder.run())
    assert folder.computed == 2


def test_a_kept_report_that_somebody_changed_is_computed_again(folder: Folder) -> None:
    result = folder.run()
    first = api.report(result)
    path = result.derived / "answers.json"
    note = msgspec.json.decode(path.read_bytes())
    note["report"]["report"]["title"] = "changed"
    path.write_bytes(msgspec.json.encode(note))
    assert api.report(folder.run()).title == first.title
    assert folder.computed == 2


def test_a_report_needs_no_folder(folder: Folder) -> None:
    result = folder.run()
    shutil.rmtree(result.folder)
    assert api.report(result).run == result.name


def test_what_holds_much_is_shown_short(folder: Folder) -> None:
    """The last line of a notebook cell prints a summary, not every text and number."""
    result = folder.run()
    data = harness.load(folder.root / "data")
    compared = api.compare(result)
    policy = folder.root / "gate.toml"
    policy.write_text("[[rule]]\nat_least = 0.1\n", "utf-8")
    held = [data, data.labels, result, result.judgments, result.prepared, compared, api.report(result), api.labels_check(data)]
    shown = [repr(each) for each in (*held, api.check_gate(result, policy))]
    assert [text for text in shown if len(text) > 200 or "object at" in text] == []
    assert shown[0] == f"<Dataset {data.id!r}: 12 items, 36 labels, 1 metrics>"


def test_one_name_may_stand_for_a_list_of_names(folder: Folder) -> None:
    """A text is one name, not its letters: in `by`, `judges` and `where`, and in a run's specification."""
    result = folder.run(languages="en", variants="single", metrics="task_quality")
    assert result.protocol.texts.languages == ("en",) and result.name == folder.run(languages=("en",)).name
    single: dict[str, Any] = {"by": "language", "judges": "baseline/random", "where": {"language": "en"}}
    several: dict[str, Any] = {"by": ["language"], "judges": ["baseline/random"], "where": {"language": ["en"]}}
    one = api.compare(result, CompareOptions(**single))
    assert one.signature == api.compare(result, CompareOptions(**several)).signature
    assert [cell["language"] for cell in one.cells] == ["en"]
    checked = api.labels_check(folder.root / "data", LabelCheckOptions(by=("metric",), where={"metric": ("task_quality",)}))
    assert [cell["metric"] for cell in checked.cells] == ["task_quality"]
    assert harness.RunSpec(data=str(folder.root), judges="a").judges == ("a",)  # type: ignore[arg-type]
    assert harness.GenerateSpec(task="summarize", writers="openai/m").writers == ("openai/m",)  # type: ignore[arg-type]
