"""Options of submissions: what is said of a judge, where it is written, and which calls are asked again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from harness.asking_options import Addresses
from harness.options import ContentFolders, Flag, Names, Options, Seed, Share


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


ABOUT = "about the judge, for the tables"


@dataclass(frozen=True, kw_only=True)
class SubmitterStatement(Options):
    """Say where a submission is written, and what tables show of its judge."""

    heading: ClassVar[str] = "the submission's folder"

    name: Annotated[str | None, Flag(metavar="DIRNAME")] = None
    """name of the submission's folder (default: from the judge's name)"""
    into: Annotated[Path | None, Flag(metavar="DIR")] = None
    """the checkout that holds leaderboards/ (default: the one in use)"""
    replace: Annotated[bool, Flag()] = False
    """replace an earlier submission of the same judge"""
    title: Annotated[str, Flag(metavar="TEXT", group=ABOUT)] = ""
    """the judge's title in tables (default: its name)"""
    contact: Annotated[str, Flag(metavar="TEXT", group=ABOUT)] = ""
    """whom to ask about the submission; will be published"""
    open_weights: Annotated[Literal["yes", "no", "unknown"], Flag(group=ABOUT)] = "unknown"
    """whether its weights are available"""
    exposure: Annotated[Literal["none", "possible", "trained", "unknown"], Flag(group=ABOUT)] = "unknown"
    """whether the judge may have seen the board's data in training"""
    exposure_note: Annotated[str, Flag(metavar="TEXT", group=ABOUT)] = ""
    """what is known about the exposure"""
    families: Annotated[Names, Flag(metavar="NAMES", group=ABOUT)] = ()
    """model families that the judge shares with the systems whose texts it judges"""
    origin: str = ""
    """where recorded scores come from, and under which licence"""
    part: bool = False
    """a run of some languages, or with --limit, is submitted as what it is"""
    scores_alone: bool = False
    """the scores of a run are submitted without its replies, which may quote offensive texts"""
