"""What goes over the wire to an OpenAI-compatible endpoint, and what its answers and refusals become."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.engines.concurrency import RateLimiter

Cli = Callable[..., Any]
KEY = "sk-test-4711-secret"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return KEY


def everything_in(folder: Path) -> bytes:
    """All bytes of all files below a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


# ---- the request


def test_the_key_goes_into_one_header_and_nowhere_else(ask: Cli, endpoint: Any, key: str) -> None:
    assert ask().code == 0
    for request in endpoint.requests:
        assert [name for name, value in request.headers.items() if key in value] == ["authorization"]
        assert request.headers["authorization"] == f"Bearer {key}"
        assert key not in json.dumps(request.body) + request.path


def test_temperature_zero_and_a_strict_schema_are_on_the_wire(ask: Cli, endpoint: Any) -> None:
    ask()
    for request in endpoint.requests:
        body = request.body
        assert request.path == "/v1/chat/completions"
        assert body["temperature"] == 0.0 and body["seed"] == 0 and body["model"] == "tester-2024-01-01"
        assert body["max_tokens"] > 100 and not body.get("stream")
        form = body["response_format"]
        assert form["type"] == "json_schema" and form["json_schema"]["strict"] is True
        schema = form["json_schema"]["schema"]
        assert list(schema["properties"]) == schema["required"] == ["justification", "score"]
        assert schema["additionalProperties"] is False


def test_each_temperature_is_asked_for(ask: Cli, endpoint: Any) -> None:
    ask("--temperature", "0,0.7")
    asked = [request.body["temperature"] for request in endpoint.requests]
    assert set(asked) == {0.0, 0.7} and asked.count(0.0) == asked.count(0.7)


def test_a_variant_sets_the_order_of_the_answer(ask: Cli, endpoint: Any) -> None:
    ask("--variant", "score-first")
    schema = endpoint.requests[0].body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["score", "justification"]


def test_calls_to_this_machine_take_no_proxy(ask: Cli, closed_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, closed_url)
    assert ask().code == 0


def test_concurrency_is_what_was_asked_for(ask: Cli, endpoint: Any) -> None:
    lock, now, most = threading.Lock(), [0], [0]

    def answer(request: Any) -> Any:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.03)
        with lock:
            now[0] -= 1
        return endpoint.good(request)

    endpoint.script = answer
    ask("--limit", "4", "--concurrency", "3")
    assert most[0] == 3


# ---- the key stays out of everything that is kept


def test_a_key_that_comes_back_in_answers_and_errors_reaches_no_file(ask: Cli, endpoint: Any, key: str, out: Path) -> None:
    echo = {"justification": f"Your key is {key}.", "score": 1}
    endpoint.script = endpoint.first(
        endpoint.error(500, f"Bearer {key} is tired"),
        endpoint.saying(echo, model=f"model-for-{key}", finish=key),
        endpoint.saying("", refusal=f"Not with {key}."),
        endpoint.error(400, f"{key} may not say this", code=key),
        endpoint.saying(echo),
    )
    done = ask("--concurrency", "1")
    kept = everything_in(out)
    assert done.code == 0 and b"Your key is [key]." in kept and b"Bearer [key] is tired" in kept and b"[key] may not say this" in kept
    assert key.encode() not in kept
    assert key not in done.out + done.err


@pytest.mark.parametrize("bad", [f"{KEY}\nx", f"{KEY} x", "schlüssel-4711", f"{KEY}\x7f"], ids=["line-break", "space", "accent", "control"])
def test_a_key_that_can_be_none_is_refused_without_being_shown(
    ask: Cli, endpoint: Any, bad: str, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., None], out: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", bad)
    done = ask()
    refused(done, 4, "OPENAI_API_KEY holds characters that no API key has")
    assert "4711" not in done.err and not out.exists() and endpoint.requests == []


