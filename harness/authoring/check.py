"""Collects everything that is wrong with the content, in one pass.

Loading stops at the first problem, which is right for a run, but slow for an author; `check` continues. Problems that are found while
reading a file (an invalid JSON line, a score off its scale) are reported once per file. Base texts (`languages/*/texts`) are checked by
`languages/derive.py`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

from harness.authoring.board_checks import board_complaints, collection_complaints, listing_problems, sealed_problems
from harness.authoring.item_checks import table_problems
from harness.authoring.lock import differences
from harness.authoring.parsed_content import ParsedContent, read_content
from harness.authoring.scaffold import NO_ITEMS, PLACEHOLDER
from harness.authoring.spec_checks import (
    dataset_card_complaints,
    exit_complaints,
    pack_complaints,
    rubric_complaints,
    tag_complaints,
    task_complaints,
    translation_complaints,
    unlisted_complaints,
    writing_complaints,
)
from harness.content.interfaces import FALLBACK, interface_complaints, missing_strings
from harness.content.lexicons import lexicon_complaints
from harness.content.library import Library
from harness.content.problems import Complaints, Problem, line_of, problem_from_error
from harness.errors import ContentError

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
    for name, asked in content.exits.items():
        yield from _located(library.exit_files[name], exit_complaints(name, asked, content.interfaces))
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
