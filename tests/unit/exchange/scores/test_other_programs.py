"""Files as the newest versions of other programs write them, and what their fields mean."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.errors import ContentError
from harness.exchange.scores.score_import import ScoreImportSummary, import_scores
from harness.exchange.scores.score_options import ScoreImportOptions
from harness.row_files import open_archive

FILES = Path(__file__).parents[1] / "files"
Imported = Callable[..., ScoreImportSummary]


@pytest.fixture
def imported(tmp_path: Path) -> Imported:
    """Imports contents: `{file name: JSON value, or a list of lines}`."""

    def run(files: dict[str, Any], **options: Any) -> ScoreImportSummary:
        for name, content in files.items():
            lines = content if name.endswith(".jsonl") else [content]
            (tmp_path / name).write_text("\n".join(map(json.dumps, lines)), "utf-8")
        scale = (options.pop("scale", "fluency=0,1,2:best=2"),)
        chosen = ScoreImportOptions(scale=scale, language="en", keep_annotators=True, **options)
        return import_scores([tmp_path / name for name in files], tmp_path / "data", chosen)

    return run


def rows(summary: ScoreImportSummary, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (summary.folder / f"{name}.jsonl").read_text("utf-8").splitlines()]


def langfuse(source: str, value: int, **more: Any) -> dict[str, Any]:
    return {"id": f"s-{source}", "traceId": "t1", "name": "fluency", "value": value, "dataType": "NUMERIC", "source": source, **more}


SCORES = [langfuse("EVAL", 2, configId="judge-1"), langfuse("ANNOTATION", 1, authorUserId="anna")]


@pytest.mark.parametrize(
    "files",
    [{"scores.json": {"data": SCORES, "meta": {"page": 1}}}, {"scores.json": SCORES}, {"scores.jsonl": SCORES}],
    ids=["api", "list", "lines"],
)
def test_langfuse_scores_of_a_person_and_a_judge_on_one_trace(imported: Imported, files: dict[str, Any]) -> None:
    """`source` says who scored; it is no text of the item. The form is recognised without a preset."""
    summary = imported(files)
    assert summary.refused == () and (summary.judgments, summary.labels) == (1, 1)
    assert [(row["judge"], row["score"]) for row in rows(summary, "judgments")] == [("judge-1", 2)]
    assert [(row["annotator_id"], row["score"]) for row in rows(summary, "labels")] == [("anna", 1)]
    assert "source" not in rows(summary, "items")[0]


ASSESSMENTS = [
    {
        "assessment_name": "fluency",
        "source": {"source_type": "LLM_JUDGE", "source_id": "openai/gpt"},
        "feedback": {"value": 2.0},
        "valid": True,
    },
    {"assessment_name": "fluency", "source": {"source_type": "HUMAN", "source_id": "anna"}, "feedback": {"value": 1.0}, "valid": True},
]
TRACE = {
    "info": {
        "trace_id": "tr-1",
        "assessments": ASSESSMENTS,
        "tags": {"mlflow.traceName": "f"},
        "request_preview": '{"q": "what?"}',
        "response_preview": '"an answer"',
    },
    "data": {"spans": []},
}
RESULT_DF = {"trace_id": "tr-1", "request": {"q": "what?"}, "response": "an answer", "tags": {}, "assessments": ASSESSMENTS}


@pytest.mark.parametrize(
    "files",
    [
        {"trace.json": TRACE},
        {"traces.json": [TRACE]},
        {"traces.jsonl": [TRACE]},
        {"traces.json": {"traces": [TRACE]}},
        {"df.json": [RESULT_DF]},
    ],
    ids=["to_json", "list", "lines", "search", "result_df"],
)
def test_traces_of_mlflow_in_all_their_forms(imported: Imported, files: dict[str, Any]) -> None:
    summary = imported(files)
    assert summary.refused == () and (summary.judgments, summary.labels) == (1, 1)
    [item] = rows(summary, "items")
    assert (item["item_id"], item["output"]) == ("tr-1", "an answer")


def reply(name: str, model: str = "gpt-4o-2024-08-06") -> dict[str, Any]:
    choice = {"message": {"content": '{"score": 2}'}, "finish_reason": "stop"}
    return {"id": name, "custom_id": name, "response": {"status_code": 200, "body": {"model": model, "choices": [choice]}}, "error": None}


def test_a_batch_with_its_input_and_its_errors_has_one_judge(imported: Imported) -> None:
    """Requests that failed or were lost are the judge's too: as its replies name it."""
    requests = [{"custom_id": name, "method": "POST", "url": "/v1", "body": {"model": "gpt-4o", "messages": []}} for name in "abc"]
    failed = {"id": "b", "custom_id": "b", "response": {"status_code": 500, "body": {"error": {"message": "no"}}}, "error": None}
    summary = imported({"in.jsonl": requests, "out.jsonl": [reply("a")], "err.jsonl": [failed]}, metric="fluency")
    found = [(row["item_id"], row["judge"], row.get("score", row.get("failure"))) for row in rows(summary, "judgments")]
    judge = "openai/gpt-4o-2024-08-06"
    assert sorted(found) == [("a", judge, 2), ("b", judge, "missing"), ("c", judge, "missing")]


