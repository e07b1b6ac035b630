"""Fixtures: a copy of the bundled content that a test may break."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.authoring.lock import accept
from harness.content.library import Library, bundled_root

LANGUAGES_LEFT_OUT = ("es", "it", "pt-BR")
LEFT_OUT = (
    "hard*",
    "long",
    "parallel*",
    "models*",
    "conversations",
    "controls-conversations",
    "controls-hard*",
    "controls-long*",
    "controls-parallel*",
    "controls-models*",
    *LANGUAGES_LEFT_OUT,
)
# What a board says of these languages: a version, or a list of items.
_OF_THESE = re.compile(rf'^"?(?:{"|".join(LANGUAGES_LEFT_OUT)})"? = (?:".*"|\[[^\]]*\])\n', re.M)


@pytest.fixture(scope="session")
def whole_content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled content with a content.lock that fits it, to be copied; for the sake of time without some boards, packs and languages."""
    folder = tmp_path_factory.mktemp("whole") / "content"
    for kind in ("tasks", "rubrics", "languages", "catalog", "leaderboards"):
        shutil.copytree(
            bundled_root() / kind, folder / kind, ignore=shutil.ignore_patterns("texts", "__pycache__", "submissions", *LEFT_OUT)
        )
    for board in folder.glob("leaderboards/*/board.toml"):
        if "\n[languages]" in (text := board.read_text("utf-8")):  # a board on packs; published data need no packs
            board.write_text(_OF_THESE.sub("", text), "utf-8")
    accept(rooted(folder))
    return folder


@pytest.fixture
def root(whole_content: Path, tmp_path: Path) -> Path:
    """A content root of its own, with a content.lock that fits it."""
    return Path(shutil.copytree(whole_content, tmp_path / "content"))


@pytest.fixture
def library_of() -> Callable[..., Library]:
    """Makes a library that takes the first of the given folders for the bundled one."""
    return rooted


def rooted(folder: Path, *extra: Path) -> Library:
    library = Library()
    library.roots = (folder, *extra)
    return library


@pytest.fixture
def edit() -> Callable[[Path, str, str], None]:
    """Replaces a text that stands in a file; the first one only."""

    def change(path: Path, old: str, new: str) -> None:
        text = path.read_text("utf-8")
        assert old in text, f"{path.name} does not hold {old!r}"
        path.write_text(text.replace(old, new, 1), "utf-8")

    return change
