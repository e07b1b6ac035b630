"""The command line: which command the words name, its help, and the sentence about a command that does not exist."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from harness.cli.command import FIRST, SET, Command, CommandField, class_of, examples_of, fields_of
from harness.cli.commands import COMMANDS, commands, known_commands, leaves, name_of

if TYPE_CHECKING:
    from cyclopts import App

Rows = list[tuple[str, str]]

_ABOUT = (
    "Does a language model score texts like native speakers do, in each language? Asks judges, keeps every reply, and compares every score "
    "with people's labels."
)
_PROGRAM = [
    ("help COMMAND", "show the flags of a command, as --help does"),
    ("--install-completion", "install completion of commands and flags; --shell bash, zsh or fish (default: the shell that runs this)"),
    ("--version", "show the version"),
    ("COMMAND --spec FILE", "take flags and settings of any command from a file (TOML); flags given beside it take precedence"),
    ("COMMAND --verbose, -v", "show the traceback of an error; with run --dry-run, a whole prompt of each kind"),
]
_EXIT_CODES = [
    ("0", "done"),
    (
        "1",
        "'harness check', 'harness store check' or 'harness board check' found problems; 'harness labels import' refused rows; 'harness "
        "certify --check' found a stale certificate; a certificate allows nothing, or may not be extended; 'harness gate' found a broken "
        "limit; 'harness watch check' found a change",
    ),
    ("2", "a flag or a name is wrong, or flags exclude each other"),
    ("3", "a content or data file is wrong (the message gives file:line)"),
    (
        "4",
        "a judge cannot be reached, used or trusted, or most of its answers cannot be read: the first line shows one of them, and no "
        "verdict, number, certificate or rank rests on them",
    ),
    (
        "5",
        "the results folder is in use, full, read-only, damaged or of a newer version; the system refuses a file or a folder (its rights, "
        "a name that is too long, no locks, no current folder); or standard output cannot be written",
    ),
    (
        "6",
        "the run ended, but some calls have no answer; the same command continues it. 'harness board check': a board's data are not here; "
        "'harness data check': a set that its card cannot confirm",
    ),
    (
        "7",
        "the evidence does not suffice yet: for a limit of 'harness gate', an extension by 'harness certify', or 'harness watch check'",
    ),
    ("130", "interrupted (Ctrl-C); the same command continues"),
]


def help_of(name: str, width: int = 110) -> str:
    """Return the help of a command or a group of commands, of the whole command line for an empty name, in lines of a width."""
    available = known_commands(name.split())
    if name and available[name][0]:
        return _describe_command(name, available[name][1], width)
    if name:
        below = [(leaf.split()[1], available[leaf][1]) for leaf in leaves([name])]
        return _format_page(f"harness {name} COMMAND", available[name][1], [("commands", below)], width)
    by_purpose = [(purpose, [(name, available[name][1]) for name in names if " " not in name]) for purpose, names in COMMANDS.items()]
    of_plugins = [(name, text) for name, (_, text) in commands().items() if " " not in name and name not in commands(plugins=False)]
    by_purpose += [("of other packages", of_plugins), ("this program", _PROGRAM)]
    codes = "\n".join(_format_lines(_EXIT_CODES, width, column=7))
    return f"{_format_page('harness COMMAND', _ABOUT, by_purpose, width)}\n\nexit codes:\n{codes}"


def _describe_command(name: str, about: str, width: int) -> str:
    """Return the help of a command: the flags that people need first, the others in groups, the names of its settings, examples."""
    cls = class_of(name)
    groups: dict[str, Rows] = {"arguments": [], FIRST: []}
    usage, settings = [f"harness {name}", "[flags]"], list[str]()
    for field in fields_of(cls):
        label, text = _describe_field(field)
        if field.positional:
            usage.append(label if field.required else f"[{label}]")
        elif field.required:
            usage.append(label.rpartition(", ")[2])
        if field.mark.setting and field.name not in cls.first:
            settings.append(field.key)
        elif field.owner is not Command or field.name in cls.first:
            group = "arguments" if field.positional else FIRST if field.name in cls.first else field.group
            groups.setdefault(group, []).append((label, text))
    if settings:
        more = f"a setting that few people need; 'harness {name} --help-settings' explains them: {', '.join(settings)}"
        groups["settings"] = [(f"{SET} NAME=VALUE", more)]
    examples = "".join(f"\n  {line}" for line in examples_of(name))
    return f"{_format_page(' '.join(usage), about, groups.items(), width)}\n\nexamples:{examples}"


def _describe_field(field: CommandField) -> tuple[str, str]:
    """Return what stands on the left and on the right of a flag's line."""
    value = field.mark.metavar or (f"{{{','.join(field.choices)}}}" if field.choices else field.names[0].lstrip("-").upper())
    label = ", ".join(field.names) + ("" if field.switch else f" {value}")
    if field.positional:
        label = f"{{{','.join(field.choices)}}}" if field.choices else field.names[0]
        label += "..." if field.several else ""
    text, default = field.text, field.default
    empty = default is None or default is False or (isinstance(default, (str, tuple, dict)) and not default)
    if not (field.required or "(default" in text or empty):
        text += f" (default: {','.join(map(str, default)) if isinstance(default, tuple) else default})"
    return label, text


