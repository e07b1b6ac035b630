"""Problems in content: the fault, its file and its line; faults of scales and wrong keys of TOML files among them.

`harness check` collects problems instead of stopping at the first error. In TOML a key below a `[table]` is part of that table, so that a
key that is added at the end of a file often lands in the last table: `wrong_key` says where it belongs.
"""

from __future__ import annotations

import re
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from harness.content.tags import suggest
from harness.errors import ContentError
from harness.model import MOST_CLASSES, MOST_SCORE, Scale, Score

# Messages about a TOML file, each with a regular expression for the line to correct.
Complaints = Iterator[tuple[str, str]]


class Problem(msgspec.Struct, frozen=True):
    """One thing to correct. `line` is None where no line is at fault, such as for a missing file."""

    path: Path
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


def problem_from_error(err: ContentError) -> Problem:
    """Return the problem that an error reports."""
    location = f"{err.path}:{err.line}" if err.line else f"{err.path}"
    return Problem(err.path, err.line, str(err).removeprefix(f"{location}: "))


def line_of(path: Path, pattern: str, nth: int = 1) -> int | None:
    """Return the line (from 1) of the `nth` match of a regular expression in a text file. TOML parsers do not keep line numbers.

    `^` matches at the beginning of a line; blanks and empty lines that begin a match do not count. None when there is no such match or no
    such file.
    """
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return None
    for count, match in enumerate(re.finditer(pattern, text, re.MULTILINE), start=1):
        if count == nth:
            begin = match.end() - len(match[0].lstrip())
            return text.count("\n", 0, begin) + 1
    return None


def key_pattern(name: str) -> str:
    """Return a regular expression for the line that sets a key (`name = ...`) or opens its table."""
    return rf"(?:^[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*=|^\[+(?:\w+\.)*{re.escape(name)}\]+)"


def duplicates(names: Iterable[Score]) -> list[Score]:
    """Names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def scale_complaints(scale: Scale, *, needs_best: bool = True) -> Complaints:
    """Yield what is wrong with a scale, each with a pattern for the line to correct."""
    # What no rating has: more classes than tables of all pairs have room for, and scores whose squares are no numbers.
    if len(scale.classes) > MOST_CLASSES:
        yield (
            f"{len(scale.classes):,} classes; at most {MOST_CLASSES} can be compared: join classes, or for scores that are numbers write "
            'kind = "interval" with min and max',
            key_pattern("classes"),
        )
    for name, score in (("min", scale.min), ("max", scale.max), *(("classes", score) for score in scale.classes)):
        if isinstance(score, (int, float)) and not abs(score) <= MOST_SCORE:
            yield f"{score:g} is too large for a score; the most is {MOST_SCORE:g}", key_pattern(name)
            break
    bounds = (scale.min, scale.max)
    if scale.kind == "interval":
        if scale.min is None or scale.max is None or scale.min >= scale.max:
            yield f"an interval scale needs min and max, with min below max; found {bounds[0]} and {bounds[1]}", key_pattern("kind")
        if scale.classes:
            yield "an interval scale has no classes; remove them, or change kind to 'ordinal'", key_pattern("classes")
        if scale.steps and (len(scale.steps) < 2 or list(scale.steps) != sorted({*scale.steps}) or not all(map(scale.holds, scale.steps))):
            message = f"steps are two or more scores from {scale.describe()}, the lowest first; found: {', '.join(map(str, scale.steps))}"
            yield message, key_pattern("steps")
    else:
        if len(scale.classes) < 2:
            yield f"a scale of kind '{scale.kind}' needs at least two classes; found: {scale.describe() or 'none'}", key_pattern("kind")
        if bounds != (None, None):
            yield f"min and max belong to interval scales, and this one is '{scale.kind}'; list classes only", key_pattern("kind")
        if scale.steps:
            yield f"steps belong to interval scales, and this one is '{scale.kind}'; list classes only", key_pattern("steps")
        for repeated in duplicates(scale.classes):
            yield f"class {repeated!r} is listed twice", key_pattern("classes")
    if needs_best and scale.best is None and scale.kind != "nominal":
        yield f"a scale of kind '{scale.kind}' needs 'best', the most desirable score", key_pattern("kind")
    if scale.best is not None and not scale.holds(scale.best):
        yield f"best is {scale.best!r}, which is outside the scale ({scale.describe()})", key_pattern("best")
    names = {str(score) for score in scale.classes}
    for swapped_from, other in scale.swap.items():
        if not {swapped_from, other} <= names:
            yield f"swap turns '{swapped_from}' into '{other}', but the classes are: {scale.describe()}", key_pattern("swap")
        elif scale.swap.get(other, other) != swapped_from:
            yield f"swap turns '{swapped_from}' into '{other}' but not back; a second swap must undo the first", key_pattern("swap")


_KEY = r"""[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*'"""
_HEADING = re.compile(rf"\s*\[\[?\s*((?:{_KEY})(?:\s*\.\s*(?:{_KEY}))*)\s*\]")
_SETTING = re.compile(rf"\s*((?:{_KEY})(?:\s*\.\s*(?:{_KEY}))*)\s*=")
Trail = tuple[str, ...]
"""The keys that lead to a place in a file, without the numbers of list entries."""


class WrongKey(NamedTuple):
    """A key that cannot stand where it stands: the keys that lead to it, and a sentence."""

    trail: Trail
    message: str


class _Around(NamedTuple):
    """A table around the one that is looked at: the keys that lead to it, and its struct."""

    trail: Trail
    kind: type


def wrong_key(content: Mapping[str, Any], kind: type) -> WrongKey | None:
    """Return the first key of a file's content that does not fit the struct `kind`; None where there is none.

    A key of a table with free names is wrong too, if it is the name of a setting around that table with a value that this setting can have:
    `sampling = "random"` below `[tasks]` would else be a task.
    """
    return next(_faults(content, kind, (), ()), None)


def key_line(text: str, trail: Trail) -> int | None:
    """Return the line of a key in a TOML text; the line of the nearest table around it where it has none of its own (an inline table)."""
    # The first line of each key. Lines within texts of several lines are left out.
    lines: dict[Trail, int] = {}
    table: Trail = ()
    quoted = False
    for number, line in enumerate(text.splitlines(), start=1):
        was_quoted, quoted = quoted, quoted ^ (len(re.findall(r"\"\"\"|'''", line)) % 2 == 1)
        if was_quoted:
            continue
        if heading := _HEADING.match(line):
            table = _parts(heading[1])
            lines.setdefault(table, number)
        elif setting := _SETTING.match(line):
            lines.setdefault((*table, *_parts(setting[1])), number)
    return next((lines[trail[:end]] for end in range(len(trail), 0, -1) if trail[:end] in lines), None)


def _parts(dotted: str) -> Trail:
    return tuple(key.strip("\"'") for key in re.findall(_KEY, dotted))


def _faults(value: Any, kind: Any, trail: Trail, around: tuple[_Around, ...]) -> Iterator[WrongKey]:
    kind = _meant(kind, value)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, Mapping):
        fields, tables = _fields(kind), (*around, _Around(trail, kind))
        for key, below in value.items():
            if key in fields:
                yield from _faults(below, fields[key], (*trail, key), tables)
            else:
                yield WrongKey((*trail, key), _unknown(key, below, kind, around, trail))
    elif get_origin(kind) is dict and isinstance(value, Mapping):
        inner = get_args(kind)[1]
        for key, below in value.items():
            if (home := _home(key, below, around)) is not None and not (_fits(below, inner) and not _is_choice(home, key, below)):
                yield WrongKey((*trail, key), f"'{key}' stands in {_table(trail)} and belongs {_place(home.trail)}")
            yield from _faults(below, inner, (*trail, key), around)
    elif get_origin(kind) is tuple and isinstance(value, list) and _is_struct(get_args(kind)[0]):
        for below in value:
            yield from _faults(below, get_args(kind)[0], trail, around)


