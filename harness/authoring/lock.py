"""content.lock: one line for each unit of content, with its version and the hash of its files.

Versions are for people; hashes reveal an edit without a new version. A version below 1.0.0 is a draft: nobody has used it, so it may
change without a new version. Units are tasks, requests to write, rubrics, language packs,
instructions in a language, interfaces, lexicons, dataset cards, boards and collections of the bundled
content. `--content` folders belong to users
and are not locked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from harness.content.library import KINDS, LOCK, AnySpec, ContentKind, Library
from harness.content.problems import Problem, line_of, problem_from_error
from harness.content.specs import Board, Pack, read_spec
from harness.errors import ContentError, unreadable
from harness.row_files import write_atomic

_ACCEPT = "run 'harness check --accept'"
_LINE = re.compile(r"(\S+/\S+) (\d+\.\d+\.\d+) ([0-9a-f]{64})")
_KEYHOLDERS = re.compile(rb"^recipients[ \t]*=[ \t]*\[[^\]]*\][ \t]*\n", re.MULTILINE)  # does not affect any number
_VERSION_KEY = r"^[ \t]*version[ \t]*="
_KINDS = KINDS | {
    "packs": ContentKind(Pack, "languages/*/packs/*/pack.toml", "further pack"),
}
_TABLES = ("items/*.jsonl", "labels/*.jsonl")  # of a language pack, which are in its hash


class LockEntry(msgspec.Struct, frozen=True):
    """The version and hash of one unit."""

    version: str
    sha256: str


class _Unit(msgspec.Struct, frozen=True):
    name: str  # e.g. `tasks/summarize`
    kind: type[AnySpec]
    toml: Path
    files: tuple[Path, ...]  # the TOML file and the others in the hash


def lock_path(library: Library) -> Path:
    """Return the path of content.lock: always in the first root."""
    return library.roots[0] / LOCK


def current(library: Library) -> dict[str, LockEntry]:
    """`{unit: entry}` of the current content, sorted. Raises ContentError for a unit with unreadable files."""
    return {unit.name: _entry(unit) for unit in _units(library)}


def read(path: Path) -> dict[str, LockEntry]:
    """`{unit: entry}` of a content.lock; empty if the file does not exist yet.

    Raises ContentError with `file:line` for an invalid line (such as a merge conflict) and for a unit that is listed twice.
    """
    entries: dict[str, LockEntry] = {}
    for number, line in enumerate(_bytes(path).decode("utf-8", errors="replace").splitlines() if path.exists() else [], start=1):
        match = _LINE.fullmatch(line)
        if not match:
            raise ContentError(f"not a line of content.lock: {line[:60]!r}; lines look like 'tasks/summarize 1.0.0 <sha256>'", path, number)
        name, version, sha256 = match.groups()
        if name in entries:
            raise ContentError(f"'{name}' is listed twice; keep the line with its current version", path, number)
        entries[name] = LockEntry(version, sha256)
    return entries


def differences(library: Library) -> list[Problem]:
    """Problems where content and content.lock differ. A unit that cannot be read is a problem too."""
    path = lock_path(library)
    try:
        accepted = read(path)
    except ContentError as err:
        return [problem_from_error(err)]
    problems: list[Problem] = []
    units = list(_units(library))
    for unit in units:
        try:
            message = _complaint(unit.name, accepted.get(unit.name), _entry(unit))
        except ContentError as err:
            problems.append(problem_from_error(err))
            continue
        if message:
            problems.append(Problem(unit.toml, line_of(unit.toml, _VERSION_KEY), message))
    for name in accepted.keys() - {unit.name for unit in units}:
        problems.append(
            Problem(path, line_of(path, f"^{re.escape(name)} "), f"{name} is in content.lock but does not exist: restore it, or {_ACCEPT}")
        )
    return sorted(problems, key=lambda problem: (str(problem.path), problem.line or 0))


def accept(library: Library) -> list[str]:
    """Write content.lock for the current content. Return the units whose line is new, changed or removed, sorted.

    Raises ContentError and writes nothing if a unit that is no draft changed without a higher version, if a version is lower than before,
    or if a file cannot be read.
    """
    path = lock_path(library)
    accepted, entries = read(path), {}
    for unit in _units(library):
        old, new = accepted.get(unit.name), _entry(unit)
        if old and old != new and not _may_replace(old, new):
            raise ContentError(str(_complaint(unit.name, old, new)), unit.toml, line_of(unit.toml, _VERSION_KEY))
        entries[unit.name] = new
    write_atomic(path, "".join(f"{name} {entry.version} {entry.sha256}\n" for name, entry in entries.items()))
    return sorted(name for name in accepted.keys() | entries.keys() if accepted.get(name) != entries.get(name))


def _complaint(name: str, old: LockEntry | None, new: LockEntry) -> str | None:
    if old is None:
        return f"{name} is new, not in content.lock: {_ACCEPT}"
    if old == new:
        return None
    if _may_replace(old, new):
        return (
            f"the draft {name} changed: {_ACCEPT}"
            if new.version == old.version
            else f"version {new.version} is not in content.lock yet: {_ACCEPT}"
        )
    if _triple(new.version) == _triple(old.version):
        return f"content of {name} changed but its version is still {new.version}: raise the version, then {_ACCEPT}"
    return f"version {new.version} of {name} is lower than {old.version} in content.lock: raise it above that, then {_ACCEPT}"


def _may_replace(old: LockEntry, new: LockEntry) -> bool:
    return _triple(new.version) > _triple(old.version) or (new.version == old.version and is_draft(new.version))


def is_draft(version: str) -> bool:
    """Return True if content of this version was never published.

    >>> is_draft("0.1.0"), is_draft("1.0.0")
    (True, False)
    """
    return _triple(version) < (1, 0, 0)


def _triple(version: str) -> tuple[int, ...]:
    """Return the version as numbers: `1.10.0` is higher than `1.9.0`."""
    return tuple(int(part) for part in version.split("."))


def _units(library: Library) -> Iterator[_Unit]:
    units = []
    for word, kind in _KINDS.items():
        for toml in library.roots[0].glob(kind.pattern):
            name = toml.stem if kind.pattern.endswith("/*.toml") else toml.parent.name
            if word == "packs":  # `packs/cs/hard`
                name = f"{toml.parent.parent.parent.name}/{name}"
            tables = (path for below in _TABLES for path in toml.parent.glob(below)) if kind.spec is Pack else ()
            units.append(_Unit(f"{word}/{name}", kind.spec, toml, (toml, *tables)))
    yield from sorted(units, key=lambda unit: unit.name)


def _entry(unit: _Unit) -> LockEntry:
    # Hash of names (relative to the unit's folder), lengths and bytes. Moving text between files changes it too.
    parts = {path.relative_to(unit.toml.parent).as_posix(): _bytes(path) for path in unit.files}
    if unit.kind is Board:
        parts = {name: _KEYHOLDERS.sub(b"", content) for name, content in parts.items()}
    digest = hashlib.sha256()
    for name, content in sorted(parts.items()):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return LockEntry(read_spec(unit.toml, unit.kind).version, digest.hexdigest())


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as err:
        raise unreadable(err, path) from None
