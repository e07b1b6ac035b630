"""The flags of `labels`: import, export and check label sets, and make labelling pages."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    allow_refused_flag,
    command,
    content_flag,
    decision_flags,
    group,
    json_flag,
    languages_flag,
    names,
    out_flag,
    positive_integer,
    restriction_flags,
    seed,
    share,
    shares,
)
from harness.cli.flags.labelling_flags import labels_page, labels_plan, labels_reviews, labels_serve

# The same as in harness.exchange.labels and harness.model, which take time to import. A test compares them.
SOURCES = ("native", "people", "constructed", "model")
IMPORTED = ("csv", "tsv", "xlsx", "sheet", "jsonl", "json", "parquet", "hf", "label-studio", "argilla")
EXPORTED = ("csv", "jsonl", "parquet", "label-studio", "sheet")
ROLES = ("item_id", "annotator_id", "metric", "score", "source", "language", "task", "split", "group", "system", "parallel_id")


def labels_flags(commands: Any) -> None:
    """`labels`."""
    sub = group(commands, "labels", "import, export and check label sets, and plan how many labels are needed")
    _labels_import(sub)
    _labels_export(sub)
    _labels_check(sub)
    _labels_needed(sub)
    labels_plan(sub)
    labels_reviews(sub)
    labels_page(sub)
    labels_serve(sub)


def _labels_import(sub: Any) -> None:
    p = command(sub, "import", "labels:import_", "convert a table, a filled sheet or an export of an annotation tool to a data folder")
    p.add_argument(
        "source",
        nargs="+",
        metavar="SOURCE",
        help="CSV, TSV, XLSX, JSONL, Parquet, a Label Studio or Argilla export, a saved data set, hf:owner/name, or result files of pages",
    )
    p.add_argument("--to", type=Path, metavar="DIR", help="the data folder to write (of result files: default the data of their pages)")
    p.add_argument("--append", action="store_true", help="add to a folder that already has labels")
    p.add_argument(
        "--second-round",
        action="store_true",
        help="further scores of labelled items, by another person or the same one: they show how far people agree, and are no reference",
    )
    p.add_argument("--unlabelled", action="store_true", help="the table has texts and no scores: for a judge, or to be labelled later")
    allow_refused_flag(p)
    _reading_flags(p).add_argument("--items", metavar="FILE|DIR|bundled", help="where the items are (default: in the source)")
    _column_flags(p)
    _score_flags(p)
    pages = p.add_argument_group("result files of labelling pages")
    pages.add_argument("--pages", type=Path, metavar="FOLDER", help="the folder of the pages (default: beside or above the files)")
    pages.add_argument("--edited", action="store_true", help="read files that were changed after the page saved them")
    pages.add_argument("--one-person", action="store_true", help="one person answered a page on two devices; what was saved last counts")
    _people_flags(p)
    json_flag(p)


def mapping_flags(p: argparse.ArgumentParser) -> None:
    """How to read a table that somebody made, and what its columns and scores mean."""
    _reading_flags(p)
    _column_flags(p)
    _score_flags(p)
    _people_flags(p)


def _reading_flags(p: argparse.ArgumentParser) -> Any:
    reading = p.add_argument_group("how to read it")
    reading.add_argument(
        "--from",
        dest="kind",
        choices=IMPORTED,
        metavar="KIND",
        help=f"the kind of source, if it cannot be detected: {', '.join(IMPORTED)}",
    )
    reading.add_argument("--sheet", metavar="NAME", help="the worksheet of a workbook (default: the first that is not empty)")
    reading.add_argument(
        "--encoding", metavar="NAME", help="encoding of a CSV file that is neither UTF-8 nor UTF-16 with a byte order mark, e.g. cp1252"
    )
    reading.add_argument(
        "--header-row",
        type=positive_integer,
        metavar="N",
        help="the row of a table that names its columns (default: the first, or the first below a title)",
    )
    reading.add_argument("--revision", metavar="NAME", help="commit, tag or branch of hf:owner/name")
    reading.add_argument("--split", metavar="NAME", help="which split of a Hugging Face data set")
    content_flag(reading)  # type: ignore[arg-type]
    return reading


def _column_flags(p: argparse.ArgumentParser) -> None:
    columns = p.add_argument_group("what its columns mean (--map can hold all of this)")
    columns.add_argument("--map", type=Path, metavar="FILE", help="a mapping in TOML; flags take precedence")
    columns.add_argument(
        "--column", action="append", default=[], metavar="ROLE=COLUMN", help=f"the role of a column; roles: {', '.join(ROLES)}"
    )
    columns.add_argument("--text", action="append", default=[], metavar="FIELD=COLUMN", help="a column that becomes a text of the items")
    columns.add_argument(
        "--id-from", type=names, metavar="COLUMNS", help="columns whose values together are an item's id; '#' is the number of the row"
    )
    columns.add_argument("--group", metavar="COLUMN", help="short for --column group=COLUMN")
    columns.add_argument("--system", metavar="COLUMN", help="short for --column system=COLUMN")
    columns.add_argument("--language", metavar="TAG", help="the language of all rows")
    columns.add_argument("--task", metavar="NAME", help="the task of all rows")
    columns.add_argument("--metric", metavar="NAME", help="the metric of all scores")
    columns.add_argument("--annotator", metavar="NAME", help="the annotator of all scores")
    columns.add_argument(
        "--annotator-from-file", metavar="REGEX", help=r"the annotator of all scores is in the file's name, e.g. ratings_(.+)\.csv"
    )
    columns.add_argument("--wide-annotators", type=names, metavar="COLUMNS", help="columns with the scores of one annotator each")
    columns.add_argument("--wide-metrics", type=names, metavar="COLUMNS", help="columns with the scores on one metric each")
    columns.add_argument(
        "--wide-items", metavar="REGEX", help=r"columns with the scores of one item each, as forms have: \[(?P<item>[^]]+)\] (?P<metric>.+)"
    )


def _score_flags(p: argparse.ArgumentParser) -> None:
    meaning = p.add_argument_group("what its scores mean")
    meaning.add_argument(
        "--scale",
        action="append",
        default=[],
        metavar="METRIC=SCALE",
        help="e.g. tone=0,1,2:best=2, stars=1..5:best=5 (classes), warmth=1..5:kind=interval",
    )
    meaning.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help="another name for a metric")
    meaning.add_argument("--category", action="append", default=[], metavar="METRIC:CATEGORY=SCORE", help="the score for a category")
    meaning.add_argument("--flip", action="append", default=[], metavar="METRIC", help="reverse the scores of a metric on its scale")
    meaning.add_argument("--drop", action="append", default=[], metavar="METRIC", help="leave a metric out, e.g. a question for comments")
    meaning.add_argument("--source", dest="label_source", choices=SOURCES, help="who made the labels (default: native)")


def _people_flags(p: argparse.ArgumentParser) -> None:
    people = p.add_argument_group("annotators and folder")
    people.add_argument("--annotators", choices=("persistent", "positional", "anonymous", "aggregate"), help="what an annotator's id means")
    people.add_argument("--keep-annotators", action="store_true", help="keep annotators' ids instead of pseudonyms")
    people.add_argument(
        "--salt-file",
        type=Path,
        metavar="FILE",
        help="the salt of the pseudonyms; created if it does not exist (default: in the user's settings)",
    )
    people.add_argument("--sampling", choices=("random", "convenience", "unknown"), help="how the texts were chosen (default: unknown)")
    people.add_argument("--id", metavar="NAME", help="name of the data (default: the folder's name)")
    people.add_argument("--title", metavar="TEXT", help="title of the data")


def _labels_export(sub: Any) -> None:
    p = command(sub, "export", "labels:export", "write labels as a table, or items as a sheet or a project for people to score")
    p.add_argument("data", metavar="DATA", help="a data folder, or 'bundled'")
    p.add_argument(
        "--to", type=Path, required=True, metavar="FILE", help="the file: .csv, .jsonl, .parquet, .json (Label Studio), .xlsx (sheet)"
    )
    p.add_argument("--format", choices=EXPORTED, help="the format, if the file's name does not show it")
    languages_flag(p, "only these languages")
    p.add_argument("--task", type=names, metavar="NAMES", help="only these tasks")
    p.add_argument("--metrics", type=names, metavar="NAMES", help="only these metrics, in this order")
    p.add_argument(
        "--fields", type=names, metavar="NAMES", help="the texts that a sheet shows, for items of a task that tasks/ does not describe"
    )
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for the order of outputs that share a text (default: 0)")
    p.add_argument("--annotator", metavar="NAME", help="the annotator's name in the sheet")
    content_flag(p)
    json_flag(p)


def _labels_check(sub: Any) -> None:
    p = command(sub, "check", "compare:check_labels", "show how well annotators agree, and which labels and texts look wrong")
    p.add_argument("data", type=Path, metavar="DATA", help="a data folder")
    p.add_argument("--by", type=names, metavar="KEYS", help="keys to group by (default: language,task,metric)")
    restriction_flags(p)
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for the bootstrap (default: 0)")
    json_flag(p)


def _labels_needed(sub: Any) -> None:
    p = command(sub, "needed", "labels:needed", "show how many more texts have to be labelled, for an interval and for a verdict")
    p.add_argument(
        "source",
        nargs="?",
        metavar="DIR_OR_RUN",
        help="a data folder with judgments, a run's folder, or the name of a run in --out; with --judge-as-good: labels, or nothing",
    )
    p.add_argument(
        "--half-width", type=float, default=0.05, metavar="SHARE", help="the wanted half-width of the interval of agreement (default: 0.05)"
    )
    p.add_argument(
        "--borrow",
        choices=("languages",),
        help="add how many labels a new language needs for a corrected mean, if the labelled languages help it",
    )
    p.add_argument("--judge", action="append", metavar="NAME", help="only this judge; repeatable")
    before = p.add_argument_group("before any run")
    before.add_argument("--judge-as-good", action="store_true", help="no judge was asked yet: plan for one that is as good as people")
    before.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="what will be labelled; repeatable with a data folder"
    )
    before.add_argument(
        "--people-agree", type=share, metavar="SHARE", help="on how many texts two people agree (default: as in the labels)"
    )
    before.add_argument(
        "--shares",
        type=shares,
        default=(),
        metavar="A,B,...",
        help="how often people give each class, in order (default: as in the labels)",
    )
    before.add_argument("--people", type=positive_integer, metavar="N", help="people who label each text (default: as in the labels, or 2)")
    before.add_argument(
        "--cells",
        type=positive_integer,
        metavar="N",
        help="metrics times languages that are tested together (default: those of the labels)",
    )
    restriction_flags(p)
    decision_flags(p)
    out_flag(p)
    json_flag(p)
