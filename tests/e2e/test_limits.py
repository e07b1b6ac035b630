"""How far a run goes and what it asks again: budgets, refusals, models that think, several judges at once."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from harness.engines.concurrency import RateLimiter
from tests.conftest import HANG_SECONDS

pytestmark = pytest.mark.slow  # waits and limits of an endpoint

Cli = Callable[..., Any]
CALLS = 4  # of the small run
# At these prices an answer of the endpoint costs $0.12.
PRICES = '["openai/tester-2024-01-01"]\ninput = 1000\ncached = 500\noutput = 1000\nas_of = "2026-11"\n'


@pytest.fixture
def record(run_folder: Callable[[Path], Path], out: Path) -> Callable[[], dict[str, Any]]:
    """The run's run.json."""
    return lambda: dict(json.loads((run_folder(out) / "run.json").read_bytes()))


def test_calls_are_limited_and_the_same_command_goes_on(ask: Cli, endpoint: Any, refused: Callable[..., None]) -> None:
    refused(ask("--max-calls", "2"), 6, "--max-calls 2 is used up", "Run the same command again")
    assert len(endpoint.requests) == 2
    assert ask("--max-calls", "2").code == 0
    assert max(Counter(request.key for request in endpoint.requests).values()) == 1


def test_money_is_limited_by_what_was_counted(ask: Cli, endpoint: Any, tmp_path: Path, record: Any, refused: Callable[..., None]) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    refused(ask("--max-cost", "1", "--prices", tmp_path / "prices.toml", "--concurrency", "1"), 6, "--max-cost 1 is used up ($")
    spent = record()["spent"]["openai/tester-2024-01-01"]["cs"]
    assert spent["cost"] == pytest.approx(0.12 * len(endpoint.requests)) and 0 < spent["cost"] <= 1
    assert spent["usage"]["prompt_tokens"] == 100 * len(endpoint.requests)


def test_a_limit_of_money_needs_a_price(ask: Cli, endpoint: Any, out: Path, refused: Callable[..., None]) -> None:
    refused(ask("--max-cost", "1"), 2, "--max-cost needs a price", "--prices FILE")
    assert not endpoint.requests and not out.exists()


def test_minutes_end_a_run_while_calls_are_under_way(ask: Cli, endpoint: Any, refused: Callable[..., None]) -> None:
    endpoint.latency = 0.3
    refused(ask("--max-minutes", "0.01", "--concurrency", "1"), 6, "--max-minutes 0.01 are over")
    assert 0 < len(endpoint.requests) < CALLS


def used_up(answer: Any, reset: str) -> Any:
    return replace(answer, headers={"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": reset})


WAITS: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "Retry-After": (lambda e: e.error(429, "Slow down", retry_after="3000"), ()),
    "a date": (lambda e: e.error(503, "Slow down", retry_after=formatdate(time.time() + 3000, usegmt=True)), ()),
    "a reset": (lambda e: used_up(e.saying({"score": 1}), "50m0s"), ()),
    "a reset of a thousand years": (lambda e: used_up(e.saying({"score": 1}), "9" * 11), ()),
    "a time since 1970": (lambda e: used_up(e.saying({"score": 1}), str(int(time.time()) + 3000)), ()),
    "back-off": (lambda e: e.error(500, "Out of order"), ()),
    "requests a minute": (lambda e: e.saying({"score": 1}), ("--rpm", "0.02")),
}


@pytest.mark.parametrize("name", WAITS)
def test_minutes_end_every_wait(ask: Cli, endpoint: Any, name: str, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., None]) -> None:
    """Each of these waits is longer than anybody would wait for this test."""
    make, flags = WAITS[name]
    monkeypatch.setattr("harness.engines.local_engine.backoff", lambda count: 3000.0)
    endpoint.script = lambda request: make(endpoint)
    refused(ask("--max-minutes", "0.02", "--concurrency", "1", *flags), 6, "calls without an answer", "--max-minutes 0.02 are over")
    assert len(endpoint.requests) == (2 if name == "back-off" else 1)  # a back-off holds its own call only
    endpoint.script = endpoint.good
    assert ask().code == 0


@pytest.mark.parametrize("wait", ["31536000", "Wed, 21 Oct 2099 07:28:00 GMT"], ids=["a year", "a date"])
@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_that_nobody_would_wait_for_ends_the_run_with_the_words_of_the_endpoint(
    ask: Cli, endpoint: Any, status: int, wait: str, refused: Callable[..., None]
) -> None:
    endpoint.script = lambda request: endpoint.error(status, "Come back later", retry_after=wait)
    refused(ask("--concurrency", "1"), 4, "Come back later", "asks to wait", "days", "run the same command again after that")
    assert len(endpoint.requests) == 1
    endpoint.script = endpoint.good
    assert ask().code == 0


def test_a_long_wait_is_told_on_standard_error(ask: Cli, endpoint: Any) -> None:
    endpoint.script = lambda request: endpoint.error(429, "Slow down", retry_after="3000")
    ended = ask("--max-minutes", "0.02", "--concurrency", "1")
    assert ended.err.count("Slow down. It asks to wait 50 minutes, and this command waits. Ctrl-C stops it") == 1


