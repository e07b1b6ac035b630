"""Why files of requests are refused as a whole, in words and in what follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.engines.batch.submission import is_queue_full, learn_from_problems, problems_in_words
from harness.judges.batches import LineError, ProviderBatch
from harness.judges.batches import _Errors as Errors
from harness.judges.chat import Chat
from harness.store import StoredBatch

RECORD = StoredBatch("batch_1", "run", "openai/m", 0.0, "submitted", ("a", "b"))


def refused(*problems: LineError) -> ProviderBatch:
    return ProviderBatch("batch_1", "failed", errors=Errors(problems))


@pytest.mark.parametrize(
    ("problem", "full"),
    [
        (LineError("token_limit_exceeded", "Limit reached"), True),
        (LineError(None, "Enqueued token limit reached for m in organization o. Limit: 90,000 enqueued tokens."), True),
        (LineError("invalid_json_line", "This line is not parseable.", 3), False),
        (LineError(), False),
    ],
)
def test_a_full_queue_is_told_by_its_words(problem: LineError, full: bool) -> None:
    assert is_queue_full(refused(problem)) is full


def test_problems_are_shown_with_their_lines_and_the_rest_is_counted() -> None:
    assert (
        problems_in_words(refused(LineError("code", "Bad.", 2), LineError("other", "Worse (other).")))
        == "line 2: Bad. (code); Worse (other)."
    )
    assert problems_in_words(refused(*(LineError(None, f"Problem {n}", n) for n in range(1, 8)))).endswith("line 5: Problem 5; and 2 more")
    assert problems_in_words(refused()) == problems_in_words(refused(LineError())) == "no reason given"


@pytest.mark.parametrize("line", [2, None, 99, -1, 0])
def test_a_parameter_that_is_named_is_learnt_wherever_its_line_is_said_to_be(line: int | None, some_calls: Callable[..., Any]) -> None:
    chat = Chat(None, "m", "the host")
    assert learn_from_problems(chat, some_calls("a", "b"), RECORD, refused(LineError("x", "'temperature' is not supported", line)))
    assert chat.capabilities.left_out == ("temperature",)


def test_nothing_is_learnt_from_other_words_nor_twice(some_calls: Callable[..., Any]) -> None:
    chat = Chat(None, "m", "the host")
    assert not learn_from_problems(chat, some_calls("a"), RECORD, refused(LineError("x", "the weather is bad", 1)))
    assert not learn_from_problems(chat, some_calls("a"), RECORD, refused())


def test_what_follows_goes_by_how_the_batch_was_asked(some_calls: Callable[..., Any]) -> None:
    """A batch that already asked without a parameter cannot be refused for it."""
    chat = Chat(None, "m", "the host")
    without = ProviderBatch(
        "batch_1",
        "failed",
        errors=Errors((LineError("x", "'temperature' is not supported", 1),)),
        metadata={"harness_manner": '{"left_out": ["temperature"]}'},
    )
    assert not learn_from_problems(chat, some_calls("a"), RECORD, without)
