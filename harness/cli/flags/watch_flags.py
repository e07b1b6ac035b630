"""The flags of `harness watch`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    base_url_flag,
    card_flag,
    command,
    day,
    engine_flags,
    group,
    json_flag,
    non_negative_share,
    out_flag,
    positive_integer,
    seed,
    share,
)


def watch_flags(commands: Any) -> None:
    """`watch`."""
    sub = group(commands, "watch", "keep a certificate only as long as it holds: has the judge changed, have the texts?")
    _init(sub)
    _add(sub)
    _check(sub)
    p = command(
        sub, "draw", "watch:draw", "print the anchors of a day, with the number of times to ask each, for a judge that you ask yourself"
    )
    _folder(p)


def _folder(p: argparse.ArgumentParser) -> None:
    p.add_argument("folder", type=Path, metavar="DIR", help="the folder of the watch")
    p.add_argument("--date", type=day, metavar="DATE", help="the day, such as 2026-05-31 (default: today, UTC)")


def _asking(p: argparse.ArgumentParser) -> None:
    card_flag(p)
    out_flag(p)
    base_url_flag(p, "judges")
    p.add_argument("--yes", action="store_true", help="send the texts of a data folder to the endpoint without asking for consent")
    engine_flags(p, detach=False)
    p.set_defaults(detach=False, fresh=False, reask=())


def _init(sub: Any) -> None:
    p = command(
        sub, "init", "watch:init", "begin a watch: draw anchors among the labelled texts, ask the judge about each, fix reference levels"
    )
    _folder(p)
    p.add_argument("source", metavar="RUN_OR_DIR", help="the run or data folder that the certificate was made from")
    p.add_argument("--certificate", type=Path, required=True, metavar="FILE", help="from 'harness certify'")
    p.add_argument(
        "--restart",
        action="store_true",
        help="start the watch in DIR again, after its alarm, with a new certificate; its log goes on, and its settings hold if not given",
    )
    how = p.add_argument_group("how to watch")
    how.add_argument("--anchors", type=positive_integer, metavar="N", help="labelled texts of a language to draw from (default: 200)")
    how.add_argument("--repeats", type=positive_integer, metavar="N", help="how often to ask about each now (default: 5)")
    how.add_argument("--per-day", type=positive_integer, metavar="N", help="anchors of a language that are asked each day (default: 30)")
    how.add_argument(
        "--alpha", type=share, metavar="N", help="the chance of any false alarm in a cell, over all days of a start (default: 0.05)"
    )
    how.add_argument(
        "--guard",
        type=positive_integer,
        metavar="DAYS",
        help="days with silent anchors until a change of production scores is put down to the texts (default: 30)",
    )
    how.add_argument(
        "--tolerance", type=non_negative_share, metavar="N", help="a change by less does not matter, as a share of the scale (default: 0)"
    )
    how.add_argument(
        "--max-age", type=positive_integer, metavar="DAYS", help="the certificate holds so long after a checked day (default: 90)"
    )
    how.add_argument("--seed", type=seed, metavar="N", help="of all draws (default: 0)")
    _asking(p)


def _add(sub: Any) -> None:
    p = command(sub, "add", "watch:add", "add a day: ask the judge about anchors again, and take in new scores")
    _folder(p)
    p.add_argument("source", nargs="?", metavar="RUN_OR_DIR", help="the day's production scores: a run or a data folder with judgments")
    p.add_argument(
        "--answers", metavar="RUN_OR_DIR", help="recorded answers on the day's anchors ('harness watch draw'); the judge is not asked"
    )
    _asking(p)


def _check(sub: Any) -> None:
    p = command(
        sub,
        "check",
        "watch:check",
        "say whether judge or texts changed: nothing shown (exit code 0), a change or an expired certificate (1), not yet known (7)",
    )
    _folder(p)
    p.add_argument("--junit", type=Path, metavar="FILE", help="JUnit XML: a test suite a language, a test case a metric and stream")
    p.add_argument("--figure", type=Path, metavar="FILE", help="draw all days: .svg, .pdf or .png (extra 'figures')")
    json_flag(p)
