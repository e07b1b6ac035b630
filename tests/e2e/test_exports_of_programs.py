"""Plain tables that promptfoo, Langfuse and Label Studio export, through the commands that read tables: right, or asked about."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

SCENES = ("The kettle boils slowly near the window", "Our garden gives beans until late in October", "A bus to the harbour leaves at seven")
PROMPTFOO = ("Status", "Score", "Named Scores", "Grader Reason", "Comment")
LANGFUSE = ("id", "timestamp", "environment", "source", "name", "dataType", "value", "stringValue", "comment", "traceId", "traceName")
LABEL_STUDIO = ("annotation_id", "annotator", "created_at", "id", "lead_time", "output", "prompt", "quality", "updated_at")
MOMENT = "2026-05-04T10:00:00.000000Z"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, header: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([list(header), *rows])
    return name


def said(number: int, classes: Sequence[Any], every: int = 0, shift: int = 0) -> Any:
    """Return a score of a text; with `every`, that of somebody who differs in one of so many texts."""
    at = (number * number // 3 + number // 7) % len(classes)
    return classes[(at + (every > 0 and (number + shift) % every == 0)) % len(classes)]


def scene(number: int) -> str:
    return f"{SCENES[number % 3]}, {number}."


def commands(cli: Any, table: str) -> tuple[Any, Any, Any]:
    """Return what `compare`, `start` and `labels import` make of a table."""
    imported = cli("labels", "import", table, "--to", "imported", "--language", "en", "--task", "texts")
    return cli("compare", table, "--json"), cli("start", table, "--yes", "--to", "started"), imported


def viewer_rows(count: int = 80) -> list[list[Any]]:
    """Return rows of promptfoo's viewer: a question, an output, and what the grader said of it."""
    verdicts = [said(k, ("PASS", "FAIL"), 20) for k in range(count)]
    grades = ["1.00" if verdict == "PASS" else "0.00" for verdict in verdicts]
    return [[f"What is scene {k}?", scene(k), verdicts[k], grades[k], '{"fluency":1}', "As asked.", ""] for k in range(count)]


def test_a_graders_verdicts_in_promptfoos_viewer_are_no_persons(cli: Any) -> None:
    compared, started, imported = commands(cli, write("t.csv", ["question", "[openai:m] Answer", *PROMPTFOO], viewer_rows()))
    for done in (compared, started):
        assert done.code == 2 and "no column with people's scores was found (judges: grader)" in done.err
    assert imported.code == 3 and not Path("started").exists() and not Path("imported").exists()


@pytest.mark.parametrize("kind", ["viewer", "file"])
def test_people_beside_promptfoos_grader(cli: Any, kind: str) -> None:
    people = [said(k, ("PASS", "FAIL")) for k in range(80)]
    if kind == "viewer":
        rows = [[*row, person] for row, person in zip(viewer_rows(), people, strict=True)]
        header = ["question", "[openai:m] Answer", *PROMPTFOO, "human"]
    else:
        cells = [f"[{row[2]}] ({row[3]})\n\n{row[1]}\n\nPass Reason: As asked." for row in viewer_rows()]
        rows = [[f"What is scene {k}?", cell, person] for k, (cell, person) in enumerate(zip(cells, people, strict=True))]
        header = ["question", "[openai:m] Answer", "human"]
    compared, started, imported = commands(cli, write("t.csv", header, rows))
    answer = json.loads(compared.out)
    assert answer["roles"]["human"] == "human" and answer["roles"]["grader"] == "judge" and answer["roles"]["output"] == "text"
    assert [(verdict["judge"], verdict["n_labelled"]) for verdict in answer["verdicts"]] == [("grader", 80)]
    assert started.code == 0 and imported.code == 3
    items = [json.loads(line) for line in Path("started/items.jsonl").read_text("utf-8").splitlines()]
    assert [item["output"] for item in items] == [scene(k) for k in range(80)]


