"""Items and labels: one row schema and one loader for bundled packs and for data folders.

A data folder holds `items.jsonl`, `labels.jsonl`, where a judge's scores are at hand `judgments.jsonl` (`.gz` and Parquet too), and a
`data.toml` that says what its metrics mean. Published data without one is described by the recipe of the folder's name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from pathlib import Path
from sys import intern
from typing import Any

import msgspec

from harness.columns import Columns
from harness.content import recorded, tags
from harness.content.labels import Labels, checked_labels, first_line, read_label_rows, read_labels
from harness.content.library import Library
from harness.content.problem import line_of
from harness.content.scales import of_key, scale_complaints
from harness.content.specs import DataFolder, Shared, Task, read_spec
from harness.errors import ContentError, UsageError
from harness.model import Item, Label, Scale
from harness.tables import find_table, read_rows

_FEW = ("language", "task", "system")  # keys of which a million items have few different values
_ITEM_KEYS = ("item_id", "language", "task", "split", "group", "system", "parallel_id")


class Dataset(msgspec.Struct, frozen=True, dict=True):
    """Items with their labels and the scales that these labels are on. Order is the files' order."""

    id: str
    items: tuple[Item, ...]
    labels: Labels
    scales: dict[str, Scale]
    private: bool = False  # a user's own texts: asked for consent before they leave the machine
    judgments: recorded.Judgments | None = None  # of a data folder that brings some, if they were asked for
    about: DataFolder = DataFolder(id="bundled", source="constructed", annotators="aggregate")
    asks: Mapping[str, frozenset[str]] | None = None  # by task: metrics that every item is asked about, where labels are sealed

    @cached_property
    def sha256(self) -> str:
        """Hash of everything in items and labels that can move a number; scales without a label move none."""
        digest = hashlib.sha256()
        encode = msgspec.json.Encoder(order="sorted").encode
        for row in chain(self.items, self.labels, [[(name, self.scales[name]) for name in sorted(self.labels.metric.used)]]):
            digest.update(encode(row))
            digest.update(b"\n")
        return digest.hexdigest()

    @cached_property
    def by_id(self) -> dict[str, Item]:
        return {item.item_id: item for item in self.items}

    @cached_property
    def positions(self) -> dict[str, int]:
        """`{item_id: place among the items}`."""
        return {item.item_id: at for at, item in enumerate(self.items)}

    @cached_property
    def labelled_metrics(self) -> dict[str, frozenset[str]]:
        """`{item_id: metrics that have a label}`."""
        found: dict[str, frozenset[str]] = {}
        same: dict[frozenset[str], frozenset[str]] = {}  # a million items have few different sets
        for item, metric in zip(self.labels.item, self.labels.metric, strict=True):
            known = found.get(item, frozenset())
            if metric not in known:
                more = known | {metric}
                found[item] = same.setdefault(more, more)
        return found

    @property
    def sealed(self) -> bool:
        """Whether there are labels that are not here."""
        return self.asks is not None and not len(self.labels.of_items(self.by_id))

    @cached_property
    def asked_metrics(self) -> dict[str, frozenset[str]]:
        """`{item_id: metrics that a judge is asked about}`: those that have a label; where labels are sealed, all of the item's task."""
        if self.asks is None:
            return self.labelled_metrics
        return {item.item_id: self.asks.get(item.task, frozenset()) for item in self.items}

    def only(self, items: Iterable[Item]) -> Dataset:
        """The same data, restricted to some of its items and their labels and judgments."""
        kept = {item.item_id: item for item in items}
        judged = self.judgments and self.judgments.of_items(kept)
        return msgspec.structs.replace(self, items=tuple(kept.values()), labels=self.labels.of_items(kept), judgments=judged)


def load_bundled(library: Library, languages: Iterable[str]) -> Dataset:
    """All items and labels of the packs of `languages`. Raises ContentError with `file:line`."""
    scales = rubric_scales(library)
    items: list[Item] = []
    labels: list[Label] = []
    for tag in languages:
        for task_name, path in library.item_files(tag).items():
            own = read_items(path, {task_name: library.task(task_name)}, language=tag, task=task_name)
            items += own
            label_path = path.parent.parent / "labels" / path.name
            if label_path.is_file():
                labels += read_labels(label_path, scales, {item.item_id: item for item in own})
    _refuse_repeats(items)
    return Dataset("bundled", tuple(items), Labels.of(labels), scales)


