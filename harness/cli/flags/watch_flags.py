"""The flags of `harness watch`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.cli.arguments import (
    add_flag,
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
    sub = group(commands, "watch", "keep a certificate only as long as it holds: say when the judge or the texts have changed")
    _init(sub)
    _add(sub)
    _check(sub)
    p = command(
        sub, "draw", "watch:draw", "print the anchors of a day, with the number of times to ask each, for a judge that you ask yourself"
    )
    _folder(p)


def _folder(p: argparse.ArgumentParser) -> None:
    p.add_argument("folder", type=Path, metavar="DIR", help="the folder of the watch")
    add_flag(p, "--date DATE", "the day, such as 2026-05-31 (default: today, UTC)", day)


def _asking(p: argparse.ArgumentParser) -> None:
    card_flag(p)
    out_flag(p)
    base_url_flag(p, "judges")
    add_flag(p, "--yes", "send the texts of a data folder to the endpoint without asking for consent")
    engine_flags(p, detach=False)
    p.set_defaults(detach=False, fresh=False, reask=())


def _init(sub: Any) -> None:
    p = command(
        sub, "init", "watch:init", "begin a watch: draw anchors among the labelled texts, ask the judge about each, fix reference levels"
    )
    _folder(p)
    p.add_argument("source", metavar="RUN_OR_DIR", help="the run or data folder that the certificate was made from")
    add_flag(p, "--certificate FILE", "from 'harness certify'", Path, required=True)
    add_flag(
        p,
        "--restart",
        "start the watch in DIR again, after its alarm, with a new certificate; its log goes on, and its settings hold if not given",
    )
    how = p.add_argument_group("how to watch")
    add_flag(how, "--anchors N", "labelled texts of a language to draw from (default: 200)", positive_integer)
    add_flag(how, "--repeats N", "how often to ask about each now (default: 5)", positive_integer)
    add_flag(how, "--per-day N", "anchors of a language that are asked each day (default: 30)", positive_integer)
    add_flag(how, "--alpha N", "the chance of any false alarm in a cell, over all days of a start (default: 0.05)", share)
    add_flag(
        how,
        "--guard DAYS",
        "days with silent anchors until a change of production scores is put down to the texts (default: 30)",
        positive_integer,
    )
    add_flag(how, "--tolerance N", "a change by less does not matter, as a share of the scale (default: 0)", non_negative_share)
    add_flag(how, "--max-age DAYS", "the certificate holds so long after a checked day (default: 90)", positive_integer)
    add_flag(how, "--seed N", "of all draws (default: 0)", seed)
    _asking(p)


def _add(sub: Any) -> None:
    p = command(sub, "add", "watch:add", "add a day: ask the judge about anchors again, and take in new scores")
    _folder(p)
    p.add_argument("source", nargs="?", metavar="RUN_OR_DIR", help="the day's production scores: a run or a data folder with judgments")
    add_flag(p, "--answers RUN_OR_DIR", "recorded answers on the day's anchors ('harness watch draw'); the judge is not asked")
    _asking(p)


def _check(sub: Any) -> None:
    p = command(
        sub,
        "check",
        "watch:check",
        "say whether judge or texts changed: nothing shown (exit code 0), a change or an expired certificate (1), not yet known (7)",
    )
    _folder(p)
    add_flag(p, "--junit FILE", "JUnit XML: a test suite a language, a test case a metric and stream", Path)
    add_flag(p, "--figure FILE", "draw all days: .svg, .pdf or .png (extra 'figures')", Path)
    json_flag(p)
