"""Commands that find out which judge may be used for what."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from harness.cli.commands.shared import (
    AllowRefusedFlags,
    BaseUrlFlags,
    BodyFlags,
    ColumnsFlags,
    ContentFlags,
    DecisionsFlags,
    EngineFlags,
    FiguresFlags,
    FormsFlags,
    HeaderFlags,
    JsonFlags,
    OutFlags,
    PeopleFlags,
    ReadingFlags,
    RestrictionsFlags,
    RowsFlags,
    ScoresFlags,
    ShowTextsFlags,
    SpeedFlags,
)
from harness.cli.flags import FORM, Command, command, flag
from harness.options import (
    Names,
    Reask,
    Seed,
)
from harness.runs import RunSpec


@command("atlas:show")
class ShowAtlas(JsonFlags):
    """Flags of `harness atlas`.

    harness atlas --lang ja
    harness atlas --judge gpt-4o --quality harm --json
    """

    action: Literal["build"] | None = field(default=None, kw_only=False)
    """make the atlas again, from the published sets that are on this machine"""
    lang: Annotated[str | None, flag(metavar="LANGUAGE")] = None
    """only this language, by its tag or its name in any language: ja, Japanese, 日本語"""
    judge: Annotated[str | None, flag(metavar="NAME")] = None
    """only this judge"""
    quality: Annotated[str | None, flag(metavar="NAME")] = None
    """only this quality: harm, language, faithfulness, preference, ..."""
    html: Annotated[Path | None, flag(metavar="DIR")] = None
    """write pages: an index, a page for each language and one for each judge"""
    url: Annotated[str | None, flag(metavar="URL")] = None
    """with --html: the address where the pages will be, for pictures in previews of links"""
    beside: Annotated[tuple[str, ...], flag(metavar="NAME=PAGE")] = ()
    """with --html: link to a page beside them; repeatable"""
    to: Annotated[Path | None, flag(metavar="FILE")] = None
    """with build: where to write it, and .parquet beside it (default: leaderboards/atlas.json)"""


@command("start:start", first="to yes plan scale column text language metric annotators map json")
class Start(JsonFlags, PeopleFlags, ScoresFlags, ColumnsFlags, ReadingFlags, AllowRefusedFlags):
    """Flags of `harness start`.

    harness start ratings.xlsx
    harness start ratings.csv --language ja --to data/ratings --yes
    """

    source: Annotated[Path, flag(name="FILE")] = field(kw_only=False)
    """CSV, TSV, XLSX, JSONL or Parquet, with people's scores or with texts alone"""
    to: Annotated[Path | None, flag(metavar="DIR")] = None
    """the data folder to write (default: the file's name without its ending)"""
    yes: bool = False
    """take the guesses that are shown"""
    plan: Annotated[Path | None, flag(metavar="FILE.toml")] = None
    """only write the mapping, to be corrected and passed as --map"""


class RunParts(Command, group="what to judge"):
    """Flags of `harness run`."""

    full: bool = False
    """all test items (short for --board controls-full)"""
    cascade: Annotated[Path | None, flag(metavar="FILE")] = None
    """ask the judges of this certificate ('harness accept --cascade --to FILE') one after the other, each about what those before it
    left, and write who answers each text; usually with --data DIR --unlabelled"""


class RunAgain(Command, group="how to ask"):
    """Flags of `harness run`."""

    reask: Annotated[Reask, flag(metavar="KINDS")] = ()
    """ask calls again, up to three times, whose reply was: refused (by the judge), missing, truncated; several:
    missing,truncated"""
    fresh: bool = False
    """ask every call again, even if it has an answer; the last reply counts, and all are kept"""


class RunNow(Command, recorded=False):
    """Flags of `harness run`."""

    spec: Annotated[Path | None, flag(metavar="FILE")] = None
    """a file with flags of this command (TOML); flags given here take precedence"""
    dry_run: bool = False
    """show calls, tokens, cost and the beginning of a prompt; --verbose: one prompt of each kind; ask no judge"""
    yes: bool = False
    """send the texts of --data, and fetch data of a collection, without asking for consent"""


@command("run:run", first="spec languages board data judges base_url variants limit dry_run yes")
class Run(
    JsonFlags,
    RowsFlags,
    ShowTextsFlags,
    OutFlags,
    SpeedFlags,
    EngineFlags,
    BodyFlags,
    HeaderFlags,
    BaseUrlFlags,
    ContentFlags,
    RunNow,
    RunAgain,
    RunParts,
):
    """Flags of `harness run`.

    harness run --langs ja,cs --judge openai/gpt-4o --dry-run
    harness run --data data/ratings --judge openai/gpt-4o --judge openai/gpt-4o-mini --limit 50
    """

    request: RunSpec = field(default_factory=RunSpec)
    detach: Annotated[bool, flag(group="speed and limits (they change no number)")] = False
    """with --engine batch: submit the batches and do not wait"""
    by_task: Annotated[bool, flag(group="how much is shown")] = False
    """also show all verdicts, the numbers of each metric and task, and the sections"""


