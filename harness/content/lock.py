"""content.lock: one line a content unit with its version and the hash of its files.

Versions are for people; hashes catch the edit that nobody bumped. A unit is a task, a rubric, a language pack, the instructions in a
language, a recipe of a data set or a board of the bundled content; `--content` folders belong to somebody else and are not locked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from harness.content.library import Library
from harness.content.problem import Problem, from_error, line_of
from harness.content.specs import Board, DataFolder, Instructions, Pack, Rubric, Task, read_spec
from harness.errors import ContentError
from harness.tables import write_atomic

_HOW = "run 'harness check --accept'"
_LINE = re.compile(r"(\S+/\S+) (\d+\.\d+\.\d+) ([0-9a-f]{64})")
_KEYHOLDERS = re.compile(rb"^recipients[ \t]*=[ \t]*\[[^\]]*\][ \t]*\n", re.MULTILINE)  # who can open a board's labels moves no number
_VERSION_KEY = r"^[ \t]*version[ \t]*="
_AnySpec = Task | Rubric | Pack | Instructions | DataFolder | Board

# Kind of unit -> where its TOML file is, what that file holds, and which files beside it are hashed with it.
_KINDS: dict[str, tuple[str, type[_AnySpec], tuple[str, ...]]] = {
    "tasks": ("tasks/*/task.toml", Task, ()),
    "rubrics": ("rubrics/*.toml", Rubric, ()),
    "languages": ("languages/*/pack.toml", Pack, ("items/*.jsonl", "labels/*.jsonl")),
    "instructions": ("languages/*/instructions.toml", Instructions, ()),
    "datasets": ("datasets/*/data.toml", DataFolder, ()),
    "leaderboards": ("leaderboards/*/board.toml", Board, ()),
}


class Entry(msgspec.Struct, frozen=True):
    """What content.lock says about one unit."""

    version: str
    sha256: str


class _Unit(msgspec.Struct, frozen=True):
    name: str  # e.g. `tasks/summarize`
    kind: type[_AnySpec]
    toml: Path
    files: tuple[Path, ...]  # the TOML file and those that are hashed with it


def lock_path(library: Library) -> Path:
    """Where content.lock is: in the bundled root, whatever other folders there are."""
    return library.roots[0] / "content.lock"


def current(library: Library) -> dict[str, Entry]:
    """`{unit: entry}` as content.lock should be, sorted. Raises ContentError for a unit whose files cannot be read."""
    return {unit.name: _entry(unit) for unit in _units(library)}


def read(path: Path) -> dict[str, Entry]:
    """`{unit: entry}` of a content.lock; empty when there is no such file yet, so that everything is new.

    Raises ContentError with `file:line` for a line that is none of it (a merge conflict, say) and for a unit that stands there twice.
    """
    entries: dict[str, Entry] = {}
    for number, line in enumerate(_bytes(path).decode("utf-8", errors="replace").splitlines() if path.exists() else [], start=1):
        found = _LINE.fullmatch(line)
        if not found:
            raise ContentError(f"not a line of content.lock: {line[:60]!r}; lines look like 'tasks/summarize 1.0.0 <sha256>'", path, number)
        name, version, sha256 = found.groups()
        if name in entries:
            raise ContentError(f"'{name}' stands here twice; keep the line that belongs to its version", path, number)
        entries[name] = Entry(version, sha256)
    return entries


def differences(library: Library) -> list[Problem]:
    """Where content and content.lock do not agree. Units that cannot be read are problems too, so that none passes unseen."""
    path = lock_path(library)
    try:
        accepted = read(path)
    except ContentError as err:
        return [from_error(err)]
    found: list[Problem] = []
    units = list(_units(library))
    for unit in units:
        try:
            message = _complaint(unit.name, accepted.get(unit.name), _entry(unit))
        except ContentError as err:
            found.append(from_error(err))
            continue
        if message:
            found.append(Problem(unit.toml, line_of(unit.toml, _VERSION_KEY), message))
    for name in accepted.keys() - {unit.name for unit in units}:
        found.append(Problem(path, line_of(path, f"^{re.escape(name)} "), f"{name} is in content.lock but gone: restore it, or {_HOW}"))
    return sorted(found, key=lambda problem: (str(problem.path), problem.line or 0))


def accept(library: Library) -> list[str]:
    """Write content.lock for the content as it is, and return the units whose line is new, changed or gone, sorted.

    Raises ContentError, and writes nothing, when a unit's content changed without its version being raised, when a version is lower
    than it was, and for what cannot be read.
    """
    path = lock_path(library)
    accepted, entries = read(path), {}
    for unit in _units(library):
        was, now = accepted.get(unit.name), _entry(unit)
        if was and was != now and _triple(now.version) <= _triple(was.version):
            raise ContentError(str(_complaint(unit.name, was, now)), unit.toml, line_of(unit.toml, _VERSION_KEY))
        entries[unit.name] = now
    write_atomic(path, "".join(f"{name} {entry.version} {entry.sha256}\n" for name, entry in entries.items()))
    return sorted(name for name in accepted.keys() | entries.keys() if accepted.get(name) != entries.get(name))


def _complaint(name: str, was: Entry | None, now: Entry) -> str | None:
    if was is None:
        return f"{name} is new, not in content.lock: {_HOW}"
    if was == now:
        return None
    if _triple(now.version) == _triple(was.version):
        return f"content of {name} changed but its version is still {now.version}: raise the version, then {_HOW}"
    if _triple(now.version) < _triple(was.version):
        return f"version {now.version} of {name} is lower than {was.version} in content.lock: raise it above that, then {_HOW}"
    return f"version {now.version} is not in content.lock yet: {_HOW}"


def _triple(version: str) -> tuple[int, ...]:
    """`1.10.0` is above `1.9.0`, which it is not as text."""
    return tuple(int(part) for part in version.split("."))


def _units(library: Library) -> Iterator[_Unit]:
    units = []
    for word, (pattern, kind, beside) in _KINDS.items():
        for toml in library.roots[0].glob(pattern):
            name = toml.stem if pattern.endswith("/*.toml") else toml.parent.name
            files = (toml, *(path for more in beside for path in toml.parent.glob(more)))
            units.append(_Unit(f"{word}/{name}", kind, toml, files))
    yield from sorted(units, key=lambda unit: unit.name)


def _entry(unit: _Unit) -> Entry:
    return Entry(read_spec(unit.toml, unit.kind).version, _sha256(unit))


def _sha256(unit: _Unit) -> str:
    """Hash over names (relative to the unit's folder), lengths and bytes: moving text from one file to the next changes it too."""
    parts = {path.relative_to(unit.toml.parent).as_posix(): _bytes(path) for path in unit.files}
    if unit.kind is Board:
        parts = {name: _KEYHOLDERS.sub(b"", content) for name, content in parts.items()}
    digest = hashlib.sha256()
    for name, content in sorted(parts.items()):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as err:
        raise ContentError(f"cannot be read: {err.strerror or err}", path) from None