def test_a_time_since_1970_that_is_over_holds_nothing(ask: Cli, endpoint: Any) -> None:
    for reset in (str(int(time.time()) - 5), str(int(time.time() * 1000) - 5000), "2020-01-01T00:00:00Z"):
        endpoint.script = endpoint.first(used_up(endpoint.saying({"score": 1}), reset))
        assert ask("--concurrency", "1", "--fresh").code == 0


@pytest.mark.parametrize(
    "said",
    [
        "Quota exceeded for quota metric 'Generate requests' and limit 'Requests per minute'",
        "You exceeded your current quota, please check your plan and billing details. Limit: 15 RequestsPerMinute. Please retry in 35s",
        "Rate limit reached: 3 RPM",
        "Quota exceeded",
    ],
)
def test_a_quota_of_a_short_time_is_a_rate_to_wait_for(ask: Cli, endpoint: Any, said: str) -> None:
    endpoint.script = endpoint.first(endpoint.error(429, said, retry_after="0.01"))
    assert ask("--concurrency", "1").code == 0


def test_a_quota_of_a_day_is_not_waited_for_unless_it_is_soon_renewed(ask: Cli, endpoint: Any, refused: Callable[..., None]) -> None:
    endpoint.script = endpoint.first(endpoint.error(429, "Quota exceeded: 50 requests per day", retry_after="0.01"))
    assert ask("--concurrency", "1").code == 0
    endpoint.script = lambda request: endpoint.error(429, "Quota exceeded: 50 requests per day")
    refused(ask("--fresh", "--concurrency", "1"), 4, "limit of the day is reached", "Run the same command again when it is renewed")


@pytest.mark.parametrize("count", [True, -1_000_000, 10**15, None, "100"])
def test_counts_that_are_none_make_no_call_free(ask: Cli, endpoint: Any, count: Any, tmp_path: Path, refused: Callable[..., None]) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    usage = {"prompt_tokens": count, "completion_tokens": count, "prompt_tokens_details": {"cached_tokens": count}}

    def answer(request: Any) -> Any:
        good = endpoint.good(request)
        return replace(good, body=good.body | {"usage": usage})

    endpoint.script = answer
    refused(ask("--max-cost", "1.5", "--prices", tmp_path / "prices.toml", "--concurrency", "1"), 6, "--max-cost 1.5 is used up ($")
    assert 0 < len(endpoint.requests) < CALLS


def test_more_cached_tokens_than_tokens_cost_no_less_than_nothing(ask: Cli, endpoint: Any, tmp_path: Path, record: Any) -> None:
    (tmp_path / "prices.toml").write_text(PRICES)
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 9_000_000}}

    def answer(request: Any) -> Any:
        good = endpoint.good(request)
        return replace(good, body=good.body | {"usage": usage})

    endpoint.script = answer
    assert ask("--prices", tmp_path / "prices.toml").code == 0
    spent = record()["spent"]["openai/tester-2024-01-01"]["cs"]
    assert spent["usage"]["cached_tokens"] == 100 * CALLS and spent["cost"] == pytest.approx(0.07 * CALLS)


def test_every_answer_that_is_asked_again_is_paid_for(ask: Cli, endpoint: Any, tmp_path: Path, refused: Callable[..., None]) -> None:
    """Four answers to a call cost $0.48, so that after two calls $0.96 is spent, and two more would be too many."""
    (tmp_path / "prices.toml").write_text(PRICES)
    endpoint.script = lambda request: endpoint.saying("", refusal="No.")
    done = ask("--reask", "refused", "--max-cost", "1.8", "--prices", tmp_path / "prices.toml", "--concurrency", "1")
    refused(done, 6, "--max-cost 1.8 is used up ($0.96")


@pytest.mark.parametrize("flag", ["--max-cost", "--max-minutes", "--rpm", "--tpm", "--timeout"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "much"])
def test_a_limit_is_above_zero(ask: Cli, flag: str, value: str) -> None:
    done = ask(f"{flag}={value}")
    assert done.code == 2 and "expected a number above 0" in done.err


def test_the_report_says_what_replaced_replies_cost(ask: Cli, cli: Cli, endpoint: Any, out: Path, tmp_path: Path) -> None:
    """100 prompt and 20 answer tokens a reply are 100 + 20 dollars at a dollar for a token; the price of the answers is not moved."""
    (tmp_path / "prices.toml").write_text('["openai/tester-2024-01-01"]\ninput = 1e6\noutput = 1e6\nas_of = "2026-11-01"\n')
    no = endpoint.saying("I'm sorry, but I cannot help with that.")
    endpoint.script = endpoint.first(no, no)
    done = ask("--reask", "refused", "--concurrency", "1", "--prices", tmp_path / "prices.toml")
    assert done.code == 0, done.err
    words = " ".join(done.out.split())
    assert f"The calls cost {120 * CALLS:.4f} US dollars ({CALLS} calls)" in words
    assert "2 earlier replies do not count, as their calls were asked again; they cost 240.0000 US dollars more." in words
    assert cli("report", "--html", tmp_path / "page.html", "--out", out).code == 0
    assert "2 earlier replies do not count, as their calls were asked again; they cost 240.0000" in (tmp_path / "page.html").read_text(
        "utf-8"
    )


