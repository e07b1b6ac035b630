"""Reads all content that can be read. A file that cannot is one problem, and the check of the other files goes on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from harness.content.library import Library, item_files
from harness.content.problems import Problem, problem_from_error
from harness.content.specs import (
    Board,
    BoardCollection,
    DatasetCard,
    ExitQuestions,
    Instructions,
    Interface,
    Lexicon,
    Pack,
    Rubric,
    S,
    Task,
    Writing,
    read_spec,
)
from harness.data.dataset import read_items
from harness.data.labels import Labels, read_labels
from harness.errors import ContentError
from harness.model import Item
from harness.row_files import read_rows


class PackTable(msgspec.Struct, dict=True):
    """One task of one pack. `items` or `labels` is None if it could not be read, which is reported as a problem.

    `pack` is the path of its `pack.toml`.
    """

    tag: str
    task: str
    path: Path
    items: list[Item] | None
    labels: Labels | None
    pack: Path

    @property
    def label_path(self) -> Path:
        return self.path.parent.parent / "labels" / self.path.name

    @cached_property
    def lines(self) -> dict[str, int]:
        """`{item_id: line}`. Reads the file again, but only if there is a problem to report."""
        return {row["item_id"]: line for line, row in read_rows(self.path)}

    def problem(self, item_id: str, message: str) -> Problem:
        return Problem(self.path, self.lines[item_id], message)


class ParsedContent(msgspec.Struct):
    """The content that could be read. What the library lists and this does not have could not be read."""

    library: Library
    tasks: dict[str, Task]
    writings: dict[str, Writing]
    exits: dict[str, ExitQuestions]
    rubrics: dict[str, Rubric]
    packs: dict[str, Pack]
    further_packs: dict[str, Pack]
    instructions: dict[str, Instructions]
    interfaces: dict[str, Interface]
    lexicons: dict[str, Lexicon]
    dataset_cards: dict[str, DatasetCard]
    boards: dict[str, Board]
    collections: dict[str, BoardCollection]
    tables: list[PackTable]


def read_content(library: Library) -> tuple[ParsedContent, list[Problem]]:
    """Return what could be read, and a problem for each file that could not."""
    problems: list[Problem] = []
    content = ParsedContent(
        library,
        tasks=_specs(library.task_files, Task, problems),
        writings=_specs(library.writing_files, Writing, problems),
        exits=_specs(library.exit_files, ExitQuestions, problems),
        rubrics=_specs(library.rubric_files, Rubric, problems),
        packs=_specs(library.pack_files, Pack, problems),
        further_packs=_specs(library.further_pack_files, Pack, problems),
        instructions=_specs(library.instruction_files, Instructions, problems),
        interfaces=_specs(library.interface_files, Interface, problems),
        lexicons=_specs(library.lexicon_files, Lexicon, problems),
        dataset_cards=_specs(library.dataset_card_files, DatasetCard, problems),
        boards=_specs(library.board_files, Board, problems),
        collections=_specs(library.collection_files, BoardCollection, problems),
        tables=[],
    )
    packs = [*library.pack_files.items(), *((name.partition("/")[0], path) for name, path in library.further_pack_files.items())]
    for tag, pack in packs:
        for task, path in item_files(pack).items():
            content.tables.append(_table(content, tag, task, path, pack, problems))
    return content, problems


def tables_of(board: Board, content: ParsedContent) -> list[PackTable]:
    """Return the tables of the packs that a board is frozen on."""
    packs = {pack_of(tag, board, content) for tag in board.packs}
    return [table for table in content.tables if table.pack in packs]


def pack_of(tag: str, board: Board, content: ParsedContent) -> Path | None:
    """Return the `pack.toml` of the pack that a board is frozen on. None if there is none, or if one cannot be read, which is another
    problem.
    """
    try:
        return content.library.pack_path(tag, board)
    except ContentError:
        return None


def _specs(files: Mapping[str, Path], kind: type[S], problems: list[Problem]) -> dict[str, S]:
    specs = {}
    for name, path in files.items():
        try:
            specs[name] = read_spec(path, kind)
        except ContentError as err:
            problems.append(problem_from_error(err))
    return specs


def _table(content: ParsedContent, tag: str, task: str, path: Path, pack: Path, problems: list[Problem]) -> PackTable:
    table = PackTable(tag, task, path, items=None, labels=None, pack=pack)
    try:
        table.items = read_items(path, {name: spec for name, spec in content.tasks.items() if name == task}, language=tag, task=task)
        if len(content.rubrics) < len(content.library.rubric_files):
            return table  # labels cannot be checked while a rubric, and so a scale, is missing
        scales = {name: rubric.scale for name, rubric in content.rubrics.items()}
        by_id = {item.item_id: item for item in table.items}
        table.labels = read_labels(table.label_path, scales, by_id) if table.label_path.is_file() else Labels.from_rows(())
    except ContentError as err:
        problems.append(problem_from_error(err))
    return table
