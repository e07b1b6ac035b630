"""The columns of people's answers to a judge's reasons."""

from __future__ import annotations

from harness.reports.tables.column import COUNT, NAMED_COUNTS, SHARE, TEXT, Column, TableName

_REVIEWS = frozenset({TableName.REVIEWS})
_PEOPLE = "whether the judge's score is the one that most of the people gave who labelled the text (numbers: within a tenth of the scale)"

REVIEW_COLUMNS: tuple[Column, ...] = (
    Column("people", "people's score", TEXT, _PEOPLE, _REVIEWS),
    Column("reviews", "reviews", COUNT, "answers of people to a reason of the judge", _REVIEWS),
    Column("texts", "texts", COUNT, "different texts that they are about", _REVIEWS),
    Column("agree", "agree", SHARE, "the share of answers that agree with the reason", _REVIEWS, signs=True),
    Column("partly", "partly", SHARE, "the share that partly agree", _REVIEWS, interval=False),
    Column("disagree", "disagree", SHARE, "the share that disagree", _REVIEWS, interval=False),
    Column("reasons", "what is wrong", NAMED_COUNTS, "what people find wrong with the reasons, and how often", _REVIEWS),
)
