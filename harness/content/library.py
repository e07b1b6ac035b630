"""Where content is found, and its loading by name. Listing reads names; only what is asked for is read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from harness.content import tags
from harness.content.specs import Board, DataFolder, Instructions, Pack, Rubric, S, Task, read_spec
from harness.errors import ContentError, UsageError

_PACKAGE = Path(__file__).resolve().parent.parent


def bundled_root() -> Path:
    """The folder that holds `tasks/`, `languages/`, `rubrics/`, `datasets/`, `leaderboards/`: in the wheel, else in the checkout."""
    installed = _PACKAGE / "_content"
    return installed if installed.is_dir() else _PACKAGE.parent


class Library:
    """All content by name: the bundled folders, then any further ones of the same shape (`--content DIR`).

    The same name in two places is an error that names both.
    """

    def __init__(self, *extra: Path) -> None:
        for folder in extra:
            if not folder.is_dir():
                raise UsageError(f"content folder {folder} is not there; it should hold tasks/, languages/ or rubrics/")
        self.roots = (bundled_root(), *extra)

    def _find(self, kind: str, file: str) -> dict[str, Path]:
        """`{name: path}` of everything at `<root>/<kind>/<file>`, where `*` in `file` stands for the name."""
        found: dict[str, Path] = {}
        for root in self.roots:
            for path in sorted((root / kind).glob(file)):
                name = path.stem if file == "*.toml" else path.parent.name
                if name in found:
                    raise ContentError(f"'{name}' is also at {found[name]}; give one of them another name", path)
                found[name] = path
        return found

    @cached_property
    def task_files(self) -> dict[str, Path]:
        return self._find("tasks", "*/task.toml")

    @cached_property
    def rubric_files(self) -> dict[str, Path]:
        return self._find("rubrics", "*.toml")

    @cached_property
    def pack_files(self) -> dict[str, Path]:
        return self._find("languages", "*/pack.toml")

    @cached_property
    def instruction_files(self) -> dict[str, Path]:
        return self._find("languages", "*/instructions.toml")

    @cached_property
    def board_files(self) -> dict[str, Path]:
        return self._find("leaderboards", "*/board.toml")

    @cached_property
    def recipe_files(self) -> dict[str, Path]:
        return self._find("datasets", "*/data.toml")

    def task(self, name: str) -> Task:
        return _load(name, self.task_files, Task, "task", lambda spec: spec.id)

    def rubric(self, name: str) -> Rubric:
        return _load(name, self.rubric_files, Rubric, "rubric", lambda spec: spec.id)

    def pack(self, tag: str) -> Pack:
        return _load(tag, self.pack_files, Pack, "language pack", lambda spec: spec.tag)

    def instructions(self, tag: str) -> Instructions:
        """What judges are told, in the language `tag`."""
        return _load(tag, self.instruction_files, Instructions, "instructions in", lambda spec: spec.tag)

    def board(self, name: str) -> Board:
        return _load(name, self.board_files, Board, "board", lambda spec: spec.id)

    def recipe(self, name: str) -> DataFolder:
        """What the labels of a published data set mean, without its data."""
        return _load(name, self.recipe_files, DataFolder, "recipe", lambda spec: spec.id)

    def item_files(self, tag: str) -> dict[str, Path]:
        """`{task: path}` of a pack's item files; empty for a pack without items."""
        folder = self.pack_files[tag].parent / "items"
        return {path.stem: path for path in sorted(folder.glob("*.jsonl"))}

    def tags_with_items(self) -> list[str]:
        return [tag for tag in self.pack_files if self.item_files(tag)]


def _load(name: str, files: dict[str, Path], kind: type[S], word: str, name_inside: Callable[[S], str]) -> S:
    if name not in files:
        raise UsageError(f"no {word} '{name}'.{tags.suggest(name, files)}\n         here: {', '.join(files) or 'none'}")
    spec = read_spec(files[name], kind)
    if name_inside(spec) != name:
        raise ContentError(f"it calls itself '{name_inside(spec)}', but its place says '{name}'; make them equal", files[name])
    return spec
