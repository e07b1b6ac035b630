"""Commands for people's labels and published data."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from harness.annotate.checks.options import LabelCheckOptions
from harness.cli.command import FORM, Command, command
from harness.cli.commands.shared import (
    AllowRefusedFlags,
    CardFlags,
    ColumnsFlags,
    ContentFlags,
    HomeFlags,
    JsonFlags,
    OutFlags,
    PeopleFlags,
    ReadingFlags,
    ScoresFlags,
)
from harness.correction.options import LabelBudgetOptions
from harness.options import Codes, Count, Flag, Names, Port, Seed, Share, Shares


class LabelsImportResultFiles(Command, group="result files of labelling pages"):
    """Flags of `harness labels import`."""

    pages: Annotated[Path | None, Flag(metavar="FOLDER")] = None
    """the folder of the pages (default: beside or above the files)"""
    edited: bool = False
    """read files that were changed after the page saved them"""
    one_person: bool = False
    """one person answered a page on two devices; what was saved last counts"""


@command("labels:import_", first="to append unlabelled second_round scale column text language metric annotators map json")
class LabelsImport(JsonFlags, PeopleFlags, ScoresFlags, ColumnsFlags, ReadingFlags, AllowRefusedFlags, LabelsImportResultFiles):
    """Flags of `harness labels import`.

    harness labels import ratings.xlsx --to data/ratings
    harness labels import ratings.csv --to data/ratings --column score=rating --scale score=1..5:best=5 --language ja
    """

    sources: Annotated[tuple[str, ...], Flag("SOURCE")] = field(kw_only=False)
    """CSV, TSV, XLSX, JSONL, Parquet, a Label Studio or Argilla export, a saved data set, hf:owner/name, or result files of pages"""
    to: Annotated[Path | None, Flag(metavar="DIR")] = None
    """the data folder to write (of result files: default the data of their pages)"""
    append: bool = False
    """add to a folder that already has labels"""
    second_round: bool = False
    """further scores of labelled items, by another person or the same one: they show how far people agree, and are no reference"""
    unlabelled: bool = False
    """the table has texts and no scores: for a judge, or to be labelled later"""
    items: Annotated[str | None, Flag(metavar="FILE|DIR|bundled", group="how to read it")] = None
    """where the items are (default: in the source)"""


@command("labels:export")
class LabelsExport(JsonFlags, ContentFlags):
    """Flags of `harness labels export`.

    harness labels export bundled --to labels.csv
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


@command("compare:check_labels")
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


@command("labels:needed", first="judges languages half_width judge_as_good metric people shares cells json")
class CountLabelsNeeded(JsonFlags, OutFlags, LabelsNeededBefore):
    """Flags of `harness labels needed`.

    harness labels needed pariksha
    harness labels needed --judge-as-good --metric tone --people 2 --shares 20,30,50
    """

    source: Annotated[str | None, Flag("DIR_OR_RUN")] = field(default=None, kw_only=False)
    """a data folder with judgments, a run's folder, or the name of a run in --out; with --judge-as-good: labels, or nothing"""
    options: LabelBudgetOptions = field(default_factory=LabelBudgetOptions)


@command("labelling:plan", first="to budget lang judge metric allocation least least_per_class seed json")
class LabelsPlan(JsonFlags, OutFlags, CardFlags):
    """Flags of `harness labels plan`.

    harness labels plan pariksha --to next.jsonl --lang hi --budget 100
    harness labels plan pariksha --to next.jsonl --lang hi --allocation neyman
    """

    source: Annotated[str, Flag("DIR_OR_RUN")] = field(kw_only=False)
    """a data folder, a run's folder, or the name of a run in --out"""
    to: Annotated[Path, Flag(metavar="FILE")]
    """the list of items to write (.jsonl), for 'labels page --items'"""
    budget: Annotated[Count | None, Flag(metavar="N")] = None
    """how many texts (default: what 'labels needed' says is missing)"""
    lang: Annotated[str | None, Flag(metavar="TAG")] = None
    """the language of the texts (default: the only one)"""
    judge: Annotated[str | None, Flag(metavar="NAME")] = None
    """whose scores make the strata (default: the only judge)"""
    metric: Annotated[str | None, Flag(metavar="NAME")] = None
    """on which metric (default: the only one)"""
    allocation: Literal["proportional", "neyman"] = "proportional"
    """neyman: more texts where the judge is less certain; loses where its certainty says nothing"""
    least: Annotated[Count | None, Flag(metavar="N")] = None
    """fewest texts of a stratum (default: 2)"""
    least_per_class: Annotated[Count | None, Flag(metavar="N")] = None
    """fewest texts of each class of the judge's scores, for rare classes"""
    seed: Annotated[Seed, Flag(metavar="N")] = 0
    """seed of the draw"""


