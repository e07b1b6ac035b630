"""The saved answers of one sitting at a labelling page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec

from harness.model import Score

RESULT = "judge-harness labels"
SCHEMA_VERSION = 1


class MarkedError(msgspec.Struct, frozen=True):
    """An error that an annotator marked: its place in the text as the page shows it, in characters, end exclusive."""

    field: str
    start: Annotated[int, msgspec.Meta(ge=0)]
    end: Annotated[int, msgspec.Meta(ge=0)]
    severity: Literal["minor", "major"]


Reason = Literal["misreads_text", "wrong_fact", "wrong_language_rule", "too_strict", "too_lenient", "does_not_fit_score"]


class ReviewAnswer(msgspec.Struct, frozen=True):
    """What an annotator finds wrong with another rater's reason: from the short list, and in words."""

    reasons: tuple[Reason, ...] = ()
    words: str = ""


class PageAnswer(msgspec.Struct, frozen=True):
    """What was said about one text. `place` counts texts in the order of their first answers; `ms` is the time in front of it.

    `changed` is the time of its last change (ISO 8601, UTC, a later one for every change); None in files of earlier versions, and where
    nothing was said. On pages about a judge's reasons, `scores` are `agree`, `partly` or `disagree`, and `reviews` say why.
    """

    key: str
    practice: bool
    place: int | None
    scores: dict[str, Score]
    errors: tuple[MarkedError, ...] | None
    no_errors: bool
    skip: Literal["cannot_judge", "broken", "offensive"] | None
    comment: str | None
    ms: Annotated[int, msgspec.Meta(ge=0)]
    reviews: dict[str, ReviewAnswer] | None = None
    changed: str | None = None


class PageResult(msgspec.Struct, frozen=True):
    """A result file. `session` is one annotator's visit to a page on one device, however often it was interrupted.

    `joined` are other sessions on the same page whose answers the page took in. `practised` is the number of practice texts that are done.
    """

    kind: str
    schema_version: int
    page: str
    version: str
    annotator: str
    session: str
    saved: str
    answers: tuple[PageAnswer, ...]
    checksum: str
    language: str = ""
    started: str = ""
    practised: int = 0
    joined: tuple[str, ...] = ()

    @property
    def sessions(self) -> frozenset[str]:
        """All sessions whose answers it has."""
        return frozenset({self.session, *self.joined})


def checksum(answers: Iterable[PageAnswer]) -> str:
    """FNV-1a (32 bits) of the answers, as the page computes it. It reveals accidents, not fraud.

    >>> checksum([PageAnswer("k", False, 1, {"m": 2, "a": 0.5}, None, False, None, "å", 1200)])
    '5b8008fd'
    """
    lines = []
    for one in answers:
        scores = ",".join(f"{metric}={_written(one.scores[metric])}" for metric in sorted(one.scores, key=_utf16))
        errors = ",".join(f"{error.field}:{error.start}:{error.end}:{error.severity}" for error in one.errors or ())
        place = "" if one.place is None else one.place
        reviews = [
            f"{metric}={'+'.join(own.reasons)}:{own.words}"
            for metric, own in sorted((one.reviews or {}).items(), key=lambda pair: _utf16(pair[0]))
        ]
        changed = (one.changed,) if one.changed else ()
        parts = (one.key, place, scores, errors, one.skip or "", one.comment or "", one.ms, *reviews, *changed)
        lines.append("|".join(map(str, parts)))
    value = 0x811C9DC5
    for byte in "\n".join(lines).encode("utf-8", "replace"):
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"


def _utf16(text: str) -> bytes:
    """The order in which JavaScript sorts texts."""
    return text.encode("utf-16-be", "surrogatepass")


def _written(score: Score) -> str:
    """A score as JavaScript writes it."""
    return str(int(score)) if isinstance(score, float) and score.is_integer() else str(score)