class CompareRules(Command, group="how to compare"):
    """Flags of `harness compare`."""

    by: Annotated[Names | None, flag(metavar="KEYS")] = None
    """keys to group by (default: language,task,metric,judge,variant,temperature); also system, agreement, group, source, or any key of
    the items"""
    majority: Literal["drop", "median", "strict"] = "drop"
    """how the labels of several annotators become one reference"""
    level: Literal["item", "system"] = "item"
    """compare items, or means of systems"""
    standardise: Literal["none", "annotator"] = "none"
    """annotator: correlations on interval scales use scores less each person's mean, divided by their standard deviation"""
    versus: Annotated[str | None, flag(metavar="KEY=NAME")] = None
    """add paired differences from one judge, variant, temperature or source: judge=gpt-4o"""
    seed: Annotated[Seed, flag(metavar="N")] = 0
    """seed for the bootstrap"""


class CompareOutput(Command, group="output", recorded=False):
    """Flags of `harness compare`."""

    full: bool = False
    """also show the statistics of every cell and all sections, after the verdicts; above 500 cells, all intervals in JSON and CSV"""
    decide: Literal["verdicts", "full"] = "verdicts"
    """full: also what each score is worth, and judges compared across languages"""
    distributions: bool = False
    """with --full: class shares where annotators agree fully, partly or not at all"""
    figure: Annotated[Path | None, flag(metavar="FILE")] = None
    """draw the answer: .svg, .pdf or .png (needs the extra 'figures')"""
    figure_kind: Literal["answer", "shares", "reliability"] = "answer"
    """shares: class shares of people and judge; reliability: a judge's confidence against how often it is right, by language"""
    sections: Annotated[Path | None, flag(metavar="DIR")] = None
    """also write a CSV file for each table of minimal pairs, of the same texts in several languages, and of panels"""
    to: Annotated[Path | None, flag(metavar="DIR")] = None
    """keep the table as a data folder"""
    html: Annotated[str | None, flag(metavar="FILE", group=FORM)] = None
    """write one self-contained page"""


class CompareTable(Command, group="columns of a table (docs/one-table.md)"):
    """Flags of `harness compare`."""

    human: Annotated[Names | None, flag(metavar="COLUMNS")] = None
    """columns with people's scores; a judge's columns are named with --judge"""
    text: Annotated[Names | None, flag(metavar="COLUMNS")] = None
    """columns with texts"""
    language: Annotated[str | None, flag(metavar="COLUMN_OR_TAG")] = None
    """the column that names each text's language, or the language of all"""
    id: Annotated[str | None, flag(metavar="COLUMN")] = None
    """the column of ids; two tables are joined by it"""
    group: Annotated[str | None, flag(metavar="COLUMN")] = None
    """what texts share, such as a document: texts of one group are not independent"""
    metric: Annotated[str | None, flag(metavar="COLUMN_OR_NAME")] = None
    """the column that names what was scored, or the name of it"""
    system: Annotated[str | None, flag(metavar="COLUMN")] = None
    """the column that names whose text it is"""
    scale: Annotated[tuple[str, ...], flag(metavar="[METRIC=]SCALE")] = ()
    """the scale, such as 1..5:best=5 or fail,pass:best=pass; repeatable"""
    drop: Annotated[Names | None, flag(metavar="COLUMNS")] = None
    """columns that do not matter"""
    sampling: Literal["random", "convenience", "unknown"] | None = None
    """how the texts were chosen; corrected means need random ones (default: unknown)"""
    source: Literal["native", "people", "constructed"] = "native"
    """who labelled the texts"""


@command("compare:compare", first="judge human text langs by versus bar full html json settings")
class Compare(FormsFlags, FiguresFlags, RowsFlags, OutFlags, DecisionsFlags, CompareTable, RestrictionsFlags, CompareOutput, CompareRules):
    """Flags of `harness compare`.

    harness compare ratings.xlsx
    harness compare ratings.xlsx --human ann,bob --judge gpt-4o --html page.html --set margin=0.05
    """

    sources: Annotated[tuple[str, ...], flag(name="SOURCE")] = field(kw_only=False)
    """a table (CSV, TSV, XLSX, JSON, JSONL, Parquet), or two that an id joins; else a data folder with judgments, a run's folder, or the
    name of a run in --out"""
    judge: Annotated[tuple[str, ...] | None, flag(metavar="NAME", group="what to compare")] = None
    """only this judge; of a table, a column with a judge's scores; panel/<file.toml> adds a panel of recorded judges (docs/own.md), and
    shows its members too; repeatable"""


@command("run:report", first="by_task html json langs settings figures out")
class ShowReport(OutFlags, FormsFlags, RowsFlags, DecisionsFlags, FiguresFlags):
    """Flags of `harness report`.

    harness report
    harness report first --html --set alpha=0.01
    """

    run: Annotated[str | None, flag(name="RUN")] = field(default=None, kw_only=False)
    """a run's name, the beginning of one, or its folder (default: the latest run)"""
    figures: bool = False
    """write the report's figures (SVG, PDF, PNG) to the run's folder (extra 'figures')"""
    langs: Annotated[Names | None, flag(name=("--langs", "--lang"), metavar="TAGS")] = None
    """show only these languages; verdicts stay corrected for all that the run tested"""
    majority: Literal["drop", "median", "strict"] | None = None
    """how the labels of several annotators become one reference (default: the run's)"""
    by_task: bool = False
    """also show all verdicts, the numbers of each metric and task, and the sections"""
    html: Annotated[tuple[str, ...] | None, flag(metavar="FILE", consume_multiple=True, group=FORM)] = None
    """write one self-contained page (default: report.html in the run's folder)"""


@command("run:runs")
class Runs(JsonFlags, OutFlags):
    """Flags of `harness runs`.

    harness runs
    harness runs --out results --json
    """
