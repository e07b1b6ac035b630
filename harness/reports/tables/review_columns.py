"""The columns of people's answers to a judge's reasons."""

from __future__ import annotations

from harness.reports.tables.column import COUNT, NAMED_COUNTS, SHARE, TEXT, Column, TableName

_REVIEWS = frozenset({TableName.REVIEWS})
_PEOPLE = "whether the judge's score is the one that most of the people gave who labelled the text (numbers: within a tenth of the scale)"

REVIEW_COLUMNS: tuple[Column, ...] = (
    Column("people", "people's score", TEXT, _REVIEWS, _PEOPLE),
    Column("reviews", "reviews", COUNT, _REVIEWS, "answers of people to a reason of the judge"),
    Column("texts", "texts", COUNT, _REVIEWS, "different texts that they are about"),
    Column("agree", "agree", SHARE, _REVIEWS, "the share of answers that agree with the reason", signs=True),
    Column("partly", "partly", SHARE, _REVIEWS, "the share that partly agree", interval=False),
    Column("disagree", "disagree", SHARE, _REVIEWS, "the share that disagree", interval=False),
    Column("reasons", "what is wrong", NAMED_COUNTS, _REVIEWS, "what people find wrong with the reasons, and how often"),
)
