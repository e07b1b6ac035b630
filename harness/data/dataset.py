"""Items and labels: one row schema and one loader for language packs and data folders.

A data folder holds `items.jsonl`, `labels.jsonl`, optionally `judgments.jsonl` (`.gz` and Parquet too), and a `data.toml` that says
what its metrics mean. A folder of published data without a `data.toml` is described by the dataset card of the same name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, islice
from pathlib import Path
from sys import intern
from typing import Any

import msgspec
import numpy as np

from harness.content import tags
from harness.content.library import Library, item_files
from harness.content.problems import key_pattern, line_of, scale_complaints
from harness.content.specs import Board, DatasetCard, Pack, Shared, Task, read_spec
from harness.conversations import as_text, turns_of
from harness.data.columns import CodedColumn, Columns
from harness.data.folders import data_home, data_toml, located, write_folder
from harness.data.further_tables import AttentionCheck, SecondSpans, judgments_of_errors, labels_of_errors, read_checks, read_second_spans
from harness.data.judgments import UNCHANGED, Judgments, checked_judgments, read_judgment_rows
from harness.data.labels import Labels, checked_labels, first_line, read_label_rows, read_labels
from harness.data.same_texts import first_copies
from harness.errors import ContentError, HarnessError, StoreError, UsageError, refuse_faults
from harness.model import CONDITION, Item, Label, Scale
from harness.offensive_texts import without_quotations
from harness.row_files import find_table, read_rows, to_jsonl
from harness.text import in_nfc, short_repr

_FEW_VALUES = ("language", "task", "system")  # keys with few distinct values among a million items
_USUAL_OUTPUTS = (("output",), ("output_a", "output_b"))  # of a single text, and of a pair
_ITEMS_AT_A_TIME = 1 << 10
ITEM_KEYS = ("item_id", "language", "task", "split", "group", "system", "parallel_id")

_STATED = (*CONDITION, *UNCHANGED, "repeat", "score", "failure", "raw_choice", "expected", "entropy")
_ITEM_KEYS = tuple(name for name in Item.__struct_fields__ if name != "fields")


class Dataset(msgspec.Struct, frozen=True, dict=True):
    """Items with their labels and the scales of these labels, in the order of the files."""

    id: str
    items: tuple[Item, ...]
    labels: Labels
    scales: dict[str, Scale]
    private: bool = False  # a user's own texts: they leave the machine only with consent
    judgments: Judgments | None = None  # of a data folder, if it has some and they were requested
    about: DatasetCard = DatasetCard(id="bundled", source="constructed", annotators="aggregate")
    second: Labels | None = None  # ratings of a second round: of further people, see `further_people`, and people's own repeats
    second_spans: SecondSpans | None = None  # errors that people marked in some texts in a second round, without scores
    checks: tuple[AttentionCheck, ...] = ()  # damaged texts of some items, with people's scores
    asks: Mapping[str, frozenset[str]] | None = None  # with sealed labels: by task, the metrics that every item is asked about
    outputs: Mapping[str, tuple[str, ...]] = {}  # by task, the names of the texts that are judged, where they are not the usual ones
    label_scales: Mapping[str, Scale] = {}  # of metrics whose labels are on another scale than judges' answers: only order is compared

    def __repr__(self) -> str:
        judged = {} if self.judgments is None else {"judgments": len(self.judgments)}
        scored = {*self.labels.metric.used, *(self.judgments.metric.used if self.judgments is not None else ())}
        return short_repr(self, self.id, items=len(self.items), labels=len(self.labels), metrics=len(scored or self.scales), **judged)

    @cached_property
    def sha256(self) -> str:
        """Hash of everything in items and labels that can move a number. Scales without labels move none."""
        digest = hashlib.sha256()
        encode = msgspec.json.Encoder(order="sorted").encode_lines
        scales = [(name, self.scales[name].hashed) for name in sorted(self.labels.metric.used)]
        other_scales = [sorted((name, scale.hashed) for name, scale in self.label_scales.items())] if self.label_scales else []
        second = () if self.second is None else self.second.json_lines()
        items = (encode(self.items[start : start + _ITEMS_AT_A_TIME]) for start in range(0, len(self.items), _ITEMS_AT_A_TIME))
        for lines in chain(items, self.labels.json_lines(), [encode([scales])], second, [encode(other_scales)]):
            digest.update(lines)
        return digest.hexdigest()

    @cached_property
    def by_id(self) -> dict[str, Item]:
        return {item.item_id: item for item in self.items}

    @cached_property
    def positions(self) -> dict[str, int]:
        """Return `{item_id: index among the items}`."""
        return {item.item_id: index for index, item in enumerate(self.items)}

    @cached_property
    def item_columns(self) -> Mapping[str, CodedColumn]:
        """Return `{key of items: its value for each item (items,)}`, for every key of ITEM_KEYS; a column is made when it is first read."""
        return _ItemColumns(self.items)

    @cached_property
    def clusters(self) -> CodedColumn:
        """Return the independent cluster of each item (items,): its group, or the first group that equal texts of its language join.

        Intervals and tests rest on it. Two groups that are joined in one language stay apart in others.
        """
        groups = [item.group for item in self.items]
        joined: dict[tuple[str, str], str] = {}  # a group of a language -> an earlier one, or none if it is the first

        def first(language: str, group: str) -> str:
            path = [group]
            while (language, path[-1]) in joined:
                path.append(joined[language, path[-1]])
            joined.update(((language, name), path[-1]) for name in path[:-1])
            return path[-1]

        for position, earlier in first_copies(self.items, self.outputs_of):
            language = self.items[position].language
            first_group, other_group = first(language, groups[earlier]), first(language, groups[position])
            if first_group != other_group:
                joined[language, other_group] = first_group
        if joined:
            groups = [first(item.language, group) for item, group in zip(self.items, groups, strict=True)]
        return CodedColumn.from_values(groups)

    @cached_property
    def labelled_metrics(self) -> dict[str, frozenset[str]]:
        """Return `{item_id: metrics with a label}`."""
        item, metric = self.labels.item, self.labels.metric
        pairs = np.unique(item.codes.astype(np.int64) * max(len(metric.values), 1) + metric.codes)
        metrics: dict[str, frozenset[str]] = {}
        distinct_sets: dict[frozenset[str], frozenset[str]] = {}  # a million items share a few sets
        for of_item, of_metric in zip(*(codes.tolist() for codes in np.divmod(pairs, max(len(metric.values), 1))), strict=True):
            extended = metrics.get(item.values[of_item], frozenset()) | {metric.values[of_metric]}
            metrics[item.values[of_item]] = distinct_sets.setdefault(extended, extended)
        return metrics

    @cached_property
    def most_annotators(self) -> int:
        """Return the highest number of labels of one item on one metric; on metrics that are made of marked errors only without others."""
        from_errors = self.labels.metric.among(self.about.penalties)
        return (self.labels if from_errors.all() or not from_errors.any() else self.labels.take(~from_errors)).max_annotators

    @cached_property
    def further_people(self) -> Labels:
        """Return the ratings of a second round by people who had not scored the item on the metric, the first one of each person.

        None where the card says that nobody knows who gave them (`second_ratings_by`).
        """
        if self.second is None or self.about.second_ratings_by == "unknown":
            return Labels.from_rows(())
        rated = set(zip(self.labels.item, self.labels.metric, self.labels.annotator, strict=True))
        annotator_labels = []
        for row, rating in enumerate(zip(self.second.item, self.second.metric, self.second.annotator, strict=True)):
            if rating not in rated:
                rated.add(rating)
                annotator_labels.append(row)
        return self.second.take(np.array(annotator_labels, np.int64))

    def outputs_of(self, item: Item) -> tuple[str, ...]:
        """Return the names of the texts of an item that are judged: one, or the two of a pair."""
        return self.outputs.get(item.task) or _USUAL_OUTPUTS["output_a" in item.fields]

    def label_scale(self, metric: str) -> Scale:
        """Return the scale of the labels on a metric."""
        return self.label_scales.get(metric) or self.scales[metric]

    @property
    def sealed(self) -> bool:
        """Return True if the labels are sealed and not loaded."""
        return self.asks is not None and not len(self.labels.for_items(self.by_id))

    @cached_property
    def asked_metrics(self) -> dict[str, frozenset[str]]:
        """Return `{item_id: metrics that a judge is asked about}`: those with a label, or with sealed labels all of the item's task."""
        if self.asks is None:
            return self.labelled_metrics
        return {item.item_id: self.asks.get(item.task, frozenset()) for item in self.items}

    def save(self, folder: Path | str) -> Path:
        """Write a new data folder, all or nothing, and return its path; `harness.load` reads the same data set from it.

        Of the probabilities of a judge's answers, those are written that numbers are made of: of the score that was given, and of pairs
        the share of the first text.

        Raises:
            UsageError: if the folder exists and is not empty, and for second ratings, marked errors of a second round and attention checks.
            ContentError: for what a data folder cannot hold.  StoreError: if it cannot be written.
        """
        save_dataset(self, Path(folder), lambda path: load_folder(path, Library(), with_judgments=True))
        return Path(folder)

    def only(self, items: Iterable[Item]) -> Dataset:
        """Return the data of some items: these items with their labels and judgments."""
        by_id = {item.item_id: item for item in items}
        return msgspec.structs.replace(
            self,
            items=tuple(by_id.values()),
            labels=self.labels.for_items(by_id),
            judgments=self.judgments and self.judgments.for_items(by_id),
            second=self.second and self.second.for_items(by_id),
            second_spans=self.second_spans and self.second_spans.for_items(by_id),
            checks=tuple(check for check in self.checks if check.original_item_id in by_id),
        )


