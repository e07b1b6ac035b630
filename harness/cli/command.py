"""A command is a frozen dataclass whose fields are its flags.

The type of a field reads the value, the text below it is its help, and its default holds without the flag. A field with `kw_only=False` is
a positional argument. A field that holds options of the Python API stands for the flags among their fields. The text of the class has
examples. `command(first=...)` names the flags that people need most.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from dataclasses import field as dataclass_field
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from harness.cli.commands import known_commands
from harness.options import Flag, OneOf, Reads, ReadsEach, defining_class, field_texts, flag_hints

FIRST = "flags"
FORM = "form of the result (one of)"
"""The group of flags of which one at most is possible."""
SET = "--set"
"""The flag of all settings: `--set NAME=VALUE`."""


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(dataclass_field,))
class Command:
    """A command as it was called.

    A base class has what its flags share: `heading` above them in the help; `recorded`, if they say what is done, and so stand
    in a specification file and in the command that repeats a result, or only how it is shown.
    """

    heading: ClassVar[str] = "how much is shown"
    recorded: ClassVar[bool] = False
    target: ClassVar[str] = ""
    """the function that runs it: `module:function`, for commands of this package in harness.cli"""
    first: ClassVar[tuple[str, ...]] = ()
    """flags of groups or of base classes that the help shows first"""

    argv: tuple[str, ...] = ()
    """the words that it was called with"""
    stated: Mapping[str, Mapping[str, Any]] = dataclass_field(default_factory=dict)
    """the fields of each object of options that flags state, by the field that holds it"""
    spec: Annotated[Path | None, Flag(metavar="FILE")] = None
    """a file with flags and settings of this command (TOML); flags given here take precedence"""
    verbose: Annotated[bool, Flag("--verbose -v")] = False
    """show the traceback of an error, and of --dry-run each kind of prompt"""

    def __init_subclass__(cls, group: str = FIRST, recorded: bool = True) -> None:
        cls.heading, cls.recorded = group, recorded


C = TypeVar("C", bound=type[Command])


def command(target: str, first: str = "") -> Callable[[C], C]:
    """Return what makes a dataclass the command that a function of harness.cli runs."""

    def register(cls: C) -> C:
        cls.target, cls.first = target, tuple(first.split())
        return cls

    return register


class CommandField(NamedTuple):
    """A flag or a positional argument: a field of a command, or of an object of options that the command holds."""

    name: str
    hint: Any
    default: Any  # MISSING if a value is needed
    positional: bool
    kind: type  # the class of the command, or of the options
    owner: type  # the class that defines the field
    holder: str = ""  # the field of the command that holds the options

    @property
    def mark(self) -> Flag:
        """Return how the field is a flag."""
        return next((mark for _, marks in alternatives(self.hint) for mark in marks if isinstance(mark, Flag)), Flag())

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the flag, the first one first; of a positional argument what stands for it in the help."""
        name = self.name.upper() if self.positional else f"--{self.name.replace('_', '-')}"
        return tuple(self.mark.names.split() or [name])

    @property
    def key(self) -> str:
        """Return the name that a file and `--set` give the flag."""
        return self.name if self.positional else self.names[0].removeprefix("--").replace("-", "_")

    @property
    def group(self) -> str:
        return self.mark.group or getattr(self.owner, "heading", FIRST)

    @property
    def text(self) -> str:
        """Return the text below the field."""
        return field_texts(self.kind)[self.name]

    @property
    def required(self) -> bool:
        return self.default is MISSING

    @property
    def recorded(self) -> bool:
        """Return whether the flag says what is done, not how it is shown."""
        return getattr(self.owner, "recorded", True)

    @property
    def switch(self) -> bool:
        """Return whether the flag has no value."""
        return all(kind is bool for kind, _ in alternatives(self.hint))

    @property
    def several(self) -> bool:
        """Return whether the flag can be repeated, or whether several words can be the positional argument."""
        kinds = [(kind, [type(mark) for mark in marks]) for kind, marks in alternatives(self.hint)]
        return any(ReadsEach in marks or (get_origin(kind) is tuple and Reads not in marks) for kind, marks in kinds)

    @property
    def collect(self) -> Callable[[Any], Any] | None:
        """Return what puts the values of a repeated flag together."""
        return next((mark.collect for _, marks in alternatives(self.hint) for mark in marks if isinstance(mark, ReadsEach)), None)

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the values that are possible, if they are few."""
        values: list[str] = []
        for kind, marks in alternatives(self.hint):
            values += next((mark.values for mark in marks if isinstance(mark, OneOf)), ())
            values += get_args(kind) if get_origin(kind) is Literal else ()
        return tuple(values)


def alternatives(hint: Any, marks: tuple[Any, ...] = ()) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield each type that a type allows beside None, with the marks on it."""
    if get_origin(hint) is Annotated:
        yield from alternatives(hint.__origin__, (*marks, *hint.__metadata__))
    elif get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from alternatives(part, marks)
    elif hint is not NoneType:
        yield hint, marks


