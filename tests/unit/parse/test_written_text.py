"""Texts that models were asked to write: what is removed from them, and what is no text."""

from __future__ import annotations

import pytest

from harness.model import Failure, Reply
from harness.parse import bundled_vocabulary, clean_text, writing_failure

LEAD_INS = ("here is", "summary", "sure")


@pytest.mark.parametrize(
    ("text", "cleaned", "removed"),
    [
        ("The library opens.", "The library opens.", ()),
        ("Sure, here it is:\n\nThe library opens.", "The library opens.", ("lead-in",)),
        ("Here is the summary: The library opens.", "The library opens.", ("lead-in",)),
        ("**Summary**\nThe library opens.", "The library opens.", ("lead-in",)),
        ("Summary of the news. The library opens.", "The library opens.", ("lead-in",)),
        ("Summaries are short. They help.", "Summaries are short. They help.", ()),  # another word
        ("以下は要約です：\n図書館が開く。", "図書館が開く。", ("lead-in",)),
        ("Prague: the city opens a library.", "Prague: the city opens a library.", ()),
        ("- It opens.\n- It has seats.\n2) It is new.", "It opens.\nIt has seats.\nIt is new.", ("bullets",)),
        ("1.2 million came.", "1.2 million came.", ()),
        ('"The library opens."', "The library opens.", ("quotation marks",)),
        ("「図書館が開く。」", "図書館が開く。", ("quotation marks",)),
        ("```text\nThe library opens.\n```", "The library opens.", ("fence",)),
        ("The library opens. —", "The library opens.", ("trailing punctuation",)),
        ("It opens…", "It opens…", ()),
        ("Sure!\n\nHere is the summary:\n\nThe library opens.", "The library opens.", ("lead-in",)),
        ("Sure! The text in two sentences:\nThe library opens.", "The library opens.", ("lead-in",)),
        ("The text you asked for:\n\n**Summary**\nThe library opens.", "The library opens.", ("lead-in",)),
        ("Here is the list:\n\nTo bring:\nbread, salt", "To bring:\nbread, salt", ("lead-in",)),  # the second colon is the text's own
        ("Sure! Here is the summary. Summary: It opens.", "Summary: It opens.", ("lead-in",)),  # never three
        ("Sure!\nHere is:", "Here is", ("lead-in", "trailing punctuation")),
        ("Here is:", "Here is", ("trailing punctuation",)),  # without the lead-in nothing would be left
    ],
)
def test_what_is_no_part_of_a_text_is_removed_and_named(text: str, cleaned: str, removed: tuple[str, ...]) -> None:
    found = clean_text(text, LEAD_INS)
    assert (found.text, found.removed) == (cleaned, removed)


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (Reply("It opens.", "m"), None),
        (Reply("", "m"), Failure.MISSING),
        (Reply(" ** ", "m"), Failure.MISSING),
        (Reply("I'm sorry, but I can't help with that.", "m"), Failure.REFUSED),
        (Reply("I'm sorry, but I can't rate this, he said. " + "The road was long. " * 30, "m"), None),  # a story
        (Reply("text", "m", refusal="policy"), Failure.REFUSED),
        (Reply("It", "m", finish_reason="content_filter"), Failure.REFUSED),
        (Reply("", "", error="400: too long"), Failure.MISSING),
    ],
)
def test_a_reply_without_a_text_is_a_named_failure(reply: Reply, failure: Failure | None) -> None:
    assert writing_failure(reply, bundled_vocabulary()) is failure