class _ItemColumns(dict[str, CodedColumn]):
    def __init__(self, items: Sequence[Item]) -> None:
        super().__init__()
        self._items = items

    def __missing__(self, name: str) -> CodedColumn:
        column = self[name] = CodedColumn.from_values(getattr(item, name) for item in self._items)
        return column


def load_bundled(library: Library, languages: Iterable[str], board: Board | None = None) -> Dataset:
    """Return all items and labels of the packs of `languages`: the languages' own ones, or those that a board is frozen on.

    Raises ContentError with `file:line`.
    """
    packs = {tag: library.pack_path(tag, board) if board else library.pack_files[tag] for tag in languages}
    return _of_packs({tag: pack for tag, pack in packs.items() if pack}, library)


def load_bundled_pack(library: Library, name: str) -> Dataset:
    """Return all items and labels of the packs of one name, such as `models`, in all languages. Raises ContentError with `file:line`."""
    pack_files = {key.partition("/")[0]: path for key, path in library.further_pack_files.items() if key.partition("/")[2] == name}
    return _of_packs(pack_files, library)


def _of_packs(packs: Mapping[str, Path], library: Library) -> Dataset:
    """Return the items and labels of one pack a language: `{tag: its pack.toml}`."""
    scales = rubric_scales(library)
    items: list[Item] = []
    labels: list[Label] = []
    for tag, pack in packs.items():
        for task, path in item_files(pack).items():
            of_task = read_items(path, {task: library.task(task)}, language=tag, task=task)
            label_path = path.parent.parent / "labels" / path.name
            labels += read_labels(label_path, scales, {item.item_id: item for item in of_task}) if label_path.is_file() else ()
            items += of_task
    by_id: dict[str, Item] = {}
    for item in items:
        other = by_id.setdefault(item.item_id, item)
        if other is not item:
            raise ContentError(
                f"item_id '{item.item_id}' is also in {other.language}/{other.task}; ids are unique", f"{item.language}/{item.task}"
            )
    outputs = _unusual_outputs({name: library.task(name) for name in {item.task for item in items}})
    return Dataset("bundled", tuple(items), Labels.from_rows(labels), scales, outputs=outputs)


