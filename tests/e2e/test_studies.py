"""Studies by the command: altered texts, and what `--study chiang-lee` asks and shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]


@pytest.fixture
def altered(cli: Cli, tmp_path: Path) -> Path:
    folder = tmp_path / "altered"
    assert cli("study", "alter-texts", "--langs", "cs,ja", "--limit", "2", "--out", folder).code == 0
    return folder


def test_altered_texts_stand_beside_their_original(altered: Path) -> None:
    rows = [json.loads(line) for line in (altered / "items.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 12 and {row["language"] for row in rows} == {"cs", "ja"}
    for row in rows:
        assert (row["output"] == row["original"]) == (row["system"] == "identical")


def test_the_study_asks_as_published_and_shows_each_question_its_texts(cli: Cli, endpoint: Any, altered: Path, tmp_path: Path) -> None:
    endpoint.script = lambda request: endpoint.saying("4. It reads well.", model=request.body["model"])
    asked = ("run", "--study", "chiang-lee", "--data", altered, "--langs", "cs", "--limit", "2", "--yes")
    done = cli(*asked, "--judge", "openai/m-1", "--base-url", endpoint.url, "--out", tmp_path / "results", "--json")
    assert done.code == 0, done.err
    bodies = [request.body for request in endpoint.requests]
    # 2 texts, 2 metrics, 3 samples; 4 temperatures, and two instructions at the first of them
    assert len(bodies) == 2 * 2 * 3 * (4 + 2)
    assert {body["top_p"] for body in bodies} == {0.9} and {body["temperature"] for body in bodies} == {1.0, 0.7, 0.3, 0.0}
    questions = [body["messages"][-1]["content"] for body in bodies]
    fluency = [text for text in questions if "Fluency of the text" in text]
    assert len(fluency) == len(questions) / 2 and not any("Original text" in text for text in fluency)
    assert all("Original text" in text for text in questions if text not in fluency)
    section = json.loads(done.out)["ablations"]["chiang_lee"]
    assert {row["exact"] for row in section["rows"]} == {1.0} and {row["mean"] for row in section["systems"]} == {4.0}
    assert {(row["variant"], row["temperature"]) for row in section["rows"]} == {
        *(("single+text", t) for t in (1.0, 0.7, 0.3, 0.0)),
        *((f"single+text+{word}", 1.0) for word in ("persona", "explain")),
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run", "--study", "chiang-lee"), "needs stories or altered texts"),
        (("run", "--study", "chiang-le", "--data", "."), "no study 'chiang-le'"),
        (("study", "alter-texts", "--perturb", "nothing", "--out", "x"), "nothing"),
    ],
)
def test_what_a_study_lacks_is_named(cli: Cli, arguments: tuple[str, ...], sentence: str) -> None:
    done = cli(*arguments)
    assert done.code == 2 and sentence in done.err


@pytest.mark.slow  # 126,720 recorded scores are read
@pytest.mark.needs("shared data")
def test_means_by_system_are_those_that_hanna_publishes(cli: Cli, shared_data: Path) -> None:
    folder = shared_data / "hanna"
    done = cli("study", "chiang-lee", "--data", folder, "--judge", "beluga-13b", "--variant", "prompt1-simple", "--json")
    assert done.code == 0, done.err
    published = json.loads((folder / "expected.json").read_text("utf-8"))["system_means_people"]
    found = {(row["system"], row["metric"]): row["people_mean"] for row in json.loads(done.out)["systems"]}
    assert {key: round(value, 2) for key, value in found.items()} == {
        (system, metric): mean for system, by_metric in published.items() for metric, mean in by_metric.items()
    }
