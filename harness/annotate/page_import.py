"""Imports the result files of labelling pages into a data folder. A second import of a file changes nothing.

Result files are JSON or tables: whole, unchanged, and of pages that are known.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.annotate.blind_pairs import READERS, KeptPair, blind_pairs, kept_pairs, load_pack, pack_version
from harness.annotate.labelling_options import PageImportOptions
from harness.annotate.page_results import (
    RECORD,
    RESULT,
    SCHEMA_VERSION,
    LabellingPage,
    PageAnswer,
    PageItem,
    PageRecord,
    PageResult,
    ReviewAnswer,
    checksum,
    exit_faults,
    latest_answers,
    read_record,
    version_of,
)
from harness.annotate.reviews import AGREEMENTS, REVIEWS, ReasonReview, read_reviews, review_row
from harness.content import Library
from harness.content.specs import DatasetCard, LabelMapping
from harness.data.dataset import Dataset, load_bundled, load_folder, read_back, rubric_scales
from harness.data.folders import data_toml, locked_folder, write_folder
from harness.errors import ContentError, UsageError
from harness.exchange.labels.cell_scores import UnreadableScore
from harness.exchange.labels.label_import import ImportSummary, RefusedRow
from harness.exchange.labels.source_table import MAX_BYTES, Record
from harness.exchange.labels.spreadsheets import read_delimited, unpacked
from harness.exchange.labels.table_columns import read_score
from harness.exchange.labels.table_options import ImportOptions
from harness.exchange.labels.target_folder import TargetFolder, digest_note, item_row, lines_of, updated_about
from harness.html_pages import visible
from harness.model import Score
from harness.offensive_texts import refuse_in_repository
from harness.row_files import read_rows, refuse_other_schema, to_csv, to_jsonl, to_toml

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
            score: Score | None = row.cells.get("score")
            if not record.review and metric in record.scales:
                with suppress(UnreadableScore):  # what is not on the scale stays as it is, and is refused as a label
                    score = read_score(score, record.scales[metric])
            answer["scores"][metric] = score
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


KEPT = "pairs_kept.csv"
REVIEWED_BY = "reviewed_by.toml"
_KEPT = {True: "yes", False: "no", None: f"fewer than {READERS} readers"}


def kept_files(
    folder: Path, items: Sequence[Mapping[str, Any]], labels: Iterable[Mapping[str, Any]], seen: Sequence[tuple[str, SeenText]], what: str
) -> tuple[dict[str, bytes], str]:
    """Return the files by name, and a sentence on the pairs that are kept. What `folder` says about readers of earlier imports stays.

    `items` and `labels` are the rows of the folder after the import, `seen` has `(pseudonym, text)` of every text of the result files, and
    `what` was read, such as `packs/models 1.1.0`. Raises ContentError if the folder's own list of readers cannot be read.
    """
    labels = list(labels)
    pairs = kept_pairs({row["item_id"]: row for row in items}, labels)
    rows = [{**msgspec.to_builtins(pair), "kept": _KEPT[pair.kept]} for pair in pairs]
    reviews: dict[str, dict[str, Any]] = {}  # the readers by their pseudonyms
    if (path := folder / REVIEWED_BY).is_file():
        try:
            reviews = {row["who"]: row for row in tomllib.loads(path.read_text("utf-8"))["reviewed_by"]}
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as err:
            why = f"not the list of readers that an import wrote ({err}); remove the file, and import all results again"
            raise ContentError(why, path) from None
    for who in dict.fromkeys(who for who, _ in seen):
        read = sum(row["annotator_id"] == who for row in labels)
        when = max(seen_text.result.saved for other, seen_text in seen if other == who)[:10]
        reviews[who] = {"who": who, "when": when, "read": f"{read} minimal pairs of {what}, without knowing which text is flawed"}
    files = {
        KEPT: to_csv(rows, KeptPair.__struct_fields__).encode(),
        REVIEWED_BY: to_toml({"reviewed_by": list(reviews.values())}).encode(),
    }
    decided = [pair.kept for pair in pairs if pair.kept is not None]
    waiting = len(pairs) - len(decided)
    more = f"; {waiting} have fewer than {READERS} readers" if waiting else ""
    decided_share = f"{sum(decided)} of {len(decided)}"
    return files, f"pairs kept (4 of 5 readers agree with what is constructed): {decided_share}{more}. {KEPT} has each pair"


SEEN = "seen.jsonl"
"""A row about each text that an annotator saw: its place in the order, seconds, skip, marked errors, and whether a check was passed."""
EXIT = "exit_answers.jsonl"
"""A row about each answer to a question after the last text: `annotator_id`, `page`, `session`, `question`, `answer`."""
_DRAWN = ("inclusion_probability", "stratum")


def import_page_results(
    paths: Sequence[Path],
    to: Path | None = None,
    mapping: LabelMapping | None = None,
    options: ImportOptions | None = None,
    page_options: PageImportOptions | None = None,
    library: Library | None = None,
) -> ImportSummary:
    """Import result files of labelling pages. Without `to`, the labels go into the data folder that the pages were made from.

    Of `mapping`, `annotator` is used, the code of the one who gave all answers, and `source`, what they are (default: native speakers).
    Of `options`, `items` names the data of the pages, and `keep_annotators`, `salt_file` and `allow_refused` are used.

    Raises ContentError for files that cannot be trusted (see `read_results`) and for data whose texts are no longer those of the pages,
    and UsageError for impossible options. Nothing is written then.
    """
    options, page_settings = options or ImportOptions(), page_options or PageImportOptions()
    library = library or Library()
    record, seen = read_results(
        paths, find_record(paths, page_settings.pages), edited=page_settings.edited, one_person=page_settings.one_person
    )
    source = str(options.items or record.source)
    if to is None and source == "bundled":
        raise UsageError("the pages show bundled items, and labels do not go into the program's own folders; name a data folder with --to")
    if record.blind_pairs and (to is None or to.resolve() == Path(source).resolve()):
        raise UsageError(
            "the pages show pairs made from the items, and answers about pairs are no labels of these; name a folder with --to"
        )
    if source != "bundled":
        data = load_folder(Path(source), library)
    else:
        data = load_pack(library, record.pack) if record.pack else load_bundled(library, library.tags_with_items())
    data = blind_pairs(data, library) if record.blind_pairs else data
    labelled = {entry.item_id for page in record.pages for entry in page.items if entry.role == "label"}
    if missing := next((name for name in sorted(labelled) if name not in data.by_id), None):
        raise ContentError(
            f"item '{missing}' of the pages is no longer there; restore it, or name the data of the pages with --items", source
        )
    if version_of((data.by_id[name] for name in labelled), record.fields) != record.version:
        raise ContentError(
            "its texts are no longer those that the pages showed, so the answers are about other texts; restore the data, or name the "
            "data that the pages were made from with --items",
            source,
        )
    folder = to or Path(source)
    with locked_folder(folder):  # of two imports at once, the second adds to what the first wrote
        target = TargetFolder(folder, library, append=True)
        work = _PageImport(record, seen, data, target, options, mapping or LabelMapping(), library)
        if not page_settings.one_person:
            work.refuse_other_sessions()
        return work.run(paths)


class _PageImport:
    def __init__(
        self,
        record: PageRecord,
        seen: Sequence[SeenText],
        data: Dataset,
        target: TargetFolder,
        options: ImportOptions,
        mapping: LabelMapping,
        library: Library,
    ) -> None:
        self.record, self.seen, self.data, self.target, self.library = record, seen, data, target, library
        self.pseudonyms = target.pseudonyms(options.salt_file, keep=options.keep_annotators)
        self.annotator, self.source, self.allow_refused = mapping.annotator, mapping.source or "native", options.allow_refused
        target.require_same_scales(record.scales)
        self.before = {(row["item_id"], row["annotator_id"], row["metric"]): (line, row["score"]) for line, row in target.labels}
        self.labels: list[dict[str, Any]] = []
        self.refused: list[RefusedRow] = []
        self.known = 0
        self.rows = _rows(target, SEEN)
        self.reviewed = {review.key: review for review in read_reviews(target.folder)} if (target.folder / REVIEWS).is_file() else {}
        self.reviews: list[ReasonReview] = []

    def _annotator(self, seen: SeenText) -> str:
        return self.pseudonyms.pseudonym_for(self.annotator or seen.page.annotator)

    def refuse_other_sessions(self) -> None:
        """Raise ContentError if the folder has answers of another session on a page by the same annotator."""
        sessions = {(row["page"], row["annotator_id"]): row["session"] for row in self.rows}
        for seen in self.seen:
            if sessions.get((seen.page.page, self._annotator(seen)), seen.result.session) not in seen.result.sessions:
                raise ContentError(two_sessions(seen.page.annotator, f"in {self.target.folder}"), seen.path)

    def run(self, paths: Sequence[Path]) -> ImportSummary:
        for seen in self.seen:
            if seen.entry.role == "label" and not seen.answer.skip:
                for metric in seen.answer.scores:
                    self._add_review(seen, metric) if self.record.review else self._add_label(seen, metric)
        # The items of the folder after the import: those it has, and those that were shown; with how they were drawn.
        rows = dict(self.target.items.rows)
        for page in self.record.pages:
            for entry in page.items:
                if entry.role == "label" and entry.item_id not in rows:
                    rows[entry.item_id] = item_row(self.data.by_id[entry.item_id])
        for name, drawn in self.record.drawn.items():
            facts = msgspec.to_builtins(drawn) if name in rows else {}  # without what is unknown
            for key, value in facts.items():
                if key in _DRAWN and rows[name].get(key, value) != value and self.target.labels:
                    raise UsageError(
                        f"item '{name}' already has {key} {rows[name][key]!r}, and these pages drew it with {value!r}: labels of two draws "
                        "cannot be weighted together; import these into another folder with --to"
                    )
            if facts:
                rows[name] = rows[name] | facts
        items = list(rows.values())
        notes = [*(digest_note("page", str(path)) for path in paths), *self.pseudonyms.notes]
        rubrics = rubric_scales(self.library)
        metrics = {name: scale for name, scale in self.record.scales.items() if rubrics.get(name) != scale}
        about = updated_about(self.target, LabelMapping(), self.data.about, "persistent", metrics, notes)
        sampled = bool(self.record.drawn) and not self.target.labels and about.sampling == "unknown"
        about = msgspec.structs.replace(
            about,
            sampling="random" if sampled else about.sampling,
            annotators=about.annotators if self.target.labels else "persistent",
            source=about.source if self.target.labels else self.source,
        )
        more_files, pair_note = self._kept(items) if self.record.blind_pairs else ({}, "")
        if written := not self.refused or self.allow_refused:
            files = self.changed_files(items, about)
            expected = {"items": len(items), "labels": len(self.target.labels) + len(self.labels)}
            refuse_in_repository(self.target.folder, about)
            write_folder(self.target.folder, files | more_files, read_back(self.target.folder, self.library, expected))
        return ImportSummary(
            rows=len(self.labels) + len(self.reviews) + len(self.refused) + self.known,
            labels=len(self.labels),
            blank=0,
            left_out=0,
            refused=tuple(self.refused),
            items=len(items),
            annotators=len({self._annotator(seen) for seen in self.seen}),
            metrics=tuple(self.record.scales),
            folder=self.target.folder,
            hints=(*self._hints(), *filter(None, [pair_note])),
            notes=tuple(notes),
            known=self.known,
            reviews=len(self.reviews),
            written=written,
        )

    def changed_files(self, items: list[dict[str, Any]], about: DatasetCard) -> dict[str, bytes]:
        """Return the content of the folder's files that change. Raises UsageError for items in a Parquet file.

        Items and data.toml come before the labels, so that the folder loads even if writing stops in between.
        """
        files: dict[str, bytes] = {}
        if items != list(self.target.items.rows.values()):
            if (name := self.target.files["items"]).endswith(".parquet"):
                raise UsageError(
                    f"{self.target.folder / name} would have to change, and only JSONL is written; import into another folder (--to)"
                )
            files[name] = to_jsonl(items)
        files["data.toml"] = data_toml(about).encode()
        if self.labels or not self.target.labels:
            files[self.target.files["labels"]] = (lines_of(self.target.folder, "labels") or b"") + to_jsonl(self.labels)
        files[SEEN] = to_jsonl(
            {
                tuple(row[name] for name in ("page", "annotator_id", "session", "role", "item_id")): row
                for row in (*self.rows, *map(self._seen_row, self.seen))
            }.values()
        )
        if exit_rows := self._exit_rows():
            files[EXIT] = to_jsonl(exit_rows)
        if self.reviews:
            files[REVIEWS] = to_jsonl(map(review_row, self.reviewed.values()))
        comments = [
            {"item_id": seen.entry.item_id, "annotator_id": self._annotator(seen), "comment": self.pseudonyms.scrub(seen.answer.comment)}
            for seen in self.seen
            if seen.answer.comment
        ]
        for name, rows in {"comments": comments, "refused": msgspec.to_builtins(self.refused)}.items():
            before = _rows(self.target, self.target.files[name])
            if new := [row for row in rows if row not in before]:
                files[self.target.files[name]] = (lines_of(self.target.folder, name) or b"") + to_jsonl(new)
        return files

    def _add_label(self, seen: SeenText, metric: str) -> None:
        score, scale = seen.answer.scores[metric], self.record.scales.get(metric)
        row: dict[str, Any] = {"item_id": seen.entry.item_id, "annotator_id": self._annotator(seen), "metric": metric, "score": score}
        key = (row["item_id"], row["annotator_id"], metric)
        line, earlier = self.before.get(key, ("", None))
        if scale is None or not scale.holds(score):
            scale_text = scale.describe() if scale else "the page does not ask it"
            self._refuse(seen, row, f"{score!r} is not on a scale of '{metric}' ({scale_text})")
        elif line and earlier != score:
            before = f"{row['annotator_id']} already scored '{metric}' of '{row['item_id']}' with {earlier!r} in {line}"
            self._refuse(seen, row, f"{before}; remove that label if the new one should count")
        elif line:
            self.known += 1
        else:
            self.before[key] = (seen.place, score)
            of_folder = self.target.about.source if self.target.labels and self.target.about else self.source
            if self.source != of_folder:
                row["source"] = self.source
            if seen.answer.errors is not None or seen.answer.no_errors:
                # The marked errors, at their places in the item's own texts.
                fields = self.data.by_id[seen.entry.item_id].fields
                row["spans"] = []
                for error in seen.answer.errors or ():
                    text = str(fields.get(error.field) or "")
                    start, end = original_place(text, error.start), original_place(text, error.end)
                    row["spans"].append({"field": error.field, "start": start, "end": end, "severity": error.severity})
            self.labels.append(row)

    def _add_review(self, seen: SeenText, metric: str) -> None:
        assert self.record.review
        reviewed, agreement = self.record.reviewed.get(seen.entry.item_id, {}).get(metric), seen.answer.scores[metric]
        key: dict[str, Any] = {"item_id": seen.entry.item_id, "annotator_id": self._annotator(seen), "metric": metric}
        row = key | {"score": agreement}
        if reviewed is None or agreement not in AGREEMENTS:
            return self._refuse(seen, row, f"{agreement!r} is no answer to a reason on '{metric}' ({', '.join(AGREEMENTS)})")
        why = (seen.answer.reviews or {}).get(metric, ReviewAnswer())
        review = ReasonReview(
            **key,
            judge=self.record.review.judge,
            variant=self.record.review.variant,
            score=reviewed.score,
            justification=reviewed.reason,
            agreement=agreement,
            reasons=() if agreement == "agree" else why.reasons,
            words=self.pseudonyms.scrub(why.words.strip()),
        )
        earlier = self.reviewed.get(review.key)
        if earlier is None:
            self.reviewed[review.key] = review
            self.reviews.append(review)
        elif earlier == review:
            self.known += 1
        else:
            self._refuse(seen, row, f"{review.annotator_id} already answered to this reason with '{earlier.agreement}' in {REVIEWS}")

    def _refuse(self, seen: SeenText, row: dict[str, Any], reason: str) -> None:
        self.refused.append(RefusedRow(f"{seen.path.name}:text {seen.answer.place}", reason, row))

    # Writing

    def _kept(self, items: list[dict[str, Any]]) -> tuple[dict[str, bytes], str]:
        """Return the files that say which blind pairs are kept and who read them, and a sentence."""
        pack = self.record.pack
        what = f"packs/{pack} {pack_version(self.library, self.record.language, pack)}" if pack else self.data.id
        labels = (*(row for _, row in self.target.labels), *self.labels)
        return kept_files(self.target.folder, items, labels, [(self._annotator(seen), seen) for seen in self.seen], what)

    def _exit_rows(self) -> list[dict[str, Any]]:
        """Return the answers to the questions after the last text: those of earlier imports, and of each page the ones given last."""
        rows = {(row["page"], row["annotator_id"], row["question"]): row for row in _rows(self.target, EXIT)}
        for seen in sorted(self.seen, key=lambda seen: seen.result.exit_changed):
            annotator, page = self._annotator(seen), seen.page.page
            for question in self.record.exit_questions:
                if (said := seen.result.exit.get(question.id)) is not None:
                    answer = self.pseudonyms.scrub(said) if isinstance(said, str) else said
                    key = {"annotator_id": annotator, "page": page, "session": seen.result.session, "question": question.id}
                    rows[page, annotator, question.id] = key | {"answer": answer}
        return list(rows.values())

    def _seen_row(self, seen: SeenText) -> dict[str, Any]:
        answer, entry = seen.answer, seen.entry
        row: dict[str, Any] = {
            "item_id": entry.item_id,
            "annotator_id": self._annotator(seen),
            "page": seen.page.page,
            "session": seen.result.session,
            "role": entry.role,
            "place": answer.place,
            "seconds": answer.ms / 1000,
            "skip": answer.skip,
            "passed": self._passed(seen),
            "scores": answer.scores if entry.role != "label" else None,
        }
        return {name: value for name, value in row.items() if value is not None}

    def _passed(self, seen: SeenText) -> bool | None:
        """Return True if a practice text got the expected scores, or a damaged text less than the best; None for other texts."""
        answer, entry = seen.answer, seen.entry
        if entry.role == "practice":
            return all(answer.scores.get(metric) == score for metric, score in entry.expected.items())
        if entry.role != "check" or not (answer.scores or answer.skip):
            return None
        return bool(answer.skip) or any(
            self.record.scales[m].best != score for m, score in answer.scores.items() if m in self.record.scales
        )

    def _hints(self) -> list[str]:
        """Return what the importer of the files should know about each annotator: texts, skips, minutes, checks."""
        hints = [f"answers to the questions after the last text: {EXIT}"] if any(seen.result.exit for seen in self.seen) else []
        for annotator in dict.fromkeys(seen.page.annotator for seen in self.seen):
            annotator_texts = [seen for seen in self.seen if seen.page.annotator == annotator]
            labelled = [seen for seen in annotator_texts if seen.entry.role == "label"]
            skipped = sum(seen.answer.skip is not None for seen in labelled)
            wanted = sum(entry.role == "label" for page in self.record.pages if page.annotator == annotator for entry in page.items)
            minutes = sum(seen.answer.ms for seen in annotator_texts) / 60_000
            answered = sum(bool(seen.answer.scores) and not seen.answer.skip for seen in labelled)
            checks = [passed for seen in annotator_texts if seen.entry.role == "check" and (passed := self._passed(seen)) is not None]
            parts = [f"{annotator}: {answered} of {wanted} texts scored", f"{skipped} skipped", f"{minutes:.0f} minutes"]
            hints.append(", ".join(parts + ([f"{sum(checks)} of {len(checks)} damaged texts noticed"] if checks else [])))
        return hints


def _rows(target: TargetFolder, name: str) -> list[dict[str, Any]]:
    path = target.folder / name
    return [row for _, row in read_rows(path)] if path.is_file() else []
