"""Every importer reads a file that the real program wrote to the rows that are written here by hand."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.content import Library
from harness.data import load_folder
from harness.errors import ContentError, UsageError
from harness.exchange.scores.score_import import ScoreImportSummary, import_scores
from harness.exchange.scores.score_options import ScoreImportOptions
from harness.row_files import open_archive
from tests.conftest import write_rows

FILES = Path(__file__).parents[1] / "files"
PROGRAMS = Path(__file__).parents[3] / "e2e" / "programs"
FLUENCY = "fluency=0,1,2:best=2"
JA1, JA2, CS1 = "このたびはご協力いただき、誠にありがとうございました。", "天気です今日はいいの。", "Děkujeme Vám za spolupráci."


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., ScoreImportSummary]:
    def run(*files: str | Path, scales: tuple[str, ...] = (FLUENCY,), map: tuple[str, ...] = (), **options: Any) -> ScoreImportSummary:
        paths = [FILES / file if isinstance(file, str) else file for file in files]
        settings = {"salt_file": tmp_path / "salt", "keep_annotators": True} | options
        chosen = ScoreImportOptions(scale=tuple(scales), map=tuple(map), **settings)
        return import_scores(paths, tmp_path / "data", chosen)

    return run


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    path = folder / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def scored(summary: ScoreImportSummary) -> list[tuple[Any, ...]]:
    """Item, judge, metric, repeat, and score or failure of every judgment."""
    found = rows(summary.folder, "judgments")
    return [(r["item_id"], r["judge"], r["metric"], r.get("repeat", 0), r.get("score", r.get("failure"))) for r in found]


def labelled(summary: ScoreImportSummary) -> list[tuple[Any, ...]]:
    found = rows(summary.folder, "labels")
    return [(r["item_id"], r["annotator_id"], r["metric"], r["score"], r.get("blind")) for r in found]


INSPECT = {
    "scales": ("calibrated_judge=0,1,2:best=2", FLUENCY, "politeness=0,1:best=1", "model_graded_qa=0..1:best=1"),
    "map": ("model_graded_qa:C=1,P=0.5,I=0",),
}


def test_a_log_of_inspect(imported: Callable[..., ScoreImportSummary]) -> None:
    summary = imported("graded.eval", **INSPECT)
    judge = "mockllm/grader"
    graded = {"cs-1": 1, "cs-2": "not_json", "ja-1": 1, "ja-2": 0}
    calibrated = {"cs-1": 2, "cs-2": 0, "ja-1": 2, "ja-2": "refused"}  # "I can not judge this text." by our own parser
    fluent, polite = {"cs-1": 2, "cs-2": 0, "ja-1": 2, "ja-2": 0}, {"cs-1": 1, "cs-2": "missing", "ja-1": 1, "ja-2": "missing"}
    by_metric = {"model_graded_qa": graded, "calibrated_judge": calibrated, "fluency": fluent, "politeness": polite}
    expected = {(item, judge, metric, repeat, of[item]) for metric, of in by_metric.items() for item in of for repeat in (0, 1)}
    assert set(scored(summary)) == expected and len(scored(summary)) == 32
    assert [row | {} for row in rows(summary.folder, "items")][2] == {
        "item_id": "ja-1",
        "language": "ja",
        "task": "imported",
        "input": "お礼のメールを一文で書いてください。",
        "output": JA1,
    }
    assert summary.not_blind == 1 and len(labelled(summary)) == 1


def test_a_person_who_overwrote_the_judge_leaves_both_and_every_comparison_says_so(
    imported: Callable[..., ScoreImportSummary],
) -> None:
    summary = imported("graded.eval", **INSPECT)
    [(item, _, metric, label, blind)] = labelled(summary)
    assert blind is False
    estimate_judge = [score for i, _, m, repeat, score in scored(summary) if (i, m, repeat) == (item, metric, 0)]
    assert estimate_judge and estimate_judge != [label]
    compared = harness.compare(summary.folder)
    assert any("in sight of a judge's score" in note for note in compared.notes)


def test_json_and_deflated_logs_read_like_eval_logs_with_bare_nan(imported: Callable[..., ScoreImportSummary], tmp_path: Path) -> None:
    with open_archive(FILES / "graded.eval", 1 << 24, "log") as log_file:
        names = ["header.json", *(name for name in log_file.names if name.startswith("samples/"))]
        content = {name: log_file.read(name) for name in names}
    assert b"NaN" in b"".join(content.values())
    with zipfile.ZipFile(tmp_path / "old.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    log = json.loads(content["header.json"]) | {"samples": [json.loads(content[name]) for name in names[1:]]}
    (tmp_path / "log.json").write_text(json.dumps(log), "utf-8")
    first = scored(imported("graded.eval", **INSPECT))
    for path in (tmp_path / "old.eval", tmp_path / "log.json"):
        (tmp_path / "data" / "judgments.jsonl").unlink()
        (tmp_path / "data" / "labels.jsonl").unlink()
        assert scored(imported(path, **INSPECT)) == first


def test_results_of_promptfoo(imported: Callable[..., ScoreImportSummary]) -> None:
    summary = imported("results-with-human-rating.json", scales=(FLUENCY, "politeness=0..1:best=1", "human=0,1:best=1"))
    judge = "openai/gpt-4o-2024-08-06"
    assert scored(summary) == [
        ("ja-1", judge, "fluency", 0, 0),
        ("ja-2", judge, "fluency", 0, 0),
        ("cs-1", judge, "fluency", 0, 1),
        ("cs-1", judge, "politeness", 0, 0.1),
    ]
    assert labelled(summary) == [("ja-1", "viewer", "human", 1, False), ("ja-2", "viewer", "human", 0, False)]
    assert [row["output"] for row in rows(summary.folder, "items")] == [JA1, JA2, CS1]
    assert "3 assertions of type 'javascript', which no model graded, left out" in summary.notes


def test_a_zero_of_a_grader_that_could_not_be_read_is_a_failure(imported: Callable[..., ScoreImportSummary]) -> None:
    summary = imported("unreadable-grader.jsonl", scales=(FLUENCY, "politeness=0..1:best=1"))
    judge = "openai/gpt-4o-2024-08-06"
    assert [row for row in scored(summary) if row[2] == "fluency"] == [
        (item, judge, "fluency", 0, "not_json") for item in ("ja-1", "ja-2", "cs-1")
    ]
    assert summary.failures == {"not_json": 4}


OURS = {"ja-1": 2, "ja-2": "not_json", "cs-1": 2, "cs-2": "refused", "cs-3": "off_scale"}


def test_our_own_judge_comes_back_from_a_log_of_inspect(imported: Callable[..., ScoreImportSummary]) -> None:
    summary = imported("ours-inspect.json", scales=())  # the rubric has the scale
    judge, metric = "openai-api/local/tester-2024-01-01", "linguistic_acceptability"
    assert sorted(scored(summary), key=str) == sorted(((i, judge, metric, r, s) for i, s in OURS.items() for r in (0, 1)), key=str)
    assert {row["variant"] for row in rows(summary.folder, "judgments")} == {"single"} and not summary.refused


def test_our_own_scores_from_a_file_come_back_from_the_log_that_inspect_wrote_with_them(
    imported: Callable[..., ScoreImportSummary],
) -> None:
    """`export inspect-scores`, Inspect's `precomputed_scores`, and back: judge, score, task and texts are what they were."""
    summary = imported("ours-inspect-from-file.json", scales=())
    judge, metric = "openai-api/local/tester-2024-01-01", "linguistic_acceptability"
    assert sorted(scored(summary), key=str) == sorted(((i, judge, metric, r, s) for i, s in OURS.items() for r in (0, 1)), key=str)
    texts = {one["item_id"]: one for one in json.loads((PROGRAMS / "texts.json").read_text("utf-8"))}
    items = {row["item_id"]: row for row in rows(summary.folder, "items")}
    assert items.keys() == OURS.keys() and {row["task"] for row in items.values()} == {"open_prompt"}
    assert {name: row["output"] for name, row in items.items()} == {name: texts[name]["answer"] for name in OURS}
    assert {row["language"] for row in items.values()} == {"ja", "cs"} and not summary.refused


