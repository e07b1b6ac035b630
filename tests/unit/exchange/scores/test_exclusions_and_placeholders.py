"""What other programs leave out, or write in place of a score, is no judgment; most values that cannot be read are said first."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.cli import main
from harness.errors import CONTENT, JUDGE, USAGE

Import = Callable[..., int]
CHOICE = {"finish_reason": "stop"}


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Import:
    """Writes a file and runs `harness import` on it, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(name: str, content: Any, *flags: str, to: str = "data") -> int:
        if isinstance(content, list) and name.endswith(".jsonl"):
            text = "\n".join(map(json.dumps, content))
        else:
            text = content if isinstance(content, str) else json.dumps(content)
        Path(name).write_text(text, "utf-8")
        return main(["import", name, "--to", to, "--keep-annotators", *flags])

    return run


def rows(name: str, folder: str = "data") -> list[dict[str, Any]]:
    path = Path(folder) / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def judged(folder: str = "data") -> dict[str, Any]:
    return {row["item_id"]: row.get("score", row.get("failure")) for row in rows("judgments", folder)}


def inspect_log(*graded: tuple[str, str], invalidated: int = -1, options: dict[str, Any] | None = None) -> dict[str, Any]:
    samples = []
    for number, (value, reply) in enumerate(graded):
        grading = [{"role": "user", "content": "…"}, {"role": "assistant", "content": reply, "model": "m/grader"}]
        score = {"value": value, "explanation": reply, "metadata": {"grading": grading}, "history": []}
        sample = {"id": f"s{number}", "epoch": 1, "input": "q", "output": {"completion": f"Text {number}."}}
        sample |= {"scores": {"model_graded_qa": score}, "metadata": {"language": "cs"}}
        samples.append(sample | ({"invalidation": {"author": "a", "reason": "r"}} if number == invalidated else {}))
    about = {"model": "m", "scorers": [{"name": "inspect_ai/model_graded_qa", "options": options}]}
    return {"version": 2, "eval": about, "samples": samples}


WORDS = ("--map", "C=1,P=0.5,I=0", "--scale", "model_graded_qa=0..1:best=1")
LETTERS = ("--scale", "model_graded_qa=I,P,C:best=C")


def test_samples_that_somebody_invalidated_are_left_out_with_a_note(command: Import, capsys: pytest.CaptureFixture[str]) -> None:
    log = inspect_log(("C", "GRADE: C"), ("C", "GRADE: C"), ("I", "GRADE: I"), invalidated=1)
    assert command("log.json", log, *WORDS) == 0
    assert judged() == {"s0": 1, "s2": 0} and "1 samples that somebody invalidated" in capsys.readouterr().err


@pytest.mark.parametrize(("flags", "right", "wrong"), [(WORDS, 1, 0), (LETTERS, "C", "I")], ids=["mapped", "letters"])
def test_the_grade_of_a_reply_counts_and_not_a_letter_that_stands_for_none(command: Import, flags: Any, right: Any, wrong: Any) -> None:
    """Inspect scored a reply without a grade as incorrect. The last grade of a reply counts, as a letter or a word."""
    graded = [
        ("C", "Fits.\n\nGRADE: C"),
        ("I", "First GRADE: C, but no.\nGRADE: I\nThat is all."),
        ("I", "It is polite and natural. ANSWER: C"),
        ("C", "**GRADE:** Correct"),
        ("I", "A downgrade: C"),
    ]
    assert command("log.json", inspect_log(*graded), *flags) == 0
    assert judged() == {"s0": right, "s1": wrong, "s2": "not_json", "s3": right, "s4": "not_json"}


def test_a_pattern_of_the_user_reads_the_grades(command: Import) -> None:
    log = inspect_log(("2", "Points: 2"), ("2", "Points 2"), ("1", "Points: 1"), options={"grade_pattern": r"Points: (\d)"})
    assert command("log.json", log, "--scale", "model_graded_qa=0,1,2:best=2") == 0
    assert judged() == {"s0": 2, "s1": "not_json", "s2": 1}


