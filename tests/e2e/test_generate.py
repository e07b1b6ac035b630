"""`harness generate`: models write outputs, which become a data folder that can be judged and paired."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.content import Library
from harness.data import load_folder
from tests.conftest import write_rows

Cli = Callable[..., Any]
WRITERS = """
version = "1"
def lead(item):
    return "Here is the summary: " + item["passage"].partition("\\n")[0]
def list_of_points(item):
    return "- " + item["passage"].split("\\n")[0]
def silent(item):
    return ""
def refusing(item):
    return "I'm sorry, but I can't help with that."
"""
SMALL = ("generate", "--task", "summarize", "--langs", "cs,ja", "--limit", "2")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return tmp_path / "written"


@pytest.fixture
def writers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "little_writers.py").write_text(WRITERS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "items.jsonl").read_text("utf-8").splitlines()]


def by(*names: str) -> list[str]:
    return [flag for name in names for flag in ("--by", f"python:little_writers:{name}")]


@pytest.mark.usefixtures("writers")
def test_a_notebook_writes_the_same_folder_as_the_command(cli: Cli, written: Path, tmp_path: Path) -> None:
    spec = harness.GenerateSpec(task="summarize", writers=("python:little_writers:lead",), languages=("cs", "ja"), limit=2)
    made = harness.generate(spec, tmp_path / "notebook")
    assert (made.rows, [(one.language, one.texts, one.removed) for one in made.summaries]) == (
        4,
        [(tag, 2, {"lead-in": 2}) for tag in ("cs", "ja")],
    )
    assert cli(*SMALL, *by("lead"), "--out", written).code == 0
    assert rows_of(made.folder) == rows_of(written)
    with pytest.raises(harness.HarnessError, match="gives scores and writes no texts"):
        harness.generate(harness.GenerateSpec(task="summarize", writers=("baseline/length",)), tmp_path / "other")


@pytest.mark.usefixtures("writers")
def test_functions_write_a_folder_that_pairs_and_run_read(cli: Cli, written: Path, tmp_path: Path) -> None:
    done = cli(*SMALL, *by("lead", "list_of_points", "silent", "refusing"), "--out", written)
    assert done.code == 0, done.err
    assert "python/little_writers:lead, cs: 2 texts; removed: lead-in 2 times" in done.out
    assert "silent, ja: 0 texts; 2 missing" in done.out and "refusing, cs: 0 texts; 2 refused" in done.out
    rows = rows_of(written)
    assert len(rows) == 8 and {row["language"] for row in rows} == {"cs", "ja"}
    first = rows[0]
    assert first["raw_output"] == f"Here is the summary: {first['output']}" and first["written"]["removed"] == ["lead-in"]
    assert first["written"]["temperature"] == 0 and first["written"]["request"] == "summarize@1.0.0"
    note = json.loads((written / "writing.json").read_text("utf-8"))
    assert {(one["system"][-6:], one["texts"]) for one in note["written"]} >= {("s:lead", 2), ("silent", 0)}

    made = cli("pairs", written, "--out", tmp_path / "pairs")
    assert made.code == 0 and "4 pairs, 2 in cs, 2 in ja" in made.out, made.err
    assert "4 of them have the same text twice" in made.out  # both take the first line
    ran = cli("run", "--data", written, "--unlabelled", "--judge", "baseline/random", "--out", tmp_path / "results", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["constructed_labels"] is False  # there are none


@pytest.mark.usefixtures("writers")
def test_a_folder_grows_with_further_writers_and_refuses_other_data(cli: Cli, written: Path, tmp_path: Path) -> None:
    assert cli(*SMALL, *by("lead"), "--out", written).code == 0
    done = cli(*SMALL, *by("list_of_points"), "--out", written)
    assert done.code == 0 and "8 texts; 4 are from earlier commands" in done.out
    assert len(load_folder(written, Library()).items) == 8
    write_rows(tmp_path / "mine" / "items.jsonl", [])
    assert "holds other data" in cli(*SMALL, *by("lead"), "--out", tmp_path / "mine").err


def test_an_endpoint_writes_once_and_answers_are_resumed(cli: Cli, endpoint: Any, written: Path) -> None:
    endpoint.script = lambda request: endpoint.saying("A library opens.", model=request.body["model"])
    again = (*SMALL, "--by", "openai/writer-1", "--base-url", endpoint.url, "--temperature", "0.7", "--out", written)
    limited = cli(*again, "--max-calls", "3")
    assert limited.code == 6 and "calls without an answer: 1" in limited.err and "cs: 2 texts" in limited.out
    assert cli(*again).code == 0 and len(endpoint.requests) == 4
    assert cli(*again).code == 0 and len(endpoint.requests) == 4, "a finished folder asks nobody"
    bodies = [request.body for request in endpoint.requests]
    assert all(body["temperature"] == 0.7 and "response_format" not in body for body in bodies)
    texts = [body["messages"][1]["content"] for body in bodies]  # requests arrive in any order
    assert all('"""' in text for text in texts) and sum("Write in Czech." in text for text in texts) == 2
    assert len(rows_of(written)) == 4


