"""Writing a data folder: all of its files or none, and `data.toml` as text."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.content.specs import DataFolder
from harness.errors import StoreError
from harness.model import Scale
from harness.tables import find_table


def to_toml(about: DataFolder) -> str:
    """`data.toml` of a folder; what is at its default is left out.

    >>> print(to_toml(DataFolder(id="mine", notes=("one",))), end="")
    id = "mine"
    annotators = "anonymous"
    notes = [
      "one",
    ]
    """
    defaults = DataFolder(id=about.id)
    tables = [name for name, value in msgspec.structs.asdict(about).items() if isinstance(value, dict)]
    lines = [
        f"{name} = {_value(value)}"
        for name, value in msgspec.structs.asdict(about).items()
        if name not in (*tables, "notes") and (name in ("id", "annotators") or value != getattr(defaults, name))
    ]
    if about.notes:
        lines += ["notes = [", *(f"  {_value(note)}," for note in about.notes), "]"]
    for name in tables:
        for metric, scale in getattr(about, name).items():
            lines += ["", f"[{name}.{_key(metric)}]", *_scale_lines(scale)]
    return "\n".join(lines) + "\n"


def _scale_lines(scale: Scale) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in msgspec.structs.asdict(scale).items() if value not in (None, (), {})]


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, msgspec.Struct):
        return _value(msgspec.structs.asdict(value))
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, str):  # TOML's basic strings are JSON's, but for DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _key(name: str) -> str:
    return name if name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name) else _value(name)


def table_file(folder: Path, name: str) -> str:
    """What the file of a table is, or is to be, called."""
    found = find_table(folder, name) if folder.is_dir() else None
    return found.name if found else f"{name}.jsonl"


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a folder (`.gz` ones packed), all or none; other files in it stay as they are.

    A new folder is filled beside its place and then moved there. In one that exists, the files are written into a hidden folder first and
    then moved, in the order given; when one cannot be moved, those before it are put back. Raises StoreError.
    """
    packed = {name: gzip.compress(data, mtime=0) if name.endswith(".gz") else data for name, data in files.items()}
    target = folder.resolve()
    try:
        if target.is_dir():
            _replace_files(target, packed)
        else:
            _make_folder(target, packed)
    except OSError as err:
        raise StoreError(f"{folder} cannot be written ({err.strerror or err}); make room or choose another folder") from None


def _make_folder(target: Path, files: Mapping[str, bytes]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        _write_all(staged, files)
        staged.chmod(0o755)
        os.rename(staged, target)
    finally:  # Ctrl-C too leaves nothing behind
        shutil.rmtree(staged, ignore_errors=True)


def _replace_files(target: Path, files: Mapping[str, bytes]) -> None:
    staged = Path(tempfile.mkdtemp(dir=target, prefix=".import."))
    before: dict[str, Path | None] = {}
    try:
        _write_all(staged, files)
        for name in files:
            kept = staged / f"{name}.before"
            if (target / name).exists():
                _keep(target / name, kept)
            before[name] = kept if kept.exists() else None
            os.replace(staged / name, target / name)
    except BaseException:
        for name, old in before.items():
            if old is not None:
                os.replace(old, target / name)
            elif not (staged / name).exists():
                (target / name).unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _keep(path: Path, copy: Path) -> None:
    try:
        os.link(path, copy)
    except OSError:  # a file system without links
        shutil.copy2(path, copy)


def _write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        with (folder / name).open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