def promptfoo(*graded: tuple[float, str]) -> dict[str, Any]:
    results = []
    for number, (score, reason) in enumerate(graded):
        assertion = {"type": "llm-rubric", "metric": "fluency", "provider": "openai:chat:m"}
        component = {"assertion": assertion, "pass": score > 0, "score": score, "reason": reason}
        result = {"gradingResult": {"componentResults": [component]}, "promptIdx": 0, "testIdx": number}
        results.append(result | {"vars": {"item_id": f"i{number}", "language": "cs"}, "response": {"output": "Text."}})
    return {"results": {"version": 3, "results": results}}


_FAILED_CALLS = (
    "Invalid API key",
    "Incorrect API key provided: sk-…",
    "No API key provided",
    "Model overloaded",
    "The model is currently overloaded. Please try again later.",
    "Overloaded",
    "Content filtered",
    "Response was blocked by the content filter",
    "content_filter",
    "Provider returned error",
    "The server returned an error: try again",
    "Judge returned an empty response.",
    "No response from model",
    "Service temporarily unavailable",
    "Model gpt-5 does not exist",
    "Context length exceeded",
    "Prompt is too long",
    "invalid_api_key",
    "overloaded_error: Overloaded",
    "Authentication failed",
    "Access denied",
    "Connection error.",
    "Network error",
    "socket hang up",
    "Credit balance is too low",
    "Resource exhausted",
    "The operation was aborted",
)
_GRADERS_WORDS = (
    "Content filtered answers are what the text explains, and it does so badly.",
    "The model returned an error message instead of a translation.",
    "Invalid API key handling is not described.",
    "The response is empty.",
    "Response rejected: it names no deadline.",
    "Model answers are vague.",
    "Missing request for the deadline.",
    "The input is too long for the reader, and the summary is too.",
    "tone_mismatch: rude",
    "Access is not explained.",
    "The connection between the two sentences is lost on the reader.",
)


def test_a_zero_of_a_call_that_failed_is_no_score(command: Import, capsys: pytest.CaptureFixture[str]) -> None:
    reasons = [
        ("API error: 500 Internal Server Error", "missing"),
        ("API call error: Error: Request timed out", "missing"),
        ("No output", "missing"),
        ("Remote grading failed with status 502: Bad Gateway", "missing"),
        ("Could not perform remote grading: Error: no", "missing"),
        ("llm-rubric produced malformed response - output must be string or object. Output: 3", "not_json"),
        ("Model grader produced a malformed response:\nHm", "not_json"),
        ("Grading failed: fetch failed", "missing"),
        ("OpenAI error 503", "missing"),
        ("429 Too Many Requests", "missing"),
        ("Request timed out after 300000ms", "missing"),
        ("Timeout", "missing"),
        ("insufficient_quota: You exceeded your current quota", "missing"),
        *((reason, "missing") for reason in _FAILED_CALLS),
        *((reason, 0) for reason in _GRADERS_WORDS),
        ("No errors were found, but the text is rude.", 0),
        ("Insufficient detail: the answer names no deadline.", 0),
        ("500 words were asked for, and there are 120.", 0),
        ("Timeout errors are described, but the text is rude.", 0),
        ("Error in grammar: the verb is missing.", 0),
        ("Quotations are missing.", 0),
        ("Failed to get the point across.", 0),
        ("The output is empty of politeness.", 0),
    ]
    code = command("results.json", promptfoo(*((0, reason) for reason, _ in reasons)), "--scale", "fluency=0..1:best=1")
    assert code == JUDGE and list(judged().values()) == [expected for _, expected in reasons]
    first = capsys.readouterr().err.splitlines()[0]
    failed = 13 + len(_FAILED_CALLS)
    assert first.startswith(f"{failed} of {len(reasons)} values of openai/m on 'fluency' cannot be read") and "API error: 500" in first


def test_a_score_that_was_given_is_kept_whatever_its_reason(command: Import) -> None:
    assert command("results.json", promptfoo((0.5, "API error: the text calls it so"), (1, "Fine.")), "--scale", "fluency=0..1:best=1") == 0
    assert judged() == {"i0": 0.5, "i1": 1}


