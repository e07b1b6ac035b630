"""Refusals by endpoints: which are about a text, which about the request, and what a run makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
CALLS = 4  # of the small run
ONE = ("--concurrency", "1")


def failures(done: Any) -> dict[str, int]:
    """The failures of a report, over its cells."""
    total: dict[str, int] = {}
    for cell in json.loads(done.out)["cells"]:
        for name, count in cell["failures"].items():
            total[name] = total.get(name, 0) + count
    return total


def text_of(request: Any) -> str:
    return str(request.body["messages"][-1]["content"])


def output_tokens(request: Any) -> int:
    return int(request.body.get("max_completion_tokens") or request.body["max_tokens"])


def refusing(endpoint: Any, answer: Any, chosen: Callable[[int], bool]) -> Callable[[Any], Any]:
    """A script that refuses texts, chosen by the order in which they first come, whenever they come."""
    order: dict[str, int] = {}

    def script(request: Any) -> Any:
        number = order.setdefault(text_of(request), len(order))
        return answer if chosen(number) else endpoint.good(request)

    return script


# ---- texts that are refused


@pytest.mark.parametrize(
    ("status", "words", "failure"),
    [
        (400, "Content Exists Risk", "refused"),
        (403, "This goes against our usage guidelines", "refused"),
        (400, "您的输入含有敏感内容", "refused"),
        (400, "We would rather not read this one", "refused"),  # no reason that is known
        (403, "No", "refused"),
        (422, "Prompt exceeds max length", "missing"),
        (500, "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it", "missing"),
    ],
)
@pytest.mark.parametrize("first", [0, 1])
def test_texts_that_are_refused_are_failures_of_these_texts(
    ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path, status: int, words: str, failure: str, first: int
) -> None:
    endpoint.script = refusing(endpoint, endpoint.error(status, words), lambda number: number % 2 == first)
    done = ask(*ONE, "--json")
    assert (done.code, failures(done)) == (0, {failure: CALLS // 2}), done.err
    assert any(words in (reply["refusal"] or reply["error"] or "") for reply in replies(out))
    asked = len(endpoint.requests)
    again = ask(*ONE)
    assert again.code == 0 and len(endpoint.requests) == asked  # nothing is left to ask


def test_a_row_of_refusals_without_a_reason_does_not_end_a_run_whose_other_calls_are_answered(cli: Cli, endpoint: Any, out: Path) -> None:
    endpoint.script = refusing(endpoint, endpoint.error(400, "We would rather not read this one"), lambda number: 1 <= number < 8)
    small = ("run", "--langs", "cs,ja", "--tasks", "open_prompt", "--judge", "openai/m", "--base-url", endpoint.url, "--out", out)
    done = cli(*small, *ONE, "--metrics", "linguistic_acceptability", "--json")
    assert (done.code, failures(done)) == (4, {"refused": 7}), done.err  # 7 of 12: no verdict rests on the others
    repeated = len(endpoint.requests) - len({text_of(request) for request in endpoint.requests})
    assert repeated <= 3  # the first refusals (two texts are in turn) are asked again, and an answered call once


def test_refusals_without_a_reason_stop_a_judge_whose_endpoint_answers_nothing_any_more(
    ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path, refused: Callable[..., None]
) -> None:
    def script(request: Any) -> Any:
        return endpoint.good(request) if len(endpoint.requests) <= 2 else endpoint.error(400, "Not any more")

    endpoint.script = script
    refused(ask("--limit", "8", *ONE), 4, "400: Not any more", "5 refusals one after the other", "All answers so far are kept")
    assert len(replies(out)) == 2
    endpoint.script = endpoint.good
    assert ask("--limit", "8").code == 0


def test_a_command_that_goes_on_with_refused_texts_alone_finds_that_they_are_refused(ask: Cli, endpoint: Any) -> None:
    script = refusing(endpoint, endpoint.error(400, "We would rather not read this one"), lambda number: number > 1)
    endpoint.script = script
    assert ask("--max-calls", "2", *ONE).code == 6
    done = ask(*ONE, "--json")
    assert (done.code, failures(done)) == (0, {"refused": 2})


def test_a_gateway_passes_on_what_its_provider_said(ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path) -> None:
    def passed_on(words: str) -> Any:
        raw = json.dumps({"error": {"message": words, "type": "invalid_request_error"}})
        answer = endpoint.error(400, "Provider returned error")
        answer.body["error"]["metadata"] = {"raw": raw, "provider_name": "somebody"}
        return answer

    too_long = refusing(endpoint, passed_on("This model's maximum context length is 4096 tokens."), lambda number: number == 2)

    def script(request: Any) -> Any:
        for name in ("temperature", "response_format"):
            if name in request.body:
                return passed_on(f"'{name}' is not supported by this model")
        return too_long(request)

    endpoint.script = script
    done = ask(*ONE, "--json")
    assert (done.code, failures(done)) == (0, {"missing": 1})
    assert {tuple(reply["left_out"]) for reply in replies(out) if not reply["error"]} == {("temperature",)}
    assert [reply["error"] for reply in replies(out) if reply["error"]] == [
        "400: Provider returned error: This model's maximum context length is 4096 tokens."
    ]


def test_a_text_that_the_provider_found_to_be_no_json_is_a_reply(
    ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path
) -> None:
    answer = endpoint.error(400, "The JSON does not match the schema. See 'failed_generation'.", "json_validate_failed")
    answer.body["error"]["failed_generation"] = '{"justification": "Well.", "score": 1,}'
    endpoint.script = endpoint.first(endpoint.saying({"score": 1}), answer)
    done = ask(*ONE, "--json")
    assert (done.code, failures(done), len(endpoint.requests)) == (0, {}, CALLS)
    assert replies(out)[1]["text"] == '{"justification": "Well.", "score": 1,}'
    assert {reply["form"] for reply in replies(out)} == {"json_schema"}


def test_a_failed_generation_without_its_text_is_asked_again_in_the_same_form(ask: Cli, endpoint: Any) -> None:
    said = endpoint.error(400, "Failed to generate JSON for the schema", "json_validate_failed")
    endpoint.script = endpoint.first(endpoint.saying({"score": 1}), said)
    assert ask(*ONE).code == 0 and len(endpoint.requests) == CALLS + 1
    assert {request.form for request in endpoint.requests} == {"json_schema"}


# ---- requests that are refused


@pytest.mark.parametrize("words", ["Bad Request", "The request has an invalid argument.", "Extra inputs are not permitted"])
@pytest.mark.parametrize("taken", ["json_object", "text"])
def test_looser_answer_formats_are_tried_where_a_first_refusal_names_nothing(ask: Cli, endpoint: Any, words: str, taken: str) -> None:
    def script(request: Any) -> Any:
        return endpoint.good(request) if request.form in (taken, "text") else endpoint.error(400, words)

    endpoint.script = script
    assert ask(*ONE).code == 0
    assert [request.form for request in endpoint.requests][-CALLS:] == [taken] * CALLS
    assert len(endpoint.requests) == CALLS + (3 if taken == "json_object" else 4)


def test_an_endpoint_that_refuses_everything_without_a_reason_ends_the_run(ask: Cli, endpoint: Any, refused: Callable[..., None]) -> None:
    endpoint.script = lambda request: endpoint.error(400, "Bad Request")
    refused(ask(*ONE), 4, "refused a call with 400: Bad Request")
    assert len(endpoint.requests) < 20


# ---- room for the answer


def test_a_refusal_of_one_text_changes_the_room_of_no_other(ask: Cli, endpoint: Any) -> None:
    words = "'max_tokens' or 'max_completion_tokens' does not fit: this model's maximum context length is 2048 tokens, the prompt has 1900."
    endpoint.script = refusing(endpoint, endpoint.error(400, words), lambda number: number == 1)
    done = ask(*ONE, "--json")
    assert (done.code, failures(done), len(endpoint.requests)) == (0, {"missing": 1}, CALLS)
    assert len({output_tokens(request) for request in endpoint.requests}) == 1


THINKING = {
    "counted": {"usage": {"prompt_tokens": 700, "completion_tokens": 400, "completion_tokens_details": {"reasoning_tokens": 400}}},
    "beside": {"message": {"role": "assistant", "content": None, "reasoning_content": "Let me see. " * 50}},
    "inside": {"message": {"role": "assistant", "content": "<think>Let me see. " * 50}},
    "nothing": {"message": {"role": "assistant"}},
}


def thinks(endpoint: Any, kind: str) -> Any:
    answer = endpoint.saying("", finish="length")
    answer.body["choices"][0]["message"] = THINKING[kind].get("message", {"role": "assistant", "content": ""})
    answer.body["usage"] = THINKING[kind].get("usage", {"prompt_tokens": 700, "total_tokens": 1100})
    return answer


@pytest.mark.parametrize("kind", THINKING)
def test_any_sign_of_reasoning_brings_room_for_it(ask: Cli, endpoint: Any, kind: str) -> None:
    endpoint.script = lambda request: endpoint.good(request) if output_tokens(request) > 1000 else thinks(endpoint, kind)
    done = ask(*ONE, "--json")
    assert (done.code, failures(done), len(endpoint.requests)) == (0, {}, CALLS + 1)


def test_an_answer_that_is_cut_without_a_sign_of_reasoning_is_truncated(ask: Cli, endpoint: Any) -> None:
    endpoint.script = lambda request: endpoint.saying('{"justification": "This text is', finish="length")
    done = ask(*ONE, "--json")
    assert (done.code, failures(done), len(endpoint.requests)) == (4, {"truncated": CALLS}, CALLS)


NO_ROOM = {  # {0} is the length that was asked for, {1} the sum with the prompt
    "vLLM": "'max_tokens' is too large: {0}. This model's maximum context length is 4096 tokens and your request has 700 input tokens "
    "({0} > 4096 - 700).",
    "OpenAI": "This model's maximum context length is 4096 tokens. However, you requested {1} tokens (700 in the messages, {0} in the "
    "completion). Please reduce the length of the messages or completion.",
    "TGI": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 700 and {0}",
    "Anthropic": "input length and `max_tokens` exceed context limit: 700 + {0} > 4096, decrease input length or `max_tokens`",
    "without numbers": "the request does not fit into the context window",
}
OUTPUT_LIMIT = {
    "OpenAI": "max_tokens is too large: {0}. This model supports at most 4096 completion tokens, whereas you provided {0}.",
    "Anthropic": "max_tokens: {0} > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307",
    "DeepSeek": "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]",
    "DashScope": "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 4096]",
    "Groq": "`max_completion_tokens` must be less than or equal to `4096`, the maximum value for it is less than the `context_window`",
    "Gemini": "The request has a maxOutputTokens value of {0} but the supported range is from 1 (inclusive) to 4097 (exclusive)",
    "Cohere": "too many tokens: max tokens must be less than or equal to 4,096, the specified value is {0}",
    "Bedrock": "The maximum tokens you requested exceeds the model limit of 4096. Try again with a value that is lower than 4096.",
}


@pytest.mark.parametrize("words", NO_ROOM.values(), ids=NO_ROOM)
def test_room_that_does_not_fit_the_context_is_made_smaller(ask: Cli, endpoint: Any, words: str) -> None:
    def script(request: Any) -> Any:
        asked = output_tokens(request)
        if 700 + asked > 4096:
            return endpoint.error(400, words.format(asked, asked + 700))
        return endpoint.good(request) if asked > 1000 else thinks(endpoint, "counted")

    endpoint.script = script
    done = ask(*ONE, "--json")
    assert (done.code, failures(done)) == (0, {})
    assert len(endpoint.requests) <= CALLS + 1 + 4  # the next texts are asked with what fitted
    if "without" not in words and "700" in words:
        assert output_tokens(endpoint.requests[-1]) == 4096 - 700


@pytest.mark.parametrize("words", OUTPUT_LIMIT.values(), ids=OUTPUT_LIMIT)
def test_room_that_is_longer_than_any_answer_may_be_is_made_smaller(ask: Cli, endpoint: Any, words: str) -> None:
    def script(request: Any) -> Any:
        asked = output_tokens(request)
        if asked > 4096:
            return endpoint.error(400, words.format(asked))
        return endpoint.good(request) if asked > 1000 else thinks(endpoint, "counted")

    endpoint.script = script
    done = ask(*ONE, "--json")
    assert (done.code, failures(done)) == (0, {})
    assert len(endpoint.requests) <= CALLS + 1 + 2


def test_a_text_that_leaves_no_room_for_reasoning_takes_it_from_no_other(ask: Cli, endpoint: Any) -> None:
    order: dict[str, int] = {}

    def script(request: Any) -> Any:
        prompt = 4000 if order.setdefault(text_of(request), len(order)) == 1 else 700
        asked = output_tokens(request)
        if prompt + asked > 12_000 or (prompt == 4000 and asked > 50):
            return endpoint.error(400, f"maximum context length is 4050 tokens, but the prompt has {prompt}")
        return endpoint.good(request) if asked > 1000 else thinks(endpoint, "counted")

    endpoint.script = script
    done = ask(*ONE, "--json")
    assert (done.code, failures(done)) == (0, {"missing": 1})
    answered = [output_tokens(request) for request in endpoint.requests if order[text_of(request)] > 1]
    assert len(answered) == 2 and min(answered) > 8192


# ---- limits


@pytest.mark.parametrize("listed", [False, True])
def test_a_limit_of_a_minute_that_speaks_of_billing_is_waited_for(ask: Cli, endpoint: Any, listed: bool) -> None:
    limit = endpoint.error(429, "The quota is exceeded; see your plan and billing details. " + "Read on. " * 50)
    limit.body["error"]["details"] = [{"violations": [{"quotaId": "RequestsPerMinutePerModel"}]}, {"retryDelay": "0.2s"}]
    sent = type(limit)(429, [limit.body] if listed else limit.body)
    endpoint.script = endpoint.first(endpoint.saying({"score": 1}), sent, sent)
    assert ask(*ONE).code == 0 and len(endpoint.requests) == CALLS + 2


def test_a_limit_that_comes_with_another_status_is_a_limit(ask: Cli, endpoint: Any) -> None:
    endpoint.script = endpoint.first(endpoint.error(400, "Rate limit reached for requests per minute. Please try again in 20ms."))
    assert ask(*ONE).code == 0 and len(endpoint.requests) == CALLS + 1


# ---- streams


def streamed(endpoint: Any, request: Any) -> Any:
    text = json.dumps({"justification": "Gut, weil „klar“.", "score": int(request.key, 16) % 2})
    parts = [{"role": "assistant", "content": ""}, {"content": text[:9]}, {"content": text[9:]}]
    events = [{"model": "m", "choices": [{"index": 0, "delta": part, "finish_reason": None}]} for part in parts]
    events += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": {"prompt_tokens": 70}}]
    body = ": keep-alive\n\n" + "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    return type(endpoint.resetting())(body=body, kind="text/event-stream")


def test_a_server_that_streams_whatever_is_asked_is_understood(ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path) -> None:
    endpoint.script = lambda request: streamed(endpoint, request)
    done = ask(*ONE, "--json")
    assert (done.code, failures(done), len(endpoint.requests)) == (0, {}, CALLS)
    assert {(reply["model"], reply["finish_reason"], reply["usage"]["prompt_tokens"]) for reply in replies(out)} == {("m", "stop", 70)}


@pytest.mark.parametrize(
    "words",
    [
        "this model is only available with stream=true",
        "This model only support stream mode, please enable the stream parameter to access the model.",
        "parameter.enable_thinking must be set to false for non-streaming calls",
        "Streaming is required for this model",
    ],
)
def test_a_model_that_is_only_served_as_a_stream_is_asked_for_one(ask: Cli, endpoint: Any, words: str) -> None:
    def script(request: Any) -> Any:
        if "stream_options" in request.body:
            return endpoint.error(400, "Unrecognized request argument supplied: stream_options")
        return streamed(endpoint, request) if request.body.get("stream") else endpoint.error(400, words)

    endpoint.script = script
    assert ask(*ONE).code == 0 and len(endpoint.requests) == CALLS + 2


def test_a_stream_that_breaks_off_is_asked_again(ask: Cli, endpoint: Any) -> None:
    def script(request: Any) -> Any:
        answer = streamed(endpoint, request)
        if len(endpoint.requests) != 2:
            return answer
        return type(answer)(body=answer.body[: answer.body.index('"stop"') - 60], kind=answer.kind)

    endpoint.script = script
    assert ask(*ONE).code == 0 and len(endpoint.requests) == CALLS + 1


# ---- runs in which nothing was asked


def test_a_run_without_a_key_leaves_no_run(cli: Cli, out: Path, refused: Callable[..., None]) -> None:
    refused(cli("run", "--langs", "cs", "--judge", "openai/gpt-4o", "--limit", "1", "--out", out), 4, "no API key for api.openai.com")
    assert not (out / "runs").exists()
    refused(cli("report", "--out", out), 2, "there are no runs in")


def test_a_run_whose_first_call_was_refused_leaves_no_run_and_another_one_stays(
    ask: Cli, cli: Cli, endpoint: Any, out: Path, refused: Callable[..., None]
) -> None:
    assert ask().code == 0
    endpoint.script = lambda request: endpoint.error(401, "Incorrect API key provided")
    refused(ask("--variant", "joint"), 4, "401")
    assert cli("report", "--out", out).code == 0
    assert len(list((out / "runs").iterdir())) == 1


@pytest.mark.parametrize("command", [("report",), ("report", "--json"), ("compare",), ("calibrate",)])
def test_a_run_without_an_answer_is_no_result(
    ask: Cli, cli: Cli, endpoint: Any, out: Path, command: tuple[str, ...], refused: Callable[..., None]
) -> None:
    """A run that was ended before its first answer stays in the store, so that the same command goes on with it."""
    endpoint.script = lambda request: endpoint.error(500, "Out of order")
    assert ask("--max-minutes", "0.0001").code in (4, 6)
    [run] = [folder.name for folder in (out / "runs").iterdir()]
    source = () if command[0] == "report" else (run,)
    done = cli(*command, *source, "--out", out)
    refused(done, 6, f"run {run} has no answer yet", "calls without one: 4")
    assert done.out == ""


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    ("words", "failure"), [("the request exceeds the available context size", "missing"), ("flagged by moderation", "refused")]
)
def test_a_refusal_of_a_text_that_comes_with_the_status_of_success_is_one(
    ask: Cli, endpoint: Any, streams: bool, words: str, failure: str
) -> None:
    error = {"error": {"message": words, "code": 400}}
    answer = type(endpoint.resetting())(body=f"data: {json.dumps(error)}\n\n" if streams else error)
    endpoint.script = refusing(endpoint, answer, lambda number: number == 1)
    done = ask(*ONE, "--json")
    assert (done.code, failures(done), len(endpoint.requests)) == (0, {failure: 1}, CALLS)