def test_a_key_with_a_line_break_at_its_end_is_still_the_key(ask: Cli, endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    assert ask().code == 0
    assert endpoint.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("url", ["http://user:{}@127.0.0.1/v1", "http://127.0.0.1/v1?api-key={}"], ids=["user", "query"])
def test_a_key_in_the_base_url_is_refused_without_being_shown(ask: Cli, url: str, refused: Callable[..., None], out: Path) -> None:
    done = ask("--base-url", url.format(KEY))
    refused(done, 2, "keys belong in environment variables")
    assert KEY not in done.err and not out.exists()


# ---- answers


def test_the_model_that_answered_is_kept_beside_the_one_that_was_asked(
    ask: Cli, endpoint: Any, replies: Callable[[Path], Any], rows: Callable[..., Any], out: Path
) -> None:
    endpoint.script = lambda request: endpoint.saying({"score": 1}, model="tester-2025-09-09")
    assert ask().code == 0
    assert {reply["model"] for reply in replies(out)} == {"tester-2025-09-09"}
    assert {row["judge"] for row in rows(out, "SELECT judge FROM calls")} == {"openai/tester-2024-01-01"}


def test_usage_is_kept_as_counted(ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path) -> None:
    body = endpoint.saying({"score": 1}).body | {
        "usage": {"prompt_tokens": 31, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 16}}
    }
    endpoint.script = lambda request: type(endpoint.resetting())(body=body)
    ask()
    assert {tuple(reply["usage"].values()) for reply in replies(out)} == {(31, 16, 7, 0)}


FAILURES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "refusal": (lambda e: e.saying("", refusal="I cannot judge this."), "refused"),
    "cut-off": (lambda e: e.saying('{"justification": "It is', finish="length"), "truncated"),
    "prose": (lambda e: e.saying("I like it a lot."), "not_json"),
    "off-scale": (lambda e: e.saying({"justification": "Great.", "score": 9}), "off_scale"),
    "no-score": (lambda e: e.saying({"justification": "Great."}), "missing"),
    "filtered": (lambda e: e.error(400, "The response was filtered by the content management policy", "content_filter"), "refused"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_an_answer_without_a_score_is_a_named_failure_and_no_number(ask: Cli, endpoint: Any, name: str) -> None:
    make, failure = FAILURES[name]
    endpoint.script = lambda request: make(endpoint)
    done = ask("--json")
    asked = len(endpoint.requests)
    report = json.loads(done.out)
    assert done.code == 4  # none of the answers can be read: the set-up does not work
    assert {kind for cell in report["cells"] for kind in cell["failures"]} == {failure}
    assert sum(cell["failures"][failure] for cell in report["cells"]) == asked
    assert all(cell["pa"] is None and cell["pa_failed_wrong"] == 0 for cell in report["cells"])
    ask()
    assert len(endpoint.requests) == asked  # an answer is an answer: nobody is asked again


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": '{"score": 1}'}}], "usage": "some", "model": None},
        {"choices": [{"message": {"content": '{"score": 1}'}, "finish_reason": 7}], "usage": {"prompt_tokens": "many"}},
        {"choices": [{"message": {"content": [{"type": "thinking"}, {"type": "text", "text": '{"score": 1}'}]}}]},
    ],
    ids=["bare", "odd-types", "text-in-parts"],
)
def test_endpoints_that_differ_in_the_rest_are_understood(ask: Cli, endpoint: Any, body: dict[str, Any]) -> None:
    endpoint.script = lambda request: type(endpoint.resetting())(body=body)
    done = ask("--json")
    assert done.code == 0
    assert all(cell["coverage"] == 1 for cell in json.loads(done.out)["cells"])


@pytest.mark.parametrize(
    "text", ['{"score": 1, "justification": "\ud83d"}', '{"score": 1, "justification": "\\ud83d"}', '{"score": 1}\x00']
)
def test_half_characters_and_nulls_in_an_answer_break_nothing(ask: Cli, endpoint: Any, text: str) -> None:
    endpoint.script = lambda request: endpoint.saying(text)
    done = ask("--json")
    assert done.code == 0
    assert all(cell["coverage"] == 1 for cell in json.loads(done.out)["cells"])


# ---- an endpoint without structured output


def ladder(endpoint: Any, *known: str) -> Callable[[Any], Any]:
    def answer(request: Any) -> Any:
        if request.form not in known:
            return endpoint.error(400, f"Invalid parameter: 'response_format' of type '{request.form}' is not supported with this model.")
        return endpoint.good(request)

    return answer