@pytest.mark.parametrize(("value", "zero"), [(0, 0), (False, 0), (0.0, 0)])
def test_a_zero_in_records_is_no_score_where_its_reason_is_a_failed_call(command: Import, value: Any, zero: int) -> None:
    """deepeval, LangSmith and tables of their like keep the reason in a field of its own."""
    reasons = ["Provider returned error", "Error: 429 Too Many Requests", "The text is rude.", "Could not parse the reply"]
    records = [
        {"item_id": f"i{number}", "metric": "tone", "judge": "m", "score": value, "justification": reason, "language": "cs"}
        for number, reason in enumerate([*reasons, "Content filtered"])
    ]
    records.append({**records[0], "item_id": "i5", "score": 1})
    assert command("scores.json", records, "--scale", "tone=0,1:best=1") in (0, JUDGE)
    assert judged() == {"i0": "missing", "i1": "missing", "i2": zero, "i3": "not_json", "i4": "missing", "i5": 1}


def fastchat() -> list[dict[str, Any]]:
    scores = [("alpha", 1, 9), ("alpha", 2, 7), ("beta", 1, -1), ("beta", 2, 4)]
    return [
        {"question_id": 81, "model": model, "judge": ["gpt-4", "single-v1"], "judgment": "Rating.", "score": score, "turn": turn}
        for model, turn, score in scores
    ]


QUALITY = ("--metric", "quality", "--scale", "quality=1..10:best=10", "--language", "en")


@pytest.mark.parametrize("flags", [(), ("--item-from", "question_id,model,turn")])
def test_judgments_of_mt_bench_are_of_a_question_a_model_and_a_turn(command: Import, flags: Any) -> None:
    assert command("gpt-4_single.jsonl", fastchat(), *QUALITY, *flags) == 0
    assert judged() == {"81-alpha-1": 9, "81-alpha-2": 7, "81-beta-1": "not_json", "81-beta-2": 4}
    assert {row["judge"] for row in rows("judgments")} == {"gpt-4"}


def fastchat_pairs() -> list[dict[str, Any]]:
    games = [(81, 1, "model_1", "model_1"), (81, 2, "model_1", "model_2"), (82, 1, "tie", "error")]
    return [
        {"question_id": question, "model_1": "alpha", "model_2": "beta", "g1_winner": first, "g2_winner": second, "turn": turn}
        | {"judge": ["gpt-4", "pair-v2"], "g1_judgment": "[[A]]", "g2_judgment": "[[B]]", "g1_user_prompt": "p", "tstamp": 1.5}
        for question, turn, first, second in games
    ]


def test_the_two_games_of_a_pair_are_its_two_orders(command: Import) -> None:
    """FastChat turns the winner of the second game back into a model, so it is not turned again."""
    assert command("gpt-4_pair.jsonl", fastchat_pairs(), "--language", "en") == 0
    said = [(row["item_id"], row["order"], row.get("score", row.get("failure"))) for row in rows("judgments")]
    assert said == [
        ("81-alpha-beta-1", "forward", "A"),
        ("81-alpha-beta-1", "swapped", "A"),
        ("81-alpha-beta-2", "forward", "A"),
        ("81-alpha-beta-2", "swapped", "B"),
        ("82-alpha-beta-1", "forward", "tie"),
        ("82-alpha-beta-1", "swapped", "not_json"),
    ]
    assert {row["judge"] for row in rows("judgments")} == {"gpt-4"}
    assert {(row["system_a"], row["system_b"]) for row in rows("items")} == {("alpha", "beta")}
    data = harness.load("data")
    assert data.judgments is not None and list(data.judgments.order).count("swapped") == 3
    assert command("gpt-4_pair.jsonl", fastchat_pairs(), "--language", "en", "--append") != 0, "the same games are no repeats of folders"


@pytest.mark.parametrize("winner", [None, "model_3", 1])
def test_a_game_without_a_winner_is_a_failure(command: Import, winner: Any) -> None:
    games = [*fastchat_pairs(), *fastchat_pairs()[:1]]
    games[3] = games[3] | {"question_id": 83, "g1_winner": winner}
    command("gpt-4_pair.jsonl", games, "--language", "en")
    [failure] = [row["failure"] for row in rows("judgments") if row["item_id"] == "83-alpha-beta-1" and row["order"] == "forward"]
    assert failure == ("missing" if winner is None else "off_scale")


