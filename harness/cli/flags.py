"""The flags of a command line: how cyclopts reads them into the command, and the sentence about those that cannot be read."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import UnionType
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin

from cyclopts import App, ArgumentCollection, CycloptsError, Group, Parameter, Token
from cyclopts.exceptions import CoercionError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError, ValidationError

from harness.cli.command import FORM, SET, Command, CommandField, class_of, examples_of, fields_of
from harness.cli.commands import name_of
from harness.cli.streams import print_message
from harness.errors import UsageError
from harness.options import Flag, OneOf, Reads, ReadsEach


def _require_one(arguments: ArgumentCollection) -> None:
    """Raise ValueError where two flags of a group are given of which one is possible."""
    names = [argument.tokens[0].keyword or argument.name for argument in arguments if argument.tokens]
    if len(names) > 1:
        raise ValueError(f"argument {names[1]}: not allowed with argument {names[0]}")


_EXAMPLES = {"margin": "0.05", "seed": "1", "rpm": "60"}
_FORM = Group(FORM, validator=_require_one)


# ---- reading


def read_flags(name: str, words: Sequence[str], lines: Mapping[str, str] = {}) -> Command:
    """Return a command with its flags. Raises SystemExit, after a sentence, for words that cannot be read.

    Args:
        lines: where a specification file has a flag: its name, and `file:line`.
    """
    replaced = with_settings(name, words)
    stated_names = {word.partition("=")[0] for word in replaced}
    try:
        try:  # with the flags that are stated alone, because a reader of all flags of `run` takes longer to make than a small answer
            build, bound, _ = app_of(name, stated_names).parse_args(replaced, exit_on_error=False, print_error=False)
        except CycloptsError:
            build, bound, _ = app_of(name).parse_args(replaced, exit_on_error=False, print_error=False)
    except CycloptsError as err:
        stated = err.argument and next((lines[flag] for flag in err.argument.names if flag in lines), "")
        refuse(name, f"{stated}: {_explain_error(err, name, words)}" if stated else _explain_error(err, name, words))
    command: Command = build(*bound.args, **bound.kwargs, argv=(*name.split(), *words))
    return command


def with_settings(name: str, words: Sequence[str]) -> list[str]:
    """Return the words with `--margin=.05` for `--set margin=.05`. Raises UsageError for a setting that the command does not have."""
    by_key = {field.key: field for field in fields_of(class_of(name)) if not field.positional}
    settings = [key for key, field in by_key.items() if field.mark.setting]
    replaced, rest = list[str](), iter(words)
    for word in rest:
        if word.partition("=")[0] != SET or not settings:
            replaced.append(word)
            continue
        text = word.partition("=")[2] if "=" in word else next(rest, "")
        key, equals, value = text.partition("=")
        key = key.replace("-", "_")
        if not text:
            refuse(name, f"argument {SET}: expected one argument")
        if not equals or key not in by_key:
            from harness.content.tags import suggest  # late: it takes time

            hint = suggest(key, by_key) if equals else ""
            example = next((f"{key}={value}" for key, value in _EXAMPLES.items() if key in by_key), f"{settings[0]}=…")
            raise UsageError(
                f"{SET} {text} should be a setting and its value, such as {example}.{hint} 'harness {name} --help-settings' lists them"
            )
        replaced.append(f"{by_key[key].names[0]}={value}")
    return replaced


def app_of(name: str, stated_names: AbstractSet[str] | None = None, *, explained: bool = False) -> App:
    """Return the reader of a command's flags.

    Args:
        stated_names: the flags to read, beside those that a command must have; None for all.
        explained: whether flags have their help, which is read from the source and takes time.
    """
    cls = class_of(name)
    fields = fields_of(cls)

    def build(*values: Any, **flags: Any) -> Command:
        stated: dict[str, dict[str, Any]] = {}
        flags |= {field.name: field.collect(flags[field.name]) for field in fields if field.collect and field.name in flags}
        for holder, kind in {field.holder: field.kind for field in fields if field.holder}.items():
            stated[holder] = {field.name: flags.pop(field.name) for field in fields if field.holder == holder and field.name in flags}
            flags[holder] = kind(**stated[holder])
        return cls(*values, **flags, **{"stated": stated})

    read = [
        field for field in fields if stated_names is None or field.positional or field.required or not stated_names.isdisjoint(field.names)
    ]
    build.__signature__ = inspect.Signature([_make_parameter(field, explained) for field in read])  # type: ignore[attr-defined]
    settings = Parameter(negative="", allow_repeating=True)
    app = App(name=name.split()[-1], help_flags=[], version_flags=[], help_format="plaintext", default_parameter=settings)
    app.default(build)
    return app


def _make_parameter(field: CommandField, explained: bool) -> inspect.Parameter:
    """Return a field as the parameter of a function that cyclopts reads."""
    hint = _with_parameters(field.hint)
    plain, metadata = (hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())
    # Without `help=None`: typing keeps one of two parameters that are equal, and they are equal whatever was stated.
    about: dict[str, Any] = {"help": field.text} if explained else {}
    if field.group == FORM:
        about["group"] = _FORM
    kind = inspect.Parameter.POSITIONAL_ONLY if field.positional else inspect.Parameter.KEYWORD_ONLY
    default = inspect.Parameter.empty if field.required else () if field.collect and field.default is not None else field.default
    return inspect.Parameter(field.name, kind, default=default, annotation=Annotated[(plain, Parameter(**about), *metadata)])


def _with_parameters(hint: Any) -> Any:
    """Return a type whose marks of options are those of cyclopts."""
    if get_origin(hint) is Annotated:
        choices = next((mark.values for mark in hint.__metadata__ if isinstance(mark, OneOf)), None)
        repeated = any(isinstance(mark, ReadsEach) for mark in hint.__metadata__)
        kind = tuple[Any, ...] if repeated else Literal[choices] if choices else _with_parameters(hint.__origin__)
        return Annotated[(kind, *map(_convert_mark, hint.__metadata__))]
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(map(_with_parameters, get_args(hint)))]  # noqa: UP007 (of parts that are computed)
    return hint


def _convert_mark(mark: Any) -> Any:
    match mark:
        case Flag(names, metavar, _, words, _):
            return Parameter(name=names.split() or None, metavar=metavar or None, consume_multiple=words or None)
        case Reads(parse):
            return Parameter(converter=lambda _, tokens: parse(tokens[-1].value), n_tokens=1, accepts_keys=False)
        case ReadsEach(parse, _):

            def convert(_: type, tokens: Sequence[Token]) -> Any:
                return tuple(parse(token.value) for token in tokens)

            return Parameter(converter=convert, n_tokens=1, accepts_keys=False, consume_multiple=False)
    return mark


# ---- words again


def flags_of(name: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the flags among the words of a command by the names that a file gives them; repeated flags have lists."""
    return _sort_words(name, words)[0]


