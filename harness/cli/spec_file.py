"""`--spec FILE.toml`: the flags of a command in a file, so that a study is one committed file."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

from harness.cli.command import CommandField, class_of, fields_of
from harness.cli.commands import known_commands, name_of
from harness.cli.flags import flags_of, positional_of
from harness.content.problems import line_of
from harness.content.tags import canonical, suggest
from harness.errors import ContentError, UsageError, refuse_pipe, unreadable
from harness.judges.panel import is_panel_file, panel_file_in
from harness.row_files import to_toml, write_atomic

FLAG = "--spec"


class ReadSpec(NamedTuple):
    """The words of a command with the flags of its file, and where the file has each flag: `{--seed: study.toml:3}`."""

    words: list[str]
    lines: dict[str, str]


def with_spec_file(words: Sequence[str]) -> list[ReadSpec]:
    """Return the words of a command with the flags of its specification file, but those that the words have themselves.

    A file of `harness run` with tables `[language.ja]` means several runs, one list of words each: these languages with the flags of
    their table, and the others as the rest of the file says.

    Raises:
        UsageError: if the file is missing.  ContentError: with the line, for a key that is no flag, and for a language without a name.
    """
    name = name_of(words)
    if not name or not known_commands(words)[name][0]:
        return [ReadSpec(list(words), {})]
    rest = list(words[len(name.split()) :])
    stated = flags_of(name, rest)
    if stated.get("spec") is None:
        return [ReadSpec(list(words), {})]
    path = Path(str(stated["spec"]))
    try:
        refuse_pipe(path)
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as err:
        raise UsageError(f"{FLAG} {path} cannot be read: {err.strerror}") from None
    except OSError as err:
        raise unreadable(err, path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as err:
        raise ContentError(f"not valid TOML: {err}", path) from None
    positional = [field.key for field in fields_of(class_of(name)) if field.positional]
    stated |= dict.fromkeys(positional[: len(positional_of(name, rest))])  # they take precedence as flags do
    parts = _split_by_language(content, stated, path) if name == "run" else [(content, list[str]())]
    return [_put_together(name, path, flags, stated, [*rest, *languages]) for flags, languages in parts]


def _put_together(name: str, path: Path, flags: Mapping[str, Any], stated: Mapping[str, Any], rest: Sequence[str]) -> ReadSpec:
    """Return the words of a command with the flags of a file before those of the command line, and its positional arguments last."""
    fields = _list_recordable(name)
    written, positional, lines = list[str](), list[str](), dict[str, str]()
    for key, value in flags.items():
        line = line_of(path, rf"^\s*[\"']?{re.escape(key)}[\"']?\s*=")
        if key not in fields:
            message = f"'{key}' is not a flag of 'harness {name}' that a file can hold.{suggest(key, fields)}"
            raise ContentError(f"{message} The names are: {', '.join(sorted(fields))}", path, line)
        field = fields[key]
        if key in stated or value is False or value in ([], {}):
            continue
        if isinstance(value, dict):  # where = {language = ["ja"]}
            value = [f"{part}={','.join(map(str, text)) if isinstance(text, list) else text}" for part, text in value.items()]
        values = [] if field.switch else value if isinstance(value, list) else [value]
        if any(isinstance(text, bool) or not isinstance(text, (str, int, float)) for text in values):
            raise ContentError(f"'{key}' should be a text, a number or a list of them", path, line)
        texts = [str(_resolve_path(name, path.parent, key, text)) for text in values]
        if field.positional:
            positional += texts
            continue
        option = field.names[0]
        lines |= dict.fromkeys(field.names, f"{path}:{line}")
        written += [option] if field.switch else [f"{option}={text}" for text in (texts if field.several else [",".join(texts)])]
    return ReadSpec([*name.split(), *written, *rest, *positional], lines)


def _split_by_language(content: dict[str, Any], stated: dict[str, Any], path: Path) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """The flags of each run that a file describes, and its own `--langs` where languages have flags of their own."""
    tables, rest = content.get("language"), {key: value for key, value in content.items() if key != "language"}
    if not tables:
        yield rest, []
        return
    line = line_of(path, r"^\s*\[?language")
    if not isinstance(tables, dict) or not all(isinstance(table, dict) and "langs" not in table for table in tables.values()):
        raise ContentError('a table of a language holds flags of its own: [language.ja] with variant = ["detailed"]', path, line)
    langs = str(stated["langs"]).split(",") if "langs" in stated else rest.get("langs")
    if not isinstance(langs, list):
        raise ContentError('name all languages: langs = ["cs", "ja"]; those without a table follow the rest of the file', path, line)
    names = [canonical(str(tag)) for tag in langs]
    tables_by_tag = {canonical(tag): table for tag, table in tables.items()}
    for tag in tables_by_tag:
        if tag not in names and "langs" not in stated:
            raise ContentError(f"[language.{tag}] is not among the languages of the file ({', '.join(names)})", path, line)
    alike: dict[str, list[str]] = {}
    for tag in names:
        alike.setdefault(repr(tables_by_tag.get(tag, {})), []).append(tag)
    for tags in alike.values():
        yield rest | tables_by_tag.get(tags[0], {}), [f"--langs={','.join(tags)}"]


def spec_of(name: str, argv: Sequence[str]) -> dict[str, Any]:
    """Return the content of a specification file with the same flags of a command; paths are absolute."""
    recorded = _list_recordable(name)
    flags = {key: value for key, value in flags_of(name, argv).items() if key in recorded}
    resolve = partial(_resolve_path, name, Path.cwd())
    return {key: [resolve(key, item) for item in value] if isinstance(value, list) else resolve(key, value) for key, value in flags.items()}


@cache
def _list_recordable(name: str) -> dict[str, CommandField]:
    """Return the flags that a file can hold, by their keys."""
    return {field.key: field for field in fields_of(class_of(name)) if field.recorded}


def _is_path(name: str, key: str) -> bool:
    """Return whether the value of a flag is a path beside the file. The results folder is where the command is called."""

    def names_path(hint: Any) -> bool:
        return hint is Path or any(map(names_path, get_args(hint)))

    return key in _list_recordable(name) and key != "out" and names_path(_list_recordable(name)[key].hint)


def _resolve_path(name: str, folder: Path, key: str, value: Any) -> Any:
    """The value of a flag, with a path that is relative to a folder as a whole path; other values as they are."""
    if _is_path(name, key):
        return str((folder / str(value)).resolve())
    if key == "judge" and is_panel_file(str(value)):
        return panel_file_in(folder, str(value))
    return value


def write_spec(
    path: Path, start: Mapping[str, Any], chosen: Mapping[str, Any], settings: Mapping[str, str], notes: Sequence[str] = ()
) -> None:
    """Write a choice as a specification file; where languages keep the start, each language has a table with what differs.

    Args:
        path: of the file; the paths of prompts, rubrics and examples are written relative to it.
        start, chosen: flags of `harness run`.
        settings: for each language, `start` or `chosen`.
        notes: lines for readers at the top, as comments.

    Raises:
        StoreError: if the file cannot be written.
    """
    flags = {name: _make_paths_relative(path, choice) for name, choice in (("start", start), ("chosen", chosen))}
    used = [flags[name] for name in dict.fromkeys(settings.values())]
    common = {key: value for key, value in used[0].items() if all(other.get(key) == value for other in used)}
    tables = {tag: {key: value for key, value in flags[name].items() if key not in common} for tag, name in settings.items()}
    comments = "".join(f"# {line}\n" for line in notes)
    write_atomic(path, comments + to_toml({"langs": list(settings), **common, **({"language": tables} if any(tables.values()) else {})}))


def _make_paths_relative(path: Path, flags: Mapping[str, Any]) -> dict[str, Any]:
    """Flags with their paths relative to the folder of a file."""

    def placed(value: Any) -> Any:
        return [placed(item) for item in value] if isinstance(value, list) else os.path.relpath(value, path.parent)

    return {key: placed(value) if _is_path("run", key) else value for key, value in flags.items()}
