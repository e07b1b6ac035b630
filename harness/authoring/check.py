"""Collects everything that is wrong with the content, in one pass.

Loading stops at the first problem, which is right for a run, but slow for an author; `check` continues. Problems that are found while
reading a file (an invalid JSON line, a score off its scale) are reported once per file. Base texts (`languages/*/texts`) are checked by
`languages/derive.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from harness.authoring.lock import differences, is_draft
from harness.authoring.parsed_content import (
    PackTable,
    ParsedContent,
    dataset_card_complaints,
    exit_complaints,
    name_complaints,
    pack_complaints,
    pack_of,
    read_content,
    rubric_complaints,
    tables_of,
    tag_complaints,
    tag_problem,
    task_complaints,
    translation_complaints,
    unlisted_complaints,
    writing_complaints,
)
from harness.authoring.scaffold import NO_ITEMS, PLACEHOLDER
from harness.content import tags
from harness.content.canary import HOW_TO_MARK, LABELS, holds_canary, sealed_file_problem
from harness.content.lexicons import FALLBACK, interface_complaints, lexicon_complaints, missing_strings
from harness.content.library import Library
from harness.content.problems import Complaints, Problem, key_pattern, line_of, problem_from_error
from harness.content.specs import Board, BoardCollection, BoardData, Task
from harness.errors import ContentError
from harness.model import Item, Score, parse_variant
from harness.row_files import read_rows

# Folder of content -> the files of which every subfolder must have one.
_FILE_OF_KIND: dict[str, tuple[str, ...]] = {
    "tasks": ("task.toml",),
    "languages": ("pack.toml", "lexicon.toml"),
    "catalog": ("dataset.toml",),
    "datasets": ("data.toml",),  # dataset cards before the catalog
    "leaderboards": ("board.toml", "collection.toml"),
}


def check(library: Library, *, accepted: bool = True) -> list[Problem]:
    """Return all problems of all content, sorted by file and line; without `accepted`, differences from content.lock are none.

    If two folders have content of the same name, only that is reported, because it is unclear which one to check.
    """
    try:
        content, problems = read_content(library)
    except ContentError as err:
        return [problem_from_error(err)]
    problems += _folders_without_file(library)
    problems += _spec_problems(content)
    problems += _documents(library)
    problems += table_problems(content)
    problems += differences(library) if accepted else []
    return sorted(dict.fromkeys(problems), key=lambda problem: (str(problem.path), problem.line or 0, problem.message))


def _folders_without_file(library: Library) -> Iterator[Problem]:
    for root in library.roots:
        for kind, files in _FILE_OF_KIND.items():
            for folder in sorted(path for path in (root / kind).glob("[!._]*") if path.is_dir()):
                if not any((folder / file).is_file() for file in files):
                    yield Problem(
                        folder, None, f"no {' or '.join(files)} in this folder, so nothing reads it; add the file or remove the folder"
                    )


def _documents(library: Library) -> Iterator[Problem]:
    """Missing cards, and placeholders of `harness new` that were not replaced."""
    kinds = (library.task_files, library.rubric_files, library.pack_files, library.board_files, library.collection_files)
    files = [path for kind in kinds for path in kind.values()]
    cards = sorted({path.parent / "CARD.md" for path in files})
    for card in cards:
        if not _text(card).strip():
            yield Problem(card, None, "CARD.md is missing or empty; write what this is, where it comes from and who has reviewed it")
    for tag in library.pack_files:
        card = library.pack_files[tag].parent / "CARD.md"
        for number, line in enumerate(_text(card).split("\n"), start=1):
            if NO_ITEMS in line and library.item_files(tag):
                yield Problem(
                    card, number, "there are items now; say what they are, who wrote and labelled them, and what they cannot show"
                )
    words = (library.instruction_files, library.interface_files, library.lexicon_files)
    for path in (*files, *(path for word_paths in words for path in word_paths.values()), *cards):
        for number, line in enumerate(_text(path).split("\n"), start=1):
            if PLACEHOLDER in line:
                yield Problem(path, number, f"a placeholder was not replaced; write the text and remove '{PLACEHOLDER}'")


def _text(path: Path) -> str:
    """Return the text of a file; empty if it is missing or unreadable, which other checks report."""
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _spec_problems(content: ParsedContent) -> Iterator[Problem]:
    library = content.library
    for name, task in content.tasks.items():
        yield from _located(library.task_files[name], task_complaints(name, task, library.rubric_files))
    for name, writing in content.writings.items():
        yield from _located(library.writing_files[name], writing_complaints(name, writing, content.tasks))
    for name, questions in content.exits.items():
        yield from _located(library.exit_files[name], exit_complaints(name, questions, content.interfaces))
    metrics = {*library.rubric_files, *(metric for card in content.dataset_cards.values() for metric in card.metrics)}
    for name, rubric in content.rubrics.items():
        yield from _located(library.rubric_files[name], rubric_complaints(name, rubric, metrics))
        yield from _located(library.rubric_files[name], unlisted_complaints(name, content))
    for tag, pack in content.packs.items():
        yield from _located(library.pack_files[tag], pack_complaints(tag, pack))
    for name, pack in content.further_packs.items():
        yield from _located(library.further_pack_files[name], pack_complaints(name.partition("/")[0], pack))
    for tag, instructions in content.instructions.items():
        path = library.instruction_files[tag]
        yield from _located(path, tag_complaints(tag, instructions.tag))
        yield from _located(path, translation_complaints(instructions, content))
        yield from _decomposed(path)
    for tag, interface in content.interfaces.items():
        path = library.interface_files[tag]
        yield from _located(path, tag_complaints(tag, interface.tag))
        if english := content.interfaces.get(FALLBACK):
            yield from _located(path, interface_complaints(interface, english))
            yield from _located(path, missing_strings(interface, english))
        yield from _decomposed(path)
    for tag, lexicon in content.lexicons.items():
        path = library.lexicon_files[tag]
        yield from _located(path, tag_complaints(tag, lexicon.tag))
        yield from _located(path, lexicon_complaints(lexicon))
        yield from _decomposed(path)
    for name, card in content.dataset_cards.items():
        yield from _located(library.dataset_card_files[name], dataset_card_complaints(name, card, library.task_files, content.rubrics))
    for name, board in content.boards.items():
        yield from _located(library.board_files[name], board_complaints(name, board, content))
        yield from listing_problems(library.board_files[name], board, content)
        yield from sealed_problems(library.board_files[name], board, content)
    for name, collection in content.collections.items():
        yield from _located(library.collection_files[name], collection_complaints(name, collection, library))


def _located(path: Path, complaints: Complaints) -> Iterator[Problem]:
    for message, pattern in complaints:
        yield Problem(path, line_of(path, pattern), message)


def _decomposed(path: Path) -> Iterator[Problem]:
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not unicodedata.is_normalized("NFC", line):
            yield Problem(path, number, "not in Unicode form NFC; save the file in NFC (composed)")


def table_problems(content: ParsedContent) -> Iterator[Problem]:
    """Yield the faults of the items and labels of all language packs."""
    library = content.library
    for pack in (*library.pack_files.values(), *library.further_pack_files.values()):
        for path in sorted([*pack.parent.glob("items/[!.]*"), *pack.parent.glob("labels/[!.]*")]):
            if path.suffix != ".jsonl":
                yield Problem(path, None, "nothing reads this file; the items and labels of a pack are in <task>.jsonl")
            elif path.parent.name == "labels" and not (pack.parent / "items" / path.name).is_file():
                yield Problem(path, None, f"labels without items; {pack.parent.name}/items/{path.name} is missing")
        yield from _leaked_groups(table for table in content.tables if table.pack == pack and table.items is not None)
    for table in content.tables:
        if table.task not in library.task_files:
            task_names = ", ".join(library.task_files)
            yield Problem(table.path, None, f"items of task '{table.task}', which does not exist; choose from: {task_names}")
        yield from _item_problems(table)
        yield from _contradictions(table, content.tasks.get(table.task))
        sealed = [board for board in content.boards.values() if board.sealed and table.task in board.tasks]
        boards = [board for board in sealed if any(table is board_table for board_table in tables_of(board, content))]
        sealed_items = {
            item.item_id
            for board in boards
            for item in table.items or ()
            if (item.item_id in board.items.get(table.tag, ()) if board.items else item.split == "test")
        }
        yield from _label_problems(table, content.tasks.get(table.task), sealed_items)
    first: dict[str, PackTable] = {}
    for table in content.tables:
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


def board_complaints(name: str, board: Board, content: ParsedContent) -> Complaints:
    """Yield the faults of a board, except its list of items and its sealed labels."""
    library = content.library
    yield from name_complaints(board.id, name, "id")
    yield from _frozen("task", board.tasks, library.task_files, {key: spec.version for key, spec in content.tasks.items()})
    yield from _frozen("rubric", board.rubrics, library.rubric_files, {key: spec.version for key, spec in content.rubrics.items()})
    # `{tag: version}` as the board sees it: its own version where a pack of that version exists, else the present one.
    exists = {tag for tag in board.packs if pack_of(tag, board, content) is not None}
    versions = {tag: board.packs[tag] if tag in exists else pack.version for tag, pack in content.packs.items()}
    yield from _frozen("language pack", board.packs, library.pack_files, versions)
    for variant in board.variants:
        try:
            is_conversation = parse_variant(variant).call == "conversation"
        except ValueError as err:
            yield str(err), key_pattern("variants")
            continue
        if is_conversation:
            message = f"'{variant}' repeats what a judge answered, so its calls differ by judge; a board asks 'single' or 'joint'"
            yield message, key_pattern("variants")
    yield from _data_complaints(board, library)
    if board.items:
        for tag in board.languages:
            if not board.items.get(tag):
                yield (f"no items of '{tag}' are listed, but others are; list items of all languages or of none", r"^\[items\]")
        for tag in board.items.keys() - set(board.languages):
            yield f"items of '{tag}' are listed, but the board does not have this language", rf"{key_pattern(tag)}[ \t]*\["


def collection_complaints(name: str, collection: BoardCollection, library: Library) -> Complaints:
    """Yield the faults of a collection."""
    yield from name_complaints(collection.id, name, "id")
    if name in library.board_files:
        yield f"'{name}' is the name of a board too; give the collection another name", key_pattern("id")
    for board, times in Counter(collection.boards).items():
        if board not in library.board_files:
            yield f"no board '{board}'.{tags.choose_from(library.board_files, board)}", rf"[\"']{re.escape(board)}[\"']"
        elif times > 1:
            yield f"board '{board}' is listed {times} times; list it once", rf"[\"']{re.escape(board)}[\"']"


def _data_complaints(board: Board, library: Library) -> Complaints:
    if not isinstance(board.data, BoardData):
        if not isinstance(board.languages, dict):
            yield ("languages lists tags, but the items are in packs: write a table of tags with pack versions", key_pattern("languages"))
        return
    if isinstance(board.languages, dict):
        yield "languages names pack versions, but the data are not in packs: list the tags", r"^\[languages\]"
    for tag in board.languages:
        if problem := tag_problem(tag):
            yield problem, key_pattern("languages")
    card, key = board.data.card, key_pattern("card")
    if card not in library.dataset_card_files:
        choices = ", ".join(library.dataset_card_files)
        yield f"no dataset card '{card}'.{tags.suggest(card, library.dataset_card_files)} Choose from: {choices}", key
    if bool(board.data.hub) != bool(board.data.revision) or not (board.data.hub or board.data.sha256):
        yield "data need a content hash (sha256), or a data set of the hub at a commit (hub and revision)", key
    if board.data.hashed == "listed" and not board.items:
        yield "sha256 covers the listed items alone, but there is no list; write [items], or leave out hashed", key_pattern("hashed")
    for name in board.data.tasks.values():
        if name not in board.tasks:
            yield f"the data's tasks are mapped to '{name}', which is not a task of the board", key_pattern(name)


def sealed_problems(path: Path, board: Board, content: ParsedContent) -> Iterator[Problem]:
    """Yield the faults of sealed labels, as far as that is visible without a key."""
    if board.sealed is None:
        return
    if message := sealed_file_problem(path.with_name(LABELS)):
        yield Problem(path.with_name(LABELS), None, message)
    judged = [table for table in tables_of(board, content) if table.task in board.tasks]
    for file in (path, *(table.path for table in judged)):
        if not holds_canary(file, board.sealed.canary):
            yield Problem(file, None, f"the canary of the board '{board.id}' is not in this file; {HOW_TO_MARK}")
    for table in judged:
        listed = board.items.get(table.tag, ()) if board.items else {item.item_id for item in table.items or () if item.split == "test"}
        open_labels = len(table.labels.for_items(listed)) if table.labels is not None else 0
        if open_labels:
            message = f"{open_labels} labels that the board '{board.id}' has sealed are readable here; remove them"
            yield Problem(table.label_path, None, message)


def _frozen(word: str, frozen: Mapping[str, str], files: Mapping[str, Path], versions: Mapping[str, str]) -> Complaints:
    """Content that a board names and that does not exist, or not in the board's version."""
    for name, version in frozen.items():
        line = rf"{key_pattern(name)}[ \t]*[\"']{re.escape(version)}"
        if name not in files:
            yield f"no {word} '{name}'.{tags.suggest(name, files)} Choose from: {', '.join(files)}", line
        elif versions.get(name, version) != version:
            yield f"{word} '{name}' has version {versions[name]}, not {version}; a changed protocol needs a new board", line
        elif is_draft(version):
            yield f"{word} '{name}' is a draft ({version}), which may change; publish it as 1.0.0 before a board names it", line


