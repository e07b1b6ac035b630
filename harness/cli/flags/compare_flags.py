"""The flags of the commands that hold judgments against labels: compare, and a gate with limits."""

from __future__ import annotations

from argparse import SUPPRESS
from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    add_flag,
    all_rows_flags,
    card_flag,
    command,
    decision_flags,
    figure_flags,
    form_flags,
    majority_flag,
    names,
    out_flag,
    restriction_flags,
    seed,
    signature_flag,
)


def compare_flags(commands: Any) -> None:
    """`compare`."""
    p = command(commands, "compare", "compare:compare", "compare recorded judgments with labels, without asking a judge")
    p.add_argument(
        "sources", nargs="+", metavar="DIR_OR_RUN", help="a data folder with judgments, a run's folder, or the name of a run in --out"
    )
    what = p.add_argument_group("what to compare")
    add_flag(
        what,
        "--judge NAME ...",
        "only this judge; panel/<file.toml> adds a panel of recorded judges (docs/own.md), and shows its members too; repeatable",
    )
    restriction_flags(what)  # type: ignore[arg-type]
    how = p.add_argument_group("how to compare")
    add_flag(
        how,
        "--by KEYS",
        "keys to group by (default: language,task,metric,judge,variant,temperature); also system, agreement, group, source, "
        "or any key of the items",
        names,
    )
    majority_flag(how, "drop")
    add_flag(how, "--level", "compare items, or means of systems (default: item)", choices=("item", "system"), default="item")
    add_flag(
        how,
        "--standardise",
        "annotator: correlations on interval scales use scores less each person's mean, divided by their standard deviation "
        "(default: none)",
        choices=("none", "annotator"),
        default="none",
    )
    add_flag(how, "--versus KEY=NAME", "add paired differences from one judge, variant, temperature or source: judge=gpt-4o")
    add_flag(how, "--seed N", "seed for the bootstrap (default: 0)", seed, default=0)
    decision_flags(p)
    out_flag(p)
    shown = p.add_argument_group("output")
    add_flag(
        shown,
        "--full",
        "also show the statistics of every cell and all sections, after the verdicts; above 500 cells, all intervals in JSON and CSV",
    )
    all_rows_flags(shown)
    add_flag(shown, "--verdicts", SUPPRESS)  # the default now; scripts of earlier versions name it
    add_flag(
        shown,
        "--decide",
        "full: also calibration of confidences, and judges compared across languages (default: verdicts)",
        choices=("verdicts", "full"),
        default="verdicts",
    )
    add_flag(shown, "--distributions", "with --full: class shares where annotators agree fully, partly or not at all")
    add_flag(shown, "--figure FILE", "draw the answer: .svg, .pdf or .png (needs the extra 'figures')", Path)
    add_flag(
        shown, "--figure-kind", "shares: class shares of people and judge (default: answer)", choices=("answer", "shares"), default="answer"
    )
    figure_flags(shown)
    form = form_flags(shown)
    add_flag(form, "--html FILE", "write one self-contained page")
    add_flag(
        shown,
        "--sections DIR",
        "also write a CSV file for each table of minimal pairs, of the same texts in several languages, and of panels",
        Path,
    )


def gate_flags(commands: Any) -> None:
    """`gate`."""
    p = command(commands, "gate", "gate:gate", "hold the limits of a policy against a run's numbers: pass (0), fail (1), inconclusive (7)")
    p.add_argument("source", metavar="RUN_OR_DIR", help="a data folder with judgments, a run's folder, or the name of a run in --out")
    add_flag(p, "--policy FILE", "the limits (default: gate.toml, as 'harness new gate RUN' writes it)", Path)
    add_flag(p, "--baseline RUN_OR_DIR", "an earlier run of the same items and labels, for max_drop")
    card_flag(p)
    out_flag(p)
    add_flag(p, "--all", "show the limits that hold too")
    signature_flag(p)
    files = p.add_argument_group("files to write")
    add_flag(files, "--junit FILE", "JUnit XML: a test suite a language, a test case a limit", Path)
    add_flag(files, "--json FILE", "JSON for programs, unrounded", Path)
    add_flag(files, "--summary FILE.md", "a Markdown table, such as for a pull request", Path)
