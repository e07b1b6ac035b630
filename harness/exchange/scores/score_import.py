"""Scores made elsewhere become a data folder: people's as labels, judges' as judgments. All of it is written, or nothing.

A judge most of whose values cannot be read is named first, for no verdict may rest on a broken set-up.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.content import Library
from harness.content.problems import scale_complaints
from harness.content.specs import LabelMapping, read_spec
from harness.content.tags import language_named
from harness.data.dataset import rubric_scales
from harness.data.folders import locked_folder
from harness.data.labels import NOT_BLIND
from harness.errors import ContentError, UsageError
from harness.exchange.labels.cell_scores import UnreadableScore, id_text, is_blank
from harness.exchange.labels.choose_reader import read_source
from harness.exchange.labels.columns_of_source import ColumnPlan
from harness.exchange.labels.mapping import parse_categories, parse_pairs, parse_scales
from harness.exchange.labels.pseudonyms import Pseudonyms
from harness.exchange.labels.source_table import Record
from harness.exchange.labels.target_folder import (
    GivenItems,
    ItemRows,
    add_rows,
    card_of_new_folder,
    digest_note,
    items_of_folder,
    read_given_items,
    with_imported,
    without_paths,
)
from harness.exchange.scores.external_scores import (
    ExternalScore,
    ExternalScores,
    LinesReader,
    Reader,
    ReadOptions,
    Rows,
    finite_number,
    joined_ids,
    json_lines,
    load_json,
    read_value,
    refuse_records_of_several,
    repeat_number,
)
from harness.exchange.scores.formats import OTHERS, SCORE_KINDS, reader_of
from harness.exchange.scores.score_options import ScoreImportOptions
from harness.model import AnnotatorKind, Failure, Scale, Score
from harness.offensive_texts import without_quotations
from harness.parse import (
    AnswerRule,
    Reading,
    Vocabulary,
    entropy,
    expected_score,
    read_by_rule,
    read_recorded_decision,
    read_reply,
    vocabulary_of,
)
from harness.row_files import find_table
from harness.text import quoted
from harness.timed_patterns import TOO_SLOW, Pattern, SlowPattern

_TASK = "imported"  # of items without one
_MOST_VALUES = 8  # shown of a metric without a scale
_MOST_PLACES = 3  # shown of scores that were read differently

_TABLES = (".csv", ".tsv", ".xlsx", ".parquet")
_LINES = (".jsonl", ".ndjson")


class RefusedScore(msgspec.Struct, frozen=True):
    """A score that was not imported: where it stands, and why."""

    place: str
    reason: str


class ScoreImportSummary(msgspec.Struct, frozen=True):
    """The result of an import. Where every score was refused, or most values of a judge are not on the scale, nothing was written.

    `unreadable` are the judges of whose values on a metric more than half cannot be read.
    """

    kind: str
    folder: Path
    judgments: int
    labels: int
    items: int
    failures: dict[str, int]
    not_blind: int
    refused: tuple[RefusedScore, ...]
    notes: tuple[str, ...]
    written: bool
    unreadable: tuple[UnreadableJudge, ...] = ()


def import_scores(
    files: Sequence[str | Path], to: Path, options: ScoreImportOptions | None = None, library: Library | None = None
) -> ScoreImportSummary:
    """Import the scores of `files` into the data folder `to`, which may hold items and labels already.

    Raises UsageError for what the user has to say (a scale, a language, a judge's name), ContentError for files that cannot be read, and
    StoreError when the folder cannot be written. Wrong scores raise nothing; they are refused.
    """
    options, library = options or ScoreImportOptions(), library or Library()
    paths, meaning = [Path(file) for file in files], read_meaning(options)
    wide = options.wide_metrics or ()
    reading = ReadOptions(options.filter, meaning.preset, meaning.records, options.label_from, wide, bool(meaning.item_from))
    foreign = read_scores(paths, options.kind, reading)
    with locked_folder(to):  # of two imports at once, the second adds to what the first wrote
        return _ScoreImport(paths, foreign, to, options, meaning, library).run()


def items_before_import(to: Path, library: Library, *, append: bool) -> GivenItems:
    """Return the items of a folder before the import. Raises UsageError for a file, and for judgments that are not to be added to."""
    if to.exists() and not to.is_dir():
        raise UsageError(f"--to {to} is a file; name a folder")
    if find_table(to, "judgments") is not None and not append:
        raise UsageError(f"{to} already holds judgments; pass --append to add to them, or choose another --to")
    tables = [name for name in ("items", "labels", "judgments") if (path := find_table(to, name)) and path.suffix == ".parquet"]
    if tables:
        raise UsageError(
            f"{to} holds {', '.join(tables)} as Parquet, which cannot be added to; import into another folder with --items {to}"
        )
    return items_of_folder(to, library) if find_table(to, "items") else GivenItems({})


class _ScoreImport:
    """One import, from foreign scores to the written folder."""

    def __init__(
        self,
        paths: Sequence[Path],
        foreign: ExternalScores,
        to: Path,
        options: ScoreImportOptions,
        meaning: ScoreMeaning,
        library: Library,
    ) -> None:
        self.paths, self.foreign, self.folder, self.options, self.meaning, self.library = paths, foreign, to, options, meaning, library
        self.before = items_before_import(to, library, append=options.append)
        mapping = LabelMapping(language=meaning.language, task=meaning.task or _TASK)
        items = read_given_items(options.items, mapping, library) if options.items else GivenItems({})
        item_rows = {**self.before.rows, **items.rows}
        self.pattern = id_pattern(meaning.id_pattern)
        self.plan = self._plan()
        self.scores = self._name_scores()
        self.rubrics = rubric_scales(library)
        # The scale of every metric. Raises UsageError once for all that are missing: a scale is never guessed.
        scales = {**self.rubrics, **items.scales, **self.before.scales, **meaning.scales}
        metrics = dict.fromkeys(str(score.metric) for score in self.scores if not score.unlabelled)
        for name in self.meaning.scales:
            if name not in metrics:
                raise UsageError(f"--scale {name}: the files have no such metric; choose from: {', '.join(metrics)}")
        missing = [name for name in metrics if name not in scales]
        if missing:
            described = []
            for name in missing:
                with_value = [score for score in self.scores if score.metric == name and not (score.failure or is_blank(score.value))]
                seen = dict.fromkeys(str(score.value) for score in with_value)
                values = ", ".join(list(seen)[:_MOST_VALUES]) + (", …" if len(seen) > _MOST_VALUES else "")
                described.append(f"{name} ({f'values in the file: {values}' if seen else 'raw replies'})")
            listed, first = "; ".join(described), missing[0]
            raise UsageError(
                f"no scale is known for: {listed}. Give each one (--scale {first}=0,1,2:best=2 or --scale {first}=0..1:best=1), "
                f"map words to scores (--map C=1,P=0.5,I=0), or leave a metric out (--drop {first})"
            )
        self.scales = {name: scales[name] for name in metrics}
        self.vocabulary: Vocabulary = vocabulary_of(library)
        self.origin = items.about
        self.rows = ItemRows(item_rows, msgspec.structs.replace(mapping, task=meaning.task), library, closed=bool(item_rows))
        # The task of every item of which the scores state one task only: `{item id: task}`.
        tasks_by_item: defaultdict[str, set[str]] = defaultdict(set)
        for score in self.scores:
            if score.task is not None:
                tasks_by_item[str(score.item)].add(score.task)
        self.stated = {item: task for item, (task, *conflicting) in tasks_by_item.items() if not conflicting}
        if not item_rows and self.meaning.language is None and not any(self._find_language(score) for score in self.scores):
            fields = sorted({name for score in self.scores for name in score.fields})
            raise UsageError(
                f"the language of the items is unknown; give --language TAG for all, --language-from FIELD ({', '.join(fields[:20])}), "
                "or the items with --items"
            )
        keep = options.keep_annotators or not any(score.human for score in self.scores)
        self.pseudonyms = Pseudonyms.made_with(options.salt_file, outside=to, keep=keep)
        self.items_only: list[str] = []  # of texts that nobody scored
        self.readings = ReadingCounts()
        self.judgments: list[dict[str, Any]] = []
        self.labels: list[dict[str, Any]] = []
        self.refused: list[RefusedScore] = []
        self.changes: defaultdict[str, list[str]] = defaultdict(list)  # what was read differently, and where
        self.asked: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
        self.label_scores: dict[tuple[str, str, str], Score] = {}

    # Preparing

    def _plan(self) -> ColumnPlan:
        """Fields of the record that become texts and keys of new items."""
        meaning, fields = self.meaning, {name for score in self.foreign.scores for name in score.fields}
        column_flags = {"--group": meaning.group, "--system": meaning.system, "--language-from": meaning.language_from}
        for flag, name in (column_flags | {f"--text {field}=": name for field, name in meaning.texts.items()}).items():
            if name and name not in fields:
                raise UsageError(f"{flag} {name}: no record has such a field; choose from: {', '.join(sorted(fields)[:40])}")
        columns = {"language": _LANGUAGE, "task": _TASK_CELL, "group": meaning.group or self.foreign.group, "system": meaning.system}
        texts = {field: name for field, name in self.foreign.texts.items() if name in fields}
        return ColumnPlan({role: name for role, name in columns.items() if name}, (), texts | dict(meaning.texts), {})

    def _name_scores(self) -> list[ExternalScore]:
        """The scores with the names that options give: item, metric, judge; without those of dropped metrics."""
        scores = [self._name_score(score, item) for score, item in zip(self.foreign.scores, self._list_item_ids(), strict=True)]
        if missing := [score for score in scores if score.metric is None and not score.unlabelled]:
            raise UsageError(f"{missing[0].place}: the metric is unknown; give --metric NAME, or a pattern for ids with (?P<metric>...)")
        counted = [score for score in scores if score.unlabelled or score.metric not in self.meaning.drop]
        if all(score.unlabelled for score in counted):
            if dropped := sorted({str(score.metric) for score in scores if not score.unlabelled}):
                raise UsageError(f"every metric is left out by --drop: {', '.join(dropped)}")
            raise UsageError(f"{self.paths[0]}: no record has a score; 'harness labels import' makes a data folder of texts alone")
        if nameless := [score for score in counted if not (score.human or score.who or score.unlabelled)]:
            raise UsageError(f"{nameless[0].place}: the judge is unknown; give its name with --judge NAME")
        if self.foreign.kind == OTHERS:
            refuse_records_of_several(counted)
        return counted

    def _list_item_ids(self) -> list[Any]:
        """The ids of the items: those of the format, or of the fields that the user names."""
        scores, id_fields = self.foreign.scores, self.meaning.item_from
        if not id_fields:
            return [score.item for score in scores]
        fields = {name for score in scores for name in score.fields}
        parts = [id_fields] if id_fields in fields else [part.strip() for part in id_fields.split(",")]
        if missing := [part for part in parts if part not in fields]:
            raise UsageError(
                f"--item-from {id_fields}: no record has a field {quoted(missing)}, so there is no item id; choose from: "
                f"{', '.join(sorted(fields)[:40])}"
            )
        return (
            [score.fields.get(id_fields) for score in scores] if len(parts) == 1 else joined_ids([score.fields for score in scores], parts)
        )

    def _name_score(self, score: ExternalScore, item: Any) -> ExternalScore:
        meaning = self.meaning
        changes: dict[str, Any] = {"item": item, "metric": score.metric or meaning.metric}
        if self.pattern is not None and not is_blank(item):
            changes |= self._split_id(str(item), score)
        if meaning.judge and score.human and score.who == meaning.judge:  # named among the people
            changes["human"] = False
        elif meaning.judge and not score.human:
            changes["who"] = meaning.judge
        metric = changes["metric"]
        changes["metric"] = meaning.rename.get(str(metric), metric)
        return msgspec.structs.replace(score, **changes)

    def _split_id(self, item: str, score: ExternalScore) -> dict[str, Any]:
        assert self.pattern is not None
        try:
            match = self.pattern.full_match(item)
        except SlowPattern:
            raise UsageError(f"{score.place}: --id-pattern {self.pattern.source} {TOO_SLOW} the id '{item[:100]}'") from None
        if match is None:
            raise UsageError(f"{score.place}: the id '{item}' does not fit --id-pattern {self.pattern.source}")
        groups = {name: text for name, text in match.groupdict().items() if text is not None}
        parts: dict[str, Any] = {name: groups[name] for name in ("item", "metric") if name in groups}
        if "repeat" in groups:
            parts["repeat"] = groups["repeat"]
        if "judge" in groups:
            parts["who"] = groups["judge"]
        if "language" in groups:
            parts["fields"] = {**score.fields, _FROM_PATTERN: groups["language"]}
        return parts

    def _find_language(self, score: ExternalScore) -> str | None:
        """The language of a score's item: of the field that the user names, else of the usual field whose values are languages."""
        fields = score.fields
        # Metadata come before variables, as these are often a word for the prompt.
        usual = sorted((name for name in fields if _LANGUAGE_FIELD.search(name)), key=lambda name: ("metadata" not in name, name))
        names = [self.meaning.language_from] if self.meaning.language_from else [_FROM_PATTERN, *usual]
        texts = [str(fields[name]).strip() for name in names if not is_blank(fields.get(name))]
        language = next((tag for text in texts if (tag := language_named(text))), None)
        return language or (texts[0] if texts else None)

    # Score by score

    def run(self) -> ScoreImportSummary:
        offensive = any(card and card.offensive for card in (self.origin, self.before.about))
        for score in self.scores:
            try:
                item = self.rows.known_id(id_text(score.item, "item id"))
                cells = {**score.fields, _LANGUAGE: self._find_language(score)} if self.meaning.language is None else dict(score.fields)
                cells[_TASK_CELL] = self.stated.get(item, _TASK)
                plan = self.plan
                if score.texts and item in self.stated:
                    text_cells = {name: f"\x00text.{name}" for name in score.texts}  # cells of the texts that a score of ours states
                    cells |= {text_cells[name]: text for name, text in score.texts.items()}
                    plan = plan._replace(texts=text_cells | dict(self.meaning.texts))
                self.rows.require(item, Record(cells, 0, score.place, {}, ""), plan)
                if score.unlabelled or (score.human and score.failure in (None, Failure.MISSING) and is_blank(score.value)):
                    self.items_only.append(item)
                else:
                    self._add_label(score, item) if score.human else self._add_judgment(score, item)
            except UnreadableScore as error:
                self.refused.append(RefusedScore(score.place, without_quotations(str(error), self.rubrics) if offensive else str(error)))
        self.languages = self.rows.settle_languages()
        unreadable = self.readings.unreadable(self.scales, self.paths)
        misfit = any(judge.misfit for judge in unreadable)
        writes = bool(self.judgments or self.labels) and (not (self.refused or misfit) or self.options.allow_refused)
        changes = []
        for what, locations in self.changes.items():
            listed = ", ".join(without_paths(location, self.paths) for location in locations[:_MOST_PLACES])
            changes.append(f"{len(locations)} {what} ({listed}{', …' if len(locations) > _MOST_PLACES else ''})")
        notes = [
            *self.foreign.notes,
            *changes,
        ]
        notes += [f"{self._count_not_blind()} {NOT_BLIND}"] if self._count_not_blind() else []
        notes += [f"{len(self.items_only):,} texts have no score; they are items without a label"] if self.items_only else []
        halves = sum("\ufffd" in str(value) for row in self.rows.rows.values() for value in row.values())
        notes += [f"{halves} texts hold U+FFFD, where a character was cut in half or could not be read"] if halves else []
        notes += self.languages
        notes += [f"language '{text}' was read as '{tag}'" for text, tag in self.rows.tags.items()]
        if self.refused and self.options.allow_refused:
            notes.append(f"{len(self.refused)} scores were refused; refused.jsonl holds them")
        if writes:
            used = {row["item_id"] for row in (*self.judgments, *self.labels)} | {*self.items_only} | self.before.rows.keys()
            items = [row for name, row in self.rows.rows.items() if name not in self.before.rows and (name in used or self.options.items)]
            scales = {name: self.scales[name] for name in {row["metric"] for row in (*self.judgments, *self.labels)}}
            about, options = self.before.about, self.options
            new_scales = {name: scale for name, scale in sorted(scales.items()) if self.rubrics.get(name) != scale}
            if about is None:
                kind: AnnotatorKind = "persistent" if reader_of(self.foreign.kind).persistent and self.labels else "anonymous"
                about = card_of_new_folder(self.folder, self.origin, kind)
                about = msgspec.structs.replace(about, id=options.id or about.id, title=options.title or about.title)
            about = with_imported(
                about, new_scales, (*(digest_note(self.foreign.kind, str(path)) for path in self.paths), *notes, *self.pseudonyms.notes)
            )
            refused = [{"place": without_paths(refusal.place, self.paths), "reason": refusal.reason} for refusal in self.refused]
            new: dict[str, list[Any]] = {"items": items, "labels": self.labels, "judgments": self.judgments, "refused": refused}
            add_rows(self.folder, new, about, self.library)
        return ScoreImportSummary(
            kind=self.foreign.kind,
            folder=self.folder,
            judgments=len(self.judgments),
            labels=len(self.labels),
            items=len({row["item_id"] for row in (*self.judgments, *self.labels)} | {*self.items_only}),
            failures=dict(Counter(row["failure"] for row in self.judgments if "failure" in row)),
            not_blind=self._count_not_blind(),
            refused=tuple(self.refused),
            notes=tuple(notes),
            written=writes,
            unreadable=unreadable,
        )

    def _add_label(self, score: ExternalScore, item: str) -> None:
        metric = str(score.metric)
        if score.failure is not None:
            raise UnreadableScore(f"the person's score counts as {score.failure.value} in the other program")
        value = read_value(score.value, self.scales[metric], self.meaning.categories_of(metric))
        key = (item, self.pseudonyms.pseudonym_for(id_text(score.who, "annotator")), metric)
        if key in self.label_scores:
            if self.label_scores[key] == value:
                return
            raise UnreadableScore(f"the same person already scored '{metric}' of '{item}' with {self.label_scores[key]!r}, not {value!r}")
        self.label_scores[key] = value
        row: dict[str, Any] = {"item_id": item, "annotator_id": key[1], "metric": metric, "score": value}
        self.labels.append(row | ({} if score.blind is None else {"blind": score.blind}))

    def _add_judgment(self, score: ExternalScore, item: str) -> None:
        metric, judge = str(score.metric), str(score.who)
        temperature = finite_number(score.temperature, "temperature")
        reading = self._read_score(score, self.scales[metric])
        row: dict[str, Any] = {"item_id": item, "judge": judge, "metric": metric}
        row |= {"score": reading.score} if reading.failure is None else {"failure": reading.failure.value}
        key = (item, judge, metric, score.variant, temperature, score.order)
        earlier = self.asked[key]
        repeat = len(earlier) if is_blank(score.repeat) else repeat_number(score.repeat)
        if repeat in earlier:
            raise UnreadableScore(f"{judge} already scored '{metric}' of '{item}', repeat {repeat}")
        earlier.append(repeat)
        extra: dict[str, Any] = {"variant": score.variant, "temperature": temperature, "order": score.order, "repeat": repeat or None}
        words = score.justification if isinstance(score.justification, str) else None
        extra |= {"raw_choice": reading.raw_choice, "justification": reading.justification or words}
        if reading.probs:
            scale = self.scales[metric]
            extra |= {"probs": reading.probs, "expected": expected_score(reading.probs, scale), "entropy": entropy(reading.probs)}
        self.judgments.append(row | {name: value for name, value in extra.items() if value is not None})

    def _read_score(self, score: ExternalScore, scale: Scale) -> Reading:
        """A judge's score. A reply is read by the rule of the program that asked, or by our own parser; where the user maps words that the
        program gave, or takes its scores, and where the file keeps no reply, the program's own value counts."""
        categories = self.meaning.categories_of(str(score.metric))
        if score.decision is not None and score.failure is None:
            reading = read_recorded_decision(score.decision, scale, {str(word): value for word, value in categories.items()})
            self.readings.add(score, reading, reading)
            return reading
        # The value that the other program kept, or its failure.
        stored = Reading(None, score.failure or Failure.MISSING, None, None)
        if score.failure is None and not is_blank(score.value):
            try:
                stored = Reading(read_value(score.value, scale, categories), None, None, None)
            except UnreadableScore:
                what = f"scores of '{score.metric}' are not on its scale ({scale.describe()}); they count as the failure off_scale"
                self.changes[what].append(score.place)
                stored = Reading(None, Failure.OFF_SCALE, str(score.value)[:200], None)
        if score.reply is None or self.options.take_values or (categories and score.rule is None):
            reading = stored
        elif score.rule is not None:
            words = {text: categories.get(str(word), word) for text, word in score.rule.map.items()}
            rule = AnswerRule(score.rule.read, {text: value for text, value in words.items() if scale.holds(value)})
            reading = read_by_rule(score.reply, rule, scale, self.vocabulary, finish_reason=score.finish_reason, refusal=score.refusal)
        else:
            said = {"finish_reason": score.finish_reason, "refusal": score.refusal}
            metric = str(score.metric)
            reading = read_reply(score.reply, {metric: scale}, joint=False, vocabulary=self.vocabulary, **said)[metric]
        if stored.score is not None and reading.score != stored.score:
            what = "replies are read differently by this program than by the other one; --take-values takes the other's scores"
            self.changes[what].append(score.place)
        self.readings.add(score, reading, stored)
        return reading

    # Writing

    def _count_not_blind(self) -> int:
        return sum(row.get("blind") is False for row in self.labels)


_LANGUAGE, _TASK_CELL = "\x00language", "\x00task"  # cells that no file has
_FROM_PATTERN = "\x00pattern"
_LANGUAGE_FIELD = re.compile(r"(?:^|\.)(?:language|lang)$")


def read_scores(paths: Sequence[Path], kind: str | None, options: ReadOptions) -> ExternalScores:
    """Read all files of one kind. Raises UsageError where the kind is unknown, ContentError for a file of another form."""
    for path in paths:
        if not path.is_file():
            pipe = "is a pipe or a device; save its content as a file first" if path.exists() else "does not exist"
            raise UsageError(f"{path} {'is a folder; name its files' if path.is_dir() else pipe}")
    if kind is not None and kind not in SCORE_KINDS:
        raise UsageError(f"--from {kind}: choose from: {', '.join(SCORE_KINDS)}")
    read = [_read(path, kind, options) for path in paths]
    scores = [file_scores for file_scores in read if isinstance(file_scores, ExternalScores)]
    if parts := [file_scores for file_scores in read if isinstance(file_scores, _Part)]:
        scores.append(parts[0].reader([row for part in parts for row in part.rows], options))
    kinds = list(dict.fromkeys(foreign.kind for foreign in scores))
    if len(kinds) > 1:
        raise UsageError(f"the files are of several kinds ({', '.join(kinds)}); import them one kind at a time")
    [first, *further_scores] = scores
    if not further_scores:
        return first
    joined = [score for foreign in scores for score in foreign.scores]
    return msgspec.structs.replace(first, scores=joined, notes=tuple(note for foreign in scores for note in foreign.notes))


class _Part(NamedTuple):
    """The lines of a file that is read together with others, and what reads them."""

    reader: LinesReader
    rows: Rows


def _read(path: Path, kind: str | None, options: ReadOptions) -> ExternalScores | _Part:
    suffix = next((end for end in reversed(path.suffixes) if end.lower() != ".gz"), "").lower()
    if suffix != ".xlsx" and zipfile.is_zipfile(path):
        for name in (kind,) if kind else SCORE_KINDS:
            if read_archive := reader_of(name).read_archive:
                return read_archive(path)
    if suffix in _TABLES:
        read_table = reader_of(kind or OTHERS).read_table
        if read_table is None:
            raise UsageError(f"{path} is a table, which cannot be read as {kind}")
        return read_table(path, read_source(str(path)), options)
    return _read_lines(path, kind, options) if suffix in _LINES else _read_json(path, kind, options)


def _read_lines(path: Path, kind: str | None, options: ReadOptions) -> ExternalScores | _Part:
    rows = [(path, number, row) for number, row in json_lines(path)]
    if not rows:
        raise ContentError("the file is empty", path)
    first = rows[0][2]
    kind = kind or _find_kind(lambda reader: reader.is_line(first))
    reader = reader_of(kind)
    if reader.read_lines is None:
        raise UsageError(f"{path} is a JSONL file, which cannot be read as {kind}")
    return _Part(reader.read_lines, rows) if reader.joins_files else reader.read_lines(rows, options)


def _read_json(path: Path, kind: str | None, options: ReadOptions) -> ExternalScores:
    content = load_json(path)
    kind = kind or _find_kind(lambda reader: reader.is_json(content))
    read_json = reader_of(kind).read_json
    if read_json is None:
        raise UsageError(f"{path} is a JSON file, which cannot be read as {kind}; files of kind {kind} are JSONL")
    return read_json(path, content, options)


def _find_kind(recognised: Callable[[Reader], bool]) -> str:
    return next((kind for kind in SCORE_KINDS if recognised(reader_of(kind))), OTHERS)


_MOST_WORDS = 4  # shown of values that have no score
_MOST_CHARACTERS = 120  # of a raw value


class UnreadableJudge(msgspec.Struct, frozen=True):
    """A judge of whose values on a metric more than half cannot be read, with one of them and the likely cause.

    `misfit`: the values are there, but not on the scale, so what the user said of them is likely wrong.
    """

    judge: str
    metric: str
    failures: int
    values: int
    example: str
    place: str
    cause: str
    misfit: bool

    def __str__(self) -> str:
        example = f', such as "{self.example}"' if self.example else ""
        return (
            f"{self.failures:,} of {self.values:,} values of {self.judge} on '{self.metric}' cannot be read{example} ({self.place}): "
            f"{self.cause}"
        )


class ReadingCounts:
    """Count how the values of each judge on each metric were read."""

    def __init__(self) -> None:
        self._values: Counter[tuple[str, str]] = Counter()
        self._failed: defaultdict[tuple[str, str], list[tuple[ExternalScore, Reading, Reading]]] = defaultdict(list)

    def add(self, score: ExternalScore, reading: Reading, stored: Reading) -> None:
        """Count the reading of one value; `stored` is what the other program made of it."""
        key = str(score.who), str(score.metric)
        self._values[key] += 1
        if reading.score is None:
            self._failed[key].append((score, reading, stored))

    def unreadable(self, scales: Mapping[str, Scale], paths: Iterable[Path]) -> tuple[UnreadableJudge, ...]:
        """Return the judges and metrics of which more than half of the values cannot be read, as `harness import` says them."""
        unreadable_judges = []
        for (judge, metric), failed in self._failed.items():
            values = self._values[judge, metric]
            if 2 * len(failed) <= values:
                continue
            misfits = [score for score, reading, stored in failed if Failure.OFF_SCALE in (reading.failure, stored.failure)]
            misfit = 2 * len(misfits) > values
            kind, _ = Counter(reading.failure for _, reading, _ in failed).most_common(1)[0]
            example = misfits[0] if misfit else next((score for score, reading, _ in failed if reading.failure is kind), failed[0][0])
            # The reply as the judge wrote it, else the value that the other program kept; where that only stands for a failure, the
            # reason.
            texts = (example.justification, example.value) if example.failure else (example.value, example.justification)
            text = next((str(part) for part in (example.reply, *texts) if not is_blank(part)), "")
            text = " ".join(text.split())
            excerpt = text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"
            unreadable_judges.append(
                UnreadableJudge(
                    judge=judge,
                    metric=metric,
                    failures=len(failed),
                    values=values,
                    example=excerpt,
                    place=without_paths(example.place, paths),
                    cause=_explain_misfit(misfits, scales[metric]) if misfit else _CAUSES[kind or Failure.MISSING],
                    misfit=misfit,
                )
            )
        return tuple(unreadable_judges)


def _explain_misfit(misfits: Iterable[ExternalScore], scale: Scale) -> str:
    values: list[Any] = [score.value if not is_blank(score.value) else score.reply for score in misfits]
    numbers = [number for value in values if (number := _number(value)) is not None]
    if 2 * len(numbers) > len(values):
        return (
            f"its values reach from {min(numbers):g} to {max(numbers):g}, and the scale is {scale.describe()}; give the scale that the "
            "judge used (--scale METRIC=SCALE)"
        )
    words = list(dict.fromkeys(str(value)[:40] for value in values))[:_MOST_WORDS]
    return (
        f"the scale is {scale.describe()}, and nothing says which score a word stands for; map the words "
        f"(--map {','.join(f'{word}=SCORE' for word in words if len(word.split()) == 1) or 'WORD=SCORE'}) or give another --scale"
    )


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


_CAUSES = {
    Failure.REFUSED: "the judge, or its provider, refused most texts",
    Failure.TRUNCATED: "most replies break off; the judge needs more room for its answers",
    Failure.MISSING: "the other program has no value: most calls of the judge failed, or nothing was asked",
    Failure.NOT_JSON: "most replies name no score, or the other program could not read them; read a few, and see which score they give "
    "(--take-values takes the values that the other program kept)",
    Failure.TIED: "the judge gives several classes the same probability in most texts",
    Failure.BAD_PROBABILITIES: "most answers lack an option's probability, or their probabilities do not sum to 1",
    Failure.SLOW_PATTERN: "the pattern that reads the replies does not end on most of them",
    Failure.OFF_SCALE: "most replies name a score that is not on the scale (--scale METRIC=SCALE)",
}


ALL_METRICS = "*"


class ScoreMeaning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The meaning of scores: metric, judge and scale, which flags and mapping files both can say. Each field is the flag of the same name.

    Attributes:
        item_from, language_from: the field of a record that holds the item's id, or its language.
        id_pattern: a regular expression for ids, with the groups item, metric, language, judge or repeat.
        language, task, metric, judge: of all scores that do not say it.
        group, system: fields that become keys of new items.
        preset: the field names of score records, by the name of a program.
        scales: by metric; a scale is never guessed.
        categories: `{metric: {word: score}}`; `*` for every metric.
        rename, drop: metrics.
        texts: fields that become texts of new items.
        records: the field names of score records, under `[records]` of a mapping file.
    """

    item_from: str | None = None
    language_from: str | None = None
    id_pattern: str | None = None
    language: str | None = None
    task: str | None = None
    metric: str | None = None
    judge: str | None = None
    group: str | None = None
    system: str | None = None
    preset: str | None = None
    scales: dict[str, Scale] = {}
    categories: dict[str, dict[str, Score]] = {}
    rename: dict[str, str] = {}
    drop: tuple[str, ...] = ()
    texts: dict[str, str] = {}
    records: dict[str, Any] = {}

    def categories_of(self, metric: str) -> Mapping[str, Score]:
        """The words that stand for scores of a metric."""
        return {**self.categories.get(ALL_METRICS, {}), **self.categories.get(metric, {})}


def read_meaning(options: ScoreImportOptions) -> ScoreMeaning:
    """Return what options say of scores, and where they say nothing what their mapping files do; tables are joined key by key.

    Raises UsageError for a text that cannot be read or a scale that cannot be, ContentError for a file.
    """
    files = [text for text in options.map if text.endswith(".toml")]
    read: dict[str, Any] = {
        "scales": parse_scales(options.scale),
        "categories": parse_map([text for text in options.map if text not in files]),
        "rename": parse_pairs(options.rename, "--rename"),
        "texts": parse_pairs(options.text, "--text"),
    }
    said = {name: getattr(options, name) for name in ScoreMeaning.__struct_fields__ if hasattr(options, name)} | read
    for text in files:
        written = msgspec.structs.asdict(read_spec(Path(text), ScoreMeaning))
        stated = {name: value for name, value in said.items() if value not in (None, (), {})}
        said = written | {name: {**written[name], **value} if isinstance(value, dict) else value for name, value in stated.items()}
    for name, scale in said["scales"].items():
        for problem, _ in scale_complaints(scale, needs_best=False):
            raise UsageError(f"the scale of '{name}': {problem}")
    return ScoreMeaning(**said)


def parse_map(texts: Iterable[str]) -> dict[str, dict[str, Score]]:
    """Read `C=1,P=0.5,I=0` or, for one metric, `METRIC:C=1,P=0.5`. Raises UsageError for another form.

    >>> parse_map(["C=1,P=0.5", "tone:good=2"])
    {'*': {'C': 1, 'P': 0.5}, 'tone': {'good': 2}}
    """
    pairs = []
    for text in texts:
        metric, colon, rest = text.partition(":")
        name, listed = (metric, rest) if colon and "=" not in metric else (ALL_METRICS, text)
        pairs += [f"{name}:{pair}" for pair in listed.split(",")]
    try:
        return parse_categories(pairs)
    except UsageError:
        raise UsageError(
            f"--map needs WORD=SCORE pairs such as C=1,P=0.5,I=0, or the name of a TOML file; got '{' '.join(texts)}'"
        ) from None


def id_pattern(text: str | None) -> Pattern | None:
    """The pattern of ids. Raises UsageError for one that is no regular expression or names nothing."""
    if text is None:
        return None
    try:
        pattern = Pattern(text)
    except ValueError as err:
        raise UsageError(f"--id-pattern {text}: {err}") from None
    group_names = {"item", "metric", "language", "judge", "repeat"}
    if not pattern.names or pattern.names - group_names:
        raise UsageError(
            f"--id-pattern {text}: name its groups, such as (?P<item>.+):(?P<metric>.+); the names are {', '.join(sorted(group_names))}"
        )
    return pattern
