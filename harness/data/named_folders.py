"""Published data by name: `pariksha` means the folder of this name here, else the one that `harness data get` wrote."""

from __future__ import annotations

import logging
import os
from functools import cache
from pathlib import Path

import platformdirs

from harness.content.library import Library
from harness.content.specs import DatasetCard
from harness.errors import MissingData
from harness.row_files import find_table

HOME = "HARNESS_DATA_HOME"
_log = logging.getLogger("harness.data")  # without a handler of the user's, its warnings go to standard error


def data_home() -> Path:
    """Return the user's folder of published data. HARNESS_DATA_HOME names another one."""
    chosen = os.environ.get(HOME)
    return Path(chosen) if chosen else Path(platformdirs.user_data_dir("judge-harness")) / "data"


def fetched_folder(name: str, home: Path | None = None) -> Path | None:
    """Return the data folder that `harness data get` wrote for a set; None where there is none."""
    folder = (home or data_home()) / name
    return folder if find_table(folder, "items") or find_table(folder, "labels") else None


def located(source: Path, library: Library) -> Path:
    """Return the folder that a path or the name of a published set means: a folder here comes first, then what was fetched.

    A path that is neither stays as it is. Where a folder here is used in place of a published set, a message says so, once.

    Raises MissingData for the name of a set that can be fetched and is not here; the message says how.
    """
    name = str(source)
    if name not in library.dataset_card_files:
        return source
    if source.exists():
        say_which_is_used(name, source.absolute())
        return source
    folder = fetched_folder(name)
    if folder is None and library.dataset_card(name).sources:
        raise MissingData(f"'{name}' is not on this machine: {how_to_get(library.dataset_card(name))}")
    return folder or source


@cache
def say_which_is_used(name: str, folder: Path) -> None:
    """Say once that a folder of this machine is used for the name of a published set, and not what `harness data get` fetches."""
    _log.warning("'%s' is the folder %s, not the published set that 'harness data get' fetches", name, folder)


def how_to_get(card: DatasetCard) -> str:
    """Return the command that fetches a set, with its size and licence; for a set that cannot be fetched, its card's own words.

    >>> how_to_get(DatasetCard(id="mine", get="github.com/owner/name"))
    'to get them: github.com/owner/name'
    """
    if not card.sources:
        return f"to get them: {card.get}"
    return f"'harness data get {card.id}' fetches {megabytes(raw_bytes(card))} (licence: {card.licence or 'none stated'})"


def raw_bytes(card: DatasetCard) -> int:
    """Return the size of all raw files of a set."""
    return sum(file.bytes for source in card.sources for file in source.files)


def megabytes(count: int) -> str:
    """Return a size for readers: `4.9 MB`.

    >>> megabytes(4_912_345), megabytes(12_000)
    ('4.9 MB', '0.1 MB')
    """
    return f"{max(count / 1e6, 0.1):.1f} MB"