def settings_help(name: str, width: int = 110, *, only_thresholds: bool = False) -> str:
    """Return the settings of a command by group, with what each is and its default, or only the thresholds of verdicts; empty for none."""
    fields = [field for field in fields_of(class_of(name)) if field.mark.setting]
    if only_thresholds:
        from harness.decide.options import DecisionOptions
        from harness.options import fields_named

        by_name = {field.name: field for field in fields_of(class_of(name)) if field.owner is DecisionOptions}
        fields = [by_name[name] for name in fields_named(DecisionOptions) if name in by_name]
    groups: dict[str, Rows] = {}
    for field in fields:
        _, text = _describe_field(field)
        groups.setdefault(field.group, []).append((f"{field.key}={'' if field.switch else field.mark.metavar or 'VALUE'}", text))
    about = "Settings, with what holds without them. A specification file (--spec) can hold them too, and each can be a flag of its own."
    return _format_page(f"harness {name} ... {SET} NAME=VALUE [{SET} NAME=VALUE]", about, groups.items(), width) if groups else ""


def _format_page(usage: str, about: str, groups: Iterable[tuple[str, Rows]], width: int) -> str:
    """Return a help in two columns, without frames or colours: it is read in pipes and documents too."""
    parts = [textwrap.fill(f"usage: {usage}", width, subsequent_indent=" " * 7, break_on_hyphens=False, break_long_words=False)]
    parts.append(textwrap.fill(about, width))
    parts += ["\n".join([f"{title}:", *_format_lines(rows, width)]) for title, rows in groups if rows]
    return "\n\n".join(parts)


