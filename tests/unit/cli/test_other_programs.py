"""`harness export`: files for other programs, and what is refused."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.exchange.judges import promptfoo_judge
from tests.conftest import write_rows

Cli = Callable[..., Any]
ASSERTION = ("--judge", "openai/m", "--task", "open_prompt")


def test_a_judge_for_promptfoo(cli: Cli, tmp_path: Path) -> None:
    metrics = "linguistic_acceptability,problematic_content"
    done = cli("export", "promptfoo-judge", *ASSERTION, "--metric", metrics, "--variant", "detailed", "--to", tmp_path / "new")
    assert done.code == 0 and done.out.split() == [str(tmp_path / "new" / f"harness_judge.{end}") for end in ("py", "yaml")]
    settings = yaml.safe_load((tmp_path / "new" / "harness_judge.yaml").read_text("utf-8"))
    first, second = settings["assert"]
    assert first == {
        "type": "python",
        "metric": "linguistic_acceptability",
        "value": "file://harness_judge.py",
        "threshold": 2,
        "config": {
            **{"judge": "openai/m", "metric": "linguistic_acceptability", "task": "open_prompt"},
            **{"variant": "detailed", "language": "vars.language"},
        },
    }
    assert (second["metric"], second["threshold"]) == ("problematic_content", 1)


PROMPT = """\
metric = "kindness"
read = "regex:([01])"
[scale]
kind = "ordinal"
classes = [0, 1]
best = 1
[[message]]
role = "user"
text = "Kind, 0 or 1? {{output}}"
"""


def test_a_prompt_of_ones_own_is_found_from_any_folder(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kind.toml").write_text(PROMPT, "utf-8")
    (tmp_path / "mine" / "always_kind.py").write_text("def score(messages):\n    return '1' if 'Kind' in messages[0]['content'] else '0'\n")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    flags = ("--judge", "python:always_kind:score", "--prompt", "mine/kind.toml", "--language", "cs")
    assert cli("export", "promptfoo-judge", *flags, "--to", "new").code == 0
    [assertion] = yaml.safe_load((tmp_path / "new" / "harness_judge.yaml").read_text("utf-8"))["assert"]
    assert (assertion["metric"], assertion["threshold"], assertion["config"]["prompt"]) == ("kindness", 1, "../mine/kind.toml")
    monkeypatch.chdir("/")
    script: dict[str, Any] = {"__file__": str(tmp_path / "new" / "harness_judge.py")}
    exec((tmp_path / "new" / "harness_judge.py").read_text("utf-8"), script)
    found = script["get_assert"]("Díky!", {"config": assertion["config"], "vars": {}})
    assert (found["pass"], found["score"]) == (True, 1), found["reason"]


def test_headers_of_a_gateway_are_in_the_file_by_the_names_of_variables(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = ("--metric", "linguistic_acceptability", "--header", "X-Project=$PROJECT_KEY", "--body", "reasoning_effort=low")
    assert cli("export", "promptfoo-judge", *ASSERTION, *flags, "--to", tmp_path / "new").code == 0
    [assertion] = yaml.safe_load((tmp_path / "new" / "harness_judge.yaml").read_text("utf-8"))["assert"]
    assert assertion["config"]["headers"] == {"X-Project": "PROJECT_KEY"} and assertion["config"]["body"] == {"reasoning_effort": "low"}
    context = {"config": assertion["config"], "vars": {"language": "cs", "prompt": "Napiš."}}
    found = promptfoo_judge.get_assert("Díky!", context)
    assert found["metadata"]["graderError"] and "the environment has no variable PROJECT_KEY (for X-Project)" in found["reason"]
    monkeypatch.setenv("PROJECT_KEY", "k3y")
    options = promptfoo_judge.AssertionConfig(**assertion["config"]).judge_options(os.environ)
    assert options.headers == {"X-Project": "k3y"} and options.body == {"reasoning_effort": "low"}


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--judge", "openai/m"), "name the metrics with --metric, or a prompt of your own with --prompt"),
        (("--judge", "openai/m", "--metric", "likability", "--prompt", "p.toml"), "name the metrics with --metric, or"),
        (("--judge", "baseline/majority", "--metric", "likability"), "learns from the labels of a run, which promptfoo does not have"),
        (("--judge", "mine/m", "--metric", "likability"), "no judge kind 'mine'"),
        (("--judge", "openai/m", "--metric", "likable"), "Did you mean 'likability'?"),
        (("--judge", "openai/m", "--metric", "likability", "--base-url", "no"), "base URL 'no' is not a web address"),
        (("--judge", "openai/m", "--metric", "likability", "--header", "X-Key=k3y"), "the file would hold its value; name the environment"),
        (("--judge", "openai/m", "--metric", "likability", "--header", "a b=$KEY"), "--header cannot set 'a b'"),
        (("--judge", "openai/m", "--metric", "likability", "--body", "temperature=1"), "--body cannot set 'temperature'"),
    ],
)
def test_a_judge_that_cannot_be_asked_writes_nothing(cli: Cli, tmp_path: Path, flags: tuple[str, ...], sentence: str) -> None:
    refused = cli("export", "promptfoo-judge", *flags, "--to", tmp_path / "new")
    assert refused.code == 2 and sentence in refused.err and not (tmp_path / "new").exists()


def test_files_of_promptfoo_are_never_overwritten(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "harness_judge.yaml").write_text("mine", "utf-8")
    refused = cli("export", "promptfoo-judge", *ASSERTION, "--metric", "linguistic_acceptability", "--to", tmp_path)
    assert refused.code == 2 and "harness_judge.yaml exists; remove it" in refused.err
    assert [path.name for path in tmp_path.iterdir()] == ["harness_judge.yaml"]


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    folder = tmp_path / "judged"
    folder.mkdir()
    write_rows(folder / "items.jsonl", [{"item_id": item, "language": "cs", "task": "t", "output": "x"} for item in ("a", "b")])
    write_rows(folder / "labels.jsonl", [{"item_id": "a", "annotator_id": "1", "metric": "Fluency", "score": 3}])
    scores = [("a", "m", 3, 0), ("a", "m", 1, 1), ("b", "m", None, 0), ("a", "n", 5, 0)]
    rows = [{"item_id": i, "judge": j, "metric": "Fluency", "score": s, "repeat": r, "temperature": 0.5} for i, j, s, r in scores]
    write_rows(folder / "judgments.jsonl", rows)
    return folder


def test_scores_for_inspect(cli: Cli, judged: Path, tmp_path: Path) -> None:
    done = cli("export", "inspect-scores", judged, "--judge", "m", "--to", tmp_path / "scores.jsonl")
    assert done.code == 0 and done.err == "3 scores written\n"
    records = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text("utf-8").splitlines()]
    assert [(r["id"], r["epoch"]) for r in records] == [("a", 1), ("a", 2), ("b", 1)]
    assert [r["value"] for r in records[:2]] == [3, 1] and math.isnan(records[2]["value"])
    assert records[2]["metadata"]["unscored_reason"] == "grader_failed" and records[2]["metadata"]["harness"]["failure"] == "missing"
    about = records[0]["metadata"]["harness"]
    assert about["signature"].startswith("data:judged@")
    assert (about["task"], about["language"], about["texts"], about["temperature"]) == ("t", "cs", {"output": "x"}, 0.5)


def test_scores_in_an_inspect_log_come_back_with_their_task(cli: Cli, judged: Path, tmp_path: Path) -> None:
    """As Inspect keeps precomputed scores: the metadata of each stand with its sample's score."""
    assert cli("export", "inspect-scores", judged, "--judge", "m", "--to", tmp_path / "scores.jsonl").code == 0
    samples = []
    for line in (tmp_path / "scores.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        score = {"value": record["value"], "metadata": record["metadata"], "history": []}
        sample = {"id": record["id"], "epoch": record["epoch"], "input": "?", "target": "", "output": {"model": "other", "completion": "x"}}
        samples.append(sample | {"metadata": {}, "scores": {"precomputed_scores": score}})
    log = {"version": 2, "status": "success", "eval": {"model": "other", "task": "theirs"}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log), "utf-8")
    flags = ("--language", "cs", "--scale", "Fluency=1,2,3,4,5:best=5", "--to", tmp_path / "back")
    done = cli("import", tmp_path / "log.json", *flags)
    assert done.code == 0, done.err
    [a, b] = [json.loads(line) for line in (tmp_path / "back" / "items.jsonl").read_text("utf-8").splitlines()]
    assert (a["task"], a["output"], b["task"]) == ("t", "x", "t")
    judgments = [json.loads(line) for line in (tmp_path / "back" / "judgments.jsonl").read_text("utf-8").splitlines()]
    assert [(row["item_id"], row["judge"], row.get("score"), row.get("temperature")) for row in judgments] == [
        ("a", "m", 3, 0.5),
        ("a", "m", 1, 0.5),
        ("b", "m", None, 0.5),
    ]


def test_one_score_a_sample_has_to_be_chosen(cli: Cli, judged: Path, tmp_path: Path) -> None:
    def refused(*flags: str | Path, to: str = "scores.jsonl") -> str:
        done = cli("export", "inspect-scores", judged, *flags, "--to", tmp_path / to)
        assert done.code == 2 and not (tmp_path / to).exists()
        return str(done.err)

    assert "several judges; choose one with --judge: m, n" in refused()
    assert "no judgment with judge 'o'; there are: m, n" in refused("--judge", "o")
    assert "no judgment with temperature '0.0'; there are: 0.5" in refused("--judge", "m", "--temperature", "0")
    assert "a file whose name ends in .jsonl" in refused(to="scores.json")
