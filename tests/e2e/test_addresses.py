"""Which endpoint answered: addresses, labels, and asking afresh."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import MODEL, Endpoint

Cli = Callable[..., Any]


# ---- which address answered, and asking anew


@pytest.fixture
def second() -> Iterator[Endpoint]:
    """Another endpoint on the same host, with a model of the same name that always says 0."""
    served = Endpoint()
    served.script = lambda request: served.saying({"justification": "Because.", "score": 0}, model="second")
    yield served
    served.close()


def test_another_address_that_answered_before_is_named(ask: Cli, endpoint: Any, second: Any, out: Path) -> None:
    assert "note:" not in ask().err and "note:" not in ask().err
    done = ask("--base-url", second.url)
    assert done.code == 0 and not second.requests
    assert f"4 stored answers from {endpoint.url} are used; this command asks {second.url}" in done.err
    assert "--fresh" in done.err and "@LABEL" in done.err
    kept = b"".join(path.read_bytes() for path in (out / "runs").rglob("*") if path.is_file())
    assert endpoint.url.encode() not in kept and second.url.encode() not in kept  # the store knows it, records and reports do not


def test_fresh_asks_every_call_again_and_the_last_reply_counts(
    ask: Cli, endpoint: Any, second: Any, rows: Callable[..., Any], out: Path
) -> None:
    ask()
    assert ask("--base-url", second.url, "--fresh").code == 0
    assert len(second.requests) == len(endpoint.requests) == 4
    assert [row["n"] for row in rows(out, "SELECT COUNT(*) AS n FROM attempts GROUP BY call_id")] == [2] * 4
    report = json.loads(ask("--base-url", second.url, "--json").out)
    assert report["answered_by"] == {f"openai/{MODEL}": {"second": 4}}
    assert "note:" not in ask("--base-url", second.url).err  # every answer is of this address now
    assert ask("--base-url", second.url, "--fresh").code == 0 and len(second.requests) == 8


def test_a_fresh_command_that_was_ended_goes_on(ask: Cli, endpoint: Any, second: Any, refused: Callable[..., None], out: Path) -> None:
    ask()
    refused(ask("--base-url", second.url, "--fresh", "--max-calls", "3", "--concurrency", "1"), 6, "calls without an answer: 1 of openai")
    assert "--fresh continues it" in ask("--base-url", second.url).err
    assert ask("--base-url", second.url, "--fresh").code == 0
    assert len(second.requests) == 4 and len(endpoint.requests) == 4


def test_calls_that_were_lost_by_a_fresh_command_are_missing_although_older_answers_are_there(
    ask: Cli, endpoint: Any, refused: Callable[..., None]
) -> None:
    ask()
    good = endpoint.saying({"score": 1})
    endpoint.script = endpoint.first(good, endpoint.error(403, "Access denied"))
    refused(ask("--fresh", "--concurrency", "1"), 6, "calls without an answer: 1 of", "403: Access denied")
    assert ask("--fresh").code == 0 and len(endpoint.requests) == 4 + 4 + 1


def test_labels_tell_two_endpoints_with_one_model_apart(cli: Cli, endpoint: Any, second: Any, out: Path) -> None:
    one, two = f"openai/{MODEL}@one", f"openai/{MODEL}@two"
    judges = ("--judge", one, "--judge", two, "--base-url", f"{one}={endpoint.url}", "--base-url", f"{two}={second.url}")
    done = cli("run", "--langs", "cs", "--tasks", "open_prompt", "--limit", "2", *judges, "--out", out, "--json")
    assert done.code == 0 and len(endpoint.requests) == len(second.requests) == 4
    assert {request.body["model"] for request in (*endpoint.requests, *second.requests)} == {MODEL}
    report = json.loads(done.out)
    assert report["answered_by"] == {one: {MODEL: 4}, two: {"second": 4}}
    assert "note:" not in done.err


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("m@berlin", "m"),
        ("m@@berlin", "m@berlin"),
        ("m@20240620", "m@20240620"),
        ("w/@cf/m/n", "w/@cf/m/n"),
        ("w/@cf/m@a", "w/@cf/m"),
    ],
)
def test_what_is_a_label_is_not_sent_and_what_is_none_is(cli: Cli, endpoint: Any, out: Path, name: str, sent: str) -> None:
    command = ("run", "--langs", "cs", "--tasks", "open_prompt", "--limit", "1", "--judge", f"openai/{name}", "--base-url", endpoint.url)
    assert cli(*command, "--out", out).code == 0
    assert {request.body["model"] for request in endpoint.requests} == {sent}


def test_an_address_of_a_judge_that_is_not_asked_is_refused(ask: Cli, endpoint: Any, refused: Callable[..., None]) -> None:
    refused(
        ask("--base-url", f"openai/other={endpoint.url}"), 2, "--base-url names 'openai/other', which is not a judge of this run", MODEL
    )