def test_our_own_judge_comes_back_from_results_of_promptfoo(imported: Callable[..., ScoreImportSummary]) -> None:
    summary = imported("ours-promptfoo.jsonl", scales=())
    assert {(item, score) for item, _, _, _, score in scored(summary)} == set(OURS.items())
    assert {row["judge"] for row in rows(summary.folder, "judgments")} == {"openai/tester-2024-01-01"}
    assert {row["language"] for row in rows(summary.folder, "items")} == {"ja", "cs"} and not summary.refused


def test_samples_of_lm_eval_are_read_through_one_filter(imported: Callable[..., ScoreImportSummary]) -> None:
    with pytest.raises(UsageError, match=r"several filters \(first, maj\), and each repeats the same replies; choose one with --filter"):
        imported("lm-eval-samples.jsonl", metric="fluency", judge="mock-judge")
    summary = imported("lm-eval-samples.jsonl", metric="fluency", judge="mock-judge", filter="first", label_from="doc.label")
    scores = {"ja-1": 2, "ja-2": 0, "cs-1": 2}
    assert scored(summary) == [(item, "mock-judge", "fluency", repeat, score) for item, score in scores.items() for repeat in (0, 1)]
    assert labelled(summary) == [(item, "label", "fluency", score, None) for item, score in scores.items()]
    assert rows(summary.folder, "items")[2] == {"item_id": "cs-1", "language": "cs", "task": "imported", "text": CS1}