@pytest.mark.usefixtures("writers")
def test_outputs_and_labels_of_the_data_stay_beside_the_new_ones(cli: Cli, written: Path, tmp_path: Path) -> None:
    items = [
        {"item_id": f"d{n}-{system}", "language": "en", "task": "summarize", "doc": f"d{n}", "system": system}
        | {"passage": f"Passage {n} is here.", "output": f"{system} says {n}."}
        for n in range(3)
        for system in ("ann", "bob")
    ]
    write_rows(tmp_path / "mine" / "items.jsonl", items)
    labels = [{"item_id": row["item_id"], "annotator_id": "p1", "metric": "task_quality", "score": 2} for row in items]
    write_rows(tmp_path / "mine" / "labels.jsonl", labels)
    (tmp_path / "mine" / "data.toml").write_text('id = "mine"\ngroup = "doc"\nannotators = "persistent"\n', "utf-8")
    done = cli("generate", "--task", "summarize", *by("lead"), "--data", tmp_path / "mine", "--limit", "2", "--out", written)
    assert done.code == 0 and "6 texts; 4 of them are outputs of the data" in done.out, done.err
    loaded = load_folder(written, Library())
    assert len(loaded.labels) == 4 and {item.group for item in loaded.items} == {"d0", "d1"}
    assert cli("pairs", written, "--equal", "task_quality:0", "--out", tmp_path / "pairs").out.startswith(f"{tmp_path / 'pairs'}: 2 pairs")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--task", "compare_summaries", "--by", "openai/x"), "no request to write for the task 'compare_summaries'"),
        (("--task", "summarize", "--by", "baseline/random"), "'baseline/random' gives scores and writes no texts"),
        (("--task", "summarize", "--by", "openai/x", "--langs", "xx-nope"), "xx-nope"),
        (("--task", "summarize", "--by", "openai/x", "--temperature", "0,1"), "one number is possible here"),
        (("--task", "summarize_article", "--by", "openai/x"), "no item of the language packs has the inputs of 'summarize_article'"),
    ],
)
def test_what_cannot_be_written_is_refused_in_a_sentence(cli: Cli, written: Path, arguments: tuple[str, ...], sentence: str) -> None:
    done = cli("generate", *arguments, "--out", written)
    assert done.code == 2 and sentence in done.err and not written.exists()


@pytest.mark.slow
@pytest.mark.needs("model")
def test_the_embedded_model_writes(cli: Cli, written: Path) -> None:
    done = cli("generate", "--task", "summarize", "--langs", "en", "--limit", "1", "--by", "local/smollm2-135m", "--out", written)
    assert done.code == 0, done.err
    [row] = rows_of(written)
    assert row["system"] == "local/smollm2-135m" and len(row["output"]) > 20 and row["written"]["language"] == "en"
