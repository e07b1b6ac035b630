"""Paths of people who never saw the program: what they type, in order, and that each command leads to the next one.

The engineer with a spreadsheet is in tests/golden/test_start_page.py, the author of a judge in test_checkouts.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import write_rows

Cli = Callable[..., Any]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def typed(cli: Cli) -> Callable[[str], Any]:
    """Runs a command line that has to end well."""

    def run(line: str) -> Any:
        done = cli(*line.split())
        assert done.code == 0, f"harness {line}\n{done.out}{done.err}"
        return done

    return run


def letters(folder: Path, metric: str) -> None:
    """120 Czech letters: two people and a judge scored each with 0, 1 or 2; the judge and the second person slip now and then."""
    items, labels, judgments = [], [], []
    for n in range(120):
        items.append({"item_id": f"i{n}", "language": "cs", "task": "letter", "input": f"Dopis {n}", "output": f"Milý Petře, {n}."})
        for who, score in (("ann", n % 3), ("eva", (n + (n % 7 == 0)) % 3)):
            labels.append({"item_id": f"i{n}", "annotator_id": who, "metric": metric, "score": score, "source": "people"})
        judgments.append({"item_id": f"i{n}", "judge": "theirs", "metric": metric, "score": (n + (n % 8 == 0)) % 3})
    for name, rows in {"items": items, "labels": labels, "judgments": judgments}.items():
        write_rows(folder / f"{name}.jsonl", rows)
    (folder / "data.toml").write_text(
        f'id = "{folder.name}"\nannotators = "persistent"\n\n[metrics.{metric}]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n', "utf-8"
    )


def test_a_researcher_goes_from_recorded_scores_to_a_table_for_the_paper(typed: Callable[[str], Any], own_folder: Path) -> None:
    letters(own_folder / "mine", "tone")
    assert "agree" in typed("labels check mine").out
    told = typed("compare mine")
    assert "theirs" in told.out and "--full" in told.out
    assert "\\begin{tabular}" in typed("compare mine --latex").out
    assert "signature" in typed("compare mine --full").out.lower()
    [needed] = json.loads(typed("labels needed mine --json").out)["cells"]
    assert needed["verdict"] == "use" and needed["reasons"]["more_for_verdict"] == "use is shown"


def test_a_contributor_adds_a_metric_and_a_language(typed: Callable[[str], Any], cli: Cli, own_folder: Path) -> None:
    assert "add 'tone' to 'metrics' of a tasks/<task>/task.toml" in typed("new rubric tone").err
    written = [Path(line) for line in typed("new task letter").out.splitlines()]
    refused = cli("check", "--content", ".")
    assert refused.code == 1 and "no task lists 'tone'" in refused.out and "a placeholder was not replaced" in refused.out
    for path in (*written, Path("rubrics/tone.toml"), Path("rubrics/CARD.md")):
        text = path.read_text("utf-8").replace("(to be written)", "").replace('  "hallucination",', '  "hallucination",\n  "tone",')
        path.write_text(text, "utf-8")
    typed("new language ko")
    assert "all content is in order" in typed("check --content .").err
    letters(own_folder / "data", "tone")
    told = typed("run --content . --data data --metrics tone --judge baseline/random")
    assert "tone" in told.out


def test_a_team_lead_asks_what_is_known_and_holds_runs_to_it(typed: Callable[[str], Any], cli: Cli, own_folder: Path) -> None:
    known = typed("atlas --lang cs").out
    assert re.search(r"^Next: .*harness run --board people --langs cs", known, re.MULTILINE)
    letters(own_folder / "mine", "tone")
    typed("compare mine")
    assert typed("new gate mine").out.strip() == "gate.toml"
    assert "tone" in typed("gate mine --policy gate.toml").out
    worse = [json.loads(line) | {"score": 0} for line in (own_folder / "mine/judgments.jsonl").read_text("utf-8").splitlines()]
    write_rows(own_folder / "mine" / "judgments.jsonl", worse)
    failed = cli("gate", "mine", "--policy", "gate.toml")
    assert failed.code == 1 and "fail" in failed.out