def test_raw_replies_of_lm_eval_go_through_our_parser(imported: Callable[..., ScoreImportSummary]) -> None:
    summary = imported("dummy-nan.jsonl", metric="fluency", judge="dummy", filter="maj")
    assert [score for *_, score in scored(summary)] == ["not_json"] * 6  # the replies are "lol", the file's values NaN


def test_assessments_of_mlflow(imported: Callable[..., ScoreImportSummary]) -> None:
    summary = imported("mlflow-traces.json", language="ja")
    judge = "openai:/gpt-4o-2024-08-06"
    assert scored(summary) == [("ja-2", judge, "fluency", 0, "not_json"), ("ja-1", judge, "fluency", 0, 2)]
    assert labelled(summary) == [("ja-1", "hanako", "fluency", 1, None)]


def test_a_test_run_of_deepeval(imported: Callable[..., ScoreImportSummary]) -> None:
    scales = ("fluency [GEval]=0..1:best=1", "Calibrated fluency=0,1,2:best=2")
    assert scored(imported("deepeval-test-run.json", scales=scales)) == [
        ("ja-1", "mock-judge", "fluency [GEval]", 0, 0.8),
        ("ja-1", "openai/gpt-4o", "Calibrated fluency", 0, 2),
        ("ja-2", "mock-judge", "fluency [GEval]", 0, "not_json"),
        ("ja-2", "openai/gpt-4o", "Calibrated fluency", 0, 0),
        ("cs-1", "mock-judge", "fluency [GEval]", 0, 0.8),
        ("cs-1", "openai/gpt-4o", "Calibrated fluency", 0, 2),
    ]


def test_predictions_of_label_studio_are_judgments_and_labels_beside_them_are_not_blind(
    imported: Callable[..., ScoreImportSummary],
) -> None:
    summary = imported("snapshot-with-predictions.json", scales=(FLUENCY, "politeness=1,2,3,4,5:best=5"))
    gpt, small = "openai/gpt-4o-2024-08-06", "local/smollm2-135m"
    assert scored(summary) == [
        ("ja-1", gpt, "fluency", 0, 2),
        ("ja-1", small, "fluency", 0, 1),
        ("ja-2", gpt, "fluency", 0, 1),
        ("ja-2", small, "fluency", 0, 0),
    ]
    assert labelled(summary) == [
        ("ja-1", "1", "fluency", 2, False),
        ("ja-1", "1", "politeness", 5, False),
        ("ja-2", "1", "fluency", 0, False),
        ("ja-2", "1", "politeness", 2, False),
    ]


def test_suggestions_of_argilla_are_judgments(imported: Callable[..., ScoreImportSummary]) -> None:
    summary = imported("records.json")
    judge = "openai/gpt-4o-2024-08-06"
    assert scored(summary) == [("ja-1", judge, "fluency", 0, 2), ("ja-2", judge, "fluency", 0, 1)]
    assert [(item, score, blind) for item, _, _, score, blind in labelled(summary)] == [
        *(("ja-1", 2, False), ("ja-1", 1, False)),
        *(("ja-2", 0, False), ("ja-2", 0, False)),
    ]
    assert summary.folder.joinpath("data.toml").read_text("utf-8").count("in sight of a judge's score") == 1