def test_records_of_several_models_are_no_repeats(command: Import, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("gpt-4_single.jsonl", fastchat(), *QUALITY, "--item-from", "question_id") == USAGE
    assert "differ in 'turn'" in capsys.readouterr().err and not Path("data").exists()


@pytest.mark.parametrize("name", ["scores.csv", "scores.jsonl"])
def test_the_field_of_the_id_is_named_for_tables_too(command: Import, name: str) -> None:
    lines = [{"question_id": f"q{n}", "judge": "m", "metric": "fluency", "score": n, "language": "cs", "output": "Ano."} for n in (1, 2)]
    csv = "\n".join([",".join(lines[0]), *(",".join(map(str, line.values())) for line in lines)])
    content = csv if name.endswith(".csv") else lines
    assert command(name, content, "--item-from", "question_id", "--scale", "fluency=0,1,2:best=2") == 0
    assert judged() == {"q1": 1, "q2": 2}


def langfuse(camel: bool) -> list[dict[str, Any]]:
    names = ("traceId", "stringValue", "dataType", "authorUserId") if camel else ("trace_id", "string_value", "data_type", "author_user_id")
    scores = [("t1", 1, "True", "EVAL", None), ("t2", 0, "False", "EVAL", None), ("t2", 1, "True", "ANNOTATION", "u1")]
    return [
        {"name": "fluent", "value": value, "source": source, **dict(zip(names, (trace, word, "BOOLEAN", user), strict=True))}
        for trace, value, word, source, user in scores
    ]


@pytest.mark.parametrize("camel", [True, False], ids=["interface", "export"])
@pytest.mark.parametrize("flags", [(), ("--map", "True=1,False=0")], ids=["number", "word"])
def test_the_number_of_a_truth_value_is_its_meaning(command: Import, camel: bool, flags: Any) -> None:
    code = command("scores.jsonl", langfuse(camel), "--language", "cs", "--judge", "m", "--scale", "fluent=0,1:best=1", *flags)
    assert code == 0 and judged() == {"t1": 1, "t2": 0}
    assert [(row["annotator_id"], row["score"]) for row in rows("labels")] == [("u1", 1)]


def test_the_data_frame_of_phoenix_has_people_judges_and_a_placeholder(command: Import) -> None:
    table = (
        "span_id,annotation_name,annotator_kind,identifier,source,user_id,result.label,result.score,result.explanation\n"
        "s1,fluency,LLM,,API,,fluent,1.0,ok\ns1,fluency,HUMAN,,APP,u7,not fluent,0.0,\ns2,fluency,LLM,,API,,NOT_PARSABLE,0.0,\n"
    )
    assert command("annotations.csv", table, "--language", "cs", "--judge", "m", "--scale", "fluency=0..1:best=1") == 0
    assert judged() == {"s1": 1.0, "s2": "not_json"}
    assert [(row["annotator_id"], row["score"]) for row in rows("labels")] == [("u7", 0.0)]


def batch(name: str, message: dict[str, Any] | None, status: int = 200, error: str = "") -> dict[str, Any]:
    body = {"model": "m", "choices": [{"message": message, **CHOICE}]} if message else {"error": {"message": error, "code": "x"}}
    return {"id": name, "custom_id": name, "response": {"status_code": status, "body": body}, "error": None}


def test_a_batch_is_read_as_a_run_reads_it(command: Import) -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "3?"}]}, {"type": "text", "text": '{"score": 4}'}]
    call = {"id": "t", "type": "function", "function": {"name": "a", "arguments": '{"score": 4}'}}
    lines = [
        batch("plain", {"content": '{"score": 4}'}),
        batch("parts", {"content": parts}),
        batch("filtered", None, 400, "the content filter was triggered"),
        batch("busy", None, 500, "no"),
        batch("reasoning", {"content": None, "reasoning_content": '{"score": 4}'}),
        batch("tool", {"content": None, "tool_calls": [call]}),
    ]
    assert command("batch.jsonl", lines, "--language", "cs", "--metric", "quality", "--scale", "quality=1,2,3,4,5:best=5") == 0
    assert judged() == {"plain": 4, "parts": 4, "filtered": "refused", "busy": "missing", "reasoning": 4, "tool": 4}


