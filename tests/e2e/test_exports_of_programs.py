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


def promptfoo_results(people: bool = True, metrics: Sequence[str] = ("fluency",), count: int = 80) -> list[dict[str, Any]]:
    """Return results as promptfoo writes them: a grader's scores from 0 to 1, and thumbs of people in its viewer."""
    results = []
    for k in range(count):
        grades = [(metric, said(k, (True, False), 20, shift)) for shift, metric in enumerate(metrics)]
        components = [
            {
                "assertion": {"type": "llm-rubric", "metric": metric, "value": "Is it fluent?", "provider": "openai:chat:gpt-4o"},
                "pass": passed,
                "score": 0.9 if passed else 0.3,
                "reason": "As asked.",
            }
            for metric, passed in grades
        ]
        thumb = said(k, (True, False))
        if people:
            components.append(
                {"assertion": {"type": "human"}, "pass": thumb, "score": int(thumb), "comment": "", "reason": "Manual result"}
            )
        results.append(
            {
                "gradingResult": {"pass": thumb, "score": 1, "componentResults": components},
                "promptIdx": 0,
                "testIdx": k,
                "provider": {"id": "openai:m", "label": "m"},
                "vars": {"question": f"What is scene {k}?"},
                "response": {"output": scene(k)},
                "testCase": {"description": f"scene-{k}", "vars": {"question": f"What is scene {k}?"}},
                "score": 1,
            }
        )
    return results


def write_json(name: str, content: Any) -> str:
    lines = name.endswith(".jsonl")
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in content) if lines else json.dumps(content), encoding="utf-8")
    return name


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
def test_promptfoos_results_hold_thumbs_and_grades(cli: Any, name: str) -> None:
    results = promptfoo_results()
    table = write_json(name, results if name.endswith("l") else {"evalId": "e", "results": {"version": 3, "results": results}})
    answer = json.loads(cli("compare", table, "--json").out)
    [verdict] = answer["verdicts"]
    assert (verdict["metric"], verdict["judge"], verdict["n_labelled"], verdict["basis"]) == ("fluency", "openai/gpt-4o", 80, "bar")
    assert (answer["roles"]["item_id"], answer["roles"]["output"], answer["roles"]["question"]) == ("id", "text", "text")
    block = cli("compare", table).err
    assert "scale: fail < pass" in block and "thumbs up and down are compared with whether the grader let the output pass" in block
    assert "80 labels were given in sight of a judge's score" in block


def test_one_verdict_beside_two_graded_metrics_is_asked_about(cli: Any) -> None:
    table = write_json("results.jsonl", promptfoo_results(metrics=("fluency", "tone")))
    done = cli("compare", table)
    assert done.code == 2 and "2 metrics were graded ('fluency', 'tone')" in done.err and "--metric fluency" in done.err
    [verdict] = json.loads(cli("compare", table, "--metric", "tone", "--json").out)["verdicts"]
    assert (verdict["metric"], verdict["n_labelled"]) == ("tone", 80)


def test_a_graders_results_alone_name_the_commands_that_work(cli: Any) -> None:
    table = write_json("results.jsonl", promptfoo_results(people=False))
    done = cli("compare", table)
    assert done.code == 2 and "results.jsonl holds a judge's scores and no person's (promptfoo)" in done.err
    assert f"harness compare PEOPLE.csv {table} --id item_id" in done.err and f"harness import {table} --to DIR" in done.err
    people = write("people.csv", ["item_id", "human"], [[f"scene-{k}", 0.9 if said(k, (True, False)) else 0.3] for k in range(80)])
    [verdict] = json.loads(cli("compare", people, table, "--id", "item_id", "--json").out)["verdicts"]
    assert (verdict["judge"], verdict["n_labelled"]) == ("judge", 80)
    imported = cli("import", table, "--to", "kept", "--language", "en", "--scale", "fluency=0..1:best=1")
    assert imported.code == 0 and len(Path("kept/judgments.jsonl").read_text("utf-8").splitlines()) == 80


