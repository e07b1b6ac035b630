"""Commands for people's labels and published data."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from harness.annotate.labelling_options import LabelCheckOptions, PageImportOptions, PageOptions
from harness.cli.command import FORM, Command, command
from harness.cli.commands.shared import (
    CardFlags,
    ContentFlags,
    HomeFlags,
    JsonFlags,
    OutFlags,
)
from harness.correction.correction_options import LabelBudgetOptions, SampleOptions
from harness.exchange.labels.table_options import ImportOptions, MappingOptions
from harness.options import Count, Flag, Names, Port, Seed, Share, Shares


@command("labels:import_", first="to append unlabelled second_round scale column text language metric map json")
class LabelsImport(JsonFlags, ContentFlags):
    """Flags of `harness labels import`.

    harness labels import ratings.xlsx --to data/ratings
    harness labels import ratings.csv --to data/ratings --metric quality --scale quality=1..5:best=5 --language ja --task open_prompt
    """

    sources: Annotated[tuple[str, ...], Flag("SOURCE")] = field(kw_only=False)
    """CSV, TSV, XLSX, JSONL, Parquet, a Label Studio or Argilla export, a saved data set, hf:owner/name, or result files of pages"""
    to: Annotated[Path | None, Flag(metavar="DIR")] = None
    """the data folder to write (of result files: default the data of their pages)"""
    options: ImportOptions = field(default_factory=ImportOptions)
    columns: MappingOptions = field(default_factory=MappingOptions)
    result_files: PageImportOptions = field(default_factory=PageImportOptions)


@command("labels:export")
class LabelsExport(JsonFlags, ContentFlags):
    """Flags of `harness labels export`.

    harness labels export bundled --langs ja --to labels.csv
    harness labels export data/ratings --to sheet.xlsx --langs ja --annotator hana
    """

    data: Annotated[str, Flag("DATA")] = field(kw_only=False)
    """a data folder, or 'bundled'"""
    to: Annotated[Path, Flag(metavar="FILE")]
    """the file: .csv, .jsonl, .parquet, .json (Label Studio), .xlsx (sheet)"""
    format: Literal["csv", "jsonl", "parquet", "label-studio", "sheet"] | None = None
    """the format, if the file's name does not show it"""
    langs: Annotated[Names | None, Flag("--langs --lang", metavar="TAGS")] = None
    """only these languages"""
    task: Annotated[Names | None, Flag(metavar="NAMES")] = None
    """only these tasks"""
    metrics: Annotated[Names | None, Flag(metavar="NAMES")] = None
    """only these metrics, in this order"""
    fields: Annotated[Names | None, Flag(metavar="NAMES")] = None
    """the texts that a sheet shows, for items of a task that tasks/ does not describe"""
    seed: Annotated[Seed, Flag(metavar="N", setting=True)] = 0
    """seed for the order of outputs that share a text"""
    annotator: Annotated[str | None, Flag(metavar="NAME")] = None
    """the annotator's name in the sheet"""


@command("labels:check")
class LabelsCheck(JsonFlags):
    """Flags of `harness labels check`.

    harness labels check data/ratings
    harness labels check data/ratings --langs ja --majority median --json
    """

    data: Annotated[Path, Flag("DATA")] = field(kw_only=False)
    """a data folder"""
    options: LabelCheckOptions = field(default_factory=LabelCheckOptions)
    all: bool = False
    """show all coefficients of agreement, what the headings mean, and the notes of the data"""


class LabelsNeededBefore(Command, group="before any run"):
    """Flags of `harness labels needed`."""

    judge_as_good: bool = False
    """no judge was asked yet: plan for one that is as good as people"""
    metric: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()
    """what will be labelled; repeatable with a data folder"""
    people_agree: Annotated[Share | None, Flag(metavar="SHARE")] = None
    """on how many texts two people agree (default: as in the labels)"""
    shares: Annotated[Shares, Flag(metavar="A,B,...")] = ()
    """how often people give each class, in order (default: as in the labels)"""
    people: Annotated[Count | None, Flag(metavar="N")] = None
    """people who label each text (default: as in the labels, or 2)"""
    cells: Annotated[Count | None, Flag(metavar="N")] = None
    """metrics times languages that are tested together (default: those of the labels)"""


