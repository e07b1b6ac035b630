"""Import: labels of a source, each checked, into a data folder. Every row of the source comes in or is refused with its place and why."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import msgspec

from harness.content import Library
from harness.content.dataset import rubric_scales
from harness.content.specs import DataFolder
from harness.content.tags import suggest
from harness.errors import ContentError, UsageError
from harness.labels.existing import Existing, about_after, digest_note, salt_note
from harness.labels.folder import to_toml, write_folder
from harness.labels.items import Given, Rows, read_given
from harness.labels.mapping import LabelMapping
from harness.labels.plan import Blank, Found, Plan, labels_of, make_plan
from harness.labels.pseudonyms import Pseudonyms, default_salt_file, read_salt
from harness.labels.read import read_source
from harness.labels.scores import Refusal, flipped, id_text, read_score, require_flippable
from harness.labels.table import Table
from harness.model import AnnotatorKind, Scale
from harness.tables import to_jsonl

_KNOW_PEOPLE = ("sheet", "label-studio", "argilla")  # kinds whose annotators are users with an account or a name


class Refused(msgspec.Struct, frozen=True):
    """A row of the source that did not come in."""

    place: str
    reason: str
    row: dict[str, Any]


class Imported(msgspec.Struct, frozen=True):
    """What an import did. `rows` = `labels` + refused; `blank` cells and answers that were `left_out` are no rows."""

    rows: int
    labels: int
    blank: int
    left_out: int
    refused: tuple[Refused, ...]
    items: int
    annotators: int
    metrics: tuple[str, ...]
    folder: Path
    said: tuple[str, ...]  # what was guessed, and what may be said more exactly
    notes: tuple[str, ...]  # what was done; data.toml has it too


class Options(msgspec.Struct, frozen=True):
    """How a source is read and where it goes, beside its mapping; each field is the flag of the same name."""

    kind: str | None = None
    sheet: str | None = None
    encoding: str | None = None
    revision: str | None = None
    split: str | None = None
    items: str | None = None
    append: bool = False
    keep_annotators: bool = False
    salt_file: Path | None = None


def import_labels(
    source: str | Path,
    to: Path,
    mapping: LabelMapping | None = None,
    options: Options | None = None,
    library: Library | None = None,
) -> Imported:
    """Import the labels of `source` into the data folder `to`, which is written whole or not at all.

    Raises UsageError for what was asked and cannot be, ContentError for a source that cannot be read as a whole, StoreError when the folder
    cannot be written. Single rows that are wrong raise nothing: they are refused.
    """
    mapping, options, library = mapping or LabelMapping(), options or Options(), library or Library()
    existing = Existing(to, library, append=options.append)
    table = read_source(
        str(source),
        kind=options.kind,
        worksheet=options.sheet,
        encoding=options.encoding,
        revision=options.revision,
        split=options.split,
        annotator=mapping.annotator,
    )
    return _Import(str(source), mapping, options, library, existing, table).run()


class _Import:
    """One import, from the table that was read to the folder that is written."""

    def __init__(self, source: str, mapping: LabelMapping, options: Options, library: Library, existing: Existing, table: Table) -> None:
        self.source, self.mapping, self.options, self.library = source, mapping, options, library
        self.existing, self.table = existing, table
        self.given = read_given(options.items, mapping, library) if options.items else Given({})
        existing.require_same_items(self.given.rows)
        self.rubrics = rubric_scales(library)
        self.scales = self._scales()
        self.plan = self._plan()
        self.rows = self._rows()
        self.pseudonyms = self._pseudonyms()
        self.labels: list[dict[str, Any]] = []
        self.refused: list[Refused] = []
        self.blank = 0
        self.dropped = 0
        self.seen = {(row["item_id"], row["annotator_id"], row["metric"]): (place, row["score"]) for place, row in existing.labels}
        self.names: set[str] = set()  # of metrics, as the source calls them and as they are called after renaming

    # Preparing

    def _scales(self) -> dict[str, Scale]:
        own = self.table.about.get("scales", {})
        scales = {**self.rubrics, **own, **self.given.scales, **self.existing.items.scales, **self.mapping.metrics}
        self.existing.require_same_scales(scales)
        for name in self.mapping.flip:
            if name in scales:
                require_flippable(name, scales[name])
        return scales

    def _plan(self) -> Plan:
        known = self.library.task_files
        tasks = [self.mapping.task] if self.mapping.task in known else known
        texts = {field for name in tasks for field in self.library.task(str(name)).fields}
        mapping = self.given.mapping_of_labels(self.mapping, self.table.columns)
        return make_plan(self.table, mapping, self.scales, texts, self._place)

    @property
    def _place(self) -> str:
        first = self.table.records[0] if self.table.records else None
        return first.head.rstrip(":!") if first and first.letters else self.source

    def _rows(self) -> Rows:
        """Items that are known, and whether rows may bring new ones: where items were given, only if the folder is added to."""
        known = {**self.existing.items.rows, **self.given.rows}
        located = all(name in self.plan.columns or self.mapping.constant(name) is not None for name in ("language", "task"))
        closed = bool(self.options.items) or (bool(known) and not (self.options.append and located))
        if not closed and not located:
            raise UsageError(
                f"nothing says of which language and task the items of {self.source} are; give --language and --task, or --column "
                "language=COLUMN and task=COLUMN, or the items with --items"
            )
        if not closed and not known:
            self._refuse_without_texts()
        return Rows(known, self.mapping, self.library, closed=closed)

    def _refuse_without_texts(self) -> None:
        if self.mapping.task not in self.library.task_files:
            return
        task = self.library.task(str(self.mapping.task))
        needed = [name for name, field in task.fields.items() if not field.optional]
        if missing := [name for name in needed if name not in self.plan.texts]:
            shown = " ".join(f"--text {name}=COLUMN" for name in missing)
            raise ContentError(
                f"task '{task.id}' needs the texts {', '.join(needed)}; name their columns ({shown}) or give the items with --items "
                f"(the columns are: {', '.join(self.table.columns)})",
                self._place,
            )

    def _pseudonyms(self) -> Pseudonyms:
        if self.options.keep_annotators:
            return Pseudonyms(None)
        pseudonyms = Pseudonyms(read_salt(self.options.salt_file or default_salt_file(), outside=self.existing.folder))
        self.existing.require_same_salt(str(pseudonyms.fingerprint))
        return pseudonyms

    # Row by row

    def run(self) -> Imported:
        for found in labels_of(self.table, self.plan, self.mapping):
            if isinstance(found, Blank):
                self.blank += 1
                with contextlib.suppress(Refusal):  # there is no label to refuse
                    self._item(found)
            else:
                self._take(found)
        self._refuse_unused_names()
        return self._write()

    def _take(self, found: Found) -> None:
        who: str | None = None
        try:
            who = self._annotator(found.annotator)
            metric = id_text(found.metric, "metric")
            if metric in self.mapping.drop:
                self.dropped += 1
                return
            renamed = self.mapping.rename.get(metric, metric)
            self.names |= {metric, renamed}
            row = {"item_id": self._item(found), "annotator_id": who, "metric": renamed, "score": self._score(found, renamed)}
            if found.source is not None and (source := str(found.source).strip()) != self._source:
                row["source"] = source
            self._once(found, row)
            self.labels.append(row)
        except Refusal as why:
            self.refused.append(self._refusal(found, who, str(why)))

    @property
    def _source(self) -> str:
        """Where labels come from that do not say it themselves."""
        return (self.existing.about.source if self.existing.about else self.mapping.source) or "native"

    def _annotator(self, value: Any) -> str:
        if value is None and self.mapping.annotators == "aggregate":
            return "aggregate"
        return self.pseudonyms.of(id_text(value, "annotator"))

    def _item(self, found: Found | Blank) -> str:
        value = found.item_id
        item_id = value if isinstance(value, str) and value in self.rows.rows else id_text(value, "item id")
        self.rows.require(item_id, found.record, self.plan)
        return item_id

    def _score(self, found: Found, metric: str) -> Any:
        scale = self.scales.get(metric)
        if scale is None:
            raise Refusal(
                f"metric '{metric}' has no scale;{suggest(metric, self.scales)} give one (--scale {metric}=0,1,2:best=2), call it by its "
                f"name here (--rename {metric}=NAME) or leave it out (--drop {metric})"
            )
        score = read_score(found.score, scale, self.mapping.categories.get(metric))
        if not scale.holds(score):
            raise Refusal(f"'{found.score}' is mapped to {score!r}, which is not on the scale of '{metric}' ({scale.describe()})")
        return flipped(score, scale) if metric in self.mapping.flip else score

    def _once(self, found: Found, row: dict[str, Any]) -> None:
        key = (row["item_id"], row["annotator_id"], row["metric"])
        if key in self.seen:
            place, score = self.seen[key]
            same = "with the same score" if score == row["score"] else f"with {score!r}, not {row['score']!r}"
            raise Refusal(f"{key[1]} has scored '{key[2]}' of '{key[0]}' before, {same}, in {place}")
        self.seen[key] = (found.place, row["score"])

    def _refusal(self, found: Found, who: str | None, reason: str) -> Refused:
        """A refusal that can be passed on: of the row, what was looked at, with the annotator's pseudonym."""
        cells = {role: found.record.cells.get(column) for role, column in self.plan.columns.items()}
        looked_at = {**cells, "item_id": found.item_id, "metric": found.metric, "score": found.score, "annotator_id": who}
        row = {name: _plain(value) for name, value in looked_at.items() if value is not None}
        return Refused(found.place, reason, row)

    def _refuse_unused_names(self) -> None:
        """A name that occurs nowhere is a slip, and what it was to do (a reversed direction!) has not been done."""
        for flag, names in (("--rename", self.mapping.rename), ("--flip", self.mapping.flip), ("--category", self.mapping.categories)):
            for name in names:
                if name not in self.names:
                    here = ", ".join(sorted(self.names)) or "none"
                    raise UsageError(f"{flag} {name}: no label of this metric is in {self.source} (it has: {here})")

    # Writing

    def _write(self) -> Imported:
        refused = tuple(self._scrubbed(refusal) for refusal in self.refused)
        notes = self._notes()
        own = {name: scale for name, scale in self._used_scales().items() if self.rubrics.get(name) != scale}
        about = about_after(self.existing, self.mapping, self.given.about, self._annotator_kind, own, notes)
        items = self._items()
        before = self.existing.items.rows
        tables: dict[str, list[Any]] = {
            "items": [row for name, row in items.items() if name not in before],
            "labels": self.labels,
            "comments": self._comments(),
            "refused": [self._without_path(refusal) for refusal in refused],
        }
        files: dict[str, bytes] = {}
        for name, new in tables.items():
            lines = self.existing.lines(name)
            if new or (lines is None and name in ("items", "labels")):
                files[self.existing.files[name]] = (lines or b"") + to_jsonl(new)
            files.setdefault("data.toml", to_toml(about).encode())  # after the items, before the labels: cut off, the folder still loads
        write_folder(self.existing.folder, files)
        return Imported(
            rows=len(self.labels) + len(refused),
            labels=len(self.labels),
            blank=self.blank,
            left_out=self.table.left_out + self.dropped,
            refused=refused,
            items=len(items),
            annotators=len({row["annotator_id"] for row in self.labels}),
            metrics=tuple(self._used_scales()),
            folder=self.existing.folder,
            said=tuple(self._said(about)),
            notes=tuple(notes),
        )

    def _used_scales(self) -> dict[str, Scale]:
        return {row["metric"]: self.scales[row["metric"]] for row in self.labels}

    def _items(self) -> dict[str, dict[str, Any]]:
        """The items of the folder after the import: of all that is bundled, only what was labelled."""
        if self.options.items != "bundled":
            return self.rows.rows
        wanted = {row["item_id"] for row in self.labels} | self.existing.items.rows.keys()
        return {name: row for name, row in self.rows.rows.items() if name in wanted}

    def _scrubbed(self, refusal: Refused) -> Refused:
        scrub = self.pseudonyms.scrubbed
        ids = ("item_id", "annotator_id")
        row = {key: scrub(value) if isinstance(value, str) and key not in ids else value for key, value in refusal.row.items()}
        return Refused(scrub(refusal.place), scrub(refusal.reason), row)

    def _without_path(self, refusal: Refused) -> Refused:
        """As it is kept: with the source's name, and nothing of the machine on which it lay."""
        name = Path(self.source).name if Path(self.source).exists() else self.source
        return Refused(refusal.place.replace(self.source, name), refusal.reason.replace(self.source, name), refusal.row)

    @property
    def _annotator_kind(self) -> AnnotatorKind:
        return self.mapping.annotators or ("persistent" if self.table.kind in _KNOW_PEOPLE else "anonymous")

    def _notes(self) -> list[str]:
        """What was done to metrics, scores and ids, for whoever reads the data later. No name of a person, column or file is among it."""
        mapping = self.mapping
        notes = [digest_note(self.table.kind, self.source)]
        notes += [note for note in self.table.notes if " was read at commit " in note]
        notes += [f"metric '{old}' was renamed to '{new}'" for old, new in mapping.rename.items()]
        for metric, categories in mapping.categories.items():
            notes.append(f"'{metric}': " + ", ".join(f"'{name}' was mapped to {score!r}" for name, score in categories.items()))
        notes += [f"'{metric}' was flipped: scores are reversed on the scale {self.scales[metric].describe()}" for metric in mapping.flip]
        notes += [f"metric '{metric}' was left out" for metric in mapping.drop]
        notes += [f"language '{text}' was read as '{tag}'" for text, tag in self.rows.tags.items()]
        if self.refused:
            notes.append(f"{len(self.refused)} of {len(self.refused) + len(self.labels)} rows were refused; refused.jsonl holds them")
        return notes + ([salt_note(self.pseudonyms.fingerprint)] if self.pseudonyms.fingerprint else [])

    def _said(self, about: DataFolder) -> list[str]:
        """What was guessed, and what the person may want to say more exactly."""
        said = [note for note in self.table.notes if " was read at commit " not in note]
        if guessed := ", ".join(f"{role} = '{column}'" for role, column in self.plan.guessed.items() if role != column):
            said.append(f"columns were taken by their names: {guessed}; --column and --text say otherwise")
        if not self.mapping.annotators and not self.existing.about and about.annotators == "anonymous":
            said.append("annotators are taken as anonymous; where an id is one person throughout, say --annotators persistent")
        task = self.mapping.task
        if task and task not in self.library.task_files:
            near = suggest(task, self.library.task_files)
            said.append(f"task '{task}' has no description here, so that its items can be compared, not judged.{near}")
        if self.table.kind == "sheet" and not self.options.items and not self.existing.items.rows:
            said.append("a sheet does not say which items share a text; --items DATA (what it was exported from) does")
        return said

    def _comments(self) -> list[dict[str, Any]]:
        """The readers' remarks in a sheet."""
        return [
            {
                "item_id": str(c["key"]),
                "annotator_id": self.pseudonyms.of(c["annotator"]),
                "comment": self.pseudonyms.scrubbed(str(c["comment"])),
            }
            for c in self.table.about.get("comments", ())
        ]


def _plain(value: Any) -> Any:
    """A cell as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    return getattr(value, "reason", None) or str(value)