def test_a_batch_of_which_nothing_was_answered_has_the_judge_of_its_requests(imported: Imported) -> None:
    request = {"custom_id": "a", "method": "POST", "url": "/v1", "body": {"model": "gpt-4o", "messages": []}}
    failed = {"id": "a", "custom_id": "a", "response": None, "error": {"code": "batch_expired"}}
    summary = imported({"in.jsonl": [request], "err.jsonl": [failed]}, metric="fluency")
    assert [(row["judge"], row["failure"]) for row in rows(summary, "judgments")] == [("openai/gpt-4o", "missing")]


def inspect_log(*scores: dict[str, Any]) -> dict[str, Any]:
    samples = [{"id": f"s{n}", "epoch": 1, "input": "q", "output": {"completion": "a"}, "scores": each} for n, each in enumerate(scores)]
    return {"version": 2, "eval": {"model": "m", "model_roles": {"grader": {"model": "openai/gpt-4o"}}}, "samples": samples}


GRADED = {"value": 2, "explanation": "2", "metadata": {"grading": [{"role": "assistant", "model": "gpt-4o", "content": '{"score": 2}'}]}}


def test_scores_of_inspect_that_a_program_computed_are_no_judgments(imported: Imported) -> None:
    match = {"value": "C", "answer": "a", "explanation": "a", "metadata": {}, "history": []}
    summary = imported({"log.json": inspect_log({"fluency": GRADED, "match": match, "match1": match}, {"fluency": {"value": 1}})})
    assert [(row["judge"], row["metric"], row["score"]) for row in rows(summary, "judgments")] == [
        ("openai/gpt-4o", "fluency", 2),
        ("openai/gpt-4o", "fluency", 1),
    ], "one model has one name"
    assert "1 scores of 'match', which a program computed and no model gave, left out" in summary.notes
    with pytest.raises(ContentError, match=r"no sample has a score; 1 scores of 'match', which a program computed"):
        imported({"log.json": inspect_log({"match": match})})


def test_a_log_with_every_kind_of_scorer(tmp_path: Path) -> None:
    """Inspect wrote the log: text comparisons are no judgments, and a judge has one name, whoever replied."""
    models = {"model_graded_qa": "mockllm/a", "model_graded_fact": "mockllm/role", "model_graded_qa1": "mockllm/b+mockllm/c"}
    scales = tuple(f"{metric}=0,1:best=1" for metric in models)
    chosen = ScoreImportOptions(scale=scales, map=("C=1,I=0",), language="en", drop=("length", "near_match"))
    summary = import_scores([FILES / "inspect-scorers.json"], tmp_path / "data", chosen)
    found = {(row["item_id"], row["judge"], row["metric"], row["score"]) for row in rows(summary, "judgments")}
    assert found == {(item, judge, metric, score) for item, score in (("q0", 1), ("q1", 0)) for metric, judge in models.items()}
    for name in ("match", "match1", "includes", "exact", "f1", "pattern", "answer"):
        assert f"2 scores of '{name}', which a program computed and no model gave, left out" in summary.notes
    for name in ("length", "near_match"):
        assert any(note.startswith(f"2 scores of '{name}', a scorer that asked no model: leave them out") for note in summary.notes)


def test_a_dated_reply_is_of_the_model_that_has_the_role(imported: Imported) -> None:
    dated = json.loads(json.dumps(GRADED).replace('"gpt-4o"', '"gpt-4o-2024-08-06"'))
    other = json.loads(json.dumps(GRADED).replace('"gpt-4o"', '"gpt-4o-mini"'))
    summary = imported({"log.json": inspect_log({"fluency": dated}, {"fluency": {"value": 1}}, {"fluency": other})})
    assert [row["judge"] for row in rows(summary, "judgments")] == ["openai/gpt-4o", "openai/gpt-4o", "gpt-4o-mini"]


def test_a_person_who_edited_a_text_comparison_leaves_a_label_only(imported: Imported) -> None:
    edit = {"value": 2, "provenance": {"author": "anna"}}
    summary = imported({"log.json": inspect_log({"match": {"value": 2, "history": [{"value": 1}, edit]}})}, rename=("match=fluency",))
    assert (summary.judgments, summary.labels) == (0, 1)


