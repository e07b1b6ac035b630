"""Define options for the API and for commands: an option is a field of a frozen dataclass with a type, a default and the text below it.

A type says how a text is read, and refuses another in a sentence. A field with a `Flag` is a flag of the command that takes the dataclass.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from harness.errors import UsageError

Majority = Literal["drop", "median", "strict"]
AltScoring = Literal["accuracy", "neg_rmse"]

RESAMPLES = 1000
"""Resamples of a bootstrap, where no option says another number."""
LEAST_EFFECTIVE = 15.0
"""Where groups stand for fewer equal groups, large ones are capped until they stand for so many."""

BAR_CORRELATION = 0.16
"""What texts of one group have in common at least, in tests against a bar. With few wrong texts in few groups an estimate is 0 by chance:
docs/error-rates.md."""

T = TypeVar("T")


class Flag(NamedTuple):
    """Describe how a field is a flag.

    Attributes:
        names: if they are not the field's, separated by spaces.
        metavar: what the help shows for the value.
        group: of flags in the help, if it is not the heading of the field's class.
        several: whether several words can follow the name.
        setting: whether few people need it: `--set NAME=VALUE` sets it, and `--help-settings` explains it, not the help of the command.
    """

    names: str = ""
    metavar: str = ""
    group: str = ""
    several: bool = False
    setting: bool = False


class OneOf(NamedTuple):
    """Make a type of a text that is one of several."""

    values: tuple[str, ...]


class Reads(NamedTuple):
    """Make a type of a function that reads one text."""

    parse: Callable[[str], Any]


class ReadsEach(NamedTuple):
    """Make a type of a function that reads one text of a flag that can be repeated, and of one that puts the values together."""

    parse: Callable[[str], Any]
    collect: Callable[[Any], Any] = tuple


class Options:
    """A base class of options; what each of several base classes checks is checked one after the other."""

    def __post_init__(self) -> None:
        pass


def flag_hints(kind: type) -> dict[str, Any]:
    """Return the types of the fields of an options class that are flags."""
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        texts = {name: text for name, text in inspect.get_annotations(base).items() if "Flag(" in str(text)}
        hints |= {name: eval(text, vars(sys.modules[base.__module__])) for name, text in texts.items()}
    return hints


def flag_name(kind: type, field: str) -> str:
    """Return the flag that sets a field of an options class."""
    names = next((mark.names.split() for mark in flag_hints(kind)[field].__metadata__ if isinstance(mark, Flag)), [])
    return names[0] if names else f"--{field.replace('_', '-')}"


def defining_class(kind: type, field: str) -> type:
    """Return the class that defines a field of an options class: itself or one of its base classes."""
    return next(base for base in kind.__mro__ if field in inspect.get_annotations(base))


def part_of(options: object, kind: type[T], **changes: Any) -> T:
    """Return the fields that some options and another class inherit from one class, as that other class.

    Args:
        options: what a command or a function takes.
        kind: what a step of its work takes.
        changes: fields of `kind` that the options do not say, or that differ.
    """

    def inherited(name: str) -> bool:
        first, second = defining_class(type(options), name), defining_class(kind, name)
        return issubclass(first, second) or issubclass(second, first)

    names = set(fields_named(type(options))) & set(fields_named(kind))
    return kind(**{name: getattr(options, name) for name in names if inherited(name)} | changes)


def fields_named(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass."""
    return tuple(field.name for field in fields(kind))


def field_texts(cls: type) -> dict[str, str]:
    """Return the text below each field of a class and of its base classes."""
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("harness."):
            texts |= _texts_of(base.__module__).get(base.__name__, {})
    return texts


@cache
def _texts_of(module: str) -> dict[str, dict[str, str]]:
    """Return the text below each field of each class of a module."""
    classes = [node for node in ast.parse(inspect.getsource(sys.modules[module])).body if isinstance(node, ast.ClassDef)]
    return {
        cls.name: {
            field.target.id: " ".join(text.value.value.split())
            for field, text in zip(cls.body, cls.body[1:], strict=False)
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
        }
        for cls in classes
    }


