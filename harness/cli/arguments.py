"""Convert the flags of a command into what the functions of the Python API take."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.cli.command import Command


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