def annotation_tasks(predictions: bool = True) -> list[dict[str, Any]]:
    """Return tasks as Label Studio exports them in full: two people's annotations, and a model's predictions."""

    def result(value: str) -> list[dict[str, Any]]:
        return [{"from_name": "quality", "to_name": "output", "type": "choices", "value": {"choices": [value]}}]

    return [
        {
            "id": k,
            "data": {"output": scene(k), "prompt": f"Describe scene {k}"},
            "annotations": [
                {"id": 2 * k + who, "completed_by": who, "was_cancelled": False, "result": result(said(k, ("Good", "Bad"), 9, who))}
                for who in (1, 2)
            ],
            "predictions": [{"model_version": "gpt-4o", "result": result(said(k, ("Good", "Bad"), 14, 3))}] if predictions else [],
        }
        for k in range(60)
    ]


def argilla_records() -> list[dict[str, Any]]:
    """Return records as Argilla's SDK writes them: responses of two users, and a model's suggestion."""
    users = [f"{who}f0c7a52-1111-4222-8333-0123456789ab" for who in (1, 2)]
    return [
        {
            "id": f"r{k}",
            "fields": {"output": scene(k), "prompt": f"Describe scene {k}"},
            "metadata": {},
            "suggestions": {"quality": {"value": said(k, ("Good", "Bad"), 14, 3), "agent": "gpt-4o"}},
            "responses": {
                "quality": [{"value": said(k, ("Good", "Bad"), 9, who), "user_id": user} for who, user in enumerate(users, start=1)]
            },
            "status": "completed",
        }
        for k in range(60)
    ]


def argilla_items() -> dict[str, Any]:
    """Return the records as Argilla's server sends them."""
    items = []
    for record in argilla_records():
        answers = record["responses"]["quality"]
        responses = [
            {"user_id": answer["user_id"], "status": "submitted", "values": {"quality": {"value": answer["value"]}}} for answer in answers
        ]
        items.append({**record, "responses": responses, "suggestions": [{"question_name": "quality", **record["suggestions"]["quality"]}]})
    return {"items": items}


def traces() -> dict[str, Any]:
    """Return traces as MLflow's search writes them: assessments of two people and of a judge."""

    def assessment(who: str, kind: str, value: Any) -> dict[str, Any]:
        source = {"source_type": kind, "source_id": who}
        return {"assessment_name": "quality", "source": source, "feedback": {"value": value}, "valid": True}

    return {
        "traces": [
            {
                "info": {
                    "trace_id": f"tr-{k}",
                    "request_preview": f"Describe scene {k}",
                    "response_preview": scene(k),
                    "assessments": [
                        assessment("gpt-4o", "LLM_JUDGE", said(k, ("Good", "Bad"), 14, 3)),
                        *(assessment(f"user{who}", "HUMAN", said(k, ("Good", "Bad"), 9, who)) for who in (1, 2)),
                    ],
                }
            }
            for k in range(60)
        ]
    }


@pytest.mark.parametrize("content", [annotation_tasks, argilla_records, argilla_items, traces])
def test_files_of_programs_with_people_and_a_model_are_one_table(cli: Any, content: Any) -> None:
    table = write_json("export.json", content())
    done = cli("compare", table, "--json")
    answer = json.loads(done.out)
    [verdict] = answer["verdicts"]
    assert (verdict["metric"], verdict["judge"], verdict["n_labelled"], verdict["basis"]) == ("quality", "gpt-4o", 60, "people")
    roles = {name: answer["roles"][name] for name in ("item_id", "output", "rater", "rater_type", "metric", "score")}
    assert roles == {
        "item_id": "id",
        "output": "text",
        "rater": "annotator",
        "rater_type": "annotator",
        "metric": "metric",
        "score": "score",
    }
    started = cli("start", table, "--yes", "--to", "started")
    assert started.code == 0 and len(Path("started/labels.jsonl").read_text("utf-8").splitlines()) == 120
    assert len(Path("started/judgments.jsonl").read_text("utf-8").splitlines()) == 60