@command("labelling:reviews")
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


class LabelsPageTexts(Command, group="what is labelled"):
    """Flags of `harness labels page`."""

    lang: Annotated[str | None, Flag("--lang --langs", "TAG")] = None
    """the language of the items (default: the only one)"""
    task: Annotated[Names | None, Flag(metavar="NAMES")] = None
    """only these tasks"""
    metrics: Annotated[Names | None, Flag(metavar="NAMES")] = None
    """only these metrics, in this order"""
    items: Annotated[Path | None, Flag(metavar="FILE")] = None
    """only these items: the file of 'labels plan', or one id a line (.txt)"""
    next: Annotated[Count | None, Flag(metavar="N")] = None
    """only the next N items without a native label, or with --review without a review, in the order of --items or the data"""
    random: bool = False
    """the N of --next are drawn at random (--seed), not in the order of the data: a sheet may be sorted"""
    where: Annotated[tuple[str, ...], Flag(metavar="KEY=VALUE")] = ()
    """only items with this value, such as system=alpha, or a field of the items; may be repeated"""
    second: bool = False
    """only items that one person has labelled, so that a second one scores them; different groups first"""
    fields: Annotated[Names | None, Flag("--fields --text", metavar="NAMES")] = None
    """the texts that the page shows, for items of a task that tasks/ does not describe, or columns of a table"""
    mark_errors: bool = False
    """errors are marked in the texts, each minor or major"""
    highlight_changes: bool = False
    """mark the words of the judged text that differ from the text before it, such as the original of an altered text"""
    pack: Annotated[str | None, Flag(metavar="NAME")] = None
    """of 'bundled': the packs of this name, such as models or hard, not the languages' own"""
    blind_pairs: bool = False
    """minimal pairs: readers who do not know which text is flawed say which is better, and mark where the flaw is"""


class LabelsPageAnnotators(Command, group="who labels"):
    """Flags of `harness labels page`."""

    annotators: Annotated[Codes | None, Flag(metavar="N|CODES")] = None
    """how many annotators, or their codes, e.g. hana,taro (default: 3; of blind pairs 5)"""
    overlap: Annotated[Share, Flag(metavar="SHARE")] = 1.0
    """share of the texts that everybody labels; the rest is divided"""
    practice: Annotated[int, Flag(metavar="N")] = 3
    """development items with an explained answer first"""
    checks: Annotated[int, Flag(metavar="N")] = 0
    """damaged texts among the others of each annotator"""
    blocks: Annotated[str, Flag(metavar="KEY")] = ""
    """texts with the same value of KEY, such as system, one after the other, the blocks in random order (default: all mixed)"""
    exit_questions: Annotated[Path | None, Flag(metavar="FILE|none")] = None
    """questions after the last text (TOML, like tasks/<task>/exit.toml), in place of the task's own"""
    about: Annotated[Path | None, Flag(metavar="FILE")] = None
    """text of the first screen: who asks, what is kept, what to expect, consent"""
    seed: Annotated[Seed, Flag(metavar="N")] = 0
    """seed for the shares and the orders"""


@command("labelling:page", first="out lang task metrics items next annotators overlap practice about replace")
class LabelsPage(JsonFlags, ContentFlags, LabelsPageAnnotators, LabelsPageTexts):
    """Flags of `harness labels page`.

    harness labels page data/ratings --out pages --annotators 3
    harness labels page data/ratings --out pages --items next.jsonl --annotators hana,taro --overlap 0.2
    """

    data: Annotated[str, Flag("DATA")] = field(kw_only=False)
    """a data folder, a table of texts, or 'bundled'"""
    review: Annotated[str | None, Flag(metavar="RUN", group="people's answer to a judge's reasons, instead of scores")] = None
    """ask whether people agree with the scores and reasons of a judge in this run (a run's folder, or its name in 'results')"""
    judge: Annotated[str | None, Flag(metavar="NAME", group="people's answer to a judge's reasons, instead of scores")] = None
    """the judge (default: the only one of the run)"""
    out: Annotated[Path, Flag(metavar="FOLDER")]
    """the folder for the pages and their record"""
    replace: bool = False
    """replace the pages in the folder; answers on the old ones are then refused"""


@command("labelling:serve")
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
    harness data list --langs ja,cs
    """

    langs: Annotated[Names | None, Flag("--langs --lang", metavar="TAGS")] = None
    """only data in these languages: ja,cs"""
    full: bool = False
    """also who labelled each set: how people were found, their first languages, pay, dates and instructions"""


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
