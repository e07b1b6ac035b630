"""Shared parts of the parsers: late imports of commands, types of flags, and flags of several commands."""

from __future__ import annotations

import argparse
import gc
import importlib
import math
import sys
from collections.abc import Callable
from datetime import date
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.decide.options import DecisionOptions


def command(commands: Any, name: str, target: str, text: str) -> argparse.ArgumentParser:
    """Add a command. `target` is `module:function` in harness.cli, and is imported when the command runs.

    Flags are not abbreviated: a flag of another command would be taken for one that begins in the same way.
    """
    description = text[0].upper() + text[1:] + "."
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=description, allow_abbrev=False)
    parser.set_defaults(command=_import_later(target))
    parser.add_argument("-v", "--verbose", action="store_true", help="show tracebacks of errors")
    return parser


def add_flag(parser: Any, usage: str, text: str, kind: Callable[[str], Any] | None = None, **settings: Any) -> None:
    """Add a flag as its usage is written: `--edited` is a switch, `--to DIR` has a value, and `--text FIELD=COLUMN ...` can be repeated.

    `text` is its help, `kind` reads its value, and `settings` are those of `add_argument`.
    """
    flag, _, value = usage.removesuffix(" ...").partition(" ")
    if usage.endswith(" ..."):
        settings["action"] = "append"
    elif not value and "choices" not in settings:
        settings["action"] = "store_true"
    if kind is not None:
        settings["type"] = kind
    parser.add_argument(flag, help=text, **({"metavar": value} if value else {}), **settings)


