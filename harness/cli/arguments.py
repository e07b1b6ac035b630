"""What the flags of a command say, as the functions of the Python API take it."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.cli.flags import Command
    from harness.decide.options import DecisionOptions


def page_path(name: str | None, default: Path | None = None) -> Path | None:
    """The file to write a page to: None without the flag, `default` for a flag without a name. Raises UsageError for another file type."""
    if not name:
        return None if name is None else default
    if not name.endswith((".html", ".htm")):
        raise UsageError(f"'{name}' cannot be the name of a page; it must end in .html")
    return Path(name)


def check_figure(path: Path | None) -> None:
    """Refuse the name of a figure without a known ending before anything that takes time. Raises UsageError."""
    if path:
        from harness.render.figures import form_of

        form_of(path)


def given_fields(arguments: Command, options: Any, **flags: str) -> dict[str, Any]:
    """The fields of an options class that flags give: those of a field's name, or of the name in `flags`. Others keep their default."""
    values = {field: getattr(arguments, flags.get(field, field), None) for field in signature(options).parameters}
    return {field: tuple(value) if isinstance(value, list) else value for field, value in values.items() if value is not None}


def addresses(arguments: Command) -> dict[str, Any]:
    """The endpoints of `--base-url` as options have them: that of all judges, and those of single ones."""
    by_judge = dict(getattr(arguments, "base_url", None) or ())
    requests = {name: dict(given) for name in ("headers", "body") if (given := getattr(arguments, name, None))}
    return {"base_url": by_judge.pop("", None), "base_urls": by_judge, **requests}


def decision_options(settings: Sequence[str], bar: str | None = None) -> DecisionOptions:
    """Return the thresholds that `--set` and `--bar` say. Raises UsageError for a name or a value that makes no sense."""
    from harness.content.tags import suggest
    from harness.decide.options import DecisionOptions

    values: dict[str, str] = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or name not in DecisionOptions.__struct_fields__:
            hint = suggest(name, DecisionOptions.__struct_fields__) if equals else ""
            raise UsageError(
                f"--set {text} should be a threshold and its value, such as margin=0.05.{hint} "
                "'harness compare --help-thresholds' lists all thresholds"
            )
        values[name] = value
    if bar is not None:
        values["bar"] = bar
    try:
        return msgspec.convert(values, DecisionOptions, strict=False)
    except msgspec.ValidationError as err:
        raise UsageError(f"--set {' '.join(settings)}: {err}") from None
