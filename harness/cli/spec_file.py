"""`--spec FILE.toml`: the flags of `harness run` in a file, so that a study is one committed file."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.content.problems import line_of
from harness.content.tags import suggest
from harness.data.judgments import NO_VARIANT
from harness.errors import ContentError, UsageError
from harness.judges.panel import is_panel_file, panel_file_in
from harness.model import SAMPLING, JudgeCondition
from harness.tables import to_toml, write_atomic

FLAG = "--spec"
_PATHS = ("data", "content", "prompt", "prices", "cascade")
"""Flags whose values are paths, relative to the file."""
_NOT_IN_A_FILE = ("spec", "help", "verbose", "dry_run", "show_texts", "json", "yes", "all", "signature")


def with_spec_file(argv: Sequence[str], parser: argparse.ArgumentParser) -> list[str]:
    """The arguments of `harness run` with the flags of its specification file put in front of those that it does not have.

    Args:
        argv: what stands after `run`.
        parser: the parser of `harness run`.

    Raises:
        UsageError: if the file is missing.  ContentError: with the line, for a key that is no flag.
    """
    given = flags_of(argv, parser)
    path = given.get("spec")
    if path is None:
        return list(argv)
    return [*_as_arguments(Path(str(path)), given, parser), *argv]


def flags_of(argv: Sequence[str], parser: argparse.ArgumentParser) -> dict[str, Any]:
    """The flags of a command line by the names that a file gives them; repeated flags have lists."""
    found: dict[str, Any] = {}
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        action = _action(name, parser) if name.startswith("--") else None
        if action is None:
            continue
        given: Any = True if action.nargs == 0 else value if equals else next(words, "")
        key = _key(action)
        found[key] = [*found.get(key, []), given] if _repeats(action) else given
    return found


def spec_of(argv: Sequence[str], parser: argparse.ArgumentParser) -> dict[str, Any]:
    """What a specification file with the same flags holds; paths are absolute."""
    flags = {key: value for key, value in flags_of(argv, parser).items() if key not in _NOT_IN_A_FILE}
    here = Path.cwd()
    return {
        key: [_from(here, key, each) for each in value] if isinstance(value, list) else _from(here, key, value)
        for key, value in flags.items()
    }


def _from(folder: Path, key: str, value: Any) -> Any:
    """The value of a flag, with a path that is relative to a folder as a whole path; other values as they are."""
    if key in _PATHS:
        return str((folder / str(value)).resolve())
    if key == "judge" and is_panel_file(str(value)):
        return panel_file_in(folder, str(value))
    return value


def _as_arguments(path: Path, given: dict[str, Any], parser: argparse.ArgumentParser) -> Iterator[str]:
    by_key = {_key(action): action for action in parser._actions if action.option_strings}
    for key, value in _read(path).items():
        if key not in by_key or key in _NOT_IN_A_FILE:
            known = sorted(set(by_key) - set(_NOT_IN_A_FILE))
            message = f"'{key}' is not a flag of 'harness run' that a file can hold.{suggest(key, known)}"
            raise ContentError(f"{message} The names are: {', '.join(known)}", path, line_of(path, rf"^\s*{key}\s*="))
        action = by_key[key]
        if key in given or value is False:
            continue
        flag = next(option for option in action.option_strings if option.startswith("--"))
        if action.nargs == 0:
            yield flag
            continue
        values = [_text(each, key, path) for each in (value if isinstance(value, list) else [value])]
        yield from (f"{flag}={text}" for text in (values if _repeats(action) else [",".join(values)]))


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as err:
        raise UsageError(f"{FLAG} {path} cannot be read: {err.strerror or err}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as err:
        raise ContentError(f"not valid TOML: {err}", path) from None


def _text(value: Any, key: str, path: Path) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ContentError(f"'{key}' should be a text, a number or a list of them", path, line_of(path, rf"^\s*{key}\s*="))
    return str(_from(path.parent, key, value))


def _action(name: str, parser: argparse.ArgumentParser) -> argparse.Action | None:
    """The action of a flag."""
    return parser._option_string_actions.get(name)


def _key(action: argparse.Action) -> str:
    return next(option for option in action.option_strings if option.startswith("--")).removeprefix("--").replace("-", "_")


def _repeats(action: argparse.Action) -> bool:
    return isinstance(action, argparse._AppendAction)


def write_spec(path: Path, chosen: JudgeCondition, languages: Sequence[str]) -> None:
    """Write a judge under a condition as a specification file, for the languages that it is for. Raises StoreError."""
    variant = None if chosen.variant == NO_VARIANT else [chosen.variant]
    sampling = {name: getattr(chosen, name) for name in SAMPLING}
    flags = {"langs": list(languages) or None, "judge": [chosen.judge], "variant": variant, **sampling}
    write_atomic(path, to_toml(flags))
