"""Reads the result files of labelling pages: whole, unchanged, and of pages that are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from harness.errors import ContentError
from harness.labels.page_record import RECORD, LabellingPage, PageItem, PageRecord, read_record
from harness.labels.table import MAX_BYTES
from harness.model import Score
from harness.pages import visible

RESULT = "judge-harness labels"
_SCHEMA_VERSION = 1
_FOLDERS_UP = 3  # where the record is looked for: beside the result file, and so many folders up


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

    On pages about a judge's reasons, `scores` are `agree`, `partly` or `disagree`, and `reviews` say why.
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


class PageResult(msgspec.Struct, frozen=True):
    """A result file. `session` is one annotator's visit to a page on one device, however often it was interrupted."""

    kind: str
    schema_version: int
    page: str
    version: str
    annotator: str
    session: str
    saved: str
    answers: tuple[PageAnswer, ...]
    checksum: str


class SeenText(NamedTuple):
    """One text that an annotator saw: the answer, what stands behind its key, its page, the session, and the result file."""

    answer: PageAnswer
    entry: PageItem
    page: LabellingPage
    session: str
    path: Path

    @property
    def place(self) -> str:
        """The place of the answer for messages."""
        return f"{self.path}:text {self.answer.place or '-'}"


class _Source(NamedTuple):
    path: Path
    result: PageResult


def is_result_file(path: Path) -> bool:
    """Whether a file begins like a result file; whole or not."""
    try:
        with path.open("rb") as file:
            return f'"kind": "{RESULT}"'.encode() in file.read(200)
    except OSError:
        return False


def find_record(results: Sequence[Path], named: Path | None) -> Path:
    """The record of the pages: the one that is named (a file, or its folder), else the one beside or above the first result file.

    Raises ContentError if there is none.
    """
    if named is not None:
        return named / RECORD if named.is_dir() else named
    start = results[0].resolve().parent
    for folder in (start, *start.parents)[: 1 + _FOLDERS_UP]:
        if (folder / RECORD).is_file():
            return folder / RECORD
    raise ContentError(f"no {RECORD} beside or above this file; name the folder that 'harness labels page' wrote with --pages", results[0])


def read_results(
    paths: Sequence[Path], record_path: Path, *, edited: bool = False, one_person: bool = False
) -> tuple[PageRecord, list[SeenText]]:
    """Read result files of pages of one record. Several files of one session are one: what was saved last counts.

    Args:
        paths: the files.
        record_path: the record of their pages.
        edited: whether files are read that were changed after the page saved them.
        one_person: whether answers of several sessions on one page are those of one person.

    Returns:
        The record, and every text that was seen, in the order of the pages and their answers.

    Raises:
        ContentError: for a file that cannot be read, was edited, or belongs to no page of the record, and for two sessions on one page.
    """
    record = read_record(record_path)
    by_page: dict[str, list[_Source]] = {}
    for path in paths:
        source = _Source(path, _read(path, edited))
        _require_page(source, record, record_path)
        by_page.setdefault(source.result.page, []).append(source)
    seen: list[SeenText] = []
    for page_id, own in by_page.items():
        if not one_person:
            _refuse_two_sessions(own)
        page = record.page(page_id)
        assert page is not None
        entries = {entry.key: entry for entry in page.items}
        latest = {each.key: (each, source) for source in sorted(own, key=lambda one: one.result.saved) for each in source.result.answers}
        for answer, source in latest.values():
            seen.append(SeenText(answer, _entry(answer, entries, source.path), page, source.result.session, source.path))
    return record, seen


# One file


def _read(path: Path, edited: bool) -> PageResult:
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else b""
    except OSError as err:
        raise ContentError(f"cannot be read: {err.strerror or err}", path) from None
    try:
        result = msgspec.json.decode(data, type=PageResult)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise ContentError(f"not a whole result file of a labelling page ({err}); ask its sender to save and send it again", path) from None
    if result.kind != RESULT or result.schema_version != _SCHEMA_VERSION:
        raise ContentError("not a result file of a labelling page of this version", path)
    if not edited and checksum(result.answers) != result.checksum:
        raise ContentError(
            "was changed after the page saved it, so that its answers may not be the annotator's; ask for the original file, "
            "or pass --edited to read it as it is",
            path,
        )
    return result


def checksum(answers: Iterable[PageAnswer]) -> str:
    """FNV-1a (32 bits) of the answers, as the page computes it. It reveals accidents, not fraud.

    >>> checksum([PageAnswer("k", False, 1, {"m": 2, "a": 0.5}, None, False, None, "å", 1200)])
    '5b8008fd'
    """
    lines = []
    for one in answers:
        scores = ",".join(f"{metric}={_written(one.scores[metric])}" for metric in sorted(one.scores))
        errors = ",".join(f"{error.field}:{error.start}:{error.end}:{error.severity}" for error in one.errors or ())
        place = "" if one.place is None else one.place
        reviews = [f"{metric}={'+'.join(own.reasons)}:{own.words}" for metric, own in sorted((one.reviews or {}).items())]
        parts = (one.key, place, scores, errors, one.skip or "", one.comment or "", one.ms, *reviews)
        lines.append("|".join(map(str, parts)))
    value = 0x811C9DC5
    for byte in "\n".join(lines).encode("utf-8", "replace"):
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"


def _written(score: Score) -> str:
    """A score as JavaScript writes it."""
    return str(int(score)) if isinstance(score, float) and score.is_integer() else str(score)


# Files and their pages


def _require_page(source: _Source, record: PageRecord, record_path: Path) -> None:
    result = source.result
    if result.page in record.replaced:
        raise ContentError(
            f"answers on a page that was replaced by a newer one in {record_path.parent}; to read them all the same, name the earlier "
            "record (pages-*.json there) with --pages",
            source.path,
        )
    page = record.page(result.page)
    if page is None:
        raise ContentError(f"answers on a page that {record_path} does not have; name the folder of its pages with --pages", source.path)
    if page.annotator != result.annotator or record.version != result.version:
        raise ContentError("its head was changed: annotator or version are not those of its page; ask for the original file", source.path)


def _refuse_two_sessions(own: Sequence[_Source]) -> None:
    first = own[0]
    for other in own[1:]:
        if other.result.session != first.result.session:
            raise ContentError(two_sessions(first.result.annotator, first.path.name), other.path)


def two_sessions(annotator: str, other: str) -> str:
    """The sentence about two sessions on one page."""
    return (
        f"a second session on the page of {annotator} (the first: {other}). If two people used one page, import each file alone with "
        "--annotator CODE; if one person used two devices, pass --one-person"
    )


def _entry(answer: PageAnswer, entries: Mapping[str, PageItem], path: Path) -> PageItem:
    if answer.key not in entries:
        raise ContentError(f"an answer to the text '{answer.key}', which its page does not have; ask for the original file", path)
    return entries[answer.key]


def original_place(text: str, place: int) -> int:
    """The place in a text that stands behind a place in what a page shows of it (`pages.visible`), in characters.

    >>> original_place("a\\r\\nb", 2), original_place("a\\u202eb", 9)
    (3, 2)
    """
    at = 0
    number = 0
    while number < len(text) and at < place:
        pair = text[number : number + 2]
        at += 1 if pair == "\r\n" else len(visible(text[number]))
        number += 2 if pair == "\r\n" else 1
    return number
