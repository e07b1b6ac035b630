"""Token counts as providers report them. They are untrusted: impossible counts are unknown."""

from __future__ import annotations

from typing import Any

from harness.model import Usage

MOST_TOKENS = 10_000_000  # of one call: several times the longest context that is offered


def token_count(value: Any) -> int:
    """Return the value if it is an integer from 0 to `MOST_TOKENS`, else 0, which means unknown (true, "7", -1, 1.5, 10**12).

    >>> token_count(31), token_count(True), token_count(-1), token_count("7")
    (31, 0, 0, 0)
    """
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0


def usage_of(prompt: Any, cached: Any, completion: Any, reasoning: Any) -> Usage:
    """Return the possible counts. Cached tokens are part of the prompt, so there are at most as many."""
    tokens = token_count(prompt)
    return Usage(tokens, min(token_count(cached), tokens), token_count(completion), token_count(reasoning))


def with_possible_counts(reply: Any) -> Any:
    """A reply as plain data. Impossible counts become unknown."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return reply
    return {**reply, "usage": {name: token_count(usage.get(name)) for name in Usage.__struct_fields__}}