def test_a_table_of_ragas_has_a_column_a_metric(imported: Callable[..., ScoreImportSummary]) -> None:
    with pytest.raises(ContentError, match="--wide-metrics"):
        imported("ragas-judged.jsonl", judge="ragas/gpt")
    summary = imported("ragas-judged.jsonl", judge="ragas/gpt", wide_metrics=("fluency",))
    assert scored(summary) == [("ja-1", "ragas/gpt", "fluency", 0, 2), ("ja-2", "ragas/gpt", "fluency", 0, 0)]
    assert [row["justification"] for row in rows(summary.folder, "judgments")] == ["natural", "word order"]


def openai_line(name: str, text: str, **choice: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": choice.pop("refusal", None)}
    body = {"model": "gpt-4o-2024-08-06", "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}]}
    return {"id": "r", "custom_id": name, "response": {"status_code": 200, "request_id": "q", "body": body}, "error": None}


def test_batches_of_gemini_are_raw_replies(imported: Callable[..., ScoreImportSummary], tmp_path: Path) -> None:
    def line(name: str, *parts: dict[str, Any], reason: str = "STOP") -> dict[str, Any]:
        candidate = {"content": {"parts": list(parts), "role": "model"}, "finishReason": reason}
        return {"key": name, "response": {"candidates": [candidate], "modelVersion": "gemini-x"}}

    output = [
        line("ja-1", {"text": "2? or 0?", "thought": True}, {"text": '{"score": 1}'}),
        line("ja-2", {"functionCall": {"name": "answer", "args": {"score": 2}}}),
        line("ja-3", {"text": '{"justification": "It'}, reason="MAX_TOKENS"),
        {"key": "ja-4", "response": {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "gemini-x"}},
        {"key": "ja-5", "error": {"code": 503, "message": "overloaded"}},
    ]
    summary = imported(write_rows(tmp_path / "output.jsonl", output), language="ja", metric="fluency")
    assert summary.kind == "gemini-batch"
    assert [score for *_, score in scored(summary)] == [1, 2, "truncated", "refused", "missing"]


def test_batches_of_openai_are_raw_replies_joined_with_their_requests(imported: Callable[..., ScoreImportSummary], tmp_path: Path) -> None:
    asked = [{"custom_id": f"ja-{n}:fluency", "method": "POST", "url": "/v1/chat/completions", "body": {}} for n in range(1, 6)]
    output = [
        openai_line("ja-2:fluency", '{"score": 0'[:-2], finish_reason="length"),
        openai_line("ja-1:fluency", '```json\n{"justification": "ok", "score": "2"}\n```'),
        openai_line("ja-3:fluency", "", refusal="I can't."),
    ]
    errors = [{"id": "r", "custom_id": "ja-4:fluency", "response": {"status_code": 500, "body": {}}, "error": None}]
    files = [write_rows(tmp_path / f"{name}.jsonl", found) for name, found in (("in", asked), ("out", output), ("err", errors))]
    summary = imported(*files, language="ja", id_pattern=r"(?P<item>.+):(?P<metric>.+)", judge="openai/gpt-4o-2024-08-06")
    assert sorted((item, score) for item, _, _, _, score in scored(summary)) == [
        ("ja-1", 2),
        ("ja-2", "truncated"),
        ("ja-3", "refused"),
        ("ja-4", "missing"),
        ("ja-5", "missing"),
    ]
    assert "1 requests have no reply; they count as missing" in summary.notes


def test_batches_of_anthropic(imported: Callable[..., ScoreImportSummary], tmp_path: Path) -> None:
    def line(name: str, kind: str = "succeeded", text: str = "", stop: str = "end_turn") -> dict[str, Any]:
        message = {"model": "claude-x", "content": [{"type": "text", "text": text}], "stop_reason": stop}
        return {"custom_id": name, "result": {"type": kind} | ({"message": message} if kind == "succeeded" else {})}

    lines = [line("a", text="Score: 1"), line("b", "errored"), line("c", "expired"), line("d", text="No.", stop="refusal")]
    path = write_rows(tmp_path / "batch.jsonl", lines)
    summary = imported(path, language="cs", metric="fluency", judge="anthropic/claude-x")
    assert [score for *_, score in scored(summary)] == [1, "missing", "missing", "refused"]


def test_tables_of_judgments_in_csv_and_xlsx(imported: Callable[..., ScoreImportSummary], tmp_path: Path) -> None:
    from openpyxl import Workbook

    header = ["item_id", "language", "judge", "metric", "score", "failure", "repeat", "output"]
    body = [
        ["a", "cs", "m", "fluency", "2", None, None, "Ahoj"],
        ["a", "cs", "m", "fluency", "1", None, 1, "Ahoj"],
        ["b", "cs", "m", "fluency", None, "refused", None, "Nazdar"],
        ["c", "cs", "m", "fluency", "7", None, None, "Čau"],
    ]
    book = Workbook()
    for row in [header, *body]:
        book.active.append(row)
    book.save(tmp_path / "judgments.xlsx")
    text = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in [header, *body])
    (tmp_path / "judgments.csv").write_text(text, "utf-8")
    expected = [
        ("a", "m", "fluency", 0, 2),
        ("a", "m", "fluency", 1, 1),
        ("b", "m", "fluency", 0, "refused"),
        ("c", "m", "fluency", 0, "off_scale"),
    ]
    assert scored(imported(tmp_path / "judgments.csv")) == expected
    (tmp_path / "data" / "judgments.jsonl").unlink()
    assert scored(imported(tmp_path / "judgments.xlsx")) == expected


def test_scores_join_a_folder_that_has_items_and_labels(imported: Callable[..., ScoreImportSummary], tmp_path: Path) -> None:
    folder = tmp_path / "data"
    write_rows(folder / "items.jsonl", [{"item_id": "ja-1", "language": "ja", "task": "thanks", "output": JA1}])
    write_rows(folder / "labels.jsonl", [{"item_id": "ja-1", "annotator_id": "p", "metric": "fluency", "score": 2}])
    (folder / "data.toml").write_text('id = "mine"\n[metrics.fluency]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n', "utf-8")
    labels = (folder / "labels.jsonl").read_bytes()
    chosen: dict[str, Any] = {"scales": (), "drop": ("fluency [GEval]",), "rename": ("Calibrated fluency=fluency",)}
    before = sorted(folder.iterdir())
    assert not imported("deepeval-test-run.json", **chosen).written and sorted(folder.iterdir()) == before
    summary = imported("deepeval-test-run.json", **chosen, allow_refused=True)
    assert scored(summary) == [("ja-1", "openai/gpt-4o", "fluency", 0, 2)]
    assert [refusal.reason for refusal in summary.refused] == ["there is no item 'ja-2'", "there is no item 'cs-1'"]
    assert (folder / "labels.jsonl").read_bytes() == labels
    with pytest.raises(UsageError, match="already holds judgments; pass --append"):
        imported("mlflow-traces.json")
    again = imported("mlflow-traces.json", append=True, allow_refused=True)
    assert len(rows(folder, "judgments")) == 2 and again.judgments == 1
    assert harness.compare(folder).cells


def test_a_new_folder_keeps_what_the_items_of_another_one_are_grouped_by(
    imported: Callable[..., ScoreImportSummary], tmp_path: Path
) -> None:
    """Two answers to one question are no independent texts, whoever judged them."""
    items = [{"item_id": name, "language": "cs", "task": "open", "question": "q1", "output": "Ano."} for name in ("a", "b")]
    write_rows(tmp_path / "given" / "items.jsonl", items)
    (tmp_path / "given" / "data.toml").write_text('id = "given"\ngroup = "question"\n', "utf-8")
    write_rows(tmp_path / "scores.jsonl", [{"item_id": item["item_id"], "metric": "fluency", "score": 1, "judge": "j"} for item in items])
    summary = imported(tmp_path / "scores.jsonl", items=str(tmp_path / "given"))
    assert {item.group for item in load_folder(summary.folder, Library()).items} == {"q1"}


def test_a_missing_scale_is_said_once_with_the_values_seen(imported: Callable[..., ScoreImportSummary], tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        imported("graded.eval", scales=())
    said = str(caught.value)
    assert said.count("--scale") == 2 and "fluency (values in the file: 2, 0)" in said and "model_graded_qa (values in the file: C" in said
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        ("deepeval-test-run.json", {"judge": None, "item_from": "nothing"}, "no item id"),
        ("mlflow-traces.json", {}, "the language of the items is unknown; give --language TAG for all, --language-from FIELD"),
        ("mlflow-traces.json", {"language": "jp"}, "'jp' is a country code"),
        ("mlflow-traces.json", {"language": "ja", "group": "topic"}, "--group topic: no record has such a field; choose from"),
        ("graded.eval", {"scales": ("tone=0,1:best=1",)}, "--scale tone: the files have no such metric"),
        ("mlflow-traces.json", {"language": "ja", "id_pattern": "("}, "not a regular expression"),
        ("mlflow-traces.json", {"language": "ja", "id_pattern": "x(?P<item>.+)"}, "does not fit --id-pattern"),
        ("mlflow-traces.json", {"language": "ja", "preset": "mlfow"}, "no preset 'mlfow'. Did you mean 'mlflow'"),
        ("lm-eval-samples.jsonl", {"filter": "first", "judge": "j"}, "the metric is unknown; give --metric NAME"),
        ("lm-eval-samples.jsonl", {"filter": "last", "metric": "fluency"}, "the file has no such filter; choose from: first, maj"),
        ("ragas-judged.jsonl", {"wide_metrics": ("fluency",)}, "the judge is unknown; give its name with --judge NAME"),
        ("results.csv", {}, "means of assertions and no failures; import its JSON file"),
    ],
)
def test_what_the_user_has_to_say_is_asked_for(
    imported: Callable[..., ScoreImportSummary], tmp_path: Path, file: str, options: dict[str, Any], message: str
) -> None:
    given = {"scales": ("fluency [GEval]=0..1", "Calibrated fluency=0,1,2:best=2") if "deepeval" in file else (FLUENCY,)} | options
    try:
        summary = imported(file, **given)
        said = " ".join(refusal.reason for refusal in summary.refused)
        assert not summary.written
    except (UsageError, ContentError) as error:
        said = str(error)
    assert message in said and not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", ":1: not JSON"),
        (b"\xff{}", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'[{"scorer": "x", "samples": []}]', "reductions of Inspect are aggregates, not judgments"),
        (b'{"version": 2, "eval": {}, "samples": [{"id": 1, "scores": [1]}]}', "does not have Inspect's form"),
        (b'{"version": 2, "eval": {}, "samples": []}', "no sample has a score"),
        (b"[]", "no records"),
        (b'{"a": 1}', "a list of records is expected"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_other_files_are_refused_with_their_place_and_nothing_is_left(
    imported: Callable[..., ScoreImportSummary], tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(ContentError) as caught:
        imported(path)
    assert message in str(caught.value) and str(path) in str(caught.value)
    assert sorted(each.name for each in tmp_path.iterdir()) in (["file.json"], ["file.json", "salt"])


def test_a_damaged_archive_is_refused(imported: Callable[..., ScoreImportSummary], tmp_path: Path) -> None:
    path = tmp_path / "cut.eval"
    path.write_bytes((FILES / "graded.eval").read_bytes()[:20_000])
    with pytest.raises(ContentError):
        imported(path, kind="inspect")


def test_people_get_pseudonyms_unless_they_are_kept(imported: Callable[..., ScoreImportSummary]) -> None:
    [(_, annotator, *_)] = labelled(imported("mlflow-traces.json", language="ja", keep_annotators=False))
    assert annotator.startswith("ann-") and "hanako" not in annotator


def test_scores_of_the_other_program_are_kept_if_asked(imported: Callable[..., ScoreImportSummary], tmp_path: Path) -> None:
    content = json.loads(json.dumps({"version": 2, "eval": {}, "samples": []}))
    grading = [{"role": "assistant", "model": "m/j", "content": "GRADE: 2"}]
    score = {"value": 2, "explanation": "x", "metadata": {"grading": grading}, "history": []}
    content["samples"] = [{"id": 1, "epoch": 1, "input": "i", "output": {"completion": "o"}, "scores": {"fluency": score}}]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(content), "utf-8")
    first = imported(path, language="cs")
    assert any("read differently" in note for note in first.notes) == (scored(first)[0][-1] != 2)
    (tmp_path / "data" / "judgments.jsonl").unlink()
    assert scored(imported(path, language="cs", take_values=True))[0][-1] == 2