def _format_lines(rows: Rows, width: int, column: int = 0) -> Iterator[str]:
    column = column or min(26, width // 3)
    for label, text in rows:
        fits = len(label) + 4 <= column
        first = f"  {label}" if fits else ""
        if not fits:
            yield f"  {label}"
        lines = textwrap.wrap(text, max(width - column, 20), break_on_hyphens=False)
        yield from (f"{first if number == 0 else '':<{column}}{line}" for number, line in enumerate(lines))


_FIRST_STEPS = """\
What do you want to do?

  which judge may be used in a language   harness atlas --lang ja
  begin with a spreadsheet of scores      harness start ratings.xlsx
  try a judge on the control items        harness run --langs ja,cs
  compare published judges with people    harness data list

'harness help' lists all commands, 'harness help COMMAND' the flags of one."""


def read(words: Sequence[str], lines: Mapping[str, str] = {}) -> Command:
    """Return the command that the words of a command line are. Raises SystemExit after a help, and for what cannot be read.

    Args:
        lines: where a specification file has a flag: its name, and `file:line`.
    """
    if words[:1] == ["help"]:
        return read([*words[1:], "--help"])
    available = known_commands(words)
    name = name_of(words)
    is_leaf = bool(name and available[name][0])
    rest = list(words[len(name.split()) :])
    flags = rest[: rest.index("--")] if "--" in rest else rest
    width = min(shutil.get_terminal_size().columns, 110)
    if {"--help", "-h"} & set(flags):
        if not is_leaf and flags[0][:1] != "-":  # words that name no command
            _refuse_command(name, rest)
        print(help_of(name, width))
        raise SystemExit(0)
    asks_settings = is_leaf and {"--help-settings", "--help-thresholds"} & set(flags)
    if asks_settings and (text := settings_help(name, width, only_thresholds="--help-thresholds" in flags)):
        print(text)
        raise SystemExit(0)
    if is_leaf:
        from harness.cli.flags import read_flags

        return read_flags(name, rest, lines)
    if not name and flags[:1] == ["--version"]:
        from importlib.metadata import version

        print(f"harness {version('judge-harness')}")
        raise SystemExit(0)
    if not name and flags[:1] == ["--install-completion"]:
        _install_completion(flags[1:])
    if not words:
        print(_FIRST_STEPS)
        raise SystemExit(0)
    _refuse_command(name, rest)


def _refuse_command(name: str, rest: Sequence[str]) -> NoReturn:
    """Refuse words that name no command, or only a group of commands."""
    from harness.cli.command import examples_of
    from harness.cli.flags import refuse
    from harness.content.tags import suggest

    names = [leaf.split()[1] for leaf in leaves([name])] if name else [word for word in commands() if " " not in word]
    listed = f"'harness help{f' {name}' if name else ''}' lists all commands"
    if not rest:
        example = examples_of(f"{name} {names[0]}")[0]
        refuse(name, f"COMMAND (one of {', '.join(names)}) is missing; for example: {example}")
    word = rest[0]
    if word.startswith("-"):
        flags = ["--help", *([] if name else ["--version", "--install-completion"])]
        refuse(name, f"unrecognized arguments: {word}.{suggest(word, flags)} '{f'harness {name}'.strip()} --help' lists all commands")
    elsewhere = [f"harness {leaf}" for leaf in commands() if leaf.endswith(f" {word}")]  # `harness get`, as of `data get`
    hint = suggest(word, names if name else [*names, "help"]) or (f" Did you mean '{elsewhere[0]}'?" if elsewhere else "")
    refuse(name, f"no command '{word}'.{hint} {listed}" + ("" if hint or not name else f" ({', '.join(names)})"))


# ---- completion


def whole_app() -> App:
    """Return all commands as one app, from which shells learn to complete them."""
    from cyclopts import App

    from harness.cli.flags import app_of

    app = App(name="harness", version_flags=["--version"])
    groups = {"": app}
    for name, (target, text) in commands().items():
        group, _, word = name.rpartition(" ")
        part = groups[name] = app_of(name, explained=True) if target else App(name=word)
        part.help = text
        groups[group].command(part)
    return app


def _install_completion(words: Sequence[str]) -> NoReturn:
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    from harness.cli.flags import refuse

    name = words[1] if len(words) == 2 and words[0] == "--shell" else "".join(words).removeprefix("--shell=")
    try:
        name = name or detect_shell()
    except ShellDetectionError:
        name = "unknown"
    shells: dict[str, Literal["bash", "zsh", "fish"]] = {"bash": "bash", "zsh": "zsh", "fish": "fish"}
    if name not in shells:
        refuse("", "argument --shell: should be bash, zsh or fish; for example: harness --install-completion --shell bash")
    path = whole_app().install_completion(shell=shells[name])
    print(f"{path}: completion for {name}; it works in the next shell that you open", file=sys.stderr)
    if name == "zsh":
        settings = Path(os.environ.get("ZDOTDIR") or Path.home()) / ".zshrc"
        if not settings.is_file() or "compinit" not in settings.read_text("utf-8", "replace"):
            print("zsh completes nothing before its completion is on; add to .zshrc: autoload -Uz compinit && compinit", file=sys.stderr)
    raise SystemExit(0)