def positional_of(name: str, words: Sequence[str]) -> list[str]:
    """Return the words of a command that are neither flags nor their values."""
    return _sort_words(name, words)[1]


def _sort_words(name: str, words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    fields = {option: field for field in fields_of(class_of(name)) for option in field.names if option.startswith("--")}
    flags: dict[str, Any] = {}
    positional: list[str] = []
    rest = iter(with_settings(name, words))
    for word in rest:
        option, equals, text = word.partition("=")
        field = fields.get(option)
        if field is not None:
            value: Any = (text or "true") == "true" if field.switch else text if equals else next(rest, "")
            flags[field.key] = [*flags.get(field.key, []), value] if field.several else value
        elif not word.startswith("-"):
            positional.append(word)
    return flags, positional


def recorded_words(command: Command) -> list[str]:
    """Return the flags that a command was called with, as words, without those that say how its result is shown."""
    flags = flags_of(name_of(command.argv), command.argv)
    words: list[str] = []
    for field in fields_of(type(command)):
        value = flags.get(field.key, []) if field.recorded else []
        for text in value if isinstance(value, list) else [value]:
            if field.mark.setting:
                words += [SET, f"{field.key}={str(text).lower() if field.switch else text}"]
            elif field.switch:
                words += [field.names[0]] if text else []
            else:
                words += [field.names[0], text]
    return words


# ---- what cannot be read


def refuse(name: str, message: str) -> NoReturn:
    """Say why the words of a command cannot be read, and exit."""
    print_message(f"{f'harness {name}'.strip()}: {message}")
    raise SystemExit(2)


def _explain_error(err: CycloptsError, name: str, words: Sequence[str]) -> str:
    def suggested(word: str, words: Sequence[str]) -> str:
        from harness.content.tags import suggest  # late: it takes time

        return suggest(word, words)

    where = f"'harness {name} --help' lists all flags"
    match err:
        case UnknownOptionError():
            option = (err.token.keyword or err.token.value).partition("=")[0]
            position = next(index for index, word in enumerate(words) if word.partition("=")[0] == option or word.startswith(option))
            value = [word for word in words[position + 1 : position + 2] if not word.startswith("-")]
            flags = [option for field in fields_of(class_of(name)) for option in field.names if option.startswith("-")]
            flags += [SET] if any(field.mark.setting for field in fields_of(class_of(name))) else []
            return f"unrecognized arguments: {' '.join([words[position], *value])}.{suggested(option, flags)} {where}"
        case UnusedCliTokensError():
            return f"unrecognized arguments: {' '.join(err.unused_tokens or ())}. {where}"
        case MissingArgumentError() if err.argument is not None:
            if err.keyword or err.argument.tokens:
                return f"argument {err.keyword or err.argument.name}: expected one argument"
            # A positional argument is read before flags: where a flag is missing first, none is.
            needed = [field for field in fields_of(class_of(name)) if field.required]
            after = needed[[field.names[0] for field in needed].index(err.argument.name) :]
            missing = [field for field in after if not any(word.partition("=")[0] in field.names for word in words if word[:1] == "-")]
            texts = [f"{field.names[0]} ({'one of ' + ', '.join(field.choices) if field.choices else field.text})" for field in missing]
            return f"{' and '.join(texts)} {'is' if len(texts) == 1 else 'are'} missing; for example: {examples_of(name)[0]}"
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
