"""Commands that find out which judge may be used for what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from harness.asking_options import Settings
from harness.cli.command import FORM, Command, command
from harness.cli.commands.shared import (
    ContentFlags,
    FiguresFlags,
    FormsFlags,
    JsonFlags,
    OutFlags,
    RowsFlags,
    ShowTextsFlags,
    WageFlags,
)
from harness.decide.options import CompareOptions, DecisionOptions
from harness.exchange.labels.table_options import MappingOptions, ReadingOptions, TableOptions
from harness.options import Flag, Names, PositiveNumber, ReadsEach
from harness.options import base_url as read_url
from harness.runs import RunSpec

_UPDATE = "with update"


@command("atlas:show")
class ShowAtlas(JsonFlags):
    """Flags of `harness atlas`.

    harness atlas hi
    harness atlas --judge gpt-4-turbo --quality harm --json
    """

    language: Annotated[str | None, Flag("LANGUAGE")] = field(default=None, kw_only=False)
    """the same as --lang; 'build' makes the atlas again, from the published sets and submissions that are on this machine; 'update' asks a
    judge on the boards of people's labels that it has not answered"""
    lang: Annotated[str | None, Flag(metavar="LANGUAGE")] = None
    """only this language, by its tag or its name in any language: ja, Japanese, 日本語"""
    judge: Annotated[str | None, Flag(metavar="NAME")] = None
    """only this judge; with update: the judge that is asked"""
    quality: Annotated[str | None, Flag(metavar="NAME")] = None
    """only this quality: harm, language, faithfulness, preference, ..."""
    html: Annotated[Path | None, Flag(metavar="DIR")] = None
    """write pages: an index, a page for each language and one for each judge"""
    url: Annotated[str | None, Flag(metavar="URL")] = None
    """with --html: the address where the pages will be, for pictures in previews of links"""
    beside: Annotated[tuple[str, ...], Flag(metavar="NAME=PAGE")] = ()
    """with --html: link to a page beside them; repeatable"""
    to: Annotated[Path | None, Flag(metavar="FILE")] = None
    """with build: the file to write, and .parquet beside it (default: leaderboards/atlas.json); with update: a pull request's folder"""
    dry_run: Annotated[bool, Flag(group=_UPDATE)] = False
    """show calls and dollars; fetch and ask nothing"""
    yes: Annotated[bool, Flag(group=_UPDATE)] = False
    """send the texts, and fetch data, without asking for consent"""
    max_cost: Annotated[PositiveNumber | None, Flag(metavar="DOLLARS", group=_UPDATE)] = None
    """stop before the cost exceeds this"""
    base_url: Annotated[Mapping[str, str], ReadsEach(read_url, dict), Flag(metavar="[JUDGE=]URL", group=_UPDATE)] = field(
        default_factory=dict
    )
    """the endpoint of the judge"""
    out: Annotated[Path, Flag(metavar="DIR", group=_UPDATE)] = Path("results")
    """results folder; outside of a repository, as some texts are extremely offensive"""


_JUDGED = "a table with a judge (docs/one-table.md)"


@command("start:start", first="to yes plan scale text language metric human judge map json")
class Start(JsonFlags, ContentFlags):
    """Flags of `harness start`.

    harness start ratings.xlsx
    harness start ratings.csv --language ja --to data/ratings --yes
    """

    file: Annotated[Path, Flag("FILE")] = field(kw_only=False)
    """CSV, TSV, XLSX, JSONL or Parquet, with people's scores or with texts alone"""
    to: Annotated[Path | None, Flag(metavar="DIR")] = None
    """the data folder to write (default: the file's name without its ending)"""
    yes: bool = False
    """take the guesses that are shown"""
    plan: Annotated[Path | None, Flag(metavar="FILE.toml")] = None
    """only write the mapping, to be corrected and passed as --map"""
    judge: Annotated[Names | None, Flag(metavar="COLUMNS", group=_JUDGED)] = None
    """columns with a judge's scores; people's columns are named with --human"""
    question: Annotated[tuple[str, ...], Flag(metavar="METRIC=WORDS")] = ()
    """what people and judges are asked, with the words of both ends: 'tone=How polite is it? | 1: rude | 5: polite'; repeatable"""
    recode: Annotated[tuple[str, ...], Flag(metavar="COLUMN:FROM=TO", group=_JUDGED)] = ()
    """what a column's scores are on the other side's scale: judge:0..1=1..5 or judge:4..5=pass,1..3=fail; repeatable"""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    columns: MappingOptions = field(default_factory=MappingOptions)


