"""Commands for people's labels and published data. A command is a frozen dataclass; its fields are its flags."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from harness.cli.commands.shared import (
    FORM,
    AllowRefused,
    Card,
    Columns,
    Command,
    Content,
    Decisions,
    Home,
    Json,
    Out,
    People,
    Reading,
    Restrictions,
    Scores,
    command,
    flag,
)
from harness.cli.values import Codes, Count, Names, Port, Seed, Share, Shares


@command("labels:import_")
@dataclass(frozen=True, kw_only=True)
class LabelsImport(Json, People, Scores, Columns, Reading, AllowRefused):
    """Flags of `harness labels import`."""

    source: Annotated[tuple[str, ...], flag(name="SOURCE")] = field(kw_only=False)
    """CSV, TSV, XLSX, JSONL, Parquet, a Label Studio or Argilla export, a saved data set, hf:owner/name, or result files of pages"""
    to: Annotated[Path | None, flag(metavar="DIR")] = None
    """the data folder to write (of result files: default the data of their pages)"""
    append: bool = False
    """add to a folder that already has labels"""
    second_round: bool = False
    """further scores of labelled items, by another person or the same one: they show how far people agree, and are no reference"""
    unlabelled: bool = False
    """the table has texts and no scores: for a judge, or to be labelled later"""
    items: Annotated[str | None, flag(metavar="FILE|DIR|bundled", group="how to read it")] = None
    """where the items are (default: in the source)"""
    pages: Annotated[Path | None, flag(metavar="FOLDER", group="result files of labelling pages")] = None
    """the folder of the pages (default: beside or above the files)"""
    edited: Annotated[bool, flag(group="result files of labelling pages")] = False
    """read files that were changed after the page saved them"""
    one_person: Annotated[bool, flag(group="result files of labelling pages")] = False
    """one person answered a page on two devices; what was saved last counts"""


@command("labels:export")
@dataclass(frozen=True, kw_only=True)
class LabelsExport(Json, Content):
    """Flags of `harness labels export`."""

    data: Annotated[str, flag(name="DATA")] = field(kw_only=False)
    """a data folder, or 'bundled'"""
    to: Annotated[Path, flag(metavar="FILE")]
    """the file: .csv, .jsonl, .parquet, .json (Label Studio), .xlsx (sheet)"""
    format: Literal["csv", "jsonl", "parquet", "label-studio", "sheet"] | None = None
    """the format, if the file's name does not show it"""
    langs: Annotated[Names | None, flag(name=("--langs", "--lang"), metavar="TAGS")] = None
    """only these languages"""
    task: Annotated[Names | None, flag(metavar="NAMES")] = None
    """only these tasks"""
    metrics: Annotated[Names | None, flag(metavar="NAMES")] = None
    """only these metrics, in this order"""
    fields: Annotated[Names | None, flag(metavar="NAMES")] = None
    """the texts that a sheet shows, for items of a task that tasks/ does not describe"""
    seed: Annotated[Seed, flag(metavar="N")] = 0
    """seed for the order of outputs that share a text"""
    annotator: Annotated[str | None, flag(metavar="NAME")] = None
    """the annotator's name in the sheet"""


@command("compare:check_labels")
@dataclass(frozen=True, kw_only=True)
class LabelsCheck(Json, Restrictions):
    """Flags of `harness labels check`."""

    data: Annotated[Path, flag(name="DATA")] = field(kw_only=False)
    """a data folder"""
    by: Annotated[Names | None, flag(metavar="KEYS")] = None
    """keys to group by (default: language,task,metric)"""
    majority: Literal["drop", "median", "strict"] = "drop"
    """how the labels of several annotators become one reference"""
    seed: Annotated[Seed, flag(metavar="N")] = 0
    """seed for the bootstrap"""