def class_of(name: str) -> type[Command]:
    """Return the dataclass of a command. It becomes one on its first use: to make all of them takes longer than to read a command."""
    module, _, class_name = known_commands(name.split())[name][0].partition(":")
    cls: type[Command] = getattr(importlib.import_module(module), class_name)
    for base in reversed(cls.__mro__):
        if issubclass(base, Command) and "__dataclass_fields__" not in vars(base):
            dataclass(frozen=True, kw_only=True)(base)
    return cls


def fields_of(cls: type[Any]) -> tuple[CommandField, ...]:
    """Return the fields of a command, with those of the options that it holds in place of these.

    Positional arguments come first, in their order; then the flags that people need, and the flags of all commands last.
    """
    return _ordered_fields(cast("Any", cls))  # mypy takes a class with fields for an object without a hash


@cache
def _ordered_fields(cls: type[Any]) -> tuple[CommandField, ...]:
    hints, members = get_type_hints(cls, include_extras=True), list[CommandField]()
    for field in fields(cls):
        hint = hints[field.name]
        options = flag_hints(hint) if isinstance(hint, type) else {}
        defaults = {part.name: _default_of(part) for part in fields(hint)} if options else {}
        members += [
            CommandField(name, flag_hint, defaults[name], False, hint, defining_class(hint, name), field.name)
            for name, flag_hint in options.items()
        ]
        if not options and field.name not in ("argv", "stated"):  # no flags
            members.append(CommandField(field.name, hint, _default_of(field), not field.kw_only, cls, defining_class(cls, field.name)))
    names = [*cls.first, *cls.__annotations__]

    def rank(member: CommandField) -> tuple[bool, int]:
        if member.positional:
            return False, 0
        if member.name in names:
            return True, names.index(member.name)
        return True, len(names) + (2 if member.owner is Command else 0 if member.holder else 1)

    return tuple(sorted(members, key=rank))


def _default_of(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def value_of(command: Command, name: str) -> Any:
    """Return the value of a flag by the name of its field, in the command or in the options that it holds."""
    holder = next((field.holder for field in fields_of(type(command)) if field.name == name), "")
    return getattr(getattr(command, holder) if holder else command, name)


def with_value(command: Command, name: str, value: Any) -> Command:
    """Return a command with another value of a flag, in the command or in the options that it holds."""
    holder = next((field.holder for field in fields_of(type(command)) if field.name == name), "")
    changed: Command = replace(
        cast("Any", command), **{holder: replace(getattr(command, holder), **{name: value})} if holder else {name: value}
    )
    return changed


def examples_of(name: str) -> list[str]:
    """Return the examples of a command, which stand in the text of its class."""
    lines = map(str.strip, (class_of(name).__doc__ or "").splitlines())
    return [line for line in lines if line.startswith(f"harness {name}")]