class RunParts(Command, group="what to judge"):
    """Flags of `harness run`."""

    cascade: Annotated[Path | None, Flag(metavar="FILE")] = None
    """ask the judges of this certificate, made by 'harness accept --cascade --to FILE', one after the other"""


class RunNow(Command, recorded=False):
    """Flags of `harness run`."""

    dry_run: bool = False
    """show calls, tokens, cost and the beginning of a prompt; --verbose: one prompt of each kind; ask no judge"""
    yes: bool = False
    """send the texts of --data, and fetch data of a collection, without asking for consent"""


@command("run:run", first="spec languages board data judges base_url variants limit dry_run yes")
class Run(
    JsonFlags,
    RowsFlags,
    WageFlags,
    ShowTextsFlags,
    OutFlags,
    RunNow,
    RunParts,
):
    """Flags of `harness run`.

    harness run --langs ja,cs --judge openai/gpt-4o --dry-run
    harness run --data data/ratings --judge openai/gpt-4o --judge openai/gpt-4o-mini --limit 50
    """

    request: RunSpec = field(default_factory=RunSpec)
    asking: Settings = field(default_factory=Settings)
    by_task: Annotated[bool, Flag(group="how much is shown")] = False
    """also show all verdicts, the numbers of each metric and task, and the sections"""


class CompareOutput(Command, group="output", recorded=False):
    """Flags of `harness compare`."""

    full: bool = False
    """also show the statistics of every cell and all sections; above 500 cells, all intervals in JSON and CSV"""
    distributions: Annotated[bool, Flag(setting=True)] = False
    """with --full: class shares where annotators agree fully, partly or not at all"""
    figure: Annotated[Path | None, Flag(metavar="FILE")] = None
    """draw the answer: .svg, .pdf or .png (needs the extra 'figures')"""
    figure_kind: Literal["answer", "shares", "reliability"] = "answer"
    """shares: class shares of people and judge; reliability: a judge's confidence against how often it is right, by language"""
    sections: Annotated[Path | None, Flag(metavar="DIR")] = None
    """also write a CSV file for each table of minimal pairs, of the same texts in several languages, and of panels"""
    to: Annotated[Path | None, Flag(metavar="DIR")] = None
    """keep the table as a data folder"""
    html: Annotated[str | None, Flag(metavar="FILE", group=FORM)] = None
    """write one self-contained page"""


@command("compare:compare", first="judges human text languages by versus bar full html json")
class Compare(FormsFlags, FiguresFlags, RowsFlags, OutFlags, CompareOutput):
    """Flags of `harness compare`.

    harness compare scores.xlsx
    harness compare scores.csv --human ann,bob --judge gpt-4o --html page.html --set margin=0.05
    """

    sources: Annotated[tuple[str, ...], Flag("SOURCE")] = field(kw_only=False)
    """a table (CSV, TSV, XLSX, JSON, JSONL, Parquet), or two that an id joins; else a data folder with judgments, a run's folder, or the
    name of a run in --out"""
    options: CompareOptions = field(default_factory=CompareOptions)
    table: TableOptions = field(default_factory=TableOptions)


@command("run:report", first="by_task html json langs figures out")
class ShowReport(OutFlags, FormsFlags, RowsFlags, FiguresFlags, WageFlags):
    """Flags of `harness report`.

    harness report
    harness report first --html --set alpha=0.01
    """

    run: Annotated[str | None, Flag("RUN")] = field(default=None, kw_only=False)
    """a run's name, the beginning of one, or its folder (default: the latest run)"""
    figures: bool = False
    """write the report's figures (SVG, PDF, PNG) to the run's folder (extra 'figures')"""
    langs: Annotated[Names | None, Flag("--langs --lang", metavar="TAGS")] = None
    """show only these languages; verdicts stay corrected for all that the run tested"""
    majority: Literal["drop", "median", "strict"] | None = None
    """how the labels of several annotators become one reference (default: the run's)"""
    by_task: bool = False
    """also show all verdicts, the numbers of each metric and task, and the sections"""
    html: Annotated[tuple[str, ...] | None, Flag(metavar="FILE", several=True, group=FORM)] = None
    """write one self-contained page (default: report.html in the run's folder)"""
    decision: DecisionOptions = field(default_factory=DecisionOptions)


@command("run:runs")
class Runs(JsonFlags, OutFlags):
    """Flags of `harness runs`.

    harness runs
    harness runs --out results --json
    """
