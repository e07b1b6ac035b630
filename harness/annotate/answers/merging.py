"""Merges the states of one sitting, of two tabs or of browser and server: the latest answer to each text is kept, and none is lost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from harness.annotate.answers.page_results import PageAnswer, PageResult, checksum

T = TypeVar("T")


def latest_answers(results: Iterable[tuple[PageResult, T]]) -> dict[str, tuple[PageAnswer, T]]:
    """Of each text the answer that was changed last, with the longest time in front of it, and what stands beside its result.

    An answer without a time of its own counts as changed when its result was saved. Of equal times the one saved later counts.
    """
    latest: dict[str, tuple[PageAnswer, T]] = {}
    for result, beside in sorted(results, key=lambda pair: pair[0].saved):
        for answer in result.answers:
            new = answer if answer.changed or answer.place is None else msgspec.structs.replace(answer, changed=result.saved)
            old, its = latest.get(answer.key, (new, beside))
            later, whose = (old, its) if (old.changed or "") > (new.changed or "") else (new, beside)
            latest[answer.key] = (msgspec.structs.replace(later, ms=max(old.ms, new.ms)), whose)
    return latest


def merged(one: PageResult, other: PageResult) -> PageResult:
    """Two states of one sitting as one. No answer that only one of them has is lost; `one` gives the head."""
    latest = latest_answers([(one, None), (other, None)])
    answers = tuple(answer for answer, _ in latest.values())
    return msgspec.structs.replace(
        one,
        answers=answers,
        checksum=checksum(answers),
        saved=max(one.saved, other.saved),
        practised=max(one.practised, other.practised),
        joined=tuple(sorted((one.sessions | other.sessions) - {one.session})),
    )
