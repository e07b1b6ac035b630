"""Checks results that arrive over a network: only what the page itself can say is kept, and no time from which nothing can be changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec

from harness.annotate.answers.page_record import LabellingPage, PageRecord
from harness.annotate.answers.page_results import PageAnswer, PageResult, checksum

MOST_LETTERS = 4000  # of a comment, and of the words of a review; the page's own fields take no more
SESSION = re.compile(r"[0-9a-f]{16}")
_REVIEWS = ("agree", "partly", "disagree")
_TIME = re.compile(r"\d{4}(-\d\d(-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|\+00:00)?)?)?")
_MOST_MS = 10**10  # four months in front of one text
_MOST_SESSIONS, _MOST_ERRORS, _LONGEST_WORD = 200, 2000, 100
_CLOCK_ERROR = timedelta(days=1)  # a device's clock may be wrong by so much


def result_fault(result: PageResult, page: LabellingPage, record: PageRecord) -> str:
    """Return what a result says that its page cannot say; empty for nothing."""
    return next(_faults(result, page, record), "")


def _faults(result: PageResult, page: LabellingPage, record: PageRecord) -> Iterator[str]:
    if result.page != page.page or result.annotator != page.annotator:
        yield "not a result of this page"
    sessions = (result.session, *result.joined)
    if len(sessions) > _MOST_SESSIONS or not all(map(SESSION.fullmatch, sessions)):
        yield "not a result of this page: a session has 16 hexadecimal digits"
    if not _TIME.fullmatch(result.saved) or max(len(result.started), len(result.language), len(result.version)) > _LONGEST_WORD:
        yield "'saved' is a time such as 2026-01-31T09:30:00.000Z, and the other words of the head are short"
    keys = {entry.key for entry in page.items}
    if len({answer.key for answer in result.answers}) != len(result.answers):
        yield "two answers to one text"
    for answer in result.answers:
        if answer.key not in keys:
            yield "an answer to a text that the page does not have"
        yield from _answer_faults(answer, record)


def _answer_faults(answer: PageAnswer, record: PageRecord) -> Iterator[str]:
    metrics = {metric for asked in record.metrics.values() for metric in asked}
    for metric, score in answer.scores.items():
        if metric not in metrics:
            yield "a score on a metric that the page does not ask about"
        elif score not in _REVIEWS if record.review else not record.scales[metric].holds(score):
            yield f"a score that is not on the scale of {metric}"
    if not answer.reviews.keys() <= metrics if answer.reviews else False:
        yield "a review of a metric that the page does not ask about"
    if max(map(len, (answer.comment or "", *(review.words for review in (answer.reviews or {}).values())))) > MOST_LETTERS:
        yield f"a comment of more than {MOST_LETTERS:,} letters"
    if answer.changed is not None and not _TIME.fullmatch(answer.changed):
        yield "'changed' is a time such as 2026-01-31T09:30:00.000Z"
    if answer.ms > _MOST_MS or not 0 <= (answer.place or 0) <= _MOST_MS:
        yield "an impossible time or place"
    fields = {name for shown in record.fields.values() for name in shown}
    if len(answer.errors or ()) > _MOST_ERRORS or any(
        error.field not in fields or error.end < error.start for error in answer.errors or ()
    ):
        yield "an error that is marked outside of the texts of the page"


def with_possible_times(result: PageResult) -> PageResult:
    """Return the result with now in place of times that are still to come: an answer of the year 9999 could never be changed again."""
    now = datetime.now(UTC)
    latest = f"{now + _CLOCK_ERROR:%Y-%m-%dT%H:%M:%S}.999Z"
    stamp = f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"
    answers = tuple(
        msgspec.structs.replace(answer, changed=stamp) if (answer.changed or "") > latest else answer for answer in result.answers
    )
    if answers == result.answers and result.saved <= latest:
        return result
    return msgspec.structs.replace(result, answers=answers, checksum=checksum(answers), saved=min(result.saved, stamp))
