"""The help of a command line: the page of all commands, of a group, and of a command with its flags and examples."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from harness.cli.command import FIRST, SET, Command, CommandField, class_of, examples_of, fields_of
from harness.cli.commands import COMMANDS, commands, known_commands, leaves

if TYPE_CHECKING:
    pass

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
