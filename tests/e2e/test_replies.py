"""A response with status 200 is sorted before it is stored, whatever provider or gateway words it."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
OBJECT = {"justification": "ZEBRA", "score": 1}
KEY = "sk-test-4711-secret"


def failures(done: Any) -> Counter[str]:
    return sum((Counter(cell["failures"]) for cell in json.loads(done.out)["cells"]), Counter())


def said(endpoint: Any, message: Any, finish: Any = "stop", **choice: Any) -> Any:
    body = endpoint.completion([{"index": 0, "finish_reason": finish, "message": message, **choice}])
    return type(endpoint.resetting())(body=body)


TOOL = {"type": "function", "function": {"name": "answer", "arguments": json.dumps(OBJECT)}}
SHAPES: dict[str, dict[str, Any]] = {
    "reasoning_content": {"content": None, "reasoning_content": "\n" + json.dumps(OBJECT)},
    "reasoning": {"content": "", "reasoning": json.dumps(OBJECT)},
    "a tool call": {"content": None, "tool_calls": [TOOL]},
    "a tool call with parsed arguments": {"content": None, "tool_calls": [{"function": {"name": "answer", "arguments": OBJECT}}]},
    "a function call": {"content": None, "function_call": TOOL["function"]},
    "an object": {"content": OBJECT},
    "a list of texts": {"content": [json.dumps(OBJECT)]},
    "a part": {"content": {"type": "text", "text": json.dumps(OBJECT)}},
    "refusal false": {"content": json.dumps(OBJECT), "refusal": False},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_answer_is_read_and_stored_wherever_it_stands(
    ask: Cli, endpoint: Any, replies: Callable[..., Any], out: Path, shape: str
) -> None:
    endpoint.script = lambda request: said(endpoint, {"role": "assistant", **SHAPES[shape]})
    done = ask("--json")
    assert done.code == 0 and not failures(done)
    assert all("ZEBRA" in reply["text"] for reply in replies(out))


def test_reasoning_and_tool_calls_beside_an_answer_are_stored(ask: Cli, endpoint: Any, replies: Callable[..., Any], out: Path) -> None:
    beside = {"reasoning_content": "Is it a ZEBRA?", "tool_calls": [{"function": {"name": "look", "arguments": '{"for": "GNU"}'}}]}
    endpoint.script = lambda request: said(endpoint, {"content": '{"justification": "x", "score": 1}', **beside})
    assert ask().code == 0
    assert {json.dumps(reply["beside"]) for reply in replies(out)} == {
        json.dumps({"reasoning_content": "Is it a ZEBRA?", "tool_calls": '{"for": "GNU"}'})
    }


def test_reasoning_that_is_no_answer_is_no_answer(ask: Cli, endpoint: Any, replies: Callable[..., Any], out: Path) -> None:
    endpoint.script = lambda request: said(endpoint, {"content": None, "reasoning_content": 'Perhaps {"score": 1}, or 2.'})
    done = ask("--json")
    assert set(failures(done)) == {"missing"} and all("Perhaps" in reply["beside"]["reasoning_content"] for reply in replies(out))


BROKEN: dict[str, Callable[[Any], Any]] = {
    "an error in the choice": lambda e: said(e, {"content": ""}, "error", error={"code": 502, "message": "upstream broke"}),
    "network_error": lambda e: said(e, {"content": ""}, "network_error"),
    "no resources": lambda e: said(e, {"content": '{"just'}, "insufficient_system_resource"),
    "no choices": lambda e: type(e.resetting())(body=e.completion([])),
    "nothing": lambda e: type(e.resetting())(body=e.completion([{"message": {"content": ""}, "finish_reason": "stop"}]) | {"usage": None}),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_failed_generation_is_asked_again(ask: Cli, endpoint: Any, rows: Callable[..., Any], out: Path, kind: str) -> None:
    endpoint.script = endpoint.first(endpoint.saying(OBJECT), BROKEN[kind](endpoint))
    done = ask("--json", "--concurrency", "1")
    assert done.code == 0 and not failures(done)
    [lost] = rows(out, "SELECT lost FROM attempts WHERE lost IS NOT NULL")
    assert "failed generation" in lost["lost"]


REASONS = {
    "refused": ("SAFETY", "PROHIBITED_CONTENT", "content_filter: PROHIBITED_CONTENT", "sensitive", "guardrail_intervened", "ERROR_TOXIC"),
    "truncated": ("MAX_TOKENS", "model_length", "max_output_tokens", "model_context_window_exceeded", "ERROR_LIMIT"),
}


@pytest.mark.parametrize(("failure", "reason"), [(failure, reason) for failure, each in REASONS.items() for reason in each])
def test_finish_reasons_of_other_providers_are_understood(
    ask: Cli, endpoint: Any, replies: Callable[..., Any], out: Path, failure: str, reason: str
) -> None:
    endpoint.script = lambda request: said(endpoint, {"content": None if failure == "refused" else "Well, this text is"}, reason)
    assert set(failures(ask("--json", "--limit", "1"))) == {failure}
    assert {reply["finish_reason"] for reply in replies(out)} == {reason}


def test_a_reply_that_is_longer_than_any_answer_is_stored_cut_and_named(
    ask: Cli, endpoint: Any, replies: Callable[..., Any], out: Path
) -> None:
    endpoint.script = lambda request: endpoint.saying('{"score": 1}' + " " * 3_000_000)
    assert set(failures(ask("--json", "--limit", "1"))) == {"truncated"}
    for reply in replies(out):
        assert len(reply["text"]) == 2**18 and reply["whole_length"] == 3_000_012
    assert sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) < 4_000_000


def test_replies_without_a_score_are_asked_again_where_that_is_wanted(ask: Cli, endpoint: Any, rows: Callable[..., Any], out: Path) -> None:
    endpoint.script = endpoint.first(
        endpoint.saying(OBJECT), endpoint.saying({"justification": "x"}), endpoint.saying("{", finish="length")
    )
    assert sum(failures(ask("--json", "--concurrency", "1")).values()) == 2
    before = len(endpoint.requests)
    done = ask("--json", "--reask", "missing,truncated")
    assert done.code == 0 and not failures(done) and len(endpoint.requests) == before + 2
    assert len(rows(out, "SELECT reply FROM attempts WHERE attempt = 2 AND reply IS NOT NULL")) == 2
    assert len(rows(out, "SELECT reply FROM attempts WHERE attempt = 1 AND reply IS NOT NULL")) == before


@pytest.mark.parametrize(
    "text", ["Cannot request more than 5 logprobs.", "logprobs of 20, which is more than allowed: 5", "at most 3 logprobs"]
)
def test_an_endpoint_with_fewer_alternatives_is_asked_for_so_many(ask: Cli, endpoint: Any, text: str) -> None:
    limit = 3 if "3" in text else 5
    endpoint.script = lambda request: (
        endpoint.error(400, text) if request.body.get("top_logprobs", 0) > limit else endpoint.saying('{"score": 1}')
    )
    assert ask("--variant", "single+score-only+probabilities", "--concurrency", "1").code == 0
    assert {request.body.get("top_logprobs") for request in endpoint.requests[1:]} == {limit}


WRITTEN = {
    "reversed": KEY[::-1],
    "hex": KEY.encode().hex(),
    "entities": "".join(f"&#{ord(c)};" for c in KEY),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "percent": "".join(f"%{ord(c):02X}" for c in KEY),
    "zero width": "\u200b".join(KEY),
    "distances": "z".join(KEY),
}


@pytest.mark.parametrize("how", WRITTEN)
def test_a_key_in_a_reply_reaches_no_file_however_it_is_written(
    ask: Cli, endpoint: Any, out: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    message = {"content": json.dumps({"justification": WRITTEN[how], "score": 1}), "reasoning": f"The key: {WRITTEN[how]}"}
    endpoint.script = lambda request: said(endpoint, message)
    done = ask("--limit", "1")
    kept = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file()).decode(errors="replace")
    assert WRITTEN[how] not in kept + done.out + done.err and "[key]" in kept


@pytest.mark.parametrize(
    "body",
    [
        {"error_code": 336104, "error_msg": "prompt contains sensitive content"},
        {"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}, "choices": None},
        {"code": 400, "message": "the prompt was blocked for safety", "choices": []},
    ],
)
def test_an_error_about_a_text_with_status_200_is_a_refusal_however_it_is_named(ask: Cli, endpoint: Any, body: Any) -> None:
    endpoint.script = endpoint.first(type(endpoint.resetting())(body=body))
    done = ask("--json")
    assert done.code == 0, done.err
    assert failures(done) == Counter(refused=1)


# ---- further headers and fields, and the version of an interface


def test_further_headers_are_sent_and_only_their_names_are_recorded(ask: Cli, endpoint: Any, out: Path) -> None:
    echoed = {"justification": "You sent gateway-secret-0815.", "score": 1}
    endpoint.script = lambda request: endpoint.saying(echoed)
    assert ask("--header", "X-Gateway=gateway-secret-0815", "--header", "X-Mode=a=b").code == 0
    assert {(r.headers["x-gateway"], r.headers["x-mode"]) for r in endpoint.requests} == {("gateway-secret-0815", "a=b")}
    kept = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert b"gateway-secret" not in kept and b"X-Gateway" in kept


def test_further_fields_are_sent_and_make_another_judge(ask: Cli, endpoint: Any, out: Path) -> None:
    done = ask("--json", "--body", "reasoning_effort=low", "--body", 'provider={"order": ["a"]}')
    assert done.code == 0
    assert {(r.body["reasoning_effort"], str(r.body["provider"])) for r in endpoint.requests} == {("low", "{'order': ['a']}")}
    asked = len(endpoint.requests)
    assert "reasoning_effort" in str(json.loads(done.out)["signatures"])
    ask("--body", "reasoning_effort=high")
    assert len(endpoint.requests) == 2 * asked
    ask("--body", "reasoning_effort=high")
    assert len(endpoint.requests) == 2 * asked


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (("--body", "temperature=1"), "--temperature"),
        (("--body", "stream=true"), "read whole"),
        (("--body", "top_k=NaN"), "numbers that JSON has"),
        (("--body", 'provider={"limit": [1e999]}'), "numbers that JSON has"),
        (("--header", "Content-Length=3"), "cannot set 'Content-Length'"),
        (("--header", "X-Key=gateway\nsecret"), "no header has"),
        (("--header", "nothing-secret"), "expected NAME=VALUE"),
        (("--header", "openai/other=X-A=b"), "not a judge of this run"),
    ],
)
def test_what_a_request_cannot_have_is_refused(ask: Cli, endpoint: Any, flags: tuple[str, ...], problem: str) -> None:
    done = ask(*flags)
    assert done.code == 2 and problem in done.err and "secret" not in done.err and not endpoint.requests


def test_a_specification_file_holds_headers_and_fields(ask: Cli, endpoint: Any, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text('header = ["X-Project=42"]\nbody = ["reasoning_effort=low"]\n')
    assert ask("--spec", tmp_path / "spec.toml").code == 0
    assert {(r.headers["x-project"], r.body["reasoning_effort"]) for r in endpoint.requests} == {("42", "low")}


def test_the_version_in_a_base_url_is_kept_on_the_path(ask: Cli, endpoint: Any) -> None:
    assert ask("--base-url", f"{endpoint.url}?api-version=2024-10-21").code == 0
    assert {request.path for request in endpoint.requests} == {"/v1/chat/completions?api-version=2024-10-21"}


def test_writers_are_sent_headers_and_fields(cli: Cli, endpoint: Any, tmp_path: Path) -> None:
    where = ("--base-url", endpoint.url, "--out", tmp_path / "written")
    request = ("--header", "X-Project=42", "--body", "reasoning_effort=low")
    assert cli("generate", "--task", "summarize", "--langs", "cs", "--limit", "1", "--by", "openai/m", *request, *where).code == 0
    assert {(r.headers["x-project"], r.body["reasoning_effort"]) for r in endpoint.requests} == {("42", "low")}


# ---- prompts that were cut


@pytest.mark.parametrize("cut", [True, False])
def test_prompts_that_an_endpoint_cuts_in_silence_are_said(cli: Cli, endpoint: Any, out: Path, tmp_path: Path, cut: bool) -> None:
    folder = tmp_path / "long"
    folder.mkdir()
    texts = [f"Text {n}. " + "A sentence of the text. " * (50 if n < 4 else 800 + 50 * n) for n in range(10)]
    items = [{"item_id": f"i{n}", "language": "en", "task": "imported", "output": text} for n, text in enumerate(texts)]
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    labels = [{"item_id": f"i{n}", "annotator_id": who, "metric": "fluency", "score": n % 3} for n in range(10) for who in "ab"]
    (folder / "labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels))
    (folder / "data.toml").write_text('id = "long"\n[metrics.fluency]\nkind = "ordinal"\nclasses = [0, 1, 2]\nbest = 2\n')
    (tmp_path / "p.toml").write_text(
        'metric = "fluency"\nread = "json:score"\n[[message]]\nrole = "user"\ntext = "Rate 0, 1 or 2, as JSON with score: {{output}}"\n'
    )

    def script(request: Any) -> Any:
        size = sum(len(message["content"]) for message in request.body["messages"]) // 4
        body = endpoint.saying({"score": 1}).body
        return type(endpoint.resetting())(
            body=body | {"usage": {"prompt_tokens": min(size, 2050) if cut else size, "completion_tokens": 5}}
        )

    endpoint.script = script
    flags = ("run", "--data", folder, "--prompt", tmp_path / "p.toml", "--judge", "openai/m", "--base-url", endpoint.url, "--out", out)
    done = cli(*flags, "--yes", "--json")
    assert done.code == 0
    assert any("6 replies report the same 2,050 prompt tokens" in note for note in json.loads(done.out)["notes"]) is cut
    assert ("to cut long prompts" in done.err) is cut
