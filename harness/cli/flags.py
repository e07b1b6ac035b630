"""A command is a frozen dataclass whose fields are its flags: how they are read, explained and refused.

The type of a field reads the value, the text below it is its help, and its default holds without the flag. A field with `kw_only=False` is
a positional argument. The text of the class has examples. `command(first=...)` names the flags that people need most.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    NoReturn,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from cyclopts import App, Argument, ArgumentCollection, CycloptsError, Group, Parameter, Token
from cyclopts.exceptions import CoercionError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError, ValidationError

from harness.cli.commands import known_commands
from harness.errors import UsageError
from harness.options import Flag, OneOf, Reads, ReadsEach, defining_class, field_texts, fields_named, flag_hints

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


def class_of(name: str) -> type[Command]:
    """Return the dataclass of a command. It becomes one on its first use: to make all of them takes longer than to read a command."""
    module, _, cls = known_commands(name.split())[name][0].partition(":")
    found: type[Command] = getattr(importlib.import_module(module), cls)
    for base in reversed(found.__mro__):
        if issubclass(base, Command) and "__dataclass_fields__" not in vars(base):
            dataclass(frozen=True, kw_only=True)(base)
    return found


# ---- reading


def read_flags(name: str, words: Sequence[str]) -> Command:
    """Return a command with its flags. Raises SystemExit, after a sentence, for words that cannot be read."""
    try:
        build, bound, _ = app_of(name).parse_args(list(words), exit_on_error=False, print_error=False)
    except CycloptsError as err:
        refuse(name, _sentence(err, name, words))
    command: Command = build(*bound.args, **bound.kwargs, argv=(*name.split(), *words))
    return command


def app_of(name: str, *, explained: bool = False) -> App:
    """Return the reader of a command's flags.

    Args:
        explained: whether flags have their help, which is read from the source and takes time.
    """
    cls = class_of(name)
    fields = fields_of(cls)

    def build(*values: Any, **flags: Any) -> Command:
        stated: dict[str, dict[str, Any]] = {}
        for holder, kind in {field.holder: field.kind for field in fields if field.holder}.items():
            thresholds = read_thresholds(flags.get("settings", ())) if hasattr(kind, "thresholds") else {}
            named = {field.name: flags.pop(field.name) for field in fields if field.holder == holder and field.name in flags}
            stated[holder] = thresholds | named
            flags[holder] = kind(**stated[holder])
        return cls(*values, **flags, **{"stated": stated})

    build.__signature__ = inspect.Signature(list(_parameters(cls, fields, explained)))  # type: ignore[attr-defined]
    settings = Parameter(negative="", allow_repeating=True)
    app = App(name=name.split()[-1], help_flags=[], version_flags=[], help_format="plaintext", default_parameter=settings)
    app.default(build)
    return app


class OptionField(NamedTuple):
    """A field of a command, or of an object of options that the command holds."""

    parameter: inspect.Parameter
    kind: type  # the class of the command, or of the options
    owner: type  # the class that defines the field
    holder: str = ""  # the field of the command that holds the options

    @property
    def name(self) -> str:
        return self.parameter.name


def fields_of(cls: type[Command]) -> list[OptionField]:
    """Return the fields of a command, with those of the options that it holds in place of these."""
    hints = get_type_hints(cls, include_extras=True)
    fields = []
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.name in ("argv", "stated"):  # no flags
            continue
        hint = hints[parameter.name]
        options = flag_hints(hint) if isinstance(hint, type) else {}
        usual = hint() if options else None
        for name, flag_hint in options.items():
            member = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(usual, name), annotation=flag_hint)
            fields.append(OptionField(member, hint, defining_class(hint, name), parameter.name))
        if not options:
            kind = parameter.POSITIONAL_ONLY if parameter.kind is parameter.POSITIONAL_OR_KEYWORD else parameter.kind
            fields.append(OptionField(parameter.replace(annotation=hint, kind=kind), cls, defining_class(cls, parameter.name)))
    return fields


def read_thresholds(settings: Sequence[str]) -> dict[str, Any]:
    """Return the thresholds that `--set` states. Raises UsageError for a name or a value that makes no sense."""
    if not settings:
        return {}
    import msgspec

    from harness.content.tags import suggest  # late: it takes time
    from harness.decide.options import DecisionOptions

    names, values = fields_named(DecisionOptions), dict[str, str]()
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or name not in names:
            hint = suggest(name, names) if equals else ""
            raise UsageError(
                f"--set {text} should be a threshold and its value, such as margin=0.05.{hint} "
                "'harness compare --help-thresholds' lists all thresholds"
            )
        values[name] = value
    try:
        decision = msgspec.convert(values, DecisionOptions, strict=False)
    except msgspec.ValidationError as err:
        raise UsageError(f"--set {' '.join(settings)}: {err}") from None
    return {name: getattr(decision, name) for name in values}


def _parameters(cls: type[Command], fields: Sequence[OptionField], explained: bool) -> Iterator[inspect.Parameter]:
    """Yield the fields as parameters: positional arguments in their order, those that people need, and the flags of all commands last."""
    names = [*cls.first, *inspect.get_annotations(cls)]

    def rank(field: OptionField) -> tuple[int, int]:
        if field.parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            return field.parameter.kind, 0
        if field.name in names:
            return field.parameter.kind, names.index(field.name)
        return field.parameter.kind, len(names) + (2 if field.owner is Command else 0 if field.holder else 1)

    texts = {kind: field_texts(kind) if explained else {} for kind in {field.kind for field in fields}}
    for field in sorted(fields, key=rank):
        hint = _with_parameters(field.parameter.annotation)
        plain, metadata = (hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())
        # Without `help=None`: typing keeps one of two parameters that are equal, and they are equal whatever was stated.
        about: dict[str, Any] = {"help": text} if (text := texts[field.kind].get(field.name)) else {}
        if field.parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            about["group"] = getattr(field.owner, "heading", FIRST)
        yield field.parameter.replace(annotation=Annotated[(plain, Parameter(**about), *metadata)])


def _with_parameters(hint: Any) -> Any:
    """Return a type whose marks of options are those of cyclopts."""
    if get_origin(hint) is Annotated:
        choices = next((mark.values for mark in hint.__metadata__ if isinstance(mark, OneOf)), None)
        repeated = any(isinstance(mark, ReadsEach) for mark in hint.__metadata__)  # all its texts reach the mark, whatever is made of them
        kind = tuple[str, ...] if repeated else Literal[choices] if choices else _with_parameters(hint.__origin__)
        return Annotated[(kind, *map(_parameter, hint.__metadata__))]
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(map(_with_parameters, get_args(hint)))]  # noqa: UP007 (of parts that are computed)
    return hint


def _parameter(mark: Any) -> Any:
    match mark:
        case Flag(names, metavar):
            return Parameter(name=names.split() or None, metavar=metavar or None)
        case Reads(parse):
            return Parameter(converter=lambda _, tokens: parse(tokens[-1].value), n_tokens=1, accepts_keys=False)
        case ReadsEach(parse, collect):

            def convert(_: type, tokens: Sequence[Token]) -> Any:
                return collect(parse(token.value) for token in tokens)

            return Parameter(converter=convert, n_tokens=1, accepts_keys=False, consume_multiple=False)
    return mark


def value_of(command: Command, field: str) -> Any:
    """Return the value of a flag by the name of its field, in the command or in the options that it holds."""
    holders = [command, *(getattr(command, option.holder) for option in fields_of(type(command)) if option.name == field and option.holder)]
    return getattr(holders[-1], field)


def flags_of(name: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the flags among the words of a command by the names that a file gives them; repeated flags have lists."""
    arguments = {option: argument for argument in arguments_of(name) for option in argument.names if option.startswith("--")}
    flags: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        option, equals, text = word.partition("=")
        argument = arguments.get(option)
        if argument is None:
            continue
        value: Any = True if argument.hint is bool else text if equals else next(rest, "")
        key = key_of(argument)
        flags[key] = [*flags.get(key, []), value] if repeats(argument) else value
    return flags