def group(commands: Any, name: str, text: str) -> Any:
    """Add a command that only has subcommands, and return the object that they are added to."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def _import_later(target: str) -> Callable[[argparse.Namespace], int]:
    def call(arguments: argparse.Namespace) -> int:
        module, _, function = target.partition(":")
        code: int = getattr(_imported(f"harness.cli.{module}"), function)(arguments)
        return code

    return call


def _imported(name: str) -> ModuleType:
    """Import a module. What its first import makes stays until the process ends, so no collection of garbage, then or later, visits it."""
    if name in sys.modules:
        return sys.modules[name]
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        gc.enable()


# ---- types of flags


def names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def temperatures(text: str) -> tuple[float, ...]:
    values = _numbers(text)
    if any(not math.isfinite(value) or value < 0 for value in values):
        raise argparse.ArgumentTypeError(f"temperatures are numbers of 0 or more, separated by commas; got '{text}'")
    return values


def top_ps(text: str) -> tuple[float, ...]:
    values = _numbers(text)
    if not all(0 < value <= 1 for value in values):
        raise argparse.ArgumentTypeError(f"top-p is above 0 and at most 1; separate several values by commas; got '{text}'")
    return values


def single_temperature(text: str) -> float:
    [value] = _single(temperatures(text), text)
    return value


def single_top_p(text: str) -> float:
    [value] = _single(top_ps(text), text)
    return value


def _single(values: tuple[float, ...], text: str) -> tuple[float, ...]:
    if len(values) != 1:
        raise argparse.ArgumentTypeError(f"one number is possible here; got '{text}'")
    return values


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        return (math.nan,)


def orders(text: str) -> tuple[str, ...]:
    values = {"forward": ("forward",), "swapped": ("swapped",), "both": ("forward", "swapped")}
    if text not in values:
        raise argparse.ArgumentTypeError(f"expected {', '.join(values)}; got '{text}'")
    return values[text]


def shown_sources(text: str) -> tuple[str, ...]:
    values = tuple(text.split(","))
    if not set(values) <= {"none", "correct", "swapped"}:
        raise argparse.ArgumentTypeError(f"expected none, correct, swapped, or several of them separated by commas; got '{text}'")
    return values


def share(text: str) -> float:
    value = positive_number(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"expected a share above 0 and at most 1; got '{text}'")
    return value


def priced(text: str) -> tuple[str, float]:
    """`NAME=N`: a judge and US dollars, 0 or more."""
    name, equals, number = text.rpartition("=")
    try:
        dollars = float(number)
    except ValueError:
        dollars = -1.0
    if not (name and equals and 0 <= dollars < float("inf")):
        raise argparse.ArgumentTypeError(f"expected a judge and US dollars, such as openai/gpt-4o=1.25; got '{text}'")
    return name, dollars


def shares(text: str) -> tuple[float, ...]:
    """Several shares, such as `0.2,0.3,0.5` or `20,30,50`."""
    return tuple(0.0 if part.strip("0.") == "" and part else positive_number(part) for part in text.split(","))


def non_negative_share(text: str) -> float:
    return 0.0 if text.strip("0.") == "" and text else share(text)


def day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a day such as 2026-05-31; got '{text}'") from None


def positive_number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"expected a number above 0; got '{text}'")
    return value


def per_judge(parse: Callable[[str], Any]) -> Callable[[str], tuple[str, Any]]:
    """`N` for every judge, `JUDGE=N` for one."""

    def parse_pair(text: str) -> tuple[str, Any]:
        judge, _, value = text.rpartition("=")
        return judge, parse(value)

    return parse_pair


def own_system(text: str) -> tuple[str, str]:
    """`JUDGE=SYSTEM`."""
    judge, equals, system = text.partition("=")
    if not (judge and equals and system):
        raise argparse.ArgumentTypeError(f"expected JUDGE=SYSTEM; got '{text}'")
    return judge, system


def tuned_judge(text: str) -> tuple[str, str]:
    """`NEW=OLD`, two judges."""
    new, equals, old = text.partition("=")
    if not (new and equals and old) or new == old:
        raise argparse.ArgumentTypeError(f"expected NEW=OLD, two judges; got '{text}'")
    return new, old


def base_url(text: str) -> tuple[str, str]:
    """`URL` for every judge, `JUDGE=URL` for one."""
    judge, equals, _ = text.partition("=http")
    if "://" in judge or not equals:
        return "", text
    return judge, text[len(judge) + 1 :]


def reask(text: str) -> tuple[str, ...]:
    kinds = tuple(text.split(","))
    if not set(kinds) <= {"refused", "endpoint"}:
        raise argparse.ArgumentTypeError(f"expected refused, endpoint, or both separated by a comma; got '{text}'")
    return kinds


def positive_integer(text: str) -> int:
    return _integer(text, 1)


def seed(text: str) -> int:
    return _integer(text, 0)


def _integer(text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= least):  # every store and endpoint can hold nine digits
        raise argparse.ArgumentTypeError(f"expected a whole number of {least} or more with at most nine digits; got '{text}'")
    return int(text)


def page_path(name: str | None, default: Path | None = None) -> Path | None:
    """The file to write a page to: None without the flag, `default` for a flag without a name. Raises UsageError for another file type."""
    if not name:
        return None if name is None else default
    if not name.endswith((".html", ".htm")):
        raise UsageError(f"'{name}' cannot be the name of a page; it must end in .html")
    return Path(name)


def given_fields(arguments: argparse.Namespace, options: Any, **flags: str) -> dict[str, Any]:
    """The fields of an options class that flags give: those of a field's name, or of the name in `flags`. Others keep their default."""
    values = {field: getattr(arguments, flags.get(field, field), None) for field in signature(options).parameters}
    return {field: tuple(value) if isinstance(value, list) else value for field, value in values.items() if value is not None}


# ---- flags of several commands


def out_flag(parser: argparse.ArgumentParser) -> None:
    add_flag(parser, "--out DIR", "results folder (default: results/)", Path, default=Path("results"))


def content_flag(parser: argparse.ArgumentParser) -> None:
    add_flag(
        parser,
        "--content DIR ...",
        "another folder with tasks/, languages/, rubrics/; a folder with content.lock (a checkout) replaces the bundled content",
        Path,
        default=[],
    )


def retry_flags(parser: Any) -> None:
    add_flag(parser, "--attempts N", "attempts before a call is given up (default: 8)", positive_integer)
    add_flag(parser, "--timeout SECONDS", "time limit of one attempt (default: 120)", positive_number)


