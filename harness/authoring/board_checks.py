"""Checks of boards and collections: the content and the items that they freeze exist in that version, and sealed labels are sealed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.authoring.lock import is_draft
from harness.authoring.parsed_content import ParsedContent, pack_of, tables_of
from harness.authoring.spec_checks import name_complaints, tag_problem
from harness.content import tags
from harness.content.canary import HOW_TO_MARK, LABELS, holds_canary, sealed_file_problem
from harness.content.library import Library
from harness.content.problems import Complaints, Problem, key_pattern, line_of
from harness.content.specs import Board, BoardCollection, BoardData
from harness.model import Item, parse_variant


def board_complaints(name: str, board: Board, content: ParsedContent) -> Complaints:
    """Yield the faults of a board, except its list of items and its sealed labels."""
    library = content.library
    yield from name_complaints(board.id, name, "id")
    yield from _frozen("task", board.tasks, library.task_files, {key: spec.version for key, spec in content.tasks.items()})
    yield from _frozen("rubric", board.rubrics, library.rubric_files, {key: spec.version for key, spec in content.rubrics.items()})
    yield from _frozen("language pack", board.packs, library.pack_files, _pack_versions(board, content))
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


def _pack_versions(board: Board, content: ParsedContent) -> dict[str, str]:
    """`{tag: version}` as the board sees it: its own version where a pack of that version exists, else the present one."""
    exists = {tag for tag in board.packs if pack_of(tag, board, content) is not None}
    return {tag: board.packs[tag] if tag in exists else pack.version for tag, pack in content.packs.items()}


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
            for message in _listing_complaints(by_id.get(item_id), item_id, tag, board, times_listed[item_id]):
                yield Problem(path, line_of(path, rf"[\"']{re.escape(item_id)}[\"']", times_listed[item_id]), message)


def _listing_complaints(item: Item | None, item_id: str, tag: str, board: Board, times: int) -> Iterator[str]:
    if times > 1:
        yield f"item '{item_id}' is listed twice; list it once"
    if item is None:
        yield f"no item '{item_id}' in any pack"
        return
    if item.language != tag:
        yield f"item '{item_id}' is of language '{item.language}', but is listed under '{tag}'"
    if item.split != "test":
        yield f"item '{item_id}' is a {item.split} item; boards judge test items only"
    if item.task not in board.tasks:
        yield f"item '{item_id}' is of task '{item.task}', which is not on this board"
