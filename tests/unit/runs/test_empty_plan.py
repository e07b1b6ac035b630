"""What a run over one's own metric asks, and what a plan without a call says: the reason and the next step, with exit code 2."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROMPT = 'metric = "kindness"\nread = "regex:([01])"\n[[message]]\nrole = "user"\ntext = "Kind? {{output}}"\n'
SCALES = '[metrics.kindness]\nkind = "ordinal"\nclasses = [0, 1]\nbest = 1\n'
RUBRIC = Path(__file__).parents[3] / "rubrics" / "task_quality.toml"


@pytest.fixture
def ask(cli: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """`harness run` over a folder of two Czech texts, the first labelled on the metrics given; `task` is that of the items."""

    def run(*arguments: str | Path, labels: tuple[str, ...] = (), task: str = "open_prompt") -> Any:
        data = tmp_path / "data"
        data.mkdir(exist_ok=True)
        items = [{"item_id": f"i{n}", "language": "cs", "task": task, "prompt": "Popiš les.", "output": "12345."} for n in range(2)]
        rows = [{"item_id": "i1", "annotator_id": "a", "metric": metric, "score": 1} for metric in labels]
        for file, found in (("items.jsonl", items), ("labels.jsonl", rows)):
            (data / file).write_text("".join(json.dumps(row) + "\n" for row in found), "utf-8")
        (data / "data.toml").write_text(f'id = "own"\nversion = "1.0.0"\ntitle = "Own"\n{SCALES}')
        (tmp_path / "kind.toml").write_text(PROMPT)
        return cli("run", "--data", data, "--judge", "baseline/random", "--out", tmp_path / "results", *arguments)

    return run


@pytest.mark.parametrize("labels", [(), ("kindness",)])
@pytest.mark.parametrize("task", ["open_prompt", "theirs"])
def test_a_prompt_of_ones_own_asks_about_every_item(ask: Callable[..., Any], tmp_path: Path, labels: tuple[str, ...], task: str) -> None:
    flags = ("--unlabelled", "--prompt", tmp_path / "kind.toml")
    planned = ask(*flags, "--dry-run", "--json", labels=labels, task=task)
    assert planned.code == 0, planned.err
    assert json.loads(planned.out)["judges"][0]["calls"] == 2
    assert ask(*flags, labels=labels, task=task).code == 0


def test_a_rubric_of_ones_own_asks_about_every_item_once_people_have_labelled_one(ask: Callable[..., Any], tmp_path: Path) -> None:
    rubrics = tmp_path / "content" / "rubrics"
    rubrics.mkdir(parents=True)
    (rubrics / "kindness.toml").write_text(RUBRIC.read_text("utf-8").replace("task_quality", "kindness"), "utf-8")
    (tmp_path / "content" / "README").write_text("")
    flags = ("--unlabelled", "--content", tmp_path / "content", "--metrics", "kindness", "--dry-run", "--json")
    planned = ask(*flags, labels=("kindness",))
    if planned.code == 0:
        assert json.loads(planned.out)["judges"][0]["calls"] == 2
    else:
        pytest.fail(planned.err)


@pytest.mark.parametrize("dry", [(), ("--dry-run",), ("--dry-run", "--json")])
@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--limit", "1"), "none of the 1 items has a label on task_quality. --unlabelled asks about items without labels too"),
        (("--variant", "in:ja", "--allow-unreviewed"), "names a language that no item has (cs); choose another --variant or --langs"),
    ],
)
def test_a_plan_without_a_call_says_why(ask: Callable[..., Any], tmp_path: Path, flags: Any, says: str, dry: Any) -> None:
    done = ask(*flags, *dry, labels=("task_quality",))
    assert done.code == 2 and "there is nothing to ask: " in done.err and says in done.err and "Traceback" not in done.err, done.err
    assert not list((tmp_path / "results").glob("runs/*"))


@pytest.mark.parametrize("flags", [(), ("--unlabelled",), ("--unlabelled", "--dry-run")])
def test_a_metric_that_nothing_words_names_flags_that_ask(ask: Callable[..., Any], tmp_path: Path, flags: Any) -> None:
    done = ask(*flags, labels=("kindness",))
    assert done.code == 2 and "has labels on kindness, and no rubric words the question" in done.err
    [advised] = re.findall(r"--unlabelled --metrics \S+", done.err)
    assert ask(*advised.split(), "--dry-run", labels=("kindness",)).code == 0
    assert ask("--unlabelled", "--prompt", tmp_path / "kind.toml", "--dry-run", labels=("kindness",)).code == 0
    assert "has no labels; --unlabelled asks without labels" in ask().err