# ---- texts that become values


def _wrong(expected: str, text: str) -> ValueError:
    return ValueError(f"expected {expected}; got '{text}'")


def names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def annotators(text: str) -> int | tuple[str, ...]:
    """How many, or their codes."""
    return int(text) if text.isdecimal() else names(text)


def orders(text: str) -> tuple[str, ...]:
    values = {"forward": ("forward",), "swapped": ("swapped",), "both": ("forward", "swapped")}
    if text not in values:
        raise _wrong(", ".join(values), text)
    return values[text]


def shown_sources(text: str) -> tuple[str, ...]:
    if not set(names(text)) <= {"none", "correct", "swapped"}:
        raise _wrong("none, correct, swapped, or several of them separated by commas", text)
    return names(text)


def reask(text: str) -> tuple[str, ...]:
    if not set(names(text)) <= {"refused", "missing", "truncated"}:
        raise _wrong("refused, missing, truncated, or several of them separated by commas", text)
    return names(text)


def day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise _wrong("a day such as 2026-05-31", text) from None


def key_and_value(example: str, text: str) -> tuple[str, str]:
    """Return a name and its value. Raises UsageError, with an example, for another text."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError(f"'{text}' must be a name, '=' and a value, such as {example}")
    return name, value


# ---- numbers


def _number(text: str) -> float:
    """A number; NaN for another text, which no range has."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def temperatures(text: str) -> tuple[float, ...]:
    values = tuple(map(_number, text.split(",")))
    if not all(0 <= value < math.inf for value in values):
        raise ValueError(f"temperatures are numbers of 0 or more, separated by commas; got '{text}'")
    return values


def top_ps(text: str) -> tuple[float, ...]:
    values = tuple(map(_number, text.split(",")))
    if not all(0 < value <= 1 for value in values):
        raise ValueError(f"top-p is above 0 and at most 1; separate several values by commas; got '{text}'")
    return values


def single_temperature(text: str) -> float:
    return _single(temperatures(text), text)


def single_top_p(text: str) -> float:
    return _single(top_ps(text), text)


def _single(values: tuple[float, ...], text: str) -> float:
    if len(values) != 1:
        raise ValueError(f"one number is possible here; got '{text}'")
    return values[0]


def positive_number(text: str) -> float:
    if not 0 < _number(text) < math.inf:
        raise _wrong("a number above 0", text)
    return float(text)


def share(text: str) -> float:
    if positive_number(text) > 1:
        raise _wrong("a share above 0 and at most 1", text)
    return float(text)


def shares(text: str) -> tuple[float, ...]:
    """Several shares, such as `0.2,0.3,0.5` or `20,30,50`."""
    return tuple(0.0 if _is_zero(part) else positive_number(part) for part in text.split(","))


def non_negative_share(text: str) -> float:
    return 0.0 if _is_zero(text) else share(text)


def _is_zero(text: str) -> bool:
    return text != "" and text.strip("0.") == ""


def positive_integer(text: str) -> int:
    return _integer(text, 1)


def amount(text: str) -> int:
    return _integer(text, 0)


def seed(text: str) -> int:
    return _integer(text, 0)


def _integer(text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):  # every store and endpoint can hold nine digits
        raise _wrong(f"a whole number of {least} or more with at most nine digits", text)
    return int(text)


def port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) < 65536):
        raise _wrong("a port from 0 to 65535", text)
    return int(text)


# ---- what names a judge and a value


def per_judge(parse: Callable[[str], Any]) -> Callable[[str], tuple[str, Any]]:
    """`N` for every judge, `JUDGE=N` for one."""

    def parse_pair(text: str) -> tuple[str, Any]:
        judge, _, value = text.rpartition("=")
        return judge, parse(value)

    return parse_pair


integer_per_judge = per_judge(positive_integer)
number_per_judge = per_judge(positive_number)


def priced(text: str) -> tuple[str, float]:
    """`NAME=N`: a judge and US dollars, 0 or more."""
    name, _, dollars = text.rpartition("=")
    if not (name and 0 <= _number(dollars) < math.inf):
        raise _wrong("a judge and US dollars, such as openai/gpt-4o=1.25", text)
    return name, float(dollars)


