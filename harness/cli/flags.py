"""A command is a frozen dataclass whose fields are its flags: how they are read, explained and refused.

The type of a field reads the value, the text below it is its help, and its default holds without the flag. A field with `kw_only=False` is
a positional argument. The text of the class has examples. `command(first=...)` names the flags that people need most.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from cyclopts import App, Argument, ArgumentCollection, CycloptsError, Group, Parameter
from cyclopts.exceptions import CoercionError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError, ValidationError

from harness.cli.commands import LEAVES
from harness.options import field_texts

FIRST = "flags"


def _only_one(arguments: ArgumentCollection) -> None:
    """Raise ValueError where two flags of a group are given of which one is possible."""
    names = [argument.tokens[0].keyword or argument.name for argument in arguments if argument.tokens]
    if len(names) > 1:
        raise ValueError(f"argument {names[1]}: not allowed with argument {names[0]}")


FORM = Group("form of the result (one of)", validator=_only_one)


def flag(**settings: Any) -> Parameter:
    """Return how a field is a flag: `name` if it is not the field's, `metavar` for its value, `group` in the help."""
    return Parameter(**settings)


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command as it was called.

    A base class has what its flags share: `heading` above them in the help; `recorded`, if they say what is done, and so stand
    in a specification file and in the command that repeats a result, or only how it is shown.
    """

    heading: ClassVar[str] = "how much is shown"
    recorded: ClassVar[bool] = False
    target: ClassVar[str] = ""
    """the function that runs it, `module:function` in harness.cli"""
    first: ClassVar[tuple[str, ...]] = ()
    """flags of groups or of base classes that the help shows first"""

    argv: Annotated[tuple[str, ...], Parameter(parse=False)] = ()
    """the words that it was called with"""
    verbose: Annotated[bool, flag(name=("--verbose", "-v"))] = False
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


def owner_of(cls: type[Command], field: str) -> type[Command]:
    """Return the class that defines a field of a command."""
    return next(base for base in cls.__mro__ if issubclass(base, Command) and field in inspect.get_annotations(base))


def class_of(name: str) -> type[Command]:
    """Return the dataclass of a command."""
    module, _, cls = LEAVES[name].partition(":")
    found: type[Command] = getattr(importlib.import_module(f"harness.cli.commands.{module}"), cls)
    return found


# ---- reading


def read_flags(name: str, words: Sequence[str]) -> Command:
    """Return a command with its flags. Raises SystemExit, after a sentence, for words that cannot be read."""
    try:
        build, bound, _ = app_of(name).parse_args(list(words), exit_on_error=False, print_error=False)
    except CycloptsError as err:
        refuse(name, _sentence(err, name, words))
    command: Command = build(*bound.args, **bound.kwargs)
    return replace(command, argv=(*name.split(), *words))


def app_of(name: str, *, explained: bool = False) -> App:
    """Return the reader of a command's flags.

    Args:
        explained: whether flags have their help, which is read from the source and takes time.
    """
    cls = class_of(name)

    def build(*values: Any, **flags: Any) -> Command:
        return cls(*values, **flags)

    build.__signature__ = _signature(cls, field_texts(cls) if explained else {})  # type: ignore[attr-defined]
    settings = Parameter(negative="", allow_repeating=True)
    app = App(name=name.split()[-1], help_flags=[], version_flags=[], help_format="plaintext", default_parameter=settings)
    app.default(build)
    return app


def _signature(cls: type[Command], texts: Mapping[str, str]) -> inspect.Signature:
    """Return the fields of a command as parameters: positional arguments, its own flags, those of its base classes."""
    hints = get_type_hints(cls, include_extras=True)
    names = [*cls.first, *cls.__annotations__]

    def rank(parameter: inspect.Parameter) -> tuple[int, int]:
        """Positional arguments keep their order; flags of base classes come after the others, and those of all commands last."""
        if parameter.kind is not parameter.KEYWORD_ONLY:
            return parameter.kind, 0
        later = len(names) + (owner_of(cls, parameter.name) is Command)
        return parameter.kind, names.index(parameter.name) if parameter.name in names else later

    parameters = []
    for parameter in sorted(inspect.signature(cls).parameters.values(), key=rank):
        hint = hints[parameter.name]
        plain, metadata = (hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())
        kind = parameter.POSITIONAL_ONLY if parameter.kind is parameter.POSITIONAL_OR_KEYWORD else parameter.kind
        about = Parameter(help=texts.get(parameter.name))
        if kind is parameter.KEYWORD_ONLY:
            about = Parameter(help=texts.get(parameter.name), group=owner_of(cls, parameter.name).heading)
        parameters.append(parameter.replace(kind=kind, annotation=Annotated[(plain, about, *metadata)]))
    return inspect.Signature(parameters)


def arguments_of(name: str, *, explained: bool = False) -> ArgumentCollection:
    """Return the arguments of a command, with their help if it is needed."""
    return app_of(name, explained=explained).assemble_argument_collection(parse_docstring=False).filter_by(parse=True)


def recorded_arguments(name: str) -> list[Argument]:
    """Return the arguments of a command that say what is done, not how it is shown."""
    cls = class_of(name)
    return [argument for argument in arguments_of(name) if owner_of(cls, argument.field_info.name).recorded]


def examples_of(name: str) -> list[str]:
    """Return the examples of a command, which stand in the text of its class."""
    lines = map(str.strip, (class_of(name).__doc__ or "").splitlines())
    return [line for line in lines if line.startswith(f"harness {name}")]


def repeats(argument: Argument) -> bool:
    """Return whether a flag can be given several times, once for each value."""
    hint = next((part for part in get_args(argument.hint) if get_origin(part) is tuple), argument.hint)  # of `tuple[...] | None`
    if get_origin(hint) is not tuple:
        return False
    return argument.parameter.converter is None or get_origin(get_args(hint)[0]) is tuple


def group_of(argument: Argument) -> str:
    """Return the group of a flag."""
    groups = argument.parameter.group
    group = groups[0] if isinstance(groups, tuple) else groups
    return group.name if isinstance(group, Group) else str(group)


# ---- what cannot be read


def refuse(name: str, message: str) -> NoReturn:
    """Say why the words of a command cannot be read, and exit."""
    print(f"{f'harness {name}'.strip()}: {message}", file=sys.stderr)
    raise SystemExit(2)


def _sentence(err: CycloptsError, name: str, words: Sequence[str]) -> str:
    def suggested(word: str, words: Sequence[str]) -> str:
        from harness.content.tags import suggest  # late: it takes time

        return suggest(word, words)

    where = f"'harness {name} --help' lists all flags"
    match err:
        case UnknownOptionError():
            option = (err.token.keyword or err.token.value).partition("=")[0]
            at = next(index for index, word in enumerate(words) if word.partition("=")[0] == option or word.startswith(option))
            value = [word for word in words[at + 1 : at + 2] if not word.startswith("-")]
            flags = [option for argument in arguments_of(name) for option in argument.names]
            return f"unrecognized arguments: {' '.join([words[at], *value])}.{suggested(option, flags)} {where}"
        case UnusedCliTokensError():
            return f"unrecognized arguments: {' '.join(err.unused_tokens or ())}. {where}"
        case MissingArgumentError() if err.argument is not None:
            if err.keyword or err.argument.tokens:
                return f"argument {err.keyword or err.argument.name}: expected one argument"
            return _missing(name, err.argument.name, words)
        case CoercionError() if err.argument is not None:
            value_text = err.token.value if err.token else ""
            flag_name = (err.token and err.token.keyword) or err.argument.name
            if err.msg is not None:
                return f"argument {flag_name}: {err.msg}"
            if choices := err.argument.get_choices():
                choose = f"(choose from {', '.join(choices)}).{suggested(value_text, choices)}"
                return f"argument {flag_name}: invalid choice: '{value_text}' {choose}"
            return f"argument {flag_name}: invalid {getattr(err.target_type, '__name__', err.target_type)} value: '{value_text}'"
        case ValidationError():
            return err.exception_message
    return str(err)


def _missing(name: str, first: str, words: Sequence[str]) -> str:
    """Return what is missing, with an example. A positional argument is read before flags: where a flag is missing first, none is."""
    needed = [argument for argument in arguments_of(name, explained=True) if argument.required]
    after = needed[[argument.name for argument in needed].index(first) :]
    missing = [argument for argument in after if not any(word.partition("=")[0] in argument.names for word in words if word[:1] == "-")]
    texts = []
    for argument in missing:
        choices = argument.get_choices()
        texts.append(f"{argument.name} ({'one of ' + ', '.join(choices) if choices else argument.parameter.help})")
    return f"{' and '.join(texts)} {'is' if len(texts) == 1 else 'are'} missing; for example: {examples_of(name)[0]}"
