"""The flags of several commands, as base classes of theirs."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from harness.asking_options import Addresses, Speed
from harness.cli.command import FORM, Command
from harness.options import CalendarDay, ContentFolders, Flag, PositiveNumber


class BoardDataFlags(Command):
    """Flags of several commands: board data."""

    data: Annotated[Path | None, Flag(metavar="DIR")] = None
    """the data, for a board that judges a data folder"""


class RecipientsFlags(Command):
    """Flags of several commands: recipients."""

    recipient: Annotated[tuple[str, ...], Flag(metavar="age1…")]
    """a public age key that may decrypt the labels; repeatable"""


class KeyFlags(Command):
    """Flags of several commands: key."""

    key: Annotated[Path, Flag(metavar="FILE")]
    """an age key that decrypts the labels, as written by age-keygen"""


class HomeFlags(Command):
    """Flags of several commands: home."""

    to: Annotated[Path | None, Flag(metavar="DIR")] = None
    """the folder for data folders (default: in the user's folder for data)"""


class ShowTextsFlags(Command, group="before asking", recorded=False):
    """Flags of several commands: show texts."""

    show_texts: Annotated[bool, Flag(setting=True)] = False
    """with --dry-run: also show texts that their dataset card calls offensive"""


class WageFlags(Command, group="how much is shown", recorded=False):
    """Flags of several commands: wage."""

    wage: Annotated[PositiveNumber | None, Flag(metavar="DOLLARS", setting=True)] = None
    """what a person earns in an hour: say what people's labels cost beside the calls, by the seconds that labelling pages recorded"""


class CardFlags(Command, group="which judgments and labels count"):
    """Flags of several commands: card."""

    card: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """dataset card of the published data in the folder; see 'harness data list'"""


class ContentFlags(ContentFolders, Command, group=ContentFolders.heading):
    """Flags of several commands: content."""


class OutFlags(Command):
    """Flags of several commands: out."""

    out: Annotated[Path, Flag(metavar="DIR")] = Path("results")
    """results folder"""


class JsonFlags(Command, recorded=False):
    """Flags of several commands: json."""

    json: bool = False
    """print JSON for programs, unrounded"""


class JudgedFlags(OutFlags):
    """Flags of several commands: judged."""

    source: Annotated[str, Flag("RUN_OR_DIR")] = field(kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out"""


class OpenedFlags(ContentFlags, BoardDataFlags):
    """Flags of several commands: opened."""

    key: Annotated[Path | None, Flag(metavar="FILE")] = None
    """an age key for the board's sealed labels; they are decrypted in memory only"""


class FiguresFlags(Command, group="figures", recorded=False):
    """Flags of several commands: figures."""

    figure_width: Annotated[Literal["single", "double"], Flag(setting=True)] = "double"
    """one column of 3.5 inches, or both of 7.2"""
    figure_names: Annotated[Literal["english", "own"], Flag(setting=True)] = "english"
    """languages by their English or their own names"""


class FormsFlags(JsonFlags, recorded=False):
    """Flags of several commands: forms."""

    json: Annotated[bool, Flag(group=FORM)] = False
    """print JSON for programs, unrounded"""
    csv: Annotated[bool, Flag(group=FORM)] = False
    """print CSV, unrounded"""
    md: Annotated[bool, Flag(group=FORM)] = False
    """print Markdown"""
    latex: Annotated[tuple[Literal["verdicts", "shares", "numbers"], ...] | None, Flag(several=True, group=FORM)] = None
    """print a LaTeX table (booktabs, siunitx): the verdicts (default), the shares of classes, or all numbers"""


class RowsFlags(Command, group="how much is shown", recorded=False):
    """Flags of several commands: rows."""

    all: bool = False
    """show the rows without a verdict too, and what the headings mean"""
    notes: bool = False
    """print what the data say about themselves too, and the signature whole, not as a short hash"""


class AskedAgainFlags(OutFlags, CardFlags):
    """Flags of several commands: asked again."""

    asking: Speed = field(default_factory=Speed)
    addresses: Addresses = field(default_factory=Addresses)

    yes: bool = False
    """send the texts of a data folder to the endpoint without asking for consent"""


class DayFlags(Command):
    """Flags of several commands: day."""

    folder: Annotated[Path, Flag("DIR")] = field(kw_only=False)
    """the folder of the watch"""
    date: Annotated[CalendarDay | None, Flag(metavar="DATE")] = None
    """the day, such as 2026-05-31 (default: today, UTC)"""