def test_a_user_of_ground_truth_alone_is_no_person(cli: Any) -> None:
    tasks = annotation_tasks()
    for task in tasks:
        task["annotations"].append({**task["annotations"][0], "completed_by": 9, "ground_truth": True})
    started = cli("start", write_json("export.json", tasks), "--yes", "--to", "started")
    assert started.code == 0 and "annotations of ground truth, by users who made nothing else, are left out" in started.err
    assert len(Path("started/labels.jsonl").read_text("utf-8").splitlines()) == 120


def test_people_and_a_model_on_two_scales_are_asked_for_one(cli: Any) -> None:
    tasks = annotation_tasks()
    for k, task in enumerate(tasks):
        for annotation in task["annotations"]:
            annotation["result"] = [{"from_name": "quality", "type": "rating", "value": {"rating": said(k, (1, 2, 3, 4, 5))}}]
        task["predictions"][0]["result"] = [{"from_name": "quality", "type": "number", "value": {"number": said(k, (0.2, 0.4, 0.9))}}]
    done = cli("compare", write_json("export.json", tasks))
    assert done.code == 2 and "people 1 to 5, the judge 0.2 to 0.9, both in 'score'" in done.err and "--recode" not in done.err


def test_people_alone_in_label_studios_file_are_labels(cli: Any) -> None:
    compared, started, _ = commands(cli, write_json("export.json", annotation_tasks(predictions=False)))
    assert compared.code == 2 and "no column with a judge's scores was found" in compared.err
    assert started.code == 0 and "120 labels by 2 annotators on 1 metric imported" in started.err


@pytest.mark.parametrize("words", [True, False])
def test_langfuses_traces_hold_each_score_in_a_list(cli: Any, words: bool) -> None:
    classes: tuple[Any, ...] = ("wrong", "correct") if words else (1, 2, 3)
    header = ("id", "timestamp", "name", "input", "output", "metadata", "latency", "human_quality", "llm_quality")
    rows = [
        [
            f"trace-{k}",
            MOMENT,
            "qa",
            json.dumps({"question": f"What is scene {k}?"}),
            json.dumps(scene(k)),
            json.dumps({"run": k}),
            1 + k % 3,
            json.dumps([said(k, classes)]),
            json.dumps([said(k, classes, 10)]),
        ]
        for k in range(60)
    ]
    compared, *_ = commands(cli, write("t.csv", header, rows))
    answer = json.loads(compared.out)
    assert {name: answer["roles"][name] for name in ("id", "input", "output", "metadata")} == {
        "id": "id",
        "input": "text",
        "output": "text",
        "metadata": "unused",
    }
    [verdict] = answer["verdicts"]
    assert verdict["n_labelled"] == 60 and verdict["right"] == pytest.approx(54 / 60)
    assert ("wrong < correct" if words else "1 to 3") in compared.err


@pytest.mark.parametrize("people", [1, 2])
def test_label_studios_choices_between_two_texts(cli: Any, people: int) -> None:
    header = ("a", "annotation_id", "annotator", "b", "created_at", "id", "lead_time", "llm_judge", "pref", "prompt", "updated_at")
    rows = [
        [
            scene(k),
            2 * k + who,
            f"p{who}@example.org",
            scene(k + 1),
            MOMENT,
            k,
            5.5,
            said(k, ("left", "right"), 10),
            json.dumps([{"selected": said(k, ("left", "right"))}]),
            f"Describe scene {k} please",
            MOMENT,
        ]
        for k in range(60)
        for who in range(people)
    ]
    done = cli("compare", write("t.csv", header, rows))
    assert done.code == 0 and "text: a, b (beside: prompt)" in done.err and "scale: A, B, tie" in done.err
    [verdict] = json.loads(cli("compare", "t.csv", "--json").out)["verdicts"]
    assert verdict["right"] == pytest.approx(54 / 60)


def test_the_annotator_of_a_table_is_no_score(cli: Any) -> None:
    rows = [[f"t{k}", scene(k), "Eleni", said(k, ("pass", "fail"))] for k in range(40)]
    done = cli("compare", write("t.csv", ("id", "text", "annotator", "llm_judge"), rows))
    assert done.code == 2 and "no column with people's scores was found" in done.err and "--human 'annotator'" not in done.err
