"""What a labelling page was made of, and what people answered on it: the record of pages, and their result files.

The record names the item behind each key. It stays with the maker of the pages; annotators get the pages only.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec

from harness.content.specs import ExitQuestion
from harness.errors import ContentError, refuse_pipe, unreadable
from harness.model import Item, Scale, Score
from harness.row_files import refuse_other_schema

RECORD = "pages.json"
RECORD_SCHEMA = 1


class Drawn(msgspec.Struct, frozen=True, omit_defaults=True):
    """The draw of an item: its probability to be labelled, the stratum that it was drawn from, and its probability to be labelled by all.

    `overlap_probability` is the first times the share of texts that every annotator reads; None where all read all.
    """

    inclusion_probability: float | None = None
    stratum: str | None = None
    overlap_probability: float | None = None


class ReviewedScore(msgspec.Struct, frozen=True):
    """A judge's score, and its reason, for people to review."""

    score: Score
    reason: str


class ReviewedJudge(msgspec.Struct, frozen=True):
    """Whose reasons are reviewed: the judge, the run, and the condition under which it was asked."""

    judge: str
    source: str
    variant: str
    temperature: float | None = None


class PageItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The item and the role behind one key of a page.

    `role` is `label` for an item whose answers become labels; answers to `practice` items and to `check`s (damaged texts) never do.
    `expected` are the explained answers of a practice item.
    """

    key: str
    item_id: str
    role: Literal["label", "practice", "check"] = "label"
    expected: dict[str, Score] = {}


class LabellingPage(msgspec.Struct, frozen=True):
    """One page: its id, its file, whose it is, and its items in reading order."""

    page: str
    file: str
    annotator: str
    items: tuple[PageItem, ...]


class PageRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All pages that were made together.

    Attributes:
        source: the data folder as it was named, or `bundled`.
        language: of all items.
        version: hash of what the pages show of the items; see `version_of`.
        fields: `{task: texts that are shown}`.
        metrics: `{task: metrics that are asked about}`.
        scales: `{metric: scale}`.
        drawn: `{item_id: how it was drawn}`, for items from a plan.
        pages: the pages.
        replaced: ids of earlier pages that these replace.
        review: on pages about a judge's reasons, whose they are; None on pages that ask for scores.
        reviewed: `{item_id: {metric: score and reason}}` on these pages.
        pack: the name of the packs whose items the pages show, if these are bundled; empty for the languages' own packs.
        blind_pairs: whether the pages show minimal pairs, a twin beside its flawless text.
        exit_questions: what is asked after the last text.
        blocks: the key of the items whose values stand in blocks, such as `system`; empty where texts are mixed.
    """

    source: str
    language: str
    version: str
    fields: dict[str, tuple[str, ...]]
    metrics: dict[str, tuple[str, ...]]
    scales: dict[str, Scale]
    drawn: dict[str, Drawn] = {}
    pages: tuple[LabellingPage, ...]
    replaced: tuple[str, ...] = ()
    review: ReviewedJudge | None = None
    reviewed: dict[str, dict[str, ReviewedScore]] = {}
    pack: str = ""
    blind_pairs: bool = False
    exit_questions: tuple[ExitQuestion, ...] = ()
    blocks: str = ""
    schema_version: int = RECORD_SCHEMA

    def page(self, name: str) -> LabellingPage | None:
        """Return the page with this id."""
        return next((page for page in self.pages if page.page == name), None)


def version_of(items: Iterable[Item], fields: Mapping[str, Sequence[str]]) -> str:
    """Hash of the texts that pages show of items, whatever their order. Labels and other keys of the items do not change it."""
    texts = sorted((item.item_id, item.language, item.task, [item.fields.get(name) for name in fields[item.task]]) for item in items)
    return hashlib.sha256(msgspec.json.encode(texts)).hexdigest()


def read_record(path: Path) -> PageRecord:
    """Read a record. Raises ContentError if it cannot be read or was made by another version of the program."""
    refuse_pipe(path)
    try:
        data = path.read_bytes()
        refuse_other_schema(data, RECORD_SCHEMA, path, "make the pages again with 'harness labels page'")
        record = msgspec.json.decode(data, type=PageRecord)
    except OSError as err:
        raise unreadable(err, path) from None
    except msgspec.DecodeError as err:
        raise ContentError(f"not a record of labelling pages ({err}); restore the file that 'harness labels page' wrote", path) from None
    return record


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
    """Faults that an annotator sees in another rater's reason: from the short list, and in words."""

    reasons: tuple[Reason, ...] = ()
    words: str = ""


class PageAnswer(msgspec.Struct, frozen=True):
    """The answer to one text. `place` counts texts in the order of their first answers; `ms` is the time in front of it.

    `changed` is the time of its last change (ISO 8601, UTC, a later one for every change); None where nothing was said. On pages about a
    judge's reasons, `scores` are `agree`, `partly` or `disagree`, and `reviews` say why.
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

    def __post_init__(self) -> None:
        if self.place is not None and not self.changed:
            raise ValueError(f"the answer to text '{self.key}' has no time of its last change ('changed')")


class PageResult(msgspec.Struct, frozen=True):
    """A result file. `session` is one annotator's visit to a page on one device, however often it was interrupted.

    `joined` are other sessions on the same page whose answers the page took in. `practised` is the number of practice texts that are done.
    `exit` has the answers to the questions after the last text by id, last changed at `exit_changed`.
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
    exit: dict[str, str | int] = {}
    exit_changed: str = ""

    @property
    def sessions(self) -> frozenset[str]:
        """All sessions whose answers it has."""
        return frozenset({self.session, *self.joined})


