"""Reads the result files of labelling pages, as JSON or as a table: whole, unchanged, and of pages that are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.annotate.page_results import (
    RECORD,
    RESULT,
    SCHEMA_VERSION,
    LabellingPage,
    PageAnswer,
    PageItem,
    PageRecord,
    PageResult,
    checksum,
    exit_faults,
    latest_answers,
    read_record,
)
from harness.errors import ContentError
from harness.exchange.labels.spreadsheets import read_delimited, unpacked
from harness.exchange.labels.table import MAX_BYTES, Record, UnreadableScore, read_score
from harness.html_pages import visible
from harness.model import Score
from harness.row_files import refuse_other_schema

_FOLDERS_UP = 3  # where the record is looked for: beside the result file, and so many folders up
_START = 1 << 16  # bytes that tell what a file is
_TABLE = ("page", "annotator", "key", "place", "metric", "score", "skip", "seconds", "comment")  # its first columns
_TABLE_ONLY = ("changed", "session", "saved", "checksum")  # its last columns


class SeenText(NamedTuple):
    """One text that an annotator saw: the answer, what stands behind its key, its page, the result, and the result file."""

    answer: PageAnswer
    entry: PageItem
    page: LabellingPage
    result: PageResult
    path: Path

    @property
    def place(self) -> str:
        """The place of the answer for messages."""
        return f"{self.path}:text {self.answer.place or '-'}"


def find_record(results: Sequence[Path], record_path: Path | None) -> Path:
    """Return the record of the pages: the one that is named (a file, or its folder), else the one beside or above the first result file.

    Raises ContentError if there is none.
    """
    if record_path is not None:
        return record_path / RECORD if record_path.is_dir() else record_path
    start = results[0].resolve().parent
    for folder in (start, *start.parents)[: 1 + _FOLDERS_UP]:
        if (folder / RECORD).is_file():
            return folder / RECORD
    raise ContentError(f"no {RECORD} beside or above this file; name the folder that 'harness labels page' wrote with --pages", results[0])


def read_results(
    paths: Sequence[Path], record_path: Path, *, edited: bool = False, one_person: bool = False
) -> tuple[PageRecord, list[SeenText]]:
    """Return the record of some pages, and every text that was seen in their result files, in the order of the pages and their answers.

    Several files of one session are one: what was answered last counts. With `edited`, files are read that were changed after the page
    saved them; with `one_person`, answers of several sessions on one page are those of one person.
    Raises ContentError for a file that cannot be read, was edited, or belongs to no page of the record, and for two sessions on one page.
    """
    record = read_record(record_path)
    by_page: dict[str, list[tuple[PageResult, Path]]] = {}
    pages: dict[str, LabellingPage] = {}
    for path in paths:
        data = unpacked(path).removeprefix(b"\xef\xbb\xbf")
        table = _is_table(data[:_START].decode("utf-8", "replace"))
        if not table:
            refuse_other_schema(data, SCHEMA_VERSION, path, "import it with the version of the program that made its page")
        try:
            result = _result_of_table(path, record) if table else msgspec.json.decode(data, type=PageResult)
        except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
            raise ContentError(
                f"not a whole result file of a labelling page ({err}); ask its sender to save and send it again", path
            ) from None
        if result.kind != RESULT:
            raise ContentError("not a result file of a labelling page", path)
        if not edited and checksum(result.answers) != result.checksum:
            raise ContentError(
                "was changed after the page saved it, so that its answers may not be the annotator's; ask for the original file, "
                "or pass --edited to read it as it is",
                path,
            )
        # The page of a result: the record has it, with the same head.
        if result.page in record.replaced:
            raise ContentError(
                f"answers on a page that was replaced by a newer one in {record_path.parent}; to read them all the same, name the earlier "
                "record (pages-*.json there) with --pages",
                path,
            )
        page = record.page(result.page)
        if page is None:
            raise ContentError(f"answers on a page that {record_path} does not have; name the folder of its pages with --pages", path)
        if page.annotator != result.annotator or record.version != result.version:
            raise ContentError("its head was changed: annotator or version are not those of its page; ask for the original file", path)
        pages[result.page] = page
        for fault in exit_faults(result, record):
            raise ContentError(f"{fault}; ask for the original file", path)
        by_page.setdefault(result.page, []).append((result, path))
    seen: list[SeenText] = []
    for name, page in pages.items():
        if not one_person:
            results = by_page[name]
            # Refuse a session whose answers no other file has taken in.
            first, first_path = max(results, key=lambda source: len(source[0].sessions))
            for other, path in results:
                if other.session not in first.sessions:
                    raise ContentError(two_sessions(first.annotator, first_path.name), path)
        entries = {entry.key: entry for entry in page.items}
        for answer, (result, path) in latest_answers((source[0], source) for source in by_page[name]).values():
            if answer.key not in entries:
                raise ContentError(f"an answer to the text '{answer.key}', which its page does not have; ask for the original file", path)
            seen.append(SeenText(answer, entries[answer.key], page, result, path))
    return record, seen


# What a file is


def is_result_file(path: Path) -> bool:
    """Return True if a page saved the file, as JSON or as a table. A JSON file that was cut is known by the members before the cut."""
    if not path.is_file():  # to open a pipe might never end
        return False
    try:
        with path.open("rb") as file:
            start = file.read(_START).decode("utf-8-sig", "replace")
            kind = _kind_of_object(start)
            if kind is None:  # not among the first members
                kind = _kind_of_object(start + file.read(MAX_BYTES).decode("utf-8", "replace"))
    except OSError:
        return False
    return kind == RESULT or _is_table(start)


def _kind_of_object(text: str) -> Any:
    """Return the member `kind` of the JSON object that a text begins with; False if there is none, None if the text ends before it."""
    decode, position = json.JSONDecoder().raw_decode, _past_space(text, 0)
    if text[position : position + 1] != "{":
        return False
    with suppress(ValueError, IndexError, RecursionError):
        while text[position] in "{,":
            name, position = decode(text, _past_space(text, position + 1))
            value, position = decode(text, _past_space(text, _past_space(text, position) + 1))
            if name == "kind":
                return value
            position = _past_space(text, position)
        return False
    return None


def _past_space(text: str, position: int) -> int:
    while text[position : position + 1].isspace():
        position += 1
    return position


def _is_table(text: str) -> bool:
    """Return True if a text begins like a page's table, whatever stands between the cells: a spreadsheet may have saved it again."""
    header = text.lstrip("\ufeff").split("\n", 1)[0].strip()
    return any(header.replace('"', "").split(sign)[: len(_TABLE)] == [*_TABLE] for sign in ",;\t")


