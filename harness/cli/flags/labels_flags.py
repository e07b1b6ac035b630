"""The flags of `labels`: import, export and check label sets, and make labelling pages."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    add_flag,
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
    add_flag(p, "--to DIR", "the data folder to write (of result files: default the data of their pages)", Path)
    add_flag(p, "--append", "add to a folder that already has labels")
    add_flag(
        p,
        "--second-round",
        "further scores of labelled items, by another person or the same one: they show how far people agree, and are no reference",
    )
    add_flag(p, "--unlabelled", "the table has texts and no scores: for a judge, or to be labelled later")
    allow_refused_flag(p)
    add_flag(_reading_flags(p), "--items FILE|DIR|bundled", "where the items are (default: in the source)")
    _column_flags(p)
    _score_flags(p)
    pages = p.add_argument_group("result files of labelling pages")
    add_flag(pages, "--pages FOLDER", "the folder of the pages (default: beside or above the files)", Path)
    add_flag(pages, "--edited", "read files that were changed after the page saved them")
    add_flag(pages, "--one-person", "one person answered a page on two devices; what was saved last counts")
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
    add_flag(reading, "--from KIND", f"the kind of source, if it cannot be detected: {', '.join(IMPORTED)}", dest="kind", choices=IMPORTED)
    add_flag(reading, "--sheet NAME", "the worksheet of a workbook (default: the first that is not empty)")
    add_flag(reading, "--encoding NAME", "encoding of a CSV file that is neither UTF-8 nor UTF-16 with a byte order mark, e.g. cp1252")
    add_flag(
        reading,
        "--header-row N",
        "the row of a table that names its columns (default: the first, or the first below a title)",
        positive_integer,
    )
    add_flag(reading, "--revision NAME", "commit, tag or branch of hf:owner/name")
    add_flag(reading, "--split NAME", "which split of a Hugging Face data set")
    content_flag(reading)  # type: ignore[arg-type]
    return reading


def _column_flags(p: argparse.ArgumentParser) -> None:
    columns = p.add_argument_group("what its columns mean (--map can hold all of this)")
    add_flag(columns, "--map FILE", "a mapping in TOML; flags take precedence", Path)
    add_flag(columns, "--column ROLE=COLUMN ...", f"the role of a column; roles: {', '.join(ROLES)}", default=[])
    add_flag(columns, "--text FIELD=COLUMN ...", "a column that becomes a text of the items", default=[])
    add_flag(columns, "--id-from COLUMNS", "columns whose values together are an item's id; '#' is the number of the row", names)
    add_flag(columns, "--group COLUMN", "short for --column group=COLUMN")
    add_flag(columns, "--system COLUMN", "short for --column system=COLUMN")
    add_flag(columns, "--language TAG", "the language of all rows")
    add_flag(columns, "--task NAME", "the task of all rows")
    add_flag(columns, "--metric NAME", "the metric of all scores")
    add_flag(columns, "--annotator NAME", "the annotator of all scores")
    add_flag(columns, "--annotator-from-file REGEX", r"the annotator of all scores is in the file's name, e.g. ratings_(.+)\.csv")
    add_flag(columns, "--wide-annotators COLUMNS", "columns with the scores of one annotator each", names)
    add_flag(columns, "--wide-metrics COLUMNS", "columns with the scores on one metric each", names)
    add_flag(columns, "--wide-items REGEX", r"columns with the scores of one item each, as forms have: \[(?P<item>[^]]+)\] (?P<metric>.+)")


def _score_flags(p: argparse.ArgumentParser) -> None:
    meaning = p.add_argument_group("what its scores mean")
    add_flag(
        meaning, "--scale METRIC=SCALE ...", "e.g. tone=0,1,2:best=2, stars=1..5:best=5 (classes), warmth=1..5:kind=interval", default=[]
    )
    add_flag(meaning, "--rename OLD=NEW ...", "another name for a metric", default=[])
    add_flag(meaning, "--category METRIC:CATEGORY=SCORE ...", "the score for a category", default=[])
    add_flag(meaning, "--flip METRIC ...", "reverse the scores of a metric on its scale", default=[])
    add_flag(meaning, "--drop METRIC ...", "leave a metric out, e.g. a question for comments", default=[])
    add_flag(meaning, "--source", "who made the labels (default: native)", dest="label_source", choices=SOURCES)


def _people_flags(p: argparse.ArgumentParser) -> None:
    people = p.add_argument_group("annotators and folder")
    add_flag(people, "--annotators", "what an annotator's id means", choices=("persistent", "positional", "anonymous", "aggregate"))
    add_flag(people, "--keep-annotators", "keep annotators' ids instead of pseudonyms")
    add_flag(people, "--salt-file FILE", "the salt of the pseudonyms; created if it does not exist (default: in the user's settings)", Path)
    add_flag(people, "--sampling", "how the texts were chosen (default: unknown)", choices=("random", "convenience", "unknown"))
    add_flag(people, "--id NAME", "name of the data (default: the folder's name)")
    add_flag(people, "--title TEXT", "title of the data")


def _labels_export(sub: Any) -> None:
    p = command(sub, "export", "labels:export", "write labels as a table, or items as a sheet or a project for people to score")
    p.add_argument("data", metavar="DATA", help="a data folder, or 'bundled'")
    add_flag(p, "--to FILE", "the file: .csv, .jsonl, .parquet, .json (Label Studio), .xlsx (sheet)", Path, required=True)
    add_flag(p, "--format", "the format, if the file's name does not show it", choices=EXPORTED)
    languages_flag(p, "only these languages")
    add_flag(p, "--task NAMES", "only these tasks", names)
    add_flag(p, "--metrics NAMES", "only these metrics, in this order", names)
    add_flag(p, "--fields NAMES", "the texts that a sheet shows, for items of a task that tasks/ does not describe", names)
    add_flag(p, "--seed N", "seed for the order of outputs that share a text (default: 0)", seed, default=0)
    add_flag(p, "--annotator NAME", "the annotator's name in the sheet")
    content_flag(p)
    json_flag(p)


def _labels_check(sub: Any) -> None:
    p = command(sub, "check", "compare:check_labels", "show how well annotators agree, and which labels and texts look wrong")
    p.add_argument("data", type=Path, metavar="DATA", help="a data folder")
    add_flag(p, "--by KEYS", "keys to group by (default: language,task,metric)", names)
    restriction_flags(p)
    add_flag(p, "--seed N", "seed for the bootstrap (default: 0)", seed, default=0)
    json_flag(p)


def _labels_needed(sub: Any) -> None:
    p = command(sub, "needed", "labels:needed", "show how many more texts have to be labelled, for an interval and for a verdict")
    p.add_argument(
        "source",
        nargs="?",
        metavar="DIR_OR_RUN",
        help="a data folder with judgments, a run's folder, or the name of a run in --out; with --judge-as-good: labels, or nothing",
    )
    add_flag(p, "--half-width SHARE", "the wanted half-width of the interval of agreement (default: 0.05)", float, default=0.05)
    add_flag(
        p,
        "--borrow",
        "add how many labels a new language needs for a corrected mean, if the labelled languages help it",
        choices=("languages",),
    )
    add_flag(p, "--judge NAME ...", "only this judge; repeatable")
    before = p.add_argument_group("before any run")
    add_flag(before, "--judge-as-good", "no judge was asked yet: plan for one that is as good as people")
    add_flag(before, "--metric NAME ...", "what will be labelled; repeatable with a data folder", default=[])
    add_flag(before, "--people-agree SHARE", "on how many texts two people agree (default: as in the labels)", share)
    add_flag(before, "--shares A,B,...", "how often people give each class, in order (default: as in the labels)", shares, default=())
    add_flag(before, "--people N", "people who label each text (default: as in the labels, or 2)", positive_integer)
    add_flag(before, "--cells N", "metrics times languages that are tested together (default: those of the labels)", positive_integer)
    restriction_flags(p)
    decision_flags(p)
    out_flag(p)
    json_flag(p)