def _unusual_outputs(tasks: Mapping[str, Task]) -> dict[str, tuple[str, ...]]:
    return {name: task.outputs for name, task in tasks.items() if task.outputs not in _USUAL_OUTPUTS}


def rubric_scales(library: Library) -> dict[str, Scale]:
    """Return `{metric: scale}` of all rubrics."""
    return {name: library.rubric(name).scale for name in library.rubric_files}


def card_of_folder(folder: Path, library: Library, card: str | None = None) -> DatasetCard:
    """Return the dataset card of a data folder: the one named `card`, else its data.toml, else the card with the name of the folder.

    A data.toml that somebody put into what `harness data get` wrote does not count: the folder is called by the published set's name.
    """
    name = folder.resolve().name
    if card or (name in library.dataset_card_files and folder.resolve() == (data_home() / name).resolve()):
        return library.dataset_card(card or name)
    path = folder / "data.toml"
    if path.is_file():
        about = read_spec(path, DatasetCard)
        for metric, scale in about.metrics.items():
            for message, _ in scale_complaints(scale, needs_best=False):
                raise ContentError(f"[metrics.{metric}]: {message}", path, line_of(path, key_pattern(metric)))
        return about
    return library.dataset_card(name) if name in library.dataset_card_files else DatasetCard(id=name)


