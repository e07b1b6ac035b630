"""Data folders: where they lie, and how they are written, all of their files or none, with their `data.toml`.

The name of a published set (`pariksha`) means the folder of this name here, else the one that `harness data get` wrote.
"""

from __future__ import annotations

import errno
import gzip
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import msgspec
import platformdirs
from filelock import FileLock, Timeout

from harness.content.library import Library
from harness.content.specs import DatasetCard
from harness.errors import MissingData, StoreError
from harness.row_files import PRIVATE_FILE, find_table, to_toml

_LOCK_SECONDS = 60.0


def data_toml(about: DatasetCard) -> str:
    """Return the text of a `data.toml`; keys at their default are left out, except `id` and `annotators`.

    >>> print(data_toml(DatasetCard(id="mine", title="Mine")), end="")
    id = "mine"
    title = "Mine"
    annotators = "anonymous"
    """
    card = msgspec.to_builtins(about)
    defaults = msgspec.to_builtins(DatasetCard(id=about.id))
    return to_toml({key: _compact(value) for key, value in card.items() if key in ("id", "annotators") or value != defaults[key]})


def _compact(value: object) -> object:
    return {key: _compact(part) for key, part in value.items() if part not in (None, "", (), [], {})} if isinstance(value, dict) else value


def table_file(folder: Path, name: str) -> str:
    """Return the file name of a table: that of the existing file, or the default."""
    existing = find_table(folder, name) if folder.is_dir() else None
    return existing.name if existing else f"{name}.jsonl"


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold an existing data folder, from reading it to writing it, so that of two commands that add to it none loses rows.

    A command waits for the other one; inside a process, it may be held again. A folder that does not exist is not held: whoever is
    second cannot write it. Raises StoreError.
    """
    if not folder.is_dir():
        yield
        return
    path = folder / ".lock"
    lock = FileLock(path, mode=PRIVATE_FILE, is_singleton=True)
    try:
        lock.acquire(timeout=_LOCK_SECONDS)
    except Timeout:
        raise StoreError(f"another command adds to {folder}; wait until it has ended, then run the same command again") from None
    except OSError as err:
        raise StoreError(f"{folder} cannot be written ({err.strerror or err}); choose another folder") from None
    try:
        yield
    finally:
        if lock.lock_counter == 1:
            with suppress(OSError):  # Windows removes no open file
                path.unlink()
        lock.release()


def write_folder(folder: Path, files: Mapping[str, bytes], check: Callable[[Path], None] | None = None) -> None:
    """Write the files of a folder, all or none, and compress those that end in `.gz`. Other files in the folder stay as they are.

    Only their owner may read the folder and its files, as they hold texts and labels. A new folder is filled under a temporary name and
    then renamed. In an existing folder, the files are first written into a hidden folder and then moved in the given order; if one cannot
    be moved, the files before it are restored. Before anything is in place, `check` is given a folder that holds what the folder will
    hold; if it raises, nothing is written. Raises StoreError.
    """
    compressed = {name: gzip.compress(data, mtime=0) if name.endswith(".gz") else data for name, data in files.items()}
    target = folder.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        parent, prefix = (target, ".import.") if target.is_dir() else (target.parent, f".{target.name}.")
        staged = Path(tempfile.mkdtemp(dir=parent, prefix=prefix))
        try:
            for name, data in compressed.items():
                with open(os.open(staged / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            if check is not None:
                for path in target.iterdir() if parent == target else ():
                    if path.is_file() and path.name not in files and not path.name.startswith("."):
                        _back_up(path, staged / path.name)
                check(staged)
            if parent == target:
                backups: dict[str, Path | None] = {}
                try:
                    for name in files:
                        backup = staged / f"{name}.before"
                        if (target / name).exists():
                            _back_up(target / name, backup)
                        backups[name] = backup if backup.exists() else None
                        os.replace(staged / name, target / name)
                except BaseException:
                    for name, backup_file in backups.items():
                        if backup_file is not None:
                            os.replace(backup_file, target / name)
                        elif not (staged / name).exists():
                            (target / name).unlink(missing_ok=True)
                    raise
            else:
                os.rename(staged, target)
        finally:  # after Ctrl-C too
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as err:
        if err.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise StoreError(f"another command wrote {folder} meanwhile; choose another folder, or add to it") from None
        raise StoreError(f"{folder} cannot be written ({err.strerror or err}); make room or choose another folder") from None


def _back_up(path: Path, copy: Path) -> None:
    try:
        os.link(path, copy)
    except OSError:  # a file system without links
        shutil.copy2(path, copy)


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