def test_conversations_of_deepeval_and_items_of_openai_are_read_and_other_lists_are_named(
    command: Import, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = [{"name": "m", "score": 0.5, "evaluationModel": "gpt"}]
    flags = ("--language", "cs", "--scale", "m=0..1:best=1")
    conversations = {"testCases": [], "conversationalTestCases": [{"name": "c1", "metricsData": metrics, "turns": []}]}
    assert command("run.json", conversations, *flags, to="a") == 0 and judged("a") == {"c1": 0.5}
    items = {"object": "list", "data": [{"datasource_item": {"item_id": "i1"}, "results": metrics, "sample": {"output": []}}]}
    assert command("evals.json", items, *flags, to="b") == 0 and judged("b") == {"i1": 0.5}
    assert command("other.json", {"runs": [{"id": 1, "scores": metrics}]}, *flags, to="c") == CONTENT
    assert "the file has the lists runs[].scores[]" in capsys.readouterr().err


def test_a_truth_value_is_asked_for_with_a_flag_of_this_command(command: Import, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"item_id": "a", "annotator_id": "p", "metric": "fluency", "score": True}]
    assert command("scores.jsonl", lines, "--language", "cs", "--scale", "fluency=no,yes:best=yes") == 1
    assert "--map True=SCORE" in capsys.readouterr().err
    lines[0]["score"] = "YES"  # a class in another case
    assert command("scores.jsonl", lines, "--language", "cs", "--scale", "fluency=no,yes:best=yes") == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [("deleted", True), ("deleted_at", "2026-01-01"), ("isArchived", "true"), ("valid", False), ("status", "discarded"), ("skipped", 1)],
)
def test_records_that_their_program_leaves_out_are_left_out_and_counted(
    command: Import, capsys: pytest.CaptureFixture[str], field: str, value: Any
) -> None:
    lines = [{"item_id": name, "judge": "m", "metric": "fluency", "score": 1} for name in "ab"]
    lines[1][field] = value
    assert command("scores.jsonl", lines, "--language", "cs", "--scale", "fluency=0,1:best=1") == 0
    assert judged() == {"a": 1} and f"1 records with '{field}'" in capsys.readouterr().err


def test_people_of_a_table_are_no_repeats_of_the_judge(command: Import) -> None:
    lines: list[dict[str, Any]] = [{"item_id": "a", "annotator_id": who, "metric": "fluency", "score": 1} for who in ("p", "q", "gpt")]
    lines += [{"item_id": "b", "metric": "fluency", "annotator_id": None, "score": None}]
    assert command("scores.jsonl", lines, "--language", "cs", "--judge", "gpt", "--scale", "fluency=0,1:best=1") == 0
    assert sorted(row["annotator_id"] for row in rows("labels")) == ["p", "q"]
    assert [row["judge"] for row in rows("judgments")] == ["gpt"]
    assert [row["item_id"] for row in rows("items")] == ["a", "b"], "a text that nobody scored is an item"


