"""Streams of pieces become the completion that they are the pieces of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.judges.completion import read_answer
from harness.judges.streams import joined_stream


def stream(*events: Any, end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {json.dumps(event)}\n\n" for event in events) + end).encode()


def piece(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_texts_reasoning_tools_tokens_and_counts_are_joined() -> None:
    token = {"token": "4", "logprob": -0.1, "top_logprobs": []}
    tools = [[{"index": 0, "function": {"name": "answer", "arguments": part}}] for part in ('{"sco', 're": 4}')]
    events = [
        piece(role="assistant", content=""),
        piece(reasoning_content="Let me "),
        piece(reasoning_content="see."),
        *(piece(tool_calls=tool) for tool in tools),
        {"choices": [{"index": 0, "delta": {"content": "4"}, "logprobs": {"content": [token]}}]},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        piece("stop"),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
    ]
    answer = read_answer(joined_stream(b"\xef\xbb\xbf: comment\r\n\r\nevent: message\r\n" + stream(*events)))
    assert answer is not None and (answer.kind, answer.text, answer.finish_reason, answer.model) == ("answer", "4", "stop", "m")
    assert answer.beside == {"reasoning_content": "Let me see.", "tool_calls": '{"score": 4}'}
    assert answer.logprobs == {"content": [token]} and (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (7, 2)


def test_a_character_that_two_pieces_share_is_whole_again() -> None:
    halves = b'data: {"choices": [{"delta": {"content": "\\ud83d"}}]}\n\ndata: {"choices": [{"delta": {"content": "\\ude00"}}]}\n\n'
    answer = read_answer(joined_stream(halves + stream(piece("stop"))))
    assert answer is not None and answer.text == "😀"


@pytest.mark.parametrize("body", [b'{"choices": []}', b"", b"<html>data: {}", b"[]", b"dates: {}"])
def test_any_other_body_stays_as_it_is(body: bytes) -> None:
    assert joined_stream(body) == body


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (stream(piece(content="4"), piece("stop")), "answer"),
        (stream(piece(content="4"), piece("stop"), end=""), "answer"),
        (stream(piece(content="4")), "answer"),
        (stream(piece(content="4"), end=""), "failed"),
        (stream(piece(content="4"), end="")[:-20], "failed"),
        (stream(piece(content="4"), {"error": {"message": "upstream broke"}}), "failed"),
        (stream(), "failed"),
        (b'data: {\ndata: 7\ndata: []\ndata: {"choices": [7, {"delta": 7}, {"index": "x"}]}\n', "failed"),
    ],
)
def test_a_stream_that_broke_off_or_holds_an_error_is_a_failed_generation(body: bytes, kind: str) -> None:
    answer = read_answer(joined_stream(body))
    assert answer is not None and answer.kind == kind
