"""The flags of the commands that hold judgments against labels: compare, and a gate with limits."""

from __future__ import annotations

from argparse import SUPPRESS
from pathlib import Path
from typing import Any

from harness.cli.arguments import (
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
)


def compare_flags(commands: Any) -> None:
    """`compare`."""
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
    restriction_flags(what)  # type: ignore[arg-type]
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
    shown.add_argument(
        "--full",
        action="store_true",
        help="also show the statistics of every cell and all sections, after the verdicts; above 500 cells, all intervals in JSON and CSV",
    )
    all_rows_flags(shown)
    shown.add_argument("--verdicts", action="store_true", help=SUPPRESS)  # the default now; scripts of earlier versions name it
    shown.add_argument(
        "--decide",
        choices=("verdicts", "full"),
        default="verdicts",
        help="full: also calibration of confidences, and judges compared across languages (default: verdicts)",
    )
    shown.add_argument(
        "--distributions", action="store_true", help="with --full: class shares where annotators agree fully, partly or not at all"
    )
    shown.add_argument("--figure", type=Path, metavar="FILE", help="draw the answer: .svg, .pdf or .png (needs the extra 'figures')")
    shown.add_argument(
        "--figure-kind", choices=("answer", "shares"), default="answer", help="shares: class shares of people and judge (default: answer)"
    )
    figure_flags(shown)
    form = form_flags(shown)
    form.add_argument("--html", metavar="FILE", help="write one self-contained page")
    shown.add_argument(
        "--sections",
        type=Path,
        metavar="DIR",
        help="also write a CSV file for each table of minimal pairs, of the same texts in several languages, and of panels",
    )


def gate_flags(commands: Any) -> None:
    """`gate`."""
    p = command(commands, "gate", "gate:gate", "hold the limits of a policy against a run's numbers: pass (0), fail (1), inconclusive (7)")
    p.add_argument("source", metavar="RUN_OR_DIR", help="a data folder with judgments, a run's folder, or the name of a run in --out")
    p.add_argument("--policy", type=Path, required=True, metavar="FILE", help="the limits (TOML); 'harness new gate' writes a first one")
    p.add_argument("--baseline", metavar="RUN_OR_DIR", help="an earlier run of the same items and labels, for max_drop")
    card_flag(p)
    out_flag(p)
    files = p.add_argument_group("files to write")
    files.add_argument("--junit", type=Path, metavar="FILE", help="JUnit XML: a test suite a language, a test case a limit")
    files.add_argument("--json", type=Path, metavar="FILE", help="JSON for programs, unrounded")
    files.add_argument("--summary", type=Path, metavar="FILE.md", help="a Markdown table, such as for a pull request")
