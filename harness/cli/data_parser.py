"""The parser of the commands that ask no judge: compare, correct, accept, certify, studies, and the label sets."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    command,
    content_flag,
    decision_flags,
    group,
    json_flag,
    majority_flag,
    names,
    out_flag,
    positive_integer,
    seed,
    share,
)
from harness.cli.interop_parser import export_parser, import_parser
from harness.cli.labelling_parser import labels_page, labels_plan, labels_reviews, labels_serve


def _labels(commands: Any) -> None:
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
    reading.add_argument("--revision", metavar="NAME", help="commit, tag or branch of hf:owner/name")
    reading.add_argument("--split", metavar="NAME", help="which split of a Hugging Face data set")
    reading.add_argument("--items", metavar="FILE|DIR|bundled", help="where the items are (default: in the source)")
    content_flag(reading)  # type: ignore[arg-type]
    columns = p.add_argument_group("what its columns mean (--map can hold all of this)")
    columns.add_argument("--map", type=Path, metavar="FILE", help="a mapping in TOML; flags take precedence")
    columns.add_argument(
        "--column", action="append", default=[], metavar="ROLE=COLUMN", help=f"the role of a column; roles: {', '.join(ROLES)}"
    )
    columns.add_argument("--text", action="append", default=[], metavar="FIELD=COLUMN", help="a column that becomes a text of the items")
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
    meaning = p.add_argument_group("what its scores mean")
    meaning.add_argument(
        "--scale", action="append", default=[], metavar="METRIC=SCALE", help="e.g. tone=0,1,2:best=2 or warmth=1..5:best=5"
    )
    meaning.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help="another name for a metric")
    meaning.add_argument("--category", action="append", default=[], metavar="METRIC:CATEGORY=SCORE", help="the score for a category")
    meaning.add_argument("--flip", action="append", default=[], metavar="METRIC", help="reverse the scores of a metric on its scale")
    meaning.add_argument("--drop", action="append", default=[], metavar="METRIC", help="leave a metric out, e.g. a question for comments")
    meaning.add_argument(
        "--source", dest="label_source", choices=("native", "constructed", "model"), help="who made the labels (default: native)"
    )
    pages = p.add_argument_group("result files of labelling pages")
    pages.add_argument("--pages", type=Path, metavar="FOLDER", help="the folder of the pages (default: beside or above the files)")
    pages.add_argument("--edited", action="store_true", help="read files that were changed after the page saved them")
    pages.add_argument("--one-person", action="store_true", help="one person answered a page on two devices; what was saved last counts")
    people = p.add_argument_group("annotators and folder")
    people.add_argument("--annotators", choices=("persistent", "positional", "anonymous", "aggregate"), help="what an annotator's id means")
    people.add_argument("--keep-annotators", action="store_true", help="keep annotators' ids instead of pseudonyms")
    people.add_argument(
        "--salt-file",
        type=Path,
        metavar="FILE",
        help="the salt of the pseudonyms; created if it does not exist (default: in the user's settings)",
    )
    people.add_argument("--id", metavar="NAME", help="name of the data (default: the folder's name)")
    people.add_argument("--title", metavar="TEXT", help="title of the data")
    json_flag(p)


# The same as in harness.labels, which takes time to import. A test compares them.
IMPORTED = ("csv", "tsv", "xlsx", "sheet", "jsonl", "json", "parquet", "hf", "label-studio", "argilla")
EXPORTED = ("csv", "jsonl", "parquet", "label-studio", "sheet")
ROLES = ("item_id", "annotator_id", "metric", "score", "source", "language", "task", "split", "group", "system", "parallel_id")


def _labels_export(sub: Any) -> None:
    p = command(sub, "export", "labels:export", "write labels as a table, or items as a sheet or a project for people to score")
    p.add_argument("data", metavar="DATA", help="a data folder, or 'bundled'")
    p.add_argument(
        "--to", type=Path, required=True, metavar="FILE", help="the file: .csv, .jsonl, .parquet, .json (Label Studio), .xlsx (sheet)"
    )
    p.add_argument("--format", choices=EXPORTED, help="the format, if the file's name does not show it")
    p.add_argument("--langs", type=names, metavar="TAGS", help="only these languages")
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
    _restriction_flags(p)
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for the bootstrap (default: 0)")
    json_flag(p)


def _labels_needed(sub: Any) -> None:
    p = command(sub, "needed", "labels_needed:needed", "show how many more texts have to be labelled, for an interval and for a verdict")
    p.add_argument("source", metavar="DIR_OR_RUN", help="a data folder with judgments, a run's folder, or the name of a run in --out")
    p.add_argument(
        "--half-width", type=float, default=0.05, metavar="SHARE", help="the wanted half-width of the interval of agreement (default: 0.05)"
    )
    p.add_argument("--judge", action="append", metavar="NAME", help="only this judge; repeatable")
    _restriction_flags(p)
    decision_flags(p)
    out_flag(p)
    json_flag(p)


def _compare(commands: Any) -> None:
    p = command(commands, "compare", "compare:compare", "compare recorded judgments with labels, without asking a judge")
    p.add_argument(
        "sources", nargs="+", metavar="DIR_OR_RUN", help="a data folder with judgments, a run's folder, or the name of a run in --out"
    )
    what = p.add_argument_group("what to compare")
    what.add_argument(
        "--judge",
        action="append",
        metavar="NAME",
        help="only this judge; panel/<file.toml> adds a panel of recorded judges (docs/own.md), and shows its members too; repeatable",
    )
    _restriction_flags(what)  # type: ignore[arg-type]
    how = p.add_argument_group("how to compare")
    how.add_argument(
        "--by",
        type=names,
        metavar="KEYS",
        help="keys to group by (default: language,task,metric,judge,variant,temperature); also system, agreement, group, source, "
        "or any key of the items",
    )
    majority_flag(how, "drop")
    how.add_argument("--level", choices=("item", "system"), default="item", help="compare items, or means of systems (default: item)")
    how.add_argument(
        "--standardise",
        choices=("none", "annotator"),
        default="none",
        help="annotator: correlations on interval scales use scores less each person's mean, divided by their standard deviation "
        "(default: none)",
    )
    how.add_argument(
        "--versus", metavar="KEY=NAME", help="add paired differences from one judge, variant, temperature or source: judge=gpt-4o"
    )
    how.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for the bootstrap (default: 0)")
    decision_flags(p)
    out_flag(p)
    shown = p.add_argument_group("output")
    shown.add_argument("--verdicts", action="store_true", help="show only the verdicts: what each judge may be used for")
    shown.add_argument(
        "--decide",
        choices=("verdicts", "full"),
        default="verdicts",
        help="full: also calibration of confidences, and judges compared across languages (default: verdicts)",
    )
    shown.add_argument("--distributions", action="store_true", help="show class shares where annotators agree fully, partly or not at all")
    shown.add_argument("--figure", type=Path, metavar="FILE", help="draw the class shares: .svg, .pdf or .png (needs the extra 'figures')")
    form = shown.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON for programs, unrounded")
    form.add_argument("--csv", action="store_true", help="print CSV, unrounded")
    form.add_argument("--md", action="store_true", help="print Markdown")
    form.add_argument("--latex", action="store_true", help="print a LaTeX table (booktabs, siunitx)")
    form.add_argument("--html", metavar="FILE", help="write one self-contained page")
    shown.add_argument(
        "--sections",
        type=Path,
        metavar="DIR",
        help="also write a CSV file for each table of minimal pairs, of the same texts in several languages, and of panels",
    )


def _correct(commands: Any) -> None:
    p = command(
        commands, "correct", "use:correct", "estimate means, class shares and differences of systems from a judge's scores and some labels"
    )
    _judged_source(p)
    what = p.add_argument_group("what to estimate")
    what.add_argument(
        "--by",
        type=names,
        metavar="KEYS",
        help="keys of the items to group by, beside language, metric, judge and condition (default: system)",
    )
    what.add_argument("--shares", action="store_true", help="the shares of all classes instead of the mean")
    what.add_argument("--class", dest="share_of", metavar="CLASS", help="the share of this class instead of the mean")
    what.add_argument("--versus", metavar="KEY=NAME", help="add the difference of each system from one: system=NAME")
    what.add_argument(
        "--prevalence-shift",
        action="store_true",
        help="the labels come from elsewhere, where classes are more or less common: correct by the judge's error rates "
        "(Rogan-Gladen) instead of by the mean error",
    )
    shown = p.add_argument_group("output")
    shown.add_argument("--figure", type=Path, metavar="FILE", help="draw three intervals a system: .svg, .pdf or .png (extra 'figures')")
    json_flag(shown)


def _accept(commands: Any) -> None:
    p = command(commands, "accept", "use:accept", "find from which confidence on a judge's answers can be accepted without a person")
    _judged_source(p)
    _acceptance_flags(p.add_argument_group("what to guarantee"))
    json_flag(p)


def _acceptance_flags(how: Any) -> None:
    how.add_argument(
        "--alpha-risk",
        type=share,
        default=0.1,
        metavar="N",
        help="the tolerated share of accepted answers that differ from people's commonest label (default: 0.1)",
    )
    how.add_argument("--delta", type=share, default=0.1, metavar="N", help="the tolerated chance that more of them differ (default: 0.1)")
    how.add_argument(
        "--confidence",
        choices=("probability", "repeats", "votes"),
        help="probability: of the answer's token; repeats: the share of the commonest answer; votes: the same over several judges "
        "(default: probabilities where there are any, else repeats)",
    )


def _certify(commands: Any) -> None:
    p = command(commands, "certify", "use:certify", "write a judge's certificate for other programs, or check whether one still holds")
    _judged_source(p, optional=True)
    what = p.add_argument_group("what to do")
    what.add_argument("--to", type=Path, metavar="FILE", help="write the certificate of one judge to this file (JSON)")
    what.add_argument("--check", type=Path, metavar="FILE", help="say what of a certificate is stale, and why; exit code 1 if anything is")
    _acceptance_flags(p.add_argument_group("what to guarantee of automatic acceptance"))
    decision_flags(p)
    json_flag(p)


def _gate(commands: Any) -> None:
    p = command(commands, "gate", "gate:gate", "hold the limits of a policy against a run's numbers: pass (0), fail (1), inconclusive (7)")
    p.add_argument("source", metavar="RUN_OR_DIR", help="a data folder with judgments, a run's folder, or the name of a run in --out")
    p.add_argument("--policy", type=Path, required=True, metavar="FILE", help="the limits (TOML); 'harness new gate' writes a first one")
    p.add_argument("--baseline", metavar="RUN_OR_DIR", help="an earlier run of the same items and labels, for max_drop")
    p.add_argument("--card", metavar="NAME", help="dataset card of the published data in the folder; see 'harness list datasets'")
    out_flag(p)
    files = p.add_argument_group("files to write")
    files.add_argument("--junit", type=Path, metavar="FILE", help="JUnit XML: a test suite a language, a test case a limit")
    files.add_argument("--json", type=Path, metavar="FILE", help="JSON for programs, unrounded")
    files.add_argument("--summary", type=Path, metavar="FILE.md", help="a Markdown table, such as for a pull request")


def _judged_source(p: argparse.ArgumentParser, *, optional: bool = False) -> None:
    p.add_argument(
        "source",
        nargs="?" if optional else None,
        metavar="RUN_OR_DIR",
        help="a data folder with judgments, a run's folder, or the name of a run in --out",
    )
    p.add_argument("--judge", action="append", metavar="NAME", help="only this judge; repeatable")
    _restriction_flags(p)
    out_flag(p)


def _restriction_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--annotators", metavar="N|N+", help="only items with N (or N or more) annotators")
    parser.add_argument(
        "--where", action="append", default=[], metavar="KEY=VALUES", help="only items, metrics or variants with these values; repeatable"
    )
    parser.add_argument("--card", metavar="NAME", help="dataset card of the published data in the folder; see 'harness list datasets'")
    parser.add_argument("--recipe", dest="card", help=argparse.SUPPRESS)  # the former name of --card


def _study(commands: Any) -> None:
    sub = group(commands, "study", "the section of a published study from recorded answers, and texts for one")
    p = command(
        sub,
        "self-preference",
        "study:self_preference",
        "show whether judges recognise and prefer their own outputs (Panickssery et al. 2024)",
    )
    p.add_argument("--data", type=Path, required=True, metavar="DIR", help="a data folder with recorded answers about pairs of outputs")
    p.add_argument("--judge", action="append", metavar="NAME", help="only this judge; repeatable")
    p.add_argument("--card", metavar="NAME", help="dataset card of the published data in the folder; see 'harness list datasets'")
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for the resamples of the line (default: 0)")
    json_flag(p)
    _study_chiang_lee(sub)
    _study_export(sub)


def _study_chiang_lee(sub: Any) -> None:
    p = command(
        sub,
        "chiang-lee",
        "study:chiang_lee_section",
        "compare samples of a judge's ratings with people's, by text and by system (Chiang & Lee 2023)",
    )
    p.add_argument("--data", type=Path, required=True, metavar="DIR", help="a data folder with recorded scores and people's labels")
    p.add_argument("--judge", action="append", metavar="NAME", help="only this judge; repeatable")
    p.add_argument("--variant", action="append", metavar="NAME", help="only this variant; repeatable")
    p.add_argument("--metric", action="append", metavar="NAME", help="only this metric; repeatable")
    p.add_argument("--card", metavar="NAME", help="dataset card of the published data in the folder; see 'harness list datasets'")
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for the resamples of intervals (default: 0)")
    json_flag(p)
    p = command(sub, "alter-texts", "study:alter_texts", "make altered texts from the control items, for the task rate_altered_text")
    p.add_argument("--langs", type=names, metavar="TAGS", help="languages, separated by commas (default: all that have items)")
    p.add_argument(
        "--perturb",
        action="append",
        metavar="NAME:DOSE",
        help="a change; repeatable (default: typos:0.1 and shuffle-words:0.5); each text stands unchanged too",
    )
    p.add_argument("--limit", type=positive_integer, metavar="N", help="only the first N texts of each language")
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the changes (default: 0)")
    p.add_argument("--out", type=Path, required=True, metavar="DIR", help="the data folder to write; it must not exist")
    content_flag(p)


def _study_export(sub: Any) -> None:
    p = command(
        sub, "export-finetuning", "study:export_fine_tuning", "write chats for fine-tuning a judge on a question about pairs, with answers"
    )
    p.add_argument("--data", type=Path, required=True, metavar="DIR", help="a data folder of pairs, as 'harness pairs' writes it")
    p.add_argument(
        "--question",
        required=True,
        metavar="NAME",
        help="recognition, longer, vowels, readable, always-1 or random (the last two are controls that can teach nothing)",
    )
    p.add_argument("--system", metavar="NAME", help="for recognition: the system of the data that the tuned model is")
    p.add_argument("--examples", type=positive_integer, metavar="N", help="at most N training examples (default: all)")
    p.add_argument("--split", type=share, default=0.2, metavar="SHARE", help="the share of source texts that is held out (default: 0.2)")
    p.add_argument("--langs", type=names, metavar="TAGS", help="languages, separated by commas (default: all of the data)")
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the split and of random answers (default: 0)")
    p.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write; it must not exist")
    content_flag(p)


def _pairs(commands: Any) -> None:
    p = command(commands, "pairs", "pairs:pairs", "make pairs of outputs from a data folder with outputs of several systems")
    p.add_argument("data", type=Path, metavar="DIR", help="a data folder whose items have one output each, and a 'system'")
    p.add_argument("--against", default="all", metavar="SYSTEM|human|all", help="each pair holds an output of this system (default: all)")
    p.add_argument(
        "--equal", metavar="METRIC:TOL", help="only pairs that people scored alike: their mean scores differ by TOL at most (Fluency:0.5)"
    )
    p.add_argument(
        "--control",
        type=names,
        default=(),
        metavar="METRICS",
        help="control questions whose answers are computed and become labels: longer, more_vowels, more_readable",
    )
    p.add_argument("--out", type=Path, required=True, metavar="DIR", help="the data folder to write; it must not exist")
    p.add_argument("--card", metavar="NAME", help="dataset card of the published data in the folder; see 'harness list datasets'")
    content_flag(p)


COMMANDS = (_compare, _correct, _accept, _certify, _gate, _study, _pairs, _labels, import_parser, export_parser)
"""The functions that add these commands, in the order in which help shows them."""