def checksum(answers: Iterable[PageAnswer]) -> str:
    """FNV-1a (32 bits) of the answers, as the page computes it. It reveals accidents, not fraud.

    >>> checksum([PageAnswer("k", False, 1, {"m": 2, "a": 0.5}, None, False, None, "å", 1200, changed="2026-01-01")])
    '8c9f1e75'
    """
    lines = []
    for answer in answers:
        # JavaScript writes 2.0 as 2.
        written = {name: int(score) if isinstance(score, float) and score.is_integer() else score for name, score in answer.scores.items()}
        scores = ",".join(f"{metric}={written[metric]}" for metric in sorted(written, key=_utf16))
        errors = ",".join(f"{error.field}:{error.start}:{error.end}:{error.severity}" for error in answer.errors or ())
        position = "" if answer.place is None else answer.place
        reviews = [
            f"{metric}={'+'.join(review.reasons)}:{review.words}"
            for metric, review in sorted((answer.reviews or {}).items(), key=lambda pair: _utf16(pair[0]))
        ]
        changed = (answer.changed,) if answer.changed else ()
        parts = (answer.key, position, scores, errors, answer.skip or "", answer.comment or "", answer.ms, *reviews, *changed)
        lines.append("|".join(map(str, parts)))
    value = 0x811C9DC5
    for byte in "\n".join(lines).encode("utf-8", "replace"):
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"


def _utf16(text: str) -> bytes:
    """Return the order in which JavaScript sorts texts."""
    return text.encode("utf-16-be", "surrogatepass")


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
    if not 0 <= result.practised <= len(page.items):  # a page shows what the server keeps, so a number out of reach would stay for ever
        yield "more practice texts than the page has"
    yield from exit_faults(result, record)
    keys = {entry.key for entry in page.items}
    if len({answer.key for answer in result.answers}) != len(result.answers):
        yield "two answers to one text"
    for answer in result.answers:
        if answer.key not in keys:
            yield "an answer to a text that the page does not have"
        metrics = {metric for task_metrics in record.metrics.values() for metric in task_metrics}
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
        fields = {name for task_fields in record.fields.values() for name in task_fields}
        if len(answer.errors or ()) > _MOST_ERRORS or any(
            error.field not in fields or error.end < error.start for error in answer.errors or ()
        ):
            yield "an error that is marked outside of the texts of the page"


def exit_faults(result: PageResult, record: PageRecord) -> Iterator[str]:
    """Yield what the answers to the last questions say that the page cannot say."""
    questions = {question.id: question for question in record.exit_questions}
    if result.exit_changed and not _TIME.fullmatch(result.exit_changed):
        yield "'exit_changed' is a time such as 2026-01-31T09:30:00.000Z"
    for name, said in result.exit.items():
        question = questions.get(name)
        if question is None:
            yield "an answer to a last question that the page does not ask"
        elif question.kind == "text" and not (isinstance(said, str) and len(said) <= MOST_LETTERS):
            yield f"an answer to '{name}' that is no text of at most {MOST_LETTERS:,} letters"
        elif question.kind == "scale" and not (isinstance(said, int) and question.min <= said <= question.max):
            yield f"an answer to '{name}' that is not from {question.min} to {question.max}"


def with_possible_times(result: PageResult) -> PageResult:
    """Return the result with now in place of times that are still to come: an answer of the year 9999 could never be changed again."""
    now = datetime.now(UTC)
    latest = f"{now + _CLOCK_ERROR:%Y-%m-%dT%H:%M:%S}.999Z"
    stamp = f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"
    answers = tuple(
        msgspec.structs.replace(answer, changed=stamp) if (answer.changed or "") > latest else answer for answer in result.answers
    )
    if answers == result.answers and max(result.saved, result.exit_changed) <= latest:
        return result
    times = {"saved": min(result.saved, stamp), "exit_changed": min(result.exit_changed, stamp)}
    return msgspec.structs.replace(result, answers=answers, checksum=checksum(answers), **times)


T = TypeVar("T")


def latest_answers(results: Iterable[tuple[PageResult, T]]) -> dict[str, tuple[PageAnswer, T]]:
    """Return of each text the answer that was changed last, with the longest time in front of it, and what stands beside its result.

    Of equal times the one saved later counts.
    """
    latest: dict[str, tuple[PageAnswer, T]] = {}
    for result, path in sorted(results, key=lambda pair: pair[0].saved):
        for new in result.answers:
            old, its = latest.get(new.key, (new, path))
            later, whose = (old, its) if (old.changed or "") > (new.changed or "") else (new, path)
            latest[new.key] = (msgspec.structs.replace(later, ms=max(old.ms, new.ms)), whose)
    return latest


def merged(newer: PageResult, other: PageResult) -> PageResult:
    """Two states of one sitting as one. No answer that only one of them has is lost; `newer` gives the head."""
    latest = latest_answers([(newer, None), (other, None)])
    answers = tuple(answer for answer, _ in latest.values())
    last = max(newer, other, key=lambda result: result.exit_changed)
    return msgspec.structs.replace(
        newer,
        exit=last.exit,
        exit_changed=last.exit_changed,
        answers=answers,
        checksum=checksum(answers),
        saved=max(newer.saved, other.saved),
        practised=max(newer.practised, other.practised),
        joined=tuple(sorted((newer.sessions | other.sessions) - {newer.session})),
    )
