"""Answers that come as a stream of server-sent events: some models are only served so, and some servers stream whatever is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b":")
_END = b"[DONE]"
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")  # members of a message that come in pieces


def joined_stream(body: bytes) -> bytes:
    """Return the completion whose pieces a stream holds, as JSON; any other body as it is.

    A stream that broke off has neither a finish reason nor an end: its completion then holds an error, so that the call is asked again.

    >>> joined_stream(b'data: {"choices": [{"delta": {"content": "4"}, "finish_reason": "stop"}]}\\n\\ndata: [DONE]\\n\\n')
    b'{"choices": [{"index": 0, "message": {"content": "4"}, "finish_reason": "stop"}]}'
    """
    if not body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_BEGINNINGS):
        return body
    completion: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    pieces: dict[str, list[str]] = {}
    tools: dict[Any, dict[str, Any]] = {}
    tokens: list[Any] = []
    for event in _read_events(body):
        completion |= {name: event[name] for name in ("model", "usage", "error") if event.get(name)}
        for part in event["choices"] if isinstance(event.get("choices"), list) else ():
            if not isinstance(part, dict) or part.get("index") not in (0, None):
                continue
            choice |= {name: part[name] for name in ("finish_reason", "error") if part.get(name)}
            message = part.get("delta") or part.get("message")
            _add(message if isinstance(message, dict) else {"content": part.get("text")}, pieces, tools)
            logprobs = part.get("logprobs")
            if isinstance(logprobs, dict) and isinstance(logprobs.get("content"), list):
                tokens += logprobs["content"]
    has_ended = choice.get("finish_reason") or body.rstrip().endswith(_END)
    if not has_ended and not completion.get("error"):
        completion["error"] = {"message": "the stream broke off"}
    message = {name: "".join(texts) for name, texts in pieces.items()}
    if tools:
        message["tool_calls"] = list(tools.values())
    choice = {"index": 0, "message": message, **choice} | ({"logprobs": {"content": tokens}} if tokens else {})
    return json.dumps(completion | {"choices": [choice]}).encode()


def _read_events(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a stream; other events, such as comments and `[DONE]`, are ignored."""
    for line in body.splitlines():
        if not line.lstrip().startswith(b"data:"):
            continue
        try:
            event = json.loads(line.lstrip()[len(b"data:") :])  # and not msgspec: a piece may end in half a character
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def _add(message: dict[str, Any], pieces: dict[str, list[str]], tools: dict[Any, dict[str, Any]]) -> None:
    """Add a piece of a message to those before it."""
    for name in _TEXTS:
        if isinstance(message.get(name), str) and message[name]:
            pieces.setdefault(name, []).append(message[name])
    for call in message["tool_calls"] if isinstance(message.get("tool_calls"), list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            tool = tools.setdefault(str(call.get("index")), {"type": "function", "function": {"name": "", "arguments": ""}})
            for name in ("name", "arguments"):
                tool["function"][name] += function.get(name) if isinstance(function.get(name), str) else ""