def rubric_scales(library: Library) -> dict[str, Scale]:
    """`{metric: scale}` of all rubrics."""
    return {name: library.rubric(name).scale for name in library.rubric_files}


def about_folder(folder: Path, library: Library, recipe: str | None = None) -> DataFolder:
    """What a data folder's labels mean: `recipe`, if named, else its data.toml, else the recipe of the folder's name."""
    if recipe:
        return library.recipe(recipe)
    path = folder / "data.toml"
    if path.is_file():
        about = read_spec(path, DataFolder)
        for metric, scale in about.metrics.items():
            for message, _ in scale_complaints(scale, needs_best=False):
                raise ContentError(f"[metrics.{metric}]: {message}", path, line_of(path, of_key(metric)))
        return about
    name = folder.resolve().name
    return library.recipe(name) if name in library.recipe_files else DataFolder(id=name)


def load_folder(folder: Path, library: Library, *, recipe: str | None = None, with_judgments: bool = False) -> Dataset:
    """A user's data folder. Raises UsageError when it is none, ContentError with `file:line` for what is wrong in it."""
    if not folder.is_dir():
        raise UsageError(f"data folder {folder} is not there; it should hold items.jsonl and labels.jsonl")
    item_path = find_table(folder, "items")
    if item_path is None:
        raise ContentError("no items.jsonl (or .jsonl.gz, .parquet) in this data folder", folder)
    about = about_folder(folder, library, recipe)
    items = read_items(item_path, _tasks(library), group_key=about.group, shared=_shared_texts(folder, about.shared))
    label_path, judgment_path = find_table(folder, "labels"), find_table(folder, "judgments") if with_judgments else None
    labels = (read_label_rows(label_path), label_path) if label_path else None
    judgments = (recorded.read_rows(judgment_path), judgment_path) if judgment_path else None
    return assemble(items, labels, judgments, rubric_scales(library) | about.metrics, about)


def assemble(
    items: Iterable[Item],
    labels: tuple[Columns, Path] | None,
    judgments: tuple[Columns, Path] | None,
    scales: dict[str, Scale],
    about: DataFolder,
) -> Dataset:
    """A data set of items and of the rows of a label and a judgment table, which are checked. Raises ContentError with `file:line`."""
    known = {item.item_id: item for item in items}
    for rows, path in filter(None, (labels, judgments)):
        known |= _stand_ins(rows, path, known, about.task)
    return Dataset(
        about.id,
        tuple(known.values()),
        checked_labels(labels[0], scales, known, labels[1], source=about.source) if labels else Labels.of(()),
        scales,
        private=True,
        judgments=recorded.checked(judgments[0], scales, known, judgments[1], number_rows=about.repeats == "rows") if judgments else None,
        about=about,
    )


def _tasks(library: Library) -> dict[str, Task]:
    return {name: library.task(name) for name in library.task_files}