def load_folder(folder: Path, library: Library, *, card: str | None = None, with_judgments: bool = False) -> Dataset:
    """Read a data folder, or a language pack (a folder with `pack.toml`).

    The name of a published set means the folder that `harness data get` wrote, unless a folder of this name is here.

    Raises UsageError when it does not exist, ContentError with `file:line` for what is wrong in it.
    """
    folder = located(folder, library)
    if not folder.is_dir():
        raise UsageError(f"data folder {folder} does not exist; it should hold items.jsonl and labels.jsonl")
    item_path = find_table(folder, "items")
    if item_path is None and (folder / "pack.toml").is_file():
        # A language pack as a data set of its own, so that a new pack can be run before a board is frozen on it.
        pack = folder / "pack.toml"
        tag = read_spec(pack, Pack).tag
        if not item_files(pack):
            raise UsageError(f"the language pack {folder} has no items yet; CONTRIBUTING.md says how to write them")
        about = DatasetCard(id=tag, source="constructed", annotators="aggregate")
        return msgspec.structs.replace(_of_packs({tag: pack}, library), id=tag, private=True, about=about)
    if item_path is None:
        raise ContentError("no items.jsonl (or .jsonl.gz, .parquet) in this data folder", folder)
    about = card_of_folder(folder, library, card)
    try:
        texts, column = _shared_texts(folder, about.shared), about.asked.column
        # Every task by its name, and by the name that the data have for it.
        our_tasks = {name: library.task(name) for name in library.task_files}
        tasks = our_tasks | {their_name: our_tasks[our_name] for their_name, our_name in about.tasks.items() if our_name in our_tasks}
        items = read_items(item_path, tasks, group_key=about.group, shared=texts, asked_column=column)
        # Where no item has the key that says which judges were asked, its name is probably misspelt.
        if column and not any(column in item.fields for item in items):
            card_file = folder / "data.toml"
            raise ContentError(
                f"no item has the key '{column}', which [asked] names as its column", card_file, line_of(card_file, r"^column")
            )
        label_path, judgment_path = find_table(folder, "labels"), find_table(folder, "judgments") if with_judgments else None
        labels = (read_label_rows(label_path), label_path) if label_path else None
        judgments = (read_judgment_rows(judgment_path), judgment_path) if judgment_path else None
        dataset = assemble(items, labels, judgments, rubric_scales(library) | about.metrics, about)
        changes: dict[str, Any] = {"outputs": _unusual_outputs(tasks)}
        if path := find_table(folder, "attention_checks"):
            changes["checks"] = read_checks(path, dataset.by_id, dataset.scales)
        if path := find_table(folder, "second_spans"):
            changes["second_spans"] = read_second_spans(path, dataset.by_id)
        if path := find_table(folder, "second_ratings"):
            rows = read_label_rows(path)
            changes["second"] = checked_labels(rows, path, dataset.scales, dataset.by_id, source=about.source, repeated=True)
        loaded = msgspec.structs.replace(dataset, **changes)
        return _with_penalties(loaded) if with_judgments else loaded  # a run asks about no metric that is made of errors
    except ContentError as err:
        if about.offensive:  # a message may quote a row
            err.args = (without_quotations(str(err), own_words(library)),)
        raise


def own_words(library: Library) -> set[str]:
    """Names that are quoted and are nobody's text: tasks, their fields and metrics."""
    fields = (name for task in library.task_files for name in library.task(task).fields)
    return {*library.task_files, *library.rubric_files, *fields, "language", "task", "score", "metric", "group", "system"}


