"""Items and labels: one row schema and one loader for bundled packs and for data folders.

A data folder holds `items.jsonl`, `labels.jsonl` (`.gz` and Parquet too) and, where the labels use metrics that no bundled
rubric defines, a `data.toml` with their scales.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from harness.content import tags
from harness.content.library import Library
from harness.content.specs import DataFolder, Task, read_spec
from harness.errors import ContentError, UsageError
from harness.model import Item, Label, Scale
from harness.tables import find_table, read_rows

_ITEM_KEYS = ("item_id", "language", "task", "split", "group", "system", "parallel_id")


class Dataset(msgspec.Struct, frozen=True, dict=True):
    """Items with their labels and the scales that these labels are on. Order is the files' order."""

    id: str
    items: tuple[Item, ...]
    labels: tuple[Label, ...]
    scales: dict[str, Scale]
    private: bool = False  # a user's own texts: asked for consent before they leave the machine

    @cached_property
    def sha256(self) -> str:
        """Hash of everything in it that can move a number."""
        rows = [*self.items, *self.labels, sorted(self.scales.items())]
        return hashlib.sha256(b"\n".join(msgspec.json.encode(row, order="sorted") for row in rows)).hexdigest()

    @cached_property
    def by_id(self) -> dict[str, Item]:
        return {item.item_id: item for item in self.items}

    @cached_property
    def labelled_metrics(self) -> dict[str, frozenset[str]]:
        """`{item_id: metrics that have a label}`."""
        found: dict[str, set[str]] = {}
        for label in self.labels:
            found.setdefault(label.item_id, set()).add(label.metric)
        return {item: frozenset(metrics) for item, metrics in found.items()}

    def only(self, items: Iterable[Item]) -> Dataset:
        """The same data, restricted to some of its items and their labels."""
        kept = tuple(items)
        ids = {item.item_id for item in kept}
        return Dataset(self.id, kept, tuple(x for x in self.labels if x.item_id in ids), self.scales, self.private)


def load_bundled(library: Library, languages: Iterable[str]) -> Dataset:
    """All items and labels of the packs of `languages`. Raises ContentError with `file:line`."""
    scales = {name: library.rubric(name).scale for name in library.rubric_files}
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
    return Dataset("bundled", tuple(items), tuple(labels), scales)


def load_folder(folder: Path, library: Library) -> Dataset:
    """A user's data folder. Raises UsageError when it is none, ContentError with `file:line` for what is wrong in it."""
    if not folder.is_dir():
        raise UsageError(f"data folder {folder} is not there; it should hold items.jsonl and labels.jsonl")
    item_path = find_table(folder, "items")
    if item_path is None:
        raise ContentError("no items.jsonl (or .jsonl.gz, .parquet) in this data folder", folder)
    about = read_spec(folder / "data.toml", DataFolder) if (folder / "data.toml").is_file() else DataFolder(id=folder.resolve().name)
    scales = {name: library.rubric(name).scale for name in library.rubric_files} | about.metrics
    items = read_items(item_path, {name: library.task(name) for name in library.task_files})
    _refuse_repeats(items)
    label_path = find_table(folder, "labels")
    by_id = {item.item_id: item for item in items}
    labels = read_labels(label_path, scales, by_id, source=about.source) if label_path else []
    return Dataset(about.id, tuple(items), tuple(labels), scales, private=True)


def read_items(path: Path, tasks: Mapping[str, Task], *, language: str | None = None, task: str | None = None) -> list[Item]:
    """Items of one file. `language` and `task`, where given, are what every row must say; rows of tasks that are in `tasks` must
    have that task's texts, rows of other tasks are taken as they are (they can be compared, not judged)."""
    items: list[Item] = []
    seen: dict[str, int] = {}
    for line, row in read_rows(path):
        known = {key: row.pop(key) for key in _ITEM_KEYS if key in row}
        try:
            item = msgspec.convert({"group": known.get("item_id", ""), **known, "fields": row}, Item)
        except msgspec.ValidationError as err:
            raise ContentError(f"not an item: {err}", path, line) from None
        for problem in _item_problems(item, tasks.get(item.task), language, task):
            raise ContentError(problem, path, line)
        if item.item_id in seen:
            raise ContentError(f"item_id '{item.item_id}' is also in line {seen[item.item_id]}; ids are unique", path, line)
        seen[item.item_id] = line
        items.append(item)
    return items


def _item_problems(item: Item, spec: Task | None, language: str | None, task: str | None) -> Iterator[str]:
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


def read_labels(path: Path, scales: Mapping[str, Scale], items: Mapping[str, Any], *, source: str = "native") -> list[Label]:
    """Labels of one file, each of an item in `items` and on its metric's scale."""
    labels: list[Label] = []
    seen: dict[tuple[str, str, str], int] = {}
    for line, row in read_rows(path):
        try:
            label = msgspec.convert({"source": source, **row}, Label)
        except msgspec.ValidationError as err:
            raise ContentError(f"not a label: {err}", path, line) from None
        if label.item_id not in items:
            raise ContentError(f"a label of item '{label.item_id}', which is not among the items", path, line)
        scale = scales.get(label.metric)
        if scale is None:
            raise ContentError(
                f"metric '{label.metric}' has no scale; add [metrics.{label.metric}] to data.toml or a rubric (known: {', '.join(scales)})",
                path,
                line,
            )
        if not scale.holds(label.score):
            raise ContentError(f"score {label.score!r} is outside the scale of '{label.metric}' ({scale.describe()})", path, line)
        key = (label.item_id, label.annotator_id, label.metric)
        if key in seen:
            raise ContentError(
                f"annotator '{label.annotator_id}' has already scored '{label.metric}' of '{label.item_id}' in line {seen[key]}", path, line
            )
        seen[key] = line
        labels.append(label)
    return labels


def _refuse_repeats(items: Iterable[Item]) -> None:
    seen: dict[str, Item] = {}
    for item in items:
        if item.item_id in seen:
            other = seen[item.item_id]
            raise ContentError(
                f"item_id '{item.item_id}' stands in {other.language}/{other.task} too; ids are unique", f"{item.language}/{item.task}"
            )
        seen[item.item_id] = item