# One file


def _result_of_table(path: Path, record: PageRecord) -> PageResult:
    """Return the answers of a table that a page saved: all but those to practice texts."""
    table = read_delimited(path)
    if missing := [name for name in _TABLE_ONLY if name not in table.columns]:
        raise ContentError(
            f"a table of a labelling page without the columns {', '.join(missing)}, which pages of this version write; "
            "ask for the result file (.json)",
            path,
        )
    head = {(row.cells.get("page"), row.cells.get("annotator"), *map(row.cells.get, _TABLE_ONLY[1:])) for row in table.records}
    if len(head) > 1:
        raise ContentError("rows of several saved tables in one file; import the files that people sent, each as it is", path)
    page, annotator, session, saved, check = head.pop()
    answers: dict[str, dict[str, Any]] = {}
    for row in table.records:
        answer = answers.setdefault(str(row.cells.get("key")), _answer_of_row(path, row))
        if metric := row.cells.get("metric"):
            answer["scores"][metric] = _score(row, metric, record)
            if row.cells.get("reasons") or row.cells.get("words"):
                why = {"reasons": (row.cells.get("reasons") or "").split(), "words": row.cells.get("words") or ""}
                answer.setdefault("reviews", {})[metric] = why
    result = {"page": page, "annotator": annotator, "session": session, "saved": saved, "checksum": check, "answers": [*answers.values()]}
    return msgspec.convert({"kind": RESULT, "schema_version": SCHEMA_VERSION, "version": record.version, **result}, PageResult)


def _answer_of_row(path: Path, row: Record) -> dict[str, Any]:
    cells = row.cells
    try:
        return {
            "key": cells.get("key"),
            "practice": False,
            "place": int(cells["place"]) if "place" in cells else None,
            "scores": {},
            "errors": msgspec.json.decode(cells["errors"]) if "errors" in cells else None,
            "no_errors": cells.get("no_errors", "").lower() == "true",
            "skip": cells.get("skip"),
            "comment": cells.get("comment"),
            "ms": round(float(cells.get("seconds", 0)) * 1000),
            "changed": cells.get("changed"),
        }
    except (ValueError, msgspec.DecodeError) as err:
        raise ContentError(f"not a row of a labelling page ({err}); ask its sender to save and send it again", path, row.number) from None


def _score(row: Record, metric: str, record: PageRecord) -> Score | None:
    """Return the score of a row as its scale writes it; what is not on the scale stays as it is, and is refused as a label."""
    text: str | None = row.cells.get("score")
    if record.review or metric not in record.scales:
        return text
    try:
        return read_score(text, record.scales[metric])
    except UnreadableScore:
        return text


# Files and their pages


def two_sessions(annotator: str, other: str) -> str:
    """Return the sentence about two sessions on one page."""
    return (
        f"a second session on the page of {annotator} (the first: {other}). If two people used one page, import each file alone with "
        "--annotator CODE; if one person used two devices, pass --one-person"
    )


def original_place(text: str, position: int) -> int:
    """Return the place in a text that stands behind a place in what a page shows of it (`pages.visible`), in characters.

    >>> original_place("a\\r\\nb", 2), original_place("a\\u202eb", 9)
    (3, 2)
    """
    index = number = 0
    while number < len(text) and index < position:
        pair = text[number : number + 2]
        index += 1 if pair == "\r\n" else len(visible(text[number]))
        number += 2 if pair == "\r\n" else 1
    return number