def _with_penalties(data: Dataset) -> Dataset:
    """Add the labels and judgments on the metrics that the card makes of marked errors."""
    for metric, rule in data.about.penalties.items():
        scale, judgments = data.scales[metric], data.judgments
        penalties = labels_of_errors(data.labels, data.second_spans, metric, rule, scale, data.about.source)
        if judgments is not None:
            judgments = Judgments.concatenate([judgments, judgments_of_errors(judgments, metric, rule, scale)])
        data = msgspec.structs.replace(data, labels=Labels.concatenate([data.labels, penalties]), judgments=judgments)
    return data


def assemble(
    items: Iterable[Item],
    labels: tuple[Columns, Path] | None,
    judgments: tuple[Columns, Path] | None,
    scales: dict[str, Scale],
    about: DatasetCard,
) -> Dataset:
    """Make a data set from items and the rows of label and judgment tables. Raises ContentError with `file:line` for wrong rows."""
    by_id = {item.item_id: item for item in items}
    of_items = set(by_id)  # what the items say goes before what labels and judgments say of their language
    for rows, path in filter(None, (labels, judgments) if about.task else ()):
        # Items without texts, for rows that name a language because their item is missing from the items. Raises ContentError for a tag
        # that is none, and for an item that rows give two languages, here or in an earlier table (`known`).
        language = rows["language"]
        faults = [
            (first_line(rows, language.codes == code), problem)
            for code, tag in enumerate(language.values)
            if (problem := _tag_problem(tag))
        ]
        tags_of = {name: item.language for name, item in by_id.items() if name not in of_items}
        for row, (name, tag) in enumerate(zip(rows["item_id"], language, strict=True)):
            if tag and (earlier := tags_of.setdefault(name, tag)) != tag:
                problem = f"language '{tag}' of item '{name}' is '{earlier}' in an earlier row; an item has one language"
                faults.append((int(rows.lines[row]), problem))
        refuse_faults(faults, path)
        placeholders = {name: Item(name, tag, about.task, group=name) for name, tag in tags_of.items() if name not in by_id}
        by_id |= placeholders
    return Dataset(
        about.id,
        tuple(by_id.values()),
        checked_labels(*labels, scales, by_id, source=about.source) if labels else Labels.from_rows(()),
        scales,
        private=True,
        judgments=checked_judgments(*judgments, scales, by_id, number_rows=about.repeats == "rows") if judgments else None,
        about=about,
    )