@pytest.mark.parametrize("name", ["langfuse-trace.json", "langfuse-scores-v3.json"])
def test_langfuse_models_with_numbers_words_and_truth_values(name: str, tmp_path: Path) -> None:
    """A trace with its scores, and the scores of the API of today; a person's word counts, not Langfuse's number for it."""
    scales = ("fluency=0,1,2:best=2", "polite=0,1:best=1", "tone=0,1:best=1")
    words = ("polite:True=1,False=0", "tone:warm=1,cold=0")
    chosen = ScoreImportOptions(scale=scales, map=words, judge="openai/m", language="en", keep_annotators=True)
    summary = import_scores([FILES / name], tmp_path / "data", chosen)
    assert summary.refused == ()
    assert [(row["judge"], row["score"]) for row in rows(summary, "judgments")] == [("openai/m", 2)]
    labels = {row["metric"]: (row["annotator_id"], row["score"]) for row in rows(summary, "labels")}
    assert {metric: labels[metric] for metric in ("polite", "tone")} == {"polite": ("u", 1), "tone": ("u", 1)}
    assert "source" not in rows(summary, "items")[0]


def test_the_table_of_an_mlflow_evaluation_saved_by_columns(tmp_path: Path) -> None:
    chosen = ScoreImportOptions(
        scale=("fluency=0,1,2:best=2",), language="en", drop=("polite", "length", "expected_response"), keep_annotators=True
    )
    summary = import_scores([FILES / "mlflow-result-df.json"], tmp_path / "data", chosen)
    assert [(row["judge"], row["score"]) for row in rows(summary, "judgments")] == [("openai:/gpt-4o", 2)] * 2
    assert [row["output"] for row in rows(summary, "items")] == ["Thus.", "Because."]


def _as_csv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path)


def _as_parquet(frame: pd.DataFrame, path: Path) -> None:
    """With one judge: a column of Parquet holds values of one kind, so words and numbers together cannot be saved."""
    frame["assessments"] = [[one for one in cell if one["assessment_name"] == "fluency"] for cell in frame["assessments"]]
    frame.to_parquet(path)


@pytest.mark.parametrize(("name", "save"), [("result.csv", _as_csv), ("result.parquet", _as_parquet)])
def test_the_table_of_an_mlflow_evaluation_saved_as_a_table(tmp_path: Path, name: str, save: Callable[[pd.DataFrame, Path], None]) -> None:
    columns = json.loads((FILES / "mlflow-result-df.json").read_text("utf-8"))
    save(pd.DataFrame({column: list(cells.values()) for column, cells in columns.items()}), tmp_path / name)
    chosen = ScoreImportOptions(
        scale=("fluency=0,1,2:best=2",), language="en", drop=("polite", "length", "expected_response"), keep_annotators=True
    )
    summary = import_scores([tmp_path / name], tmp_path / "data", chosen)
    assert [(row["judge"], row["score"], row["justification"]) for row in rows(summary, "judgments")] == [
        ("openai:/gpt-4o", 2, "Fluent.")
    ] * 2
    assert [row["output"] for row in rows(summary, "items")] == ["Thus.", "Because."]


def test_a_text_that_looks_like_a_list_stays_a_text(tmp_path: Path) -> None:
    """Only the column in which MLflow keeps its assessments is unpacked."""
    text = '[{"role": "user"}]'
    frame = pd.DataFrame({"item_id": ["a"], "output": [text], "metric": ["fluency"], "score": [2], "judge": ["m"]})
    frame.to_csv(tmp_path / "scores.csv", index=False)
    summary = import_scores(
        [tmp_path / "scores.csv"], tmp_path / "data", ScoreImportOptions(scale=("fluency=0,1,2:best=2",), language="en")
    )
    assert [row["output"] for row in rows(summary, "items")] == [text]


def test_packed_labels_of_the_target_are_not_unpacked_without_bound(imported: Imported, tmp_path: Path, monkeypatch: Any) -> None:
    summary = imported({"scores.json": SCORES})
    labels = summary.folder / "labels.jsonl"
    (summary.folder / "labels.jsonl.gz").write_bytes(gzip.compress(labels.read_bytes() + b"\n" * (1 << 20)))
    labels.unlink()
    monkeypatch.setattr("harness.exchange.labels.source_table.MAX_BYTES", 1 << 18)
    with pytest.raises(ContentError, match=r"labels\.jsonl\.gz: larger than 0 MiB unpacked"):
        imported({"scores.json": SCORES}, append=True)


def test_a_damaged_member_of_an_archive_is_named(tmp_path: Path) -> None:
    content = bytearray((FILES / "graded.eval").read_bytes())
    content[content.index(b"samples/") + 60] ^= 0xFF
    (tmp_path / "log.eval").write_bytes(content)
    with pytest.raises(ContentError, match=r"log\.eval: "), open_archive(tmp_path / "log.eval", 1 << 24, ".eval log") as log:
        [log.read(name) for name in log.names]