def test_raters_in_a_column_of_another_name_are_asked_about(command: Import, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"item_id": "a", "reviewer": who, "metric": "fluency", "score": 1} for who in "pq"]
    assert command("scores.jsonl", lines, "--language", "cs", "--judge", "gpt", "--scale", "fluency=0,1:best=1") == USAGE
    assert "differ in 'reviewer'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"score": 1e308}, "off_scale"),
        ({"score": 10**400}, "off_scale"),
        ({"score": float("inf")}, "off_scale"),
        ({"score": float("nan")}, "missing"),
        ({"repeat": 2**80}, "repeat '1208925819614629174706176' is not a whole number"),
        ({"repeat": "x"}, "repeat 'x' is not a number"),
        ({"temperature": "1e999"}, "temperature '1e999' is not a number"),
    ],
    ids=str,
)
def test_values_that_cannot_be_meant_are_refused_or_failures(
    command: Import, capsys: pytest.CaptureFixture[str], change: dict[str, Any], reason: str
) -> None:
    lines = [{"item_id": name, "judge": "m", "metric": "x", "score": -0.0} for name in "abc"]
    lines[0] |= change
    Path("map.toml").write_text('language = "cs"\n[scales.x]\nkind = "interval"\nmin = 0\nmax = 1e9\n', "utf-8")
    code = command("scores.jsonl", lines, "--map", "map.toml", "--allow-refused")
    said, scores = capsys.readouterr().err, judged()
    assert reason == scores.get("a") or (code == 1 and reason in said)
    assert str(scores["b"]) == "0.0"


def test_a_scale_without_an_end_is_refused(command: Import, capsys: pytest.CaptureFixture[str]) -> None:
    Path("map.toml").write_text('language = "cs"\n[scales.x]\nkind = "interval"\nmin = 0\n', "utf-8")
    assert command("scores.jsonl", [{"item_id": "a", "judge": "m", "metric": "x", "score": 1}], "--map", "map.toml") == 2
    assert "the scale of 'x': an interval scale needs min and max" in capsys.readouterr().err


def test_half_of_a_character_is_marked_and_said(command: Import, capsys: pytest.CaptureFixture[str]) -> None:
    log = inspect_log(("C", "GRADE: C \ud83d"), ("C", "GRADE: C"))
    log["samples"][0]["output"]["completion"] = "Cut \ud83d"
    assert command("log.json", log, *WORDS) == 0
    assert rows("items")[0]["output"] == "Cut \ufffd" and "1 texts hold U+FFFD" in capsys.readouterr().err


def test_a_wrong_scale_is_said_first_and_writes_nothing(command: Import, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"item_id": f"i{n}", "judge": "m", "metric": "x", "score": n} for n in range(4, 10)]
    assert command("scores.jsonl", lines, "--language", "cs", "--scale", "x=0,1,2:best=2") == JUDGE
    first, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith("6 of 6 values of m on 'x' cannot be read, such as \"4\"") and "reach from 4 to 9" in first
    assert not Path("data").exists()
    assert command("scores.jsonl", lines, "--language", "cs", "--scale", "x=0,1,2:best=2", "--allow-refused") == JUDGE
    assert set(judged().values()) == {"off_scale"}


def test_letters_without_a_score_are_named_with_the_flag(command: Import, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"item_id": f"i{n}", "judge": "m", "metric": "x", "score": "CI"[n % 2]} for n in range(6)]
    assert command("scores.jsonl", lines, "--language", "cs", "--scale", "x=0..1:best=1") == JUDGE
    assert "--map C=SCORE,I=SCORE" in capsys.readouterr().err.splitlines()[0]


def test_two_imports_at_once_lose_nothing(command: Import, tmp_path: Path) -> None:
    base = {"judge": "m", "metric": "x", "score": 1}
    flags = ("--language", "cs", "--scale", "x=0,1:best=1")
    assert command("first.jsonl", [{"item_id": "a", **base}], *flags) == 0
    for name in ("b", "c", "d"):
        Path(f"{name}.jsonl").write_text(json.dumps({"item_id": "a", **base, "judge": name}), "utf-8")
    arguments = [["import", f"{name}.jsonl", "--to", "data", "--append", *flags] for name in ("b", "c", "d")]
    threads = [threading.Thread(target=main, args=(each,)) for each in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row["judge"] for row in rows("judgments")) == ["b", "c", "d", "m"]
    assert not (tmp_path / "data" / ".lock").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_refused_and_not_waited_for(command: Import, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.jsonl")
    os.mkfifo("map.toml")
    assert main(["import", "pipe.jsonl", "--to", "data"]) == USAGE
    assert command("scores.jsonl", [{"item_id": "a"}], "--map", "map.toml") == CONTENT
    assert capsys.readouterr().err.count("a pipe or a device") == 2
