"""Options of the verification of a submission."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from harness.asking import Addresses
from harness.options import ContentFolders, Flag, Seed, Share


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(Addresses, ContentFolders):
    """Choose the calls of a submission that are asked again, and where."""

    heading: ClassVar[str] = "flags"

    share: Annotated[Share, Flag(metavar="S")] = 0.05
    """share of the board's calls to ask, spread over the languages, at least 20 calls"""
    seed: Annotated[Seed | None, Flag(metavar="N")] = None
    """seed for drawing the calls (default: random, so that nobody can predict it)"""
    data: Annotated[Path | None, Flag(metavar="DIR")] = None
    """the data, for a board that judges a data folder"""
    out: Annotated[Path | None, Flag(metavar="DIR")] = None
    """keep the replies, so that the same command can continue (default: discard them)"""