def _unknown(key: str, value: Any, kind: type, around: tuple[_Around, ...], trail: Trail) -> str:
    """Return the sentence about a key that a struct does not have."""
    said = f"Object contains unknown field `{key}`"
    if home := _home(key, value, around):
        return f"{said} in {_table(trail)}; it belongs {_place(home.trail)}"
    inside = [name for name, inner in _fields(kind).items() if _is_struct(inner) and key in _fields(_plain(inner))]
    if inside:
        return f"{said}{f' in {_table(trail)}' if trail else ''}; it belongs in [{'.'.join((*trail, inside[0]))}]"
    return f"{said}{f' in {_table(trail)}' if trail else ''}.{suggest(key, _fields(kind))}".rstrip(".")


def _home(key: str, value: Any, around: tuple[_Around, ...]) -> _Around | None:
    """Return the nearest table around that has a setting of this name which can have this value."""
    return next((table for table in reversed(around) if key in _fields(table.kind) and _fits(value, _fields(table.kind)[key])), None)


def _is_choice(home: _Around, key: str, value: Any) -> bool:
    """Return True if a setting is a choice among some texts, and the value is one of them: more than chance."""
    return isinstance(value, str) and get_origin(_meant(_fields(home.kind)[key], value)) is Literal


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _table(trail: Trail) -> str:
    return f"[{'.'.join(trail)}]"


def _place(trail: Trail) -> str:
    return f"in {_table(trail)}" if trail else "at the top of the file, above the first [table]"


def _meant(kind: Any, value: Any) -> Any:
    """Return the type without annotations and None; of several types, the one that is a table if the value is one."""
    kind = _plain(kind)
    if get_origin(kind) in (Union, types.UnionType):
        options = [_plain(option) for option in get_args(kind) if option is not type(None)]
        return next(
            (option for option in options if isinstance(value, Mapping) == (_is_struct(option) or get_origin(option) is dict)), options[0]
        )
    return kind


def _plain(kind: Any) -> Any:
    return _plain(get_args(kind)[0]) if get_origin(kind) is Annotated else kind


def _is_struct(kind: Any) -> bool:
    kind = _plain(kind)
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


@cache
def _fields(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(kind)}