def test_refused_calls_are_asked_again_and_all_attempts_are_kept(ask: Cli, endpoint: Any, rows: Callable[..., Any], out: Path) -> None:
    no = endpoint.saying("I'm sorry, but I cannot help with that.")
    endpoint.script = endpoint.first(no, no)
    assert ask("--reask", "refused", "--concurrency", "1").code == 0
    attempts = rows(out, "SELECT call_id, attempt, reply FROM attempts")
    assert len(attempts) == len(endpoint.requests) == CALLS + 2
    assert "reask:refused" in ask("--reask", "refused", "--notes").out and len(endpoint.requests) == CALLS + 2


def test_what_is_refused_for_good_is_asked_three_times_more_and_stays_a_refusal(ask: Cli, endpoint: Any) -> None:
    endpoint.script = lambda request: endpoint.saying("", refusal="No.")
    done = ask("--reask", "refused", "--json")
    assert done.code == 4 and len(endpoint.requests) == 4 * CALLS
    assert all(cell["failures"] == {"refused": cell["n_ref"]} for cell in json.loads(done.out)["cells"])


def test_answers_of_an_earlier_run_serve_one_that_asks_refusals_again(ask: Cli, endpoint: Any) -> None:
    endpoint.script = endpoint.first(endpoint.saying("", refusal="No."))
    assert ask("--concurrency", "1").code == 0 and len(endpoint.requests) == CALLS
    assert ask("--reask", "refused").code == 0 and len(endpoint.requests) == CALLS + 1


def test_a_model_that_thinks_first_is_asked_in_its_own_way_from_the_second_call_on(
    ask: Cli, endpoint: Any, replies: Callable[[Path], Any], record: Any, out: Path
) -> None:
    refusals = {
        "max_tokens": "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
        "temperature": "Unsupported value: 'temperature' does not support 0.0 with this model.",
    }

    def thinking(request: Any) -> Any:
        for name, said in refusals.items():
            if name in request.body:
                return endpoint.error(400, said)
        answer = endpoint.saying({"justification": "Because.", "score": 1})
        answer.body["usage"]["completion_tokens_details"] = {"reasoning_tokens": 15}
        return answer

    endpoint.script = thinking
    assert ask("--concurrency", "1").code == 0
    assert len(endpoint.requests) == CALLS + 2 and "max_completion_tokens" in endpoint.requests[-1].body
    assert {(tuple(reply["left_out"]), reply["reasoning_room"]) for reply in replies(out)} == {(("temperature",), 8192)}
    assert record()["spent"]["openai/tester-2024-01-01"]["cs"]["usage"]["reasoning_tokens"] == 15 * CALLS


def test_a_model_that_thinks_until_there_is_no_room_is_given_more(ask: Cli, endpoint: Any) -> None:
    def thinking(request: Any) -> Any:
        room = request.body["max_tokens"]
        answer = endpoint.saying({"score": 1}) if room > 8192 else endpoint.saying("", finish="length")
        answer.body["usage"]["completion_tokens_details"] = {"reasoning_tokens": min(room, 500)}
        return answer

    endpoint.script = thinking
    done = ask("--concurrency", "1", "--json")
    assert done.code == 0 and len(endpoint.requests) == CALLS + 1
    assert all(cell["failures"] == {} for cell in json.loads(done.out)["cells"])


def test_several_judges_are_asked_at_once(ask: Cli, endpoint: Any) -> None:
    """Each waits for a call of the other: one after the other, neither would be answered."""
    both = threading.Barrier(2, timeout=HANG_SECONDS)
    met: set[str] = set()

    def meeting(request: Any) -> Any:
        if request.body["model"] not in met:
            met.add(request.body["model"])
            both.wait()
        return endpoint.good(request)

    endpoint.script = meeting
    assert ask("--judge", "openai/another", "--concurrency", "1", "--concurrency", "openai/another=1").code == 0
    assert Counter(request.body["model"] for request in endpoint.requests) == {"tester-2024-01-01": CALLS, "another": CALLS}


@pytest.mark.parametrize("status", [200, 429])
def test_a_used_up_allowance_is_waited_for_whether_or_not_the_call_was_answered(
    ask: Cli, endpoint: Any, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The calls wait for it once. The waits are recorded, and nobody waits here."""
    waits: list[float] = []
    monkeypatch.setattr(RateLimiter, "pause", lambda self, seconds: waits.append(seconds))

    def answer(request: Any) -> Any:
        is_first = len(endpoint.requests) == 1
        found = endpoint.error(429, "Slow down") if is_first and status == 429 else endpoint.good(request)
        used_up = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1500ms"}
        return replace(found, headers=used_up) if is_first else found

    endpoint.script = answer
    assert ask("--concurrency", "1").code == 0
    assert [wait for wait in waits if wait] == [1.5]