@pytest.mark.parametrize(
    ("known", "tried"),
    [
        (("json_object", "text"), ["json_schema", "json_schema", "json_object"]),
        (("text",), ["json_schema", "json_schema", "json_object", "text"]),
    ],
    ids=["json_object", "text"],
)
def test_an_endpoint_without_schemas_is_found_out_once_and_what_was_used_is_recorded(
    ask: Cli, endpoint: Any, known: tuple[str, ...], tried: list[str], replies: Callable[[Path], Any], out: Path
) -> None:
    endpoint.script = ladder(endpoint, *known)
    assert ask("--concurrency", "1").code == 0
    forms = [request.form for request in endpoint.requests]
    assert forms[: len(tried)] == tried
    assert set(forms[len(tried) :]) == {tried[-1]}
    assert {reply["form"] for reply in replies(out)} == {tried[-1]}


def test_a_schema_refused_for_its_lengths_is_sent_without_them(ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path) -> None:
    def answer(request: Any) -> Any:
        if "maxLength" in json.dumps(request.body):
            return endpoint.error(400, "Invalid schema for response_format 'answer': 'maxLength' is not permitted.")
        return endpoint.good(request)

    endpoint.script = answer
    assert ask("--concurrency", "1").code == 0
    assert {reply["form"] for reply in replies(out)} == {"json_schema-lenient"}


def test_calls_in_flight_together_go_down_the_ladder_no_further_than_needed(
    ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path
) -> None:
    endpoint.script, endpoint.latency = ladder(endpoint, "json_object", "text"), 0.02
    assert ask("--limit", "4", "--concurrency", "8").code == 0
    assert {reply["form"] for reply in replies(out)} == {"json_object"}


# ---- trouble that passes


