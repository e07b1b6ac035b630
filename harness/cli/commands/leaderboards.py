"""Commands for leaderboards."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated

from harness.asking_options import Speed
from harness.boards.submission_options import SubmitterStatement, VerifyOptions
from harness.cli.command import command
from harness.cli.commands.shared import (
    BoardDataFlags,
    ContentFlags,
    JsonFlags,
    KeyFlags,
    OpenedFlags,
    OutFlags,
    RecipientsFlags,
)
from harness.options import Flag


@command("boards:show")
class BoardShow(JsonFlags, OpenedFlags):
    """Flags of `harness board show`.

    harness board show controls
    harness board show controls --lang ja --all
    """

    board: Annotated[str, Flag("BOARD")] = field(kw_only=False)
    """the board's name; see 'harness list boards'"""
    lang: Annotated[str | None, Flag(metavar="TAG")] = None
    """only this language, with a table for each metric"""
    all: bool = False
    """also a table for each language, the findings of probes and what the headings mean"""


@command("boards:build")
class BoardBuild(OpenedFlags):
    """Flags of `harness board build`.

    harness board build
    harness board build controls --site site
    """

    boards: Annotated[tuple[str, ...], Flag("BOARD")] = field(default=(), kw_only=False)
    """only these boards (default: all with submissions)"""
    site: Annotated[Path | None, Flag(metavar="DIR")] = None
    """also write a site to this folder: an index, and a page for each board"""
    beside: Annotated[tuple[str, ...], Flag(metavar="NAME=PAGE")] = ()
    """with --site: link to a page beside them"""


@command("boards:check")
class BoardCheck(JsonFlags, OpenedFlags):
    """Flags of `harness board check`.

    harness board check
    harness board check controls --changed origin/main
    """

    boards: Annotated[tuple[str, ...], Flag("BOARD")] = field(default=(), kw_only=False)
    """only these boards (default: all)"""
    changed: Annotated[str | None, Flag(metavar="BASE")] = None
    """check only the commits since BASE (e.g. origin/main), which may add submissions and nothing else"""


@command("boards:record", first="origin judge name into replace data title")
class BoardRecord(JsonFlags, ContentFlags, BoardDataFlags):
    """Flags of `harness board record`.

    harness board record pariksha --data pariksha --origin MIT
    harness board record pariksha --data pariksha --origin MIT --judge gpt-4o --title GPT-4o
    """

    board: Annotated[str, Flag("BOARD")] = field(kw_only=False)
    """a board that judges a data folder and asks every question once"""
    origin: Annotated[str, Flag(metavar="TEXT")]
    """where the scores come from, and under which licence; will be published"""
    judge: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()
    """only this judge of the judgments; repeatable"""
    about: SubmitterStatement = field(default_factory=SubmitterStatement)


@command("boards:verify", first="share seed base_url headers out max_cost yes data json")
class BoardVerify(JsonFlags):
    """Flags of `harness board verify`.

    harness board verify controls openai-gpt-4o
    harness board verify controls openai-gpt-4o --share 0.1 --max-cost 1 --out verified
    """

    board: Annotated[str, Flag("BOARD")] = field(kw_only=False)
    """the board"""
    submission: Annotated[str, Flag("SUBMISSION")] = field(kw_only=False)
    """the submission's folder, by name or path"""
    options: VerifyOptions = field(default_factory=VerifyOptions)
    asking: Speed = field(default_factory=Speed)
    yes: bool = False
    """send the texts of a private data folder to the endpoint without asking for consent"""


@command("boards:seal")
class BoardSeal(JsonFlags, ContentFlags, BoardDataFlags, RecipientsFlags):
    """Flags of `harness board seal`.

    harness board seal controls --labels labels --recipient age1abc
    harness board seal controls --labels labels --recipient age1abc --recipient age1def
    """

    board: Annotated[str, Flag("BOARD")] = field(kw_only=False)
    """a board whose labels are kept elsewhere"""
    labels: Annotated[Path, Flag(metavar="DIR|FILE")]
    """the labels, outside the published folders"""
    canary: Annotated[str | None, Flag(metavar="TEXT")] = None
    """the canary sentence in every data file of the board (default: a new one)"""


@command("boards:open_")
class BoardOpen(ContentFlags, KeyFlags):
    """Flags of `harness board open`.

    harness board open controls --key key.txt --to opened
    harness board open controls --key key.txt --to opened --verbose
    """

    board: Annotated[str, Flag("BOARD")] = field(kw_only=False)
    """the board"""
    to: Annotated[Path, Flag(metavar="DIR")]
    """a new folder, outside the published folders"""


@command("boards:rotate")
class BoardRotate(ContentFlags, RecipientsFlags, KeyFlags):
    """Flags of `harness board rotate`.

    harness board rotate controls --key key.txt --recipient age1abc
    harness board rotate controls --key key.txt --recipient age1abc --recipient age1def
    """

    board: Annotated[str, Flag("BOARD")] = field(kw_only=False)
    """the board"""


@command("boards:submit", first="board judge name into replace part scores_alone out title contact")
class Submit(JsonFlags, OutFlags):
    """Flags of `harness submit`.

    harness submit first --board controls
    harness submit first --board controls --judge openai/gpt-4o --title GPT-4o
    """

    run: Annotated[str, Flag("RUN")] = field(kw_only=False)
    """a run's name, the beginning of one, or its folder"""
    board: Annotated[str, Flag(metavar="NAME")]
    """the board whose protocol the run follows"""
    judge: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()
    """only this judge of the run; repeatable"""
    part: bool = False
    """a run of some languages or with --limit: submit it as a part, which says so"""
    scores_alone: bool = False
    """of a board with offensive texts: submit the scores, and leave out replies in words, which may quote the texts"""
    about: SubmitterStatement = field(default_factory=SubmitterStatement)
