"""Checks of the items and labels of language packs: groups, splits, ids, and labels for every test item."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.authoring.parsed_content import PackTable, ParsedContent, tables_of
from harness.content.problems import Problem
from harness.content.specs import Task
from harness.model import Item, Score
from harness.row_files import read_rows


def table_problems(content: ParsedContent) -> Iterator[Problem]:
    """Yield the faults of the items and labels of all language packs."""
    library = content.library
    for pack in (*library.pack_files.values(), *library.further_pack_files.values()):
        yield from _unread_files(pack.parent)
        yield from _leaked_groups(table for table in content.tables if table.pack == pack and table.items is not None)
    for table in content.tables:
        if table.task not in library.task_files:
            task_names = ", ".join(library.task_files)
            yield Problem(table.path, None, f"items of task '{table.task}', which does not exist; choose from: {task_names}")
        yield from _item_problems(table)
        yield from _contradictions(table, content.tasks.get(table.task))
        yield from _label_problems(table, content.tasks.get(table.task), _sealed_items(table, content))
    yield from _repeated_ids(content.tables)


def _unread_files(pack: Path) -> Iterator[Problem]:
    for path in sorted([*pack.glob("items/[!.]*"), *pack.glob("labels/[!.]*")]):
        if path.suffix != ".jsonl":
            yield Problem(path, None, "nothing reads this file; the items and labels of a pack are in <task>.jsonl")
        elif path.parent.name == "labels" and not (pack / "items" / path.name).is_file():
            yield Problem(path, None, f"labels without items; {pack.name}/items/{path.name} is missing")


def _repeated_ids(tables: Iterable[PackTable]) -> Iterator[Problem]:
    first: dict[str, PackTable] = {}
    for table in tables:
        for item in table.items or ():
            if first.setdefault(item.item_id, table) is not table:
                other = f"{first[item.item_id].tag}/{first[item.item_id].task}"
                yield table.problem(item.item_id, f"item_id '{item.item_id}' is also in {other}; ids are unique across packs")


def _leaked_groups(tables: Iterable[PackTable]) -> Iterator[Problem]:
    """Groups that are both in dev and in test. Few-shot examples (dev) would reveal texts that the judge is tested on."""
    first: dict[str, Item] = {}
    for table in tables:
        for item in table.items or ():
            other = first.setdefault(item.group, item)
            if other.split != item.split:
                first[item.group] = item  # one problem where the split changes, not one per item
                splits = f"in {other.split} ('{other.item_id}') and in {item.split} ('{item.item_id}')"
                yield table.problem(item.item_id, f"group '{item.group}' is {splits}; a group belongs to one split")


def _item_problems(table: PackTable) -> Iterator[Problem]:
    groups: dict[str, str] = {}
    for item in table.items or ():
        for name, value in {"item_id": item.item_id, "group": item.group, **item.fields}.items():
            if isinstance(value, str) and not unicodedata.is_normalized("NFC", value):
                yield table.problem(item.item_id, f"'{name}' of '{item.item_id}' is not in Unicode form NFC; save it in NFC (composed)")
        if item.parallel_id and groups.setdefault(item.parallel_id, item.group) != item.group:
            group_names = f"'{groups[item.parallel_id]}' and '{item.group}'"
            groups[item.parallel_id] = item.group  # one problem where the group changes, not one per item
            yield table.problem(
                item.item_id, f"parallel_id '{item.parallel_id}' has the groups {group_names}; one group per language and task"
            )


def _contradictions(table: PackTable, task: Task | None) -> Iterator[Problem]:
    """Items with the same texts whose constructed labels differ: one construction changed nothing, or the labels of one are wrong."""
    if table.items is None or table.labels is None or task is None:
        return
    texts = {item.item_id: tuple(item.fields.get(name) for name in task.fields) for item in table.items}
    first: dict[tuple[object, ...], tuple[str, Score]] = {}
    said: set[tuple[str, str]] = set()
    for label in table.labels:
        if label.source != "constructed":
            continue
        other, score = first.setdefault((label.metric, *texts[label.item_id]), (label.item_id, label.score))
        if score != label.score and (other, label.item_id) not in said:
            said.add((other, label.item_id))
            yield table.problem(
                label.item_id,
                f"'{label.item_id}' has the same texts as '{other}', but '{label.metric}' is {label.score} here and {score} there; change "
                "one of the texts, so that its construction shows",
            )


def _sealed_items(table: PackTable, content: ParsedContent) -> set[str]:
    sealed = [board for board in content.boards.values() if board.sealed and table.task in board.tasks]
    boards = [board for board in sealed if any(table is board_table for board_table in tables_of(board, content))]
    return {
        item.item_id
        for board in boards
        for item in table.items or ()
        if (item.item_id in board.items.get(table.tag, ()) if board.items else item.split == "test")
    }


def _label_problems(table: PackTable, task: Task | None, sealed: set[str]) -> Iterator[Problem]:
    if table.items is None or table.labels is None:
        return
    unsealed = [item for item in table.items if item.split == "test" and item.item_id not in sealed]
    if not table.label_path.is_file() and unsealed:
        yield Problem(
            table.label_path, None, f"no labels for the items of {table.tag}/{table.task}; without labels they cannot be compared"
        )
        return
    labelled = {label.item_id for label in table.labels}
    for item in unsealed:
        if item.item_id not in labelled:
            yield table.problem(item.item_id, f"test item '{item.item_id}' has no label; label it, or make it a dev item")
    if task:
        for metric in sorted({label.metric for label in table.labels} - set(task.metrics)):
            line = next(line for line, row in read_rows(table.label_path) if row["metric"] == metric)
            yield Problem(table.label_path, line, f"metric '{metric}' does not belong to task '{task.id}' ({', '.join(task.metrics)})")