PASSING: dict[str, Callable[[Any], Any]] = {
    "500": lambda e: e.error(500, "The server had an error"),
    "503-in-html": lambda e: type(e.resetting())(503, "<html>Service unavailable</html>", kind="text/html"),
    "429": lambda e: e.error(429, "Rate limit reached", retry_after="0.01"),
    "429-with-a-date": lambda e: e.error(429, "Rate limit reached", retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
    "reset": lambda e: e.resetting(),
    "cut-json": lambda e: type(e.resetting())(body='{"choices": [{"mess'),
    "error-with-200": lambda e: type(e.resetting())(body={"error": {"message": "Provider returned error", "code": 502}}),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_may_pass_is_asked_again_and_both_attempts_are_kept(
    ask: Cli, endpoint: Any, name: str, rows: Callable[..., Any], out: Path
) -> None:
    endpoint.script = endpoint.first(PASSING[name](endpoint))
    assert ask("--concurrency", "1").code == 0
    assert max(Counter(request.key for request in endpoint.requests).values()) == 2
    attempts = rows(out, "SELECT call_id, attempt, lost, reply FROM attempts ORDER BY received, attempt")
    assert len(attempts) == len(endpoint.requests)
    assert attempts[0]["lost"] and attempts[0]["reply"] is None
    [again] = [attempt for attempt in attempts if attempt["attempt"] == 2]
    assert again["call_id"] == attempts[0]["call_id"] and again["reply"]


def test_retry_after_is_waited_for(ask: Cli, endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(RateLimiter, "pause", lambda self, seconds: waits.append(seconds))
    endpoint.script = endpoint.first(endpoint.error(429, "Slow down", retry_after="1.2"))
    assert ask("--concurrency", "1").code == 0
    assert waits == [1.2]  # without the header it would be half a second at most


def test_a_page_in_the_middle_of_a_run_is_a_hiccup(ask: Cli, endpoint: Any) -> None:
    good = endpoint.saying({"score": 1})
    endpoint.script = endpoint.first(good, type(good)(body="<html>Bad gateway</html>", kind="text/html"), good)
    assert ask("--concurrency", "1").code == 0


# ---- trouble that does not pass


def test_a_call_that_is_refused_alone_is_a_failure_of_that_call(ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path) -> None:
    said = "This model's maximum context length is 100 tokens"
    endpoint.script = endpoint.first(endpoint.saying({"score": 1}), endpoint.error(400, said))
    assert ask("--concurrency", "1").code == 0
    assert [reply["error"] for reply in replies(out)][:3] == [None, f"400: {said}", None]


def test_a_refusal_that_names_no_reason_is_asked_again(ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path) -> None:
    good, no = endpoint.saying({"score": 1}), endpoint.error(400, "This cannot be processed")
    endpoint.script = endpoint.first(good, no)
    assert ask("--concurrency", "1").code == 0 and len(endpoint.requests) == 4 + 1
    assert not any(reply["error"] for reply in replies(out))


@pytest.mark.parametrize("status", [200, 201])
def test_a_completion_is_an_answer_with_every_status_of_success(ask: Cli, endpoint: Any, status: int) -> None:
    endpoint.script = lambda request: replace(endpoint.good(request), status=status)
    assert ask().code == 0


def test_a_judge_that_is_stopped_takes_no_reply_from_the_others(
    ask: Cli, endpoint: Any, rows: Callable[..., Any], out: Path, refused: Callable[..., None]
) -> None:
    """The other judge's calls are answered after the first judge has been stopped."""
    stopped = threading.Event()

    def answer(request: Any) -> Any:
        if request.body["model"] == "blocked":
            stopped.set()
            return endpoint.error(401, "Who are you?")
        assert stopped.wait(30)
        time.sleep(0.1)
        return endpoint.good(request)

    endpoint.script = answer
    done = ask("--judge", "openai/blocked", "--concurrency", "1")
    refused(done, 4, "401: Who are you?")
    assert "openai/blocked: stopped: " in done.err
    answered = rows(out, "SELECT judge FROM attempts JOIN calls USING (call_id) WHERE reply IS NOT NULL")
    assert [row["judge"] for row in answered] == ["openai/tester-2024-01-01"] * 4


def test_replies_in_flight_are_kept_when_their_own_judge_is_stopped(
    ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path
) -> None:
    two = threading.Barrier(2, timeout=30)
    lock, turns = threading.Lock(), iter(range(100))

    def answer(request: Any) -> Any:
        with lock:
            turn = next(turns)
        two.wait()
        if turn == 0:
            return endpoint.error(401, "Key expired")
        time.sleep(0.3)
        return endpoint.good(request)

    endpoint.script = answer
    assert ask("--concurrency", "2").code == 4
    assert len(replies(out)) == 1 and len(endpoint.requests) == 2


# ---- the key stays out of everything that is kept, however it is cut


@pytest.mark.parametrize("length", [51, 164])
def test_no_cut_leaves_a_part_of_the_key(ask: Cli, endpoint: Any, length: int, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key stands at every place of a message, a page, a refusal, so that whatever is cut is cut within it."""
    long_key = "sk-" + "".join(chr(ord("a") + n * 11 % 26) + chr(ord("A") + n * 7 % 26) + str(n % 10) for n in range(60))[: length - 3]
    monkeypatch.setenv("OPENAI_API_KEY", long_key)
    places, asked = [*range(0, 90, 9), *range(200, 310, 9)], iter(range(10**6))

    def answer(request: Any) -> Any:
        turn = next(asked)
        before = "x" * places[turn // 4 % len(places)]
        return [
            endpoint.error(500, f"{before}{long_key} and so on"),
            type(endpoint.resetting())(502, f"<html>{before}{long_key}</html>", kind="text/html"),
            endpoint.saying(
                {"score": 1, "justification": before + long_key[: 40 + turn % 11]}, model=f"{before}{long_key}", finish=long_key
            ),
            endpoint.error(403, f"{before}{long_key}", code=long_key[:-1]),
        ][turn % 4]

    endpoint.script = answer
    monkeypatch.setattr("harness.engines.local_engine.backoff", lambda count: 0.0)
    done = ask("--limit", "9", "--repeats", "4", "--concurrency", "1", "--attempts", "40", "-v")
    kept = everything_in(out).decode("utf-8", "replace") + done.out + done.err
    assert len(endpoint.requests) > 4 * len(places) and "[key]" in kept
    runs = {long_key[at : at + 8] for at in range(len(long_key) - 7)}
    assert [run for run in runs if run in kept] == []


@pytest.mark.slow
def test_tracebacks_hold_no_key_and_control_no_terminal(ask: Cli, endpoint: Any, key: str) -> None:
    hostile = f"\x1b[31mred\x1b]8;;http://evil.invalid\x07link \u202ebidi {key[:12]}"
    endpoint.script = lambda request: endpoint.error(400, hostile)
    done = ask("-v", "--concurrency", "1")
    assert done.code == 4 and "Traceback" in done.err and "[key]" in done.err
    assert not {"\x1b", "\x07", "\u202e"} & set(done.err) and key[:8] not in done.err


def test_a_key_that_expires_in_the_middle_stops_the_run_and_loses_nothing(
    ask: Cli, endpoint: Any, replies: Callable[[Path], Any], out: Path, refused: Callable[..., None], key: str
) -> None:
    good = endpoint.saying({"score": 1})
    endpoint.script = endpoint.first(good, good, endpoint.error(401, "Key expired"), endpoint.error(401, "Key expired"))
    refused(ask("--concurrency", "1"), 4, "401", "OPENAI_API_KEY")
    assert len(endpoint.requests) == 3 and len(replies(out)) == 2
    endpoint.script = endpoint.good
    assert ask().code == 0
    assert not any(reply["error"] for reply in replies(out))


def test_a_used_up_quota_is_not_waited_for(ask: Cli, endpoint: Any, refused: Callable[..., None]) -> None:
    endpoint.script = lambda request: endpoint.error(429, "You exceeded your current quota", "insufficient_quota")
    refused(ask("--concurrency", "1"), 4, "quota is used up", "Add credit")
    assert len(endpoint.requests) == 1


def test_texts_do_not_follow_a_redirect(ask: Cli, endpoint: Any, refused: Callable[..., None]) -> None:
    endpoint.script = lambda request: type(endpoint.resetting())(
        307, "", headers={"Location": "http://example.invalid/v1/chat/completions"}
    )
    refused(ask("--concurrency", "1"), 4, "307", "use that as the base URL")
    assert len(endpoint.requests) == 1


# ---- consent


def test_own_texts_are_not_sent_away_without_a_word(
    cli: Cli, data_folder: Callable[..., Path], out: Path, refused: Callable[..., None]
) -> None:
    away = ("run", "--data", data_folder("Les."), "--judge", "openai/m", "--base-url", "http://example.invalid/v1", "--out", out)
    refused(cli(*away), 2, "1 texts of your data folder would be sent to example.invalid", "--yes")
    assert not out.exists()


def test_own_texts_may_stay_on_this_machine_without_a_word(cli: Cli, data_folder: Callable[..., Path], endpoint: Any, out: Path) -> None:
    assert cli("run", "--data", data_folder("Les."), "--judge", "openai/m", "--base-url", endpoint.url, "--out", out).code == 0
    assert len(endpoint.requests) == 1


def test_bundled_texts_need_no_consent(cli: Cli, out: Path, refused: Callable[..., None]) -> None:
    done = cli("run", "--langs", "cs", "--judge", "openai/m", "--base-url", "http://example.invalid/v1", "--out", out)
    refused(done, 4, "no API key for example.invalid", "OPENAI_API_KEY")


# ---- where the address comes from


def test_the_base_url_may_come_from_the_environment(cli: Cli, endpoint: Any, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    assert cli("run", "--langs", "cs", "--limit", "1", "--judge", "openai/m", "--out", out).code == 0
    assert endpoint.requests


def test_another_port_of_the_same_host_is_the_same_judge(ask: Cli, endpoint: Any, closed_url: str) -> None:
    ask()
    assert ask("--base-url", closed_url).code == 0  # nothing is left to ask


@pytest.fixture
def azure(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", endpoint.url.removesuffix("/v1"))
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")


def test_azure_is_asked_in_its_own_way(azure: None, cli: Cli, endpoint: Any, out: Path) -> None:
    done = cli("run", "--langs", "cs", "--limit", "1", "--judge", "openai/my-deployment", "--out", out)
    assert done.code == 0
    for request in endpoint.requests:
        assert request.path == "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"
        assert [name for name, value in request.headers.items() if KEY in value] == ["api-key"]
        assert request.form == "json_schema" and request.body["temperature"] == 0.0
    assert KEY.encode() not in everything_in(out)


def test_azure_without_its_version_says_which_variable_is_missing(
    azure: None, cli: Cli, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., None]
) -> None:
    monkeypatch.delenv("OPENAI_API_VERSION")
    refused(cli("run", "--langs", "cs", "--judge", "openai/my-deployment"), 4, "OPENAI_API_VERSION is not")
