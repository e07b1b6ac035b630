"""Answers from passages: a live judge is asked about their sentences, and its answers stand beside people's labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.content.library import Library
from tests.e2e.conftest import MODEL, Answer, Endpoint, Request
from tests.unit.published.releases import Release

Cli = Callable[..., Any]
CLASSES = {name: Library().rubric(name).scale.classes for name in ("faithfulness", "answer_relevance")}


@pytest.fixture
def passages(tmp_path: Path) -> Path:
    """Forty invented sentences in the raw format of MEMERAG, converted, with the card of the catalog."""
    release, folder = Release(tmp_path / "release"), tmp_path / "memerag"
    relevances = CLASSES["answer_relevance"]
    release.json_lines(
        "data/memerag_ext/hi.jsonl",
        [
            {
                "query_id": f"{number}#0",
                "query": f"{number} का अर्थ क्या है?",
                "context": [{"text": "पहला अंश।"}, {"text": "दूसरा अंश।"}],
                "answer": [
                    {
                        "sentence": f"उत्तर {number} है।",
                        "sentence_id": 0,
                        "factuality": ["Supported" if number % 3 else "Not Supported"] * 5,
                        "relevance": [relevances[number % 3]] * 5,
                    }
                ],
            }
            for number in range(40)
        ],
    )
    folder.mkdir()
    for table, rows in release.convert("memerag").items():
        (folder / f"{table}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return folder


def perfect(endpoint: Endpoint) -> Callable[[Request], Answer]:
    """Answers as the invented people did, by the number in the question."""

    def script(request: Request) -> Answer:
        text = request.body["messages"][-1]["content"]
        number = int(next(word for word in text.split() if word.isdigit()))
        about = "answer_relevance" if "Relevance to the question" in text else "faithfulness"
        score = CLASSES[about][number % 3] if about == "answer_relevance" else ("Supported" if number % 3 else "Not Supported")
        return endpoint.saying({"justification": "So.", "score": score}, model=request.body["model"])

    return script


def test_a_judge_is_asked_by_the_rubrics_and_compared_with_people(cli: Cli, endpoint: Endpoint, passages: Path, out: Path) -> None:
    endpoint.script = perfect(endpoint)
    judge = ("--judge", f"openai/{MODEL}", "--base-url", endpoint.url, "--out", out)
    asked = cli("run", "--data", passages, "--langs", "hi", *judge, "--yes", "--json")
    assert asked.code == 0, asked.err
    cells = {cell["metric"]: cell for cell in json.loads(asked.out)["cells"]}
    assert {metric: (cell["pa"], cell["n_ref"]) for metric, cell in cells.items()} == {"answer_relevance": (1, 40), "faithfulness": (1, 40)}
    texts = {request.body["messages"][-1]["content"] for request in endpoint.requests}
    assert len(texts) == 80
    shown = {about: [text for text in texts if about in text] for about in ("Faithfulness to the passages", "Relevance to the question")}
    assert all("पहला अंश।\n\nदूसरा अंश।" in text for text in shown["Faithfulness to the passages"])
    assert not any("अंश" in text for text in shown["Relevance to the question"])  # it does not depend on the passages


def test_answers_in_a_judges_own_words_are_read(cli: Cli, endpoint: Endpoint, passages: Path, out: Path) -> None:
    """One class contains another: "Not Supported" is never read as "Supported"."""
    endpoint.script = lambda request: endpoint.saying("Not supported. The passages say nothing of it.", model=request.body["model"])
    judge = ("--judge", f"openai/{MODEL}", "--base-url", endpoint.url, "--out", out)
    asked = cli("run", "--data", passages, "--metrics", "faithfulness", "--variant", "text", *judge, "--yes", "--json")
    (cell,) = json.loads(asked.out)["cells"]
    assert cell["pa"] == 14 / 40 and cell["failures"] == {}


def test_a_joint_detailed_question_shows_the_passages_too(cli: Cli, endpoint: Endpoint, passages: Path, out: Path) -> None:
    words = ("--judge", f"openai/{MODEL}", "--base-url", endpoint.url, "--out", out, "--limit", "1", "--dry-run", "-v")
    joint = cli("run", "--data", passages, "--variant", "joint+detailed", *words)
    assert joint.code == 0 and not endpoint.requests, joint.err
    assert all(words in joint.out for words in ("Faithfulness is whether", "Relevance is what", "Not Supported", "दूसरा अंश।"))


@pytest.mark.slow
@pytest.mark.needs("raw data")
def test_the_published_sentences_are_judged_by_name(
    raw_data: Path, command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror"
    for row in json.loads((raw_data / "memerag" / "MANIFEST.json").read_text("utf-8")):
        link = mirror / row["repository"] / row["commit"] / row["path"]
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(raw_data / "memerag" / "files" / row["path"])
    monkeypatch.setenv("HARNESS_DATA_MIRROR", str(mirror))
    monkeypatch.setenv("HARNESS_DATA_HOME", str(tmp_path / "home"))
    assert command("data", "get", "memerag", "--yes").returncode == 0
    asked = command("run", "--data", "memerag", "--langs", "hi", "--judge", "baseline/majority", "--json")
    assert asked.returncode == 0, asked.stderr
    found = json.loads(asked.stdout)
    assert {verdict["metric"]: verdict["verdict"] for verdict in found["verdicts"]} == {
        "answer_relevance": "do not use",
        "faithfulness": "do not use",
    }
    assert {verdict["labels"] for verdict in found["verdicts"]} == {"people"}
    again = command("report", found["run"], "--out", tmp_path / "results", "--json", cwd=raw_data)
    assert again.returncode == 0, again.stderr  # the run keeps the folder that the name meant