def engine_flags(parser: argparse.ArgumentParser, *, detach: bool = True) -> None:
    """How calls are asked, how fast, and up to which limits. `detach`: batches may be left to themselves."""
    speed = parser.add_argument_group("speed and limits (they change no number)")
    add_flag(
        speed,
        "--engine",
        "local: ask from this machine (default); batch: the provider's batches, within a day at half the price; ray: a Ray cluster",
        choices=("local", "batch", "ray"),
        default="local",
    )
    if detach:
        add_flag(speed, "--detach", "with --engine batch: submit the batches and do not wait")
    add_flag(speed, "--ray-address ADDRESS", "address of the cluster: auto, HOST:PORT, or local to start one (default: auto)")
    add_flag(speed, "--ray-actors N", "number of actors, with one CPU each (default: one for each node)", positive_integer)
    add_flag(
        speed,
        "--concurrency [JUDGE=]N ...",
        "calls in flight (default: adaptive, grows while latency stays flat); repeatable for several judges",
        per_judge(positive_integer),
    )
    add_flag(speed, "--rpm [JUDGE=]N ...", "at most N requests a minute", per_judge(positive_number))
    add_flag(speed, "--tpm [JUDGE=]N ...", "at most N tokens a minute", per_judge(positive_number))
    retry_flags(speed)
    add_flag(speed, "--max-cost DOLLARS", "stop before the cost exceeds this", positive_number)
    add_flag(speed, "--max-calls N", "stop after N calls", positive_integer)
    add_flag(speed, "--max-minutes N", "stop after N minutes", positive_number)
    prices_flag(speed)


def prices_flag(parser: Any) -> None:
    add_flag(parser, "--prices FILE", "your own prices (TOML); they take precedence over list prices", Path)


def allow_refused_flag(parser: Any) -> None:
    """`--allow-refused` of the imports."""
    add_flag(
        parser,
        "--allow-refused",
        "import the other rows where some are refused (default: then nothing is written); refused.jsonl holds the refused rows",
    )


def json_flag(parser: argparse._ActionsContainer) -> None:
    add_flag(parser, "--json", "print JSON for programs, unrounded")


def majority_flag(parser: argparse.ArgumentParser | argparse._ArgumentGroup, default: str | None, default_text: str = "drop") -> None:
    add_flag(
        parser,
        "--majority",
        f"how the labels of several annotators become one reference (default: {default_text})",
        choices=("drop", "median", "strict"),
        default=default,
    )


def by_task_flag(parser: argparse.ArgumentParser) -> None:
    add_flag(parser, "--by-task", "also show all verdicts, the numbers of each metric and task, and the sections")
    all_rows_flags(parser)


def all_rows_flags(parser: Any) -> None:
    """Add the flags that show all verdicts, and the signature whole."""
    add_flag(parser, "--all", "show the rows without a verdict too, and what the headings mean")
    signature_flag(parser)


def signature_flag(parser: Any) -> None:
    """Add the flag that shows the signature whole."""
    add_flag(parser, "--signature", "print the signature whole, not as a short hash")


def figure_flags(parser: Any) -> None:
    """Add the flags that say how figures look."""
    add_flag(parser, "--figure-width", "one column of 3.5 inches, or both of 7.2", choices=("single", "double"), default="double")
    add_flag(parser, "--figure-names", "languages by their English or their own names", choices=("english", "own"), default="english")