class _SharedTexts(msgspec.Struct, frozen=True):
    key: str
    texts: dict[str, dict[str, Any]]

    def of(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The texts that an item's row shares with others."""
        return self.texts.get(str(row.get(self.key)), {})


def _shared_texts(folder: Path, shared: Shared | None) -> _SharedTexts:
    """The texts that items share, by their key; none where the folder has no such table: its items can be compared, but not judged."""
    path = find_table(folder, shared.table) if shared else None
    if shared is None or path is None:
        return _SharedTexts("", {})
    found: dict[str, dict[str, Any]] = {}
    for line, row in read_rows(path):
        for name in (shared.key, *shared.texts):
            if not isinstance(row.get(name), str) or not row[name].strip():
                raise ContentError(f"no text '{name}' in this row, which every row of '{shared.table}' needs", path, line)
        if row[shared.key] in found:
            raise ContentError(f"'{row[shared.key]}' stands here a second time; every {shared.key} has one row", path, line)
        found[row[shared.key]] = {name: row[name] for name in shared.texts}
    return _SharedTexts(shared.key, found)


def _stand_ins(rows: Columns, path: Path, items: Mapping[str, Item], task: str) -> dict[str, Item]:
    """Items without texts for rows that bring a language of their own, because their item is not among the items."""
    if not task:
        return {}
    language = rows["language"]
    for code, tag in enumerate(language.values):
        if problem := _not_canonical(tag):
            raise ContentError(problem, path, first_line(rows, language.codes == code))
    pairs = zip(rows["item_id"], language, strict=True)
    return {name: Item(name, language, task, group=name) for name, language in dict(pairs).items() if language and name not in items}


def read_items(
    path: Path,
    tasks: Mapping[str, Task],
    *,
    language: str | None = None,
    task: str | None = None,
    group_key: str = "group",
    shared: _SharedTexts | None = None,
) -> list[Item]:
    """Items of one file. `language` and `task`, where given, are what every row must say; rows of tasks that are in `tasks` must
    have that task's texts, rows of other tasks are taken as they are (they can be compared, not judged). `group_key` names the key
    that holds the group; a row without it is its own group. `shared` are texts that stand in a table beside it; a row's own go before."""
    items: list[Item] = []
    seen: dict[str, int] = {}
    for line, row in read_rows(path):
        row = {**shared.of(row), **row} if shared else row
        known = {key: row.pop(key) for key in _ITEM_KEYS if key in row}
        known |= {key: intern(known[key]) for key in _FEW if isinstance(known.get(key), str)}
        try:
            group = (known if group_key == "group" else row).get(group_key, known.get("item_id", ""))
            item = msgspec.convert({**known, "group": group, "fields": row}, Item)
        except msgspec.ValidationError as err:
            raise ContentError(f"not an item: {err}", path, line) from None
        for problem in item_problems(item, tasks.get(item.task), language, task):
            raise ContentError(problem, path, line)
        if item.item_id in seen:
            raise ContentError(f"item_id '{item.item_id}' is also in line {seen[item.item_id]}; ids are unique", path, line)
        seen[item.item_id] = line
        items.append(item)
    return items


def item_problems(item: Item, spec: Task | None = None, language: str | None = None, task: str | None = None) -> Iterator[str]:
    """What is wrong with an item by itself, as one of `spec`, and in a file of one language and task."""
    if not item.item_id:
        yield "an empty item_id"
    if language and item.language != language:
        yield f"item '{item.item_id}' says language '{item.language}' in the pack '{language}'"
    if task and item.task != task:
        yield f"item '{item.item_id}' says task '{item.task}' in the file of '{task}'"
    if tag := _not_canonical(item.language):
        yield tag
    if spec:
        yield from text_problems(item, spec)


def _not_canonical(tag: str) -> str | None:
    try:
        right = tags.canonical(tag)
    except UsageError as err:
        return str(err)
    return None if right == tag else f"language '{tag}' is not canonical; write '{right}'"


def text_problems(item: Item, task: Task) -> Iterator[str]:
    """What keeps an item from being an item of `task`: texts that are missing or are not texts."""
    for name, field in task.fields.items():
        value = item.fields.get(name, "")
        if not isinstance(value, str):
            yield f"item '{item.item_id}': '{name}' should be a text, found {type(value).__name__}"
        elif not field.optional and not value.strip():
            yield f"item '{item.item_id}' has no '{name}', which task '{task.id}' needs"
    if task.at_least_one and not any(str(item.fields.get(name, "")).strip() for name in task.at_least_one):
        yield f"item '{item.item_id}' has none of {', '.join(task.at_least_one)}; task '{task.id}' needs one"


def _refuse_repeats(items: Iterable[Item]) -> None:
    seen: dict[str, Item] = {}
    for item in items:
        if item.item_id in seen:
            other = seen[item.item_id]
            raise ContentError(
                f"item_id '{item.item_id}' stands in {other.language}/{other.task} too; ids are unique", f"{item.language}/{item.task}"
            )
        seen[item.item_id] = item
