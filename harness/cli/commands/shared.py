"""The flags of several commands, as base classes of theirs."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from harness.asking import Addresses, Speed
from harness.cli.command import FORM, Command
from harness.options import CalendarDay, ContentFolders, Count, Flag, Names, PositiveNumber


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


class AllowRefusedFlags(Command, group="how to read it"):
    """Flags of several commands: allow refused."""

    allow_refused: bool = False
    """import the other rows where some are refused (default: then nothing is written); refused.jsonl holds the refused rows"""


class ShowTextsFlags(Command, group="before asking", recorded=False):
    """Flags of several commands: show texts."""

    show_texts: bool = False
    """with --dry-run: also show texts that their dataset card calls offensive"""


class WageFlags(Command, group="how much is shown", recorded=False):
    """Flags of several commands: wage."""

    wage: Annotated[PositiveNumber | None, Flag(metavar="DOLLARS")] = None
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


class ReadingFlags(ContentFlags, group="how to read it"):
    """Flags of several commands: reading."""

    kind: Annotated[
        Literal["csv", "tsv", "xlsx", "sheet", "jsonl", "json", "parquet", "hf", "label-studio", "argilla"] | None,
        Flag("--from", metavar="KIND"),
    ] = None
    """the kind of source, if it cannot be detected: csv, tsv, xlsx, sheet, jsonl, json, parquet, hf, label-studio, argilla"""
    sheet: Annotated[str | None, Flag(metavar="NAME")] = None
    """the worksheet of a workbook (default: the first that is not empty)"""
    encoding: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """encoding of a CSV file that is neither UTF-8 nor UTF-16 with a byte order mark, e.g. cp1252"""
    header_row: Annotated[Count | None, Flag(metavar="N", setting=True)] = None
    """the row of a table that names its columns (default: the first, or the first below a title)"""
    revision: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """commit, tag or branch of hf:owner/name"""
    split: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """which split of a Hugging Face data set"""


class ColumnsFlags(Command, group="what its columns mean (--map can hold all of this)"):
    """Flags of several commands: columns."""

    map: Annotated[Path | None, Flag(metavar="FILE")] = None
    """a mapping in TOML; flags take precedence"""
    column: Annotated[tuple[str, ...], Flag(metavar="ROLE=COLUMN")] = ()
    """the role of a column; roles: item_id, annotator_id, metric, score, source, language, task, split, group, system, parallel_id"""
    text: Annotated[tuple[str, ...], Flag(metavar="FIELD=COLUMN")] = ()
    """a column that becomes a text of the items"""
    id_from: Annotated[Names | None, Flag(metavar="COLUMNS")] = None
    """columns whose values together are an item's id; '#' is the number of the row"""
    group: Annotated[str | None, Flag(metavar="COLUMN")] = None
    """short for --column group=COLUMN"""
    system: Annotated[str | None, Flag(metavar="COLUMN")] = None
    """short for --column system=COLUMN"""
    language: Annotated[str | None, Flag(metavar="TAG")] = None
    """the language of all rows"""
    task: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """the task of all rows"""
    metric: Annotated[str | None, Flag(metavar="NAME")] = None
    """the metric of all scores"""
    annotator: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """the annotator of all scores"""
    annotator_from_file: Annotated[str | None, Flag(metavar="REGEX", setting=True)] = None
    r"""the annotator of all scores is in the file's name, e.g. ratings_(.+)\.csv"""
    wide_annotators: Annotated[Names | None, Flag(metavar="COLUMNS")] = None
    """columns with the scores of one annotator each"""
    wide_metrics: Annotated[Names | None, Flag(metavar="COLUMNS")] = None
    """columns with the scores on one metric each"""
    human: Annotated[Names | None, Flag(metavar="NAMES")] = None
    """columns or annotators that are people, though their names look like a judge's"""
    wide_items: Annotated[str | None, Flag(metavar="REGEX", setting=True)] = None
    r"""columns with the scores of one item each, as forms have: \[(?P<item>[^]]+)\] (?P<metric>.+)"""


class ScoresFlags(Command, group="what its scores mean"):
    """Flags of several commands: scores."""

    scale: Annotated[tuple[str, ...], Flag(metavar="METRIC=SCALE")] = ()
    """e.g. tone=0,1,2:best=2, stars=1..5:best=5 (classes), warmth=1..5:kind=interval"""
    rename: Annotated[tuple[str, ...], Flag(metavar="OLD=NEW")] = ()
    """another name for a metric"""
    category: Annotated[tuple[str, ...], Flag(metavar="METRIC:CATEGORY=SCORE", setting=True)] = ()
    """the score for a category"""
    flip: Annotated[tuple[str, ...], Flag(metavar="METRIC", setting=True)] = ()
    """reverse the scores of a metric on its scale"""
    drop: Annotated[tuple[str, ...], Flag(metavar="METRIC")] = ()
    """leave a metric out, e.g. a question for comments"""
    no_answer: Annotated[Names | None, Flag(metavar="TEXTS", setting=True)] = None
    """what cells hold that mean no answer, such as n/a,-,99: they count as empty"""
    label_source: Annotated[Literal["native", "people", "constructed", "model"] | None, Flag("--source")] = None
    """who made the labels (default: native)"""


class FolderFlags(Command, group="annotators and folder"):
    """Flags of several commands: folder."""

    keep_annotators: bool = False
    """keep annotators' ids instead of pseudonyms"""
    salt_file: Annotated[Path | None, Flag(metavar="FILE", setting=True)] = None
    """the salt of the pseudonyms; created if it does not exist (default: in the user's settings)"""
    id: Annotated[str | None, Flag(metavar="NAME", setting=True)] = None
    """name of the data (default: the folder's name)"""
    title: Annotated[str | None, Flag(metavar="TEXT", setting=True)] = None
    """title of the data"""


class PeopleFlags(FolderFlags, group="annotators and folder"):
    """Flags of several commands: people."""

    annotators: Annotated[Literal["persistent", "positional", "anonymous", "aggregate"] | None, Flag(setting=True)] = None
    """what an annotator's id means"""
    sampling: Literal["random", "convenience", "unknown"] | None = None
    """how the texts were chosen (default: unknown)"""


class SubmissionFlags(Command, group="the submission's folder"):
    """Flags of several commands: submission."""

    name: Annotated[str | None, Flag(metavar="DIRNAME")] = None
    """name of the submission's folder (default: from the judge's name)"""
    into: Annotated[Path | None, Flag(metavar="DIR")] = None
    """the checkout that holds leaderboards/ (default: the one in use)"""
    replace: bool = False
    """replace an earlier submission of the same judge"""


class AboutFlags(Command, group="about the judge, for the tables"):
    """Flags of several commands: about."""

    title: Annotated[str, Flag(metavar="TEXT")] = ""
    """the judge's title in tables (default: its name)"""
    contact: Annotated[str, Flag(metavar="TEXT")] = ""
    """whom to ask about the submission; will be published"""
    open_weights: Literal["yes", "no", "unknown"] = "unknown"
    """whether its weights are available"""
    exposure: Literal["none", "possible", "trained", "unknown"] = "unknown"
    """whether the judge may have seen the board's data in training"""
    exposure_note: Annotated[str, Flag(metavar="TEXT")] = ""
    """what is known about the exposure"""
    families: Annotated[Names, Flag(metavar="NAMES")] = ()
    """model families that the judge shares with the systems whose texts it judges"""


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
    latex: Annotated[bool, Flag(group=FORM)] = False
    """print a LaTeX table (booktabs, siunitx)"""


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