DECISION_FLAGS: dict[str, tuple[str, type[int] | type[float] | tuple[str, ...], str]] = {
    "margin": ("--margin", float, "a judge may agree with people this much less than they agree with each other (default: 0.1)"),
    "alpha": ("--alpha", float, "the chance of a false 'use' among all cells of a family (default: 0.05)"),
    "correction": (
        "--correction",
        ("holm", "by"),
        "how p-values of many cells are corrected (default: holm)",
    ),
    "family": ("--family", ("judge", "all"), "correct over the cells of one judge and condition, or of all (default: judge)"),
    "agreement": ("--agreement", ("exact", "distance"), "classes agree if equal, or the more the closer they are (default: exact)"),
    "items": ("--min-items", int, "fewer texts with two annotators are too few (default: 30)"),
    "groups": ("--min-groups", int, "fewer independent texts are too few (default: 20)"),
    "effective_groups": ("--effective-groups", float, "large groups are capped until all stand for so many equal ones (default: 15)"),
    "coverage": ("--min-coverage", float, "'use' needs a readable score for this share of texts (default: 0.95)"),
    "least_coverage": ("--least-coverage", float, "below this share a judge fails too often (default: 0.8)"),
    "gain": ("--min-gain", float, "'use corrected' needs this many effective labels for each label (default: 1.1)"),
    "power": ("--power", float, "the power of the number of labels that are needed (default: 0.8)"),
    "epsilon": ("--epsilon", float, "the discount of the alternative annotator test (default: the dataset card's, else 0.15)"),
    "alt_scoring": (
        "--alt-scoring",
        ("accuracy", "neg_rmse"),
        "how that test scores on ordered scales: equal classes, or distance (default: the dataset card's, else accuracy)",
    ),
}
"""The thresholds of verdicts: the field of `DecisionOptions`, its flag, its type or choices, and its help."""


def decision_flags(parser: argparse.ArgumentParser) -> None:
    """Add a flag for each threshold of the verdicts; their defaults are those of `DecisionOptions`, which takes time to import."""
    shown = parser.add_argument_group("thresholds of the verdicts (docs/decisions.md)")
    for name, (flag, kind, text) in DECISION_FLAGS.items():
        if isinstance(kind, tuple):
            shown.add_argument(flag, dest=f"decide_{name}", choices=kind, help=text)
        else:
            shown.add_argument(flag, dest=f"decide_{name}", type=kind, metavar="N", help=text)


def decision_options(arguments: argparse.Namespace) -> DecisionOptions:
    """The thresholds that the flags of `decision_flags` say. Raises UsageError for values that make no sense."""
    from harness.decide.options import DecisionOptions

    given = {name: getattr(arguments, f"decide_{name}") for name in DECISION_FLAGS}
    return DecisionOptions(**{name: value for name, value in given.items() if value is not None})


def judged_source(p: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add the run or data folder whose judgments are used, and the flags that restrict it."""
    p.add_argument(
        "source",
        nargs="?" if optional else None,
        metavar="RUN_OR_DIR",
        help="a data folder with judgments, a run's folder, or the name of a run in --out",
    )
    add_flag(p, "--judge NAME ...", "only this judge; repeatable")
    restriction_flags(p)
    out_flag(p)


def languages_flag(parser: Any, text: str) -> None:
    """Add the flag that names languages, in both spellings."""
    parser.add_argument("--langs", "--lang", dest="langs", type=names, metavar="TAGS", help=text)


def base_url_flag(parser: Any, who: str) -> None:
    """Add the flag that names endpoints. `who`: judges or writers."""
    add_flag(parser, "--base-url [JUDGE=]URL ...", f"the OpenAI-compatible endpoint of all openai/ {who}, or of one; repeatable", base_url)


def form_flags(parser: Any) -> Any:
    """Add the flags for output in another form, of which one is possible, and return their group."""
    form = parser.add_mutually_exclusive_group()
    json_flag(form)
    add_flag(form, "--csv", "print CSV, unrounded")
    add_flag(form, "--md", "print Markdown")
    add_flag(form, "--latex", "print a LaTeX table (booktabs, siunitx)")
    return form


def card_flag(parser: Any) -> None:
    """Add the flag that names a dataset card."""
    add_flag(parser, "--card NAME", "dataset card of the published data in the folder; see 'harness data list'")


def show_texts_flag(p: argparse.ArgumentParser) -> None:
    """Add the flag that shows texts of data whose card calls them offensive."""
    add_flag(p, "--show-texts", "with --dry-run: also show texts that their dataset card calls offensive")


def restriction_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that restrict a source to some items."""
    languages_flag(parser, "only items in these languages: ja,cs; nothing else is tested or corrected for")
    add_flag(parser, "--annotators N|N+", "only items with N (or N or more) annotators")
    add_flag(parser, "--where KEY=VALUES ...", "only items, metrics or variants with these values; repeatable", default=[])
    card_flag(parser)
    parser.add_argument("--recipe", dest="card", help=argparse.SUPPRESS)  # the former name of --card
