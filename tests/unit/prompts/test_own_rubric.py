"""A rubric of the user's own: its words stand in the prompt in place of the usual ones, and a run can be read again without its file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.content.library import bundled_root
from harness.errors import ContentError, UsageError
from harness.model import parse_variant
from harness.prompts import load_own_rubric, with_rubric
from harness.runs import RunSpec, open_judges, planned_calls, prepare, reopen
from tests.conftest import write_rows

METRICS = ("task_quality", "output_content_quality")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six Czech texts with labels on two metrics."""
    found = tmp_path / "own"
    rows = [{"item_id": f"i{n}", "language": "cs", "task": "open_prompt", "prompt": "Popiš les.", "output": f"Text {n}."} for n in range(6)]
    labels = [{"item_id": row["item_id"], "annotator_id": "a", "metric": name, "score": 1} for row in rows for name in METRICS]
    write_rows(found / "items.jsonl", rows)
    write_rows(found / "labels.jsonl", labels)
    return found


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    """The rubric of task quality with other words."""
    usual = (bundled_root() / "rubrics" / "task_quality.toml").read_text("utf-8")
    words = usual.partition('instruction = """')[2].partition('"""')[0]
    path = tmp_path / "clearer.toml"
    path.write_text(usual.replace(words, "Count what the request asks for.", 1), encoding="utf-8")
    return path


def _prompts(spec: RunSpec) -> list[str]:
    prepared = prepare(spec)
    [calls] = planned_calls(prepared, open_judges(spec, prepared)).values()
    return ["\n".join(message.content for message in call.prompt.messages) for call in calls]


def test_its_words_stand_in_the_prompt_and_only_its_metric_is_asked(folder: Path, rubric: Path) -> None:
    shown = _prompts(RunSpec(data=folder, judges=("openai/one",), base_url="http://127.0.0.1:9/v1", rubrics=(rubric,)))
    assert len(shown) == 6 and all("Count what the request asks for." in text for text in shown)
    usual = _prompts(RunSpec(data=folder, judges=("openai/one",), base_url="http://127.0.0.1:9/v1"))
    assert len(usual) == 12 and not any("Count what" in text for text in usual)


def test_each_variant_is_asked_with_it(folder: Path, rubric: Path) -> None:
    name = load_own_rubric(rubric)[0]
    protocol = prepare(RunSpec(data=folder, variants=("single", "detailed"), rubrics=(rubric,))).protocol
    assert [str(each.variant) for each in protocol.questions.conditions] == [f"single+rubric:{name}", f"single+detailed+rubric:{name}"]
    assert protocol.questions.metrics == ("task_quality",) and protocol.questions.own_rubrics[name].id == "task_quality"
    assert str(parse_variant(str(protocol.questions.conditions[1].variant))) == str(protocol.questions.conditions[1].variant)


def test_a_run_is_read_again_without_the_file(folder: Path, rubric: Path, tmp_path: Path) -> None:
    made = harness.run(RunSpec(data=folder, judges=("baseline/constant-best",), rubrics=(rubric,)), tmp_path / "results")
    rubric.unlink()
    again = reopen(made.name, tmp_path / "results")
    assert len(again.judgments) == len(made.judgments) == 6


@pytest.mark.parametrize(
    ("old", "new", "error", "words"),
    [
        ('id = "task_quality"', 'id = "colour"', UsageError, "is about the metric 'colour', which is not asked"),
        ("classes = [0, 1, 2]", "classes = [0, 1, 2, 3]", UsageError, "but 'task_quality' has"),
        ("[scale]", "[scalee]", ContentError, "clearer.toml"),
    ],
)
def test_a_rubric_that_does_not_fit_is_refused(folder: Path, rubric: Path, old: str, new: str, error: type[Exception], words: str) -> None:
    text = rubric.read_text("utf-8")
    assert old in text
    rubric.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(error, match=words):
        prepare(RunSpec(data=folder, rubrics=(rubric,)))


@pytest.mark.parametrize("setting", ["joint", "own-language"])
def test_a_variant_that_cannot_show_it_is_refused(rubric: Path, setting: str) -> None:
    with pytest.raises(UsageError, match="a rubric of your own is about one metric"):
        with_rubric(setting, load_own_rubric(rubric)[0])


def test_the_command_takes_it(cli: Callable[..., Any], folder: Path, rubric: Path) -> None:
    shown = cli(
        "run", "--data", folder, "--judge", "openai/one", "--base-url", "http://127.0.0.1:9/v1", "--rubric", rubric, "--dry-run", "--json"
    )
    assert shown.code == 0, shown.err
    assert json.loads(shown.out)["judges"][0]["calls"] == 6
