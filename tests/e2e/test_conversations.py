"""Metrics asked one after the other in one conversation: what each turn repeats, and how a run of several turns ends and goes on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.e2e.batch_server import BatchServer
from tests.e2e.conftest import Request

Cli = Callable[..., Any]
RunFolder = Callable[[Path], Path]
TALK = ("--variant", "conversation")


def roles(request: Request) -> list[str]:
    return [message["role"] for message in request.body["messages"]]


def by_turn(endpoint: Any) -> dict[int, list[Request]]:
    """The requests by the number of answers that they repeat."""
    turns: dict[int, list[Request]] = {}
    for request in endpoint.requests:
        turns.setdefault(roles(request).count("assistant"), []).append(request)
    return turns


def rows(folder: Path) -> list[dict[str, Any]]:
    return pq.read_table(folder / "judgments.parquet").to_pylist()


def test_each_turn_repeats_what_was_asked_and_answered_before(ask: Cli, endpoint: Any, run_folder: RunFolder, out: Path) -> None:
    endpoint.script = lambda request: endpoint.saying({"justification": f"Because of {roles(request).count('assistant')}.", "score": 1})
    done = ask(*TALK, "--json")
    assert done.code == 0, done.err
    turns = by_turn(endpoint)
    assert len(turns[0]) == 2 and len(turns[1]) > 0
    for number, requests in turns.items():
        for request in requests:
            messages = request.body["messages"]
            assert roles(request) == ["system", "user", *["assistant", "user"] * number]
            answers = [json.loads(message["content"])["justification"] for message in messages if message["role"] == "assistant"]
            assert answers == [f"Because of {turn}." for turn in range(number)]
            assert messages[1]["content"].count('"""') > 0 and not any('"""' in message["content"] for message in messages[2:])
            if number:  # the turn before asked the same up to here
                assert messages[:-2] in [earlier.body["messages"] for earlier in turns[number - 1]]
    found = rows(run_folder(out))
    assert len(found) == len(endpoint.requests) and {row["variant"] for row in found} == {"conversation"}
    assert len({row["call_id"] for row in found}) == len(found) and not any(row["failure"] for row in found)


def test_rows_say_what_a_way_of_asking_is_compared_with(ask: Cli, cli: Cli, endpoint: Any, out: Path) -> None:
    """A conversation is compared with single calls and with a joint one: two rows of one metric that differ in nothing else."""

    def answer(request: Request) -> Any:
        answers = request.body["response_format"]["json_schema"]["schema"]["properties"]
        score = {"justification": "So.", "score": 1}
        return endpoint.saying(score if "score" in answers else dict.fromkeys(answers, score), model=request.body["model"])

    endpoint.script = answer
    assert ask(*TALK, "--variant", "single", "--variant", "joint").code == 0
    shown = cli("report", "--by-task", "--out", out).out.split("Questions together, and their order")[1].split("Length of the text")[0]
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    named = {words for line in lines for words in ("joint single", "conversation single", "conversation joint") if words in line}
    assert named == {"joint single", "conversation single", "conversation joint"}
    assert sum("compared with" in line for line in lines) >= 2


@pytest.mark.slow
def test_the_first_turn_is_the_single_call_and_is_paid_once(ask: Cli, endpoint: Any) -> None:
    assert ask().code == 0
    single = {request.key for request in endpoint.requests}
    endpoint.requests.clear()
    assert ask(*TALK).code == 0
    assert all(roles(request).count("assistant") for request in endpoint.requests)
    endpoint.requests.clear()
    assert ask("--variant", "conversation+reversed").code == 0
    assert single.isdisjoint(request.key for request in endpoint.requests if "assistant" in roles(request))


@pytest.mark.slow
def test_a_finished_run_asks_nothing_again_and_reads_the_same(ask: Cli, cli: Cli, endpoint: Any, run_folder: RunFolder, out: Path) -> None:
    assert ask(*TALK, "--repeats", "2").code == 0
    before, asked = (run_folder(out) / "report.json").read_bytes(), len(endpoint.requests)
    assert ask(*TALK, "--repeats", "2").code == 0
    assert cli("report", run_folder(out).name, "--out", out).code == 0
    assert len(endpoint.requests) == asked and (run_folder(out) / "report.json").read_bytes() == before
    repeats = Counter((row["item_id"], row["metric"]) for row in rows(run_folder(out)))
    assert set(repeats.values()) == {2}


@pytest.mark.slow
def test_an_ended_run_goes_on_turn_by_turn(ask: Cli, endpoint: Any, run_folder: RunFolder, out: Path) -> None:
    """The budget ends it after each third call; nothing is asked twice, and a turn is asked once all turns before it are answered."""
    for _ in range(20):
        done = ask(*TALK, "--max-calls", "3")
        assert done.code in (0, 6), done.err
        if done.code == 0:
            break
    assert done.code == 0
    assert len({request.key for request in endpoint.requests}) == len(endpoint.requests) == len(rows(run_folder(out)))


@pytest.mark.slow
def test_a_refused_turn_ends_nothing(ask: Cli, endpoint: Any, run_folder: RunFolder, out: Path) -> None:
    """A refusal in words is repeated as any answer; a turn that the endpoint does not take is left out of the later ones."""

    def answer(request: Request) -> Any:
        number = roles(request).count("assistant")
        if number == 1:
            return endpoint.saying("I cannot rate this text.")
        return endpoint.good(request)

    endpoint.script = answer
    assert ask(*TALK).code == 0
    turns = by_turn(endpoint)
    assert turns[2] and all(request.body["messages"][4]["content"] == "I cannot rate this text." for request in turns[2])
    failures = Counter(row["failure"] for row in rows(run_folder(out)))
    assert failures["refused"] == len(turns[1]) and failures[None] == len(endpoint.requests) - len(turns[1])


@pytest.mark.slow
def test_a_first_turn_that_the_endpoint_refuses_is_left_out(ask: Cli, endpoint: Any, run_folder: RunFolder, out: Path) -> None:
    refused: list[Any] = []

    def answer(request: Request) -> Any:
        text = request.body["messages"][-1]["content"]
        refused.append(text) if not refused else None
        if text == refused[0] and "assistant" not in roles(request):
            return endpoint.error(400, "The response was filtered by the content policy.", "content_filter")
        return endpoint.good(request)

    endpoint.script = answer
    assert ask(*TALK, "--concurrency", "1").code == 0
    found = rows(run_folder(out))
    [item] = {row["item_id"] for row in found if row["failure"]}
    assert Counter(row["failure"] for row in found if row["item_id"] == item)[None] > 0
    assert sum(roles(request).count("assistant") == 0 for request in endpoint.requests) >= 3  # its second turn begins the conversation


@pytest.mark.slow
def test_the_plan_counts_and_prices_the_growing_prompt(ask: Cli, endpoint: Any, run_folder: RunFolder, out: Path, tmp_path: Path) -> None:
    plans = {}
    for variant in ("single", "conversation"):
        done = ask("--variant", variant, "--dry-run", "--json")
        assert done.code == 0, done.err
        [plans[variant]] = json.loads(done.out)["judges"]
    assert endpoint.requests == []
    assert plans["conversation"]["calls"] == plans["single"]["calls"]
    assert plans["conversation"]["prompt_tokens"] > plans["single"]["prompt_tokens"]
    assert ask(*TALK).code == 0
    assert len(endpoint.requests) == plans["conversation"]["calls"]


@pytest.mark.slow
def test_fresh_answers_are_asked_turn_by_turn(ask: Cli, endpoint: Any) -> None:
    assert ask(*TALK).code == 0
    asked = len(endpoint.requests)
    endpoint.script = lambda request: endpoint.saying({"justification": "Now.", "score": 0})
    endpoint.requests.clear()
    assert ask(*TALK, "--fresh").code == 0
    assert len(endpoint.requests) == asked
    repeated = [
        message["content"] for request in endpoint.requests for message in request.body["messages"] if message["role"] == "assistant"
    ]
    assert repeated and all("Now." in text for text in repeated)


@pytest.fixture
def provider(endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setattr("harness.engines.batch_engine.FIRST_POLL_SECONDS", 0.05)

    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        found = endpoint.script(Request("POST", "/v1/chat/completions", {}, body))
        return found.status, found.body

    served = BatchServer(answer)
    yield served
    served.close()


@pytest.mark.slow
def test_a_providers_batches_hold_one_turn_each(ask: Cli, provider: BatchServer, run_folder: RunFolder, out: Path, tmp_path: Path) -> None:
    assert ask(*TALK, "--out", tmp_path / "live").code == 0
    live = (run_folder(tmp_path / "live") / "report.json").read_bytes()
    flags = (*TALK, "--engine", "batch", "--base-url", provider.url)
    for _ in range(10):
        done = ask(*flags, "--detach")
        if done.code == 0:
            break
    assert done.code == 0, done.err
    assert set(provider.paid.values()) == {1} and len(provider.batches) > 2
    assert (run_folder(out) / "report.json").read_bytes() == live
    assert ask(*flags, "--out", tmp_path / "waits").code == 0


def test_what_does_not_go_with_a_conversation_is_refused(ask: Cli, endpoint: Any, refused: Callable[..., None]) -> None:
    refused(ask("--variant", "conversation+few-shot"), 2, "write 'single' or 'joint'")
    refused(ask("--variant", "conversation", "--judge", "decider/sparrow-nano"), 2, "a decision model writes no answer")
    assert endpoint.requests == []