def listing_problems(path: Path, board: Board, content: ParsedContent) -> Iterator[Problem]:
    """Yield the faults of the list of items of a board whose items are in language packs."""
    if not board.packs:
        return
    by_id = {item.item_id: item for table in tables_of(board, content) for item in table.items or ()}
    unread = {table.tag for table in content.tables if table.items is None}
    times_listed: Counter[str] = Counter()
    for tag, listed in board.items.items():
        for item_id in listed:
            times_listed[item_id] += 1
            if item_id not in by_id and tag in unread:
                continue  # it may be in the unreadable file
            item, complaints = by_id.get(item_id), list[str]()
            if times_listed[item_id] > 1:
                complaints.append("is listed twice; list it once")
            if item is not None and item.language != tag:
                complaints.append(f"is of language '{item.language}', but is listed under '{tag}'")
            if item is not None and item.split != "test":
                complaints.append(f"is a {item.split} item; boards judge test items only")
            if item is not None and item.task not in board.tasks:
                complaints.append(f"is of task '{item.task}', which is not on this board")
            messages = [f"item '{item_id}' {complaint}" for complaint in complaints]
            messages += [f"no item '{item_id}' in any pack"] if item is None else []
            line = line_of(path, rf"[\"']{re.escape(item_id)}[\"']", times_listed[item_id]) if messages else None
            yield from (Problem(path, line, message) for message in messages)
