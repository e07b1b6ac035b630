"""Import: checks every label of a source and writes a data folder. A row is imported, or refused with its place and the reason."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from typing import Any, get_args

import msgspec

from harness.content import Library
from harness.content.column_words import column_words, is_judge_name, judge_refusal, name_parts
from harness.content.specs import DatasetCard, LabelMapping
from harness.content.tags import choose_from, suggest
from harness.data.dataset import own_words, rubric_scales
from harness.errors import ContentError, UsageError
from harness.exchange.labels.cell_scores import UnreadableScore, id_text, require_flippable, reverse_score
from harness.exchange.labels.choose_reader import read_source
from harness.exchange.labels.columns_of_source import (
    BlankCell,
    ColumnPlan,
    SourceLabel,
    iterate_labels,
    make_column_plan,
    with_people_apart,
)
from harness.exchange.labels.mapping import scale_hint, with_annotator_of_file
from harness.exchange.labels.program_layouts import from_potato, is_potato, one_record_per_item, with_ids, with_plain_names
from harness.exchange.labels.source_table import SourceTable
from harness.exchange.labels.table_columns import column_of_table, read_score
from harness.exchange.labels.table_options import ImportOptions
from harness.exchange.labels.target_folder import (
    GivenItems,
    ItemRows,
    TargetFolder,
    add_rows,
    digest_note,
    read_given_items,
    updated_about,
    without_paths,
)
from harness.model import AnnotatorKind, Scale, Source
from harness.offensive_texts import without_quotations
from harness.text import normalised, quoted

_KINDS_WITH_USERS = ("sheet", "label-studio", "argilla")  # their annotators have an account or a name


_LONGEST_NO_ANSWER, _MOST_NO_ANSWERS = 30, 20  # characters, and words, that may mean no answer
NAME_THE_ANNOTATOR = "; if another person gave it, name the column of the annotators: --column annotator_id=COLUMN"


class RefusedRow(msgspec.Struct, frozen=True):
    """A row of the source that was not imported."""

    place: str
    reason: str
    row: dict[str, Any]


class ImportSummary(msgspec.Struct, frozen=True):
    """The result of an import. `rows` = `labels` + refused rows; `blank` cells and `left_out` answers do not count as rows."""

    rows: int
    labels: int
    blank: int
    left_out: int
    refused: tuple[RefusedRow, ...]
    items: int
    annotators: int
    metrics: tuple[str, ...]
    folder: Path
    hints: tuple[str, ...]  # guesses, and what the user may specify
    notes: tuple[str, ...]  # what was changed; also in data.toml
    known: int = 0  # rows that the folder had already
    reviews: int = 0  # answers to a judge's reasons; they count as rows
    unlabelled: int = 0  # items of the folder that nobody scored
    written: bool = True  # false if rows were refused and nobody allowed it, or all were: then the folder is as it was


def import_labels(
    source: str | Path, to: Path, mapping: LabelMapping | None = None, options: ImportOptions | None = None, library: Library | None = None
) -> ImportSummary:
    """Import the labels of `source` into the data folder `to`. The folder is written completely or not at all: not if
    any row is refused, unless `allow_refused` says that the others are wanted without it.

    Raises UsageError for impossible options, ContentError for a source that cannot be read at all, and StoreError when the folder cannot
    be written. Wrong rows raise nothing; they are refused.
    """
    mapping, options, library = mapping or LabelMapping(), options or ImportOptions(), library or Library()
    mapping = with_annotator_of_file(mapping, source)
    target = TargetFolder(to, library, append=options.append, second_round=options.second_round)
    table = with_plain_names(read_source(str(source), options, annotator=mapping.annotator))
    if is_potato([record.cells for record in table.records]):
        table = from_potato(table)
    table, mapping = with_people_apart(table, mapping)
    if mapping.wide_items is not None:
        table = one_record_per_item(table, mapping.wide_items, str(source))
    if mapping.id_from:
        table = with_ids(table, mapping.id_from, str(source))
    return _LabelImport(str(source), mapping, options, library, target, table).run()


class _LabelImport:
    def __init__(
        self, source: str, mapping: LabelMapping, options: ImportOptions, library: Library, target: TargetFolder, table: SourceTable
    ) -> None:
        self.source, self.mapping, self.options, self.library = source, mapping, options, library
        self.target, self.table = target, table
        self.given = read_given_items(options.items, mapping, library) if options.items else GivenItems({})
        target.require_same_items(self.given.rows)
        self.rubrics = rubric_scales(library)
        source_scales = self.table.about.get("scales", {})
        scales = {**self.rubrics, **source_scales, **self.given.scales, **self.target.items.scales, **self.mapping.metrics}
        self.target.require_same_scales(scales)
        for name in self.mapping.flip:
            if name in scales:
                require_flippable(name, scales[name])
        self.scales = scales
        self.plan = self._plan()
        # The known items. Rows may add new ones, but not with --items, and with items in the folder only with --append.
        item_rows = {**self.target.items.rows, **self.given.rows}
        located = all(name in self.plan.columns or self.mapping.constant(name) is not None for name in ("language", "task"))
        closed = bool(self.options.items or self.options.second_round) or (bool(item_rows) and not (self.options.append and located))
        if not closed and not located:
            raise UsageError(
                f"the language and task of the items of {self.source} are unknown; give --language and --task, or --column "
                "language=COLUMN and task=COLUMN, or the items with --items"
            )
        if not closed and not item_rows:
            self._refuse_without_texts()
        self.rows = ItemRows(item_rows, self.mapping, self.library, closed=closed)
        self.pseudonyms = target.pseudonyms(options.salt_file, keep=options.keep_annotators)
        self.labels: list[dict[str, Any]] = []
        self.refused: list[RefusedRow] = []
        self.blank = self.dropped = 0
        self.label_source = (target.about.source if target.about else mapping.source) or "people"
        earlier = target.second_ratings if options.second_round else target.labels
        self.seen = {(row["item_id"], row["annotator_id"], row["metric"]): (location, row["score"]) for location, row in earlier}
        self.names: set[str] = set()  # metric names of the source, and their new names
        self.judges: dict[str, None] = {}  # annotators whose names are those of judges
        self.respelt: dict[str, None] = {}  # item ids that the source writes in another form
        self.people: defaultdict[str, set[str]] = defaultdict(set)  # the spellings of each annotator

    # Preparing

    def _plan(self) -> ColumnPlan:
        task_names = self.library.task_files
        tasks = [self.mapping.task] if self.mapping.task in task_names else task_names
        texts = {field for name in tasks for field in self.library.task(str(name)).fields}
        mapping = self.given.mapping_of_labels(self.mapping, self.table.columns)
        plan = make_column_plan(self.table, mapping, self.scales, texts, self._place, scored=not self.options.unlabelled)
        if not self.options.partly and self.table.kind not in _KINDS_WITH_USERS:
            # Refuse a column of scores that nothing is read from: somebody's scores would be lost in silence.
            read = {
                *plan.columns.values(),
                *plan.texts.values(),
                *(wide.column for wide in plan.wide),
                *self.mapping.drop,
                *self.mapping.id_from,
            }
            words = column_words()
            unread = [
                name
                for name in self.table.columns
                if name not in read
                and not (words.metadata & set(name_parts(name)) or words.in_name("reason", name) or words.in_name("group", name))
                and column_of_table(self.table, name).looks_like_scores
            ]
            if unread:
                holds = "holds scores" if len(unread) == 1 else "hold scores"
                raise UsageError(
                    f"{quoted(unread)} {holds}, and nothing is read from them: name people's columns with --wide-annotators or "
                    f"--wide-metrics, import a judge's with 'harness import', or leave out what does not matter: --drop '{unread[0]}'"
                )
        return plan

    @property
    def _place(self) -> str:
        first = next(iter(self.table.records), None)
        return first.head.rstrip(":!") if first and first.letters else self.source

    def _refuse_without_texts(self) -> None:
        if self.mapping.task not in self.library.task_files:
            return
        task = self.library.task(str(self.mapping.task))
        needed = [name for name, field in task.fields.items() if not field.optional]
        if missing := [name for name in needed if name not in self.plan.texts]:
            flags = " ".join(f"--text {name}=COLUMN" for name in missing)
            raise ContentError(
                f"task '{task.id}' needs the texts {', '.join(needed)}; name their columns ({flags}) or give the items with --items "
                f"(the columns are: {', '.join(self.table.columns)})",
                self._place,
            )

    # Reading row by row

    def run(self) -> ImportSummary:
        for record in self.table.records if self.options.unlabelled else ():
            try:
                self._find_item(BlankCell(record, record.cells.get(self.plan.columns["item_id"])))
            except UnreadableScore as error:
                self.refused.append(RefusedRow(record.place(), str(error), {name: _to_json_value(v) for name, v in record.cells.items()}))
        for entry in () if self.options.unlabelled else iterate_labels(self.table, self.plan, self.mapping):
            if isinstance(entry, BlankCell):
                self.blank += 1
                with contextlib.suppress(UnreadableScore):  # a blank cell has no label to refuse
                    self._find_item(entry)
            else:
                self._import_label(entry)
        # Refuse a metric name that no label has: it is a typing error, and its change would silently not happen.
        for flag, names in (("--rename", self.mapping.rename), ("--flip", self.mapping.flip), ("--category", self.mapping.categories)):
            for name in names:
                if name not in self.names:
                    raise UsageError(f"{flag} {name}: {self.source} has no label of this metric.{choose_from(sorted(self.names), name)}")
        self.languages = self.rows.settle_languages()
        if self.judges:
            raise UsageError(judge_refusal([*self.judges], f"say that it is a person: --human '{next(iter(self.judges))}'"))
        return self._write()

    def _import_label(self, label: SourceLabel) -> None:
        annotator_id: str | None = None
        try:
            if label.annotator is None and self.mapping.annotators == "aggregate":
                annotator_id = "aggregate"
            else:
                name = id_text(label.annotator, "annotator")
                if self.label_source != "model" and name not in self.mapping.human and is_judge_name(name):
                    self.judges[name] = None
                annotator_id = self.pseudonyms.pseudonym_for(name)
                self.people[annotator_id].add(str(label.annotator).strip())
            metric = id_text(label.metric, "metric")
            if metric in self.mapping.drop:
                self.dropped += 1
                return
            renamed = self.mapping.rename.get(metric, metric)
            self.names |= {metric, renamed}
            row = {"item_id": self._find_item(label), "annotator_id": annotator_id, "metric": renamed, "score": self._score(label, renamed)}
            if label.source is not None and (source := str(label.source).strip()) != self.label_source:
                if source not in get_args(Source):
                    sources = ", ".join(get_args(Source))
                    raise UnreadableScore(
                        f"'{source}' is no source of a label; the column named with --column source= holds one of: {sources}"
                    )
                row["source"] = source
            key = (row["item_id"], row["annotator_id"], row["metric"])
            if key in self.seen:
                location, score = self.seen[key]
                same = "with the same score" if score == row["score"] else f"with {score!r}, not {row['score']!r}"
                who = "" if label.annotator is not None or self.mapping.annotator else NAME_THE_ANNOTATOR
                raise UnreadableScore(f"{key[1]} already scored '{key[2]}' of '{key[0]}' {same} in {location}{who}")
            self.seen[key] = (label.place, row["score"])
            self.labels.append(row)
        except UnreadableScore as error:
            # A refusal that is safe to share: the cells that were read, with the pseudonym of the annotator.
            cells = {role: label.record.cells.get(column) for role, column in self.plan.columns.items()}
            cells_read = {**cells, "item_id": label.item_id, "metric": label.metric, "score": label.score, "annotator_id": annotator_id}
            row = {name: _to_json_value(value) for name, value in cells_read.items() if value is not None}
            self.refused.append(RefusedRow(label.place, str(error), row))

    def _find_item(self, label: SourceLabel | BlankCell) -> str:
        value = label.item_id
        same = isinstance(value, str) and value in self.rows.rows
        item_id = value if same else self.rows.known_id(self.mapping.item_prefix + id_text(value, "item id"))
        if isinstance(value, str) and self.mapping.item_prefix + value.strip() != item_id:
            self.respelt[item_id] = None
        self.rows.require(item_id, label.record, self.plan)
        return item_id

    def _score(self, label: SourceLabel, metric: str) -> Any:
        scale = self.scales.get(metric)
        if scale is None:
            raise UnreadableScore(
                f"metric '{metric}' has no scale.{suggest(metric, self.scales)} Give it one (--scale {metric}=0,1,2:best=2 or "
                f"--scale {metric}=1..5:best=5), rename it to a known metric (--rename {metric}=NAME) or leave it out (--drop {metric})"
            )
        score = read_score(label.score, scale, self.mapping.categories.get(metric))
        if not scale.holds(score):
            raise UnreadableScore(f"'{label.score}' is mapped to {score!r}, which is not on the scale of '{metric}' ({scale.describe()})")
        return reverse_score(score, scale) if metric in self.mapping.flip else score

    # Writing

    def _write(self) -> ImportSummary:
        refused = tuple(self._scrub_refusal(refusal) for refusal in self.refused)
        # The changes of metrics, scores and ids, for later readers of the data. They contain no name of a person, column or file.
        mapping = self.mapping
        notes = [digest_note(self.table.kind, self.source)]
        notes += [note for note in self.table.notes if " was read at commit " in note]
        notes += [f"metric '{old}' was renamed to '{new}'" for old, new in mapping.rename.items()]
        for metric, categories in mapping.categories.items():
            notes.append(f"'{metric}': " + ", ".join(f"'{name}' was mapped to {score!r}" for name, score in categories.items()))
        notes += [f"'{metric}' was flipped: scores are reversed on the scale {self.scales[metric].describe()}" for metric in mapping.flip]
        notes += [f"metric '{metric}' was left out" for metric in mapping.drop]
        notes += [f"language '{text}' was read as '{tag}'" for text, tag in self.rows.tags.items()]
        if self.options.second_round:
            notes.append(
                f"{len(self.labels)} scores are a second round (second_ratings): of a person who had not scored the text, a further "
                "annotator's, which verdicts count; of one who had, an own repeat, which they do not"
            )
        if self.refused and self.options.allow_refused:
            notes.append(f"{len(self.refused)} of {len(self.refused) + len(self.labels)} rows were refused; refused.jsonl holds them")
        notes = [*notes, *self.pseudonyms.notes]
        own_scales = {name: scale for name, scale in self._select_used_scales().items() if self.rubrics.get(name) != scale}
        kind: AnnotatorKind = self.mapping.annotators or ("persistent" if self.table.kind in _KINDS_WITH_USERS else "anonymous")
        about = updated_about(self.target, self.mapping, self.given.about, kind, own_scales, notes)
        about = msgspec.structs.replace(about, source=self.label_source)
        # The items of the folder after the import; of the bundled items, only the labelled ones.
        if self.options.items != "bundled":
            items = self.rows.rows
        else:
            labelled = {row["item_id"] for row in self.labels} | self.target.items.rows.keys()
            items = {name: row for name, row in self.rows.rows.items() if name in labelled}
        shorten_paths = partial(without_paths, paths=[Path(self.source)] if Path(self.source).exists() else [])
        pseudonyms, comments = self.pseudonyms, self.table.about.get("comments", ())
        tables: dict[str, list[Any]] = {
            "items": [row for name, row in items.items() if name not in self.target.items.rows],
            "second_ratings" if self.options.second_round else "labels": self.labels,
            "comments": [
                {
                    "item_id": str(c["key"]),
                    "annotator_id": pseudonyms.pseudonym_for(c["annotator"]),
                    "comment": pseudonyms.scrub(str(c["comment"])),
                }
                for c in comments
            ],
            "refused": [
                msgspec.structs.replace(refused_row, place=shorten_paths(refused_row.place), reason=shorten_paths(refused_row.reason))
                for refused_row in refused
            ],
        }
        nothing = bool(refused) and not (self.labels and self.options.allow_refused)  # the next try finds the folder as it was
        if not nothing:
            add_rows(self.target.folder, tables, about, self.library)
        return ImportSummary(
            rows=len(self.labels) + len(refused),
            labels=len(self.labels),
            blank=self.blank,
            left_out=self.table.left_out + self.dropped,
            refused=refused,
            items=len(items),
            annotators=len({row["annotator_id"] for row in self.labels}),
            metrics=tuple(self._select_used_scales()),
            folder=self.target.folder,
            hints=tuple(self._collect_hints(about)),
            notes=tuple(notes),
            written=not nothing,
            unlabelled=len(items.keys() - {item_id for item_id, _, _ in self.seen}),
        )

    def _select_used_scales(self) -> dict[str, Scale]:
        wanted = self.mapping.metrics if self.options.unlabelled else {}  # nobody has scored yet, and the folder says what will be
        return {**wanted, **{row["metric"]: self.scales[row["metric"]] for row in self.labels}}

    def _scrub_refusal(self, refusal: RefusedRow) -> RefusedRow:
        scrub, reason = self.pseudonyms.scrub, refusal.reason
        if self.given.about and self.given.about.offensive:
            reason = without_quotations(reason, own_words(self.library))
        ids = ("item_id", "annotator_id")
        row = {key: scrub(value) if isinstance(value, str) and key not in ids else value for key, value in refusal.row.items()}
        # Only what comes from the file is scrubbed, and reasons quote it: an annotator called 'the' is no word of ours.
        reason = re.sub(r"(?<!\w)'[^']+'(?!\w)", lambda quotation: scrub(quotation[0]), reason)
        path = refusal.place.startswith(self.source)
        location = scrub(self.source) + refusal.place[len(self.source) :] if path else scrub(refusal.place)
        return RefusedRow(location, reason, row)

    def _collect_hints(self, about: DatasetCard) -> list[str]:
        """Guesses, and what the user may want to specify."""
        hints = [note for note in self.table.notes if " was read at commit " not in note]
        if guessed := ", ".join(f"{role} = '{column}'" for role, column in self.plan.guessed.items() if role != column):
            hints.append(f"columns were matched by name: {guessed}; change this with --column and --text")
        hints += self.languages
        if self.respelt:
            hints.append(
                "item ids of the source were read in one form (7.0 as 7; without invisible characters, further blanks and letters apart "
                f"from their accents): {len(self.respelt):,}, such as {quoted([*self.respelt][:3])}"
            )
        if several := [person for person, spellings in self.people.items() if len(spellings) > 1]:
            hints.append(f"annotators that are written in several ways (case, blanks, 7 and 7.0) and count as one person: {len(several):,}")
        words = Counter(str(refusal.row.get("score", "")).strip() for refusal in self.refused if " is not on the scale (" in refusal.reason)
        words = Counter({word: times for word, times in words.items() if len(word) <= _LONGEST_NO_ANSWER and not re.search(r"\d", word)})
        if words and len(words) <= _MOST_NO_ANSWERS and self.labels:
            hints.append(f"where no answer is meant by {quoted(list(words))}: --no-answer {shlex.quote(','.join(words))}")
        read = {*self.plan.columns.values(), *self.plan.texts.values(), *(wide.column for wide in self.plan.wide)}
        unread = [name for name in self.table.columns if name not in read]
        if unread and self.table.kind not in _KINDS_WITH_USERS:  # an annotation tool's further columns are its own affairs
            hints.append(
                f"columns that were not read: {', '.join(unread)}; name them with --column, --text or --wide-metrics if they matter"
            )
        if self.labels and not self.mapping.annotators and not self.target.about and about.annotators == "anonymous":
            hints.append("annotators count as anonymous; if each id is one person throughout, pass --annotators persistent")
        hints += [
            scale_hint(name, scale) for name, scale in self.mapping.metrics.items() if any(row["metric"] == name for row in self.labels)
        ]
        task = self.mapping.task
        if task and task not in self.library.task_files:
            near = suggest(task, self.library.task_files)
            hints.append(f"task '{task}' has no description here: its items are judged with a prompt of your own (--prompt).{near}")
        if self.table.kind == "sheet" and not self.options.items and not self.target.items.rows:
            hints.append("a sheet does not tell which items share a text; pass --items DATA, the data that it was exported from")
        elif shared := self._find_shared_text():
            column, count = shared
            hints.append(
                f"{count:,} of {len(self.rows.rows):,} items have the same '{column}' as another one, and count as independent texts; "
                f"if they share a source, name the column that tells it: --group '{column}'"
            )
        return hints

    def _find_shared_text(self) -> tuple[str, int] | None:
        """The column of the text that most of the items built here share with another one, and how many do; None with groups.

        Items whose texts are all equal are copies, which count as one text whatever their groups.
        """
        rows = [row for name, row in self.rows.rows.items() if name not in self.target.items.rows and name not in self.given.rows]
        if not self.plan.texts or any("group" in row for row in rows):
            return None
        rows = list({tuple(normalised(str(row.get(field, ""))) for field in self.plan.texts): row for row in rows}.values())
        counts = {column: Counter(str(row.get(field, "")) for row in rows) for field, column in self.plan.texts.items()}
        shared = {column: sum(n for text, n in count.items() if n > 1 and text) for column, count in counts.items()}
        column = max(shared, key=lambda name: shared[name])
        return (column, shared[column]) if shared[column] else None


def _to_json_value(value: Any) -> Any:
    """The value of a cell in a form that JSON can hold."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    return getattr(value, "reason", None) or str(value)