def test_several_outputs_a_row_have_a_name_each_and_one_label_is_asked_about(cli: Any) -> None:
    header = ["question", "[a:m] p", *PROMPTFOO, "[b:m] p", *PROMPTFOO]
    rows = [[*row, *row[1:]] for row in viewer_rows(20)]
    done = cli("compare", write("t.csv", header, rows))
    assert done.code == 2 and "(judges: grader)" in done.err
    done = cli("compare", write("u.csv", [*header, "human"], [[*row, "PASS"] if k % 2 else [*row, "FAIL"] for k, row in enumerate(rows)]))
    assert done.code == 2 and "a row of promptfoo's table has 2 outputs" in done.err


@pytest.mark.parametrize("words", [True, False])
def test_langfuses_scores_tell_people_from_judges(cli: Any, words: bool) -> None:
    classes: tuple[Any, ...] = ("correct", "incorrect") if words else (1, 2, 3)
    rows = []
    for k in range(80):
        for source, every in (("ANNOTATION", 0), ("EVAL", 20)):
            score = said(k, classes, every)
            kind, number, word = ("CATEGORICAL", classes.index(score), score) if words else ("NUMERIC", score, "")
            rows.append([f"s{k}{source}", MOMENT, "default", source, "quality", kind, number, word, "", f"trace-{k}", "qa"])
    compared, started, imported = commands(cli, write("t.csv", LANGFUSE, rows))
    [verdict] = json.loads(compared.out)["verdicts"]
    assert (verdict["metric"], verdict["judge"], verdict["n_labelled"]) == ("quality", "eval evaluator", 80)
    labels = [json.loads(line) for line in Path("started/labels.jsonl").read_text("utf-8").splitlines()]
    assert started.code == 0 and [label["score"] for label in labels] == [said(k, classes) for k in range(80)]
    assert imported.code == 2 and "looks like a judge" in imported.err and not Path("imported").exists()


def annotated(judge: bool, rating: bool = False) -> str:
    """Write Label Studio's table of two people's labels of 60 texts."""
    rows = []
    for k in range(60):
        for who in (1, 2):
            label = json.dumps([{"rating": said(k, (1, 2, 3), 9, who)}]) if rating else said(k, ("Good", "Bad"), 9, who)
            row = [2 * k + who, who, MOMENT, k, 4.5 + k % 7, scene(k), f"Describe scene {k}", label, MOMENT]
            rows.append([*row, said(k, ("Good", "Bad"), 14, 3)] if judge else row)
    return write("t.csv", [*LABEL_STUDIO, *(["llm_judge"] if judge else [])], rows)


@pytest.mark.parametrize("rating", [True, False])
def test_label_studios_table_of_labels(cli: Any, rating: bool) -> None:
    compared, started, imported = commands(cli, annotated(judge=False, rating=rating))
    assert compared.code == 2 and "no column with a judge's scores was found" in compared.err
    assert started.code == 0 and "120 labels by 2 annotators on 1 metric imported" in started.err
    assert (
        '"group"' not in Path("started/items.jsonl").read_text("utf-8")
        and len(Path("started/items.jsonl").read_text("utf-8").splitlines()) == 60
    )
    assert imported.code == 3 and not Path("imported").exists()


def test_label_studios_table_with_a_judge(cli: Any) -> None:
    compared, started, _ = commands(cli, annotated(judge=True))
    answer = json.loads(compared.out)
    roles = {name: answer["roles"][name] for name in ("annotator", "quality", "llm_judge", "output", "id")}
    assert roles == {"annotator": "annotator", "quality": "human", "llm_judge": "judge", "output": "text", "id": "id"}
    [verdict] = answer["verdicts"]
    assert (verdict["judge"], verdict["n"], verdict["basis"]) == ("llm_judge", 60, "people")
    assert started.code == 0 and len(Path("started/judgments.jsonl").read_text("utf-8").splitlines()) == 60