@command("labels:needed", first="judges languages half_width judge_as_good metric people shares cells all json")
class CountLabelsNeeded(JsonFlags, OutFlags, LabelsNeededBefore):
    """Flags of `harness labels needed`.

    harness labels needed pariksha
    harness labels needed --judge-as-good --metric tone --people 2 --shares 20,30,50
    """

    source: Annotated[str | None, Flag("DIR_OR_RUN")] = field(default=None, kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out; with --judge-as-good: labels, or nothing"""
    options: LabelBudgetOptions = field(default_factory=LabelBudgetOptions)
    all: bool = False
    """a row for each question, however many there are"""


@command("labels:plan", first="to budget language judge metric allocation least least_per_class seed json")
class LabelsPlan(JsonFlags, OutFlags, CardFlags):
    """Flags of `harness labels plan`.

    harness labels plan pariksha --to next.jsonl --lang hi --budget 100
    harness labels plan pariksha --to next.jsonl --lang hi --budget 100 --allocation neyman
    """

    source: Annotated[str, Flag("DIR_OR_RUN")] = field(kw_only=False)
    """a data folder, a run's folder, or the name of a run in --out"""
    to: Annotated[Path, Flag(metavar="FILE")]
    """the list of items to write (.jsonl), for 'labels page --items'"""
    options: SampleOptions = field(default_factory=SampleOptions)


@command("labels:reviews")
class LabelsReviews(ContentFlags, JsonFlags):
    """Flags of `harness labels reviews`.

    harness labels reviews data/ratings
    harness labels reviews data/ratings --html reviews.html
    """

    data: Annotated[Path, Flag("DIR")] = field(kw_only=False)
    """the data folder with the imported answers"""
    seed: Annotated[Seed, Flag(metavar="N", setting=True)] = 0
    """seed for the bootstrap"""
    html: Annotated[str | None, Flag(metavar="FILE", group=FORM)] = None
    """write one self-contained page, with what people said"""


@command("labels:page", first="out language tasks metrics items next_items annotators overlap practice about replace")
class LabelsPage(JsonFlags, ContentFlags):
    """Flags of `harness labels page`.

    harness labels page data/ratings --lang ja --out pages --annotators 3
    harness labels page data/ratings --lang ja --out pages --items next.jsonl --annotators hana,taro --overlap 0.2
    """

    data: Annotated[str, Flag("DATA")] = field(kw_only=False)
    """a data folder, a table of texts, or 'bundled'"""
    review: Annotated[str | None, Flag(metavar="RUN", group="people's answer to a judge's reasons, instead of scores")] = None
    """ask whether people agree with the scores and reasons of a judge in this run (a run's folder, or its name in 'results')"""
    judge: Annotated[str | None, Flag(metavar="NAME", group="people's answer to a judge's reasons, instead of scores")] = None
    """the judge (default: the only one of the run)"""
    out: Annotated[Path, Flag(metavar="FOLDER")]
    """the folder for the pages and their record"""
    options: PageOptions = field(default_factory=PageOptions)


@command("labels:serve")
class LabelsServe(Command):
    """Flags of `harness labels serve`.

    harness labels serve pages
    harness labels serve pages --port 0
    """

    folder: Annotated[Path, Flag("FOLDER")] = field(kw_only=False)
    """the folder that 'labels page' wrote"""
    port: Annotated[Port, Flag(metavar="N")] = 8765
    """the port; 0: any that is free"""
    host: Annotated[str | None, Flag(metavar="ADDRESS")] = None
    """the address to listen on, e.g. 0.0.0.0 for all of this machine's (default: this machine only)"""


@command("data:show_list")
class DataList(JsonFlags, ContentFlags):
    """Flags of `harness data list`.

    harness data list
    harness data list --langs ja,cs --full
    """

    langs: Annotated[Names | None, Flag("--langs --lang", metavar="TAGS")] = None
    """only data in these languages: ja,cs"""
    full: bool = False
    """all of each set: who labelled, first languages, pay, dates, instructions, licence"""


@command("data:show_set")
class DataShow(JsonFlags, ContentFlags):
    """Flags of `harness data show`.

    harness data show hanna
    harness data show rtp_lx --json
    """

    name: Annotated[str, Flag("NAME")] = field(kw_only=False)
    """which set; see 'harness data list'"""


@command("data:get")
class DataGet(ContentFlags, HomeFlags):
    """Flags of `harness data get`.

    harness data get hanna
    harness data get --langs ja --yes
    """

    names: Annotated[tuple[str, ...], Flag("NAME")] = field(default=(), kw_only=False)
    """what to fetch; see 'harness data list'"""
    langs: Annotated[Names | None, Flag("--langs --lang", metavar="TAGS")] = None
    """all data in these languages: ja,cs"""
    all: bool = False
    """all data that can be fetched"""
    yes: bool = False
    """accept the licences without being asked"""
    partial: bool = False
    """convert what there is where the origin lacks files"""


@command("data:check")
class DataCheck(JsonFlags, ContentFlags, HomeFlags):
    """Flags of `harness data check`.

    harness data check
    harness data check hanna --json
    """

    names: Annotated[tuple[str, ...], Flag("NAME")] = field(default=(), kw_only=False)
    """what to check (default: all that are here)"""


@command("data:remove")
class DataRemove(ContentFlags, HomeFlags):
    """Flags of `harness data remove`.

    harness data remove hanna
    harness data remove hanna pariksha
    """

    names: Annotated[tuple[str, ...], Flag("NAME")] = field(kw_only=False)
    """what to remove"""


@command("data:path")
class DataPath(ContentFlags, HomeFlags):
    """Flags of `harness data path`.

    harness data path hanna
    harness data path hanna --to data
    """

    name: Annotated[str, Flag("NAME")] = field(kw_only=False)
    """whose folder"""
