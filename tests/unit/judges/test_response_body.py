"""Counts of tokens: what can be none is unknown."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from harness.judges.response_body import MOST_TOKENS, token_count, usage_of, with_possible_counts
from harness.model import Reply, Usage

NO_COUNTS: list[Any] = [True, False, -1, MOST_TOKENS + 1, 10**400, "7", 1.0, None, [], {}]


@pytest.mark.parametrize("value", NO_COUNTS, ids=repr)
def test_what_can_be_no_count_is_unknown(value: Any) -> None:
    assert token_count(value) == 0 and type(token_count(value)) is int
    assert usage_of(value, value, value, value) == Usage()


def test_there_are_no_more_cached_tokens_than_tokens() -> None:
    assert usage_of(10, 99, 5, 0) == Usage(10, 10, 5, 0)


@pytest.mark.parametrize("value", ["true", "-1", "1e300", '"7"', "null", "1" + "0" * 30])
def test_a_reply_with_impossible_counts_can_be_read(value: str) -> None:
    text = f'{{"text":"x","model":"m","usage":{{"prompt_tokens":{value},"completion_tokens":3}}}}'
    assert msgspec.convert(with_possible_counts(json.loads(text)), Reply) == Reply("x", "m", usage=Usage(0, 0, 3))


def test_a_reply_without_counts_is_read_as_it_is() -> None:
    for reply in ({"text": "x", "model": "m"}, {"usage": 3}, [], None):
        assert with_possible_counts(reply) == reply