def own_system(text: str) -> tuple[str, str]:
    """`JUDGE=SYSTEM`."""
    judge, _, system = text.partition("=")
    if not (judge and system):
        raise _wrong("JUDGE=SYSTEM", text)
    return judge, system


def tuned_judge(text: str) -> tuple[str, str]:
    """`NEW=OLD`, two judges."""
    new, _, old = text.partition("=")
    if not (new and old) or new == old:
        raise _wrong("NEW=OLD, two judges", text)
    return new, old


def base_url(text: str) -> tuple[str, str]:
    """`URL` for every judge, `JUDGE=URL` for one."""
    judge, equals, _ = text.partition("=http")
    if "://" in judge or not equals:
        return "", text
    return judge, text[len(judge) + 1 :]


def header(text: str) -> tuple[str, str]:
    """`NAME=VALUE` for every judge, `JUDGE=NAME=VALUE` for one. The value may be a secret, and is not shown."""
    key, equals, value = _of_request(text)
    if not equals:
        raise ValueError("expected NAME=VALUE or JUDGE=NAME=VALUE, such as X-Project=42")
    return key, value


def body_field(text: str) -> tuple[str, Any]:
    """`NAME=VALUE` for every judge, `JUDGE=NAME=VALUE` for one. A value that is JSON is read as such, any other is a text."""
    key, equals, value = _of_request(text)
    if not equals:
        raise _wrong("NAME=VALUE or JUDGE=NAME=VALUE, such as reasoning_effort=low", text)
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return key, value
    try:
        json.dumps(parsed, allow_nan=False)
    except ValueError:
        raise _wrong("NAME=VALUE with numbers that JSON has, which are finite", text) from None
    return key, parsed


def _of_request(text: str) -> tuple[str, str, str]:
    """The name, with its judge if there is one (whose name has a slash), the sign between, and the value."""
    name, equals, value = text.partition("=")
    if "/" in name and equals:
        field, equals, value = value.partition("=")
        name = f"{name}={field}"
    return (name, equals, value) if name.rpartition("=")[2] else (name, "", value)


# ---- types


Names = Annotated[tuple[str, ...], Reads(names)]
Codes = Annotated[int | tuple[str, ...], Reads(annotators)]
Orders = Annotated[tuple[Literal["forward", "swapped"], ...], Reads(orders)]
ShownSources = Annotated[tuple[Literal["none", "correct", "swapped"], ...], Reads(shown_sources)]
Reask = Annotated[tuple[str, ...], Reads(reask)]
CalendarDay = Annotated[date, Reads(day)]
Temperatures = Annotated[tuple[float, ...], Reads(temperatures)]
Temperature = Annotated[float, Reads(single_temperature)]
TopP = Annotated[float, Reads(single_top_p)]
PositiveNumber = Annotated[float, Reads(positive_number)]
Share = Annotated[float, Reads(share)]
NonNegativeShare = Annotated[float, Reads(non_negative_share)]
Shares = Annotated[tuple[float, ...], Reads(shares)]
Count = Annotated[int, Reads(positive_integer)]
Amount = Annotated[int, Reads(amount)]
"""A number of things, 0 or more."""
Seed = Annotated[int, Reads(seed)]
Port = Annotated[int, Reads(port)]
PricedJudges = Annotated[tuple[tuple[str, float], ...], ReadsEach(priced)]
OwnSystems = Annotated[Mapping[str, str], ReadsEach(own_system, dict)]
TunedJudges = Annotated[Mapping[str, str], ReadsEach(tuned_judge, dict)]


@dataclass(frozen=True, kw_only=True)
class ContentFolders(Options):
    """Say where content is, beside the bundled one."""

    heading: ClassVar[str] = "content"

    content: Annotated[tuple[Path, ...], Flag(metavar="DIR")] = ()
    """another folder with tasks/, languages/, rubrics/; a folder with content.lock (a checkout) replaces the bundled content"""
