"""Where pages are written."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError


def page_path(wanted: str | None, usual: Path | None = None) -> Path | None:
    """The file of a page: None where none is wanted, `usual` where no name is given. Raises UsageError for a name of something else."""
    if not wanted:
        return None if wanted is None else usual
    if not wanted.endswith((".html", ".htm")):
        raise UsageError(f"'{wanted}' is no name of a page; names of pages end in .html")
    return Path(wanted)
