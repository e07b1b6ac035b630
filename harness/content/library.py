"""Finds content and loads it by name. Listing reads file names only; each file is read on first use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

from harness.content import tags
from harness.content.lexicons import FALLBACK, completed, interface_complaints, lexicon_complaints
from harness.content.problems import line_of
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
from harness.errors import ContentError, UsageError

AnySpec = Task | Writing | ExitQuestions | Rubric | Pack | Instructions | Interface | Lexicon | DatasetCard | Board | BoardCollection


class ContentKind(NamedTuple):
    """A kind of content: the struct of its files, whose first field is the name; where they are (`*` is the name); a word for messages."""

    spec: type[AnySpec]
    pattern: str
    word: str


KINDS = {
    "tasks": ContentKind(Task, "tasks/*/task.toml", "task"),
    "writing": ContentKind(Writing, "tasks/*/writing.toml", "request to write for the task"),
    "exits": ContentKind(ExitQuestions, "tasks/*/exit.toml", "questions after the last text of the task"),
    "rubrics": ContentKind(Rubric, "rubrics/*.toml", "rubric"),
    "languages": ContentKind(Pack, "languages/*/pack.toml", "language pack"),
    "instructions": ContentKind(Instructions, "languages/*/instructions.toml", "instructions in"),
    "interfaces": ContentKind(Interface, "languages/*/interface.toml", "interface in"),
    "lexicons": ContentKind(Lexicon, "languages/*/lexicon.toml", "lexicon of"),
    "catalog": ContentKind(DatasetCard, "catalog/*/dataset.toml", "dataset card"),
    "leaderboards": ContentKind(Board, "leaderboards/*/board.toml", "board"),
    "collections": ContentKind(BoardCollection, "leaderboards/*/collection.toml", "collection"),
}
"""By the name that units of content have in content.lock."""
LOCK = "content.lock"
PUBLISHED = "harness.published"  # entry points of packages that add published sets
_PACKAGE = Path(__file__).resolve().parent.parent


def bundled_root() -> Path:
    """Return the folder with `tasks/`, `languages/`, `rubrics/`, `catalog/`, `leaderboards/`: in the installed package or the checkout."""
    installed = _PACKAGE / "_content"
    return installed if installed.is_dir() else _PACKAGE.parent


def is_checkout(folder: Path) -> bool:
    """Return True if a folder is a checkout of the whole content, which replaces the bundled folders."""
    return (folder / LOCK).is_file()


def checkout_around(folder: Path) -> Path | None:
    """Return the nearest folder with a content.lock and boards: `folder` or one around it; None if there is none."""
    folders = (folder.resolve(), *folder.resolve().parents)
    return next((parent for parent in folders if is_checkout(parent) and (parent / "leaderboards").is_dir()), None)


@cache
def package_roots() -> dict[str, Path]:
    """Return `{package: folder}` of other installed packages that add published sets: those with an entry point `harness.published`.

    The folder of such a package holds `catalog/<id>/dataset.toml`. Nothing is imported to find it.
    """
    from importlib.metadata import entry_points  # late: it takes a while
    from importlib.util import find_spec

    names = {point.value.partition(":")[0].partition(".")[0] for point in entry_points(group=PUBLISHED)} - {_PACKAGE.name}
    locations = {name: spec.submodule_search_locations for name in sorted(names) if (spec := find_spec(name))}
    return {name: Path(next(iter(paths))) for name, paths in locations.items() if paths}


def _files(kind: str) -> cached_property[dict[str, Path]]:
    """Return a property of `Library`: `{name: path}` of the files of a kind."""
    return cached_property(lambda library: library._find(KINDS[kind].pattern))


class Library:
    """All content by name: the bundled folders, then further folders of the same shape (`--content DIR`).

    The same name in two places is an error that names both. A folder with a content.lock is a checkout of the whole content and replaces
    the bundled folders. An installed program can so check another checkout without running its code.
    """

    def __init__(self, *extra: Path) -> None:
        for folder in extra:
            if not folder.is_dir():
                raise UsageError(f"content folder {folder} does not exist; it should hold tasks/, languages/ or rubrics/")
        checkouts = [folder for folder in extra if is_checkout(folder)]
        self._read: dict[Path, Any] = {}
        self.roots = (*(checkouts or [bundled_root()]), *(folder for folder in extra if folder not in checkouts))

    def _find(self, pattern: str, more: Iterable[Path] = ()) -> dict[str, Path]:
        """Return `{name: path}` of all files that match the pattern below a root; its `*` stands for the name."""
        paths: dict[str, Path] = {}
        for root in (*self.roots, *more):
            for path in sorted(root.glob(pattern)):
                name = path.stem if path.parent.parent == root else path.parent.name
                if name in paths:
                    raise ContentError(f"'{name}' is also at {paths[name]}; give one of them another name", path)
                paths[name] = path
        return paths

    def _load(self, name: str, files: dict[str, Path], kind: type[S]) -> S:
        """Return a file of a kind by its name. It is read once: a library is what its files were when it was first asked."""
        path = _path_of(name, files, kind)
        if path not in self._read:
            spec = read_spec(path, kind)
            inside = getattr(spec, kind.__struct_fields__[0])
            if inside != name:
                raise ContentError(misnamed(inside, name), path)
            self._read[path] = spec
        return cast("S", self._read[path])

    task_files = _files("tasks")
    writing_files = _files("writing")
    exit_files = _files("exits")
    rubric_files = _files("rubrics")
    pack_files = _files("languages")

    @cached_property
    def further_pack_files(self) -> dict[str, Path]:
        """Packs of further items beside a language's own one, such as `cs/hard`, by language and name."""
        paths = [path for root in self.roots for path in sorted(root.glob("languages/*/packs/*/pack.toml"))]
        return {f"{path.parent.parent.parent.name}/{path.parent.name}": path for path in paths}

    instruction_files = _files("instructions")
    lexicon_files = _files("lexicons")
    interface_files = _files("interfaces")
    board_files = _files("leaderboards")
    collection_files = _files("collections")

    @cached_property
    def dataset_card_files(self) -> dict[str, Path]:
        """Cards of the roots, and of other packages that add published sets."""
        return self._find(KINDS["catalog"].pattern, more=package_roots().values())

    def package_of(self, card: str) -> str | None:
        """Return the installed package that a dataset card belongs to; None for a card from a `--content` folder, which never runs code."""
        path = self.dataset_card_files[card].resolve()
        installed = {_PACKAGE.name: bundled_root(), **package_roots()}
        return next((name for name, root in installed.items() if path.is_relative_to(root.resolve() / "catalog")), None)

    def task(self, name: str) -> Task:
        return self._load(name, self.task_files, Task)

    def writing(self, name: str) -> Writing:
        """Return how a model is asked to write an output of the task `name`."""
        return self._load(name, self.writing_files, Writing)

    def exit_questions(self, name: str) -> ExitQuestions:
        """Return what annotators of the task `name` are asked after the last text."""
        return self._load(name, self.exit_files, ExitQuestions)

    def rubric(self, name: str) -> Rubric:
        return self._load(name, self.rubric_files, Rubric)

    def pack(self, tag: str) -> Pack:
        return self._load(tag, self.pack_files, Pack)

    def pack_path(self, tag: str, board: Board) -> Path | None:
        """Return the `pack.toml` that a board is frozen on in a language; None if the pack is not there or has another version."""
        path = self.further_pack_files.get(f"{tag}/{board.pack}") if board.pack else self.pack_files.get(tag)
        return path if path is not None and read_spec(path, Pack).version == board.packs[tag] else None

    def unreviewed(self, board_name: str | None, languages: Iterable[str]) -> list[str]:
        """Return the languages whose pack no native reader has reviewed: the packs of a board, or without one the present packs."""
        board = self.board(board_name) if board_name else None
        paths = {tag: self.pack_path(tag, board) if board and tag in board.packs else self.pack_files.get(tag) for tag in languages}
        return [tag for tag, path in paths.items() if path is not None and not read_spec(path, Pack).reviewed_by]

    def instructions(self, tag: str) -> Instructions:
        """Return the instructions for judges in the language `tag`."""
        return self._load(tag, self.instruction_files, Instructions)

    def lexicon(self, tag: str) -> Lexicon:
        """Return the words of the language `tag` for reading replies and perturbing texts."""
        lexicon = self._load(tag, self.lexicon_files, Lexicon)
        for message, pattern in lexicon_complaints(lexicon):
            raise ContentError(message, self.lexicon_files[tag], line_of(self.lexicon_files[tag], pattern))
        return lexicon

    def interface(self, tag: str) -> Interface:
        """Return the words of the labelling page in the language `tag`; in English if the language has none. Missing words are English."""
        if tag not in self.interface_files:
            tag = FALLBACK
        english = self._load(FALLBACK, self.interface_files, Interface)
        interface = self._load(tag, self.interface_files, Interface)
        for message, pattern in interface_complaints(interface, english):
            raise ContentError(message, self.interface_files[tag], line_of(self.interface_files[tag], pattern))
        return completed(interface, english)

    def interface_in(self, path: Path) -> Interface:
        """Return the words of the labelling page in a file; missing words are English. Raises ContentError for what is wrong in it."""
        english, interface = self.interface(FALLBACK), read_spec(path, Interface)
        for message, pattern in interface_complaints(interface, english):
            raise ContentError(message, path, line_of(path, pattern))
        return completed(interface, english)

    @cached_property
    def lexicons(self) -> dict[str, Lexicon]:
        """Return all lexicons by tag. Raises ContentError with `file:line` for the first one that cannot be read."""
        return {tag: self.lexicon(tag) for tag in sorted(self.lexicon_files)}

    def board(self, name: str) -> Board:
        if name in self.collection_files:
            boards = self.collection(name).boards
            raise UsageError(
                f"'{name}' is a collection of boards, which 'harness run' takes; choose one of its boards: {', '.join(boards)}"
            )
        return self._load(name, self.board_files, Board)

    def collection(self, name: str) -> BoardCollection:
        """Boards that are asked together. Raises ContentError for a board that does not exist."""
        collection = self._load(name, self.collection_files, BoardCollection)
        for board in collection.boards:
            if board not in self.board_files:
                path = self.collection_files[name]
                raise ContentError(f"no board '{board}'.{tags.choose_from(self.board_files, board)}", path, line_of(path, re.escape(board)))
        return collection

    def board_file(self, name: str) -> Path:
        """Return the path of a board's file, which is not read. Raises UsageError for an unknown name."""
        return _path_of(name, self.board_files, Board)

    def native_data(self, languages: Iterable[str]) -> dict[str, tuple[DatasetCard, ...]]:
        """Return `{tag: dataset cards with labels of native speakers in this language}`; languages without one are left out."""
        cards = [self.dataset_card(name) for name in self.dataset_card_files]
        cards_of = {
            tag: tuple(card for card in cards if card.source == "native" and card.tried and tag in card.languages) for tag in languages
        }
        return {tag: cards for tag, cards in cards_of.items() if cards}

    def dataset_card(self, name: str) -> DatasetCard:
        """Return the card of a published data set: what its labels mean."""
        return self._load(name, self.dataset_card_files, DatasetCard)

    def item_files(self, tag: str) -> dict[str, Path]:
        """Return `{task: path}` of a pack's item files; empty for a pack without items."""
        return item_files(self.pack_files[tag])

    def tags_with_items(self) -> list[str]:
        return [tag for tag in self.pack_files if self.item_files(tag)]


def item_files(pack: Path) -> dict[str, Path]:
    """Return `{task: path}` of the item files beside a `pack.toml`."""
    return {path.stem: path for path in sorted((pack.parent / "items").glob("*.jsonl"))}


@cache
def bundled_lexicons() -> dict[str, Lexicon]:
    """Return the lexicons of the bundled packs by tag, for callers without a library."""
    return Library().lexicons


def misnamed(name_inside: str, name: str) -> str:
    """Return the message for a file whose name inside differs from the name of its folder or file."""
    return f"the name inside is '{name_inside}', but the folder or file is named '{name}'; make them equal"


def _path_of(name: str, files: dict[str, Path], kind: type[Any]) -> Path:
    if name not in files:
        word = next(known_kind.word for known_kind in KINDS.values() if known_kind.spec is kind)
        raise UsageError(f"no {word} '{name}'.{tags.choose_from(files, name)}")
    return files[name]