class _SharedTexts(msgspec.Struct, frozen=True):
    key: str
    texts: dict[str, dict[str, Any]]

    def texts_for(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the shared texts of an item's row."""
        return self.texts.get(str(row.get(self.key)), {})


def _shared_texts(folder: Path, shared: Shared | None) -> _SharedTexts:
    """Return the shared texts by key. Empty if the folder has no such table: its items can then be compared, but not judged."""
    path = find_table(folder, shared.table) if shared else None
    if shared is None or path is None:
        return _SharedTexts("", {})
    texts: dict[str, dict[str, Any]] = {}
    for line, row in read_rows(path):
        for name in (shared.key, *shared.texts):
            if not isinstance(row.get(name), str) or not row[name].strip():
                raise ContentError(f"no text '{name}' in this row; every row of '{shared.table}' needs it", path, line)
        if row[shared.key] in texts:
            raise ContentError(f"'{row[shared.key]}' occurs a second time; every {shared.key} has one row", path, line)
        texts[row[shared.key]] = {name: row[name] for name in shared.texts}
    return _SharedTexts(shared.key, texts)


def read_items(
    path: Path,
    tasks: Mapping[str, Task],
    *,
    language: str | None = None,
    task: str | None = None,
    group_key: str = "group",
    shared: _SharedTexts | None = None,
    asked_column: str = "",
) -> list[Item]:
    """Return items of one file. Raises ContentError with `file:line` for the wrong rows.

    Args:
        path: the file.
        tasks: rows of these tasks must have the task's texts. Rows of other tasks need none; they can be compared, but not judged.
        language, task: those that every row must have, if given.
        group_key: the key with the group; a row without it is a group of its own.
        shared: texts from a table beside the items; the texts of the row itself take precedence.
        asked_column: the key that says which judges were shown an item.
    """
    items: list[Item] = []
    faults: list[tuple[int, str]] = []
    line_of_id: dict[str, int] = {}
    for line, row in read_rows(path):
        row = {**shared.texts_for(row), **row} if shared else row
        keys = {key: in_nfc(row.pop(key)) for key in ITEM_KEYS if key in row}
        keys |= {key: intern(keys[key]) for key in _FEW_VALUES if isinstance(keys.get(key), str)}
        try:
            group = in_nfc((keys if group_key == "group" else row).get(group_key, keys.get("item_id", "")))
            shown = tasks[keys["task"]].fields if isinstance(keys.get("task"), str) and keys["task"] in tasks else {}
            row = {name: _text_of_list(value, name in shown) if isinstance(value, list) else value for name, value in row.items()}
            item = msgspec.convert({**keys, "group": group, "fields": row}, Item)
        except msgspec.ValidationError as err:
            faults.append((line, f"not an item: {err}"))
            continue
        spec = tasks.get(item.task)
        if spec and spec.id != item.task and not any(row.get(name) for name in spec.outputs):
            spec = None  # a release may have empty texts: they can be compared, and nobody is asked about them
        problems = chain(item_problems(item, spec, language, task), _asked_problems(item, asked_column))
        faults += ((line, problem) for problem in islice(problems, 1))
        if item.item_id in line_of_id:
            faults.append((line, f"item_id '{item.item_id}' is also in line {line_of_id[item.item_id]}; ids are unique"))
        line_of_id[item.item_id] = line
        items.append(item)
    refuse_faults(faults, path)
    return items


def _asked_problems(item: Item, column: str) -> Iterator[str]:
    value = item.fields.get(column)
    lists_judges = isinstance(value, list) and all(isinstance(name, str) for name in value)
    if not (value is None or isinstance(value, bool) or lists_judges):
        yield f"'{column}' of item '{item.item_id}' should be true, false or a list of judges' names, as [asked] says; found {value!r}"


def item_problems(item: Item, spec: Task | None = None, language: str | None = None, task: str | None = None) -> Iterator[str]:
    """Yield what is wrong with an item: by itself, as an item of the task `spec`, and in a file of one language and task."""
    if not item.item_id:
        yield "an empty item_id"
    if language and item.language != language:
        yield f"item '{item.item_id}' says language '{item.language}' in the pack '{language}'"
    if task and item.task != task:
        yield f"item '{item.item_id}' says task '{item.task}' in the file of '{task}'"
    if problem := _tag_problem(item.language):
        yield problem
    if spec:
        yield from text_problems(item, spec)


def _text_of_list(value: list[Any], is_shown: bool) -> Any:
    r"""Return messages as a text; so too a list of texts that a task shows, a line for each. Any other list stays as it is.

    >>> _text_of_list(["No.", "Nobody\nknows."], True)
    '- No.\n- Nobody knows.'
    >>> _text_of_list(["fr", "de"], False)
    ['fr', 'de']
    """
    text = as_text(value)
    if is_shown and value and isinstance(text, list) and all(isinstance(line, str) for line in value):
        return "\n".join(f"- {' '.join(line.split())}" for line in value)
    return text


@lru_cache(maxsize=256)
def _tag_problem(tag: str) -> str | None:
    try:
        tags.require_canonical(tag)
    except UsageError as err:
        return str(err)
    return None


def text_problems(item: Item, task: Task) -> Iterator[str]:
    """Yield which texts an item of `task` lacks, which of its values are not texts, and what is wrong with the languages of its texts."""
    for name, field in task.fields.items():
        value = item.fields.get(name, "")
        if not isinstance(value, str):
            messages = ", a list of texts, or a list of messages with role and content" if isinstance(value, list) else ""
            yield f"item '{item.item_id}': '{name}' should be a text{messages}, found {type(value).__name__}"
        elif not field.optional and not value.strip():
            yield f"item '{item.item_id}' has no '{name}', which task '{task.id}' needs"
        elif field.turns and value and not turns_of(value):
            yield f"item '{item.item_id}': '{name}' should be a list of messages with role and content; it is a text without turns"
    if task.at_least_one and not any(str(item.fields.get(name, "")).strip() for name in task.at_least_one):
        yield f"item '{item.item_id}' has none of {', '.join(task.at_least_one)}; task '{task.id}' needs one"
    # What is wrong with the keys of an item that name the languages of its texts.
    for key in task.language_keys[1:]:
        tag, texts = item.fields.get(key), ", ".join(name for name, field in task.fields.items() if field.language == key)
        if not isinstance(tag, str) or not tag.strip():
            yield f"item '{item.item_id}' has no '{key}', which task '{task.id}' needs: the language of {texts}, such as en"
        elif problem := _tag_problem(tag):
            yield f"'{key}' of item '{item.item_id}': {problem}"
        elif tag == item.language:
            yield (
                f"item '{item.item_id}' has the same language twice: '{key}' and 'language' are both '{tag}'; "
                f"in task '{task.id}' they differ"
            )


def save_dataset(data: Dataset, folder: Path, load: Callable[[Path], Dataset]) -> None:
    """Write items, labels, judgments and `data.toml` into a new folder, all or nothing.

    `load` reads a data folder: what it reads of the files has to be the same before they are in place. Raises as `Dataset.save`.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists; choose a new folder")
    parts = {"second ratings": data.second, "errors of a second round": data.second_spans, "attention checks": data.checks}
    if parts_held := [name for name, part in parts.items() if part]:
        raise UsageError(f"'{data.id}' has {', '.join(parts_held)}, which are not written; copy its folder instead")
    used = {*data.labels.metric.used, *(data.judgments.metric.used if data.judgments is not None else ())}
    about = msgspec.structs.replace(data.about, metrics={name: data.scales[name] for name in sorted(used)}, group="group", shared=None)
    items = ({key: value for key in _ITEM_KEYS if (value := getattr(item, key)) is not None} | item.fields for item in data.items)
    files = {"data.toml": data_toml(about).encode(), "items.jsonl": to_jsonl(items), "labels.jsonl": to_jsonl(_label_rows(data))}
    if data.judgments is not None:
        files["judgments.jsonl"] = to_jsonl(_judgment_rows(data.judgments))

    def check(staged: Path) -> None:
        read = load(staged)
        if read.sha256 != data.sha256 or _values(read.judgments) != _values(data.judgments):
            raise ContentError("this data set holds what a data folder cannot hold, so it would not read back as the same", data.id)

    write_folder(folder, files, check)


def _values(judgments: Judgments | None) -> dict[str, list[Any]]:
    return {} if judgments is None else {name: list(column) for name, column in judgments.columns.items()}


def _label_rows(data: Dataset) -> Iterator[dict[str, Any]]:
    columns = (data.labels.spans, data.labels.blind)
    for label, spans, blind in zip(data.labels, *columns, strict=True):
        tables = {"spans": spans, "blind": blind}
        yield msgspec.structs.asdict(label) | {name: value for name, value in tables.items() if value is not None}


def _judgment_rows(judgments: Judgments) -> Iterator[dict[str, Any]]:
    columns = [judgments.columns[name] for name in _STATED]
    further_columns = (judgments.item, judgments.metric, judgments.probs, judgments.spans)
    for item, metric, probs, spans, *values in zip(*further_columns, *columns, strict=True):
        stated = dict(zip(_STATED, values, strict=True))
        stated |= {"probs": probs and msgspec.json.decode(probs), "spans": spans}
        yield {"item_id": item, "metric": metric} | {name: value for name, value in stated.items() if value is not None}


TABLES = ("items", "labels", "second_ratings", "judgments")


def read_back(folder: Path, library: Library, rows: Mapping[str, int]) -> Callable[[Path], None]:
    """Return the check of a `write_folder` to `folder`: it loads what is staged, whose tables need these numbers of `rows`.

    Tables that are not in `rows` may hold any number; judgments are read only if they are in it. The check raises StoreError with what is
    wrong and where it would be in `folder`.
    """

    def check(staged: Path) -> None:
        try:
            data = load_folder(staged, library, with_judgments="judgments" in rows)
            for name, part in zip(TABLES, (data.items, data.labels, data.second, data.judgments), strict=True):
                loaded = len(part) if part is not None else 0
                if loaded != rows.get(name, loaded):
                    raise ContentError(f"'{name}' has {loaded:,} rows, not the {rows[name]:,} that were to be written", staged)
        except HarnessError as err:
            reason = str(err).replace(str(staged), str(folder))
            raise StoreError(f"{folder} is as it was before, as what was to be written there cannot be read again: {reason}") from None

    return check