def key_of(argument: Argument) -> str:
    """Return the name that a file gives a flag."""
    return argument.names[0].removeprefix("--").replace("-", "_")


def recorded_words(command: Command) -> list[str]:
    """Return the flags that a command was called with, as words, without those that say how its result is shown."""
    name = " ".join(command.argv[: next(count for count in (2, 1) if " ".join(command.argv[:count]) in known_commands(command.argv))])
    flags = flags_of(name, command.argv)
    words: list[str] = []
    for argument in recorded_arguments(name):
        value = flags.get(key_of(argument), [])
        for text in value if isinstance(value, list) else [value]:
            words += [argument.names[0]] if text is True else [argument.names[0], text]
    return words


def arguments_of(name: str, *, explained: bool = False) -> ArgumentCollection:
    """Return the arguments of a command, with their help if it is needed."""
    return app_of(name, explained=explained).assemble_argument_collection(parse_docstring=False).filter_by(parse=True)


def recorded_arguments(name: str) -> list[Argument]:
    """Return the arguments of a command that say what is done, not how it is shown."""
    recorded = {field.name for field in fields_of(class_of(name)) if getattr(field.owner, "recorded", True)}
    return [argument for argument in arguments_of(name) if argument.field_info.name in recorded]


def examples_of(name: str) -> list[str]:
    """Return the examples of a command, which stand in the text of its class."""
    lines = map(str.strip, (class_of(name).__doc__ or "").splitlines())
    return [line for line in lines if line.startswith(f"harness {name}")]


def repeats(argument: Argument) -> bool:
    """Return whether a flag can be given several times, once for each value."""
    if argument.parameter.converter is not None:
        return argument.parameter.consume_multiple is not None
    return any(get_origin(part) is tuple for part in (argument.hint, *get_args(argument.hint)))  # also of `tuple[...] | None`


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

    def is_threshold(word: str) -> bool:
        from harness.decide.options import DecisionOptions  # late, too

        return word in fields_named(DecisionOptions)

    where = f"'harness {name} --help' lists all flags"
    match err:
        case UnknownOptionError():
            option = (err.token.keyword or err.token.value).partition("=")[0]
            at = next(index for index, word in enumerate(words) if word.partition("=")[0] == option or word.startswith(option))
            value = [word for word in words[at + 1 : at + 2] if not word.startswith("-")]
            flags = [option for argument in arguments_of(name) for option in argument.names]
            threshold = option.removeprefix("--").replace("-", "_")
            if "--set" in flags and is_threshold(threshold):
                hint = f" A threshold is set with --set {threshold}={''.join(value) or 'VALUE'}."
            else:
                hint = suggested(option, flags)
            return f"unrecognized arguments: {' '.join([words[at], *value])}.{hint} {where}"
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
