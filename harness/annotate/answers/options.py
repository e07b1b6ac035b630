"""Options of the import of result files of labelling pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from harness.options import Flag, Options


@dataclass(frozen=True, kw_only=True)
class PageImportOptions(Options):
    """Say which result files of pages are read."""

    heading: ClassVar[str] = "result files of labelling pages"

    pages: Annotated[Path | None, Flag(metavar="FOLDER")] = None
    """the folder of the pages (default: beside or above the files)"""
    edited: Annotated[bool, Flag()] = False
    """read files that were changed after the page saved them"""
    one_person: Annotated[bool, Flag()] = False
    """one person answered a page on two devices; what was saved last counts"""