@command("labels:needed")
@dataclass(frozen=True, kw_only=True)
class LabelsNeeded(Json, Out, Decisions, Restrictions):
    """Flags of `harness labels needed`."""

    source: Annotated[str | None, flag(name="DIR_OR_RUN")] = field(default=None, kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out; with --judge-as-good: labels, or nothing"""
    half_width: Annotated[float, flag(metavar="SHARE")] = 0.05
    """the wanted half-width of the interval of agreement"""
    borrow: Literal["languages"] | None = None
    """add how many labels a new language needs for a corrected mean, if the labelled languages help it"""
    judge: Annotated[tuple[str, ...] | None, flag(metavar="NAME")] = None
    """only this judge; repeatable"""
    judge_as_good: Annotated[bool, flag(group="before any run")] = False
    """no judge was asked yet: plan for one that is as good as people"""
    metric: Annotated[tuple[str, ...], flag(metavar="NAME", group="before any run")] = ()
    """what will be labelled; repeatable with a data folder"""
    people_agree: Annotated[Share | None, flag(metavar="SHARE", group="before any run")] = None
    """on how many texts two people agree (default: as in the labels)"""
    shares: Annotated[Shares, flag(metavar="A,B,...", group="before any run")] = ()
    """how often people give each class, in order (default: as in the labels)"""
    people: Annotated[Count | None, flag(metavar="N", group="before any run")] = None
    """people who label each text (default: as in the labels, or 2)"""
    cells: Annotated[Count | None, flag(metavar="N", group="before any run")] = None
    """metrics times languages that are tested together (default: those of the labels)"""


@command("labelling:plan")
@dataclass(frozen=True, kw_only=True)
class LabelsPlan(Json, Out, Card):
    """Flags of `harness labels plan`."""

    source: Annotated[str, flag(name="DIR_OR_RUN")] = field(kw_only=False)
    """a data folder, a run's folder, or the name of a run in --out"""
    to: Annotated[Path, flag(metavar="FILE")]
    """the list of items to write (.jsonl), for 'labels page --items'"""
    budget: Annotated[Count | None, flag(metavar="N")] = None
    """how many texts (default: what 'labels needed' says is missing)"""
    lang: Annotated[str | None, flag(metavar="TAG")] = None
    """the language of the texts (default: the only one)"""
    judge: Annotated[str | None, flag(metavar="NAME")] = None
    """whose scores make the strata (default: the only judge)"""
    metric: Annotated[str | None, flag(metavar="NAME")] = None
    """on which metric (default: the only one)"""
    allocation: Literal["proportional", "neyman"] = "proportional"
    """neyman: more texts where the judge is less certain; loses where its certainty says nothing"""
    least: Annotated[Count | None, flag(metavar="N")] = None
    """fewest texts of a stratum (default: 2)"""
    least_per_class: Annotated[Count | None, flag(metavar="N")] = None
    """fewest texts of each class of the judge's scores, for rare classes"""
    seed: Annotated[Seed, flag(metavar="N")] = 0
    """seed of the draw"""


@command("labelling:reviews")
@dataclass(frozen=True, kw_only=True)
class LabelsReviews(Content, Json):
    """Flags of `harness labels reviews`."""

    data: Annotated[Path, flag(name="DIR")] = field(kw_only=False)
    """the data folder with the imported answers"""
    seed: Annotated[Seed, flag(metavar="N")] = 0
    """seed for the bootstrap"""
    html: Annotated[str | None, flag(metavar="FILE", group=FORM)] = None
    """write one self-contained page, with what people said"""


@command("labelling:page")
@dataclass(frozen=True, kw_only=True)
class LabelsPage(Json, Content):
    """Flags of `harness labels page`."""

    data: Annotated[str, flag(name="DATA")] = field(kw_only=False)
    """a data folder, a table of texts, or 'bundled'"""
    lang: Annotated[str | None, flag(metavar="TAG", group="what is labelled")] = None
    """the language of the items (default: the only one)"""
    task: Annotated[Names | None, flag(metavar="NAMES", group="what is labelled")] = None
    """only these tasks"""
    metrics: Annotated[Names | None, flag(metavar="NAMES", group="what is labelled")] = None
    """only these metrics, in this order"""
    items: Annotated[Path | None, flag(metavar="FILE", group="what is labelled")] = None
    """only these items: the file of 'labels plan', or one id a line (.txt)"""
    next: Annotated[Count | None, flag(metavar="N", group="what is labelled")] = None
    """only the next N items without a native label, or with --review without a review, in the order of --items or the data"""
    second: Annotated[bool, flag(group="what is labelled")] = False
    """only items that one person has labelled, so that a second one scores them; different groups first"""
    fields: Annotated[Names | None, flag(name=("--fields", "--text"), metavar="NAMES", group="what is labelled")] = None
    """the texts that the page shows, for items of a task that tasks/ does not describe, or columns of a table"""
    mark_errors: Annotated[bool, flag(group="what is labelled")] = False
    """errors are marked in the texts, each minor or major"""
    pack: Annotated[str | None, flag(metavar="NAME", group="what is labelled")] = None
    """of 'bundled': the packs of this name, such as models or hard, not the languages' own"""
    blind_pairs: Annotated[bool, flag(group="what is labelled")] = False
    """minimal pairs: readers who do not know which text is flawed say which is better, and mark where the flaw is"""
    review: Annotated[str | None, flag(metavar="RUN", group="people's answer to a judge's reasons, instead of scores")] = None
    """ask whether people agree with the scores and reasons of a judge in this run (a run's folder, or its name in 'results')"""
    judge: Annotated[str | None, flag(metavar="NAME", group="people's answer to a judge's reasons, instead of scores")] = None
    """the judge (default: the only one of the run)"""
    annotators: Annotated[Codes | None, flag(metavar="N|CODES", group="who labels")] = None
    """how many annotators, or their codes, e.g. hana,taro (default: 3; of blind pairs 5)"""
    overlap: Annotated[Share, flag(metavar="SHARE", group="who labels")] = 1.0
    """share of the texts that everybody labels; the rest is divided"""
    practice: Annotated[int, flag(metavar="N", group="who labels")] = 3
    """development items with an explained answer first"""
    checks: Annotated[int, flag(metavar="N", group="who labels")] = 0
    """damaged texts among the others of each annotator"""
    about: Annotated[Path | None, flag(metavar="FILE", group="who labels")] = None
    """text of the first screen: who asks, what is kept, what to expect, consent"""
    seed: Annotated[Seed, flag(metavar="N", group="who labels")] = 0
    """seed for the shares and the orders"""
    out: Annotated[Path, flag(metavar="FOLDER")]
    """the folder for the pages and their record"""
    replace: bool = False
    """replace the pages in the folder; answers on the old ones are then refused"""


@command("labelling:serve")
@dataclass(frozen=True, kw_only=True)
class LabelsServe(Command):
    """Flags of `harness labels serve`."""

    folder: Annotated[Path, flag(name="FOLDER")] = field(kw_only=False)
    """the folder that 'labels page' wrote"""
    port: Annotated[Port, flag(metavar="N")] = 8765
    """the port; 0: any that is free"""
    host: Annotated[str | None, flag(metavar="ADDRESS")] = None
    """the address to listen on, e.g. 0.0.0.0 for all of this machine's (default: this machine only)"""


@command("data:show_list")
@dataclass(frozen=True, kw_only=True)
class DataList(Json, Content):
    """Flags of `harness data list`."""

    langs: Annotated[Names | None, flag(name=("--langs", "--lang"), metavar="TAGS")] = None
    """only data in these languages: ja,cs"""


@command("data:get")
@dataclass(frozen=True, kw_only=True)
class DataGet(Content, Home):
    """Flags of `harness data get`."""

    names: Annotated[tuple[str, ...], flag(name="NAME")] = field(default=(), kw_only=False)
    """what to fetch; see 'harness data list'"""
    langs: Annotated[Names | None, flag(name=("--langs", "--lang"), metavar="TAGS")] = None
    """all data in these languages: ja,cs"""
    all: bool = False
    """all data that can be fetched"""
    yes: bool = False
    """accept the licences without being asked"""
    partial: bool = False
    """convert what there is where the origin lacks files"""


@command("data:check")
@dataclass(frozen=True, kw_only=True)
class DataCheck(Json, Content, Home):
    """Flags of `harness data check`."""

    names: Annotated[tuple[str, ...], flag(name="NAME")] = field(default=(), kw_only=False)
    """what to check (default: all that are here)"""


@command("data:remove")
@dataclass(frozen=True, kw_only=True)
class DataRemove(Content, Home):
    """Flags of `harness data remove`."""

    names: Annotated[tuple[str, ...], flag(name="NAME")] = field(kw_only=False)
    """what to remove"""


@command("data:path")
@dataclass(frozen=True, kw_only=True)
class DataPath(Content, Home):
    """Flags of `harness data path`."""

    name: Annotated[str, flag(name="NAME")] = field(kw_only=False)
    """whose folder"""
